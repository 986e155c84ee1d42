"""Step 5 of `fact-check-localrag`: the verdict follows from single sentences, by code.

1. **Code compares first.** Every sentence is held against the claim: its figures, dates, names and
   what it affirms or denies (`localrag.answer.checking.contradicting`).
2. **A model reads.** One call names the sentences that support or refute the claim, and what they
   say of it; supplementary contexts stand beside the sentences, as notes that are no evidence.
3. **Code decides.** A sentence refutes the claim where code finds that it says otherwise. Where
   code finds no such thing the word of the model counts, if the sentence speaks of the claim and
   does not say just what it says. A sentence supports it where the model says so and code finds
   nothing that it says otherwise. Refuted takes a sentence that refutes, Supported one that
   supports, Conflicting both; with neither the evidence is not enough, whatever the model holds.

An answer is `supported` where code has found every sentence that decides to say what decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from localrag.answer.prompts import Language, language_of
from localrag.answer.types import (
    Answer,
    CheckedEvidence,
    Claim,
    FactCheck,
    Stance,
    Veracity,
)
from localrag.methods.catalogue import Case
from localrag.methods.fact_check.comparing import (
    Compared,
    by_code,
    checked_evidence,
    compared,
    veracity_of,
)
from localrag.methods.fact_check.concluding import (
    PURPOSE,
    answer,
    evidence_prompt,
)
from localrag.methods.fact_check.finding import FoundSentence, shown
from localrag.methods.generative import ClaimChecker
from localrag.methods.toolkit import Toolkit
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message

_MOST_FINDINGS = 6
_LONGEST_FINDING = 100
# What a claim says in the place of a model that has not named the sentence.
_DIFFERS: Mapping[Language, str] = {
    "en": "The sentence says otherwise than the claim: {}",
    "ja": "文は主張と異なることを述べる：{}",
}


class FindingsReply(BaseModel):
    """What a model found; its findings are of the shape that `_shape` makes."""

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
    reply = toolkit.ask(messages(kept), _shape(len(kept)), PURPOSE)
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
def _shape(sentences: int) -> type[FindingsReply]:
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
