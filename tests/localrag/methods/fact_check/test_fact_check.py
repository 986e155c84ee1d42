"""`fact-check` and its published variants, led through every branch by scripted replies."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder
from tiny_models.servers import OpenAIDouble

from localrag.answer.types import Stance, Status, Veracity
from localrag.answer.wording import supplement
from localrag.corpus.config import Config, EmbeddingConfig
from localrag.corpus.ingest.add import add
from localrag.corpus.workspace import Workspace
from localrag.methods.catalogue import NAMES, method
from localrag.search.indexing.index import index_as_set
from localrag.text.facts import Fact, FactKind

from ....rows import each

CLAIM = "Johan Reed built the clock tower in 1604."
QUESTIONS = {"questions": ["When did Johan Reed build the clock tower?", "Who paid the tower?"]}
ONE = {"questions": ["When did Johan Reed build the clock tower?"]}
NOTE = {"context": "This is about the clock tower of Tarn."}
REFUTED = {"sentences": [1], "reason": "Johan Reed built it in 1504.", "label": "Refuted"}
MALFORMED = "no JSON"

Check = Callable[..., Any]


def purposes(played: Any) -> list[str]:
    return [call.purpose for call in played.trace.calls]


def told(played: Any, kind: FactKind) -> int:
    return sum(fact.kind is kind for fact in played.trace.events)


def backwards(question: str, texts: Sequence[str]) -> list[float]:
    """Scores of a reranker that prefers the last text."""
    del question
    return [float(place) for place, _ in enumerate(texts)]


# --- The baseline ---


def test_two_calls_say_a_verdict_with_the_sentence_it_rests_on(check: Check) -> None:
    played = check("fact-check", CLAIM, QUESTIONS, REFUTED)
    answer = played.answer
    assert (answer.text, answer.status) == ("Refuted", Status.SUPPORTED)
    assert answer.checked.veracity is Veracity.REFUTED
    assert answer.checked.questions == tuple(QUESTIONS["questions"])
    assert [one.quote for one in answer.cited(answer.claims[0])] == ["Johan Reed built it in 1504."]
    assert all(one.citation.verified for one in answer.checked.evidence)
    assert purposes(played) == ["claim questions", "verdict"]


def test_each_question_finds_its_sentences_and_each_is_shown_once(check: Check) -> None:
    played = check("fact-check", CLAIM, QUESTIONS, REFUTED, sentences=2)
    stages = [(one.stage, one.subject) for one in played.trace.stages]
    assert ("sentences", "question 1") in stages
    assert ("sentences", "question 2") in stages
    quotes = [one.citation.quote for one in played.answer.checked.evidence]
    assert 2 <= len(quotes) <= 4
    assert len(set(quotes)) == len(quotes)
    assert played.prompts[-1].count("Johan Reed built it in 1504.") == 1


def test_the_settings_bound_documents_questions_and_sentences(check: Check) -> None:
    three = {"questions": ["When was it built?", "Who built it?", "Who paid?"]}
    played = check("fact-check", CLAIM, three, three, REFUTED, questions=2)
    assert told(played, FactKind.CLAIM_NOT_SPLIT) == 1, "three questions are one too many"
    played = check("fact-check", CLAIM, ONE, REFUTED, documents=1, sentences=1)
    assert len(played.answer.checked.evidence) == 1
    assert {len(one.hits) for one in played.trace.stages if one.hits} == {1}


@pytest.mark.parametrize(("slightest_sign", "times"), [(True, 1), (False, 0)])
def test_the_slightest_sign_is_a_switch(check: Check, slightest_sign: bool, times: int) -> None:
    played = check("fact-check", CLAIM, ONE, REFUTED, slightest_sign=slightest_sign)
    assert played.prompts[-1].count("slightest sign") == times
    # The questions are asked alike.
    assert "slightest sign" not in played.prompts[0]


@each(
    ("label", "veracity", "status"),
    [
        # The sentence cited refutes the claim, and code sees it.
        ("Refuted", Veracity.REFUTED, Status.SUPPORTED),
        ("Supported", Veracity.SUPPORTED, Status.UNSUPPORTED),
        ("Conflicting Evidence/Cherrypicking", Veracity.CONFLICTING, Status.UNSUPPORTED),
        ("Not Enough Evidence", Veracity.NOT_ENOUGH, Status.NOT_FOUND),
    ],
)
def test_every_label_is_a_verdict(
    check: Check, label: str, veracity: Veracity, status: Status
) -> None:
    answer = check("fact-check", CLAIM, ONE, {**REFUTED, "label": label}).answer
    assert (answer.text, answer.checked.veracity, answer.status) == (label, veracity, status)


def test_a_label_is_supported_where_code_finds_that_a_sentence_cited_says_it(
    check: Check,
) -> None:
    claim = "The clerk kept the keys."
    verdict = {"sentences": [1], "reason": claim, "label": "Supported"}
    answer = check("fact-check", claim, {"questions": [claim]}, verdict, sentences=1).answer
    assert answer.status is Status.SUPPORTED
    assert answer.checked.that(Stance.SUPPORTS)[0].by_code
    refuted = {**verdict, "label": "Refuted"}
    answer = check("fact-check", claim, {"questions": [claim]}, refuted, sentences=1).answer
    assert (answer.checked.veracity, answer.status) == (Veracity.REFUTED, Status.UNSUPPORTED)
    assert [one.kind for one in answer.doubts] == [FactKind.BY_WORD_OF_MODEL]


def test_a_verdict_in_japanese(check: Check) -> None:
    replies = {"questions": ["時計塔 Tarn"]}, {**REFUTED, "reason": "1504年に建てられた。"}
    answer = check("fact-check", "時計塔 Tarn は1604年に建てられた。", *replies).answer
    assert answer.text == "反する"


def test_a_reason_that_its_sentences_do_not_carry_leaves_the_verdict_unsupported(
    check: Check,
) -> None:
    answer = check("fact-check", CLAIM, ONE, {**REFUTED, "reason": "Built in 1777."}).answer
    assert answer.checked.veracity is Veracity.REFUTED
    assert answer.status is Status.UNSUPPORTED
    uncited = {**REFUTED, "sentences": [], "reason": "Built in 1777."}
    answer = check("fact-check", CLAIM, ONE, uncited).answer
    assert (answer.claims, answer.citations, answer.status) == ((), (), Status.UNSUPPORTED)


def test_a_reason_without_a_number_cites_the_sentence_that_carries_it(check: Check) -> None:
    answer = check("fact-check", CLAIM, ONE, {**REFUTED, "sentences": []}).answer
    assert answer.claims[0].moved
    assert [one.quote for one in answer.citations] == [REFUTED["reason"]]


# --- What goes wrong ---


def test_questions_that_stay_malformed_leave_the_claim_to_be_searched_for(check: Check) -> None:
    played = check("fact-check", CLAIM, MALFORMED, MALFORMED, REFUTED)
    assert played.answer.checked.questions == (CLAIM,)
    assert told(played, FactKind.CLAIM_NOT_SPLIT) == 1
    blank = check("fact-check", CLAIM, {"questions": ["?!"]}, REFUTED)
    assert blank.answer.checked.questions == (CLAIM,)


def test_a_malformed_reply_is_asked_for_once_more(check: Check) -> None:
    played = check("fact-check", CLAIM, MALFORMED, ONE, MALFORMED, REFUTED)
    assert played.answer.text == "Refuted"
    assert len(played.requests) == 4


@each(
    "reply",
    [MALFORMED, {**REFUTED, "label": "True"}, {**REFUTED, "sentences": [99]}, {"label": "Refuted"}],
)
def test_a_verdict_that_stays_malformed_is_no_verdict(check: Check, reply: Any) -> None:
    assert check("fact-check", CLAIM, ONE, reply, reply).error.kind == "ReplyInvalid"


def test_a_supplement_that_stays_malformed_leaves_its_sentence_without(check: Check) -> None:
    played = check(
        "fact-check-context", CLAIM, ONE, MALFORMED, MALFORMED, NOTE, REFUTED, sentences=2
    )
    assert [one.supplement for one in played.answer.checked.evidence] == ["", NOTE["context"]]
    assert told(played, FactKind.NOT_SUPPLEMENTED) == 1


def test_where_nothing_is_found_nothing_is_judged(check: Check) -> None:
    played = check("fact-check", "Zzyzx qwrtp.", {"questions": ["Zzyzx?"]})
    assert played.answer.checked.veracity is Veracity.NOT_ENOUGH
    assert played.answer.status is Status.NOT_FOUND
    assert purposes(played) == ["claim questions"]


def test_a_model_with_a_small_context_is_told_and_shown_less(check: Check) -> None:
    few = check("fact-check", CLAIM, QUESTIONS, REFUTED, window=1200)
    assert told(few, FactKind.SENTENCES_LEFT_OUT) == 1
    assert check("fact-check", CLAIM, ONE, window=200).error.kind == "ContextExceeded"


def test_a_claim_that_is_a_document_is_refused(check: Check) -> None:
    error = check("fact-check", "The tower of Tarn. " * 1_100).error
    assert "10,000" in str(error)


def test_a_document_with_instructions_is_data(check: Check) -> None:
    claim = "The baker of Tarn sells bread."
    asked = {"questions": ["What does the claim say that the baker of Tarn sells?"]}
    played = check("fact-check-context", claim, asked, NOTE, NOTE, NOTE, REFUTED)
    assert any("{{ 7 * 7 }}" in prompt for prompt in played.prompts), "it is no template"
    # The name of the element is not in its text.
    assert '<text_ name="evidence">' in played.prompts[-1]


# --- Supplementary contexts, and the reranker ---


def test_a_context_is_written_of_what_stands_around_and_put_before_the_sentence(
    check: Check,
) -> None:
    played = check("fact-check-context", CLAIM, ONE, NOTE, REFUTED, sentences=1, around=1)
    asked = played.prompts[1]
    assert "The clock tower stands in Tarn." in asked
    assert "He took no money from the town." in asked
    assert "His son cast the bell" not in asked, "one sentence on either side"
    assert f"1: {NOTE['context']} Johan Reed built it in 1504." in played.prompts[-1]
    (evidence,) = played.answer.checked.evidence
    assert evidence.supplement == NOTE["context"]
    assert evidence.citation.quote == "Johan Reed built it in 1504."
    (citation,) = played.answer.citations
    assert NOTE["context"] not in citation.quote
    assert supplement(played.answer, citation) == (
        f"written by a model, no quotation: {NOTE['context']}"
    )


def test_a_context_takes_a_call_for_every_sentence(check: Check) -> None:
    played = check("fact-check-context", CLAIM, ONE, NOTE, NOTE, NOTE, REFUTED)
    assert purposes(played) == ["claim questions", *["supplement"] * 3, "verdict"]


def test_a_sentence_that_two_questions_find_gets_one_context(check: Check) -> None:
    twice = {"questions": ["When did Johan Reed build it?", "Did Johan Reed build it?"]}
    played = check("fact-check-context", CLAIM, twice, NOTE, REFUTED, sentences=1)
    assert len(played.answer.checked.evidence) == 1
    assert purposes(played).count("supplement") == 1


def test_a_reranker_chooses_of_the_candidates(check: Check) -> None:
    plain = check("fact-check", CLAIM, ONE, REFUTED, sentences=1)
    played = check(
        "fact-check-rerank", CLAIM, ONE, REFUTED, sentences=1, candidates=3, reranker=backwards
    )
    assert len(played.answer.checked.evidence) == 1
    assert plain.answer.checked.evidence != played.answer.checked.evidence
    assert purposes(played) == ["claim questions", "verdict"]


def test_contexts_after_or_before_the_reranker(check: Check) -> None:
    read: list[str] = []

    def scores(question: str, texts: Sequence[str]) -> list[float]:
        read.extend(texts)
        return backwards(question, texts)

    options: dict[str, Any] = {"sentences": 1, "candidates": 3, "reranker": scores}
    after = check("fact-check-rerank-context", CLAIM, ONE, NOTE, REFUTED, **options)
    assert purposes(after).count("supplement") == 1
    assert not any(NOTE["context"] in text for text in read)
    read.clear()
    before = check("fact-check-context-rerank", CLAIM, ONE, NOTE, NOTE, NOTE, REFUTED, **options)
    assert purposes(before).count("supplement") == 3
    assert all(text.startswith(NOTE["context"]) for text in read)
    for played in (after, before):
        assert [one.supplement for one in played.answer.checked.evidence] == [NOTE["context"]]


def test_without_a_reranker_the_order_stays_and_is_told(check: Check) -> None:
    plain = check("fact-check", CLAIM, ONE, REFUTED)
    played = check("fact-check-rerank", CLAIM, ONE, REFUTED)
    assert told(played, FactKind.NO_RERANKER) == 1
    assert played.answer.checked.evidence == plain.answer.checked.evidence

    def unread(question: str, texts: Sequence[str]) -> Fact:
        del question, texts
        return Fact(FactKind.NOT_RERANKED, needed=9, available=1)

    long = check("fact-check-rerank", CLAIM, ONE, REFUTED, reranker=unread)
    assert told(long, FactKind.NOT_RERANKED) == 1
    assert long.answer.checked.evidence == plain.answer.checked.evidence


def test_the_calls_that_each_variant_promises() -> None:
    promised = {
        name: (method(name).calls.of(0), method(name).calls.most(0))
        for name in NAMES
        if name.startswith("fact-check")
    }
    assert promised == {
        "fact-check": (2, 2),
        "fact-check-context": (2, 11),
        "fact-check-rerank": (2, 2),
        "fact-check-rerank-context": (2, 11),
        "fact-check-context-rerank": (2, 32),
        "fact-check-localrag": (2, 14),
    }
    assert all(method(name).checks for name in promised)


# --- Search by meaning ---


@pytest.mark.usefixtures("loopback")
def test_with_vectors_documents_and_sentences_are_found_by_meaning(
    check: Check, town: Path, tmp_path: Path
) -> None:
    workspace = Workspace.locate(tmp_path / "home")
    workspace.init()
    (tmp_path / "Tower.txt").write_text(
        "The clock tower stands in Tarn. Johan Reed built it in 1504. It rains.", encoding="utf-8"
    )
    add(workspace, "main", [tmp_path / "Tower.txt"])
    with OpenAIDouble(embedder=HashingEmbedder(dimension=512, window=1_000)) as double:
        embedding = EmbeddingConfig(model="openai:tiny", server=double.address)
        index_as_set(workspace, "main", Config(embedding=embedding))
        played = check(
            "fact-check", CLAIM, ONE, REFUTED, home=workspace.home, embedding=embedding, sentences=1
        )
    assert told(played, FactKind.WORDS_FOR_MEANING) == 0
    (evidence,) = played.answer.checked.evidence
    assert evidence.citation.quote == "Johan Reed built it in 1504."
