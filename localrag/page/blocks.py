"""The parts of a text for people, without a format.

A block holds text of documents, models and users unchanged. Each writer escapes it.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strong:
    """Bold words within a line."""

    text: str


@dataclass(frozen=True, slots=True)
class Struck:
    """Struck-out words within a line."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """An identifier within a line."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a citation: [1]."""

    text: str


Inline = str | Strong | Struck | Code | Mark


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `level` is 1 for the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; line breaks in its text stay."""

    parts: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Quotation:
    """A text word for word, on one or more lines."""

    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list, with blocks below it."""

    parts: tuple[Inline, ...]
    below: tuple["Block", ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A list, numbered from 1 or not."""

    entries: tuple[Item, ...]
    numbered: bool = False


Block = Heading | Paragraph | Quotation | Items


def paragraph(*parts: Inline) -> Paragraph:
    """Make a paragraph of these parts."""
    return Paragraph(parts)


def items(lines: Iterable[Inline | tuple[Inline, ...]], *, numbered: bool = False) -> Items:
    """Make a list with one entry a line."""
    entries = (Item(line if isinstance(line, tuple) else (line,)) for line in lines)
    return Items(tuple(entries), numbered)
