"""The file of answers: a journal while the batch runs, in the order of the questions at its end."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import IO, Self

from localrag.batch.checking import Checked
from localrag.batch.ledger import Ledger
from localrag.batch.rows import Written
from localrag.errors import InputError, StorageError, UsageError

# A written line survives the death of the process at once, and a power cut once it is flushed.
# Flushing takes milliseconds on a slow disk, so rows that follow each other within this many
# seconds are flushed together.
_FLUSH_EVERY = 0.1


class Journal:
    """The rows answered so far, on disk and in a ledger.

    A row counts as answered once its line stands in the file with its end. Rows are appended as
    they are finished, so nothing finished waits in memory; the newest line of a row counts.

    Attributes:
        ledger: what became of each row.
        torn: whether the last line was cut off by a kill; it is dropped when the file is opened,
            or put in order.
    """

    def __init__(self, path: Path, ledger: Ledger, end: int, *, torn: bool) -> None:
        self.ledger = ledger
        self.torn = torn
        self._path = path
        self._end = end
        self._file: IO[bytes] | None = None
        self._flushed = 0.0

    @classmethod
    def read(cls, path: Path, checked: Checked) -> Self:
        """Read what is there, without changing anything.

        Args:
            path: of the file, which need not exist.
            checked: the questions.

        Raises:
            UsageError: it holds answers to other questions, or something else than answers.
            StorageError: it cannot be read.
        """
        ledger = Ledger(checked.rows)
        end = 0
        torn = False
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    torn = not line.endswith(b"\n")
                    if torn:
                        break
                    _enter(ledger, checked, end, line, f"{path}, line {number}")
                    end += len(line)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _failure(path, error) from error
        return cls(path, ledger, end, torn=torn)

    def __enter__(self) -> Self:
        """Open it to be added to; what a kill left unfinished is dropped."""
        with _failures(self._path):
            # Unbuffered: what was written has left this process.
            self._file = self._path.open("ab", buffering=0)
            self._file.truncate(self._end)
            self.torn = False
            sync_folder(self._path.parent)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def append(self, row: int, outcome: str, line: bytes) -> None:
        """Write down what became of a row; when this returns, no kill can lose it.

        Raises:
            StorageError: the disk is full; what was written before is kept.
        """
        assert self._file is not None, "the journal is open"
        with _failures(self._path):
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
            except OSError:
                with suppress(OSError):
                    self._file.truncate(self._end)
                raise
            # Whoever is interrupted while the disk works counts the line, for it stands there.
            self.ledger.note(row, self._end, outcome)
            self._end += len(line)
            if monotonic() - self._flushed >= _FLUSH_EVERY:
                os.fsync(self._file.fileno())
                self._flushed = monotonic()

    def put_in_order(self, aside: Path) -> None:
        """Put the newest line of each row in the order of the rows, all at once.

        Args:
            aside: a free path on the same disk, where the new file is written first.

        Raises:
            StorageError: the disk is full; the rows stay as they are.
        """
        if self.ledger.in_order and not self.torn:
            return
        with _failures(self._path):
            try:
                with self._path.open("rb") as old, aside.open("wb") as new:
                    for offset in self.ledger.offsets():
                        old.seek(offset)
                        new.write(old.readline())
                    new.flush()
                    os.fsync(new.fileno())
                aside.replace(self._path)
            except BaseException:
                aside.unlink(missing_ok=True)
                raise
            sync_folder(self._path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the system can."""
    with suppress(PermissionError):  # Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _enter(ledger: Ledger, checked: Checked, offset: int, line: bytes, place: str) -> None:
    try:
        written = Written.read(line)
    except InputError as error:
        raise UsageError(
            f"{place}: {error.cause}",
            "Delete that line, name another file with --out, or begin anew with --restart.",
        ) from None
    if not checked.holds(written.row, written.digest):
        raise UsageError(
            f"{place} answers another question than row {written.row} asks now.",
            "Name another file with --out, or answer all rows again with --restart.",
        )
    ledger.note(written.row, offset, written.outcome)


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _failure(path, error) from error


def _failure(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path} cannot be read or written ({error.strerror}).",
        "Free some space or mend its permissions, then run the same command again: it goes on "
        "where it stopped.",
    )
