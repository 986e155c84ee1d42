"""Following the making of an answer while it lasts, and ending it early."""

from collections.abc import Sequence

from localrag.retrieval.model import StageRecord


class Cancelled(Exception):  # noqa: N818 - the name says what became of the question
    """Whoever asked does not want the answer any longer."""


class Watch:
    """Follows how an answer is made; this one looks away.

    Every method is called in the thread that makes the answer. What one raises ends the work and
    passes through.
    """

    def stage(self, record: StageRecord) -> None:
        """Take what a stage of the retrieval did, as soon as it has ended."""

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
"""Nobody follows."""
