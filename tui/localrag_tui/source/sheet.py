"""A document as read from the store: text, provisions, headings, links, quotations."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from localrag.answer.wording import read_by_ocr, state_of
from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES, Locator, Section, has_pages
from localrag.errors import NotFoundError
from localrag.language import _
from localrag.text.harmless import cut, harmless, one_line
from localrag_tui.shown import palette
from localrag_tui.spot import Spot

if TYPE_CHECKING:
    from localrag.answer.types import Citation
    from localrag.corpus.browsing import Stand
    from localrag.corpus.links import Reference
    from localrag.corpus.states import DocumentInfo
    from localrag.corpus.store import CorpusStore
    from localrag.corpus.types import Passage
    from localrag.law.applied import ReadText
    from localrag.search.provision import Provision

HEADING, CAPTION, NUMBER = "heading", "caption", "number"
"""The kinds of marked spans."""

# A text without line feeds is no heading.
_LONGEST_HEADING = 400
_KANJI = "〇一二三四五六七八九十百千"
_CAPTION = re.compile(r"（[^（）\n]{1,80}）$", re.MULTILINE)
_ARTICLE = re.compile(rf"第[{_KANJI}0-9]+条(?:の[{_KANJI}0-9]+)*(?=[　\s])")
_PARAGRAPH = re.compile(r"(?:[０-９]{1,3}|[①-⑳㉑-㉟㊱-㊿])(?=　)")
_ITEM = re.compile(rf"[{_KANJI}]+(?:の[{_KANJI}]+)*(?=　)")
_SUBITEM = re.compile(r"[ア-ン](?=　)")
_DEEPER = re.compile(r"（[０-９]+）(?=　)|[（(][ｉivxⅰⅱⅲⅳⅴ]+[)）](?=　)")
# As in printed statutes: numbers hang, their text is indented.
_STEPS = ((_ARTICLE, 0), (_PARAGRAPH, 0), (_ITEM, 2), (_SUBITEM, 4), (_DEEPER, 6))


class MarkedSpan(NamedTuple):
    """A span of a document, in characters, and its kind."""

    start: int
    end: int
    what: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole document.

    Attributes:
        units: its provisions or passages, in reading order.
    """

    document: "DocumentInfo"
    generation: int
    day: date
    text: str
    units: "tuple[Stand, ...]"
    sections: tuple[Section, ...]

    @property
    def state(self) -> str:
        """The day the text comes into force; "" if unknown."""
        return self.document.metadata.get("date", "")

    @property
    def is_law(self) -> bool:
        return self.document.kind == "law"

    def unit_at(self, position: int) -> "Stand | None":
        """The unit at a position; between two units, the next one."""
        number = bisect_right(self.units, position, key=lambda unit: unit.start) - 1
        if number < 0 or self.units[number].end < position:
            number = min(number + 1, len(self.units) - 1)
        return self.units[number] if self.units else None

    def units_in(self, start: int, end: int) -> "Iterator[Stand]":
        first = max(0, bisect_right(self.units, start, key=lambda unit: unit.start) - 1)
        return takewhile(lambda unit: unit.start < end, self.units[first:])

    def place(self, position: int) -> tuple[str, ...]:
        return tuple(of.title for of in self.sections if of.start <= position <= of.end)

    def parts(self, start: int, end: int) -> Iterator[MarkedSpan]:
        """The heading of a row, or its caption or number."""
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
        """The last heading up to a position; the title of a law counts."""
        number = bisect_right(self.sections, position, key=lambda section: section.start) - 1
        if number < 0 and not self.is_law:
            return MarkedSpan(0, 0, HEADING)
        start = self.sections[number].start if number >= 0 else 0
        end = self.text.find("\n", start, start + _LONGEST_HEADING)
        return MarkedSpan(start, end if end >= 0 else start + _LONGEST_HEADING, HEADING)

    def indents(self, text: str, start: int, end: int) -> tuple[int, int]:
        """The indent of a line, as in printed statutes; see `layout.Indents`."""
        if self.is_law:
            for step, depth in _STEPS:
                if step.match(text, start, end):
                    return depth, depth + 2
        return 0, 0


def load(store: "CorpusStore", document_id: str) -> Sheet:
    """Load a document; errors as in `CorpusStore.document`."""
    document = store.document(document_id)
    layers = (ARTICLES,) if document.kind == "law" else (PASSAGES, TRIPLES)
    units = [unit for layer in layers for unit in store.standing(document_id, layer)]
    # Tabs separate the columns of a table; terminals choose their width.
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
    """Title and headings; below, the provision in view and the state of the text."""

    def __init__(self) -> None:
        super().__init__()
        self._place: tuple[str, ...] = ()
        self._provision = ""
        self._as_of = ""

    def show(self, sheet: Sheet, unit: "Stand | None", position: int) -> None:
        """Show the headings of a position and its provision."""
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
        self._place, self._provision, self._as_of = (), "", ""
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        title: str = self._place[0] if self._place else ""
        rest = _STEP.join(("", *self._place[1:]))
        # The innermost heading says most: a long title is cut.
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


@dataclass(frozen=True, slots=True)
class TextLink:
    """A span of a document with a reference.

    Attributes:
        reference: its target; of several, or of a range, the first.
    """

    start: int
    end: int
    reference: "Reference"


@dataclass(frozen=True, slots=True)
class AsRead:
    """A provision as another one reads it (読替え); made by code."""

    title: str
    text: "ReadText"


def links_of(
    store: "CorpusStore", document_id: str, provisions: Iterable[Locator]
) -> tuple[TextLink, ...]:
    """The links in provisions of a statute, in reading order, without nested ones."""
    links: list[TextLink] = []
    for provision in provisions:
        for of in store.references_from(document_id, provision):
            if not links or of.start >= links[-1].end:
                links.append(TextLink(of.start, of.end, of))
    return tuple(links)


def destination(store: "CorpusStore", reference: "Reference") -> Spot:
    """The target of a reference.

    A delegation (政令で定める) leads to the implementing provision. Errors as in `spot_at`.
    """
    from localrag.corpus.links import DELEGATES
    from localrag.law.delegations import filled_in

    if reference.kind == DELEGATES and not reference.target.path:
        order = filled_in(store, reference)
        if order is not None:
            return spot_at(store, order.document_id, reference.law_name, order.source)
    return spot_at(store, reference.law_id, reference.law_name, reference.target)


def spot_at(store: "CorpusStore", law_id: str, name: str, locator: Locator) -> Spot:
    """The beginning of a provision, or of a law.

    Args:
        store: the corpus.
        law_id: the law; "" outside the corpus.
        name: its name.
        locator: the provision; empty for the whole law.

    Raises:
        NotFoundError: the corpus has no such law or provision.
    """
    from localrag.law.notation import cite

    if not law_id:
        raise NotFoundError(
            _("{law} is not in this corpus.").format(law=name),
            palette(_("Add documents")),
        )
    if not locator.path:
        return Spot(law_id)
    passage = store.at(law_id, locator)
    if passage is None:
        raise NotFoundError(
            _("This text has no {provision}.").format(
                provision=cite(store.document(law_id).title, locator)
            ),
            _("It may be renumbered or repealed; Ctrl+G opens the law itself."),
        )
    return Spot.of(passage)


def opened(
    store: "CorpusStore", spot: Spot, before: Sheet | None
) -> "tuple[Sheet, Passage | None]":
    """The document of a place, and its passage, if it still exists.

    Args:
        store: the corpus.
        spot: the place.
        before: the document read before, reused if nothing has changed.

    Raises:
        NotFoundError: the corpus has no such document.
    """
    passage = store.by_id(spot.passage_id) if spot.passage_id else None
    now = spot.document_id, store.generation, store.as_of
    if before and (before.document.id, before.generation, before.day) == now:
        return before, passage
    return load(store, spot.document_id), passage


def wording_of(store: "CorpusStore", document_id: str) -> tuple[date, str]:
    """The day of the law shown, and the day its text comes into force, if known.

    Raises:
        NotFoundError: there is no such document.
    """
    return store.as_of, store.document(document_id).metadata.get("date", "")


def provision_at(store: "CorpusStore", sheet: Sheet, unit: "Stand") -> Spot:
    """A provision in the state shown now; errors as in `spot_at`."""
    return spot_at(store, sheet.document.id, sheet.document.title, unit.locator)


def cited(store: "CorpusStore", citation: "Citation") -> Spot | None:
    """The place of a citation in the state it quotes; None if it is gone.

    An answer quotes the law on its own day; another day may be shown now.
    """
    from localrag.corpus.rows import state_id

    law, _mark, place = citation.passage_id.partition("#")
    ids = dict.fromkeys((f"{state_id(law, citation.state)}#{place}", citation.passage_id))
    passage = next(filter(None, map(store.by_id, ids)), None)
    return Spot.quoted(citation, passage) if passage else None


def described(store: "CorpusStore", passage_id: str) -> "Provision":
    """A passage and its ties; raises `gone` if it no longer exists."""
    from localrag.search.provision import describe

    passage = store.by_id(passage_id)
    if passage is None:
        raise gone(passage_id)
    return describe(store, passage)


def gone(passage_id: str) -> NotFoundError:
    """The error for a passage that no longer exists."""
    return NotFoundError(
        _("The corpus has no {passage} any more.").format(passage=passage_id),
        _("It was changed meanwhile: this text may be another one. Search again."),
    )


def quotation(store: "CorpusStore", document_id: str, start: int, end: int) -> str:
    """A span of a document with its citation: 「…」（金融商品取引法第1条）.

    It cites the smallest passage with the whole span, else the passage at its start. The citation
    names a state that is not in force.

    Raises:
        NotFoundError: there is no such document.
    """
    from localrag.search.provision import citation_of

    text = store.text(document_id, start, end).strip()
    passage = _around(store, document_id, start, end)
    source = citation_of(store, passage) if passage else store.document(document_id).title
    return f"「{text}」（{_with_state(store, document_id, source)}）"


def read_otherwise(store: "CorpusStore", passage: "Passage", by: Spot) -> "AsRead":
    """A provision as another one reads it, with both citations; raises `gone`."""
    from localrag.law.applied import as_read
    from localrag.search.provision import citation_of

    reading = store.by_id(by.passage_id)
    text = as_read(store, passage, reading) if reading else None
    if reading is None or text is None:
        raise gone(by.passage_id)
    title = _("{provision} as {by} has it read").format(
        provision=citation_of(store, passage), by=citation_of(store, reading)
    )
    return AsRead(_with_state(store, passage.document_id, title), text)


def _with_state(store: "CorpusStore", document_id: str, source: str) -> str:
    """A citation; with its state, if that may not be in force."""
    from localrag.answer.wording import state_of

    document = store.document(document_id)
    if not (document.followed or document.not_yet or document.before_first):
        return source
    return _(", ").join((source, state_of(document)))


def paragraph_at(store: "CorpusStore", sheet: "Sheet", position: int) -> tuple[int, int]:
    """The span of the paragraph (項) at a position; without paragraphs, its line."""
    from localrag.corpus.types import PARAGRAPHS

    unit = sheet.unit_at(position)
    if unit is not None and sheet.is_law:
        for paragraph in store.within(sheet.document.id, unit.locator, PARAGRAPHS):
            if paragraph.start <= position < paragraph.end:
                return paragraph.start, paragraph.end
        return unit.start, unit.end
    end = sheet.text.find("\n", position)
    return sheet.text.rfind("\n", 0, position) + 1, end if end >= 0 else len(sheet.text)


def _around(store: "CorpusStore", document_id: str, start: int, end: int) -> "Passage | None":
    from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, PASSAGES, TRIPLES

    stands = (
        s for layer in (ARTICLES, PASSAGES, TRIPLES) for s in store.standing(document_id, layer)
    )
    outer = next((stand for stand in stands if stand.start <= start < stand.end), None)
    passage = store.by_id(outer.passage_id) if outer else None
    if passage is None or not passage.locator.path:
        return passage
    for layer in (PARAGRAPHS, ITEMS):
        for inner in store.within(document_id, passage.locator, layer):
            if inner.start <= start and end <= inner.end:
                passage = inner
    return passage
