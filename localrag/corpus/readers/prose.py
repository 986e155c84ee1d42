"""Documents other than statutes: text under headings, cut into passages."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from localrag.corpus.readers.text import bounded, brief, stem
from localrag.corpus.types import (
    PASSAGES,
    Document,
    Locator,
    Omission,
    Passage,
    Section,
    omission_notes,
    page_starts,
    pages_of,
    with_pages,
)
from localrag.errors import InputError
from localrag.language import N_

# Sizes in bytes of UTF-8, to fit both languages: 2,400 bytes are 800 Japanese characters or about
# 400 English words.
_LONGEST = 2_400
# Ends of passages, best first: lines, sentences, commas and spaces.
_BREAKS = (
    re.compile(r"\n\s*"),
    re.compile(r"[。．！？][」』）】\"'”’]*|[.!?][\"')\]”’]*\s+"),
    re.compile(r"[、，\s]"),
)


class SectionHeading(NamedTuple):
    """A heading and its span; `depth` is 1 for the outermost level."""

    depth: int
    title: str
    start: int
    end: int


class TextBuilder:
    """Collects the lines of a text, and those added as headings; `length` in characters."""

    def __init__(self) -> None:
        self.headings: list[SectionHeading] = []
        self.length = 0
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        """The lines so far, each with its line end."""
        return "".join(self._lines)

    def add(self, line: str, depth: int = 0, title: str = "") -> None:
        """Add a line without its line end; as a heading if it has a `depth`, from 1."""
        start = self.length
        self._lines.append(f"{line}\n")
        self.length += len(line) + 1
        if depth:
            self.headings.append(SectionHeading(depth, title or line, start, self.length))


def prose(
    *,
    id_: str,
    kind: str,
    text: str,
    title: str | None = None,
    source: str = "",  # the file; `id_` by default
    headings: Sequence[SectionHeading] = (),
    pages: Sequence[int] = (),
    confidences: Sequence[float | None] = (),  # of OCR, by page; None for a page with text
    begin: int = 0,  # start of the first passage; text before it is not searched
    metadata: Mapping[str, str] | None = None,
    omissions: Iterable[Omission] = (),  # of the file; a count of 0 is dropped
    longest: int = _LONGEST,
) -> Document:
    """Make a document and cut its passages: one per section, long ones at sentence ends.

    The `title` is the start of every header, by default the file name in `id_`. No passage crosses
    `pages`, the starts of pages in characters. Passages aim at `longest` bytes of UTF-8. Up to half
    more stays in one piece, to avoid fragments.
    """
    bounded(N_("id"), id_)
    title = bounded(N_("title"), stem(id_) if title is None else title)
    passages: list[Passage] = []
    starts = page_starts(metadata or {}) or pages
    for path, start, end in _stretches(text, headings, pages, begin):
        page = bisect_right(pages, start)
        place = " > ".join([title, *(name for name in path if name != title)])
        read_by_ocr = confidences[page - 1] if page and confidences else None
        locator = Locator(section=" > ".join(path), page=page, confidence=read_by_ocr)
        for piece_start, piece_end in _pieces(text, start, end, longest):
            passages.append(
                Passage(
                    id=f"{id_}#{len(passages) + 1}",
                    document_id=id_,
                    layer=PASSAGES,
                    text=text[piece_start:piece_end],
                    header=_header(place, starts, text, piece_start, piece_end),
                    locator=locator,
                    start=piece_start,
                    end=piece_end,
                )
            )
    return Document(
        id=id_,
        title=title,
        kind=kind,
        text=text,
        source=source or id_,
        passages=tuple(passages),
        sections=tuple(_sections(text, headings)),
        metadata=metadata or {},
        omissions=tuple(one for one in omissions if one.count),
    )


def without_text(format_: str, omissions: Iterable[Omission] = ()) -> InputError:
    """The error for a file without text; it lists its other content."""
    notes = omission_notes([one for one in omissions if one.count])
    return InputError(
        N_("The {format} holds no text. {notes}") if notes else N_("The {format} holds no text."),
        N_("Check the file in its own program."),
        format=format_,
        notes=" ".join(notes),
    )


def _header(place: str, starts: Sequence[int], text: str, start: int, end: int) -> str:
    if not starts:
        return place
    return with_pages(place, *pages_of(starts, start, end), text[start:end])


def _stretches(
    text: str, headings: Sequence[SectionHeading], pages: Sequence[int], begin: int
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield heading path and span of the text between headings and page ends."""
    cuts = sorted({begin, *pages, *(h.end for h in headings), len(text)})
    stops = {h.end: h.start for h in headings}
    path: dict[int, str] = {}
    passed = 0
    has_body = False
    for start, end in pairwise(cuts):
        while passed < len(headings) and headings[passed].end <= start:
            heading = headings[passed]
            passed += 1
            path = {d: name for d, name in path.items() if d < heading.depth}
            path[heading.depth] = brief(heading.title)
        stop = stops.get(end, end)
        if text[start:stop].strip():
            has_body = True
            yield tuple(path.values()), start, stop
    if not has_body and text[begin:].strip():
        yield (), begin, len(text)


def _pieces(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """Yield spans of about equal size up to `longest`, without outer space."""
    size = len(text[start:end].encode(errors="replace"))
    count = 1 if size * 2 <= longest * 3 else -(-size // longest)
    for left in range(count, 0, -1):
        stop = _break(text, start, end, (end - start) // left) if left > 1 else end
        piece = text[start:stop]
        first = start + len(piece) - len(piece.lstrip())
        last = stop - len(piece) + len(piece.rstrip())
        if last > first:
            yield first, last
        start = stop


def _break(text: str, start: int, end: int, wanted: int) -> int:
    """The best place to cut, near `wanted` characters after `start`."""
    low, high = start + wanted * 2 // 3, min(end, start + wanted * 4 // 3)
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return min(ends, key=lambda position: abs(position - start - wanted))
    return start + max(wanted, 1)


def _sections(text: str, headings: Sequence[SectionHeading]) -> Iterator[Section]:
    """End each heading at the next one of its depth or further out."""
    ends: list[int] = []
    following: list[tuple[int, int]] = []
    for heading in reversed(headings):
        while following and following[-1][0] > heading.depth:
            following.pop()
        ends.append(following[-1][1] if following else len(text))
        following.append((heading.depth, heading.start))
    for heading, end in zip(headings, reversed(ends), strict=True):
        yield Section(heading.depth, heading.title, heading.start, end)
