"""What can be asked about the objects of triples, and what code finds out."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from localrag.harmless import shorten


class ComparisonKind(StrEnum):
    """What is asked about two sides or more.

    EARLIER, LATER: which comes first, or last, in time.
    OLDER, YOUNGER: which person or thing is older, or younger, told from dates or ages.
    MORE, LESS: which quantity is the greatest, or the smallest.
    SAME, DIFFERENT: whether they have an object in common, or none.
    EACH, ANY: whether every side, or at least one, meets a condition.
    WHICH: which side meets a condition.
    """

    EARLIER = "earlier"
    LATER = "later"
    OLDER = "older"
    YOUNGER = "younger"
    MORE = "more"
    LESS = "less"
    SAME = "same"
    DIFFERENT = "different"
    EACH = "each"
    ANY = "any"
    WHICH = "which"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the things compared.

    Attributes:
        name: as the derivation calls it.
        predicate: what its objects are of it ("生年月日"), which tells how to read them.
        objects: as written; several are a set.
    """

    name: str
    predicate: str
    objects: tuple[str, ...]


class Decision(NamedTuple):
    """What code finds out about sides, or about one statement on them.

    Attributes:
        holds: whether it is so; None where code cannot decide it, and of what asks for a side.
        because: the computation, for the derivation ("1938年11月3日 < 1943年8月1日").
        certain: False where texts were compared whose likeness is not a fact ("東映" against
            "東映アニメーション").
        side: the place, from 0, of the side that is meant; None where it is undecided (equal
            values, two sides meet the condition, none does), and of what holds or does not.
    """

    holds: bool | None = None
    because: str = ""
    certain: bool = True
    side: int | None = None


SHOWN, _REASONS = 60, 5
"""Characters of a text that a computation shows, and reasons."""


def statement(one: str, sign: str, other: str) -> str:
    """The computation in signs ("東京都新宿区 ⊂ 東京都")."""
    return f"{shorten(one, SHOWN)} {sign} {shorten(other, SHOWN)}"


def any_of(findings: Iterable[Decision]) -> Decision:
    """Whether one of the statements holds: the first that surely does, else that likely does."""
    return _prevailing(findings, decisive=True)


def all_of(findings: Iterable[Decision]) -> Decision:
    """Whether all of the statements hold: the first that surely does not, else likely not."""
    return _prevailing(findings, decisive=False)


def _prevailing(findings: Iterable[Decision], *, decisive: bool) -> Decision:
    known = list(findings)
    deciding = [finding for finding in known if finding.holds is decisive]
    if deciding:
        return max(deciding, key=lambda finding: finding.certain)
    reasons = list(dict.fromkeys(finding.because for finding in known if finding.because))
    left_out = len(reasons) - _REASONS
    because = "、".join(reasons[:_REASONS]) + (f" ほか{left_out}件" if left_out > 0 else "")
    if not known or any(finding.holds is None for finding in known):
        return Decision(None, because)
    return Decision(not decisive, because, all(finding.certain for finding in known))
