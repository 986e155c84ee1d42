"""A sentence beside a claim, as code reads both: what a verdict rests on without a model's word."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from localrag.facts import Fact, FactKind
from localrag.methods.catalogue import LONGEST_REASON, Case
from localrag.methods.fact_check.finding import FoundSentence, by_question, shown
from localrag.methods.generative import ClaimChecker
from localrag.methods.toolkit import Toolkit
from localrag.prompts import Language, language_of
from localrag.reading.checking import covers, mismatches
from localrag.reading.checking.contradicting import contradictions, denies
from localrag.reading.evidence import element
from localrag.reading.extractive import quoted
from localrag.reading.pieces import with_context
from localrag.reading.types import (
    Answer,
    CheckedEvidence,
    Citation,
    Claim,
    FactCheck,
    Mismatch,
    MismatchKind,
    Stance,
    Status,
    Veracity,
)
from localrag_models.chat import Message

# Share of the claim that a sentence speaks of where the word of a model counts.
_SPEAKS_OF = 0.3


@dataclass(frozen=True, slots=True)
class Compared:
    """A sentence held against a claim.

    Attributes:
        differs: what of the claim it says otherwise.
        speaks: whether it speaks of the claim at all.
        carries: whether it says just what the claim says.
    """

    differs: tuple[Mismatch, ...]
    speaks: bool
    carries: bool

    @property
    def refutes(self) -> bool:
        """Whether code alone finds that it refutes the claim: another name alone is too little."""
        return any(one.kind is not MismatchKind.NAME for one in self.differs)

    @property
    def stance(self) -> Stance | None:
        """How it stands to the claim by code alone; None where code cannot tell."""
        if self.refutes:
            return Stance.REFUTES
        return Stance.SUPPORTS if self.carries else None


def compared(claim: str, found: FoundSentence) -> Compared:
    """Hold a sentence, with what it is read with, against a claim."""
    piece = found.sentence.piece
    text = "\n".join(one.text for one in with_context([piece]))
    headings = [piece.label]
    share = covers(claim, [text], headings=headings)
    # "It was claimed that …, which is not so" has every word of the claim.
    says_all = share == 1 and not mismatches(claim, [text], headings=headings)
    return Compared(
        contradictions(claim, text, headings=headings),
        speaks=share >= _SPEAKS_OF,
        carries=says_all and denies(text) == denies(claim),
    )


def checked_evidence(toolkit: Toolkit, found: FoundSentence) -> CheckedEvidence:
    """The sentence as evidence: its words put in by code, and what a model wrote told apart."""
    piece = found.sentence.piece
    with toolkit.store() as store:
        # An item of a law comes with its stem.
        own = next(one for one in quoted(store, [piece]) if one.quote == piece.text)
    return CheckedEvidence(found.question, own, found.supplement)


def by_code(evidence: CheckedEvidence, found: Compared) -> CheckedEvidence:
    """The evidence with the stance that code alone finds."""
    if found.stance is None:
        return evidence
    return replace(evidence, stance=found.stance, differs=found.differs, by_code=True)


def veracity_of(evidence: Iterable[CheckedEvidence]) -> Veracity:
    """The verdict that follows from how sentences stand to a claim."""
    stances = {one.stance for one in evidence}
    match Stance.SUPPORTS in stances, Stance.REFUTES in stances:
        case True, True:
            return Veracity.CONFLICTING
        case False, True:
            return Veracity.REFUTED
        case True, False:
            return Veracity.SUPPORTED
    return Veracity.NOT_ENOUGH


# HEAD """Step 5 of checking a claim: one call says one of four labels, and code checks its reason."""
#
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


# HEAD """Step 5 of `fact-check-localrag`: the verdict follows from single sentences, by code.
#
# 1. **Code compares first.** Every sentence is held against the claim: its figures, dates, names and
#    what it affirms or denies (`localrag.reading.checking.contradicting`).
# 2. **A model reads.** One call names the sentences that support or refute the claim, and what they
#    say of it; supplementary contexts stand beside the sentences, as notes that are no evidence.
# 3. **Code decides.** A sentence refutes the claim where code finds that it says otherwise. Where
#    code finds no such thing the word of the model counts, if the sentence speaks of the claim and
#    does not say just what it says. A sentence supports it where the model says so and code finds
#    nothing that it says otherwise. Refuted takes a sentence that refutes, Supported one that
#    supports, Conflicting both; with neither the evidence is not enough, whatever the model holds.
#
# An answer is `supported` where code has found every sentence that decides to say what decides.
# """
#
_MOST_FINDINGS = 6
_LONGEST_FINDING = 100
# What a claim says in the place of a model that has not named the sentence.
_DIFFERS: Mapping[Language, str] = {
    "en": "The sentence says otherwise than the claim: {}",
    "ja": "文は主張と異なることを述べる：{}",
}


class FindingsReply(BaseModel):
    """What a model found; its findings are of the shape that `_findings_shape` makes."""

    findings: list[Any]


def decided(
    case: Case, toolkit: Toolkit, asked: Sequence[str], found: Sequence[FoundSentence]
) -> Answer:
    """Say what the sentences say of the claim; without a sentence no model is asked.

    Raises:
        ModelUnusable: the model failed, its reply is malformed for the second time, or its context
            does not hold a single sentence.
    """

    def messages(some: Sequence[FoundSentence]) -> tuple[Message, ...]:
        bounds = {"most": _MOST_FINDINGS, "longest": _LONGEST_FINDING}
        return evidence_prompt(case, toolkit, "fact_check_findings", some, **bounds)

    if not found:
        return answer(case, toolkit, FactCheck(Veracity.NOT_ENOUGH, tuple(asked)))
    kept = shown(toolkit, found, messages)
    reply = toolkit.ask(messages(kept), _findings_shape(len(kept)), PURPOSE)
    # Of two findings on one sentence the first counts.
    said = {one.sentence: one for one in reversed(reply.findings)}
    evidence = [
        _weighed(checked_evidence(toolkit, one), compared(case.query.text, one), said.get(number))
        for number, one in enumerate(kept, 1)
    ]
    checked = FactCheck(veracity_of(evidence), tuple(asked), tuple(evidence))
    deciding = [number for number, one in enumerate(evidence, 1) if one.stance]
    with toolkit.store() as store:
        checker = ClaimChecker(store, [one.sentence for one in kept], "")
        claims = []
        for number in deciding:
            own = checker.cite([kept[number - 1].sentence])
            if one := said.get(number):
                claim = checker.check(one.says, [number]).claim
                # What decides is shown, also where another sentence carries the words better.
                cited = tuple(dict.fromkeys((*own, *claim.citations)))
                claims.append(replace(claim, citations=cited))
            else:
                claims.append(Claim(_differing(case, evidence[number - 1]), own))
    doubts = []
    if deciding and not all(evidence[number - 1].by_code for number in deciding):
        doubts.append(Fact(FactKind.BY_WORD_OF_MODEL))
    return answer(case, toolkit, checked, claims, checker.citations, doubts)


def _weighed(evidence: CheckedEvidence, found: Compared, said: Any) -> CheckedEvidence:
    """A sentence with its stance: as code finds it, else as the model says if code lets it."""
    if found.refutes:
        return by_code(evidence, found)
    stance = said.relation if said else None
    if stance is Stance.REFUTES and found.differs:
        return replace(evidence, stance=stance, differs=found.differs, by_code=True)
    if stance is Stance.REFUTES and found.speaks and not found.carries:
        return replace(evidence, stance=stance)
    if stance is Stance.SUPPORTS and found.speaks and not found.differs:
        return replace(evidence, stance=stance, by_code=found.carries)
    return evidence


def _differing(case: Case, evidence: CheckedEvidence) -> str:
    """What is claimed of a sentence that code alone found to refute the claim."""
    words = " / ".join(dict.fromkeys(one.written for one in evidence.differs))
    return _DIFFERS[language_of(case.query.text)].format(words)


@cache
def _findings_shape(sentences: int) -> type[FindingsReply]:
    """The shape of a reply that can name only the sentences there are."""
    # What it says comes before the relation, which then follows from it.
    found = create_model(
        "ClaimFinding",
        sentence=Annotated[int, Field(ge=1, le=sentences)],
        says=Annotated[str, Field(min_length=1, max_length=_LONGEST_FINDING)],
        relation=Stance,
    )
    findings: Any = Annotated[list[found], Field(max_length=_MOST_FINDINGS)]
    return create_model("ClaimFindings", __base__=FindingsReply, findings=findings)
