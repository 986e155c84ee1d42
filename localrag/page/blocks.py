"""The parts of a text for people, without a format.

A block holds text of documents, models and users unchanged. Each writer escapes it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from localrag.text.facts import Fact


class Tone(StrEnum):
    """The colour of words on a screen; files have none."""

    GOOD = "good"
    NEAR = "near"
    DOUBTFUL = "doubtful"
    WRONG = "wrong"
    QUIET = "quiet"


class BlockRole(StrEnum):
    """The part of a page in a block; web page and workbench style it."""

    READING = "reading"
    STATE = "state"
    RESULT = "result"
    CLAIMS = "claims"
    DERIVATION = "derivation"
    COMPUTED = "computed"
    QUOTATIONS = "quotations"
    CITATIONS = "citations"
    NEAREST = "nearest"
    PLACE = "place"
    PARTS = "parts"


@dataclass(frozen=True, slots=True)
class Strong:
    """Bold words within a line."""

    text: str
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """Words beside others; each writer sets them apart."""

    text: str
    tone: Tone = Tone.QUIET


@dataclass(frozen=True, slots=True)
class Changed:
    """Words of a law and the words of a text in their place; either may be empty."""

    law: str
    said: str


@dataclass(frozen=True, slots=True)
class Code:
    """An identifier beside other words."""

    text: str


@dataclass(frozen=True, slots=True)
class PassageLink:
    """The name of a passage.

    Attributes:
        passage_id: "" outside the corpus.
        start: of the quotation in its document; -1 for the whole passage.
    """

    text: str
    passage_id: str = ""
    start: int = -1


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a citation: [1].

    Attributes:
        number: of the citation, from 1.
        source: the quoted passage; None if the citation was rejected.
    """

    text: str
    number: int = 0
    source: PassageLink | None = None


Inline = str | Strong | Remark | Changed | Code | PassageLink | Mark


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading.

    Attributes:
        level: 1 for the title.
        count: entries below, for screens.
        source: the passage named.
        in_outline: only files with an outline have it.
    """

    level: int
    text: str
    count: int | None = None
    source: PassageLink | None = None
    in_outline: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; line breaks in its text stay."""

    parts: tuple[Inline, ...]
    role: BlockRole | None = None


@dataclass(frozen=True, slots=True)
class QuoteSource:
    """The source of a quotation: passage, span in the document, remarks; -1 for no span."""

    passage_id: str
    start: int = -1
    end: int = -1
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quotation:
    """A text word for word, on one or more lines."""

    text: str
    source: QuoteSource | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list, with blocks below it; a citation has its mark."""

    parts: tuple[Inline, ...]
    below: tuple["Block", ...] = ()
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Items:
    """A list, numbered from 1 or not."""

    entries: tuple[Item, ...]
    numbered: bool = False
    role: BlockRole | None = None


@dataclass(frozen=True, slots=True)
class Sides:
    """A text before and after a change; "" on one side if it is only on the other."""

    before: str
    after: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A note on the work."""

    told: Fact


Block = Heading | Paragraph | Quotation | Items | Sides | Notice


def paragraph(*parts: Inline, role: BlockRole | None = None) -> Paragraph:
    """Make a paragraph of these parts."""
    return Paragraph(parts, role)


def items(
    lines: Iterable[Inline | tuple[Inline, ...]],
    *,
    numbered: bool = False,
    role: BlockRole | None = None,
) -> Items:
    """Make a list with one entry a line."""
    entries = (Item(line if isinstance(line, tuple) else (line,)) for line in lines)
    return Items(tuple(entries), numbered, role)


def in_parts(source: QuoteSource) -> tuple[Inline, ...]:
    """Write a source in a line: its id and its remarks."""
    return Code(source.passage_id), *map(Remark, source.remarks)


def as_lines(block: Sides | Notice) -> list[tuple[Inline, ...]]:
    """Write the two sides of a change, or a note, in lines."""
    if isinstance(block, Notice):
        return [(str(block.told),)]
    signed = (("- ", block.before), ("+ ", block.after))
    lines: list[tuple[Inline, ...]] = [(Remark(block.place),)] if block.place else []
    return lines + [(f"{sign}{text}",) for sign, text in signed if text]
