"""Where a reader is taken, the request to take them there, and where they have been."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from localrag.answer.types import Citation
    from localrag.corpus.types import Passage
    from localrag_tui.library import Library


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a document.

    Attributes:
        document_id: the document.
        start, end: span in its text, in characters; a quotation is highlighted, which is nothing
            where both are the same.
        passage_id: the passage that is looked at; "" for the one that holds `start`.
        state: of a quotation, the day whose wording of the law it is (ISO); "" for the text that is
            shown now.
    """

    document_id: str
    start: int = 0
    end: int = 0
    passage_id: str = ""
    state: str = ""

    @classmethod
    def of(cls, passage: "Passage") -> "Spot":
        """The beginning of a passage."""
        return cls(passage.document_id, passage.start, passage.start, passage.id)

    @classmethod
    def quoted(cls, citation: "Citation", passage: "Passage") -> "Spot":
        """A verified quotation; the passage alone where it was rejected."""
        span = (citation.start, citation.end) if citation.verified else (passage.start,) * 2
        return cls(passage.document_id, *span, passage.id, citation.state)


class OpenSpot(Message):
    """Somebody wants to read a place; a screen with a source pane shows it there.

    Where none does, the application goes to the Read screen.

    Attributes:
        beside: on the Read screen, in two panes, so that another place can be read in one of them.
    """

    def __init__(self, spot: Spot, *, beside: bool = False) -> None:
        super().__init__()
        self.spot = spot
        self.beside = beside


_MOST = 200
"""Visits that are kept."""


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
    library: "Library"
    top: int | None = None
    preview: bool = False


class History:
    """The visits of one pane, the one under way among them."""

    def __init__(self) -> None:
        self._visits: list[Visit] = []
        self._at = -1

    def enter(self, spot: Spot, library: "Library", left_at: int, *, preview: bool = False) -> None:
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
