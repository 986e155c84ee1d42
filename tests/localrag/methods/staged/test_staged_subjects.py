"""An answer is supported only if its citations are about the right subject."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.answer.types import Status
from localrag.text.facts import told

from ....rows import each

Staged = Callable[..., Any]
Split = Callable[..., dict[str, Any]]

TRIPLES = [
    ("黒澤 レン (映画監督)", "職業", ["漁師"]),
    ("黒澤 レン (映画監督)", "別名", ["海鳥のレン"]),
    ("青凪ハル", "職業", ["作曲家"]),
    ("凧の塔", "設計者", ["波間トオル"]),
    ("凧の塔2", "設計者", ["白波ソウタ"]),
]
ARTICLES = {
    "黒澤レン": "1981年に生まれた。職業は漁師である。",
    "港の人々": "黒沢レンと青凪ハルは港に住む。ハルの職業は作曲家である。",
    "凧の塔２": "凧の塔２は岬にある。設計者は白波ソウタである。",
}


@pytest.fixture(scope="module")
def home(make_home: Callable[..., Path]) -> Path:
    """A world with names in several spellings."""
    return make_home(TRIPLES, ARTICLES)


def asked(name: str, predicate: str = "職業") -> tuple[str, str, str]:
    return (f"{name}の{predicate}は何ですか？", name, predicate)


def hit_of(played: Any, text: str) -> int:
    """The number of the hit with this text in the prompt."""
    (shown,) = [one for one in played.trace.stages if one.stage == "evidence" and one.hits]
    return next(at for at, hit in enumerate(shown.hits, 1) if text in hit.passage.text)


@each("name", ["黒澤レン", "黒沢レン", "『黒澤・レン』", "黒澤レン (映画監督)", "海鳥のレン"])
def test_a_triple_may_write_its_subject_in_another_way(
    staged: Staged, split: Split, home: Path, name: str
) -> None:
    query = asked(name)
    looked = staged(query[0], split(query), {"hit": 0, "object": ""}, stages="1", home=home)
    chosen = {"hit": hit_of(looked, "漁師"), "object": ""}
    answer = staged(
        query[0], split(query), chosen, {"answer": "漁師"}, stages="1", home=home
    ).answer
    assert (answer.text, answer.status, told(answer.doubts)) == ("漁師", Status.SUPPORTED, "")


@each(
    ("name", "predicate", "other", "object_"),
    [
        ("黒澤レン", "職業", "青凪ハル", "作曲家"),
        ("凧の塔", "設計者", "凧の塔2", "白波ソウタ"),
        ("凧の塔3", "設計者", "凧の塔2", "白波ソウタ"),
        ("凧の塔 完結編", "設計者", "凧の塔", "波間トオル"),
        ("？", "設計者", "凧の塔", "波間トオル"),
    ],
)
def test_a_triple_about_another_subject_carries_nothing(
    staged: Staged, split: Split, home: Path, name: str, predicate: str, other: str, object_: str
) -> None:
    query = asked(name, predicate)
    looked = staged(query[0], split(query), {"hit": 0, "object": ""}, stages="1", home=home)
    chosen = {"hit": hit_of(looked, f"{other}の{predicate}"), "object": ""}
    answer = staged(
        query[0], split(query), chosen, {"answer": object_}, stages="1", home=home
    ).answer
    assert (answer.text, answer.status) == (object_, Status.UNSUPPORTED)
    assert f"query 1 asks about {name!r}, but its citation is about {other!r}" in (
        told(answer.doubts)
    )
    (step,) = answer.derivation.steps
    assert step.triple.subject == other
    assert step.citation == 1


@each(
    ("text", "status"),
    [
        ("凧の塔の設計者は誰ですか？", Status.SUPPORTED),
        ("「凧の塔」の設計者は誰ですか？", Status.SUPPORTED),
        ("凧の塔2の設計者は誰ですか？", Status.UNSUPPORTED),
        ("塔の設計者は誰ですか？", Status.UNSUPPORTED),
    ],
)
def test_without_a_subject_the_query_has_to_name_that_of_the_triple(
    staged: Staged, split: Split, home: Path, text: str, status: Status
) -> None:
    query = (text, "", "設計者")
    looked = staged(text, split(query), {"hit": 0, "object": ""}, stages="1", home=home)
    chosen = {"hit": hit_of(looked, "凧の塔の設計者"), "object": ""}
    answer = staged(
        text, split(query), chosen, {"answer": "波間トオル"}, stages="1", home=home
    ).answer
    assert answer.status is status
    assert bool(answer.doubts) is (status is Status.UNSUPPORTED)


@each(
    ("query", "subject", "passage", "object_", "other"),
    [
        (asked("黒澤レン"), "", "漁師", "漁師", None),
        (asked("黒沢 レン"), "黒澤レン", "漁師", "漁師", None),
        (asked("黒澤レン (映画監督)"), "黒澤レン", "漁師", "漁師", None),
        (asked("青凪ハル"), "", "港", "作曲家", None),
        (("青凪ハルの職業は？", "", "職業"), "青凪ハル", "港", "作曲家", None),
        (asked("青凪ハル"), "", "漁師", "漁師", "黒澤レン"),
        (asked("黒澤レン"), "青凪ハル", "港", "作曲家", "青凪ハル"),
        (asked("凧の塔", "設計者"), "", "岬", "白波ソウタ", "凧の塔２"),
        (("黒澤レンの職業は？", "", "職業"), "青凪ハル", "港", "作曲家", "青凪ハル"),
        (("職業は何ですか？", "", "職業"), "", "漁師", "漁師", "黒澤レン"),
    ],
)
def test_a_passage_has_to_name_the_subject(
    staged: Staged,
    split: Split,
    home: Path,
    query: tuple[str, str, str],
    subject: str,
    passage: str,
    object_: str,
    other: str | None,
) -> None:
    unread = {"hit": 0, "triple": None}
    looked = staged(query[0], split(query), unread, stages="2", home=home)
    triple = {"subject": subject, "predicate": "", "object": object_}
    chosen = {"hit": hit_of(looked, passage), "triple": triple}
    answer = staged(
        query[0], split(query), chosen, {"answer": object_}, stages="2", home=home
    ).answer
    assert all(citation.verified for citation in answer.citations)
    if other is None:
        assert (answer.status, told(answer.doubts)) == (Status.SUPPORTED, "")
        return
    assert (answer.text, answer.status) == (object_, Status.UNSUPPORTED)
    asks = query[1] or query[0]
    assert f"query 1 asks about {asks!r}, but its citation is about {other!r}" in (
        told(answer.doubts)
    )


def test_every_step_is_held_against_its_subject(staged: Staged, split: Split, home: Path) -> None:
    chain = (asked("凧の塔", "設計者"), ("Answer1の職業は何ですか？", "Answer1", "職業"))
    unknown = {"hit": 0, "object": ""}
    first = {"hit": 1, "object": ""}
    question = "凧の塔の設計者の職業は何ですか？"
    looked = staged(question, split(*chain), first, unknown, stages="1", home=home)
    shown = [one for one in looked.trace.stages if one.stage == "evidence" and one.hits][1]
    hit = next(at for at, one in enumerate(shown.hits, 1) if "作曲家" in one.passage.text)
    replies = [first, {"hit": hit, "object": ""}, {"answer": "作曲家"}]
    answer = staged(question, split(*chain), *replies, stages="1", home=home).answer
    assert answer.status is Status.UNSUPPORTED
    assert told(answer.doubts) == (
        "query 2 asks about '波間トオル', but its citation is about '青凪ハル'"
    )
