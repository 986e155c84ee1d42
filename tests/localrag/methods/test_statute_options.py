"""Way 5 and the combination left open: evidence and verdict per option, then a knock-out."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tiny_models.scripted import searches

from localrag.answer.types import Status, Unanswered
from localrag.methods.catalogue import method
from localrag.methods.searches import built_in
from localrag.search.types import Filters, Query, StageRecord

from ...rows import each

Play = Callable[..., Any]
ACT, ORDER, MILLS = "598AC0000000001", "598CO0000000002", "598AC0000000003"

each_method = each("name", ["statute-options", "statute-options-gepa"])


def query(text: str = "凧揚げ規制法 許可の有効期間") -> dict[str, Any]:
    return searches(text)


def verdict(word: str, reason: str = "第三条第二項による。") -> dict[str, str]:
    return {"reason": reason, "verdict": word}


def choice(label: str) -> dict[str, str]:
    return {"reason": "理由がより確かである。", "label": label}


def replies(
    verdicts: Sequence[str], winners: str, queries: Sequence[str] = ()
) -> list[dict[str, str]]:
    """The replies that give these verdicts and these winners."""
    asked = [query(text) for text in queries] or [query()] * len(verdicts)
    return [*asked, *map(verdict, verdicts), *map(choice, winners)]


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.trace.calls]


def of(played: Any, stage: str, subject: str = "option a") -> list[StageRecord]:
    return [one for one in played.trace.stages if (one.stage, one.subject) == (stage, subject)]


@each_method
def test_the_winner_of_the_knock_out_is_the_answer(play: Play, question: Query, name: str) -> None:
    verdicts = ["正解候補", "誤り", "正解ではない", "正しい"]
    played = play(name, question, *replies(verdicts, "add"))
    answer = played.answer
    assert (answer.label, answer.text) == ("d", question.options[3])
    assert [claim.text for claim in answer.claims] == [
        f"{label} {word}: 第三条第二項による。"
        for label, word in zip("abcd", verdicts, strict=True)
    ]
    assert (answer.status, answer.citations) == (Status.UNSUPPORTED, ())
    assert purposes(played) == [
        *(f"query {label}" for label in "abcd"),
        *(f"verdict {label}" for label in "abcd"),
        "knock-out a-b",
        "knock-out c-d",
        "knock-out a-d",
    ]


@each_method
@pytest.mark.parametrize("word", ["正しい", "誤り"])
def test_verdicts_that_contradict_each_other_still_lead_to_one_answer(
    play: Play, question: Query, name: str, word: str
) -> None:
    assert play(name, question, *replies([word] * 4, "bcb")).answer.label == "b"


@each_method
@each("options", range(2, 9))
def test_calls_are_as_promised(play: Play, name: str, options: int) -> None:
    asked = Query("凧揚げ規制法の許可の期間は何年か。", tuple(f"{n}年" for n in range(options)))
    first_wins = {2: "a", 3: "aa", 4: "aca", 5: "acaa", 6: "aceaa", 7: "aceaea", 8: "acegaea"}
    played = play(name, asked, *replies(["正しい"] * options, first_wins[options]))
    assert played.answer.label == "a"
    assert len(played.trace.calls) == method(name).calls.of(options) == 3 * options - 1


def test_malformed_replies_are_asked_for_once_more_at_every_step(
    play: Play, question: Query
) -> None:
    asked = replace(question, options=question.options[:2])
    bad = [verdict("正解"), verdict("正しい", ""), choice("c"), "答えは a"]
    played = play(
        "statute-options", asked,
        "検索", query(), query(), bad[0], verdict("正しい"), bad[1], verdict("誤り"), bad[2],
        choice("a"),
    )  # fmt: skip
    assert played.answer.label == "a"
    assert [call.purpose for call in played.trace.calls if call.problem] == [
        "query a",
        "verdict a",
        "verdict b",
        "knock-out a-b",
    ]


@pytest.mark.parametrize(
    ("good", "purpose"),
    [
        ([], "query a"),
        ([query()] * 4, "verdict a"),
        ([query()] * 4 + [verdict("正しい")] * 4, "knock-out a-b"),
    ],
)
def test_malformed_twice_is_a_failure_that_keeps_the_trace(
    play: Play, question: Query, good: list[dict[str, str]], purpose: str
) -> None:
    played = play("statute-options", question, *good, "はい", "いいえ")
    assert isinstance(played.error, Unanswered)
    assert played.error.kind == "ReplyInvalid"
    assert purposes(played)[-2:] == [purpose, purpose]
    assert len(played.trace.calls) == len(good) + 2


def test_the_loser_of_a_match_cannot_win_a_later_one(play: Play, question: Query) -> None:
    played = play("statute-options", question, *replies(["正しい"] * 4, "ac"), choice("b"), "")
    assert isinstance(played.error, Unanswered)
    assert played.requests[-1].schema["properties"]["label"]["pattern"] == "^[ac]$"


def test_the_query_decides_how_it_is_searched_for(play: Play, question: Query) -> None:
    queries = ["凧揚げ規制法第三条第二項", "大凧の定義", "許可の有効期間", "風車"]
    played = play("statute-options", question, *replies(["正しい"] * 4, "aca", queries))
    assert [stage.query for stage in of(played, "lexical")] == queries[:1]
    assert of(played, "dense") == []
    # Without vectors words are searched, and the trace says so.
    for label, text in zip("bc", queries[1:3], strict=True):
        (dense,) = of(played, "dense", f"option {label}")
        assert (dense.query, len(dense.events)) == (text, 1)
        assert len(of(played, "lexical", f"option {label}")) == 1


def test_a_law_named_but_not_hit_is_searched_again(play: Play, question: Query) -> None:
    # More hits than five are of the other law, whose words the query repeats.
    words = "凧揚げ規制法 大凧 凧師 都道府県知事 許可 違反 罰金 事故 風速 風車保安法"
    played = play(
        "statute-options",
        question,
        *replies(["正しい"] * 4, "aca", [words, "許可", "許可", "許可"]),
    )
    first = of(played, "lexical")[0]
    lacking = {ACT, ORDER, MILLS} - {hit.passage.document_id for hit in first.hits}
    assert MILLS in lacking
    (again,) = of(played, "lexical", f"option a in {MILLS}")
    assert {hit.passage.document_id for hit in again.hits} == {MILLS}
    (reranked,) = of(played, "rerank")
    ids = [hit.passage.id for hit in reranked.hits]
    assert len(ids) == len(set(ids)) <= 10
    assert {hit.passage.id for hit in first.hits} <= set(ids)
    assert MILLS in {hit.passage.document_id for hit in reranked.hits}
    assert "model for reranking" in str(reranked.events[0])
    evidence = of(played, "evidence")[0]
    assert [hit.passage.id for hit in evidence.hits] == ids


def test_a_second_search_stays_within_the_filters(play: Play, question: Query) -> None:
    asked = replace(question, filters=Filters(documents=(ACT,)))
    texts = ["風車保安法の点検"] * 4
    played = play("statute-options", asked, *replies(["正しい"] * 4, "aca", texts))
    hits = [hit for stage in played.trace.stages for hit in stage.hits]
    assert {hit.passage.document_id for hit in hits} <= {ACT}


def test_a_law_that_the_corpus_lacks_is_told(play: Play, question: Query) -> None:
    texts = ["凧揚げ規制法第三条及び独楽税法第五条", "独楽税法第五条", "許可", "許可"]
    played = play("statute-options", question, *replies(["正しい"] * 4, "aca", texts))
    told = [str(event) for event in played.trace.events if "not in the corpus" in str(event)]
    assert told == ["the query cites 独楽税法第五条; its law is not in the corpus"] * 2


def test_a_query_without_a_word_falls_back_to_the_option(play: Play, question: Query) -> None:
    texts = ["許可", "……", "許可", "許可"]
    played = play("statute-options", question, *replies(["正しい"] * 4, "aca", texts))
    (searched,) = of(played, "lexical", "option b")
    assert searched.query == f"{question.text}\n{question.options[1]}"
    assert len(of(played, "query", "option b")) == 1


def test_an_option_without_evidence_is_judged_all_the_same(play: Play) -> None:
    asked = Query("Zyqqx?", ("Qqzx", "Xxqj"))
    played = play("statute-options", asked, *replies(["正しい", "誤り"], "a", ["Qqzx", "Xxqj"]))
    assert played.answer.label == "a"
    assert sum("nothing was found" in str(event) for event in played.trace.events) == 2


def test_the_prompt_of_a_match_holds_verdicts_and_reasons(play: Play, question: Query) -> None:
    given = [query()] * 4 + [
        verdict("正しい", "有効期間は三年だからである。"),
        verdict("誤り", "五年ではないからである。"),
        verdict("誤り", "年齢が足りない。"),
        verdict("誤り", "十日以内である。"),
    ]
    played = play("statute-options", question, *given, *map(choice, "aca"))
    match = played.prompts[8]
    for part in ("正しい\n有効期間は三年だからである。", "誤り\n五年ではないからである。"):
        assert part in match
    assert "年齢が足りない。" not in match


def test_each_is_asked_under_its_own_prompt_for_queries(play: Play, question: Query) -> None:
    own, told = built_in("ja", per_option=True), "法令名だけを書け。"

    def systems(name: str, prompt: str) -> tuple[set[str], int]:
        played = play(name, question, *replies(["正しい"] * 4, "aca"), query_prompt=prompt)
        events = [event for event in played.trace.events if "built-in" in str(event)]
        return {request.messages[0].content for request in played.requests[:4]}, len(events)

    assert systems("statute-options", "") == ({own}, 0)
    assert systems("statute-options", told) == ({own}, 0)
    assert systems("statute-options-gepa", told) == ({told}, 0)
    assert systems("statute-options-gepa", "") == ({own}, 1)


def test_what_prompts_share_comes_first(play: Play, question: Query) -> None:
    played = play("statute-options", question, *replies(["正しい"] * 4, "aca"))
    for calls in (slice(0, 4), slice(4, 8)):
        first, *others = played.prompts[calls]
        start = first.index(question.text) + len(question.text)
        assert all(other[:start] == first[:start] for other in others)


@each_method
def test_a_small_context_leaves_out_the_last_ranks(play: Play, question: Query, name: str) -> None:
    played = play(name, question, *replies(["正しい"] * 4, "aca"), window=900)
    assert played.answer.label == "a"
    assert all(
        sum(len(message.content) for message in request.messages) + 100 <= 900
        for request in played.requests
    )
    assert any("did not fit" in str(event) for event in played.trace.events)


def test_a_context_too_small_for_any_prompt_is_a_typed_failure(play: Play, question: Query) -> None:
    played = play("statute-options", question, *[query()] * 4, window=300)
    assert isinstance(played.error, Unanswered)
    assert played.error.kind == "ContextExceeded"
