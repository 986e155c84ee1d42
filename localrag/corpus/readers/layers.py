"""Layers of a PDF (optional content) that are switched off: their text is marked as hidden.

PDFium draws no such layer, but gives its characters. So pypdf, which has the objects of a file,
puts the text of those layers between marks, which tell them apart afterwards.
"""

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PdfWriter

HIDDEN = "localragHidden"
"""The mark around text in a layer that is switched off."""
_SHOWS = (b"Tj", b"TJ", b"'", b'"')


def without_hidden_layers(data: bytes) -> tuple[bytes, int]:
    """A PDF whose hidden text is marked, and how many of its layers are switched off.

    Args:
        data: the file.

    Raises:
        Exception: of pypdf, where it cannot read the file.
    """
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
    """What a dictionary has under a name, as it is written there: a reference, as a rule."""
    return entries.raw_get(key) if hasattr(entries, "raw_get") and key in entries else None


def _number(value: Any) -> int:
    """The number of an object, by which a layer is known; 0 for what is no object of its own."""
    reference = value if hasattr(value, "idnum") else getattr(value, "indirect_reference", None)
    return int(getattr(reference, "idnum", 0) or 0)


def _switched_off(root: Any) -> frozenset[int]:
    """The layers that are off in the configuration that a viewer begins with."""
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
    """Marks the hidden text of pages and of the forms that they show."""

    def __init__(self, writer: "PdfWriter", off: frozenset[int]) -> None:
        self._writer, self._off = writer, off
        self._forms: dict[int, Any] = {}

    def mark(self, page: Any) -> None:
        """Mark the text of a page that is in a hidden layer."""
        content = page.get_contents()
        if content is not None and self._marked(content, _resolved(page.get("/Resources", {}))):
            page.replace_contents(content)

    def _marked(self, content: Any, resources: Any) -> bool:
        """Mark the operations of a content, and those of the forms in it; tell if any is hidden."""
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
        """A form with its hidden text marked: a new one, or itself."""
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
        """Whether a layer, or what several layers make together, is not shown."""
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
