"""Files of Office that need something before they are read: Strict ones, and encrypted ones.

A Strict file says the same in other namespaces, which openpyxl does not read. They are written as
the transitional ones before. Parts that are read here (`package`) need none of that.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO

from lxml import etree

from localrag.corpus.readers.package import Relation
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


def relation_of(
    element: etree._Element, related: Mapping[str, Relation], name: str = "id"
) -> Relation | None:
    """What an element refers to by an attribute in the namespace of relationships."""
    for key, value in element.items():
        if str(key).endswith(f"}}{name}"):
            return related.get(str(value))
    return None
