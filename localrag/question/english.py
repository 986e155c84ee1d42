"""Provisions that an English question cites, in the form in which statutes cite them.

"Article 27-2, paragraph (1) of the Financial Instruments and Exchange Act" is 第27条の2第1項 of the
law that the question names.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from localrag.question.laws import LawNamed

_CITATION = re.compile(
    r"\b(?:Articles?|Art\.) ?(?P<article>\d{1,4}(?:-\d{1,3}){0,3})"
    r"(?:,? ?(?:paragraph|para\.?) ?\(?(?P<paragraph>\d{1,3})\)?|\((?P<bracketed>\d{1,3})\))?"
    r"(?:,? ?(?:sub)?items? ?\(?(?P<item>\d{1,3}|[ivx]{1,6})\)?)?",
    re.IGNORECASE,
)
_ROMAN = {"i": 1, "v": 5, "x": 10}


class EnglishCitation(NamedTuple):
    """A provision cited in English.

    Attributes:
        words: as written.
        law: of which it is, as the question names it.
        place: the same in the form of statutes ("第27条の2第1項第3号").
    """

    words: str
    law: LawNamed
    place: str


def english_citations(text: str, laws: Sequence[LawNamed]) -> Iterator[EnglishCitation]:
    """Find the provisions cited by their English names, each of the law that is named nearest.

    Args:
        text: the question.
        laws: all that it names; a citation belongs to the one that follows (of the FIEA), else to
            the last one before. Without laws there are none.
    """
    for match in _CITATION.finditer(text) if laws else ():
        after = [law for law in laws if law.start >= match.end()]
        law = after[0] if after else laws[-1]
        main, *branches = match["article"].split("-")
        place = f"第{main}条" + "".join(f"の{branch}" for branch in branches)
        if paragraph := match["paragraph"] or match["bracketed"]:
            place += f"第{paragraph}項"
        if item := match["item"]:
            place += f"第{item if item.isdecimal() else _from_roman(item.lower())}号"
        yield EnglishCitation(match[0], law, place)


def _from_roman(letters: str) -> int:
    """Read i to xxxix: a smaller numeral before a greater one is taken from it."""
    values = [_ROMAN[letter] for letter in letters]
    following = [*values[1:], 0]
    return sum(-one if one < next_ else one for one, next_ in zip(values, following, strict=True))
