"""Comparisons of `staged`: computed if the sides make sense, else concluded by the model."""

import re
from collections.abc import Callable
from typing import Any, get_args

import pytest

from localrag.answer.prompts import Language, prompt
from localrag.answer.types import Status
from localrag.methods.comparison import ComparisonKind
from localrag.search.types import Query
from localrag.text.facts import told

from ....rows import each

Staged = Callable[..., Any]
Split = Callable[..., dict[str, Any]]

DIRECTOR = ("『青い灯台』の監督は誰ですか？", "青い灯台", "監督")
BORN = ("Answer1の生年月日はいつですか？", "Answer1", "生年月日")
BORN_KURO = ("黒潮レンの生年月日はいつですか？", "黒潮レン", "生年月日")
BORN_AONAGI = ("青凪ハルの生年月日はいつですか？", "青凪ハル", "生年月日")
OLDER = "黒潮レンと青凪ハルはどちらが年上ですか？"
FIRST = {"hit": 1, "object": ""}
NONE = {"hit": 0, "object": ""}
CONCLUDED = (
    "the triples are quoted; that the answer is {!r} is the model's conclusion, which code cannot "
    "compute"
)


def read(object_: str, hit: int = 1) -> dict[str, Any]:
    return {"hit": hit, "triple": {"subject": "", "predicate": "", "object": object_}}


@each(
    ("fields", "event"),
    [
        ({"sides": {1: "黒潮レン"}}, "fewer than two sides were named"),
        ({"sides": {1: "黒潮レン", 5: "青凪ハル"}}, "fewer than two sides were named"),
        (
            {"sides": {1: "黒潮レン", 2: "青凪ハル"}, "claimed": 3},
            "query 3 is claimed but is no side of the comparison",
        ),
        (
            {"sides": {1: "青凪ハル", 2: "黒潮レン"}},
            "query 1 asks about '黒潮レン', but its side is called '青凪ハル': the model compares",
        ),
        (
            {"sides": {1: "黒潮レン", 2: "青凪ハル", 4: "白波ソウタ"}},
            "the side '白波ソウタ' has no query 4: the model compares",
        ),
    ],
)
def test_a_comparison_that_makes_no_sense_is_left_to_the_model(
    staged: Staged, split: Split, fields: dict[str, Any], event: str
) -> None:
    reply = split(BORN_KURO, BORN_AONAGI, comparison="older", **fields)
    played = staged(OLDER, reply, FIRST, FIRST, {"answer": "青凪ハル"})
    assert played.answer.text == "青凪ハル"
    assert played.answer.derivation.computed == ()
    assert told(played.answer.doubts) == CONCLUDED.format("青凪ハル")
    assert any(str(one).startswith(event) for one in played.trace.events)


def test_a_query_that_gives_two_sides_is_left_to_the_model(staged: Staged, split: Split) -> None:
    reply = split(BORN_KURO, BORN_AONAGI, comparison="older")
    reply["sides"] = [
        {"query": n, "name": name} for n, name in [(1, "黒潮レン"), (1, "黒潮"), (2, "青凪ハル")]
    ]
    played = staged(OLDER, reply, FIRST, FIRST, {"answer": "青凪ハル"})
    assert "query 1 gives two sides: the model compares" in map(str, played.trace.events)
    assert played.answer.status is Status.UNSUPPORTED


@pytest.mark.parametrize("claimed", [0, 1])
def test_sides_with_one_name_are_not_told_apart(staged: Staged, split: Split, claimed: int) -> None:
    began = ("黒潮レンの公開日はいつですか？", "黒潮レン", "公開日")
    sides = {1: "青凪ハル", 2: "黒潮レン", 3: "『黒潮レン』"}
    reply = split(BORN_AONAGI, BORN_KURO, began, comparison="younger", sides=sides, claimed=claimed)
    late = {"triple": read("2003年5月10日")["triple"]}
    played = staged(OLDER, reply, FIRST, FIRST, NONE, late, {"answer": "黒潮レン"}, stages="1-3")
    event = "several sides have the name '黒潮レン'"
    assert event in map(str, played.trace.events)
    assert played.answer.derivation.computed == ()


def test_sides_called_after_each_other_are_left_to_the_model(staged: Staged, split: Split) -> None:
    queries = [
        ("『砂の時計』の公開日はいつですか？", "砂の時計", "公開日"),
        ("『砂の時計 完結編』の公開日はいつですか？", "砂の時計 完結編", "公開日"),
    ]
    sides = {1: "砂の時計 完結編", 2: "砂の時計"}
    late = {"triple": read("2003年5月10日")["triple"]}
    reply = split(*queries, comparison="earlier", sides=sides)
    question = "『砂の時計』と『砂の時計 完結編』、先に公開されたのは？"
    played = staged(question, reply, FIRST, NONE, late, {"answer": "砂の時計"}, stages="1-3")
    assert played.answer.derivation.computed == ()
    assert any("but its side is called '砂の時計 完結編'" in str(e) for e in played.trace.events)


@pytest.mark.parametrize(("sides", "computed"), [((1, 2), True), ((2, 1), False)])
def test_a_side_may_be_called_after_what_its_chain_begins_with(
    staged: Staged, split: Split, sides: tuple[int, int], computed: bool
) -> None:
    queries = [
        DIRECTOR,
        ("『砂の時計』の監督は誰ですか？", "砂の時計", "監督"),
        BORN,
        ("Answer2の生年月日はいつですか？", "Answer2", "生年月日"),
    ]
    called = {1: "青い灯台", 2: "砂の時計"}
    named = {3: called[sides[0]], 4: called[sides[1]]}
    reply = split(*queries, comparison="older", sides=named)
    question = "『青い灯台』と『砂の時計』、監督が年上なのはどちらですか？"
    played = staged(question, reply, FIRST, FIRST, FIRST, FIRST, {"answer": "青い灯台"})
    assert bool(played.answer.derivation.computed) is computed
    assert (played.answer.status is Status.SUPPORTED) is computed
    assert played.answer.text == ("砂の時計" if computed else "青い灯台")


def test_sides_called_after_the_answers_of_each_other_are_left_to_the_model(
    staged: Staged, split: Split
) -> None:
    queries = [
        DIRECTOR,
        ("『砂の時計』の監督は誰ですか？", "砂の時計", "監督"),
        BORN,
        ("Answer2の生年月日はいつですか？", "Answer2", "生年月日"),
    ]
    reply = split(*queries, comparison="older", sides={3: "青凪ハル", 4: "黒潮レン"})
    question = "『青い灯台』と『砂の時計』の監督、年上なのはどちらですか？"
    played = staged(question, reply, FIRST, FIRST, FIRST, FIRST, {"answer": "青凪ハル"})
    event = "the side '青凪ハル' of query 3 appears in triples of another query"
    assert event in map(str, played.trace.events)
    assert played.answer.status is Status.UNSUPPORTED


def test_what_the_model_takes_from_one_of_two_triples_is_its_conclusion(
    staged: Staged, split: Split
) -> None:
    reply = split(BORN_KURO, BORN_AONAGI)
    question = "黒潮レンと青凪ハルのうち年上の人の生年月日はいつですか？"
    answer = staged(question, reply, FIRST, FIRST, {"answer": "1970年4月2日"}).answer
    assert (answer.status, told(answer.doubts)) == (
        Status.UNSUPPORTED,
        CONCLUDED.format("1970年4月2日"),
    )


def test_a_side_that_nothing_names_is_left_to_the_model(staged: Staged, split: Split) -> None:
    director = ("『砂の時計』の監督は誰ですか？", "砂の時計", "監督")
    sides = {2: "白波ソウタ", 3: "黒潮レン"}
    reply = split(director, BORN, BORN_KURO, comparison="older", sides=sides)
    question = "『砂の時計』の監督と黒潮レンはどちらが年上ですか？"
    played = staged(question, reply, FIRST, FIRST, FIRST, {"answer": "青凪ハル"})
    event = "the side '白波ソウタ' is neither in the question nor in a triple"
    assert event in map(str, played.trace.events)
    assert played.answer.text == "青凪ハル"


def test_the_computation_is_shown(staged: Staged, split: Split) -> None:
    sides = {1: "『黒潮レン』", 2: "「青凪ハル」"}
    reply = split(BORN_KURO, BORN_AONAGI, comparison="older", sides=sides)
    answer = staged(OLDER, reply, FIRST, FIRST).answer
    assert answer.text == "青凪ハル"
    (computation,) = answer.derivation.computed
    assert "1970年4月2日" in computation
    assert "1981年12月24日" in computation


@pytest.mark.parametrize("language", get_args(Language))
def test_the_prompt_names_every_comparison(language: Language) -> None:
    told, _ = prompt("staged_decomposition", language, question="", most=5, tag="text")
    assert all(re.search(rf"\b{one}\b", told.content) for one in ComparisonKind)


def test_a_side_is_called_as_the_question_calls_it(staged: Staged, split: Split) -> None:
    released = [
        ("『砂の時計』の公開日はいつですか？", "砂の時計 (映画)", "公開日"),
        ("『青い灯台』の公開日はいつですか？", "青い灯台", "公開日"),
    ]
    sides = {1: "砂の時計 (映画)", 2: "青い灯台"}
    reply = split(*released, comparison="earlier", sides=sides)
    answer = staged("砂の 時計と青い灯台、先に公開されたのは？", reply, FIRST, FIRST).answer
    assert (answer.text, answer.status) == ("砂の 時計", Status.SUPPORTED)


def test_options_are_part_of_the_question(staged: Staged, split: Split) -> None:
    query = Query("年上なのは誰ですか？", ("黒潮レン", "青凪ハル"))
    sides = {1: "黒潮レン", 2: "青凪ハル"}
    reply = split(BORN_KURO, BORN_AONAGI, comparison="older", sides=sides)
    played = staged(query, reply, FIRST, FIRST)
    assert played.answer.text == "青凪ハル"
    assert "黒潮レン\n青凪ハル" in played.prompts[0]
