"""Scores as bars with their intervals, drawn in cells.

Plotting libraries for terminals count characters, so that a Japanese name breaks their frame, and
give a bar several lines; this one is a line each, and reads at 80 columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from localrag.language import _
from localrag_tui.shown import one_line

if TYPE_CHECKING:
    from localrag.evaluation.statistics import Estimate
    from localrag.evaluation.types import Published

_NAME = 26
"""Cells of a name at most."""
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Bar:
    """What is drawn of an entry of a report; no score where nothing was asked."""

    name: str
    score: "Estimate | None"
    published: "Sequence[Published]" = ()


def plot(bars: Sequence[Bar], width: int) -> Content:
    """Draw bars from 0 to 100 %; those of others below each, without an interval."""
    names = [cell_len(one_line(bar.name)) for bar in bars]
    name = min(max(names, default=0), _NAME, width // 3)
    span = max(10, width - name - 24)
    lines: list[Content] = []
    for bar in bars:
        lines.append(_line(bar, name, span))
        lines += (_theirs(one, name, span) for one in bar.published)
    axis = "0 %".ljust(span // 2 - 1) + "50 %"
    lines.append(Content.styled(" " * (name + 1) + axis.ljust(span - 4) + "100 %", "$text-muted"))
    return Content("\n").join(lines)


def _line(bar: Bar, name: int, span: int) -> Content:
    label = set_cell_size(one_line(bar.name), name) + " "
    if bar.score is None:
        return Content.assemble(label, ("–", "$text-muted"))
    score = bar.score
    filled = score.value * span
    whole, eighths = int(filled), int(8 * (filled % 1))
    low, high = int(score.low * span), max(whole, min(span - 1, round(score.high * span)))
    solid = "█" * min(low, whole)
    shaded = "▓" * (whole - len(solid))
    # The whisker begins in the cell where the bar ends.
    part = _EIGHTHS[eighths] if eighths and whole < span else ""
    rest = high - whole - len(part)
    whisker = ("─" * rest + "┤") if rest >= 0 and score.high > score.value else ""
    used = whole + len(part) + len(whisker)
    figures = f" {100 * score.value:.1f} %"
    if score.low != score.high:
        figures += f" [{100 * score.low:.0f}, {100 * score.high:.0f}]"
    return Content.assemble(
        label,
        (solid + shaded + part, "$primary"),
        (whisker, "$foreground-muted"),
        " " * max(0, span - used),
        (figures, "bold"),
    )


def _theirs(one: "Published", name: int, span: int) -> Content:
    place = min(span - 1, round(one.score * span))
    figure = f" {100 * one.score:.1f} %" + (f" (n = {one.n})" if one.n else "")
    label = set_cell_size("  " + _("published"), name) + " "
    return Content.assemble(
        (label, "$foreground-muted"),
        ("╌" * place + "│", "$text-accent"),
        " " * (span - place - 1),
        (figure, "$text-accent"),
    )
