"""The budget of an optimisation, and the journal of what it was spent on: each call paid for once.

GEPA keeps a state of its own, which does not hold where its random numbers stand, so that a run
that goes on from it makes other choices than an unbroken one. Here a run always begins at its
beginning, with the same seed: what was asked before is answered from the journal, at no cost, and
so it comes to the same candidates, however often it was stopped.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import IO, Any, Self, TypeVar

from localrag.errors import StorageError, WorkspaceError
from localrag.optimize.types import Plan, Proposal, Rollout

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


_Made = TypeVar("_Made", Rollout, Proposal)


class Ended(BaseException):
    """The budget is spent.

    GEPA catches every `Exception` and goes on with the next proposal; this is none.

    Attributes:
        why: as in `Outcome.end`.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Spending:
    """Pays for every outcome once, over all starts of a run.

    What an earlier start paid for counts as it comes up again, so that a run ends at the same
    place whether it was stopped or not.

    Attributes:
        calls: of models.
        seconds: of work.
        outcomes: how many different ones came up.
    """

    def __init__(
        self, journal: Journal, plan: Plan, on_spent: Callable[[Rollout | Proposal, bool], None]
    ) -> None:
        """Begin with nothing spent.

        Args:
            journal: open.
            plan: with the budget.
            on_spent: told of each outcome, and whether an earlier start had paid for it.
        """
        self.calls = 0
        self.seconds = 0.0
        self.outcomes = 0
        self._journal = journal
        self._plan = plan
        self._on_spent = on_spent
        self._met: set[str] = set()

    def ahead(self, wanted: Mapping[str, Callable[[], Rollout]], parallel: int) -> None:
        """Make several outcomes at the same time, as far as the calls reach; `once` pays for them.

        What is done when one fails, or when the run is stopped, is kept.

        Args:
            wanted: what makes each outcome, by key.
            parallel: how many the model works on at the same time.
        """
        unknown = [key for key in wanted if self._journal.get(key) is None]
        if parallel < 2 or len(unknown) < 2:
            return

        def make(key: str) -> None:
            made = wanted[key]()
            # Those who share the time of a model share in the minutes.
            self._journal.put(key, replace(made, seconds=made.seconds / parallel))

        pool = ThreadPoolExecutor(parallel)
        try:
            left = max(0, self._plan.calls - self.calls)
            for future in [pool.submit(make, key) for key in islice(unknown, left)]:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def once(self, key: str, kind: type[_Made], make: Callable[[], _Made]) -> _Made:
        """Give the outcome of this key; it is made only where it is not known.

        Raises:
            Ended: it would go beyond the budget.
            StorageError: it cannot be kept.
        """
        kept = self._journal.get(key)
        if key in self._met:
            assert isinstance(kept, kind)
            return kept
        if self.calls >= self._plan.calls:
            raise Ended("calls")
        if self.seconds >= 60 * self._plan.minutes:
            raise Ended("minutes")
        known = isinstance(kept, kind)
        if not isinstance(kept, kind):
            kept = make()
            self._journal.put(key, kept)
        self._met.add(key)
        self.calls += kept.calls
        self.seconds += kept.seconds
        self.outcomes += 1
        self._on_spent(kept, known)
        return kept
