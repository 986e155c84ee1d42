"""`ask --after`: a question that follows others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ....rows import each

Cli = Callable[..., Any]

BEFORE = "渡し舟を運航してはならない水位の基準は何か。"


def test_it_is_read_behind_the_one_before(cli: Cli, sample: Path) -> None:
    outcome = cli("ask", "--after", BEFORE, "もっと詳しく", "--json")
    assert outcome.code == 0
    assert outcome.json["query"]["text"] == "もっと詳しく"
    assert outcome.json["read_as"] == f"{BEFORE} もっと詳しく"
    assert outcome.json["trace"][0]["stage"] == "follow-up"
    alone = cli("ask", BEFORE, "--json")
    assert outcome.json["citations"] == alone.json["citations"] != []
    assert alone.json["read_as"] is None


def test_how_it_was_read_is_printed_first(cli: Cli, sample: Path) -> None:
    outcome = cli("ask", "--after", "灯台の高さは", "--after", BEFORE, "例外は", "--explain")
    printed = outcome.out.split("quoted")[0].split("not found")[0]
    assert f"read as: 灯台の高さは {BEFORE} 例外は" in " ".join(printed.split())


def test_what_asks_of_something_else_is_answered_too(cli: Cli, sample: Path) -> None:
    alone = cli("ask", BEFORE, "--json").json["citations"]
    after = cli("ask", "--after", "灯台の高さは", BEFORE, "--json").json["citations"]
    assert alone[0] in after


def test_a_citation_typed_shortly_is_written_out(cli: Cli, sample: Path) -> None:
    outcome = cli("ask", "渡し舟8①とは何か", "--json")
    assert outcome.json["read_as"] == "渡し舟法第8条第1項とは何か"
    assert outcome.json["citations"][0]["passage_id"] == "599AC0000000001#8.1"
    after = cli("ask", "--after", "渡し舟法第5条は", "8条①とは何か", "--json")
    assert after.json["citations"][0]["passage_id"] == "599AC0000000001#8.1"
    hits = cli("search", "渡し舟8①", "--json").json["hits"]
    assert hits[0]["passage"]["id"].startswith("599AC0000000001#8")


@each("before", ["", "？", "あ" * 100_000, "\x1b]0;title\x07\x1b[2J", "[red]</x>" * 100, "-" * 50])
def test_whatever_stood_before_is_only_text(before: str, cli: Cli, sample: Path) -> None:
    outcome = cli("ask", f"--after={before}", "その罰則は")
    assert outcome.code in (0, 3)
    assert "\x1b]0" not in outcome.out
    assert "\x07" not in outcome.out


def test_what_is_not_utf8_is_refused(cli: Cli, sample: Path) -> None:
    outcome = cli("ask", "--after", "\udce3\udc81", "その罰則は")
    assert outcome.code == 2
    assert "UTF-8" in outcome.err
