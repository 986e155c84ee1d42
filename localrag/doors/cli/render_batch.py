"""Shows a batch in progress, and its report."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localrag.answer.wording import FAILURES
from localrag.doors.cli.terminal import (
    Meter,
    a_minute,
    duration,
    say,
    say_tokens,
    tell,
    tell_failed,
    tell_note,
)
from localrag.language import _, colon, ngettext
from localrag.methods.catalogue import LABELS
from localrag.ops.batch import BatchEstimate, BatchReport
from localrag.ops.batch.types import Event, Listener, RowFailed
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import one_line
from localrag.text.progress import Progress

EVERY = 30.0
"""Seconds between two lines of progress where nobody watches; a batch may take a night."""
_FAILURES = 20
"""Failures shown one by one; the file of answers has all."""


@contextmanager
def shown_events() -> Iterator[Listener]:
    """Show events on standard error as they come: progress, failures, resumption."""
    failures = 0
    with Meter(EVERY) as meter:

        def listener(event: Event) -> None:
            nonlocal failures
            match event:
                case Progress():
                    meter.update(event)
                case Fact(kind=FactKind.STOPPED):
                    tell(str(event))
                case Fact(kind=FactKind.TABLE_CHECKED) if not event.fields["unreadable"]:
                    pass
                case Fact():
                    tell_note(str(event))
                case RowFailed():
                    failures += 1
                    if failures <= _FAILURES:
                        _tell_failure(event)
                    elif failures == _FAILURES + 1:
                        tell(_("further failures are only counted; the answers name them all"))
                case _:
                    pass

        yield listener


def print_report(out: Path, report: BatchReport) -> None:
    """Print the results of the rows, then the cost of this run."""
    statuses = {
        "supported": _("{n:,} supported"),
        "quoted": _("{n:,} quoted"),
        "unsupported": _("{n:,} unsupported"),
        "not_found": _("{n:,} not found"),
    }
    counts = [statuses[status].format(n=count) for status, count in report.statuses.items()]
    rows = f"{_rows(report.rows)}{_('; ')}{_(', ').join(counts)}"
    say((one_line(str(out)), "bold"), f"{colon()}{rows}")
    cost = report.spent
    if cost.asked:
        asked = ngettext("{n:,} question", "{n:,} questions", cost.asked).format(n=cost.asked)
        say(
            _("this run: {questions} in {time}, {rate}").format(
                questions=asked, time=duration(report.asking), rate=a_minute(report.per_minute)
            )
        )
    say_tokens(cost.prompt, cost.cached, cost.completion)
    if cost.noted:
        say(
            ngettext(
                "in {n:,} answer something was left out or switched off: see trace.events of "
                "its row in the JSON Lines",
                "in {n:,} answers something was left out or switched off: see trace.events of "
                "their rows in the JSON Lines",
                cost.noted,
            ).format(n=cost.noted)
        )
    if report.failed:
        kinds = _(", ").join(
            f"{_(FAILURES.get(name, name))} {count:,}"
            for name, count in sorted(report.failed.items())
        )
        failed = _("{rows} failed").format(rows=_rows(sum(report.failed.values())))
        say((failed, "bold red"), f"{colon()}{kinds}")
        say(_("Solve the problems, then "), (_("add --retry-failed to the same command"), "bold"))


def report_as_json(out: Path, report: BatchReport) -> dict[str, Any]:
    """Give the JSON of ``localrag batch``; tokens, `asked` and seconds are of this run alone."""
    cost = report.spent
    return {
        "out": str(out),
        "rows": report.rows,
        "statuses": dict(report.statuses),
        "failed": dict(report.failed),
        "earlier": report.earlier,
        "asked": cost.asked,
        "noted": cost.noted,
        "tokens": {
            "prompt": cost.prompt,
            "cached": cost.cached,
            "completion": cost.completion,
        },
        "seconds": report.seconds,
        "per_minute": report.per_minute,
    }


def print_estimate(estimate: BatchEstimate) -> None:
    """Print the estimate of a batch, and its basis."""
    say(
        _("{rows}; {unreadable:,} cannot be asked, {left:,} left to do").format(
            rows=_rows(estimate.rows), unreadable=estimate.unreadable, left=estimate.left
        )
    )
    if estimate.unanswerable:
        rows = _rows(estimate.unanswerable)
        say(
            (_("{rows} cannot be answered by the method").format(rows=rows), "bold red"),
            _(", which chooses between options: give 2 to {most} in the field options").format(
                most=len(LABELS)
            ),
        )
    if not estimate.sampled:
        return
    say(
        (_("about {time}").format(time=duration(estimate.seconds)), "bold"),
        _(", judged by {rows}").format(rows=_rows(estimate.sampled)),
    )
    if estimate.prompt:
        say(
            _("about {prompt:,} tokens of prompts, {completion:,} tokens written").format(
                prompt=estimate.prompt, completion=estimate.completion
            )
        )
    if estimate.failed:
        failed = _("{failed:,} of the {rows:,} failed")
        say((failed.format(failed=estimate.failed, rows=estimate.sampled), "bold red"))


def _rows(count: int) -> str:
    return ngettext("{n:,} row", "{n:,} rows", count).format(n=count)


def _tell_failure(event: RowFailed) -> None:
    words = _("line {line}: {cause}").format(line=event.line, cause=event.cause)
    tell_failed(words, event.cure)
