"""Step 5 of checking a claim: one call says one of four labels, and code checks its reason."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from localrag.answer.evidence import element
from localrag.answer.prompts import Language, language_of
from localrag.answer.types import (
    Answer,
    Citation,
    Claim,
    FactCheck,
    Status,
    Veracity,
)
from localrag.methods.catalogue import LONGEST_REASON, Case
from localrag.methods.fact_check.comparing import (
    by_code,
    checked_evidence,
    compared,
    veracity_of,
)
from localrag.methods.fact_check.finding import FoundSentence, by_question, shown
from localrag.methods.generative import ClaimChecker
from localrag.methods.toolkit import Toolkit
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message

PURPOSE = "verdict"
"""The final call."""

_MOST_CITED = 8


class Label(StrEnum):
    """What a model answers: the labels in the words in which they are published."""

    SUPPORTED = "Supported"
    REFUTED = "Refuted"
    NOT_ENOUGH = "Not Enough Evidence"
    CONFLICTING = "Conflicting Evidence/Cherrypicking"


_SAYS: dict[Language, dict[Veracity, str]] = {
    "en": {veracity: Label[veracity.name].value for veracity in Veracity},
    "ja": {
        Veracity.SUPPORTED: "裏付けられる",
        Veracity.REFUTED: "反する",
        Veracity.NOT_ENOUGH: "証拠が足りない",
        Veracity.CONFLICTING: "証拠が食い違う、または都合のよい部分だけを取り出している",
    },
}


class VerdictReply(BaseModel):
    """What the final call says; `_shape` bounds the numbers to the sentences there are.

    Attributes:
        sentences: the numbers of those that the verdict rests on.
        reason: written before the label, which then follows from it.
        label: the verdict.
    """

    sentences: list[int]
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)]
    label: Label


def concluded(
    case: Case, toolkit: Toolkit, asked: Sequence[str], found: Sequence[FoundSentence]
) -> Answer:
    """Have the model say what the sentences say of the claim; without a sentence it is not asked.

    Raises:
        ModelUnusable: the model failed, its reply is malformed for the second time, or its context
            does not hold a single sentence.
    """

    def messages(some: Sequence[FoundSentence]) -> tuple[Message, ...]:
        slight = case.settings.slightest_sign
        return evidence_prompt(case, toolkit, "fact_check_verdict", some, slightest_sign=slight)

    if not found:
        return answer(case, toolkit, FactCheck(Veracity.NOT_ENOUGH, tuple(asked)))
    kept = shown(toolkit, found, messages)
    reply = toolkit.ask(messages(kept), _shape(len(kept)), PURPOSE)
    with toolkit.store() as store:
        # What the claim says is what is in doubt: a reason may not rest on it.
        checker = ClaimChecker(store, [one.sentence for one in kept], "")
        claim = checker.check(reply.reason, reply.sentences).claim
    veracity = Veracity[reply.label.name]
    evidence = [
        by_code(checked_evidence(toolkit, one), compared(case.query.text, one))
        if one.sentence.number in reply.sentences
        else checked_evidence(toolkit, one)
        for one in kept
    ]
    doubts = []
    # That the reason stands in the sentences does not make the label follow from them.
    if veracity not in (Veracity.NOT_ENOUGH, veracity_of(evidence)):
        doubts.append(Fact(FactKind.BY_WORD_OF_MODEL))
    checked = FactCheck(veracity, tuple(asked), tuple(evidence))
    claims = [claim] if claim.citations else []
    return answer(case, toolkit, checked, claims, checker.citations, doubts)


def evidence_prompt(
    case: Case, toolkit: Toolkit, name: str, found: Sequence[FoundSentence], **values: object
) -> tuple[Message, ...]:
    """The prompt ``<name>.jinja`` about a claim, with sentences under the questions they answer."""
    texts = [text for one in found for text in (one.question, one.sentence.text, one.supplement)]
    tag = element("text", [case.query.text, *texts])
    return toolkit.prompt(name, case.query, evidence=by_question(found), tag=tag, **values)


def answer(
    case: Case,
    toolkit: Toolkit,
    checked: FactCheck,
    claims: Sequence[Claim] = (),
    citations: Sequence[Citation] = (),
    doubts: Sequence[Fact] = (),
) -> Answer:
    """The answer that says a verdict.

    It is `not_found` where the evidence is not enough, and `supported` where there are claims, code
    has found all of them in what they cite, and no doubt is left.
    """
    carried = bool(claims) and not any(claim.mismatches for claim in claims)
    status = Status.SUPPORTED if carried and not doubts else Status.UNSUPPORTED
    if checked.veracity is Veracity.NOT_ENOUGH:
        status = Status.NOT_FOUND
        doubts = doubts or [Fact(FactKind.NOT_ENOUGH_EVIDENCE, n=len(checked.evidence))]
    return Answer(
        text=_SAYS[language_of(case.query.text)][checked.veracity],
        citations=tuple(citations),
        status=status,
        trace=toolkit.trace,
        claims=tuple(claims),
        doubts=tuple(doubts),
        checked=checked,
    )


@cache
def _shape(sentences: int) -> type[VerdictReply]:
    """The shape of a reply that can cite only the sentences there are."""
    number = Annotated[int, Field(ge=1, le=sentences)]
    listed: Any = Annotated[list[number], Field(max_length=_MOST_CITED)]
    # The field stays first: what is reasoned is written with the sentences in view.
    return create_model("Verdict", __base__=VerdictReply, sentences=(listed, ...))
