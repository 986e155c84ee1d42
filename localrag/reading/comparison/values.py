"""Reads the object of a triple as what it says: a date, a quantity, a place, or a text."""

from dataclasses import dataclass

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
