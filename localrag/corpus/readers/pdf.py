"""PDF (extra ``docs``): what is printed on its pages, laid out as text that flows over them."""

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
from localrag.corpus.readers.ocr import Line as ScannedLine
from localrag.corpus.readers.ocr import ScannedPage
from localrag.corpus.readers.pdfium import Printed, PrintedFile, picture, printed
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.reading_order import Line, lines
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

# Lines of one font differ in height on a scan, for a line of かな is lower than one of 漢字.
_SAME_FONT = 0.35


_SECONDS_A_MEGABYTE = 30
# What laying pages out may take in the end, for its estimate is rough.
_TIMES_THE_MEMORY = 4


def read_pdf(
    name: str, data: bytes, limits: Limits, read_part: PartReader | None = None
) -> Iterator[Document | ReadFailure | Omission | PassedOver]:
    """Read a PDF as one document whose text flows over the ends of lines, columns and pages.

    Lines are joined to paragraphs. Running heads and page numbers are left out and counted. The
    metadata ``page_starts`` say where each page begins; ``pages_without_text`` names the pages that
    are pictures, and ``pages_unreadable`` those whose fonts do not say which characters they show.
    Where OCR is installed, it reads both, and ``pages_read_by_ocr`` names them, each with its
    confidence (``3:0.97``). Files in it are documents of their own.

    Args:
        name: of the file.
        data: its bytes.
        limits: how much it may hold, and how its pictures are read.
        read_part: reads a file in it; None to count them.

    Raises:
        InputError: pypdfium2 is missing, the file is damaged or encrypted, has no text at all, or
            PDFium crashes on it, or takes too long or too much memory.
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
        # The cover of a portfolio may be empty.
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
    """Work of PDFium on a file, done in a process of its own: PDFium may end it.

    Raises:
        InputError: as `work`, or PDFium crashed, or takes too long or too much memory.
    """
    return partial(
        apart,
        work,
        seconds=limits.pdf_seconds + len(data) * _SECONDS_A_MEGABYTE // 1_000_000,
        memory_bytes=_TIMES_THE_MEMORY * (limits.memory_bytes + len(data)),
    )


def _read_pictures(name: str, data: bytes, limits: Limits, pages: list[Printed]) -> None:
    """Put what OCR reads in the place of pages that are pictures, or whose fonts say too little."""
    numbers = [n for n, page in enumerate(pages, 1) if not (page.parts or page.is_blank)]
    if limits.scans and numbers:
        for page in limits.scans.read(name, data, numbers, partial(_image, data, limits)):
            put = pages[page.number - 1].put
            pages[page.number - 1] = printed_by_ocr(page, pages[page.number - 1].box)
            pages[page.number - 1].put = put


def _image(data: bytes, limits: Limits, number: int) -> "Image":
    """A page as an image."""
    import numpy as np

    rows, stride, height, width, channels = _apart(picture, data, limits)(
        data, limits.memory_bytes, number
    )
    image = np.frombuffer(rows, np.uint8).reshape(height, stride)[:, : width * channels]
    image = image.reshape(height, width, channels)
    # A bitmap may be grey, or have a byte for what is transparent.
    return np.repeat(image, 3, axis=2) if channels == 1 else np.array(image[:, :, :3])


def document_of(
    name: str,
    kind: str,
    pages: Sequence[Printed],
    omissions: Sequence[Omission] = (),
    bookmarks: Sequence[str] = (),
) -> Document:
    """The document of some pages.

    Args:
        name: of the file.
        kind: its format.
        pages: what is printed on each.
        omissions: what was not read, or needs a word, besides running heads.
        bookmarks: titles; those that the text has not are counted.

    Raises:
        InputError: there is no text on them.
    """
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
    """What OCR has read on a page.

    Args:
        page: as it was read.
        box: of the page, in points.
    """
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


# The size of notes is at most this share of the usual one.
_SMALL = 0.92
# A gap of so many heights between two lines, more than usual, parts two paragraphs.
_ROOM = 1.9
# A gap that is larger than the usual one of lines by so many heights, beside another sign.
_MORE_ROOM = 0.3
# A paragraph has lines of one size, but for such shares of it: in any case, and below a gap.
_OTHER_SIZE, _NEARLY_THE_SIZE = 0.12, 0.05
# Points from the edge at which lines are usually broken; the share of a column before a title.
_AT_THE_EDGE, _FAR_IN = 1.0, 0.25
# Lines of remarks at the end of one page and the beginning of the next; the gap of lines where a
# page shows none, in heights.
_MOST_REMARKS, _SET_CLOSE = 4, 0.9
_REMARK = re.compile(r"[※＊*†‡＃#]|[（(\[【]?(?:注|註|備考|参考|続き|前頁|承前)")


class _Column(NamedTuple):
    """The width of a column, and the gap between its lines in their heights."""

    width: float
    gap: float


Columns = Mapping[tuple[int, int], _Column]
"""The usual columns by the quarters of a turn of their text, and its size."""


def flowing_text(pages: Sequence[Sequence[Line]]) -> tuple[str, list[int]]:
    """Join the lines of pages to paragraphs.

    Args:
        pages: the lines of each in reading order.

    Returns:
        The text, a line a paragraph or row of a table, and where each page begins in it. An
        empty line is between two where the first letter of the second seems to go on.
    """
    words = words_of([line.text for page in pages for line in page])
    done: list[str] = []
    length = 0
    current = ""
    head = ""
    last: Line | None = None
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


def _usual_size(pages: Sequence[Sequence[Line]]) -> float:
    sizes: Counter[float] = Counter()
    for line in (line for page in pages for line in page):
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _in_flow(pages: Sequence[Sequence[Line]], usual: float, columns: Columns) -> list[list[Line]]:
    """Pages with what is at their foot, or their head, out of the way of a sentence.

    A note, or a remark of the same size, would part the paragraph that runs over the page end. The
    foot is put before that paragraph, the head behind it.
    """
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


def _small_foot(page: Sequence[Line], usual: float) -> int:
    """Where notes in small type, or what is printed across, begin at the foot of a page."""
    foot = len(page)
    while foot and (page[foot - 1].size < usual * _SMALL or page[foot - 1].frame != page[0].frame):
        foot -= 1
    return len(page) if not foot or ends_sentence(page[foot - 1].text) else foot


def _between(page: Sequence[Line], following: Sequence[Line], columns: Columns) -> tuple[int, int]:
    """Where the foot of a page begins, and where the head of the next one ends.

    They are set apart, and without them a sentence runs over the page end.
    """
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


def _is_head(page: Sequence[Line]) -> bool:
    """Whether the first line of a page ends no sentence, as the end of a paragraph would do."""
    return (
        len(page) > 1
        and _is_apart(page, 1)
        and not ends_sentence(page[0].text)
        and not continues(page[0].text.strip())
        and not begins_item(page[1].text)
    )


def _is_apart(page: Sequence[Line], at: int) -> bool:
    """Whether a line is no part of the paragraph above it: by a rule, a mark, a gap or its type."""
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


def _foot_before(page: list[Line], foot: int, columns: Columns, *, is_end: bool) -> list[Line]:
    """A page with its foot before the paragraph that runs over its end.

    Args:
        page: its lines.
        foot: where its foot begins.
        columns: the usual ones.
        is_end: whether the page before ends a sentence.
    """
    begin = foot - 1
    while begin > 0 and _are_joined(page, begin, columns):
        begin -= 1
    if foot == len(page) or begin < 0 or (not begin and not is_end):
        return page
    return [*page[:begin], *page[foot:], *page[begin:foot]]


def _head_behind(page: list[Line], head: int, columns: Columns) -> list[Line]:
    """A page with its head behind the paragraph that came over the end of the page before."""
    end = head + 1
    while end < len(page) and _are_joined(page, end, columns):
        end += 1
    if not head:
        return page
    first = replace(page[head], opens=True, gap=0.0)
    return [first, *page[head + 1 : end], *page[:head], *page[end:]]


def _are_joined(page: Sequence[Line], at: int, columns: Columns) -> bool:
    above, line = page[at - 1], page[at]
    return _is_joined(above, line, above.text, line.text.strip(), columns)


def _columns(pages: Sequence[Sequence[Line]]) -> Columns:
    """What columns of each size are like: a page with one short line does not show it."""
    widths: dict[tuple[int, int], list[float]] = defaultdict(list)
    gaps: dict[tuple[int, int], list[float]] = defaultdict(list)
    for line in (line for page in pages for line in page if not line.is_row):
        key = line.frame, round(line.size)
        widths[key].append(line.width)
        if not line.opens:
            gaps[key].append(line.gap)
    return {
        key: _Column(median(found), _lower(gaps[key]) if gaps[key] else _ROOM)
        for key, found in widths.items()
    }


def _lower(gaps: Sequence[float]) -> float:
    return sorted(gaps)[len(gaps) // 4]


def _is_joined(last: Line, line: Line, before: str, text: str, columns: Columns) -> bool:
    """Whether a line belongs to the paragraph of the one before."""
    if last.is_row or line.is_row or last.frame != line.frame:
        return False
    size = max(last.size, line.size, 0.1)
    resized = abs(last.size - line.size) / size
    usual = columns.get((last.frame, round(last.size)), _Column(last.width, _ROOM))
    is_apart = not line.opens and line.gap > usual.gap + _MORE_ROOM
    if resized > _OTHER_SIZE or (is_apart and resized > _NEARLY_THE_SIZE):
        return False
    if not line.opens and line.gap > _ROOM:
        return False
    end, width = last.width - last.room, max(usual.width, last.width)
    # Lines that are over the edge make the column of a page seem wide.
    room = max(0.0, width - end) if abs(usual.width - end) > _AT_THE_EDGE else 0.0
    is_indented = line.indent > last.indent + size * 0.7 and not begins_item(last.text)
    if ends_sentence(before):
        is_full = room < size * 2.5 and not (is_apart or line.opens)
        return is_full and not is_indented and not begins_item(text)
    # Items and terms have their further lines indented; those of a sentence follow a full line.
    is_hanging = room < size * 2.5 or text[0].islower() or last.text.rstrip().endswith(("-", "‐"))
    if is_indented and not is_hanging:
        return False
    # A line that begins far in is set in the middle: what it fills begins there.
    filled = width - last.indent if last.indent > width * _FAR_IN else width
    return goes_on(last.text.strip(), text, room=room, width=filled)


def _cuts(text: str, starts: Sequence[int]) -> list[int]:
    """Where the passages of each page begin: a sentence that runs over its end belongs to it."""
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
