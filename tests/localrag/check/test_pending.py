"""What comes into force later: amendments by day, and the citations and quotations they change."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

import localrag

from ..ferries import AFTER, BEFORE, FERRIES, law_xml

LATER = [
    *AFTER[:2],
    ("3", "登録", ["渡し舟を出そうとする者は、知事の登録を受けなければならない。"]),
    *AFTER[3:],
]
MEMO = """\
渡し舟法第2条第1項は「川を渡る舟をいう」とする。同条第2項は「渡し守とは、舟を操る者をいう。」と定める。
渡し舟法第3条により登録を受ける。渡し舟法第5条の報告と、渡し舟法第6条の届出がある。
渡し舟法第1条は変わらない。
"""


@pytest.fixture
def corpus(home: Path, tmp_path: Path) -> Any:
    for day, articles in (("20151227", BEFORE), ("20200401", AFTER), ("20210701", LATER)):
        path = tmp_path / "laws" / f"{FERRIES}_{day}_431AC0000000007.xml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(law_xml(articles), encoding="utf-8")
    made = localrag.open(home).corpus()
    made.add(tmp_path / "laws")
    made.index()
    with made.as_of("2019-01-01") as opened:
        yield opened


def test_amendments_are_listed_by_day(corpus: Any) -> None:
    first, second = corpus.pending()
    assert (first.day, second.day) == ("2020-04-01", "2021-07-01")
    assert [one.kind.value for one in first.changes] == [
        "changed", "added", "changed", "deleted", "moved",
    ]  # fmt: skip
    assert [one.kind.value for one in second.changes] == ["changed"]
    assert corpus.pending(until=date(2020, 12, 31)) == (first,)
    assert corpus.as_of("2022-01-01").pending() == ()


def test_of_a_text_only_what_changes_is_listed(corpus: Any) -> None:
    found = corpus.upcoming(MEMO)
    shown = [(one.day, one.part.value, one.said, bool(one.after), one.moved_to) for one in found]
    assert shown == [
        ("2020-04-01", "citation", "渡し舟法第2条第1項", True, ""),
        ("2020-04-01", "quotation", "川を渡る舟をいう", True, ""),
        ("2020-04-01", "citation", "渡し舟法第5条", False, ""),
        ("2020-04-01", "citation", "渡し舟法第6条", False, "渡し舟法第7条"),
        ("2021-07-01", "citation", "渡し舟法第3条", True, ""),
    ]
    assert "湖を渡る" in found[0].after


def test_the_command_line_lists_both_and_writes_a_calendar(
    corpus: Any, cli: Any, home: Path, tmp_path: Path
) -> None:
    day = ("--as-of", "2019-01-01")
    listed = cli("pending", *day, "--until", "2020-12-31")
    assert listed.code == 0
    assert "2020-04-01 渡し舟法" in listed.out
    assert "2021" not in listed.out
    memo = tmp_path / "memo.md"
    memo.write_text(MEMO, encoding="utf-8")
    told = cli("pending", *day, str(memo), "--json").json
    assert [one["said"] for one in told["upcoming"]][-1] == "渡し舟法第3条"
    assert told["amendments"] == []
    assert "渡し舟法第7条" in cli("pending", *day, str(memo)).out
    path = tmp_path / "days.ics"
    assert cli("pending", *day, "--out", str(path)).code == 0
    calendar = path.read_bytes()
    assert all(len(line) <= 75 for line in calendar.split(b"\r\n"))
    unfolded = calendar.decode().replace("\r\n ", "").split("\r\n")
    assert unfolded.count("BEGIN:VEVENT") == 2
    assert "DTSTART;VALUE=DATE:20200401" in unfolded
    assert "SUMMARY:渡し舟法" in unfolded
    assert cli("pending", "--as-of", "2022-01-01").code == 3
    assert cli("pending", *day, str(memo), str(memo)).code == 2


def test_check_tells_that_citations_change(corpus: Any, cli: Any, tmp_path: Path) -> None:
    memo = tmp_path / "memo.md"
    memo.write_text(MEMO, encoding="utf-8")
    day = ("--as-of", "2019-01-01")
    told = cli("check", *day, str(memo))
    assert "From 2020-04-01 on, 5 citations and quotations have other words." in told.out
    assert "localrag pending memo.md" in told.err
    as_json = cli("check", *day, str(memo), "--json").json
    assert as_json["upcoming"] == cli("pending", *day, str(memo), "--json").json["upcoming"]
    report = tmp_path / "report.md"
    cli("check", *day, str(memo), "--out", str(report))
    assert "From 2020-04-01 on" in report.read_text("utf-8")
    for later, text in (("2022-01-01", str(memo)), ("2019-01-01", "渡し舟法第1条は変わらない。")):
        assert "upcoming" not in cli("check", "--as-of", later, text, "--json").json
