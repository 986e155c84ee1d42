"""A sentence beside a claim, as code reads both: what a verdict rests on without a model's word."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from localrag.answer.checking import covers, mismatches
from localrag.answer.checking.contradicting import contradictions, denies
from localrag.answer.extractive import quoted
from localrag.answer.pieces import with_context
from localrag.answer.types import CheckedEvidence, Mismatch, MismatchKind, Stance, Veracity
from localrag.methods.fact_check.finding import FoundSentence
from localrag.methods.toolkit import Toolkit

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
