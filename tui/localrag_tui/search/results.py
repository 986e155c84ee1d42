"""The hits of a search, and the ranking of each stage side by side."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, HorizontalScroll, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from localrag.answer.wording import beside, by_model, of_passage
from localrag.corpus.types import Passage
from localrag.language import N_, _
from localrag.search.types import Hit, Query, StageRecord
from localrag.text.facts import Fact
from localrag.text.harmless import cut, harmless, one_line
from localrag_tui.shell.base import finish
from localrag_tui.shell.listing import AdaptiveList, AdaptiveRow
from localrag_tui.shown import note, stage

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.law.names import LawNames

_NAMING = "resolve"
_FINDING = (_NAMING, "lexical", "dense")
_CUT = "…"
# Least cells of a title before the caption gets any.
_LEAST_TITLE = 20
# A shorter title says nothing.
_LEAST_CUT = 4


def short_place(passage: Passage, names: "LawNames") -> str:
    """The short place of a passage: 金商法 27条の2; for other documents its headings."""
    from localrag.law.notation import cite

    locator = passage.locator
    if not locator.path:
        return one_line(passage.header)
    place = cite("", locator, arabic=True).removeprefix("第")
    if locator.division:
        place = passage.header.removeprefix(names.title(passage.document_id)).strip()
    return one_line(f"{_short_titles(names).get(passage.document_id, '')} {place}")


def fitted(header: str, width: int) -> str:
    """A header in `width` cells: the caption is cut first, then the title, then the number."""
    if cell_len(header) <= width:
        return header
    title, _, rest = header.partition(" ")
    number, bracket, _ = rest.partition("（")
    # The sign for a cut caption follows the number.
    beside = cell_len(number) + len(bracket and _CUT)
    room = max(width - cell_len(rest) - 1, min(_LEAST_TITLE, width - beside - 1))
    if not rest or room < _LEAST_CUT:
        return cut(header, width)
    return cut(f"{_cut_inside(title, room)} {rest}", width)


def _cut_inside(title: str, width: int) -> str:
    if cell_len(title) <= width:
        return title
    end = ""
    # The end of a title is its kind: …施行令, …に関する内閣府令.
    while cell_len(end) < (width - 1) // 2:
        end = title[-len(end) - 1 :]
    end = end[1:]
    return set_cell_size(title, width - 1 - cell_len(end)).rstrip() + _CUT + end


@lru_cache(maxsize=2)
def _short_titles(names: "LawNames") -> dict[str, str]:
    short = {law_id: row.title for law_id, row in names.rows.items()}
    for name, law_ids in names.names.items():
        for law_id in law_ids:
            if len(law_ids) == 1 and len(name) < len(short[law_id]):
                short[law_id] = name
    return short


# A row of a wide screen, and the part cut off before the first match.
_WINDOW = 240


@dataclass(frozen=True, slots=True)
class Explained:
    """Further facts on a hit."""

    text: str  # the best matching part of its passage
    marks: tuple[tuple[int, int], ...]  # matching spans in `text`
    place: tuple[str, ...]  # its headings, outermost first (編・章・節)
    words: tuple[str, ...]  # words of the query in its passage and header, as written there


def explain(
    store: "CorpusStore",
    query: Query,
    phrases: Sequence[str],
    hits: Sequence[Hit],
    overtaken: Callable[[], bool],
) -> list[Explained]:
    """Explain hits, a few milliseconds each, until overtaken."""
    explained = []
    for hit in hits:
        if overtaken():
            break
        explained.append(_explained(store, query, phrases, hit))
    return explained


def _explained(store: "CorpusStore", query: Query, phrases: Sequence[str], hit: Hit) -> Explained:
    from localrag.search.provision import headings
    from localrag.search.query import snippet

    text = hit.passage.text
    # The header of another document contains its headings.
    place = headings(store, hit.passage) if hit.passage.locator.path else ()
    window = snippet(query, text, _WINDOW)
    return Explained(
        text[window.start : window.end],
        tuple((start - window.start, end - window.start) for start, end in window.highlights),
        place,
        _standing(query, phrases, f"{hit.passage.header}\n{text}"),
    )


def _standing(query: Query, phrases: Sequence[str], text: str) -> tuple[str, ...]:
    """The words of a query and its phrases in a text."""
    from localrag.search.query import snippet

    marked = [text[start:end] for start, end in snippet(query, text, len(text)).highlights]
    every = dict.fromkeys([*marked, *(phrase for phrase in phrases if phrase in text)])
    return tuple(
        word for word in every if not any(word in other and word != other for other in every)
    )


_INDENT = "    "
# The first match is at most here in the row, to show its context.
_FIRST_MATCH = 0.4
_CHARACTERS = 400
"""Characters of a passage shown before its matches are known."""


class HitRow(AdaptiveRow):
    """A hit in three lines of any width. `ways`: how it was found; default: its stage."""

    HEIGHT: ClassVar[int] = 3

    def __init__(
        self,
        hit: Hit,
        text: str = "",
        marks: Sequence[tuple[int, int]] = (),
        place: Sequence[str] = (),
        ways: Sequence[str] = (),
        words: Sequence[str] = (),
    ) -> None:
        self._hit = hit
        self._text = text or hit.passage.text[:_CHARACTERS]
        self._marks = marks
        self._place = place
        self._ways = ways
        self._words = words

    def write(self, width: int) -> list[Content]:
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
        if self._words:
            parts.append(_("has: {words}").format(words=one_line(_(", ").join(self._words))))
        if hit.reason:
            parts.append(one_line(str(hit.reason)))
        if hit.beside:
            parts.append(beside())
        parts += map(one_line, filter(None, (by_model(hit), of_passage(hit.passage))))
        if self._place:
            parts.append(one_line(" › ".join(self._place)))
        room = width - len(_INDENT)
        scored = "  ·  ".join([*parts, _("score {score}").format(score=f"{hit.score:.3f}")])
        # Without room the score goes first.
        line = scored if cell_len(scored) <= room else cut("  ·  ".join(parts), room)
        return Content.assemble(_INDENT, (line, "$foreground-muted"))


def _begin(text: str, marks: Sequence[tuple[int, int]], width: int) -> int:
    """The start of the shown text; its first match is in view."""
    if not marks:
        return 0
    before = text[: marks[0][0]]
    excess = cell_len(before) - int(width * _FIRST_MATCH)
    return len(set_cell_size(before, excess)) if excess > 0 else 0


def found_by(records: Sequence[StageRecord], passage_id: str) -> list[str]:
    """How a passage was found: by name, words or meaning, each with its rank."""
    ways = []
    for record in records:
        if record.stage not in _FINDING:
            continue
        hit = next((hit for hit in record.hits if hit.passage.id == passage_id), None)
        if hit is not None and record.stage == _NAMING:
            ways.append(_("named"))
        elif hit is not None:
            ways.append(_("{stage} no. {n}").format(stage=stage(record.stage), n=hit.rank))
    return ways


class Results(AdaptiveList):
    """The hits, best first; a new search puts the cursor on the first."""

    ROW = HitRow

    class ListScrolled(Message):
        """Other hits are in view."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self.hits: tuple[Hit, ...] = ()
        self._ways: list[list[str]] = []
        self._explained: set[int] = set()

    @property
    def chosen(self) -> Hit | None:
        if self.highlighted is None or self.highlighted >= len(self.hits):
            return None
        return self.hits[self.highlighted]

    def show(self, hits: Sequence[Hit], stages: Sequence[StageRecord] = ()) -> None:
        self.hits = tuple(hits)
        self._ways = [found_by(stages, hit.passage.id) for hit in hits]
        self._explained.clear()
        self.set_options(
            Option(HitRow(hit, ways=ways)) for hit, ways in zip(hits, self._ways, strict=True)
        )
        self.highlighted = 0 if hits else None

    def look_at(self, hit: Hit | None) -> None:
        found = (at for at, of in enumerate(self.hits) if hit and of.passage.id == hit.passage.id)
        self.highlighted = next(found, self.highlighted)

    @property
    def unexplained(self) -> list[int]:
        first = self.scroll_offset.y // HitRow.HEIGHT
        last = (self.scroll_offset.y + self.size.height) // HitRow.HEIGHT
        shown = range(first, min(last + 1, len(self.hits)))
        return [index for index in shown if index not in self._explained]

    def explain(self, explained: Mapping[int, Explained]) -> None:
        self._explained.update(explained)
        for index, of in explained.items():
            ways = self._ways[index]
            row = HitRow(self.hits[index], of.text, of.marks, of.place, ways, of.words)
            self.replace_option_prompt_at_index(index, row)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.ListScrolled())

    def on_resize(self) -> None:
        self.post_message(self.ListScrolled())


class StageRow(AdaptiveRow):
    """Rank, short place and points of a hit; `best` has 100 points, on its stage's scale."""

    def __init__(self, hit: Hit, places: Mapping[str, str], best: float) -> None:
        self._hit = hit
        self._points = round(100 * hit.score / best) if best > 0 else 0
        self._place = places.get(hit.passage.id) or one_line(hit.passage.header)

    def write(self, width: int) -> list[Content]:
        rank, points = f"{self._hit.rank:>3} ", f" {self._points:>3}"
        room = max(0, width - len(rank) - len(points))
        return [Content(rank + set_cell_size(fitted(self._place, room), room) + points)]


def stage_head(record: StageRecord) -> Content:
    """The name of a stage, and its number of hits."""
    figures = f"  {len(record.hits):,}"
    return Content.assemble((stage(record.stage), "bold"), (figures, "$foreground-muted"))


def journey(records: tuple[StageRecord, ...], passage_id: str) -> str:
    """The ranks of a passage, stage by stage: ``words no. 7 › put together no. 2``."""
    return " › ".join(
        _("{stage} no. {n}").format(stage=stage(record.stage), n=hit.rank)
        for record in records
        for hit in record.hits
        if hit.passage.id == passage_id
    )


_NARROWEST = 25
"""Least cells of a column: three fit into 80."""
_EMPTY = 14
"""Cells of an empty column."""


def left_out(told: Iterable[Fact | str]) -> Content:
    """The events of stages, each once."""
    return Content(" · ".join(note(event) for event in dict.fromkeys(told)))


class Ranking(AdaptiveList):
    """The hits of one stage, best first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "sideways(-1)", N_("Stage before"), id="stages.before", show=False),
        Binding("right", "sideways(1)", N_("Next stage"), id="stages.next", show=False),
    ]

    ROW = StageRow

    @dataclass
    class Sideways(Message):
        """Go to another column."""

        ranking: "Ranking"
        step: int

    def __init__(self, record: StageRecord, places: Mapping[str, str]) -> None:
        best = max((hit.score for hit in record.hits), default=0.0)
        super().__init__(*(Option(StageRow(hit, places, best)) for hit in record.hits))
        self.hits = record.hits

    def mark(self, passage_id: str) -> None:
        found = (place for place, hit in enumerate(self.hits) if hit.passage.id == passage_id)
        self.highlighted = next(found, None)

    def action_sideways(self, step: int) -> None:
        self.post_message(self.Sideways(self, step))


class StageColumns(Horizontal):
    """A column for each stage; it scrolls by whole columns."""

    @dataclass
    class Marked(Message):
        """Another passage is highlighted."""

        hit: Hit

    class HitTaken(Marked):
        """Open a passage."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self._first = 0
        self._shown = 1

    def compose(self) -> ComposeResult:
        yield HorizontalScroll(can_focus=False)

    async def show(
        self, records: Sequence[StageRecord], places: Mapping[str, str], passage_id: str
    ) -> None:
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
        rankings = [*self.query(Ranking)]
        if rankings:
            self._go(len(rankings) - 1)

    def mark(self, passage_id: str) -> None:
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
            self.post_message(self.HitTaken(event.option_list.hits[event.option_index]))

    def on_resize(self) -> None:
        self._fit()

    def _go(self, place: int) -> None:
        ranking = [*self.query(Ranking)][place]
        # The stage may not have found the marked passage.
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
        # Empty columns are narrow if all others have enough room.
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
        # A remainder would show a slice of the next column.
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
