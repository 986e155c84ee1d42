"""The hits of a search as a list."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.message import Message
from textual.widgets.option_list import Option

from localrag.retrieval.types import Hit, StageRecord
from localrag_tui.search.explaining import Explained
from localrag_tui.search.row import HitRow
from localrag_tui.search.stage_row import found_by
from localrag_tui.widgets.adaptive import AdaptiveList


class Results(AdaptiveList):
    """The hits, best first; each search puts the cursor on its first."""

    DEFAULT_CSS: ClassVar[str] = """
    Results {
        & > .option-list--option-highlighted { background: $panel; text-style: none; }
        &:focus > .option-list--option-highlighted {
            color: $foreground;
            background: $block-cursor-blurred-background;
            text-style: none;
        }
    }
    """

    ROW = HitRow

    class Scrolled(Message):
        """Other hits are in view."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self.hits: tuple[Hit, ...] = ()
        self._ways: list[list[str]] = []
        self._explained: set[int] = set()

    @property
    def chosen(self) -> Hit | None:
        """The hit under the cursor."""
        if self.highlighted is None or self.highlighted >= len(self.hits):
            return None
        return self.hits[self.highlighted]

    def show(self, hits: Sequence[Hit], stages: Sequence[StageRecord] = ()) -> None:
        """Show these hits in the place of the others, and which stages found them."""
        self.hits = tuple(hits)
        self._ways = [found_by(stages, hit.passage.id) for hit in hits]
        self._explained.clear()
        self.set_options(
            Option(HitRow(hit, ways=ways)) for hit, ways in zip(hits, self._ways, strict=True)
        )
        self.highlighted = 0 if hits else None

    def look_at(self, hit: Hit | None) -> None:
        """Put the cursor on the passage of a hit, if it is among these."""
        found = (at for at, of in enumerate(self.hits) if hit and of.passage.id == hit.passage.id)
        self.highlighted = next(found, self.highlighted)

    @property
    def unexplained(self) -> list[int]:
        """Which of the hits in view are not explained yet."""
        first = self.scroll_offset.y // HitRow.HEIGHT
        last = (self.scroll_offset.y + self.size.height) // HitRow.HEIGHT
        shown = range(first, min(last + 1, len(self.hits)))
        return [index for index in shown if index not in self._explained]

    def explain(self, explained: Mapping[int, Explained]) -> None:
        """Add what became known of hits, by their place in the list."""
        self._explained.update(explained)
        for index, of in explained.items():
            row = HitRow(self.hits[index], of.text, of.marks, of.place, self._ways[index])
            self.replace_option_prompt_at_index(index, row)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell that others are in view."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_resize(self) -> None:
        """Tell the same."""
        self.post_message(self.Scrolled())
