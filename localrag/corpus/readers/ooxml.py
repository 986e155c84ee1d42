"""Files of Office Open XML (.xlsx, .pptx): their parts, and Strict ones as if they were not.

A Strict file says the same in other namespaces, which libraries do not read. They are written as
the transitional ones before anything is read.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import IO, NamedTuple

from lxml import etree

from localrag.corpus.readers.bounds import MARKUP, check_memory, unpacked_member
from localrag.corpus.readers.types import Limits
from localrag.errors import InputError
from localrag.language import N_

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"
_STRICT_BEGINS = b"http://purl.oclc.org/ooxml/"
_LONGEST_NAMESPACE = 200
_BLOCK = 1 << 20
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# The name of a stream in a document that Office has encrypted, as its directory has it.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def is_encrypted(data: bytes) -> bool:
    """Whether a file is one of Office that a password protects."""
    return data.startswith(_OLE) and _ENCRYPTED in data


def protected() -> InputError:
    """What is said of a file that a password protects."""
    return InputError(
        N_("The file is protected with a password."),
        N_("Open it in its own program and save a copy without a password."),
    )


def transitional(xml: bytes) -> bytes:
    """A part with the namespaces of a Strict file written as the transitional ones."""
    return _STRICT.sub(_TRANSITIONAL, xml) if _STRICT_BEGINS in xml else xml


def is_strict(archive: zipfile.ZipFile) -> bool:
    """Whether a file is Strict, by the relationships of its package."""
    with archive.open("_rels/.rels") as part:
        return _STRICT_BEGINS in part.read(_BLOCK)


def write_transitional(archive: zipfile.ZipFile, out: IO[bytes]) -> None:
    """Write an archive as `transitional`, a block at a time.

    Args:
        archive: what its members unpack to was bounded before.
        out: where to.
    """
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as written:
        for member in archive.infolist():
            with archive.open(member) as part, written.open(member.filename, "w") as new:
                if member.filename.endswith((".xml", ".rels")):
                    for block in _rewritten(part):
                        new.write(block)
                else:
                    while block := part.read(_BLOCK):
                        new.write(block)


def _rewritten(part: IO[bytes]) -> Iterator[bytes]:
    before = b""
    while block := part.read(_BLOCK):
        before += block
        # A namespace may go on in the next block: what begins one stays behind.
        begun = before.rfind(b"http", max(0, len(before) - _LONGEST_NAMESPACE))
        cut = len(before) if begun < 0 else begun
        yield transitional(before[:cut])
        before = before[cut:]
    yield transitional(before)


class Relation(NamedTuple):
    """What a part refers to.

    Attributes:
        kind: the last word of its type ("slide", "comments").
        target: the name of the other part; an address where it is outside the file.
    """

    kind: str
    target: str


class Package:
    """The parts of a file, unpacked when they are asked for.

    Args:
        data: the file.
        limits: bounds of it.

    Raises:
        InputError: it is damaged, or unpacks to too much.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._limits = limits
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, UnicodeDecodeError) as error:
            raise damaged() from error
        self._members = {member.filename: member for member in self._archive.infolist()}
        most = min(limits.file_bytes, max(len(data) * limits.growth, limits.small_bytes))
        if sum(member.file_size for member in self._members.values()) > most:
            raise InputError(
                N_("The file unpacks to too much data."),
                N_("Check where it came from."),
            )

    def __contains__(self, part: str) -> bool:
        return part in self._members

    def content(self, part: str) -> bytes:
        """The bytes of a part.

        Raises:
            InputError: there is no such part, or it is damaged.
        """
        if part not in self._members:
            raise damaged()
        return unpacked_member(self._archive, self._members[part])

    def tree(self, part: str) -> etree._Element:
        """The XML of a part; entities are not resolved.

        Raises:
            InputError: there is no such part, it is damaged, or takes too much memory.
        """
        content = transitional(self.content(part))
        check_memory(content, MARKUP, self._limits)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            return etree.fromstring(content, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise damaged() from error

    def relations(self, part: str = "") -> Mapping[str, Relation]:
        """What a part refers to, by the ids that it uses; of "" the package itself."""
        folder, _, name = part.rpartition("/")
        place = posixpath.join(folder, "_rels", f"{name}.rels")
        if place not in self._members:
            return {}
        found = {}
        for one in self.tree(place).iterfind("{*}Relationship"):
            target = one.get("Target", "")
            if one.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = one.get("Type", "").rpartition("/")[2]
            found[one.get("Id", "")] = Relation(kind, target)
        return found


def relation_of(
    element: etree._Element, related: Mapping[str, Relation], name: str = "id"
) -> Relation | None:
    """What an element refers to by an attribute in the namespace of relationships."""
    for key, value in element.items():
        if str(key).endswith(f"}}{name}"):
            return related.get(str(value))
    return None


def damaged() -> InputError:
    """What is said of a file that is not as its format has it."""
    return InputError(
        N_("The file is damaged."),
        N_("Open it in its own program and save it again."),
    )
