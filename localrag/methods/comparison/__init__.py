"""Comparisons computed by code: the kinds, the sides, and the decision.

``comparing.py`` decides, ``ordering.py`` puts sides in order, ``values.py`` reads objects of
triples as dates, quantities, places and texts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from localrag.text.harmless import shorten


class ComparisonKind(StrEnum):
    """The kind of a comparison.

    EARLIER, LATER: which side comes first, or last, in time.
    OLDER, YOUNGER: which is older, or younger, by dates or ages.
    MORE, LESS: which quantity is the greatest, or the smallest.
    SAME, DIFFERENT: whether the sides have an object in common, or none.
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
    """A compared thing."""

    name: str  # in the derivation
    predicate: str  # of its objects ("生年月日"); it shows how to read them
    objects: tuple[str, ...]  # as written; several are a set


class Decision(NamedTuple):
    """The result about sides, or about one statement on them."""

    holds: bool | None = None  # None if code cannot decide, or a side is asked for
    because: str = ""  # the computation, for the derivation ("1938年11月3日 < 1943年8月1日")
    certain: bool = True  # False for texts that are only alike ("東映", "東映アニメーション")
    # the place of the right side, from 0. None if it is undecided, or none is asked for
    side: int | None = None


SHOWN, _REASONS = 60, 5
"""Characters of a text, and reasons, that a computation shows."""


def statement(one: str, sign: str, other: str) -> str:
    """The computation in signs ("東京都新宿区 ⊂ 東京都")."""
    return f"{shorten(one, SHOWN)} {sign} {shorten(other, SHOWN)}"


def any_of(findings: Iterable[Decision]) -> Decision:
    """Whether one statement holds: the first certain one, else the first likely one."""
    return _prevailing(findings, decisive=True)


def all_of(findings: Iterable[Decision]) -> Decision:
    """Whether all statements hold: no if one certainly or likely does not."""
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
