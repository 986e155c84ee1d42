"""The plot of a report: scores with intervals, and recall, as SVG."""

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from localrag.answer.wording import VERACITIES
from localrag.evaluation.report.claims import NONE, Verdicts
from localrag.evaluation.report.document import one_line
from localrag.evaluation.report.figures import Figures
from localrag.evaluation.report.measured import CHANCE
from localrag.evaluation.report.retrieved import DEPTHS, Recall
from localrag.evaluation.statistics import Estimate
from localrag.language import _
from localrag.text.harmless import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    """Draw the confusion matrix, darker with more claims."""
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
