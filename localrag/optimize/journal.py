"""What every call of a model gave: paid for once, whatever stops the run.

GEPA keeps a state of its own, which does not hold where its random numbers stand, so that a run
that goes on from it makes other choices than an unbroken one. Here a run always begins at its
beginning, with the same seed: what was asked before is answered from this journal, at no cost, and
so it comes to the same candidates, however often it was stopped.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import IO, Any, Self

from localrag.errors import StorageError, WorkspaceError
from localrag.optimize.model import Proposal, Rollout

# What was written survives the death of the process at once, and a power cut once it is flushed.
# Flushing takes milliseconds on a slow disk, so what a fast model gives is flushed together.
_FLUSH_EVERY = 0.1

Kept = Rollout | Proposal
_KINDS: dict[str, Callable[..., Kept]] = {"rollout": Rollout, "proposal": Proposal}


class Journal:
    """Outcomes by what was asked; a file of JSON lines that only grows.

    Attributes:
        torn: whether the last line had been cut off by a kill; it was dropped.
    """

    def __init__(self, path: Path) -> None:
        """Remember the path; the file need not exist."""
        self.torn = False
        self._path = path
        self._kept: dict[str, Kept] = {}
        self._file: IO[bytes] | None = None
        self._end = 0
        self._flushed = 0.0
        self._writing = Lock()

    def __enter__(self) -> Self:
        """Read what is there and open it to be added to.

        Raises:
            WorkspaceError: it holds something else.
            StorageError: it cannot be read or written.
        """
        with ExitStack() as undone, self._failures():
            # Unbuffered: what was written has left this process.
            self._file = undone.enter_context(self._path.open("a+b", buffering=0))
            self._file.seek(0)
            for number, line in enumerate(self._file.read().splitlines(keepends=True), 1):
                self.torn = not line.endswith(b"\n")
                if not self.torn:
                    self._enter(number, line)
            self._file.truncate(self._end)
            undone.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file.fileno())
            self._file.close()
            self._file = None

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str) -> Kept | None:
        """What was kept under a key."""
        return self._kept.get(key)

    def put(self, key: str, kept: Kept) -> None:
        """Keep an outcome; when this returns, no kill can lose it.

        May be called from several threads.

        Raises:
            StorageError: the disk is full; what was kept before stays.
        """
        assert self._file is not None, "the journal is open"
        value = {"kind": type(kept).__name__.lower(), "key": key, **asdict(kept)}
        # Escaped: a model can write what UTF-8 cannot hold, and must get it back as it was.
        line = json.dumps(value).encode() + b"\n"
        with self._writing, self._failures():
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
                if monotonic() - self._flushed >= _FLUSH_EVERY:
                    os.fsync(self._file.fileno())
                    self._flushed = monotonic()
            except OSError:
                with suppress(OSError):
                    self._file.truncate(self._end)
                raise
            self._end += len(line)
            self._kept[key] = kept

    def _enter(self, number: int, line: bytes) -> None:
        try:
            value: dict[str, Any] = json.loads(line)
            kind, key = _KINDS[value.pop("kind")], value.pop("key")
            self._kept[key] = kind(**value)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise WorkspaceError(
                f"{self._path}, line {number} is no outcome of an optimisation.",
                "Delete that line (it is asked again), or begin anew with --restart.",
            ) from error
        self._end += len(line)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(
                f"{self._path} cannot be read or written ({error.strerror}).",
                "Free some space or mend its permissions, then run the same command again: it "
                "goes on where it stopped.",
            ) from error


def key_of(*parts: str) -> str:
    """The key of what is asked; other parts, other key."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
