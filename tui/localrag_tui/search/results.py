"""The hits of a search: where each stands, the words that match, why it was found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.message import Message
from textual.widgets.option_list import Option

from localrag.corpus.types import Passage
from localrag.language import _
from localrag.reading.wording import beside, by_model, of_passage
from localrag.retrieval.types import Hit, Query, StageRecord
from localrag_tui.shown import cut, harmless, one_line
from localrag_tui.widgets.listing import AdaptiveList, AdaptiveRow
from localrag_tui.wording import stage

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.statutes.names import LawNames


_NAMING = "resolve"
_FINDING = (_NAMING, "lexical", "dense")
_CUT = "…"
# A title has so many cells before the caption of the article has any.
_LEAST_TITLE = 20
# A title in fewer cells says nothing.
_LEAST_CUT = 4


def short_place(passage: Passage, names: "LawNames") -> str:
    """The place of a passage in short: 金商法 27条の2; of other documents the headings."""
    from localrag.statutes.notation import cite

    locator = passage.locator
    if not locator.path:
        return one_line(passage.header)
    place = cite("", locator, arabic=True).removeprefix("第")
    if locator.division:
        place = passage.header.removeprefix(names.title(passage.document_id)).strip()
    return one_line(f"{_short_titles(names).get(passage.document_id, '')} {place}")


def fitted(header: str, width: int) -> str:
    """A header in at most `width` cells.

    The caption of an article goes first, then the middle of the title of the law, then the number.
    """
    if cell_len(header) <= width:
        return header
    title, _, rest = header.partition(" ")
    number, bracket, _ = rest.partition("（")
    # Where the caption is cut, the sign for it follows the number.
    beside = cell_len(number) + len(bracket and _CUT)
    room = max(width - cell_len(rest) - 1, min(_LEAST_TITLE, width - beside - 1))
    if not rest or room < _LEAST_CUT:
        return cut(header, width)
    return cut(f"{_cut_inside(title, room)} {rest}", width)


def _cut_inside(title: str, width: int) -> str:
    if cell_len(title) <= width:
        return title
    end = ""
    # The end of a title says what it is: …施行令, …に関する内閣府令.
    while cell_len(end) < (width - 1) // 2:
        end = title[-len(end) - 1 :]
    end = end[1:]
    return set_cell_size(title, width - 1 - cell_len(end)).rstrip() + _CUT + end


@lru_cache(maxsize=2)
def _short_titles(names: "LawNames") -> dict[str, str]:
    """The shortest name of each law that no other bears."""
    short = {law_id: row.title for law_id, row in names.rows.items()}
    for name, law_ids in names.names.items():
        for law_id in law_ids:
            if len(law_ids) == 1 and len(name) < len(short[law_id]):
                short[law_id] = name
    return short


# A row of a wide screen, and what is cut off before the first match.
_WINDOW = 240


@dataclass(frozen=True, slots=True)
class Explained:
    """What became known of a hit.

    Attributes:
        text: the part of its passage that matches best.
        marks: spans in `text` that match.
        place: the headings that a provision stands under, from the outermost (編・章・節).
        words: what of the query stands in it as a whole or in its header, as it is written there.
    """

    text: str
    marks: tuple[tuple[int, int], ...]
    place: tuple[str, ...]
    words: tuple[str, ...]


def explain(
    store: "CorpusStore",
    query: Query,
    phrases: Sequence[str],
    hits: Sequence[Hit],
    overtaken: Callable[[], bool],
) -> list[Explained]:
    """Explain hits, a few milliseconds each, until nobody wants to know any more.

    Args:
        store: the corpus.
        query: what was searched for.
        phrases: what was looked up besides its words.
        hits: what was found.
        overtaken: whether nobody wants to know.
    """
    explained = []
    for hit in hits:
        if overtaken():
            break
        explained.append(_explained(store, query, phrases, hit))
    return explained


def _explained(store: "CorpusStore", query: Query, phrases: Sequence[str], hit: Hit) -> Explained:
    from localrag.provision import headings
    from localrag.retrieval.query import snippet

    text = hit.passage.text
    # The header of another document is made of its headings.
    place = headings(store, hit.passage) if hit.passage.locator.path else ()
    window = snippet(query, text, _WINDOW)
    return Explained(
        text[window.start : window.end],
        tuple((start - window.start, end - window.start) for start, end in window.highlights),
        place,
        _standing(query, phrases, f"{hit.passage.header}\n{text}"),
    )


def _standing(query: Query, phrases: Sequence[str], text: str) -> tuple[str, ...]:
    """What of a query, and of the phrases looked up besides, a text holds."""
    from localrag.retrieval.query import snippet

    marked = [text[start:end] for start, end in snippet(query, text, len(text)).highlights]
    every = dict.fromkeys([*marked, *(phrase for phrase in phrases if phrase in text)])
    return tuple(
        word for word in every if not any(word in other and word != other for other in every)
    )


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
        words: what of the query stands in it.
    """

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
        # The score gives way: it tells less than all the others.
        line = scored if cell_len(scored) <= room else cut("  ·  ".join(parts), room)
        return Content.assemble(_INDENT, (line, "$foreground-muted"))


def _begin(text: str, marks: Sequence[tuple[int, int]], width: int) -> int:
    """Where to begin in a text so that its first match is seen."""
    if not marks:
        return 0
    before = text[: marks[0][0]]
    excess = cell_len(before) - int(width * _FIRST_MATCH)
    return len(set_cell_size(before, excess)) if excess > 0 else 0


def found_by(records: Sequence[StageRecord], passage_id: str) -> list[str]:
    """How a passage was found: named, by its words, by its meaning; each with its place there."""
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
    """The hits, best first; each search puts the cursor on its first."""

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
            ways = self._ways[index]
            row = HitRow(self.hits[index], of.text, of.marks, of.place, ways, of.words)
            self.replace_option_prompt_at_index(index, row)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_resize(self) -> None:
        self.post_message(self.Scrolled())
