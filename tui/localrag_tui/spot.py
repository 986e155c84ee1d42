"""A place to read, the request to open it, and the history of places."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from localrag.answer.types import Citation
    from localrag.corpus.types import Passage
    from localrag_tui.library import Library


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a document."""

    document_id: str
    # start, end: span in its text, in characters, highlighted; empty if both are equal
    start: int = 0
    end: int = 0
    passage_id: str = ""  # the passage; "" for the passage at `start`
    state: str = ""  # the day (ISO) of the state it quotes; "" for the text shown now

    @classmethod
    def of(cls, passage: "Passage") -> "Spot":
        return cls(passage.document_id, passage.start, passage.start, passage.id)

    @classmethod
    def quoted(cls, citation: "Citation", passage: "Passage") -> "Spot":
        """A verified quotation; for a rejected one, the passage."""
        span = (citation.start, citation.end) if citation.verified else (passage.start,) * 2
        return cls(passage.document_id, *span, passage.id, citation.state)


@dataclass
class OpenSpot(Message):
    """Open a place: on a screen with a source pane there, else on the Read screen."""

    spot: Spot
    beside: bool = False  # whether to open it in two panes of the Read screen


_MOST = 200
"""Most visits kept."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A visited place."""

    spot: Spot
    library: "Library"
    top: int | None = None  # the first character in view on leaving; None before
    preview: bool = False  # whether it was only a preview, to be replaced by the next place


class VisitHistory:
    """The visits of one pane, with the current one."""

    def __init__(self) -> None:
        self._visits: list[Visit] = []
        self._at = -1

    def enter(self, spot: Spot, library: "Library", left_at: int, *, preview: bool = False) -> None:
        been = self._visits[: self._at + 1]
        here = been.pop() if been else None
        if here is not None and (here.spot, here.library) == (spot, library):
            preview = preview and here.preview
        elif here is not None and not (preview and here.preview):
            been.append(replace(here, top=left_at, preview=False))
        self._visits = [*been, Visit(spot, library, preview=preview)][-_MOST:]
        self._at = len(self._visits) - 1

    def ahead(self, by: int) -> Visit | None:
        to = self._at + by
        return self._visits[to] if 0 <= to < len(self._visits) else None

    def step(self, by: int, left_at: int) -> None:
        self._visits[self._at] = replace(self._visits[self._at], top=left_at)
        self._at += by
