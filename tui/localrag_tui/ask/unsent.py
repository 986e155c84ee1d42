"""What was typed and not asked yet, kept so that a kill does not lose it."""

import asyncio
import json
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from localrag.durable import replace_text
from localrag.errors import BusyError


class Unsent(NamedTuple):
    """A question on its way.

    Attributes:
        text: of the question.
        options: a line each.
    """

    text: str = ""
    options: str = ""


class UnsentFile:
    """Keeps it in a folder of the workspace; what cannot be read or written is done without.

    Every open workbench has a file of its own there, and takes over that of one that has ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None
        self._held = ExitStack()
        self._kept = Unsent()
        self._writing = asyncio.Lock()

    async def read(self) -> Unsent:
        """What was kept the last time."""
        self._kept = await asyncio.to_thread(self._take_over)
        return self._kept

    async def write(self, unsent: Unsent) -> None:
        """Keep it, where it is another one than before."""
        async with self._writing:
            if unsent != self._kept:
                self._kept = unsent
                await asyncio.to_thread(self._write, unsent)

    def close(self) -> None:
        """Leave what is kept to the next workbench."""
        self._held.close()

    def _take_over(self) -> Unsent:
        # Locks are only looked at where there is something: nothing is imported for none.
        with suppress(OSError):
            self._claim(sorted(self._folder.glob("*.json")))
        return _read(self._path) if self._path is not None else Unsent()

    def _write(self, unsent: Unsent) -> None:
        # It only saves typing; the question itself is written down when it is asked.
        with suppress(OSError):
            if self._path is None:
                numbered = (self._folder / f"{number}.json" for number in count(1))
                self._claim(path for path in numbered if not path.exists())
            if self._path is not None:
                _write(self._path, unsent)

    def _claim(self, paths: Iterable[Path]) -> None:
        """Take the first of these that no other workbench has."""
        for path in paths:
            from localrag.locking import locked

            with suppress(BusyError):
                self._held.enter_context(locked(path.with_suffix(".lock"), BusyError(path.name)))
                self._path = path
                return


def _read(path: Path) -> Unsent:
    try:
        kept = json.loads(path.read_bytes())
        return Unsent(str(kept["text"]), str(kept["options"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Unsent()


def _write(path: Path, unsent: Unsent) -> None:
    if unsent == Unsent():
        path.unlink(missing_ok=True)
    else:
        # Surrogates of a strange paste cannot be encoded.
        replace_text(path, json.dumps(unsent._asdict()))
