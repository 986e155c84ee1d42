"""Zip archives of readable files, as e-Gov publishes its laws."""

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from localrag.corpus.readers.bounds import unpacked_member
from localrag.corpus.readers.types import Limits, Omission, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

MemberReader = Callable[[str, bytes], Iterator[Document | ReadFailure | Omission]]
"""Reads one member from its name and its bytes."""
_SMALL = 1_000_000
_ENCRYPTED = 0x1
_DRIVE = re.compile("[A-Za-z]:")


def read_zip(
    path: Path,
    name: str,
    limits: Limits,
    *,
    offers: Callable[[str], bool],
    read_member: MemberReader,
) -> Iterator[Document | ReadFailure | Omission]:
    """Read the members of an archive; nothing is unpacked to disk.

    Args:
        path: the archive.
        name: what messages and ids call it.
        limits: bounds on members.
        offers: whether a member's name is of a format that is read; others are passed over.
        read_member: reads one member.

    Raises:
        InputError: the archive is damaged, or has too many members.
    """
    packed = path.stat().st_size
    try:
        archive = zipfile.ZipFile(path)
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
                N_("This is an Office file, not a zip."),
                N_("Give it its own suffix."),
            )
        unpacked = 0
        for member in members:
            if member.is_dir():
                continue
            place = f"{name}!{member.filename}"
            try:
                _check(member, limits, offers)
                if not offers(member.filename):
                    continue
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


def _check(member: zipfile.ZipInfo, limits: Limits, offers: Callable[[str], bool]) -> None:
    """Refuse what no honest archive of laws holds.

    Raises:
        InputError: the member's path leaves the archive, or it is encrypted, nested or a bomb.
    """
    name = member.filename
    if name.startswith("/") or "\\" in name or _DRIVE.match(name) or ".." in name.split("/"):
        raise InputError(
            N_("The member's path leads out of the archive."),
            N_("Do not trust this zip."),
        )
    if PurePosixPath(name).suffix.lower() == ".zip":
        raise InputError(
            N_("A zip inside a zip is not read."),
            N_("Unpack it and add the inner files."),
        )
    if not offers(name):
        return
    if member.flag_bits & _ENCRYPTED:
        raise InputError(
            N_("The member is encrypted."),
            N_("Unpack the zip and add the files."),
        )
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
