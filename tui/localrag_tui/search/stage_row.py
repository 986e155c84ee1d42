"""A hit of a stage in one row, and the head of the stage's column."""

from collections.abc import Mapping, Sequence

from rich.cells import set_cell_size
from textual.content import Content

from localrag.language import _
from localrag.retrieval.types import Hit, StageRecord
from localrag_tui.search.places import fitted
from localrag_tui.shown import one_line
from localrag_tui.widgets.adaptive import AdaptiveRow
from localrag_tui.wording import stage

_NAMING = "resolve"
_FINDING = (_NAMING, "lexical", "dense")


class StageRow(AdaptiveRow):
    """Rank, place in short and score, written for whatever width the column has."""

    def __init__(self, hit: Hit, places: Mapping[str, str]) -> None:
        self._hit = hit
        self._place = places.get(hit.passage.id) or one_line(hit.passage.header)

    def write(self, width: int) -> list[Content]:
        """Write it in exactly `width` cells."""
        rank, score = f"{self._hit.rank:>3} ", f" {self._hit.score:#.3g}"
        room = max(0, width - len(rank) - len(score))
        return [Content(rank + set_cell_size(fitted(self._place, room), room) + score)]


def stage_head(record: StageRecord) -> Content:
    """What the stage is called, how much it found, and how long it took."""
    figures = f"  {len(record.hits)}"
    # The column of a stage that found nothing is narrow.
    if record.hits:
        figures += f" · {record.seconds * 1000:.1f} ms"
    return Content.assemble((stage(record.stage), "bold"), (figures, "$foreground-muted"))


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


def journey(records: tuple[StageRecord, ...], passage_id: str) -> str:
    """How a passage moved from stage to stage: ``words 7 › fused 2 › expanded 1``."""
    return " › ".join(
        f"{stage(record.stage)} {hit.rank}"
        for record in records
        for hit in record.hits
        if hit.passage.id == passage_id
    )
