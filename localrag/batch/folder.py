"""What a batch keeps beside its answers: ``ANSWERS.run/`` with the lock and the origin.

The origin lies beside the answers and not in them, so that every line of the file is the answer to
a question, for whatever program reads it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from localrag.batch import origin as origins
from localrag.batch.origin import Origin
from localrag.durable import flush_folder
from localrag.errors import BusyError, StorageError, UsageError
from localrag.locking import is_locked, locked


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one batch.

    Attributes:
        out: the file of answers, absolute, links followed.
    """

    out: Path

    @classmethod
    def of(cls, out: Path, questions: Path | IO[bytes]) -> "RunFolder":
        """Find the paths for a file of answers, which need not exist yet.

        Raises:
            UsageError: the file cannot be used: the questions, or anything that no batch wrote,
                are in its place, or its folder does not exist.
            StorageError: it cannot be looked up.
        """
        try:
            path = out.expanduser().resolve()
            if path.exists() and not path.is_file():
                raise UsageError(f"{out} is not a file.", "Name a file with --out.")
            if isinstance(questions, Path) and path == questions.expanduser().resolve():
                raise UsageError(
                    "The answers would take the place of the questions.",
                    "Name another file with --out.",
                )
            if not path.parent.is_dir():
                raise UsageError(f"There is no folder {path.parent}.", "Make it first.")
        except (OSError, RuntimeError) as error:
            raise StorageError(
                f"{out} cannot be written ({error}).", "Name another file with --out."
            ) from error
        folder = cls(path)
        if folder.begun:
            folder._known_origin()
        return folder

    @property
    def path(self) -> Path:
        """The folder."""
        return self.out.with_name(f"{self.out.name}.run")

    @property
    def origin(self) -> Path:
        """The file that says what the answers were made with."""
        return self.path / "made_with.json"

    @property
    def aside(self) -> Path:
        """Where the answers are put in order before they take the place of the file."""
        return self.path / "ordered.jsonl"

    @property
    def begun(self) -> bool:
        """Whether there are answers already, or the beginning of one."""
        return self.out.exists() and self.out.stat().st_size > 0

    @property
    def busy(self) -> bool:
        """Whether a process writes the answers now."""
        return is_locked(self._lock)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the right to write the answers; the system frees it when the process ends.

        Raises:
            BusyError: another process holds it.
            StorageError: the folder cannot be written.
        """
        busy = BusyError(f"Another process is writing {self.out}.", "Wait until it has finished.")
        with ExitStack() as held:
            try:
                held.enter_context(locked(self._lock, busy))
            except OSError as error:
                raise StorageError(
                    f"The folder {self.path} cannot be written ({error.strerror}).",
                    "Check its permissions and the disk, or name another file with --out.",
                ) from error
            yield

    def begin(self, origin: Origin, *, restart: bool) -> None:
        """Make ready for answers made with `origin`, in the place of others or beside them.

        Raises:
            UsageError: what is there was made with something else, or by something else.
            StorageError: the disk is full or the folder cannot be written.
        """
        if restart:
            self._drop()
        if self.begun:
            self.require_same(origin)
        else:
            origins.write(self.origin, origin)
            # After a power cut too, answers are never found without what they were made with.
            flush_folder(self.out.parent)

    def require_same(self, origin: Origin) -> None:
        """Make sure that the answers that are there were made with `origin`.

        Raises:
            UsageError: they were not, or it cannot be told.
        """
        origins.require_same(self._known_origin(), origin, self.out)

    @property
    def _lock(self) -> Path:
        return self.path / "lock"

    def _drop(self) -> None:
        if not self.begun:
            return
        try:
            self.out.unlink()
        except OSError as error:
            raise StorageError(
                f"{self.out} cannot be removed ({error.strerror}).",
                "Check the permissions of its folder, or name another file with --out.",
            ) from error

    def _known_origin(self) -> Origin:
        origin = origins.read(self.origin)
        if origin is None:
            raise UsageError(
                f"{self.out} is there already, and nothing says that a batch wrote it.",
                "Name another file with --out, or remove this one.",
            )
        return origin
