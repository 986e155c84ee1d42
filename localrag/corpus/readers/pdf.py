"""PDF (extra ``docs``): the printed text, flowing across lines, columns and pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from localrag.corpus.readers.bounds import apart
from localrag.corpus.readers.flowing import (
    begins_item,
    continues,
    ends_sentence,
    goes_on,
    is_wide,
    join,
    words_of,
)
from localrag.corpus.readers.layout import Box, segment
from localrag.corpus.readers.mail import PartReader, file_name, only_name
from localrag.corpus.readers.ocr import ScannedLine, ScannedPage
from localrag.corpus.readers.pdfium import Printed, PrintedFile, picture, printed
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.reading_order import PageLine, lines
from localrag.corpus.readers.running_heads import without_running_heads
from localrag.corpus.readers.text import drop_controls
from localrag.corpus.readers.types import Limits, Omission, OnlyImagesError, PassedOver, ReadFailure
from localrag.corpus.types import PAGE_STARTS, PAGES_UNREADABLE, PAGES_WITHOUT_TEXT, Document
from localrag.errors import InputError, to_install
from localrag.language import N_
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import plain

if TYPE_CHECKING:
    from localrag.corpus.readers.ocr import Image

# On scans a line of かな is lower than one of 漢字.
_SAME_FONT = 0.35


_SECONDS_A_MEGABYTE = 30
# Layout may exceed its rough estimate of memory by this factor.
_TIMES_THE_MEMORY = 4


def read_pdf(
    name: str, data: bytes, limits: Limits, read_part: PartReader | None = None
) -> Iterator[Document | ReadFailure | Omission | PassedOver]:
    """Read a PDF as one document with lines joined to paragraphs.

    Running heads and page numbers are left out and counted. The metadata ``page_starts`` has the
    start of each page. ``pages_without_text`` lists image pages, ``pages_unreadable`` pages with
    fonts that name no characters. With OCR both are read, and ``pages_read_by_ocr`` lists them with
    confidence (``3:0.97``). `read_part` reads attached files; without it they are counted.
    """
    if find_spec("pypdfium2") is None:
        raise InputError(N_("Reading PDF needs pypdfium2."), to_install("docs"))
    file = _apart(printed, data, limits)(
        data, Limits(file_bytes=limits.file_bytes, memory_bytes=limits.memory_bytes)
    )
    pages = file.pages
    _read_pictures(name, data, limits, pages)
    omissions = [
        *file.omissions,
        Omission(N_("pages without text"), sum(_is_empty(page) for page in pages)),
        Omission(
            N_("pages whose fonts do not say which characters they show"),
            sum(page.is_unreadable for page in pages),
        ),
        Omission(
            N_("characters that their font does not name, shown as \ufffd"),
            sum(page.unknown for page in pages if not page.is_unreadable),
        ),
    ]
    if file.attachments and read_part is None:
        omissions.append(Omission(N_("attached files"), len(file.attachments)))
    try:
        yield document_of(name, "pdf", pages, omissions, file.bookmarks)
    except OnlyImagesError:
        # A portfolio may have an empty cover.
        if not file.attachments or read_part is None:
            raise
        yield from (one for one in omissions if one.count)
    if read_part is not None:
        yield from _attachments(name, file, read_part)


def _attachments(
    name: str, file: PrintedFile, read_part: PartReader
) -> Iterator[Document | ReadFailure | Omission | PassedOver]:
    taken = Counter[str]()
    for number, (written, content) in enumerate(file.attachments, 1):
        called = only_name(file_name(written, "", number), taken)
        place = f"{name}!{called}"
        if content is None:
            problem = InputError(
                N_("The attached file cannot be taken out of the PDF, or is too large."),
                N_("Save it from a PDF viewer and add it."),
            )
            yield ReadFailure(place, problem)
        else:
            yield from read_part(place, content)


def _apart(work: Callable[..., Any], data: bytes, limits: Limits) -> Callable[..., Any]:
    return partial(
        apart,
        work,
        seconds=limits.pdf_seconds + len(data) * _SECONDS_A_MEGABYTE // 1_000_000,
        memory_bytes=_TIMES_THE_MEMORY * (limits.memory_bytes + len(data)),
    )


def _read_pictures(name: str, data: bytes, limits: Limits, pages: list[Printed]) -> None:
    """Replace image pages and unreadable pages by the text from OCR."""
    numbers = [n for n, page in enumerate(pages, 1) if not (page.parts or page.is_blank)]
    if limits.scans and numbers:
        for page in limits.scans.read(name, data, numbers, partial(_image, data, limits)):
            put = pages[page.number - 1].put
            pages[page.number - 1] = printed_by_ocr(page, pages[page.number - 1].box)
            pages[page.number - 1].put = put


def _image(data: bytes, limits: Limits, number: int) -> "Image":
    import numpy as np

    rows, stride, height, width, channels = _apart(picture, data, limits)(
        data, limits.memory_bytes, number
    )
    image = np.frombuffer(rows, np.uint8).reshape(height, stride)[:, : width * channels]
    image = image.reshape(height, width, channels)
    # Bitmaps may be grey, or have an alpha channel.
    return np.repeat(image, 3, axis=2) if channels == 1 else np.array(image[:, :, :3])


def document_of(
    name: str,
    kind: str,
    pages: Sequence[Printed],
    omissions: Sequence[Omission] = (),
    bookmarks: Sequence[str] = (),
) -> Document:
    """Make the document of some pages; bookmarks missing in the text are counted."""
    found = [[*page.parts, *page.put] for page in pages]
    kept, left_out = without_running_heads(found, [page.box for page in pages])
    read = [lines(parts, page.rules) for parts, page in zip(kept, pages, strict=True)]
    text, starts = flowing_text(read)
    unreadable = [n for n, page in enumerate(pages, 1) if page.is_unreadable]
    empty = [n for n, page in enumerate(pages, 1) if _is_empty(page)]
    if not text.strip():
        raise _nothing_read(pages)
    metadata = {
        PAGE_STARTS: ",".join(map(str, starts)) if len(starts) > 1 or kind == "pdf" else "",
        PAGES_WITHOUT_TEXT: ",".join(map(str, empty)),
        PAGES_UNREADABLE: ",".join(map(str, unreadable)),
        "pages_read_by_ocr": ",".join(
            f"{n}:{page.scanned.confidence:.2f}" for n, page in enumerate(pages, 1) if page.scanned
        ),
    }
    return prose(
        id_=name,
        kind=kind,
        text=text,
        pages=_cuts(text, starts),
        confidences=[page.scanned.confidence if page.scanned else None for page in pages],
        metadata={key: value for key, value in metadata.items() if value},
        omissions=[
            Omission(N_("running heads, feet and page numbers"), len(left_out)),
            *omissions,
            Omission(
                N_("bookmarks whose title is not in the text"), _missing(bookmarks, text, left_out)
            ),
        ],
    )


def _missing(titles: Sequence[str], text: str, left_out: Sequence[str]) -> int:
    letters = "".join(_letters(one) for one in (text, *left_out))
    return sum(_letters(title) not in letters for title in titles)


def _letters(text: str) -> str:
    return "".join(plain(text).split()).casefold()


def _is_empty(page: Printed) -> bool:
    is_read = page.parts or page.scanned or (page.is_blank and page.put)
    return not is_read and not page.is_unreadable


def _nothing_read(pages: Sequence[Printed]) -> InputError:
    if any(page.scanned for page in pages):
        return InputError(
            N_("OCR found no text."), N_("Check the file in a viewer; scan it again with 300 dpi.")
        )
    if any(page.is_unreadable for page in pages):
        return OnlyImagesError(
            N_("The fonts of the PDF do not say which characters they show."), to_install("ocr")
        )
    return OnlyImagesError(N_("The PDF holds no text, only images."), to_install("ocr"))


def printed_by_ocr(page: ScannedPage, box: Box) -> Printed:
    """The text found by OCR as a printed page; `box` is the page in points."""
    found = [line for line in page.lines if line.text]
    heights = [_height(line) for line in found]
    usual = median(heights) if heights else 0.0
    scale = (box.x1 - box.x0) / page.width
    parts = []
    for order, (line, height) in enumerate(zip(found, heights, strict=True)):
        left, top, right, bottom = (side * scale for side in line.box)
        place = Box(box.x0 + left, box.y1 - bottom, box.x0 + right, box.y1 - top)
        size = usual if abs(height - usual) < usual * _SAME_FONT else height
        parts.append(segment(line.text, place, size * scale, order, is_vertical=line.vertical))
    return Printed(parts, box, scanned=page)


def _height(line: ScannedLine) -> float:
    left, top, right, bottom = line.box
    return right - left if line.vertical else bottom - top


# Maximum size of notes relative to the usual size.
_SMALL = 0.92
# Gap in heights between two paragraphs.
_ROOM = 1.9
# Excess in heights over the usual gap, counted only with another sign.
_MORE_ROOM = 0.3
# Tolerance for font size inside a paragraph: in general, and below a gap.
_OTHER_SIZE, _NEARLY_THE_SIZE = 0.12, 0.05
# Points from the usual edge; share of a column before a centred title.
_AT_THE_EDGE, _FAR_IN = 1.0, 0.25
# Lines of remarks at a page break; line gap in heights for a page that shows none.
_MOST_REMARKS, _SET_CLOSE = 4, 0.9
_REMARK = re.compile(r"[※＊*†‡＃#]|[（(\[【]?(?:注|註|備考|参考|続き|前頁|承前)")


class _ColumnShape(NamedTuple):
    """Width of a column, and gap of its lines in heights."""

    width: float
    gap: float


Columns = Mapping[tuple[int, int], _ColumnShape]
"""Usual columns by quarter turns of their text and its size."""


def flowing_text(pages: Sequence[Sequence[PageLine]]) -> tuple[str, list[int]]:
    """Join the lines of pages to paragraphs; return the text and the start of each page."""
    words = words_of([line.text for page in pages for line in page])
    done: list[str] = []
    length = 0
    current = ""
    head = ""
    last: PageLine | None = None
    columns = _columns(pages)
    starts: list[int] = []
    for page in _in_flow(pages, _usual_size(pages), columns):
        is_new_page = True
        for line in page:
            text = drop_controls(line.text).strip(" ")
            if not text:
                continue
            if is_new_page and line.is_row and last is not None and last.is_row and text == head:
                continue  # The head of a table that goes on from the page before.
            if line.is_row and line.opens:
                head = text
            if last is not None and _is_joined(last, line, current, text, columns):
                joined = join(current, text, words)
                if is_new_page:
                    starts.append(length + len(joined) - len(text))
                current = joined
            else:
                if current:
                    ended = [current, ""] if _runs_on(current, text) else [current]
                    done += ended
                    length += len(current) + len(ended)
                current = text
                if is_new_page:
                    starts.append(length)
            is_new_page = False
            last = line
        if is_new_page:
            starts.append(length + len(current))
    if current:
        done.append(current)
    return "\n".join(done), starts


def _runs_on(paragraph: str, following: str) -> bool:
    if not following[0].islower():
        return False
    return len(split_sentences(f"{paragraph[-1]}\n{following[0]}")) == 1


def _usual_size(pages: Sequence[Sequence[PageLine]]) -> float:
    sizes: Counter[float] = Counter()
    for line in (line for page in pages for line in page):
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _in_flow(
    pages: Sequence[Sequence[PageLine]], usual: float, columns: Columns
) -> list[list[PageLine]]:
    """Pages with the foot moved before a paragraph across the page end, the head after it."""
    out = [list(page) for page in pages]
    filled = [number for number, page in enumerate(pages) if page]
    is_end = True
    for number, following in [*pairwise(filled), *((last, -1) for last in filled[-1:])]:
        page = out[number]
        foot = _small_foot(page, usual)
        if following >= 0 and foot == len(page):
            foot, head = _between(page, out[following], columns)
            out[following] = _head_behind(out[following], head, columns)
        out[number] = _foot_before(page, foot, columns, is_end=is_end)
        is_end = ends_sentence(page[-1].text)
    return out


def _small_foot(page: Sequence[PageLine], usual: float) -> int:
    foot = len(page)
    while foot and (page[foot - 1].size < usual * _SMALL or page[foot - 1].frame != page[0].frame):
        foot -= 1
    return len(page) if not foot or ends_sentence(page[foot - 1].text) else foot


def _between(
    page: Sequence[PageLine], following: Sequence[PageLine], columns: Columns
) -> tuple[int, int]:
    """Start of a page's foot and end of the next head, if a sentence runs between them."""
    for left_out in range(_MOST_REMARKS + 1):
        for head in range(min(left_out, len(following) - 1) + 1):
            foot = len(page) - (left_out - head)
            if foot < 1 or (foot < len(page) and not _is_apart(page, foot)):
                continue
            if head and not _is_apart(following, head):
                continue
            if not head and _is_head(following):
                continue
            last, first = page[foot - 1], following[head]
            text = first.text.strip()
            if (
                not ends_sentence(last.text)
                and not begins_item(text)
                and (not left_out or continues(text) or is_wide(text[:1]))
                and _is_joined(last, replace(first, opens=True, gap=0.0), last.text, text, columns)
            ):
                return foot, head
    return len(page), 0


def _is_head(page: Sequence[PageLine]) -> bool:
    """Whether the first line is a head, not the end of a paragraph."""
    return (
        len(page) > 1
        and _is_apart(page, 1)
        and not ends_sentence(page[0].text)
        and not continues(page[0].text.strip())
        and not begins_item(page[1].text)
    )


def _is_apart(page: Sequence[PageLine], at: int) -> bool:
    """Whether a rule, mark, gap or font separates a line from the one above."""
    above, line = page[at - 1], page[at]
    gaps = [one.gap for other, one in enumerate(page) if other != at and one.gap > 0]
    usual = median(gaps) if gaps else _SET_CLOSE
    return bool(
        line.is_ruled
        or _REMARK.match(line.text.strip())
        or line.gap > max(usual * 1.4, usual + 0.25)
        or line.frame != above.frame
        or abs(line.size - above.size) > 0.08 * above.size
    )


def _foot_before(
    page: list[PageLine], foot: int, columns: Columns, *, is_end: bool
) -> list[PageLine]:
    """A page with its foot before the paragraph running over its end."""
    begin = foot - 1
    while begin > 0 and _are_joined(page, begin, columns):
        begin -= 1
    if foot == len(page) or begin < 0 or (not begin and not is_end):
        return page
    return [*page[:begin], *page[foot:], *page[begin:foot]]


def _head_behind(page: list[PageLine], head: int, columns: Columns) -> list[PageLine]:
    """A page with its head after the paragraph from the previous page."""
    end = head + 1
    while end < len(page) and _are_joined(page, end, columns):
        end += 1
    if not head:
        return page
    first = replace(page[head], opens=True, gap=0.0)
    return [first, *page[head + 1 : end], *page[:head], *page[end:]]


def _are_joined(page: Sequence[PageLine], at: int, columns: Columns) -> bool:
    above, line = page[at - 1], page[at]
    return _is_joined(above, line, above.text, line.text.strip(), columns)


def _columns(pages: Sequence[Sequence[PageLine]]) -> Columns:
    """Usual columns by size; one short line does not show them."""
    widths: dict[tuple[int, int], list[float]] = defaultdict(list)
    gaps: dict[tuple[int, int], list[float]] = defaultdict(list)
    for line in (line for page in pages for line in page if not line.is_row):
        key = line.frame, round(line.size)
        widths[key].append(line.width)
        if not line.opens:
            gaps[key].append(line.gap)
    return {
        key: _ColumnShape(median(found), _lower(gaps[key]) if gaps[key] else _ROOM)
        for key, found in widths.items()
    }


def _lower(gaps: Sequence[float]) -> float:
    return sorted(gaps)[len(gaps) // 4]


def _is_joined(last: PageLine, line: PageLine, before: str, text: str, columns: Columns) -> bool:
    """Whether a line belongs to the paragraph of the previous one."""
    if last.is_row or line.is_row or last.frame != line.frame:
        return False
    size = max(last.size, line.size, 0.1)
    resized = abs(last.size - line.size) / size
    usual = columns.get((last.frame, round(last.size)), _ColumnShape(last.width, _ROOM))
    is_apart = not line.opens and line.gap > usual.gap + _MORE_ROOM
    if resized > _OTHER_SIZE or (is_apart and resized > _NEARLY_THE_SIZE):
        return False
    if not line.opens and line.gap > _ROOM:
        return False
    end, width = last.width - last.room, max(usual.width, last.width)
    # Overlong lines make a column seem wide.
    room = max(0.0, width - end) if abs(usual.width - end) > _AT_THE_EDGE else 0.0
    is_indented = line.indent > last.indent + size * 0.7 and not begins_item(last.text)
    if ends_sentence(before):
        is_full = room < size * 2.5 and not (is_apart or line.opens)
        return is_full and not is_indented and not begins_item(text)
    # Items and terms indent their further lines; sentences continue after a full line.
    is_hanging = room < size * 2.5 or text[0].islower() or last.text.rstrip().endswith(("-", "‐"))
    if is_indented and not is_hanging:
        return False
    # A line starting far in is centred and fills only from there.
    filled = width - last.indent if last.indent > width * _FAR_IN else width
    return goes_on(last.text.strip(), text, room=room, width=filled)


def _cuts(text: str, starts: Sequence[int]) -> list[int]:
    """Start of the passages of each page: a sentence belongs to the page of its start."""
    out: list[int] = []
    for start in starts:
        begin = text.rfind("\n", 0, start) + 1
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if begin == start or start >= len(text):
            out.append(start)
            continue
        ends = (begin + stop for _, stop in split_sentences(text[begin:end]))
        out.append(next((stop for stop in ends if stop >= start), end))
    return out
