"""Where a reader is taken, and the request to take them there."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from localrag.corpus.types import Passage
    from localrag.reading.types import Citation


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
