"""What a model wrote to search for, kept so that the same question need not be read again.

A file for each request, in the folder ``searches`` of the workspace: its name is the digest of all
that decides the reply, its content the reply. Any number of processes may read and write. A kill
loses nothing that was written. The folder can be deleted at any time; `localrag forget` wipes it.
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from localrag.corpus.config import ChatConfig
from localrag.corpus.durable import make_folder, replace_text
from localrag_models.chat import Message

MOST = 10_000
"""Replies that are kept, at most; the oldest go first."""


class Remembered:
    """Replies of models, by what they were asked.

    Args:
        folder: made when the first reply is kept.
        most: replies that are kept, at most.
    """

    def __init__(self, folder: Path, most: int = MOST) -> None:
        self._folder = folder
        self._most = most

    def get(self, key: str) -> str:
        """The reply to a request; "" where none is kept, or it may not be read."""
        with suppress(OSError, UnicodeDecodeError):
            return self._path(key).read_text(encoding="utf-8")
        return ""

    def put(self, key: str, reply: str) -> None:
        """Keep a reply; where nothing can be written, the model is asked again next time."""
        with suppress(OSError):
            make_folder(self._folder)
            replace_text(self._path(key), reply, private=True)
            kept = list(self._folder.glob("*.json"))
            if len(kept) > self._most:
                kept.sort(key=lambda path: path.stat().st_mtime)
                for path in kept[: -self._most]:
                    path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def key_of(model: str, settings: ChatConfig, messages: Sequence[Message]) -> str:
    """The key of a request: another model, server, prompt or setting has another one.

    Args:
        model: its id, which changes with its weights. Where a server does not name them, its
            address counts.
        settings: of the model.
        messages: the prompt.
    """
    parts = [model, settings.server, repr(settings.temperature), str(settings.seed)]
    parts += [str(settings.max_tokens), *(f"{one.role}\0{one.content}" for one in messages)]
    return sha256("\0\0".join(parts).encode(errors="surrogatepass")).hexdigest()
