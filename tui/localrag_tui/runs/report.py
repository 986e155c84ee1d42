"""The report of a finished evaluation: its scores as bars with their intervals, then its tables.

Plotting libraries for terminals count characters, so that a Japanese name breaks their frame, and
give a bar several lines; this one is a line each, and reads at 80 columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import DataTable, Static

from localrag.errors import LocalragError
from localrag.language import _
from localrag_tui.shell.base import finish
from localrag_tui.shown import content, one_line

if TYPE_CHECKING:
    from localrag.evaluation.report.document import ReportSection, Table
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


_LEAST_PLOT = 50
"""Cells below which bars say nothing."""
_HEADING = 16
"""Characters of a line of a heading; the longest one would take the last column off the screen."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a report.

    Attributes:
        files: where it is written.
        bars: its scores.
        sections: all that it says, in the language in use.
    """

    files: tuple[Path, ...]
    bars: tuple[Bar, ...]
    sections: "tuple[ReportSection, ...]"


def read(folder: Path) -> Shown:
    """Read the report of a finished evaluation; takes a second where it has many answers.

    Raises:
        LocalragError: it cannot be read.
    """
    from localrag.evaluation import report

    found = report.read(folder)
    files = (folder / name for name in (report.MARKDOWN, report.JSON, report.PLOT))
    bars = (Bar(one.name, one.score, one.published) for one in found.figures.entries)
    return Shown(tuple(filter(Path.exists, files)), tuple(bars), tuple(found.sections()))


class ReportView(VerticalScroll):
    """Scrolls as a whole; a table that is wider than the screen also to the side."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - as every widget has it
        super().__init__(id=id)
        self._report: Shown | None = None

    async def show(self, report: Shown | LocalragError | None) -> None:
        """Show a report, why it cannot be read, or (None) that there is none yet."""
        await finish(self.remove_children())
        self._report = report if isinstance(report, Shown) else None
        if not isinstance(report, Shown):
            words = _("The report is written when the evaluation has finished.")
            await self.mount(Static(content(str(report or words)), classes="words"))
            return
        caption = Static(_("Scores with their 95 % intervals"), classes="words", markup=False)
        await self.mount(Static(classes="plot"), caption, *_widgets(report))
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if self._report is not None:
            width = max(_LEAST_PLOT, self.content_size.width)
            for place in self.query(".plot").results(Static):
                place.update(plot(self._report.bars, width))


def _widgets(report: Shown) -> Iterator[Widget]:
    from localrag.evaluation.report.document import Items, ReportText, Table

    for section in report.sections:
        yield Static(content(section.title), classes="heading")
        for block in section.blocks:
            match block:
                case Table():
                    yield _table(block)
                case ReportText():
                    yield Static(content(block.text), classes="words")
                case Items():
                    yield from (Static(content(text), classes="words") for text in block.texts)
                case _:
                    pass
    yield Static(content(_files(report)), classes="files")


def _files(report: Shown) -> str:
    """Where the report is written."""
    return "\n".join(map(str, report.files))


def _table(found: "Table") -> DataTable[Text]:
    labels = ["\n".join(wrap(one_line(name), _HEADING)) for name in found.header]
    height = max((label.count("\n") + 1 for label in labels), default=1)
    table: DataTable[Text] = DataTable(cursor_type="none", header_height=height)
    for number, label in enumerate(labels):
        table.add_column(Text(label), key=str(number))
    for row in found.rows:
        table.add_row(
            *(
                Text(one_line(cell), justify="left" if number < found.left else "right")
                for number, cell in enumerate(row)
            )
        )
    return table
