"""The ranking of every stage side by side; a passage is marked in all of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rich.cells import set_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, HorizontalScroll, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from localrag.facts import Fact
from localrag.language import N_, _
from localrag.retrieval.types import Hit, StageRecord
from localrag_tui.search.results import fitted
from localrag_tui.shell.base import finish
from localrag_tui.shown import one_line
from localrag_tui.widgets.listing import AdaptiveList, AdaptiveRow
from localrag_tui.wording import note, stage


class StageRow(AdaptiveRow):
    """Rank, place in short and points, written for whatever width the column has.

    Args:
        hit: what is shown.
        places: where each passage stands, in short, by its id.
        best: the score that counts as 100 points: stages count by scales of their own.
    """

    def __init__(self, hit: Hit, places: Mapping[str, str], best: float) -> None:
        self._hit = hit
        self._points = round(100 * hit.score / best) if best > 0 else 0
        self._place = places.get(hit.passage.id) or one_line(hit.passage.header)

    def write(self, width: int) -> list[Content]:
        """Write it in exactly `width` cells."""
        rank, points = f"{self._hit.rank:>3} ", f" {self._points:>3}"
        room = max(0, width - len(rank) - len(points))
        return [Content(rank + set_cell_size(fitted(self._place, room), room) + points)]


def stage_head(record: StageRecord) -> Content:
    """What the stage is called, and how much it found."""
    figures = f"  {len(record.hits):,}"
    return Content.assemble((stage(record.stage), "bold"), (figures, "$foreground-muted"))


def journey(records: tuple[StageRecord, ...], passage_id: str) -> str:
    """How a passage moved from stage to stage: ``words no. 7 › put together no. 2``."""
    return " › ".join(
        _("{stage} no. {n}").format(stage=stage(record.stage), n=hit.rank)
        for record in records
        for hit in record.hits
        if hit.passage.id == passage_id
    )


_NARROWEST = 25
"""Cells of a column at least: three stand side by side in 80."""
_EMPTY = 14
"""Cells of a column in which nothing stands."""


def left_out(told: Iterable[Fact | str]) -> Content:
    """What stages left out or switched off, each told once."""
    return Content(" · ".join(note(event) for event in dict.fromkeys(told)))


class Ranking(AdaptiveList):
    """What one stage found, best first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "sideways(-1)", N_("Stage before"), id="stages.before", show=False),
        Binding("right", "sideways(1)", N_("Next stage"), id="stages.next", show=False),
    ]

    ROW = StageRow

    class Sideways(Message):
        """The user goes to a column before or after this one."""

        def __init__(self, ranking: "Ranking", step: int) -> None:
            super().__init__()
            self.ranking = ranking
            self.step = step

    def __init__(self, record: StageRecord, places: Mapping[str, str]) -> None:
        best = max((hit.score for hit in record.hits), default=0.0)
        super().__init__(*(Option(StageRow(hit, places, best)) for hit in record.hits))
        self.hits = record.hits

    def mark(self, passage_id: str) -> None:
        """Mark a passage, if the stage found it."""
        found = (place for place, hit in enumerate(self.hits) if hit.passage.id == passage_id)
        self.highlighted = next(found, None)

    def action_sideways(self, step: int) -> None:
        """Go to the column before or after this one."""
        self.post_message(self.Sideways(self, step))


class StageColumns(Horizontal):
    """A column for each stage; what does not fit is reached by whole columns."""

    class Marked(Message):
        """Another passage is looked at."""

        def __init__(self, hit: Hit) -> None:
            super().__init__()
            self.hit = hit

    class Chosen(Marked):
        """A passage is to be opened."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self._first = 0
        self._shown = 1

    def compose(self) -> ComposeResult:
        yield HorizontalScroll(can_focus=False)

    async def show(
        self, records: Sequence[StageRecord], places: Mapping[str, str], passage_id: str
    ) -> None:
        """Show what stages found, a passage marked.

        Args:
            records: of the stages, in order.
            places: where each passage stands, in short, by its id.
            passage_id: the passage that is marked.
        """
        room = self.query_one(HorizontalScroll)
        had_focus = self.has_focus_within
        with self.app.batch_update():
            await finish(room.remove_children())
            await room.mount_all(_column(record, places) for record in records)
            self._fit()
            self.mark(passage_id)
        if had_focus:
            self.enter()

    def enter(self) -> None:
        """Put the cursor into the last column, on the passage that is marked."""
        rankings = [*self.query(Ranking)]
        if rankings:
            self._go(len(rankings) - 1)

    def mark(self, passage_id: str) -> None:
        """Mark a passage in every column that has it."""
        for ranking in self.query(Ranking):
            if not (ranking.has_focus and ranking.highlighted is not None):
                ranking.mark(passage_id)

    @on(Ranking.Sideways)
    def _sideways(self, event: Ranking.Sideways) -> None:
        event.stop()
        rankings = [*self.query(Ranking)]
        place = rankings.index(event.ranking) + event.step
        if 0 <= place < len(rankings):
            self._go(place)

    @on(OptionList.OptionHighlighted)
    def _looked(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        ranking = event.option_list
        if isinstance(ranking, Ranking) and ranking.has_focus:
            hit = ranking.hits[event.option_index]
            self.mark(hit.passage.id)
            self.post_message(self.Marked(hit))

    @on(OptionList.OptionSelected)
    def _taken(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if isinstance(event.option_list, Ranking):
            self.post_message(self.Chosen(event.option_list.hits[event.option_index]))

    def on_resize(self) -> None:
        self._fit()

    def _go(self, place: int) -> None:
        ranking = [*self.query(Ranking)][place]
        # The passage that is marked elsewhere may be none of this stage's.
        if ranking.highlighted is None and ranking.hits:
            ranking.highlighted = 0
        ranking.focus(scroll_visible=False)
        self._first = min(max(self._first, place - self._shown + 1), place)
        self._scroll()

    def _fit(self) -> None:
        columns = [*self.query(".stage")]
        width = self.size.width
        if not columns or not width:
            return
        # What found nothing needs no more room than to say so, if all the others have enough.
        empty = [column for column in columns if column.has_class("-empty")]
        full = len(columns) - len(empty)
        room = width - len(empty) * _EMPTY
        if empty and full and room // full >= _NARROWEST:
            for column in columns:
                column.styles.width = _EMPTY if column in empty else room // full
            self.query_one(HorizontalScroll).styles.width = width
            self._shown, self._first = len(columns), 0
            return
        self._shown = min(len(columns), max(1, width // _NARROWEST))
        each = width // self._shown
        for column in columns:
            column.styles.width = each
        # What is left over would show a slice of the next column.
        self.query_one(HorizontalScroll).styles.width = each * self._shown
        self._first = min(self._first, len(columns) - self._shown)
        self.call_after_refresh(self._scroll)

    def _scroll(self) -> None:
        room = self.query_one(HorizontalScroll)
        room.scroll_to(x=self._first * (self.size.width // self._shown), animate=False)


def _column(record: StageRecord, places: Mapping[str, str]) -> Vertical:
    parts: list[Static | Ranking] = [Static(stage_head(record), classes="head")]
    if record.events:
        parts.append(Static(left_out(record.events), classes="events"))
    empty = not (record.hits or record.events)
    classes = "stage -empty" if empty else "stage"
    return Vertical(*parts, Ranking(record, places), classes=classes)
