"""What a PDF has beside the text of its pages: fields, annotations, attachments, bookmarks.

PDFium gives them apart from the characters of a page. Values of fields and text that was typed onto
a page are read where they are shown. Comments and signatures are counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from ctypes import byref, c_float, c_ulong, c_ushort, create_string_buffer
from typing import TYPE_CHECKING, Any, NamedTuple

from localrag.corpus.readers.layout import Box
from localrag.corpus.readers.text import drop_controls
from localrag.language import N_

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

COMMENTS = N_("comments")
FIELDS = N_("form fields that were filled in")
HIDDEN_FIELDS = N_("form fields that are not shown")
TYPED = N_("texts that were typed onto pages")
STRUCK = N_("passages struck out by an annotation")
TO_REDACT = N_("passages marked for redaction, with their text still there")
STAMPS = N_("stamps")
SIGNATURES = N_("signatures")
MEDIA = N_("sounds, films and 3D models")
IN_TEXT = frozenset({FIELDS, TYPED, STRUCK, TO_REDACT})
"""What is read and needs a word; the others are not read."""
_MOST, _LONGEST = 20_000, 100_000
"""Annotations of a page, options of a field; characters of one."""
_MOST_BOOKMARKS, _DEEPEST = 20_000, 15
_PASSWORD = 1 << 13
_LINE = 1.3
"""Heights of a font from one line to the next."""


class Put(NamedTuple):
    """A line that is shown on a page, and is no text of it.

    Attributes:
        text: of one line.
        box: where it is shown.
        size: of its font; 0 where it is not known.
    """

    text: str
    box: Box
    size: float


Attachment = tuple[str, bytes | None]
"""The name of a file in a PDF and its bytes; None where they are too many, or not there."""


def put_on(page: "PdfPage", form: Any, counts: Counter[str]) -> list[Put]:
    """What fields and annotations show on a page.

    Args:
        page: of the file.
        form: PDFium's handle of its forms; None where it has none.
        counts: takes the number of what is named, by kind.
    """
    import pypdfium2.raw as pdfium

    out: list[Put] = []
    hidden = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
    for annotation in _annotations(page):
        is_shown = not pdfium.FPDFAnnot_GetFlags(annotation) & hidden
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET:
            if form is not None:
                out += _field(form, annotation, is_shown, counts)
        elif is_shown:
            out += _annotation(annotation, kind, counts)
    return out


def has_fields(page: "PdfPage") -> bool:
    """Whether a page has fields of a form."""
    import pypdfium2.raw as pdfium

    kinds = map(pdfium.FPDFAnnot_GetSubtype, _annotations(page))
    return pdfium.FPDF_ANNOT_WIDGET in kinds


def _annotations(page: "PdfPage") -> Iterator[Any]:
    """The annotations of a page; each is closed when the next one is asked for."""
    import pypdfium2.raw as pdfium

    for at in range(min(pdfium.FPDFPage_GetAnnotCount(page.raw), _MOST)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, at)
        if annotation:
            try:
                yield annotation
            finally:
                pdfium.FPDFPage_CloseAnnot(annotation)


def _annotation(annotation: Any, kind: int, counts: Counter[str]) -> Iterator[Put]:
    import pypdfium2.raw as pdfium

    said = _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
    match kind:
        case pdfium.FPDF_ANNOT_FREETEXT:
            counts[TYPED] += bool(said)
            yield from _lines(said, _box(annotation), 0.0)
        case pdfium.FPDF_ANNOT_STAMP:
            counts[STAMPS] += 1
        case pdfium.FPDF_ANNOT_STRIKEOUT:
            counts[STRUCK] += 1
            counts[COMMENTS] += bool(said)
        case pdfium.FPDF_ANNOT_REDACT:
            counts[TO_REDACT] += 1
        case (
            pdfium.FPDF_ANNOT_SOUND
            | pdfium.FPDF_ANNOT_MOVIE
            | pdfium.FPDF_ANNOT_SCREEN
            | pdfium.FPDF_ANNOT_RICHMEDIA
            | pdfium.FPDF_ANNOT_THREED
        ):
            counts[MEDIA] += 1
        case pdfium.FPDF_ANNOT_LINK | pdfium.FPDF_ANNOT_POPUP:
            pass
        case _:
            counts[COMMENTS] += bool(said)


def _field(form: Any, widget: Any, is_shown: bool, counts: Counter[str]) -> Iterator[Put]:
    """What a field of a form shows."""
    import pypdfium2.raw as pdfium

    kind = pdfium.FPDFAnnot_GetFormFieldType(form, widget)
    is_secret = (
        kind == pdfium.FPDF_FORMFIELD_TEXTFIELD
        and pdfium.FPDFAnnot_GetFormFieldFlags(form, widget) & _PASSWORD
    )
    match kind:
        case pdfium.FPDF_FORMFIELD_CHECKBOX | pdfium.FPDF_FORMFIELD_RADIOBUTTON:
            is_set = pdfium.FPDFAnnot_IsChecked(form, widget)
            text = "☑" if is_set else "☐" if is_shown else ""
        case pdfium.FPDF_FORMFIELD_COMBOBOX | pdfium.FPDF_FORMFIELD_LISTBOX:
            text = _chosen(form, widget)
        case pdfium.FPDF_FORMFIELD_TEXTFIELD:
            text = _string(pdfium.FPDFAnnot_GetFormFieldValue, form, widget)
        case pdfium.FPDF_FORMFIELD_SIGNATURE:
            counts[SIGNATURES] += bool(pdfium.FPDFAnnot_HasKey(widget, b"V"))
            return
        case _:
            return
    if not text.strip():
        return
    if is_secret or not is_shown:
        counts[HIDDEN_FIELDS] += 1
        return
    counts[FIELDS] += text != "☐"
    size = c_float()
    pdfium.FPDFAnnot_GetFontSize(form, widget, byref(size))
    yield from _lines(text, _box(widget), size.value)


def _chosen(form: Any, widget: Any) -> str:
    """The options of a list that are chosen, as they are shown; else the value of the field."""
    import pypdfium2.raw as pdfium

    count = min(pdfium.FPDFAnnot_GetOptionCount(form, widget), _MOST)
    chosen = [
        _string(pdfium.FPDFAnnot_GetOptionLabel, form, widget, at)
        for at in range(count)
        if pdfium.FPDFAnnot_IsOptionSelected(form, widget, at)
    ]
    return "\n".join(chosen) or _string(pdfium.FPDFAnnot_GetFormFieldValue, form, widget)


def _lines(text: str, box: Box, size: float) -> Iterator[Put]:
    """The lines of a text in its box, from the top down."""
    found = [drop_controls(line).strip() for line in text.splitlines()]
    found = [line for line in found if line]
    if not found:
        return
    height = box.y1 - box.y0
    if not 1 < size < height:
        size = min(height * 0.7, height / len(found) / _LINE)
    if len(found) == 1:
        middle = (box.y0 + box.y1) / 2 if height < size * 2 * _LINE else box.y1 - size * _LINE / 2
        yield Put(found[0], Box(box.x0, middle - size / 2, box.x1, middle + size / 2), size)
        return
    step = min(size * _LINE, height / len(found))
    for at, line in enumerate(found):
        top = box.y1 - at * step
        right = min(box.x1, box.x0 + len(line) * size)
        yield Put(line, Box(box.x0, top - step, right, top - step * 0.1), step * 0.8)


def _box(annotation: Any) -> Box:
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, byref(box))
    left, right = sorted((box.left, box.right))
    bottom, top = sorted((box.bottom, box.top))
    return Box(left, bottom, right, top)


def _string(get: Callable[..., int], *given: Any) -> str:
    """A text that PDFium gives as UTF-16, whose length it says first, in bytes."""
    size = get(*given, None, 0)
    if not 2 < size <= 2 * _LONGEST:
        return ""
    buffer = (c_ushort * (size // 2))()
    get(*given, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", errors="replace").replace("\x00", "")


def attached(document: "PdfDocument", most: int) -> list[Attachment]:
    """The files in a PDF, those attached to pages too: their names and bytes.

    Args:
        document: the file.
        most: bytes that they may have together.
    """
    import pypdfium2.raw as pdfium

    found = [
        pdfium.FPDFDoc_GetAttachment(document.raw, at)
        for at in range(min(pdfium.FPDFDoc_GetAttachmentCount(document.raw), _MOST))
    ]
    out: list[Attachment] = []
    for one in found:
        content = _content(one, most)
        most -= len(content or b"")
        out.append((_string(pdfium.FPDFAttachment_GetName, one), content))
    return out


def attached_to(page: "PdfPage", most: int) -> list[Attachment]:
    """The files that annotations of a page hold; as `attached`."""
    import pypdfium2.raw as pdfium

    out: list[Attachment] = []
    for annotation in _annotations(page):
        if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_FILEATTACHMENT:
            one = pdfium.FPDFAnnot_GetFileAttachment(annotation)
            content = _content(one, most)
            most -= len(content or b"")
            out.append((_string(pdfium.FPDFAttachment_GetName, one) if one else "", content))
    return out


def _content(attachment: Any, most: int) -> bytes | None:
    import pypdfium2.raw as pdfium

    size = c_ulong()
    if not attachment or not pdfium.FPDFAttachment_GetFile(attachment, None, 0, byref(size)):
        return None
    if size.value > most:
        return None
    buffer = create_string_buffer(max(1, size.value))
    if not pdfium.FPDFAttachment_GetFile(attachment, buffer, size.value, byref(size)):
        return None
    return buffer.raw[: size.value]


def bookmarks(document: "PdfDocument") -> list[str]:
    """The titles of the bookmarks of a file, in order."""
    out: list[str] = []
    for one in document.get_toc(max_depth=_DEEPEST):
        out.append(" ".join(one.get_title().split()))
        if len(out) >= _MOST_BOOKMARKS:
            break
    return out
