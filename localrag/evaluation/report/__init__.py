"""The report of an evaluation: Markdown, JSON with the same figures, and a plot."""

import io
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from localrag.answer.wording import VERACITIES
from localrag.corpus.durable import make_folder, replace_text, storing
from localrag.errors import InputError, NotFoundError, WorkspaceError, to_install
from localrag.evaluation.report.claims import NONE, Verdicts
from localrag.evaluation.report.document import (
    Block,
    Picture,
    ReportSection,
    ReportText,
    markdown,
    one_line,
)
from localrag.evaluation.report.figures import Figures, figures
from localrag.evaluation.report.measured import CHANCE, DEPTHS, Recall, answers_of
from localrag.evaluation.report.sections import all_sections
from localrag.evaluation.statistics import Estimate
from localrag.evaluation.types import Evaluation
from localrag.language import N_, _
from localrag.text.harmless import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

JSON = "report.json"
MARKDOWN = "report.md"
PLOT = "report.svg"

_FORMAT = 1
_AGAIN = N_("Restore it from a copy, or give the command of the evaluation again.")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The part of report.json read every time; figures follow from it."""

    format: int
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class Report:
    """Content of report.json."""

    format: int
    figures: Figures
    evaluation: Evaluation

    def sections(self, plot: Sequence[Block] = ()) -> list[ReportSection]:
        """All sections in the language in use."""
        found = all_sections(self.evaluation, self.figures, plot)
        return [section for section in found if section.blocks]


_Read = TypeVar("_Read", _Stored, Report)

_stored = TypeAdapter(_Stored)
_report = TypeAdapter(Report)


def write(evaluation: Evaluation, folder: Path) -> None:
    """Write report.md, report.svg and finally report.json into a folder.

    An equal report is left unchanged. Without matplotlib there is no plot; log and report say so.
    Raises `UsageError` if scipy is missing.
    """
    report = Report(_FORMAT, figures(evaluation), evaluation)
    try:
        written = _report.dump_json(report, indent=1)
    except PydanticSerializationError as error:
        raise InputError(
            N_("The evaluation holds text that is not valid Unicode ({problem})."),
            N_("Mend the questions, or the names in the settings."),
            problem=error,
        ) from error
    if _is_there(folder, written):
        return
    plot, drawn = "", list[Block]()
    try:
        plot = plotted(report.figures)
        drawn = [Picture(PLOT, _("Scores with their 95 % intervals"))]
    except ImportError as error:
        without = _("The plot was left out ({problem}). {cure}").format(
            problem=error, cure=to_install("eval")
        )
        drawn = [ReportText(without)]
        _log.warning(without)
    text = markdown(report.sections(drawn))
    again = N_("Free some space, and give the command again: answers that are there are kept.")
    with storing(folder, again):
        make_folder(folder)
        if plot:
            replace_text(folder / PLOT, plot, private=True)
        replace_text(folder / MARKDOWN, text, private=True)
        replace_text(folder / JSON, written.decode(), private=True)


def _is_there(folder: Path, written: bytes) -> bool:
    # Drawing takes seconds. The JSON is written last; without the plot it may be time to draw it.
    if not ((folder / MARKDOWN).is_file() and (folder / PLOT).is_file()):
        return False
    try:
        return (folder / JSON).read_bytes() == written
    except OSError:
        return False


def load(folder: Path) -> Evaluation:
    """Read the evaluation behind the report in this folder."""
    return _checked(folder, _stored.validate_json).evaluation


def read(folder: Path) -> Report:
    """Read the report in this folder; figures of earlier versions are computed again."""

    def understood(content: bytes) -> Report:
        try:
            return _report.validate_json(content)
        except ValidationError:
            stored = _stored.validate_json(content)
            return Report(stored.format, figures(stored.evaluation), stored.evaluation)

    return _checked(folder, understood)


def _checked(folder: Path, understand: Callable[[bytes], _Read]) -> _Read:
    path = folder / JSON
    try:
        found = understand(path.read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError(
            N_("{folder} holds no report."),
            N_("Name the folder of a finished evaluation."),
            folder=folder,
        ) from error
    except (OSError, ValidationError) as error:
        raise WorkspaceError(N_("The report {path} cannot be read."), _AGAIN, path=path) from error
    if found.format != _FORMAT:
        raise WorkspaceError(
            N_("The report {path} was written by another version."), _AGAIN, path=path
        )
    answers_of(found.evaluation)
    return found


# Two colours of Okabe and Ito (2008), safe for colour blindness; shapes differ too.
_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#6b6b6b"
_STYLE: dict[str, Any] = {
    "svg.hashsalt": "localrag",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
}
_LONGEST_NAME = 48
_WIDTH, _ROW, _FRAME, _MATRIX = 7.0, 0.28, 1.0, 2.6


def plotted(figures: Figures) -> str:
    """Draw the figures as SVG, text kept as text. An `ImportError` if matplotlib is missing."""
    import matplotlib
    from matplotlib.figure import Figure

    # The last stage; earlier ones are in the table.
    stages = [
        (f"{entry.name}: {stage}", found)
        for entry in figures.entries
        for stage, found in list(entry.recall.items())[-1:]
    ]
    rows = [max(1, len(figures.entries)), len(stages)]
    judged = [(entry.name, entry.verdicts) for entry in figures.entries if entry.verdicts]
    heights = [_FRAME + _ROW * count for count in rows if count] + [_MATRIX] * len(judged)
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(_WIDTH, sum(heights)), layout="constrained")
        panels = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        _scores(panels[0], figures)
        if stages:
            _recall(panels[1], dict(stages))
        for panel, (name, found) in zip(panels[len(panels) - len(judged) :], judged, strict=True):
            _verdicts(panel, name, found)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _scores(panel: "Axes", figures: Figures) -> None:
    entries = figures.entries
    _dots(panel, [entry.score for entry in entries], _BLUE, "o", _("measured, 95 % interval"))
    others = [(row, one) for row, entry in enumerate(entries) for one in entry.published]
    if others:
        panel.scatter(
            [100 * one.score for _, one in others],
            [row for row, _ in others],
            marker="D",
            facecolors="none",
            edgecolors=_ORANGE,
            label=_("published elsewhere"),
        )
    for baseline in figures.baselines:
        if baseline.name == CHANCE:
            panel.axvline(100 * baseline.score.value, color=_GREY, linestyle=":", label=_("chance"))
    _frame(panel, [entry.name for entry in entries], _("score, %"))


def _recall(panel: "Axes", stages: Mapping[str, Recall]) -> None:
    depth = max(DEPTHS)
    found = list(stages.values())
    _dots(panel, [one.any_found.get(depth) for one in found], _BLUE, "o", _("any"), -0.12)
    _dots(panel, [one.all_found.get(depth) for one in found], _ORANGE, "s", _("all"), 0.12)
    title = _("gold provisions among the first {depth} hits, % of questions")
    _frame(panel, list(stages), title.format(depth=depth))


def _verdicts(panel: "Axes", name: str, found: Verdicts) -> None:
    right, given = list(found.counts), list(next(iter(found.counts.values())))
    rows = [[found.counts[one][other] for other in given] for one in right]
    panel.imshow(rows, cmap="Greys", aspect="auto", vmin=0, vmax=max(1, *map(max, rows)) * 1.6)
    for at, row in enumerate(rows):
        for place, count in enumerate(row):
            panel.text(place, at, str(count), ha="center", va="center")
    names = {one: _(words) for one, words in VERACITIES.items()} | {NONE: _("none")}
    # Names are too long to be side by side.
    panel.set_xticks(range(len(given)), ["\n".join(names[one].rsplit(" ", 1)) for one in given])
    panel.set_yticks(range(len(right)), [names[one] for one in right])
    panel.tick_params(length=0)
    panel.set_xlabel(_("{name}: verdict given, by the right one").format(name=_short(name)))


def _dots(
    panel: "Axes",
    estimates: Sequence[Estimate | None],
    colour: str,
    marker: str,
    label: str,
    below: float = 0.0,
) -> None:
    """Draw a dot and a whisker for each estimate, one a row."""
    drawn = [(row + below, found) for row, found in enumerate(estimates) if found]
    if drawn:
        panel.errorbar(
            [100 * found.value for _, found in drawn],
            [row for row, _ in drawn],
            xerr=[
                [100 * max(0.0, found.value - found.low) for _, found in drawn],
                [100 * max(0.0, found.high - found.value) for _, found in drawn],
            ],
            fmt=marker,
            markersize=5,
            capsize=3,
            color=colour,
            label=label,
        )


def _frame(panel: "Axes", names: Sequence[str], title: str) -> None:
    panel.set_yticks(range(len(names)), [_short(name) for name in names])
    panel.set_ylim(max(len(names), 1) - 0.4, -0.6)
    panel.set_xlim(0, 100)
    panel.set_xlabel(title)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x", color="#e4e4e4", linewidth=0.6)
    panel.set_axisbelow(True)
    handles, labels = panel.get_legend_handles_labels()
    if handles:
        panel.legend(
            handles,
            labels,
            loc="lower right",
            bbox_to_anchor=(1, 1),
            ncols=len(handles),
            columnspacing=1.2,
            handletextpad=0.4,
            frameon=False,
        )


def _short(name: str) -> str:
    return shorten(one_line(name), _LONGEST_NAME)
