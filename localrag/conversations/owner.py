"""Who answers a question: a mark that vanishes with its process, however that ends."""

from contextlib import ExitStack, suppress
from pathlib import Path
from uuid import uuid4

from localrag.errors import BusyError, StorageError
from localrag.locking import is_locked, locked


class Owner:
    """One user of a file of conversations; it holds a lock of its own while it answers.

    Args:
        folder: of the locks; made when the first is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held = ExitStack()
        self._mark = ""
        self._ended: set[str] = set()

    def mark(self) -> str:
        """The mark of this owner, which lives from the first call to `release`.

        Raises:
            StorageError: the folder cannot be written.
        """
        if not self._mark:
            mark = uuid4().hex
            try:
                self._held.enter_context(locked(self._lock(mark), BusyError(mark)))
            except OSError as error:
                raise StorageError(
                    f"The folder {self._folder} cannot be written ({error.strerror}).",
                    "Check its permissions and the disk, or choose another workspace with --home.",
                ) from error
            self._mark = mark
        return self._mark

    def lives(self, mark: str) -> bool:
        """Whether the owner of a mark is still at work."""
        if mark == self._mark:
            return True
        if mark in self._ended:
            return False
        # The lock of one that ended well is gone, as is that of a workspace that was copied.
        if is_locked(self._lock(mark)):
            return True
        self._ended.add(mark)
        with suppress(OSError):
            self._lock(mark).unlink(missing_ok=True)
        return False

    def release(self) -> None:
        """Own nothing any longer."""
        self._held.close()
        if self._mark:
            with suppress(OSError):
                self._lock(self._mark).unlink(missing_ok=True)
        self._mark = ""

    def _lock(self, mark: str) -> Path:
        return self._folder / f"{mark}.lock"
