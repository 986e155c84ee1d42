"""`fact-check-localrag`: how single sentences, compared by code and read by a model, decide."""

from collections.abc import Callable
from typing import Any

import pytest

from localrag.answer.types import MismatchKind, Stance, Status, Veracity
from localrag.text.facts import FactKind

from ....rows import each

METHOD = "fact-check-localrag"
NOTE = {"context": "About the town of Tarn."}
NOTHING: dict[str, Any] = {"findings": []}

Check = Callable[..., Any]


def findings(*found: tuple[int, str, str]) -> dict[str, Any]:
    return {
        "findings": [
            {"sentence": number, "says": says, "relation": relation}
            for number, says, relation in found
        ]
    }


@pytest.fixture
def decide(check: Check) -> Check:
    """One question, the claim itself; every sentence gets the same note."""

    def run(claim: str, reply: Any, sentences: int = 1) -> Any:
        replies = [{"questions": [claim]}, *[NOTE] * sentences, reply]
        return check(METHOD, claim, *replies, sentences=sentences)

    return run


def test_a_figure_that_differs_refutes_whatever_the_model_holds(decide: Check) -> None:
    claim = "The town hall of Tarn cost 90 percent of the budget."
    for reply in (NOTHING, findings((1, "it cost 90 percent", "supports"))):
        answer = decide(claim, reply).answer
        assert answer.checked.veracity is Veracity.REFUTED
        (refuting,) = answer.checked.that(Stance.REFUTES)
        assert refuting.by_code
        assert [one.kind for one in refuting.differs] == [MismatchKind.SHARE]
        assert refuting.citation.quote in [one.quote for one in answer.citations]
    assert answer.status is Status.UNSUPPORTED, "what the model says of the sentence is wrong"
    silent = decide(claim, NOTHING).answer
    assert silent.status is Status.SUPPORTED
    assert "90 percent" in silent.claims[0].text


def test_a_denial_refutes_and_sentences_on_both_sides_conflict(decide: Check) -> None:
    claim = "The mayor signed the treaty of Tarn."
    reply = findings((1, "The mayor signed the treaty of Tarn.", "supports"))
    answer = decide(claim, reply, sentences=2).answer
    assert answer.checked.veracity is Veracity.CONFLICTING
    assert answer.status is Status.SUPPORTED
    (supporting,) = answer.checked.that(Stance.SUPPORTS)
    (refuting,) = answer.checked.that(Stance.REFUTES)
    assert supporting.by_code
    assert supporting.citation.quote == claim
    assert "did not sign" in refuting.citation.quote
    assert len(answer.claims) == 2


def test_a_sentence_that_says_the_claim_supports_it(decide: Check) -> None:
    claim = "The clerk kept the keys."
    answer = decide(claim, findings((1, "The clerk kept the keys.", "supports"))).answer
    assert (answer.checked.veracity, answer.status) == (Veracity.SUPPORTED, Status.SUPPORTED)


def test_without_a_sentence_that_decides_the_evidence_is_not_enough(decide: Check) -> None:
    played = decide("The clerk kept the keys.", NOTHING)
    assert played.answer.checked.veracity is Veracity.NOT_ENOUGH
    assert played.answer.status is Status.NOT_FOUND
    assert played.answer.doubts[0].kind is FactKind.NOT_ENOUGH_EVIDENCE


def test_a_model_refutes_by_no_sentence_that_says_the_claim_or_speaks_of_another(
    decide: Check,
) -> None:
    same = decide("The clerk kept the keys.", findings((1, "He kept them.", "refutes"))).answer
    assert same.checked.veracity is Veracity.NOT_ENOUGH
    claim = "The baker of Quillmere owns nine horses and a red barn."
    other = decide(claim, findings((1, "He sells bread.", "refutes"))).answer
    assert other.checked.veracity is Veracity.NOT_ENOUGH


def test_the_word_of_a_model_counts_where_code_has_nothing_to_compare_and_is_told(
    decide: Check,
) -> None:
    claim = "The clerk lost the keys."
    answer = decide(claim, findings((1, "The clerk kept the keys.", "refutes"))).answer
    assert answer.checked.veracity is Veracity.REFUTED
    assert not answer.checked.that(Stance.REFUTES)[0].by_code
    assert answer.status is Status.UNSUPPORTED
    assert [one.kind for one in answer.doubts] == [FactKind.BY_WORD_OF_MODEL]


def test_another_name_refutes_only_if_the_model_says_so(decide: Check) -> None:
    claim = "Ada Frost built it in 1504."
    assert decide(claim, NOTHING).answer.checked.veracity is Veracity.NOT_ENOUGH
    answer = decide(claim, findings((1, "Johan Reed built it in 1504.", "refutes"))).answer
    assert answer.checked.veracity is Veracity.REFUTED
    assert answer.checked.that(Stance.REFUTES)[0].by_code


def test_notes_stand_beside_the_sentences_and_are_no_evidence(decide: Check) -> None:
    played = decide("The clerk kept the keys.", NOTHING)
    lines = played.prompts[-1].splitlines()
    assert "1: The clerk kept the keys." in lines
    assert f"note 1: {NOTE['context']}" in lines
    (evidence,) = played.answer.checked.evidence
    assert (evidence.supplement, evidence.stance) == (NOTE["context"], None)


@each("reply", ["no JSON", findings((9, "x", "refutes")), findings((1, "x", "denies")), {}])
def test_findings_that_stay_malformed_are_no_verdict(check: Check, reply: Any) -> None:
    claim = "The clerk kept the keys."
    replies = {"questions": [claim]}, NOTE, reply, reply
    assert check(METHOD, claim, *replies, sentences=1).error.kind == "ReplyInvalid"


def test_where_nothing_is_found_no_model_is_asked_for_findings(check: Check) -> None:
    played = check(METHOD, "Zzyzx qwrtp.", {"questions": ["Zzyzx?"]})
    assert played.answer.checked.veracity is Veracity.NOT_ENOUGH
    assert len(played.requests) == 1


def test_the_claim_itself_is_looked_for_beside_the_questions(check: Check) -> None:
    claim = "The town hall of Tarn cost 90 percent of the budget."
    asked = {"questions": ["Who kept the keys?"]}
    published = {"reason": "nothing", "sentences": [], "label": "Not Enough Evidence"}
    answer = check("fact-check", claim, asked, published, sentences=1).answer
    assert [one.citation.quote for one in answer.checked.evidence] == ["The clerk kept the keys."]
    answer = check(METHOD, claim, asked, NOTE, NOTE, NOTHING, sentences=1).answer
    assert answer.checked.questions == ("Who kept the keys?",)
    assert answer.checked.veracity is Veracity.REFUTED
