"""What was typed and not asked yet, kept so that a kill does not lose it."""

import asyncio
import json
from pathlib import Path
from typing import NamedTuple

from localrag.durable import replace_text


class Unsent(NamedTuple):
    """A question on its way.

    Attributes:
        text: of the question.
        options: a line each.
    """

    text: str = ""
    options: str = ""


class UnsentFile:
    """Keeps it in a file of the workspace; one that cannot be read or written is done without."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept = Unsent()
        self._writing = asyncio.Lock()

    async def read(self) -> Unsent:
        """What was kept the last time."""
        self._kept = await asyncio.to_thread(_read, self._path)
        return self._kept

    async def write(self, unsent: Unsent) -> None:
        """Keep it, where it is another one than before."""
        async with self._writing:
            if unsent != self._kept:
                self._kept = unsent
                await asyncio.to_thread(_write, self._path, unsent)


def _read(path: Path) -> Unsent:
    try:
        kept = json.loads(path.read_bytes())
        return Unsent(str(kept["text"]), str(kept["options"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Unsent()


def _write(path: Path, unsent: Unsent) -> None:
    try:
        if unsent == Unsent():
            path.unlink(missing_ok=True)
        else:
            # Surrogates of a strange paste cannot be encoded.
            replace_text(path, json.dumps(unsent._asdict()))
    except OSError:
        # It only saves typing; the question itself is written down when it is asked.
        return
