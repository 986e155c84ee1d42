"""A hit in three rows: where it stands, the words that match, why it was found."""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from localrag.language import _
from localrag.retrieval.types import Hit
from localrag_tui.search.places import fitted
from localrag_tui.shown import cut, harmless, one_line
from localrag_tui.widgets.adaptive import AdaptiveRow
from localrag_tui.wording import provenance, stage

_INDENT = "    "
# The first match stands at this share of the row at most, so that what follows it is seen too.
_FIRST_MATCH = 0.4
_CHARACTERS = 400
"""Of a passage that are shown before its matches are known."""


class HitRow(AdaptiveRow):
    """A hit as an option of a list, written for whatever width the list has.

    Args:
        hit: what is shown.
        text: the part of its passage that is shown.
        marks: spans in `text` that match.
        place: the headings it stands under, from the outermost.
        ways: how it was found; without any, the stage says it.
    """

    HEIGHT: ClassVar[int] = 3

    def __init__(
        self,
        hit: Hit,
        text: str = "",
        marks: Sequence[tuple[int, int]] = (),
        place: Sequence[str] = (),
        ways: Sequence[str] = (),
    ) -> None:
        self._hit = hit
        self._text = text or hit.passage.text[:_CHARACTERS]
        self._marks = marks
        self._place = place
        self._ways = ways

    def write(self, width: int) -> list[Content]:
        """Write the three rows."""
        return [self._head(width), self._match(width), self._why(width)]

    def _head(self, width: int) -> Content:
        rank = f"{self._hit.rank:>3} "
        header = one_line(self._hit.passage.header or self._hit.passage.document_id)
        return Content.assemble(
            (rank, "$foreground-muted"), (fitted(header, width - len(rank)), "bold")
        )

    def _match(self, width: int) -> Content:
        room = width - len(_INDENT)
        text = harmless(self._text).replace("\n", " ").replace("\t", " ")
        begin = _begin(text, self._marks, room)
        lead = "…" if begin else ""
        shown = cut(text[begin : begin + room + 1], room - len(lead))
        content = Content(shown)
        for start, end in self._marks:
            if start >= begin:
                content = content.stylize("bold $accent", start - begin, end - begin)
        return Content.assemble(_INDENT, lead, content)

    def _why(self, width: int) -> Content:
        hit = self._hit
        parts = list(self._ways) or [stage(hit.stage)]
        parts.append(_("score {score}").format(score=f"{hit.score:.3f}"))
        if hit.reason:
            parts.append(one_line(str(hit.reason)))
        if hit.beside:
            parts.append(provenance("", beside=True))
        if self._place:
            parts.append(one_line(" › ".join(self._place)))
        line = cut("  ·  ".join(parts), width - len(_INDENT))
        return Content.assemble(_INDENT, (line, "$foreground-muted"))


def _begin(text: str, marks: Sequence[tuple[int, int]], width: int) -> int:
    """Where to begin in a text so that its first match is seen."""
    if not marks:
        return 0
    before = text[: marks[0][0]]
    excess = cell_len(before) - int(width * _FIRST_MATCH)
    return len(set_cell_size(before, excess)) if excess > 0 else 0
