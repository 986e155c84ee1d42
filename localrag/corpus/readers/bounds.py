"""How much memory reading takes, told before it is taken.

A parser makes an object of some hundred bytes of every mark of its grammar, however short: four
bytes of XML (``<a/>``) become a node, three of JSON (``[],``) a list. So the marks are counted
first, which costs nothing beside parsing them. The weights were measured on files that consist of
one mark alone (``scripts/bench/archives.py``), up to the rows that go into the store; real laws and
articles stay below a tenth of what is allowed.
"""

import bz2
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import IO

from localrag.corpus.readers.types import Limits
from localrag.errors import InputError
from localrag.language import N_

TEXT: Mapping[bytes, int] = {b"\n": 60}
MARKUP: Mapping[bytes, int] = {b"<": 350, b"=": 100}
MARKDOWN: Mapping[bytes, int] = {b"\n": 1_600}
JSON: Mapping[bytes, int] = {b"{": 250, b"[": 80, b",": 60}
_BYTE = 6
"""What a byte of text takes: itself, its characters, those of its passages, its rows."""
_SMALL = 1_000_000
_STEP = 1 << 20
# zipfile unpacks all that a piece holds that was packed by LZMA: 4 KB of it are 30 MB at most.
_LITTLE = 1 << 12


def check_memory(data: bytes, marks: Mapping[bytes, int], limits: Limits) -> None:
    """Refuse what would take too much memory to be read.

    Args:
        data: what is to be parsed.
        marks: of its grammar, with the bytes that each of them takes.
        limits: of them `Limits.memory_bytes`.

    Raises:
        InputError: it would.
    """
    if len(data) < _SMALL and len(data) * max(marks.values()) < limits.memory_bytes:
        return
    taken = _BYTE * len(data) + sum(data.count(mark) * size for mark, size in marks.items())
    if taken > limits.memory_bytes:
        raise InputError(
            N_("Reading it would take about {taken:,} MB of memory, more than {most:,}."),
            N_("Split it; lines of JSON (.jsonl) are read one by one."),
            taken=taken // 1_000_000,
            most=limits.memory_bytes // 1_000_000,
        )


def unpacked_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Unpack a member of a zip, whose size the caller has bounded: no more than it declares.

    `zipfile.ZipFile.read` unpacks all there is at once, and cuts it to the declared size then.

    Raises:
        InputError: it is damaged.
    """
    out = bytearray()
    try:
        with _opened(archive, member) as file:
            while piece := file.read(
                _STEP if member.compress_type != zipfile.ZIP_LZMA else _LITTLE
            ):
                out += piece
                if len(out) > member.file_size:
                    break
        if zlib.crc32(out) != member.CRC:
            raise zipfile.BadZipFile("wrong checksum or size")
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        NotImplementedError,
        OSError,
        ValueError,
    ) as error:
        raise InputError(
            N_("The member is damaged ({problem})."),
            N_("Download the zip again."),
            problem=error,
        ) from error
    return bytes(out)


@contextmanager
def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """Open a member so that a read unpacks about as much as is asked for."""
    if member.compress_type != zipfile.ZIP_BZIP2:
        with archive.open(member) as file:
            yield file
        return
    # zipfile unpacks bzip2 by the block, of which 40 bytes are 900 kB: it only hands out the bytes.
    packed = copy(member)
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
    del packed.CRC  # That of what is packed is not known.
    with archive.open(packed) as stored, bz2.open(stored) as file:
        yield file
