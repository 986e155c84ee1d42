"""Keeps the reasoning at the head of a reply apart from the answer, while both come in pieces."""

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkingSplitter:
    """Tells a leading ``<think>…</think>`` from the answer after it.

    Attributes:
        thinking: the reasoning that has come so far.
    """

    def __init__(self) -> None:
        self.thinking = ""
        self._take = self._head
        self._held = ""

    def __call__(self, piece: str) -> str:
        """The part of the reply that, with this piece, is known to be answer."""
        return self._take(piece)

    def end(self) -> str:
        """What was held back, where it turns out to be answer; nothing more comes."""
        held, self._held = self._held, ""
        if self._take == self._inside:
            self.thinking += held
            return ""
        return held

    def _head(self, piece: str) -> str:
        self._held += piece
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            self._held, self._take = "", self._inside
            return self._inside(start.removeprefix(_OPEN))
        if _OPEN.startswith(start):
            return ""
        return self._release()

    def _inside(self, piece: str) -> str:
        reasoning, closed, answer = (self._held + piece).partition(_CLOSE)
        if closed:
            self.thinking = (self.thinking + reasoning).strip()
            self._held, self._take = "", self._between
            return self._between(answer)
        # Only the tail can be the beginning of the closing tag.
        self.thinking += reasoning[: -len(_CLOSE)]
        self._held = reasoning[-len(_CLOSE) :]
        return ""

    def _between(self, piece: str) -> str:
        """Blank lines between the reasoning and the answer belong to neither."""
        answer = piece.lstrip()
        if answer:
            self._take = self._answer
        return answer

    def _answer(self, piece: str) -> str:
        return piece

    def _release(self) -> str:
        held, self._held = self._held, ""
        self._take = self._answer
        return held
