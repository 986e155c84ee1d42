"""A folder of fetched laws, with a list of its whole files.

::

    all_xml.zip, 13_xml.zip, 20261128_xml.zip   archives: all laws, a category, a day's changes
    <law id>_<day>_<amending law>.xml           the text of one state, from the API
    .laws.jsonl                                 a line for each whole file, with its SHA-256
    .states.jsonl                               today's list of states for named laws
    .part-<file>                                an unfinished file

A file gets its name after its check. `localrag laws import` takes the folder on another machine.
"""

import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from time import time

from pydantic import TypeAdapter, ValidationError

from localrag.corpus import readers
from localrag.corpus.durable import locked, make_folder, open_file, storing
from localrag.errors import BusyError, InputError, NotFoundError
from localrag.language import N_
from localrag.ops.laws.types import ALL, CATEGORIES, Archive, Revision
from localrag.text.progress import BYTES, Phase, Stopwatch

FILES = "files"
"""The scope of files without a list."""
LIST = ".laws.jsonl"
"""The list of a folder's whole files."""
_STATES = ".states.jsonl"
CHECKING = N_("checking")

_JAPAN = timezone(timedelta(hours=9))
# In the morning, the archive is as it was the day before at noon.
_LAG = timedelta(2)
_STEP = 1 << 20
_A_DAY = 86_400
_STARTS_A_ZIP = b"PK"
_AGAIN = N_("Fetch it again: localrag laws download")


def today() -> date:
    """The day in Japan, where e-Gov makes its archives."""
    return day_in_japan(datetime.now(UTC))


def day_in_japan(moment: datetime) -> date:
    """The day of a moment in Japan."""
    return moment.astimezone(_JAPAN).date()


@dataclass(frozen=True, slots=True)
class Kept:
    """A whole file, or a day without changes.

    Attributes:
        scope: ``all``, ``category:13``, ``day:2026-11-28`` or ``law:129AC0000000089``.
        file: its name; "" for a day without an archive.
        sha256, size: of its bytes.
        laws: number of texts in it.
        fetched: when (ISO, UTC).
        updated: e-Gov's time of its last correction, for a single text.
        asked: how often a day without an archive was asked for.
    """

    scope: str
    file: str
    sha256: str = ""
    size: int = 0
    laws: int = 0
    fetched: str = ""
    updated: str = ""
    asked: int = 1

    @property
    def key(self) -> str:
        """Its name or day: a later file of the same key replaces it."""
        return self.scope if self.day else self.file

    @property
    def day(self) -> date | None:
        """The day of an archive of changes."""
        told = self.scope.partition("day:")[2]
        return date.fromisoformat(told) if told else None

    @property
    def fetched_on(self) -> date:
        """The day in Japan when it was fetched."""
        return day_in_japan(datetime.fromisoformat(self.fetched))


_adapter = TypeAdapter(Kept)
_states = TypeAdapter(tuple[date, str, list[Revision]])


def through(kept: Iterable[Kept]) -> date | None:
    """The end of the days covered without a gap; None without all laws."""
    files = list(kept)
    wholes = [one.fetched_on - _LAG for one in files if one.scope == ALL]
    if not wholes:
        return None
    last, days = max(wholes), {one.day for one in files}
    while last + timedelta(1) in days:
        last += timedelta(1)
    return last


class Shelf:
    """A folder of fetched laws.

    Attributes:
        folder: its path; it may be missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def held(self) -> AbstractContextManager[None]:
        """Hold the folder for one process, and make it.

        Raises:
            BusyError: another process fetches into it.
            StorageError: it cannot be written.
        """
        busy = BusyError(
            N_("Another process is fetching laws into {folder}."),
            N_("Wait until it has finished, then try again."),
            folder=self.folder,
        )
        return locked(self.folder / ".lock", busy)

    def files(self) -> list[Kept]:
        """The whole files, and the days without changes, the oldest first."""
        return [one for one in self._listed() if not one.file or self._is_there(one)]

    def path(self, kept: Kept) -> Path:
        """The path of a file."""
        return self.folder / kept.file

    def _is_there(self, one: Kept) -> bool:
        try:
            return (self.folder / one.file).stat().st_size == one.size
        except OSError:
            return False

    def part(self, file: str, *, going_on: bool = True) -> Path:
        """The unfinished file of a name; too old ones are removed.

        Raises:
            StorageError: it cannot be removed.
        """
        part = self.folder / f".part-{file}"
        with storing(part):
            make_folder(self.folder)
            old = part.exists() and time() - part.stat().st_mtime > _A_DAY
            if old or not going_on:
                part.unlink(missing_ok=True)
                part.with_name(f"{part.name}.tag").unlink(missing_ok=True)
        return part

    def keep(self, part: Path, kept: Kept) -> Kept:
        """Give a checked file its name, and list it with its hash.

        Raises:
            StorageError: it cannot be written.
        """
        target = self.folder / kept.file
        with storing(target):
            fetched = datetime.fromtimestamp(part.stat().st_mtime, UTC)
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            part.replace(target)
            part.with_name(f"{part.name}.tag").unlink(missing_ok=True)
        made = fetched.isoformat(timespec="seconds")
        whole = replace(kept, size=target.stat().st_size, sha256=digest(target), fetched=made)
        self.note(whole)
        return whole

    def note(self, kept: Kept) -> None:
        """Add a line to the list.

        Raises:
            StorageError: it cannot be written.
        """
        _append(self.folder / LIST, _adapter.dump_json(kept))

    def remembered(self) -> dict[str, list[Revision]]:
        """Today's lists of states, by the name of the law.

        Raises:
            StorageError: the folder cannot be read.
        """
        found = {}
        for line in _lines(self.folder / _STATES):
            with suppress(ValidationError):
                day, law, revisions = _states.validate_json(line)
                if day == today():
                    found[law] = revisions
        return found

    def remember(self, law: str, revisions: list[Revision]) -> None:
        """Keep the states of a law for a second start today.

        Raises:
            StorageError: it cannot be written.
        """
        _append(self.folder / _STATES, _states.dump_json((today(), law, revisions)))

    def forget_states(self) -> None:
        """Forget the lists of states, at the end of a download.

        Raises:
            StorageError: the file cannot be removed.
        """
        with storing(self.folder):
            (self.folder / _STATES).unlink(missing_ok=True)

    def require_sound(self, watch: Stopwatch) -> list[Kept]:
        """Compare all files with their SHA-256, as after a journey on a stick.

        Raises:
            InputError: a file differs or is missing.
        """
        listed = self._listed()
        total, done = sum(one.size for one in listed), 0
        for one in listed:
            if one.file and not (self._is_there(one) and digest(self.path(one)) == one.sha256):
                raise InputError(
                    N_("{path} differs from the file fetched (SHA-256)."),
                    N_("Copy the folder once more, or fetch it again."),
                    path=self.path(one),
                )
            done += one.size
            watch(Phase(CHECKING, BYTES), done, total)
        return listed

    def _listed(self) -> list[Kept]:
        newest = {}
        for line in _lines(self.folder / LIST):
            # A killed process may have left half a line.
            with suppress(ValidationError):
                one = _adapter.validate_json(line)
                newest[one.key] = one
        return list(newest.values())


def _lines(path: Path) -> list[str]:
    with storing(path):
        try:
            return path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []


def _append(path: Path, line: bytes) -> None:
    """Add a line to a file; a lost one costs only another check."""
    with storing(path):
        make_folder(path.parent)
        with open_file(path, "ab+") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            begun = file.read(1) not in (b"", b"\n")
            file.write((b"\n" if begun else b"") + line + b"\n")


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_archive(path: Path, archive: Archive, address: str, watch: Stopwatch) -> int:
    """Unpack an archive without keeping it, and count its laws.

    Raises:
        InputError: it is damaged, cut short, or no zip.
    """
    with path.open("rb") as file:
        first = file.read(len(_STARTS_A_ZIP))
    if first != _STARTS_A_ZIP:
        raise InputError(
            N_("{url} did not send a zip."),
            N_("Open the address in a browser: it may show a notice. It is laws.archive."),
            url=address,
        )
    phase, laws, done = Phase(CHECKING, BYTES, archive.file), 0, 0
    try:
        with zipfile.ZipFile(path) as opened:
            members = opened.infolist()
            total = sum(member.compress_size for member in members)
            for member in members:
                with opened.open(member) as file:
                    while file.read(_STEP):
                        pass
                laws += member.filename.endswith((".xml", ".json"))
                done += member.compress_size
                watch(phase, done, total)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(
            N_("The archive from {url} is damaged ({problem})."), _AGAIN, url=address, problem=error
        ) from error
    if not laws:
        raise InputError(N_("The archive from {url} has no law."), _AGAIN, url=address)
    return laws


def check_text(path: Path, name: str, law_id: str) -> None:
    """Read the text of a law as `add` will; `path` has the suffix of its format.

    Raises:
        InputError: it cannot be read, or is another law.
    """
    found = []
    for one in readers.read(path, name=name):
        if isinstance(one, readers.ReadFailure):
            raise one.problem
        found.append(one.id.partition("@")[0])
    if found != [law_id]:
        raise InputError(
            N_("e-Gov sent another text for {name}."),
            N_("Try again later; laws.api names the server."),
            name=name,
        )


def carried(path: Path, watch: Stopwatch) -> tuple[Shelf, list[Kept]]:
    """Look at a folder or zip from elsewhere, and check it.

    A folder with a list is compared with it. The content of a zip is known by e-Gov's names.

    Raises:
        NotFoundError: there is no such file or folder.
        InputError: a file is damaged.
    """
    path = path.expanduser().absolute()
    if not path.exists():
        raise NotFoundError(
            N_("There is no file or folder {root}."), N_("Check the spelling."), root=path
        )
    if path.is_dir() and (path / LIST).exists():
        return Shelf(path), Shelf(path).require_sound(watch)
    made = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    one = Kept(FILES, path.name, fetched=made)
    if path.is_file() and path.suffix.lower() == ".zip":
        archive = _archive_called(path.name)
        laws = check_archive(path, archive or Archive(FILES), str(path), watch)
        scope = archive.scope if archive else FILES
        one = replace(one, scope=scope, size=path.stat().st_size, sha256=digest(path), laws=laws)
    return Shelf(path.parent), [one]


def _archive_called(name: str) -> Archive | None:
    known = (Archive(ALL), *map(Archive.of_category, CATEGORIES))
    return next((one for one in known if one.file == name), None)
