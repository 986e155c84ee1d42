"""What can be asked about the objects of triples, and what code finds out."""

from dataclasses import dataclass
from enum import StrEnum


class Comparison(StrEnum):
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What code found out.

    Attributes:
        holds: for SAME, DIFFERENT, EACH and ANY; None for the others.
        side: for the others the place, from 0, of the side that is meant; None where it is
            undecided (equal values, two sides meet the condition, none does).
        because: the computation, for the derivation ("1938年11月3日 < 1943年8月1日").
        certain: False where texts were compared whose likeness is not a fact ("東映" against
            "東映アニメーション").
    """

    holds: bool | None = None
    side: int | None = None
    because: str = ""
    certain: bool = True
