"""The lines that a Word file is read into, and the paragraphs that become lines."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple
from unicodedata import east_asian_width

from lxml import etree

from localrag.corpus.readers.text import drop_controls

_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)


class Piece(NamedTuple):
    """Some characters of the text, and where they are in the file.

    Attributes:
        text: the characters.
        anchor: the element of the body around which a comment on them may be put: a run, as a
            rule; of a note or a text box the run with its mark. None of headers and footers.
    """

    text: str
    anchor: etree._Element | None


class Line(NamedTuple):
    """A printed line.

    Attributes:
        pieces: in order.
        depth: of the heading that it is, from 1; 0 of other lines.
        is_note: whether it is of a footnote or an endnote.
    """

    pieces: list[Piece]
    depth: int = 0
    is_note: bool = False

    @property
    def text(self) -> str:
        """All of its characters."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(slots=True)
class Field:
    """A complex field that is open: its instruction, and whether its result has begun."""

    instruction: str = ""
    has_result: bool = False
    choice: str = ""


@dataclass(slots=True)
class Story:
    """A text of its own in a file: the body, a header, a footnote.

    Attributes:
        anchor: where comments on all of it go; None where every run is its own anchor.
        is_body: whether runs can be anchors, and sections end in it.
        drops_pages: whether page numbers are left out.
        fields: the complex fields that are open, the innermost last.
        ignores_fields: whether their marks do not match, so that nothing is taken for one.
        silent: how many of the open fields show nothing here, which hides what is in them.
    """

    anchor: etree._Element | None = None
    is_body: bool = False
    drops_pages: bool = False
    fields: list[Field] = field(default_factory=list)
    ignores_fields: bool = False
    silent: int = 0

    @property
    def shows(self) -> bool:
        """Whether text is shown here; an instruction of a field is not."""
        return not self.silent

    def open_field(self, opened: Field) -> None:
        """A field begins."""
        self.fields.append(opened)
        self.silent += self._is_silent(opened)

    def begin_result(self) -> None:
        """The result of the innermost field begins."""
        last = self.fields[-1]
        self.silent -= self._is_silent(last)
        last.has_result = True
        self.silent += self._is_silent(last)

    def close_field(self) -> Field:
        """The innermost field ends; gives it."""
        closed = self.fields.pop()
        self.silent -= self._is_silent(closed)
        return closed

    def _is_silent(self, of: Field) -> bool:
        is_page = self.drops_pages and _PAGE_FIELD.match(of.instruction) is not None
        return is_page or not of.has_result


@dataclass(slots=True)
class Paragraph:
    """A paragraph that is being read: its pieces, and what comes after it."""

    story: Story
    properties: etree._Element | None
    pieces: list[Piece] = field(default_factory=list)
    after: list[Line] = field(default_factory=list)

    def anchor(self, run: etree._Element) -> etree._Element | None:
        """Where a comment on a run of this paragraph goes."""
        return run if self.story.is_body else self.story.anchor

    def put(self, text: str, run: etree._Element) -> None:
        """Add characters, unless they belong to the instruction of a field."""
        if text and self.story.shows:
            self.pieces.append(Piece(drop_controls(text), self.anchor(run)))

    def lines(self, depth: int) -> list[Line]:
        """The paragraph as a line without the room around it, and what comes after it."""
        pieces = self.pieces
        while pieces and not pieces[0].text.strip():
            pieces = pieces[1:]
        while pieces and not pieces[-1].text.strip():
            pieces = pieces[:-1]
        if not pieces:
            return self.after
        if depth:
            # The title of a heading is one line wherever it is shown.
            pieces = [one._replace(text=one.text.replace("\n", "　")) for one in pieces]
        pieces[0] = pieces[0]._replace(text=pieces[0].text.lstrip())
        pieces[-1] = pieces[-1]._replace(text=pieces[-1].text.rstrip())
        return [Line(pieces, depth), *self.after]


def joined(cells: list[list[Line]]) -> list[Line]:
    """A row as a line, and the notes to it."""
    pieces: list[Piece] = []
    for at, cell in enumerate(cells):
        if at:
            pieces.append(Piece("\t", None))
        for number_, line in enumerate(one for one in cell if not one.is_note):
            if number_:
                pieces.append(Piece("　", None))
            # A tab or a break within a cell would make another cell or row of it.
            pieces += (
                one._replace(text=one.text.replace("\t", "　").replace("\n", "　"))
                for one in line.pieces
            )
    notes = [line for cell in cells for line in cell if line.is_note]
    return [Line(pieces), *notes] if any(one.text.strip() for one in pieces) else notes


def room(label: str, text: str) -> str:
    """What separates a number from its text; a bracket has room of its own."""
    if text[:1] in "（「『【〔［":
        return ""
    is_wide = any(east_asian_width(sign) in "WF" for sign in label + text[:1])
    return "　" if is_wide else " "
