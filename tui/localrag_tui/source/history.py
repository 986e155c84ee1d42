"""Where a reader has been, and the way back and forward."""

from dataclasses import dataclass, replace

from localrag_tui.library import Library
from localrag_tui.spot import Spot

_MOST = 200


@dataclass(frozen=True, slots=True)
class Visit:
    """A place that was read.

    Attributes:
        spot: the place that was opened.
        library: the corpus that it lies in.
        top: the first character that was in view when it was left; None before.
        preview: whether it was only looked at: the next place that is takes its place.
    """

    spot: Spot
    library: Library
    top: int | None = None
    preview: bool = False


class History:
    """The visits of one pane, the one under way among them."""

    def __init__(self) -> None:
        self._visits: list[Visit] = []
        self._at = -1

    def enter(self, spot: Spot, library: Library, left_at: int, *, preview: bool = False) -> None:
        """Go to a new place; what was ahead is forgotten.

        Args:
            spot: the new place.
            library: the corpus that it lies in.
            left_at: the first character in view of the place that is left.
            preview: see `Visit`. Whoever goes on from a place has read it.
        """
        been = self._visits[: self._at + 1]
        here = been.pop() if been else None
        if here is not None and (here.spot, here.library) == (spot, library):
            preview = preview and here.preview
        elif here is not None and not (preview and here.preview):
            been.append(replace(here, top=left_at, preview=False))
        self._visits = [*been, Visit(spot, library, preview=preview)][-_MOST:]
        self._at = len(self._visits) - 1

    def ahead(self, by: int) -> Visit | None:
        """What is behind (-1) or ahead (1); None where there is nothing."""
        return self._visits[self._at + by] if self.can(by) else None

    def step(self, by: int, left_at: int) -> None:
        """Go to what `ahead` gave; see `enter`."""
        self._visits[self._at] = replace(self._visits[self._at], top=left_at)
        self._at += by

    def can(self, by: int) -> bool:
        """Whether there is something to go to."""
        return 0 <= self._at + by < len(self._visits)
