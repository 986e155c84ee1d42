"""Where a hit stands, in as few cells as there are."""

from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from localrag.corpus.types import Passage
from localrag_tui.shown import cut, one_line

if TYPE_CHECKING:
    from localrag.statutes.names import LawNames

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
