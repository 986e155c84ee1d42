"""Following the making of an answer while it lasts, and ending it early."""

from collections.abc import Callable, Sequence

from localrag.reading.types import Nearest
from localrag.retrieval.types import StageRecord


class Cancelled(Exception):  # noqa: N818 - the name says what became of the question
    """Whoever asked does not want the answer any longer."""


class Watch:
    """Follows how an answer is made; whoever wants to hear of it overrides a method.

    Every method is called in the thread that makes the answer. What one raises ends the work and
    passes through.
    """

    def stage(self, record: StageRecord) -> None:
        """Take what a stage of the retrieval did, as soon as it has ended."""

    def near(self, nearest: Sequence[Nearest]) -> None:
        """Take what comes nearest, as soon as a search has ended; it may not answer."""

    def loading(self, model: str, done: int, total: int) -> None:
        """Take how much of a model is loaded: bytes of bytes; total 0 where nobody says."""

    def reading(self, done: int, total: int) -> None:
        """Take how much of a prompt a model has read: tokens of tokens.

        Told with (0, 0) when the model is asked. Servers mostly tell no more.
        """

    def wrote(self, piece: str) -> None:
        """Take a piece of a model's reply, about a token, as it comes."""

    def draft(self, claims: Sequence[str]) -> None:
        """Take the claims as far as a model has written them; nothing in them is checked yet."""

    def cancelled(self) -> bool:
        """Whether the answer is no longer wanted; asked at least once per token."""
        return False

    def require(self) -> None:
        """Go on only where the answer is still wanted.

        Raises:
            Cancelled: it is not.
        """
        if self.cancelled():
            raise Cancelled


UNWATCHED = Watch()
"""The watch of an answer that nobody follows."""


class Drafting:
    """Tells a watch the claims of one reply, as far as they can be read while it is written.

    Args:
        watch: is told each piece, and the claims where a piece changes them.
        claims: reads the claims out of the beginning of a reply.
    """

    def __init__(self, watch: Watch, claims: Callable[[str], Sequence[str]]) -> None:
        self._watch = watch
        self._claims = claims
        self._text = ""
        self._told: Sequence[str] = ()

    def wrote(self, piece: str) -> None:
        """Take a piece of the reply, as it comes."""
        self._watch.wrote(piece)
        self._text += piece
        claims = self._claims(self._text)
        if claims != self._told:
            self._told = claims
            self._watch.draft(claims)
