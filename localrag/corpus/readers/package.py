"""Office Open XML packages (DOCX, XLSX, PPTX): parts, relations, names, text in drawings.

Strict Open XML has other namespaces than the usual transitional form. `name` and `value` treat both
alike. Files in the container used before 2007 are no packages; see `no_package`.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from typing import IO, Any, NamedTuple

from lxml import etree

from localrag.corpus.readers.bounds import MARKUP, check_memory, parsed_xml
from localrag.corpus.readers.text import cell, drop_controls
from localrag.corpus.readers.types import Limits
from localrag.corpus.readers.zip_archive import unpacked_member
from localrag.errors import InputError
from localrag.language import N_

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of the container used before 2007, and of encrypted files."""
STRICT = "http://purl.oclc.org/ooxml/"
"""Prefix of the namespaces of Strict Open XML."""

# The stream name in encrypted documents, as stored in the directory.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_BLOCK = 1 << 20
_TRANSITIONAL = "http://schemas.openxmlformats.org/"
_MICROSOFT = "http://schemas.microsoft.com/office/"
_PREFIXES = {
    "wordprocessingml/main": "w",
    "officeDocument/math": "m",
    "officeDocument/relationships": "r",
    "drawingml/main": "a",
    "drawingml/picture": "pic",
    "drawingml/chart": "c",
    "drawingml/diagram": "dgm",
    "drawingml/wordprocessingDrawing": "wp",
    "markup-compatibility": "mc",
    "package/relationships": "rel",
    "word/wordprocessingShape": "wps",
    "word/wordml": "w14",
    "urn:schemas-microsoft-com:vml": "v",
    "urn:schemas-microsoft-com:office:office": "o",
}
_YEAR = re.compile("/20[0-9]{2}(?=/|$)")
_OFF = frozenset(["0", "false", "off", "none"])


@lru_cache(maxsize=4096)
def short_name(tag: str) -> str:
    """The name of an element with its usual prefix, strict or transitional: ``w:p``."""
    namespace, _, local = tag.rpartition("}")
    return f"{_PREFIXES.get(_family(namespace[1:]), '')}:{local}"


def _family(namespace: str) -> str:
    for host in (_TRANSITIONAL, STRICT, _MICROSOFT):
        namespace = namespace.removeprefix(host)
    return _YEAR.sub("", namespace)


def name(element: etree._Element) -> str:
    """The name of an element as ``w:p``; "" for comments and processing instructions."""
    tag: Any = element.tag
    return short_name(tag) if isinstance(tag, str) else ""


def value(element: etree._Element | None, attribute: str = "val", default: str = "") -> str:
    """An attribute in the namespace of its element, such as ``w:val`` of ``w:numId``."""
    if element is None:
        return default
    namespace = str(element.tag).rpartition("}")[0]
    found = element.get(f"{namespace}}}{attribute}") or element.get(attribute)
    return default if found is None else found


def is_on(element: etree._Element | None) -> bool:
    """Whether an on/off property is present and on."""
    return element is not None and value(element, default="on") not in _OFF


def child(element: etree._Element | None, *names: str) -> etree._Element | None:
    """The first child of a name, and so on down: ``child(p, "w:pPr", "w:numPr")``."""
    for wanted in names:
        if element is None:
            return None
        element = next((one for one in element if name(one) == wanted), None)
    return element


def number(text: str, default: int = 0) -> int:
    """A numeric attribute; `default` for other values."""
    return int(text) if re.fullmatch("-?[0-9]{1,9}", text) else default


class Relation(NamedTuple):
    """A relationship of a part."""

    kind: str  # the last word of its type: ``footnotes``
    target: str  # name of the part, or an external address


class Package:
    """A package; parts are unpacked and parsed on demand.

    Other files than zip raise BadZipFile, a missing part KeyError, a damaged or oversized one
    InputError.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._archive = zipfile.ZipFile(BytesIO(data))
        self._limits = limits
        self._relations: dict[str, dict[str, Relation]] = {}
        self._members = {
            member.filename.replace("\\", "/").lstrip("/").lower(): member
            for member in self._archive.infolist()
        }
        most = min(limits.file_bytes, max(len(data) * limits.growth, limits.small_bytes))
        if sum(member.file_size for member in self._archive.infolist()) > most:
            raise InputError(
                N_("The file unpacks to too much data."), N_("Check where it came from.")
            )

    def has(self, part: str) -> bool:
        """Whether a part exists."""
        return part.lower() in self._members

    def bytes_of(self, part: str) -> bytes:
        """The bytes of a part."""
        return unpacked_member(self._archive, self._members[part.lower()])

    def root(self, part: str) -> etree._Element:
        """The root of an XML part."""
        data = self.bytes_of(part)
        check_memory(data, MARKUP, self._limits)
        return parsed(data)

    def relations(self, part: str = "") -> dict[str, Relation]:
        """The relationships of a part, or of the package, by id."""
        if part not in self._relations:
            self._relations[part] = self._read_relations(part)
        return self._relations[part]

    def _read_relations(self, part: str) -> dict[str, Relation]:
        folder, base = posixpath.split(part)
        try:
            root = self.root(posixpath.join(folder, "_rels", f"{base}.rels"))
        except KeyError:
            return {}
        return {
            one.get("Id", ""): Relation(one.get("Type", "").rpartition("/")[2], _place(one, folder))
            for one in root
            if name(one) == "rel:Relationship"
        }

    def main(self, usual: str) -> str:
        """The name of the main part; `usual` if the package has none."""
        of_package = self.relations().values()
        return next((one.target for one in of_package if one.kind == "officeDocument"), usual)

    def related(self, part: str, kind: str) -> Iterator[etree._Element]:
        """The roots of the parts related to a part by a kind."""
        for relation in self.relations(part).values():
            if relation.kind == kind and self.has(relation.target):
                yield self.root(relation.target)


def relation_of(
    element: etree._Element, related: Mapping[str, Relation], name: str = "id"
) -> Relation | None:
    """The relation named by an attribute in the namespace of relationships."""
    for key, said in element.items():
        if str(key).endswith(f"}}{name}"):
            return related.get(str(said))
    return None


def is_encrypted(stream: IO[bytes]) -> bool:
    """Whether a password protects an Office file."""
    stream.seek(0)
    return stream.read(len(OLE)) == OLE and holds(stream, [_ENCRYPTED])


def protected() -> InputError:
    """The error for a password-protected file."""
    return InputError(
        N_("The file is protected with a password."),
        N_("Open it in its own program and save a copy without a password."),
    )


def no_package(stream: IO[bytes]) -> InputError:
    """The error for a file starting with `OLE`: encrypted, or in an old format."""
    if is_encrypted(stream):
        return protected()
    return InputError(
        N_("The file has the format that Office had before 2007."),
        N_("Open it in its own program and save it as .docx, .xlsx or .pptx."),
    )


def holds(stream: IO[bytes], words: Sequence[bytes]) -> bool:
    """Whether the rest of a stream, maybe a large one, has one of the words."""
    before, most = b"", max(map(len, words)) - 1
    while block := stream.read(_BLOCK):
        block = before + block
        if any(word in block for word in words):
            return True
        before = block[-most:]
    return False


def _place(relation: etree._Element, folder: str) -> str:
    target = relation.get("Target", "").replace("\\", "/")
    if relation.get("TargetMode") == "External":
        return target
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def parsed(data: bytes) -> etree._Element:
    """Parse a part; see `parsed_xml`."""
    return parsed_xml(
        data,
        N_("Open it in its own program and save it again."),
        N_("Check where it came from; no office program writes such a file."),
    )


def has_text(element: etree._Element, *of: str) -> bool:
    """Whether an element has characters, inside elements of the given names."""
    return any(name(one) in (of or ("w:t",)) and one.text for one in element.iter())


def chosen(alternates: etree._Element) -> etree._Element:
    """The alternative to read: the first, unless only the fallback has text."""
    choices = [one for one in alternates if name(one) == "mc:Choice"]
    fallback = child(alternates, "mc:Fallback")
    if not choices:
        return alternates if fallback is None else fallback
    if fallback is not None and not has_text(choices[0]) and has_text(fallback):
        return fallback
    return choices[0]


def shown_in(parent: etree._Element) -> Iterator[etree._Element]:
    """All shown elements inside one; text boxes are not entered."""
    for one in parent:
        kind = name(one)
        if kind == "mc:AlternateContent":
            yield from shown_in(chosen(one))
        elif kind in ("w:del", "w:moveFrom"):
            continue
        else:
            yield one
            if kind != "w:txbxContent":
                yield from shown_in(one)


def paragraphs(body: etree._Element | None) -> Iterator[str]:
    """Yield the paragraphs of a text box, one line each, without empty ones."""
    for paragraph in () if body is None else body.iterfind("{*}p"):
        if line := cell(drop_controls(_words(paragraph))):
            yield line


def _words(paragraph: etree._Element) -> str:
    parts = []
    for run in paragraph:
        tag = etree.QName(run).localname if isinstance(run.tag, str) else ""
        if tag in ("r", "fld"):
            parts.append("".join(text.text or "" for text in run.iterfind("{*}t")))
        elif tag == "br":
            parts.append("\n")
        elif tag == "AlternateContent":
            parts.append("".join(text.text or "" for text in chosen(run).iterfind(".//{*}t")))
    return "".join(parts)


def diagram(
    package: Package, parent: etree._Element, related: Mapping[str, Relation]
) -> list[str] | None:
    """The lines of a SmartArt diagram inside `parent`; None without one or its texts."""
    of_parts = parent.find(".//{*}relIds")
    relation = None if of_parts is None else relation_of(of_parts, related, "dm")
    if relation is None or not package.has(relation.target):
        return None
    texts = package.root(relation.target).iterfind("{*}ptLst/{*}pt/{*}t")
    return [line for text in texts for line in paragraphs(text)]
