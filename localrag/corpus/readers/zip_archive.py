"""Zip archives, as e-Gov publishes its laws."""

import bz2
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import PurePosixPath
from typing import IO

from localrag.corpus.readers.converting import LIST_OF_LAWS
from localrag.corpus.readers.text import first_decoded
from localrag.corpus.readers.types import Limits, Omission, PassedOver, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_
from localrag.text.harmless import one_line

_STEP = 1 << 20
# For LZMA, zipfile unpacks each piece whole: 4 KB can become 30 MB.
_LITTLE = 1 << 12


def unpacked_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Unpack a zip member, at most to its declared size, unlike `zipfile.ZipFile.read`."""
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
            N_("The member is damaged ({problem})."), N_("Download the zip again."), problem=error
        ) from error
    return bytes(out)


@contextmanager
def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """Open a member for reads that unpack about as much as asked."""
    if member.compress_type != zipfile.ZIP_BZIP2:
        with archive.open(member) as file:
            yield file
        return
    # zipfile unpacks bzip2 by the block, 900 kB from 40 bytes: take the packed bytes instead.
    packed = copy(member)
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
    del packed.CRC  # That of what is packed is not known.
    with archive.open(packed) as stored, bz2.open(stored) as file:
        yield file


MemberReader = Callable[[str, bytes], Iterator[Document | ReadFailure | Omission | PassedOver]]
"""Reads one member from its name and its bytes."""
_SMALL = 1_000_000
_ENCRYPTED = 0x1
_DRIVE = re.compile("[A-Za-z]:")


def read_zip(
    file: IO[bytes],
    name: str,
    limits: Limits,
    *,
    pass_over: Callable[[str, str], PassedOver | None],
    read_member: MemberReader,
) -> Iterator[Document | ReadFailure | Omission | PassedOver]:
    """Read the members of an archive; `pass_over` names a member without a reader."""
    packed = file.seek(0, 2)
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise InputError(N_("The zip is damaged."), N_("Download the file again.")) from error
    with archive:
        members = archive.infolist()
        most = min(limits.unpacked_bytes, max(limits.small_bytes, packed * limits.growth))
        if len(members) > limits.members:
            raise InputError(
                N_("The zip has {n:,} members, more than {members:,}."),
                N_("Split it into several archives."),
                n=len(members),
                members=limits.members,
            )
        if any(member.filename == "[Content_Types].xml" for member in members):
            raise InputError(
                N_("This is an Office file, not a zip."), N_("Give it its own suffix.")
            )
        unpacked = 0
        for member, inside in zip(members, member_names(members), strict=True):
            if member.is_dir() or _is_left_behind(inside):
                continue
            place = f"{name}!{one_line(inside)}"
            try:
                _require_inside(inside)
                if left_out := pass_over(place, inside):
                    yield left_out
                    continue
                _check(member, limits)
                unpacked += member.file_size
                if unpacked > most:
                    raise InputError(
                        N_(
                            "The zip unpacks to more than {most:,} bytes: this member and "
                            "all after it are left out."
                        ),
                        N_("Split it into several archives."),
                        most=most,
                    )
                yield from read_member(place, unpacked_member(archive, member))
            except InputError as error:
                yield ReadFailure(place, error)
                if unpacked > most:
                    return


_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_HALF_WIDTH_MARKS = re.compile("[｡-･]")
_KANA = re.compile("[ぁ-んァ-ヶ]")


def member_names(members: Sequence[zipfile.ZipInfo]) -> list[str]:
    """The original names of the members, with ``/`` between folders.

    `zipfile` reads a name without the mark for UTF-8 as CP437. macOS writes UTF-8 without the mark,
    Windows in Japan CP932. All names of an archive share one encoding: EUC-JP if CP932 does not fit
    all, or would read kana as half-width marks.
    """
    written = [_written(member) for member in members]
    unmarked = [name for name in written if isinstance(name, bytes)]
    encoding = next(
        (encoding for encoding in ("utf-8", "cp932", "euc_jp") if _fits(unmarked, encoding)),
        "cp437",
    )
    names = (
        name if isinstance(name, str) else first_decoded(name, (encoding, "cp437")) or ""
        for name in written
    )
    return [name.replace("\\", "/") for name in names]


def _written(member: zipfile.ZipInfo) -> str | bytes:
    if member.flag_bits & _UTF8:
        return member.orig_filename.partition("\0")[0]
    name = member.orig_filename.encode("cp437").partition(b"\0")[0]
    return _unicode_path(member.extra, name) or name


def _unicode_path(extra: bytes, name: bytes) -> str:
    """The name from the extra field of Info-ZIP; "" without one."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        field = extra[at + 4 : at + 4 + size]
        at += 4 + size
        # Version, checksum of the plain name, Unicode name.
        if kind == _UNICODE_PATH and len(field) > 5 and field[0] == 1:
            if struct.unpack_from("<L", field, 1)[0] != zlib.crc32(name):
                return ""  # Somebody renamed the member and left the field.
            return first_decoded(field[5:], ["utf-8"]) or ""
    return ""


def _fits(names: Sequence[bytes], encoding: str) -> bool:
    if not all(first_decoded(name, [encoding]) for name in names):
        return False
    return encoding != "cp932" or not any(map(_is_euc, names))


def _is_euc(name: bytes) -> bool:
    marks = _HALF_WIDTH_MARKS.findall(first_decoded(name, ["cp932"]) or "")
    kana = _KANA.findall(first_decoded(name, ["euc_jp"]) or "")
    return len(kana) > 1 and len(marks) >= len(kana)


def _is_left_behind(name: str) -> bool:
    """Whether a member is no document: a file of macOS or Windows, or e-Gov's list."""
    last = PurePosixPath(name).name
    return (
        name.startswith("__MACOSX/")
        or last.startswith((".", "~$"))
        or last.casefold() in ("thumbs.db", "desktop.ini", LIST_OF_LAWS)
    )


def _require_inside(name: str) -> None:
    """Refuse paths out of the archive, and archives in archives."""
    if name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/"):
        raise InputError(
            N_("The member's path leads out of the archive."), N_("Do not trust this zip.")
        )
    if PurePosixPath(name).suffix.lower() == ".zip":
        raise InputError(
            N_("A zip inside a zip is not read."), N_("Unpack it and add the inner files.")
        )


def _check(member: zipfile.ZipInfo, limits: Limits) -> None:
    """Refuse encrypted or oversized members, and bombs."""
    if member.flag_bits & _ENCRYPTED:
        raise InputError(N_("The member is encrypted."), N_("Unpack the zip and add the files."))
    if member.file_size > limits.file_bytes:
        raise InputError(
            N_("The member unpacks to {file_size:,} bytes, more than {file_bytes:,}."),
            N_("Unpack it and split the file."),
            file_size=member.file_size,
            file_bytes=limits.file_bytes,
        )
    if member.file_size > max(member.compress_size * limits.ratio, _SMALL):
        raise InputError(
            N_("The member unpacks to more than {ratio} times its size (a zip bomb?)."),
            N_("If the file is sound, unpack it and add it by itself."),
            ratio=limits.ratio,
        )
