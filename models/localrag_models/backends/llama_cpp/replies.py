"""From the bytes of generated tokens to the pieces of an answer, each step linear in the reply."""

import codecs
from collections.abc import Callable, Sequence

from localrag_models.control_tokens import Restorer
from localrag_models.thinking import ThinkingSplitter


class Answer:
    """The answer as it comes: decoded, reasoning split off, control tokens restored, stops found.

    Args:
        on_text: called with each piece that is certain to be answer.
        stop: texts that end it.
        thinks: whether reasoning may come first.

    Attributes:
        stopped: one of the stops has come; it and what follows are left out.
    """

    def __init__(
        self, on_text: Callable[[str], None], stop: Sequence[str] = (), *, thinks: bool = True
    ) -> None:
        self.stopped = False
        self._on_text = on_text
        self._stop = stop
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._thinking = ThinkingSplitter()
        self._split = self._thinking if thinks else str
        self._restore = Restorer()
        self._held = ""
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """What `on_text` was given, joined."""
        return "".join(self._pieces)

    @property
    def thinking(self) -> str:
        """Reasoning that came before it."""
        return self._thinking.thinking

    def take(self, data: bytes) -> None:
        """Add the bytes of a token, which may end inside a character."""
        self._look(self._restore(self._split(self._decoder.decode(data))))

    def end(self) -> None:
        """Give out what was held back; an unfinished character becomes U+FFFD."""
        self._look(self._restore(self._split(self._decoder.decode(b"", True))))
        self._look(self._restore(self._thinking.end()))
        self._say(self._held)

    def _look(self, piece: str) -> None:
        """Give out what no stop can begin in any more."""
        if self.stopped or not piece:
            return
        if not self._stop:
            self._say(piece)
            return
        text = self._held + piece
        found = [place for stop in self._stop if (place := text.find(stop)) >= 0]
        self.stopped = bool(found)
        certain = min(found) if found else len(text) - self._open(text)
        self._held = "" if found else text[certain:]
        self._say(text[:certain])

    def _open(self, text: str) -> int:
        """Length of the longest end of a text that a stop begins with."""
        return max(
            (
                length
                for stop in self._stop
                for length in range(1, min(len(stop), len(text) + 1))
                if text.endswith(stop[:length])
            ),
            default=0,
        )

    def _say(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._on_text(piece)
