"""Whether a sentence contradicts a claim, rather than merely not supporting it.

`mismatches` finds every part of a claim missing from a sentence. A contradiction needs the same
matter and another value in its place: another figure of the kind, another date, a denial. A missing
name says little, since things have several names: the sentence must have another name and all the
rest of the claim.
"""

from collections.abc import Sequence
from fractions import Fraction

from localrag.answer.checking import covers, mismatches
from localrag.answer.checking.particulars import Figure, Particulars, names_of, particulars_of
from localrag.answer.checking.polarity import sentences_of
from localrag.answer.types import Mismatch, MismatchKind
from localrag.text.folding import fold
from localrag_indexes.analysis.normalize import normalize

# Share of the rest of a claim required in a sentence with a denial, another value, another name.
# Chosen on claims of AVeriTeC and the answers to their questions.
_DENIED, _ANOTHER_VALUE, _ANOTHER_NAME = 0.6, 0.8, 1.0
# Always a contradiction: these kinds compare what both have.
_OPPOSED = (
    MismatchKind.NEGATION,
    MismatchKind.COUNTERPART,
    MismatchKind.ROLE,
    MismatchKind.BOUND,
)
_FIGURES = (
    MismatchKind.FIGURE,
    MismatchKind.PERIOD,
    MismatchKind.SHARE,
    MismatchKind.AMOUNT,
)
# Figures closer than this, relative to the claim's, are equal after rounding.
_ROUNDED = Fraction(1, 20)


def contradictions(
    claim: str, sentence: str, *, headings: Sequence[str] = ()
) -> tuple[Mismatch, ...]:
    """The parts of a claim that a sentence contradicts; empty for another matter.

    Args:
        claim: one statement, Japanese or English.
        sentence: that may contradict it; an item with its stem.
        headings: of the sentence.

    Returns:
        Names only without other contradictions: alone they are a hint, since things have several
            names.
    """
    folded = fold(sentence)
    said = particulars_of(folded)
    found = mismatches(claim, [sentence], headings=headings)
    names = [one for one in found if one.kind is MismatchKind.NAME]
    opposed = [one for one in found if one.kind in _OPPOSED]
    values = [one for one in found if _has_another_value(said, one)]

    def speaks_of_all_but(some: Sequence[Mismatch], least: float) -> bool:
        rest = claim
        for one in some:
            rest = rest.replace(one.written, " ")
        return covers(rest, [sentence], headings=headings) >= least

    # A denial may use other words for the action; a figure of something else proves nothing.
    if opposed and speaks_of_all_but([*opposed, *values, *names], _DENIED):
        return (*opposed, *values)
    if values and speaks_of_all_but(values, _ANOTHER_VALUE):
        return tuple(values)
    others = any(name.text not in normalize(claim) for name in names_of(folded))
    if names and others and len(names) == len(found) and speaks_of_all_but(names, _ANOTHER_NAME):
        return tuple(names)
    return ()


def denies(sentence: str) -> bool:
    """Whether a sentence denies anything; it may repeat a claim with "not"."""
    return any(
        one.denies or any(predicate.force.is_negative for predicate in one.predicates)
        for one in sentences_of(fold(sentence))
    )


def _has_another_value(said: Particulars, missing: Mismatch) -> bool:
    """Whether a sentence has another date, or another figure of the kind, than a claim."""
    claimed = particulars_of(fold(missing.written))
    if missing.kind is MismatchKind.DATE:
        years, others = (
            {one.date.year for one in text.dates if one.date.year} for text in (claimed, said)
        )
        return bool(years and others) and not years & others
    return missing.kind in _FIGURES and any(
        one.dimension and one.dimension == other.dimension and not _nearly(one, other)
        for one in claimed.figures
        for other in said.figures
    )


def _nearly(one: Figure, other: Figure) -> bool:
    """Whether two figures may be equal after rounding."""
    return any(
        abs(value - another) <= abs(value) * _ROUNDED
        for value in one.values
        for another in other.values
    )
