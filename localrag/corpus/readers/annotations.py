"""PDF content beside the text of pages: fields, annotations, attachments, layers.

Field values and typed text are read at their place. PDFium does not draw hidden layers but gives
their characters. So pypdf first marks this text.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import byref, c_float, c_ulong, c_ushort, create_string_buffer
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from localrag.corpus.readers.layout import Box
from localrag.corpus.readers.text import drop_controls
from localrag.language import N_

if TYPE_CHECKING:
    from pypdf import PdfWriter
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
"""Read, with a remark; the others are not read."""
# Limits: annotations of a page or options of a field; characters of one.
_MOST, _LONGEST = 20_000, 100_000
_MOST_BOOKMARKS, _DEEPEST = 20_000, 15
_PASSWORD = 1 << 13
# Line distance in font heights.
_LINE = 1.3


class Put(NamedTuple):
    """A line shown on a page outside its text."""

    text: str  # of one line
    box: Box
    size: float  # of its font; 0 if unknown


Attachment = tuple[str, bytes | None]
"""Name and bytes of a file in a PDF; None if too large or missing."""


def put_on(page: "PdfPage", form: Any, counts: Counter[str]) -> list[Put]:
    """Text shown by fields and annotations of a page."""
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
    """Whether a page has form fields."""
    import pypdfium2.raw as pdfium

    kinds = map(pdfium.FPDFAnnot_GetSubtype, _annotations(page))
    return pdfium.FPDF_ANNOT_WIDGET in kinds


def _annotations(page: "PdfPage") -> Iterator[Any]:
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
    """The chosen options of a list, or the value of the field."""
    import pypdfium2.raw as pdfium

    count = min(pdfium.FPDFAnnot_GetOptionCount(form, widget), _MOST)
    chosen = [
        _string(pdfium.FPDFAnnot_GetOptionLabel, form, widget, at)
        for at in range(count)
        if pdfium.FPDFAnnot_IsOptionSelected(form, widget, at)
    ]
    return "\n".join(chosen) or _string(pdfium.FPDFAnnot_GetFormFieldValue, form, widget)


def _lines(text: str, box: Box, size: float) -> Iterator[Put]:
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
    """A UTF-16 text from PDFium, asked for its length in bytes first."""
    size = get(*given, None, 0)
    if not 2 < size <= 2 * _LONGEST:
        return ""
    buffer = (c_ushort * (size // 2))()
    get(*given, buffer, size)
    return bytes(buffer)[: size - 2].decode("utf-16-le", errors="replace").replace("\x00", "")


def attached(document: "PdfDocument", most: int) -> list[Attachment]:
    """Names and bytes of the files in a PDF, with those attached to pages."""
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
    """Files in the annotations of a page; as `attached`."""
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
    """The titles of the bookmarks, in order."""
    out: list[str] = []
    for one in document.get_toc(max_depth=_DEEPEST):
        out.append(" ".join(one.get_title().split()))
        if len(out) >= _MOST_BOOKMARKS:
            break
    return out


HIDDEN = "localragHidden"
"""Mark around text in a layer switched off."""
_SHOWS = (b"Tj", b"TJ", b"'", b'"')


def without_hidden_layers(data: bytes) -> tuple[bytes, int]:
    """A PDF with its hidden text marked, and the number of layers switched off."""
    from pypdf import PdfReader, PdfWriter

    reader = PdfReader(BytesIO(data))
    off = _switched_off(_resolved(reader.trailer["/Root"]))
    if not off:
        return data, 0
    writer = PdfWriter(clone_from=reader)
    off = _switched_off(_resolved(writer.root_object))
    marker = _Marker(writer, off)
    for page in writer.pages:
        marker.mark(page)
    out = BytesIO()
    writer.write(out)
    return out.getvalue(), len(off)


def _resolved(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value


def _entry(entries: Any, key: Any) -> Any:
    return entries.raw_get(key) if hasattr(entries, "raw_get") and key in entries else None


def _number(value: Any) -> int:
    reference = value if hasattr(value, "idnum") else getattr(value, "indirect_reference", None)
    return int(getattr(reference, "idnum", 0) or 0)


def _switched_off(root: Any) -> frozenset[int]:
    properties = _resolved(root.get("/OCProperties", {}))
    usual = _resolved(properties.get("/D", {}))
    off = {_number(one) for one in _items(usual.get("/OFF"))}
    if usual.get("/BaseState") == "/OFF":
        on = {_number(one) for one in _items(usual.get("/ON"))}
        off |= {_number(one) for one in _items(properties.get("/OCGs"))} - on
    return frozenset(off - {0})


def _items(value: Any) -> Iterable[Any]:
    found = _resolved(value)
    return found if isinstance(found, list) else ()


_Operation = tuple[Sequence[Any], bytes]


class _Marker:
    """Marks the hidden text of pages and of their forms."""

    def __init__(self, writer: "PdfWriter", off: frozenset[int]) -> None:
        self._writer, self._off = writer, off
        self._forms: dict[int, Any] = {}

    def mark(self, page: Any) -> None:
        content = page.get_contents()
        if content is not None and self._marked(content, _resolved(page.get("/Resources", {}))):
            page.replace_contents(content)

    def _marked(self, content: Any, resources: Any) -> bool:
        """Mark the operations of a content and its forms; return whether any is hidden."""
        from pypdf.generic import NameObject

        properties = _resolved(resources.get("/Properties", {}))
        shown = _resolved(resources.get("/XObject", {}))
        begin: _Operation = ([NameObject(f"/{HIDDEN}")], b"BMC")
        end: _Operation = ([], b"EMC")
        out: list[_Operation] = []
        nested: list[bool] = []
        is_changed = False
        for given, operator in content.operations:
            if operator in (b"BDC", b"BMC"):
                is_layer = operator == b"BDC" and len(given) == 2 and given[0] == "/OC"
                nested.append(is_layer and self._is_off(_entry(properties, given[1])))
            elif operator == b"EMC" and nested:
                nested.pop()
            form = _resolved(_entry(shown, given[0])) if operator == b"Do" and given else None
            if form is not None and form.get("/Subtype") == "/Form":
                if any(nested) or self._is_off(_entry(form, "/OC")):
                    is_changed = True
                    continue
                shown[given[0]] = self._form(_entry(shown, given[0]), resources)
            if operator in _SHOWS and any(nested):
                out += [begin, (given, operator), end]
                is_changed = True
            else:
                out.append((given, operator))
        if is_changed:
            content.operations = out
        return is_changed

    def _form(self, reference: Any, around: Any) -> Any:
        """A form with its hidden text marked: new, or unchanged."""
        from pypdf.generic import ContentStream, DecodedStreamObject

        number = _number(reference)
        if number not in self._forms:
            self._forms[number] = reference
            form = _resolved(reference)
            content = ContentStream(form, self._writer)
            if self._marked(content, _resolved(form.get("/Resources", around))):
                new = DecodedStreamObject()
                packed = ("/Filter", "/DecodeParms", "/Length")
                new.update({key: value for key, value in form.items() if key not in packed})
                new.set_data(content.get_data())
                self._forms[number] = self._writer._add_object(new)
        return self._forms[number]

    def _is_off(self, layer: Any) -> bool:
        if layer is None:
            return False
        found = _resolved(layer)
        if found.get("/Type") != "/OCMD":
            return _number(layer) in self._off
        groups = _resolved(found.get("/OCGs", []))
        members = list(_items(groups)) or [_entry(found, "/OCGs")]
        states = [_number(one) in self._off for one in members if _number(one)]
        if not states:
            return False
        match found.get("/P", "/AnyOn"):
            case "/AllOn":
                return any(states)
            case "/AnyOff":
                return not any(states)
            case "/AllOff":
                return not all(states)
            case _:
                return all(states)
