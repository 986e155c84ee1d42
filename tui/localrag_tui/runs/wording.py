"""Numbers, times and states of runs in words."""

from localrag.language import _
from localrag.progress import Progress
from localrag.reading.wording import STATUSES
from localrag_tui.runs.lines import Line, RunState
from localrag_tui.wording import called, duration, when

STYLES = {
    RunState.RUNNING: "$text-accent",
    RunState.ELSEWHERE: "$text-accent",
    RunState.STOPPED: "$text-warning",
    RunState.FINISHED: "$text-success",
    RunState.FAILED: "$text-error",
    RunState.MISSING: "$text-error",
    RunState.DAMAGED: "$text-error",
}


def state(line: Line) -> tuple[str, str]:
    """How a run is, with its style."""
    return _(line.state.value), STYLES[line.state]


def outcome(name: str) -> str:
    """What became of a row: its status, or the type of its error as it is called."""
    return called(name, STATUSES)


def shortly(iso: str) -> str:
    """The same without the year; "" for none."""
    return when(iso)[5:]


def pace(progress: Progress) -> str:
    """How fast it goes and how long it will take; "" before that can be told."""
    if progress.seconds < 1 or progress.left is None or progress.done >= progress.total:
        return ""
    return _("{rate} a minute · about {left} left").format(
        rate=f"{60 * progress.rate:,.1f}", left=duration(progress.left)
    )


def outcomes(tally: dict[str, int]) -> str:
    """How many rows of each outcome."""
    return " · ".join(f"{outcome(name)} {n:,}" for name, n in tally.items())


def problem(line: Line) -> tuple[str, str]:
    """What is wrong with a run, and what to do about it."""
    match line.state:
        case RunState.MISSING:
            return (
                _("Moved or removed: {files}").format(files=line.cause),
                _("Put them back, or take the run off this list: nothing else is lost."),
            )
        case RunState.DAMAGED:
            return (
                _("The record of this run cannot be read: {file}").format(file=line.cause),
                _("Restore it from a copy, or start the run again: answers are kept."),
            )
        case _:
            return line.cause, line.cure
