"""The printed text of PDF pages, found by PDFium; runs in a separate process.

PDFium knows all predefined CMaps, unlike pypdf, and gives place and font mapping of each character.
pdfminer.six takes ten times as long and has no vertical layout (``scripts/bench/pdf_text.py``).
"""

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from ctypes import addressof, byref, c_double, c_float, c_uint, c_ulong, c_ushort
from dataclasses import dataclass, field
from itertools import islice
from math import atan2, hypot, pi
from statistics import median
from typing import TYPE_CHECKING, Any

from localrag.corpus.readers.annotations import (
    HIDDEN,
    IN_TEXT,
    Attachment,
    Put,
    attached,
    attached_to,
    bookmarks,
    has_fields,
    put_on,
    without_hidden_layers,
)
from localrag.corpus.readers.layout import Box, Glyph, Segment, segment, segments, without_ruby
from localrag.corpus.readers.ocr import ScannedPage
from localrag.corpus.readers.types import Limits, Omission, omitted
from localrag.errors import InputError
from localrag.language import N_

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

# Memory per character until it is stored, and cost of a page besides its text.
_BYTES_A_CHARACTER, _PAGE = 20, 1_000
# Memory per character during layout.
_BYTES_LAID_OUT = 2_000
_STREAM = re.compile(rb"stream\r?\n")
_DICTIONARY, _LITTLE, _STEP = 2_000, 100_000, 1 << 18
# Memory for objects of some operators and strings, in bytes.
_MARKS = {b"(": 350, b"<": 350, b"T": 320, b"q": 140, b"m": 250, b"re": 250}
# Maximum share of unnamed characters on a readable page.
_MOST_UNKNOWN = 0.1
_PASSWORD_NEEDED = 4
_TALL = 1.6
# Drawn objects examined for rules of tables, and for the rest.
_RULES, _OBJECTS = 4_000, 1_000_000
_MARKS_AROUND, _MOST_BLANKS = 40, 200
_WHITE, _BLANK = 250, 0x20
# Accents printed alone, by their combining form.
_ACCENTS = {"\u0300": "`", "\u0301": "´", "\u0302": "^", "\u0303": "~", "\u0308": "¨"}
_LAST = 1 << 30
RUBY = N_("ruby readings")
UNSEEN = N_("characters that are not seen: invisible, white on white, or in a hidden layer")


_DOTS_PER_INCH, _POINTS_PER_INCH = 300, 72
# A pixel takes three bytes, twice during rendering.
_BYTES_A_PIXEL = 6


@dataclass(slots=True)
class Printed:
    """The text of a page."""

    parts: Sequence[Segment]  # its segments; none without readable text
    box: Box  # of the page
    rules: Sequence[Box] = ()  # drawn lines and boxes
    unknown: int = 0  # number of characters unnamed by their fonts
    is_unreadable: bool = False  # whether these are too many
    is_blank: bool = False  # whether nothing is drawn on it
    scanned: ScannedPage | None = None  # the page as read by OCR; None for text in the file
    put: Sequence[Segment] = ()  # segments shown by fields and annotations


@dataclass(slots=True)
class PrintedFile:
    """The content of a file."""

    pages: list[Printed]  # the text of each
    omissions: list[Omission]  # unread parts, and parts with a remark
    attachments: list[Attachment] = field(default_factory=list)
    bookmarks: list[str] = field(default_factory=list)  # their titles


def printed(data: bytes, limits: Limits) -> PrintedFile:
    """Read the text of each page, even if pages share content."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    if _unpacks_to_too_much(data, limits.memory_bytes):
        raise _too_much()
    document = _opened(data)
    try:
        layers, omissions = 0, []
        if _has_layers(document):
            try:
                data, layers = without_hidden_layers(data)
            except Exception:  # noqa: BLE001 - hostile files find every path through a parser
                omissions.append(Omission(N_("layers that may be switched off"), 1, True))
            if layers:
                document.close()
                document = _opened(data)
                omissions.append(Omission(N_("layers that are switched off"), layers))
        file = _read_pages(document, limits)
        is_xfa = document.get_formtype() == pdfium.FORMTYPE_XFA_FOREGROUND
        if is_xfa and not any(map(has_fields, _pages(document))):
            raise _xfa()  # Its page asks to wait, or for another program.
        file.omissions += omissions
    except pypdfium2.PdfiumError as error:
        raise _damaged(error) from error
    finally:
        document.close()
    if not file.pages:
        raise InputError(N_("The PDF is damaged: it has no pages."), N_("Download the file again."))
    return file


def _opened(data: bytes) -> "PdfDocument":
    import pypdfium2
    import pypdfium2.raw as pdfium

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_NEEDED:
            raise InputError(
                N_("The PDF is encrypted."),
                N_("Save a copy without a password (print to PDF) and add that."),
            ) from error
        raise _damaged(error) from error
    if document.get_formtype() == pdfium.FORMTYPE_XFA_FULL:
        document.close()
        raise _xfa()
    document.init_forms()
    return document


def _xfa() -> InputError:
    return InputError(
        N_("The PDF is a form in XFA, which only Adobe's programs show."),
        N_("Open it in Adobe Acrobat, print it to PDF, and add that."),
    )


def _read_pages(document: "PdfDocument", limits: Limits) -> PrintedFile:
    most = min(limits.file_bytes, limits.memory_bytes // _BYTES_A_CHARACTER)
    # Empty pages count too: a file may have millions.
    if len(document) * _PAGE > most:
        raise _too_much()
    left, room = most, limits.file_bytes
    counts = Counter[str]()
    file = PrintedFile([], [])
    for page in _pages(document):
        read, length = _read_page(page, limits.memory_bytes // _BYTES_LAID_OUT, counts)
        lines = put_on(page, document.formenv, counts)
        left -= length + _PAGE + sum(len(line.text) for line in lines)
        if left < 0 or length > limits.memory_bytes // _BYTES_LAID_OUT:
            raise _too_much()
        read.put = _segments_put(lines, read)
        file.pages.append(read)
        file.attachments += attached_to(page, room - _size(file))
    file.attachments += attached(document, room - _size(file))
    file.bookmarks = bookmarks(document)
    file.omissions = omitted(counts, IN_TEXT)
    return file


def _size(file: PrintedFile) -> int:
    return sum(len(content or b"") for _, content in file.attachments)


def _segments_put(lines: Sequence[Put], page: Printed) -> list[Segment]:
    """Added text of a page, each after the text left of it on its line."""
    usual = median([part.size for part in page.parts]) if page.parts else 10.0
    parts = [part for part in page.parts if part.frame == 0]
    out = []
    for at, line in enumerate(lines):
        middle = (line.box.y0 + line.box.y1) / 2
        before = [
            part.order + len(part.text) - 0.5
            for part in parts
            if part.page_box.y0 <= middle <= part.page_box.y1 and part.page_box.x0 <= line.box.x0
        ]
        order = max(before, default=_LAST + at)
        out.append(segment(line.text, line.box, line.size or usual, order))
    return out


def _has_layers(document: "PdfDocument") -> bool:
    """Whether any object may belong to a layer."""
    import pypdfium2.raw as pdfium

    for page in _pages(document):
        for drawn in _drawn(page.raw):
            kind = pdfium.FPDFPageObj_GetType(drawn)
            if kind == pdfium.FPDF_PAGEOBJ_FORM or _is_marked(drawn, "OC"):
                return True
    return False


def _drawn(page: Any) -> Iterator[Any]:
    import pypdfium2.raw as pdfium

    for at in range(min(pdfium.FPDFPage_CountObjects(page), _OBJECTS)):
        yield pdfium.FPDFPage_GetObject(page, at)


def _is_marked(drawn: Any, name: str) -> bool:
    import pypdfium2.raw as pdfium

    buffer, size = (c_ushort * 32)(), c_ulong()
    for at in range(min(pdfium.FPDFPageObj_CountMarks(drawn), _MARKS_AROUND)):
        mark = pdfium.FPDFPageObj_GetMark(drawn, at)
        pdfium.FPDFPageObjMark_GetName(mark, buffer, 64, byref(size))
        if bytes(buffer)[: max(0, size.value - 2)].decode("utf-16-le", "replace") == name:
            return True
    return False


def _too_much() -> InputError:
    return InputError(N_("The PDF unpacks to too much text."), N_("Split it into several files."))


def _unpacks_to_too_much(data: bytes, most: int) -> bool:
    """Whether the instruction streams make too many objects for the memory."""
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


def _damaged(error: Exception) -> InputError:
    # pypdfium2 puts PDFium's message in brackets: Failed to … (PDFium: Data format error).
    said = re.search(r"\((PDFium: [^()]+)\)", str(error))
    return InputError(
        N_("The PDF is damaged ({problem})."),
        N_("Download the file again."),
        problem=said[1] if said else error,
    )


def _pages(document: "PdfDocument") -> Iterator["PdfPage"]:
    for number in range(len(document)):
        page = document[number]
        try:
            yield page
        finally:
            page.close()


def _read_page(page: "PdfPage", most: int, counts: Counter[str]) -> tuple[Printed, int]:
    """The text of a page and its number of characters; no text if too many."""
    import pypdfium2.raw as pdfium

    box = Box(*page.get_bbox())
    unseen = _Unseen(page, box)
    textpage = page.get_textpage()
    try:
        count = textpage.count_chars()
        if count > most:
            return Printed((), box), count
        glyphs = _with_accents(list(_glyphs(textpage.raw, count, unseen)))
    finally:
        textpage.close()
    counts[UNSEEN] += unseen.count
    visible = sum(not glyph.text.isspace() for glyph in glyphs)
    unknown = sum(not glyph.text for glyph in glyphs)
    if unknown > visible * _MOST_UNKNOWN:
        return Printed((), box, unknown=unknown, is_unreadable=True), count
    shown = [glyph if glyph.text else glyph._replace(text="\ufffd") for glyph in glyphs]
    is_blank = not count and not pdfium.FPDFPage_CountObjects(page.raw)
    rules = list(_rules(page))
    parts, readings = without_ruby(segments(shown, rules))
    counts[RUBY] += readings
    return Printed(parts, box, rules, unknown, is_blank=is_blank), count


def picture(data: bytes, memory_bytes: int, number: int) -> tuple[bytes, int, int, int, int]:
    """Render a page (from 1): rows, bytes per row, height, width, bytes per pixel."""
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    try:
        page = document[number - 1]
        width, height = page.get_size()
        most = (memory_bytes / _BYTES_A_PIXEL / max(1.0, width * height)) ** 0.5
        scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, most)
        # Fields and annotations are read from the file.
        image = page.render(
            scale=scale, rev_byteorder=True, draw_annots=False, may_draw_forms=False
        )
        return bytes(image.buffer), image.stride, image.height, image.width, image.n_channels
    except pypdfium2.PdfiumError as error:
        raise _damaged(error) from error
    finally:
        document.close()


class _Unseen:
    """Invisible characters, counted: hidden layers, white on white, no ink.

    Invisible text over a picture is the text layer of a scan; it stays.
    """

    def __init__(self, page: "PdfPage", box: Box) -> None:
        import pypdfium2.raw as pdfium

        self.count = 0
        self._known: dict[int, str] = {}
        self._box = box
        self._pictures: list[Box] = []
        self._grounds: list[Box] = []
        self._is_sure = True
        for drawn in _drawn(page.raw):
            match pdfium.FPDFPageObj_GetType(drawn):
                case pdfium.FPDF_PAGEOBJ_IMAGE:
                    self._pictures.append(_bounds(drawn))
                case pdfium.FPDF_PAGEOBJ_PATH:
                    self._grounds.append(_bounds(drawn))
                case pdfium.FPDF_PAGEOBJ_TEXT:
                    pass
                case _:
                    # A form may contain the picture or the ground.
                    self._is_sure = False

    def take(self, textpage: Any, at: int, box: Box) -> bool:
        """Whether a character is invisible; counts it."""
        import pypdfium2.raw as pdfium

        drawn = pdfium.FPDFText_GetTextObject(textpage, at)
        if not drawn:
            return False
        address = addressof(drawn.contents)
        if address not in self._known:
            self._known[address] = _how_shown(drawn)
        how = self._known[address]
        is_unseen = how == "hidden" or (
            self._is_sure
            and (
                (how == "invisible" and not _is_in(box, self._pictures))
                or (how == "white" and not _is_in(box, [*self._pictures, *self._grounds]))
            )
        )
        self.count += is_unseen
        return is_unseen


def _how_shown(text: Any) -> str:
    """Whether a text is "hidden" (layer switched off), "invisible" or "white"; else ""."""
    import pypdfium2.raw as pdfium

    if _is_marked(text, HIDDEN):
        return "hidden"
    mode = pdfium.FPDFTextObj_GetTextRenderMode(text)
    if mode == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
        return "invisible"
    red, green, blue, alpha = c_uint(), c_uint(), c_uint(), c_uint()
    is_filled = mode == pdfium.FPDF_TEXTRENDERMODE_FILL and pdfium.FPDFPageObj_GetFillColor(
        text, byref(red), byref(green), byref(blue), byref(alpha)
    )
    if not is_filled:
        return ""
    if not alpha.value:
        return "invisible"
    return "white" if min(red.value, green.value, blue.value) >= _WHITE else ""


def _bounds(drawn: Any) -> Box:
    import pypdfium2.raw as pdfium

    x0, y0, x1, y1 = c_float(), c_float(), c_float(), c_float()
    if not pdfium.FPDFPageObj_GetBounds(drawn, byref(x0), byref(y0), byref(x1), byref(y1)):
        return Box(0.0, 0.0, 0.0, 0.0)
    return Box(x0.value, y0.value, x1.value, y1.value)


def _is_in(box: Box, others: Sequence[Box]) -> bool:
    x, y, near = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, (box.y1 - box.y0) / 2
    return any(
        other.x0 - near <= x <= other.x1 + near and other.y0 - near <= y <= other.y1 + near
        for other in others
    )


def _glyphs(textpage: Any, count: int, unseen: _Unseen) -> Iterator[Glyph]:
    """The characters of a page in its own order, without those added by PDFium."""
    import pypdfium2.raw as pdfium

    box, matrix, x, y = pdfium.FS_RECTF(), pdfium.FS_MATRIX(), c_double(), c_double()
    high = 0
    is_after_blank = False
    for at in range(count):
        code = pdfium.FPDFText_GetUnicode(textpage, at)
        if pdfium.FPDFText_IsGenerated(textpage, at) == 1:
            is_after_blank = is_after_blank or code == _BLANK
            continue
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
            # Boxes of fonts for formulas span many lines, so the baseline is used.
            pdfium.FPDFText_GetCharOrigin(textpage, at, byref(x), byref(y))
            y0, y1 = y.value - size * 0.22, y.value + size * 0.88
        if text.isspace() and text != "　":
            text = " "
        if text != " " and unseen.take(textpage, at, Box(x0, y0, x1, y1)):
            continue
        yield Glyph(text, x0, y0, x1, y1, size, turned, is_after_blank)
        is_after_blank = False


def _with_accents(glyphs: list[Glyph]) -> list[Glyph]:
    """The characters, with an accent over a space as a separate sign: `ls'."""
    if not any(glyph.text in _ACCENTS for glyph in glyphs):
        return glyphs
    blanks: dict[int, list[int]] = defaultdict(list)
    for at, glyph in enumerate(glyphs):
        if glyph.text == " ":
            blanks[round(glyph.x0)].append(at)
    out: list[Glyph | None] = list(glyphs)
    for at, glyph in enumerate(glyphs):
        if glyph.text not in _ACCENTS:
            continue
        near = (one for x in (-1, 0, 1) for one in blanks[round(glyph.x0) + x][:_MOST_BLANKS])
        below = (one for one in near if abs(glyphs[one].y0 - glyph.y0) < glyph.size * 0.5)
        if (blank := next(below, None)) is not None:
            out[blank], out[at] = glyphs[blank]._replace(text=_ACCENTS[glyph.text]), None
    return [glyph for glyph in out if glyph is not None]


def _is_character(code: int) -> bool:
    """Whether a code is a character: no control, surrogate or noncharacter."""
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
    """Drawn lines, and the horizontal edges of drawn boxes."""
    import pypdfium2.raw as pdfium

    for drawn in islice(_drawn(page.raw), _RULES):
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        left, bottom, right, top = _bounds(drawn)
        yield from (
            (Box(left, bottom, right, bottom), Box(left, top, right, top))
            if top - bottom > 3 and right - left > 3
            else (Box(left, bottom, right, top),)
        )
