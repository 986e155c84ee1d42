"""Reads the object of a triple as what it says: a date, a quantity, a place, or a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from localrag.reading.comparison import dates, places, quantities, texts
from localrag.reading.comparison.dates import Date, Period
from localrag.reading.comparison.places import Place
from localrag.reading.comparison.quantities import Quantity


@dataclass(frozen=True, slots=True)
class Text:
    """What is read as nothing else; `folded` is the form in which texts are compared."""

    text: str
    folded: str


Value = Date | Period | Quantity | Place | Text


def read(text: str, predicate: str = "") -> Value:
    """Read an object.

    Args:
        text: as written.
        predicate: what it is of its subject; it tells a year from a number, a place from a name.
    """
    value = (
        places.read(text)
        or dates.read(text, predicate)
        or quantities.read(text)
        or places.read(text, predicate)
    )
    return value or Text(text, texts.folded(text))


def contradictory(objects: Sequence[str], predicate: str = "") -> bool:
    """Whether objects are dates, or quantities of one dimension, of which not all can be true."""
    values = [read(item, predicate) for text in objects for item in texts.items(text)]
    return any(_excludes(one, other) for one, other in combinations(values, 2))


def _excludes(one: Value, other: Value) -> bool:
    match one, other:
        case Date(), Date():
            return one.has_year == other.has_year and not one.span.overlaps(other.span)
        case Quantity(), Quantity():
            return one.dimension == other.dimension and not one.span.overlaps(other.span)
    return False
