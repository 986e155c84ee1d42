"""A document as it is read: its text, its provisions, what its lines are, what stands above it."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES, Section, has_pages
from localrag.language import _
from localrag.reading.wording import read_by_ocr, state_of
from localrag_tui.shown import cut, harmless, one_line

if TYPE_CHECKING:
    from localrag.corpus.browsing import Stand
    from localrag.corpus.states import DocumentInfo
    from localrag.corpus.store import CorpusStore

HEADING, CAPTION, NUMBER = "heading", "caption", "number"
"""What a span of a document is, besides plain text."""

# A text without line feeds is no heading as a whole.
_LONGEST_HEADING = 400
_KANJI = "〇一二三四五六七八九十百千"
_CAPTION = re.compile(r"（[^（）\n]{1,80}）$", re.MULTILINE)
_ARTICLE = re.compile(rf"第[{_KANJI}0-9]+条(?:の[{_KANJI}0-9]+)*(?=[　\s])")
_PARAGRAPH = re.compile(r"(?:[０-９]{1,3}|[①-⑳㉑-㉟㊱-㊿])(?=　)")
_ITEM = re.compile(rf"[{_KANJI}]+(?:の[{_KANJI}]+)*(?=　)")
_SUBITEM = re.compile(r"[ア-ン](?=　)")
_DEEPER = re.compile(r"（[０-９]+）(?=　)|[（(][ｉivxⅰⅱⅲⅳⅴ]+[)）](?=　)")
# Of a printed statute: the number stands out, what it numbers stands behind it.
_STEPS = ((_ARTICLE, 0), (_PARAGRAPH, 0), (_ITEM, 2), (_SUBITEM, 4), (_DEEPER, 6))


class MarkedSpan(NamedTuple):
    """A span of a document, in characters, and what it is."""

    start: int
    end: int
    what: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A document, loaded as a whole.

    Attributes:
        document: its listing.
        generation: of the store that it was read from.
        day: whose law that showed.
        text: as it is shown, without what would act on a terminal.
        units: the provisions or passages that its text is divided into, in reading order.
        sections: its outline, in reading order.
    """

    document: "DocumentInfo"
    generation: int
    day: date
    text: str
    units: "tuple[Stand, ...]"
    sections: tuple[Section, ...]

    @property
    def state(self) -> str:
        """The day from which the text is in force; "" where it has none."""
        return self.document.metadata.get("date", "")

    @property
    def is_law(self) -> bool:
        """Whether it is a statute."""
        return self.document.kind == "law"

    def unit_at(self, position: int) -> "Stand | None":
        """The unit around a position; between two units, the one that follows."""
        number = bisect_right(self.units, position, key=lambda unit: unit.start) - 1
        if number < 0 or self.units[number].end < position:
            number = min(number + 1, len(self.units) - 1)
        return self.units[number] if self.units else None

    def units_in(self, start: int, end: int) -> "Iterator[Stand]":
        """The units of which something stands in a span."""
        first = max(0, bisect_right(self.units, start, key=lambda unit: unit.start) - 1)
        return takewhile(lambda unit: unit.start < end, self.units[first:])

    def place(self, position: int) -> tuple[str, ...]:
        """The headings around a position, from the outermost."""
        return tuple(of.title for of in self.sections if of.start <= position <= of.end)

    def parts(self, start: int, end: int) -> Iterator[MarkedSpan]:
        """What stands out in a row: a heading, the caption or the number at its beginning."""
        heading = self._heading(start)
        if heading.end > start:
            yield heading
        elif self.is_law and self.text[start - 1] == "\n":
            if caption := _CAPTION.match(self.text, start):
                yield MarkedSpan(start, caption.end(), CAPTION)
            for step, _ in _STEPS:
                if number := step.match(self.text, start, end):
                    yield MarkedSpan(start, number.end(), NUMBER)
                    return

    def _heading(self, position: int) -> MarkedSpan:
        """The last heading before a position, itself included; of a law its title is one."""
        number = bisect_right(self.sections, position, key=lambda section: section.start) - 1
        if number < 0 and not self.is_law:
            return MarkedSpan(0, 0, HEADING)
        start = self.sections[number].start if number >= 0 else 0
        end = self.text.find("\n", start, start + _LONGEST_HEADING)
        return MarkedSpan(start, end if end >= 0 else start + _LONGEST_HEADING, HEADING)

    def indents(self, text: str, start: int, end: int) -> tuple[int, int]:
        """How far a line is indented, as printed statutes are; see `layout.Indents`."""
        if self.is_law:
            for step, depth in _STEPS:
                if step.match(text, start, end):
                    return depth, depth + 2
        return 0, 0


def load(store: "CorpusStore", document_id: str) -> Sheet:
    """Load a document; raises what `CorpusStore.document` does."""
    document = store.document(document_id)
    layers = (ARTICLES,) if document.kind == "law" else (PASSAGES, TRIPLES)
    units = [unit for layer in layers for unit in store.standing(document_id, layer)]
    # Columns of a table are parted by tabs, whose width a terminal would choose.
    gap = "│" if document.kind == "law" else "　"
    return Sheet(
        document=document,
        generation=store.generation,
        day=store.as_of,
        text=harmless(store.text(document_id)).replace("\t", gap),
        units=tuple(sorted(units, key=lambda unit: unit.start)),
        sections=tuple(store.sections(document_id)),
    )


_STEP = " › "


class Head(Widget):
    """Title and headings, then the provision in view and the state of the text."""

    def __init__(self) -> None:
        super().__init__()
        self._place: tuple[str, ...] = ()
        self._provision = ""
        self._as_of = ""

    def show(self, sheet: Sheet, unit: "Stand | None", position: int) -> None:
        """Say where a position is, and which provision is read."""
        title = sheet.document.title
        headings = sheet.place(position) if sheet.is_law else ()
        before = self._place, self._provision, self._as_of
        self._place = tuple(map(one_line, (title, *headings)))
        header = "" if unit is None else unit.header
        name = header.removeprefix(title).strip(" >,") if header.startswith(title) else header
        if unit and unit.locator.page and not has_pages(header):
            page = _("page {n}").format(n=unit.locator.page)
            name = f"{name} · {page}" if name else page
        if unit and unit.locator.confidence is not None:
            read = read_by_ocr(unit.locator.confidence)
            name = f"{name} · {read}" if name else read
        self._provision = one_line(name)
        self._as_of = one_line(state_of(sheet.document))
        if (self._place, self._provision, self._as_of) != before:
            self.refresh()

    def clear(self) -> None:
        """Say nothing."""
        self._place, self._provision, self._as_of = (), "", ""
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        title: str = self._place[0] if self._place else ""
        rest = _STEP.join(("", *self._place[1:]))
        # The innermost heading says most: a long title gives way to it.
        title = cut(title, max(width - cell_len(rest), width // 3))
        rest = cut(rest, width - cell_len(title))
        name = cut(self._provision, width - cell_len(self._as_of) - 1)
        gap = " " * max(1, width - cell_len(name) - cell_len(self._as_of))
        return Content.assemble(
            (title, "bold"),
            (rest, "$foreground-muted"),
            "\n",
            (name, "bold $primary"),
            gap,
            (self._as_of, "$foreground-muted"),
        )
