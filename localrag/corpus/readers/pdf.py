"""PDF with PDFium (extra ``docs``): its characters, laid out as text that flows over pages.

PDFium maps the codes of every predefined CMap, which pypdf does not, and says of each character
where it is and whether its font names it at all. pdfminer.six reads the same fonts at a tenth of
the speed and has no vertical layout (``scripts/bench/pdf_text.py``).
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double, c_float
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import atan2, hypot, pi
from statistics import median
from threading import Lock
from typing import TYPE_CHECKING, Any

from localrag.corpus.pages import PAGE_STARTS
from localrag.corpus.readers.apart import apart
from localrag.corpus.readers.flowing import begins_item, ends_sentence, goes_on, join, words_of
from localrag.corpus.readers.layout import Box, Glyph, Segment, segment, segments
from localrag.corpus.readers.ocr import Line as ScannedLine
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.reading_order import Line, lines
from localrag.corpus.readers.running_heads import without_running_heads
from localrag.corpus.readers.scans import ScannedPage
from localrag.corpus.readers.text import drop_controls, stem
from localrag.corpus.readers.types import Limits, Omission, OnlyImagesError
from localrag.corpus.types import PAGES_UNREADABLE, PAGES_WITHOUT_TEXT, Document
from localrag.errors import InputError, to_install
from localrag.language import N_
from localrag_indexes.analysis.sentences import split_sentences

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

    from localrag.corpus.readers.ocr import Image

# What a character of text takes until it is stored, and what a page counts for besides its text.
_BYTES_A_CHARACTER, _PAGE = 20, 1_000
_BYTES_LAID_OUT = 2_000
"""What a character takes while its page is laid out."""
_ONE_AT_A_TIME = Lock()
"""PDFium serves one thread at a time."""
_SECONDS_A_MEGABYTE = 30
_TIMES_THE_MEMORY = 4
"""What laying pages out may take in the end, for its estimate is rough."""
_STREAM = re.compile(rb"stream\r?\n")
_DICTIONARY, _LITTLE, _STEP = 2_000, 100_000, 1 << 18
_MARKS = {b"(": 350, b"<": 350, b"T": 320, b"q": 140, b"m": 250, b"re": 250}
"""What the objects of some operators and strings of a page take, in bytes."""
_MOST_UNKNOWN = 0.1
"""A page with a larger share of characters that its fonts do not name is not read."""
_PASSWORD_NEEDED = 4
_TALL = 1.6
_RULES = 4_000
"""Drawn objects of a page that are looked at for the rules of tables."""


_DOTS_PER_INCH, _POINTS_PER_INCH = 300, 72
# A pixel takes three bytes, and again as much while it is made.
_BYTES_A_PIXEL = 6
# Lines of one font differ in height on a scan, for a line of かな is lower than one of 漢字.
_SAME_FONT = 0.35


@dataclass(slots=True)
class Printed:
    """What is printed on a page.

    Attributes:
        parts: its segments; none where the page has no text, or none that can be read.
        box: of the page.
        rules: what is drawn as lines and boxes.
        unknown: how many characters its fonts do not name.
        is_unreadable: whether they are too many to read the page.
        is_blank: whether nothing is drawn on it.
        scanned: the page as OCR has read it; None where the file itself has the text.
    """

    parts: Sequence[Segment]
    box: Box
    rules: Sequence[Box] = ()
    unknown: int = 0
    is_unreadable: bool = False
    is_blank: bool = False
    scanned: ScannedPage | None = None


def read_pdf(name: str, data: bytes, limits: Limits) -> Iterator[Document | Omission]:
    """Read a PDF as one document whose text flows over the ends of lines, columns and pages.

    Lines are joined to paragraphs. Running heads and page numbers are left out and counted. The
    metadata ``page_starts`` say where each page begins; ``pages_without_text`` names the pages that
    are pictures, and ``pages_unreadable`` those whose fonts do not say which characters they show.
    Where OCR is installed, it reads both, and ``pages_read_by_ocr`` names them, each with its
    confidence (``3:0.97``).

    Args:
        name: of the file.
        data: its bytes.
        limits: how much it may hold, and how its pictures are read.

    Raises:
        InputError: pypdfium2 is missing, the file is damaged or encrypted, has no text at all, or
            PDFium crashes on it, or takes too long or too much memory.
    """
    if find_spec("pypdfium2") is None:
        raise InputError(N_("Reading PDF needs pypdfium2."), to_install("docs"))
    pages = _printed_apart(data, limits)
    _read_pictures(name, data, limits, pages)
    yield from document_of(name, "pdf", pages)
    unreadable = sum(page.is_unreadable for page in pages)
    without = sum(_is_empty(page) for page in pages)
    for what, count in (
        (N_("pages without text"), without),
        (N_("pages whose fonts do not say which characters they show"), unreadable),
        (
            N_("characters that their font does not name, shown as \ufffd"),
            sum(page.unknown for page in pages if not page.is_unreadable),
        ),
    ):
        if count:
            yield Omission(what, count)


def _printed_apart(data: bytes, limits: Limits) -> list[Printed]:
    """What is printed on each page, read in a process of its own: PDFium may end it.

    Raises:
        InputError: as `_printed`, or PDFium crashed, or takes too long or too much memory.
    """
    return apart(
        _printed,
        data,
        Limits(file_bytes=limits.file_bytes, memory_bytes=limits.memory_bytes),
        seconds=limits.pdf_seconds + len(data) * _SECONDS_A_MEGABYTE // 1_000_000,
        memory_bytes=_TIMES_THE_MEMORY * (limits.memory_bytes + len(data)),
    )


def document_of(name: str, kind: str, pages: Sequence[Printed]) -> Iterator[Document | Omission]:
    """The document of some pages, and what is left out of it.

    Raises:
        InputError: there is no text on them.
    """
    kept, left_out = without_running_heads([p.parts for p in pages], [p.box for p in pages])
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
    yield prose(
        id_=name,
        title=stem(name),
        kind=kind,
        text=text,
        source=name,
        pages=_cuts(text, starts),
        confidences=[page.scanned.confidence if page.scanned else None for page in pages],
        metadata={key: value for key, value in metadata.items() if value},
    )
    if left_out:
        yield Omission(N_("running heads, feet and page numbers"), len(left_out))


def _is_empty(page: Printed) -> bool:
    """Whether a page has no text, was not read by OCR, and is not one that cannot be read."""
    return not page.parts and not page.is_unreadable and page.scanned is None


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


def _printed(data: bytes, limits: Limits) -> list[Printed]:
    """What is printed on each page; a file can show the same page, or the same content, many times.

    Raises:
        InputError: the file cannot be opened, or its pages hold too much together.
    """
    import pypdfium2

    most = min(limits.file_bytes, limits.memory_bytes // _BYTES_A_CHARACTER)
    too_much = InputError(
        N_("The PDF unpacks to too much text."),
        N_("Split it into several files."),
    )
    if _unpacks_to_too_much(data, limits.memory_bytes):
        raise too_much
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_NEEDED:
            raise InputError(
                N_("The PDF is encrypted."),
                N_("Save a copy without a password (print to PDF) and add that."),
            ) from error
        raise _damaged(error) from error
    try:
        # An empty page counts too: there may be millions of them.
        if len(document) * _PAGE > most:
            raise too_much
        left = most
        out = []
        for page in _pages(document):
            printed, length = _read_page(page, limits.memory_bytes // _BYTES_LAID_OUT)
            left -= length + _PAGE
            if left < 0 or length > limits.memory_bytes // _BYTES_LAID_OUT:
                raise too_much
            out.append(printed)
    except pypdfium2.PdfiumError as error:
        raise _damaged(error) from error
    finally:
        document.close()
    if not out:
        raise _damaged(N_("it has no pages"))
    return out


def _unpacks_to_too_much(data: bytes, most: int) -> bool:
    """Whether an instruction stream makes so many objects that they would fill the memory.

    PDFium makes an object of some hundred bytes of each piece of text and each path, all those of a
    page at once. Pictures are not looked at; what cannot be unpacked here is left to PDFium.
    """
    for begin in _STREAM.finditer(data):
        about = data[max(0, begin.start() - _DICTIONARY) : begin.start()].rpartition(b"obj")[2]
        if b"/Image" in about or b"/FontFile" in about:
            continue
        packed = data[begin.end() :]
        if b"FlateDecode" not in about:
            packed = packed[: packed.find(b"endstream")]
            if b"A85" in about or b"ASCII85" in about or len(packed) < _LITTLE:
                continue
        unpacked = zlib.decompressobj() if b"FlateDecode" in about else None
        taken, place = 0, 0
        while taken <= most and (place < len(packed) or (unpacked and unpacked.unconsumed_tail)):
            if unpacked is None:
                piece, place = packed[place : place + _STEP], place + _STEP
            else:
                rest = unpacked.unconsumed_tail
                given = rest or packed[place : place + _STEP]
                place += 0 if rest else _STEP
                try:
                    piece = unpacked.decompress(given, _STEP)
                except zlib.error:
                    break
            taken += len(piece) * 4 + sum(piece.count(m) * size for m, size in _MARKS.items())
            if unpacked is not None and unpacked.eof:
                break
        if taken > most:
            return True
    return False


def _damaged(problem: object) -> InputError:
    return InputError(
        N_("The PDF is damaged: {problem}."),
        N_("Download the file again."),
        problem=problem,
    )


def _pages(document: "PdfDocument") -> Iterator["PdfPage"]:
    for number in range(len(document)):
        page = document[number]
        try:
            yield page
        finally:
            page.close()


def _read_page(page: "PdfPage", most: int) -> tuple[Printed, int]:
    """What is printed on a page, and how many characters; nothing where they are too many."""
    import pypdfium2.raw as pdfium

    box = Box(*page.get_bbox())
    textpage = page.get_textpage()
    try:
        count = textpage.count_chars()
        if count > most:
            return Printed((), box), count
        glyphs = list(_glyphs(textpage.raw, count))
    finally:
        textpage.close()
    visible = sum(not glyph.text.isspace() for glyph in glyphs)
    unknown = sum(not glyph.text for glyph in glyphs)
    if unknown > visible * _MOST_UNKNOWN:
        return Printed((), box, unknown=unknown, is_unreadable=True), count
    shown = [glyph if glyph.text else glyph._replace(text="\ufffd") for glyph in glyphs]
    is_blank = not count and not pdfium.FPDFPage_CountObjects(page.raw)
    return Printed(segments(shown), box, list(_rules(page)), unknown, is_blank=is_blank), count


def _read_pictures(name: str, data: bytes, limits: Limits, pages: list[Printed]) -> None:
    """Put what OCR reads in the place of pages that are pictures, or whose fonts say too little."""
    numbers = [n for n, page in enumerate(pages, 1) if not (page.parts or page.is_blank)]
    if limits.scans and numbers:
        for page in limits.scans.read(name, data, numbers, partial(_picture, data, limits)):
            pages[page.number - 1] = printed_by_ocr(page, pages[page.number - 1].box)


def _picture(data: bytes, limits: Limits, number: int) -> "Image":
    """A page as an image, with 300 dots per inch or as many as the memory allows."""
    import numpy as np
    import pypdfium2

    # Other threads may read files while OCR works on the last page.
    with _ONE_AT_A_TIME:
        document = pypdfium2.PdfDocument(data)
        try:
            page = document[number - 1]
            width, height = page.get_size()
            most = (limits.memory_bytes / _BYTES_A_PIXEL / max(1.0, width * height)) ** 0.5
            scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, most)
            image = page.render(scale=scale, rev_byteorder=True).to_numpy()
            # A bitmap may be grey, or have a byte for what is transparent.
            if image.ndim == 2 or image.shape[2] == 1:
                return np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2)
            return np.array(image[:, :, :3])
        except pypdfium2.PdfiumError as error:
            raise _damaged(error) from error
        finally:
            document.close()


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


def _glyphs(textpage: Any, count: int) -> Iterator[Glyph]:
    """The characters of a page in its own order, without those that PDFium puts in."""
    import pypdfium2.raw as pdfium

    box, matrix, x, y = pdfium.FS_RECTF(), pdfium.FS_MATRIX(), c_double(), c_double()
    high = 0
    for at in range(count):
        if pdfium.FPDFText_IsGenerated(textpage, at) == 1:
            continue
        code = pdfium.FPDFText_GetUnicode(textpage, at)
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000 and high:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
        high = 0
        is_known = _is_character(code) and pdfium.FPDFText_HasUnicodeMapError(textpage, at) != 1
        text = "-" if pdfium.FPDFText_IsHyphen(textpage, at) == 1 else chr(code) if is_known else ""
        if text in "\r\n" and text:
            continue
        if not pdfium.FPDFText_GetLooseCharBox(textpage, at, byref(box)):
            continue
        x0, y0, x1, y1 = box.left, box.bottom, box.right, box.top
        size = pdfium.FPDFText_GetFontSize(textpage, at)
        turned = 0
        if pdfium.FPDFText_GetMatrix(textpage, at, byref(matrix)):
            size *= hypot(matrix.b, matrix.d) or 1.0
            angle = atan2(matrix.b, matrix.a) * 2 / pi
            turned = round(angle) % 4 if abs(angle - round(angle)) < 0.1 else -1
        if y1 - y0 > size * _TALL and not turned:
            # Boxes of fonts for formulas and rules span many lines: the baseline tells the line.
            pdfium.FPDFText_GetCharOrigin(textpage, at, byref(x), byref(y))
            y0, y1 = y.value - size * 0.22, y.value + size * 0.88
        if text.isspace() and text != "　":
            text = " "
        yield Glyph(text, x0, y0, x1, y1, size, turned)


def _is_character(code: int) -> bool:
    """Whether a code is a character of Unicode: no control, surrogate or noncharacter."""
    return (
        code == 9
        or code == 10
        or code == 13
        or code == 2
        or (0x20 <= code < 0x7F)
        or (
            code >= 0xA0
            and not 0xD800 <= code < 0xE000
            and code & 0xFFFE != 0xFFFE
            and code != 0xFFFD
        )
    )


def _rules(page: "PdfPage") -> Iterator[Box]:
    """What is drawn as lines and boxes: both long edges of a box count as rules."""
    import pypdfium2.raw as pdfium

    for at in range(min(pdfium.FPDFPage_CountObjects(page.raw), _RULES)):
        drawn = pdfium.FPDFPage_GetObject(page.raw, at)
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        x0, y0, x1, y1 = c_float(), c_float(), c_float(), c_float()
        if not pdfium.FPDFPageObj_GetBounds(drawn, byref(x0), byref(y0), byref(x1), byref(y1)):
            continue
        left, bottom, right, top = x0.value, y0.value, x1.value, y1.value
        yield from (
            (Box(left, bottom, right, bottom), Box(left, top, right, top))
            if top - bottom > 3
            else (Box(left, bottom, right, top),)
        )


_SMALL = 0.92
"""The size of notes is at most this share of the usual one."""
_ROOM = 1.9
"""A gap of so many heights between two lines, more than usual, parts two paragraphs."""


def flowing_text(pages: Sequence[Sequence[Line]]) -> tuple[str, list[int]]:
    """Join the lines of pages to paragraphs.

    Args:
        pages: the lines of each in reading order.

    Returns:
        The text, a line a paragraph or row of a table, and where each page begins in it.
    """
    words = words_of([line.text for page in pages for line in page])
    done: list[str] = []
    length = 0
    current = ""
    head = ""
    last: Line | None = None
    widths = _widths(pages)
    starts: list[int] = []
    usual = _usual_size(pages)
    for page in pages:
        is_new_page = True
        for line in _notes_first(page, usual, widths):
            text = drop_controls(line.text).strip(" ")
            if not text:
                continue
            if is_new_page and line.is_row and last is not None and last.is_row and text == head:
                continue  # The head of a table that goes on from the page before.
            if line.is_row and line.opens:
                head = text
            if last is not None and _is_joined(last, line, current, text, widths):
                joined = join(current, text, words)
                if is_new_page:
                    starts.append(length + len(joined) - len(text))
                current = joined
            else:
                if current:
                    done.append(current)
                    length += len(current) + 1
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


def _usual_size(pages: Sequence[Sequence[Line]]) -> float:
    sizes: Counter[float] = Counter()
    for line in (line for page in pages for line in page):
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _notes_first(
    page: Sequence[Line], usual: float, widths: dict[tuple[int, int], float]
) -> Sequence[Line]:
    """A page with its notes before the paragraph that runs over its end.

    Notes in small type at the foot, or what is printed across, would part the paragraph.
    """
    foot = len(page)
    while foot and (page[foot - 1].size < usual * _SMALL or page[foot - 1].frame != page[0].frame):
        foot -= 1
    if foot in (0, len(page)) or ends_sentence(page[foot - 1].text):
        return page
    begin = foot - 1
    while begin and _is_joined(
        page[begin - 1], page[begin], page[begin - 1].text, page[begin].text.strip(), widths
    ):
        begin -= 1
    if not begin:
        return page
    return [*page[:begin], *page[foot:], *page[begin:foot]]


def _widths(pages: Sequence[Sequence[Line]]) -> dict[tuple[int, int], float]:
    """The usual width of the columns of each size: a page with one short line does not show it."""
    found: dict[tuple[int, int], list[float]] = {}
    for line in (line for page in pages for line in page if not line.is_row):
        found.setdefault((line.frame, round(line.size)), []).append(line.width)
    return {key: median(widths) for key, widths in found.items()}


def _is_joined(
    last: Line,
    line: Line,
    before: str,
    text: str,
    widths: dict[tuple[int, int], float],
) -> bool:
    """Whether a line belongs to the paragraph of the one before."""
    if last.is_row or line.is_row or last.frame != line.frame:
        return False
    size = max(last.size, line.size, 0.1)
    if abs(last.size - line.size) > size * 0.12:
        return False
    if not line.opens and line.gap > _ROOM:
        return False
    usual = widths.get((last.frame, round(last.size)), last.width)
    room, width = last.room + max(0.0, usual - last.width), max(usual, last.width)
    is_indented = line.indent > last.indent + size * 0.7 and not begins_item(last.text)
    if ends_sentence(before):
        is_full = room < size * 2.5
        return is_full and not is_indented and not begins_item(text) and not line.opens
    # Items and terms have their further lines indented; those of a sentence follow a full line.
    is_hanging = room < size * 2.5 or text[0].islower() or last.text.rstrip().endswith(("-", "‐"))
    if is_indented and not is_hanging:
        return False
    return goes_on(last.text.strip(), text, room=room, width=width)


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
