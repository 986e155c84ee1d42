"""How a batch is shown while it runs, and what it reports at the end."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localrag.batch.estimating import Estimate
from localrag.batch.events import (
    Event,
    IndexBehind,
    Listener,
    Resumed,
    RowFailed,
    Stopped,
    TableChecked,
)
from localrag.batch.report import BatchReport
from localrag.cli.meter import Meter, a_minute
from localrag.cli.terminal import say, tell
from localrag.cli.wording import counted, duration
from localrag.harmless import one_line
from localrag.methods.choices import LABELS
from localrag.progress import Progress

EVERY = 30.0
"""Seconds between two lines of progress where nobody watches; a batch may take a night."""
_FAILURES = 20
"""So many failures are told one by one; all of them stand in the file of answers."""


@contextmanager
def shown_events() -> Iterator[Listener]:
    """Show events on standard error as they come: progress, failures, where it went on."""
    failures = 0
    with Meter(EVERY) as meter:

        def listener(event: Event) -> None:
            nonlocal failures
            match event:
                case Progress():
                    meter.update(event)
                case TableChecked():
                    _tell_table(event)
                case IndexBehind():
                    tell(
                        ("note: ", "yellow"),
                        f"corpus {event.corpus} has changed since it was indexed; searches do not "
                        "find what is new in it until you run: localrag index --corpus "
                        f"{event.corpus}",
                    )
                case Resumed():
                    tell(
                        ("note: ", "yellow"),
                        f"done already and left alone: {counted(event.done, 'row')}"
                        + ("; a line that was cut off is dropped" if event.torn else ""),
                    )
                case RowFailed():
                    failures += 1
                    if failures <= _FAILURES:
                        _tell_failure(event)
                    elif failures == _FAILURES + 1:
                        tell("further failures are only counted here; the answers name them all")
                case Stopped():
                    tell(
                        f"stopped with {event.done:,} of {event.total:,} rows done; they are kept, "
                        "and the same command goes on from there"
                    )
                case _:
                    pass

        yield listener


def print_report(out: Path, report: BatchReport) -> None:
    """Print what the rows came to, then what this run cost."""
    counts = [f"{count:,} {status.replace('_', ' ')}" for status, count in report.statuses.items()]
    say((one_line(str(out)), "bold"), f": {counted(report.rows, 'row')}; {', '.join(counts)}")
    spent = report.spent
    if spent.asked:
        say(
            f"this run: {counted(spent.asked, 'question')} in {duration(report.asking)}, "
            f"{a_minute(report.per_minute)}"
        )
    if spent.prompt:
        say(
            f"tokens: {spent.prompt:,} of prompts, {spent.cached:,} of them not evaluated again; "
            f"{spent.completion:,} written"
        )
    if spent.noted:
        noted = counted(spent.noted, "answer")
        say(f"what was left out or switched off stands in {noted} (trace.events)")
    if report.failed:
        kinds = ", ".join(f"{count:,} {name}" for name, count in sorted(report.failed.items()))
        failed = counted(sum(report.failed.values()), "row")
        say((f"{failed} failed", "bold red"), f": {kinds}")
        say("Mend what is wrong, then ", ("add --retry-failed to the same command", "bold"))


def report_as_json(out: Path, report: BatchReport) -> dict[str, Any]:
    """Give the JSON of ``localrag batch``; tokens, `asked` and seconds are of this run alone."""
    spent = report.spent
    return {
        "out": str(out),
        "rows": report.rows,
        "statuses": dict(report.statuses),
        "failed": dict(report.failed),
        "earlier": report.earlier,
        "asked": spent.asked,
        "noted": spent.noted,
        "tokens": {
            "prompt": spent.prompt,
            "cached": spent.cached,
            "completion": spent.completion,
        },
        "seconds": report.seconds,
        "per_minute": report.per_minute,
    }


def print_estimate(estimate: Estimate) -> None:
    """Print what a batch would take, and what that rests on."""
    say(
        f"{counted(estimate.rows, 'row')}; {estimate.unreadable:,} cannot be asked, "
        f"{estimate.left:,} left to do"
    )
    if estimate.unanswerable:
        rows = counted(estimate.unanswerable, "row")
        say(
            (f"{rows} cannot be answered by the method", "bold red"),
            f", which chooses between options: give 2 to {len(LABELS)} in the field options",
        )
    if not estimate.sampled:
        return
    sampled = counted(estimate.sampled, "row")
    say(("about " + duration(estimate.seconds), "bold"), f", judged by {sampled}")
    if estimate.prompt:
        say(f"about {estimate.prompt:,} tokens of prompts, {estimate.completion:,} tokens written")
    if estimate.failed:
        say((f"{estimate.failed:,} of the {estimate.sampled:,} failed", "bold red"))


def _tell_table(event: TableChecked) -> None:
    if event.unused:
        tell(("note: ", "yellow"), f"fields that are not read: {', '.join(event.unused)}")
    if event.unreadable:
        tell(("note: ", "yellow"), f"{event.unreadable:,} of {event.rows:,} rows cannot be asked")


def _tell_failure(event: RowFailed) -> None:
    tell(("failed: ", "bold red"), f"line {event.line}: {event.cause}")
    if event.cure:
        tell("  ", (event.cure, "bold"))
