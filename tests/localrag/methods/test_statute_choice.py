"""Ways 1 to 4: one choice, by nothing, the gold context, a fixed query, a written query."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tiny_models.scripted import searches

from localrag.answer.types import Status, Unanswered
from localrag.errors import UsageError
from localrag.methods.catalogue import Calls, method
from localrag.methods.searches import LONGEST_WORDS, built_in
from localrag.search.types import Filters, Query
from localrag_models.errors import ContextExceeded, ServerUnreachable

from ...rows import each

Play = Callable[..., Any]
GOLD = "前項の許可の有効期間は、三年とする。"
ACT = "598AC0000000001"
QUERY = searches("凧揚げ規制法 許可の有効期間")


def choice(label: str, reason: str = "期間は三年である。") -> dict[str, str]:
    return {"reason": reason, "label": label}


WAYS = {
    "statute-direct": [],
    "statute-gold": [],
    "statute-fixed": [],
    "statute-gepa": [QUERY],
}
each_way = each("name", WAYS)


@each_way
@each("label", "abcd")
def test_the_option_chosen_is_the_answer(
    play: Play, question: Query, name: str, label: str
) -> None:
    played = play(name, question, *WAYS[name], choice(label), context=GOLD)
    answer = played.answer
    assert answer.label == label
    assert answer.text == question.options["abcd".index(label)]
    assert [claim.text for claim in answer.claims] == ["期間は三年である。"]
    assert (answer.status, answer.citations) == (Status.UNSUPPORTED, ())


@each_way
@each("options", range(2, 9))
def test_calls_are_as_promised(play: Play, name: str, options: int) -> None:
    asked = Query("凧揚げ規制法の許可の期間は何年か。", tuple(f"{n}年" for n in range(options)))
    played = play(name, asked, *WAYS[name], choice("b"), context=GOLD)
    assert played.answer.label == "b"
    assert len(played.trace.calls) == method(name).calls.of(options)
    assert method(name).calls == Calls(fixed=len(WAYS[name]) + 1)


@each_way
def test_all_are_asked_with_the_same_settings(play: Play, question: Query, name: str) -> None:
    for request in play(name, question, *WAYS[name], choice("a"), context=GOLD).requests:
        assert (request.max_tokens, request.temperature, request.seed) == (100, 0.0, 0)


@each_way
@each(
    "malformed",
    [
        "",
        "答えは a です。",
        choice("e"),
        choice("A"),
        choice("ab"),
        choice("a", "長" * 301),
        {"label": "a"},
        '{"reason": "三年", "label": "a',
    ],
)
def test_a_malformed_reply_is_asked_for_once_more(
    play: Play, question: Query, name: str, malformed: object
) -> None:
    played = play(name, question, *WAYS[name], malformed, choice("c"), context=GOLD)
    assert played.answer.label == "c"
    first, second = played.requests[-2:]
    assert first.messages == second.messages
    assert first.seed != second.seed
    assert first.temperature < second.temperature
    assert [bool(call.problem) for call in played.trace.calls[-2:]] == [True, False]


@each_way
def test_malformed_twice_is_a_failure_that_keeps_the_trace(
    play: Play, question: Query, name: str
) -> None:
    played = play(name, question, *WAYS[name], "はい", choice("x"), context=GOLD)
    assert isinstance(played.error, Unanswered)
    assert played.error.kind == "ReplyInvalid"
    assert [call.purpose for call in played.trace.calls[-2:]] == ["choice", "choice"]
    assert all(call.problem for call in played.trace.calls[-2:])
    assert bool(played.trace.stages) == method(name).searches


@each_way
def test_a_server_that_fails_is_told_as_such(play: Play, question: Query, name: str) -> None:
    fails = ServerUnreachable("nobody answers", "start it")
    played = play(name, question, *WAYS[name], fails, context=GOLD)
    assert isinstance(played.error, Unanswered)
    assert (played.error.kind, played.error.transient) == ("ServerUnreachable", True)


@each_way
def test_the_schema_allows_no_other_label(play: Play, name: str) -> None:
    asked = Query("凧を揚げてよいか。", ("よい", "よくない", "分からない"))
    played = play(name, asked, *WAYS[name], choice("c"), context=GOLD)
    schema = played.requests[-1].schema
    assert schema["properties"]["label"]["pattern"] == "^[abc]$"


def test_direct_is_told_nothing_but_the_question(play: Play, question: Query) -> None:
    played = play("statute-direct", question, choice("a"))
    (shown,) = played.prompts
    assert question.text in shown
    assert all(option in shown for option in question.options)
    assert "資料 1" not in shown
    assert played.trace.stages == ()


def test_gold_is_told_the_whole_context(play: Play, question: Query) -> None:
    long = "\n".join(f"第{number}条　{GOLD}" for number in range(1, 300))
    (shown,) = play("statute-gold", question, choice("a"), context=long).prompts
    assert long in shown


def test_gold_needs_a_context(play: Play, question: Query) -> None:
    for context in (None, "", " \n"):
        played = play("statute-gold", question, context=context)
        assert isinstance(played.error, UsageError)
        assert played.requests == []


def test_a_context_of_the_model_too_small_is_a_typed_failure(play: Play, question: Query) -> None:
    full = ContextExceeded("too small", "set chat.context", needed=9000, available=2048)
    played = play("statute-gold", question, full, context=GOLD)
    assert (played.error.kind, played.error.cure) == ("ContextExceeded", "set chat.context")
    for name in ("statute-fixed", "statute-gepa"):
        played = play(name, question, *WAYS[name], window=300)
        assert played.error.kind == "ContextExceeded"
        assert "chat.max_tokens" in played.error.cure
        assert [stage.stage for stage in played.trace.stages][:1] != []


def test_fixed_searches_for_question_and_options(play: Play, question: Query) -> None:
    played = play("statute-fixed", question, choice("a"))
    dense, lexical, evidence = played.trace.stages
    assert (dense.stage, lexical.stage, evidence.stage) == ("dense", "lexical", "evidence")
    assert "BM25 replaces" in str(dense.events[0])
    assert len(evidence.hits) == 5
    assert [hit.passage.id for hit in evidence.hits] == [hit.passage.id for hit in lexical.hits]
    (shown,) = played.prompts
    assert all(f"{hit.passage.header}\n{hit.passage.text}" in shown for hit in evidence.hits)


def test_what_the_context_does_not_hold_is_left_out_and_told(play: Play, question: Query) -> None:
    whole = play("statute-fixed", question, choice("a"))
    window = len("".join(message.content for message in whole.requests[0].messages)) + 99
    played = play("statute-fixed", question, choice("a"), window=window)
    evidence = played.trace.stages[-1]
    assert len(evidence.hits) == 4
    assert "1 of 5 passages did not fit" in str(evidence.events[0])


def test_a_search_that_finds_nothing_is_told(play: Play) -> None:
    asked = Query("Zyqqx vvwkk?", ("Qqzx", "Xxqj"))
    played = play("statute-fixed", asked, choice("b"))
    assert played.answer.label == "b"
    assert any("nothing was found" in str(event) for event in played.trace.events)


def test_gepa_searches_for_the_query_that_the_model_wrote(play: Play, question: Query) -> None:
    played = play("statute-gepa", question, searches("風車の点検"), choice("a"))
    searched = [stage for stage in played.trace.stages if stage.stage == "lexical"]
    assert [stage.query for stage in searched] == ["風車の点検"]
    assert searched[0].hits[0].passage.header.startswith("風車保安法")
    assert [call.purpose for call in played.trace.calls] == ["query", "choice"]


def test_gepa_without_an_optimised_prompt_says_so(play: Play, question: Query) -> None:
    played = play("statute-gepa", question, QUERY, choice("a"))
    assert any("built-in" in str(event) for event in played.trace.events)
    assert played.requests[0].messages[0].content == built_in("ja")


def test_gepa_follows_the_optimised_prompt(play: Play, question: Query) -> None:
    prompt = "法令名だけを書け。{{ 7 * 7 }}"
    played = play("statute-gepa", question, QUERY, choice("a"), query_prompt=prompt)
    system, user = played.requests[0].messages
    assert system.content == prompt
    assert question.text in user.content
    assert "(searches)" in user.content
    assert not any("built-in" in str(event) for event in played.trace.events)


@pytest.mark.parametrize("query", ["", " \n", "。…、"])
def test_a_query_without_a_word_falls_back_to_the_question(
    play: Play, question: Query, query: str
) -> None:
    played = play("statute-gepa", question, searches(query), choice("a"))
    (searched,) = (stage for stage in played.trace.stages if stage.stage == "lexical")
    assert searched.query == "\n".join((question.text, *question.options))
    assert any("without a word" in str(event) for event in played.trace.events)


def test_a_query_too_long_is_malformed(play: Play, question: Query) -> None:
    endless = searches("凧" * (LONGEST_WORDS + 1))
    played = play("statute-gepa", question, endless, QUERY, choice("a"))
    assert [call.purpose for call in played.trace.calls] == ["query", "query", "choice"]
    assert played.trace.calls[0].problem


def test_filters_hold_for_the_written_query(play: Play, question: Query) -> None:
    asked = replace(question, filters=Filters(documents=(ACT,)))
    played = play("statute-gepa", asked, searches("風車の点検 許可"), choice("a"))
    hits = [hit for stage in played.trace.stages for hit in stage.hits]
    assert {hit.passage.document_id for hit in hits} == {ACT}


def test_a_question_in_english_is_asked_in_english(play: Play) -> None:
    asked = Query("How long is a permit valid?", ("Three years", "Five years"))
    for name, replies in WAYS.items():
        for shown in play(name, asked, *replies, choice("a"), context="three years").prompts:
            assert "JSON" in shown
            assert "設問" not in shown
