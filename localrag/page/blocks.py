"""What a text for people consists of, in no format yet.

Texts of documents, models and users stand in it as they are: whoever writes a format escapes them.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out within a line."""

    text: str


@dataclass(frozen=True, slots=True)
class Struck:
    """Words within a line that are struck out."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """An identifier within a line."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a citation, made by code: [1]."""

    text: str


Inline = str | Strong | Struck | Code | Mark


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `level` is 1 for the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """What stands by itself; a text within it may have several lines, which stay as they are."""

    parts: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Quotation:
    """A text word for word, of any number of lines."""

    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list: a line, and what stands below it."""

    parts: tuple[Inline, ...]
    below: tuple["Block", ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list, whose entries have numbers from 1 or none."""

    entries: tuple[Item, ...]
    numbered: bool = False


Block = Heading | Paragraph | Quotation | Items


def paragraph(*parts: Inline) -> Paragraph:
    """A paragraph of these parts."""
    return Paragraph(parts)


def items(lines: Iterable[Inline | tuple[Inline, ...]], *, numbered: bool = False) -> Items:
    """A list with an entry for each line."""
    entries = (Item(line if isinstance(line, tuple) else (line,)) for line in lines)
    return Items(tuple(entries), numbered)
