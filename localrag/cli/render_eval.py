"""How an evaluation is shown while it runs, and what it reports at the end."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from localrag.batch.types import RowFailed
from localrag.cli.meter import Meter
from localrag.cli.render_batch import EVERY
from localrag.cli.terminal import say, table, tell
from localrag.cli.wording import counted, duration
from localrag.evaluation.events import Asking, Event, Halted, Judging, Listener, Unjudged
from localrag.evaluation.measures import Verdict
from localrag.evaluation.planning import LeftOut, Plan
from localrag.evaluation.record import Run
from localrag.evaluation.report import MARKDOWN
from localrag.evaluation.report.measured import Answers, answers_of, common, costs, counts, measured
from localrag.evaluation.runner import Finished, Forecast
from localrag.evaluation.statistics import Estimate, score
from localrag.evaluation.types import DETERMINISTIC, JUDGE, Entry, Evaluation
from localrag.facts import Fact, FactKind
from localrag.harmless import one_line
from localrag.progress import Progress

_MAIN = ("char_f1", "similarity", "full_f1")
"""Figures of a measure that are shown here; the score is the first of them anyway."""

_FAILURES = 3
"""So many failures of a batch are told one by one; the report counts all of them."""


def tell_left_out(left_out: Sequence[LeftOut]) -> None:
    """Name the methods that ``all`` does not mean here."""
    for one in left_out:
        tell(("left out: ", "yellow"), one.cause)
    for cure in dict.fromkeys(one.cure for one in left_out):
        tell("  ", (cure, "bold"))


@contextmanager
def shown_events() -> Iterator[Listener]:
    """Show events on standard error as they come: method, order, progress, failures."""
    with ExitStack() as stack:
        meter = stack.enter_context(Meter(EVERY))
        step, failures, behind = "", 0, False

        def listener(event: Event) -> None:
            nonlocal meter, step, failures, behind
            match event:
                case Asking():
                    step, failures = _step(event), 0
                    stack.close()
                    meter = stack.enter_context(Meter(EVERY, step))
                case Judging():
                    step, failures = _judging(event), 0
                    stack.close()
                    meter = stack.enter_context(Meter(EVERY, step))
                case Progress():
                    meter.update(event)
                case RowFailed() | Unjudged():
                    failures += 1
                    if failures <= _FAILURES:
                        tell(("failed: ", "bold red"), f"{step}, {_failure(event)}")
                    elif failures == _FAILURES + 1:
                        tell("further failures are only counted here; the report counts them all")
                case Fact(kind=FactKind.INDEX_BEHIND) if not behind:
                    behind = True
                    tell(("note: ", "yellow"), str(event))
                case Fact(kind=FactKind.STOPPED):
                    tell(f"{step}: {event}")
                case Halted():
                    tell(("stopped: ", "bold red"), f"{event.name}: {event.cause}")
                    tell("  ", (event.cure, "bold"))
                case _:
                    pass

        yield listener


def print_finished(finished: Finished) -> None:
    """Print a line for each entry, and where the report lies."""
    evaluation = finished.evaluation
    questions = evaluation.questions
    noted = {entry.name: counts(entry.results) for entry in evaluation.entries}
    noticed = common((noted[one.name], len(one.results)) for one in evaluation.entries)
    numbers = {note: f"({number})" for number, note in enumerate(noticed, 1)}
    times = f" in {counted(evaluation.orders, 'order')}" if evaluation.orders > 1 else ""
    read_as = ", own questions" if questions.own else ""
    say(
        (questions.dataset.name, "bold"),
        f"{read_as} {questions.split}: {counted(len(questions.questions), 'question')}{times}; "
        f"{finished.asked:,} asked now",
    )
    table(
        ["method", "score", "95 % interval", "failed", "calls", "median s", "notes"],
        [_line(entry, numbers) for entry in evaluation.entries],
        folding=("method", "notes"),
    )
    say("calls and median s are those of one answer")
    _print_measured(evaluation)
    for note, number in numbers.items():
        say(f"{number} {one_line(note)}: {_holding(note, noted)}")
    for name, error in finished.stopped.items():
        say((f"{name}: no results", "bold red"), f" ({error.cause})")
    if any(result.failure for entry in evaluation.entries for result in entry.results):
        say("Failed questions count as wrong. Ask them again: ", ("--retry-failed", "bold"))
    say("report: ", (one_line(str(finished.folder / MARKDOWN)), "bold"))


def finished_as_json(plan: Plan, finished: Finished) -> dict[str, Any]:
    """Give the JSON of ``localrag eval``."""
    evaluation = finished.evaluation
    return {
        "run": evaluation.id,
        "folder": str(finished.folder),
        "dataset": evaluation.questions.dataset.name,
        "split": evaluation.questions.split,
        "n": len(evaluation.questions.questions),
        "orders": evaluation.orders,
        "asked": finished.asked,
        "judge": dict(evaluation.judge),
        "entries": [_as_json(answers) for answers in answers_of(evaluation)],
        "left_out": [asdict(one) for one in plan.left_out],
        "stopped": {name: str(error) for name, error in finished.stopped.items()},
    }


def print_forecasts(plan: Plan, forecasts: Sequence[Forecast]) -> None:
    """Print what is left to ask of each entry."""
    say(
        f"{counted(plan.n, 'question')} in {counted(plan.orders, 'order')}, "
        f"corpus {plan.corpus}; nothing is written"
    )
    judged = ["verdicts"] if plan.judge else []
    table(
        ["method", "answered", "left", "calls of a model", "tokens", "time", *judged],
        [
            (
                one.name,
                f"{one.done:,}",
                f"{one.left:,}",
                _calls(one),
                f"about {one.prompt + one.completion:,}" if one.prompt else "–",
                f"about {duration(one.seconds)}" if one.seconds else "–",
                *(f"{one.verdicts:,}" for _ in judged),
            )
            for one in forecasts
        ],
        folding=("method",),
    )


def _calls(expected: Forecast) -> str:
    if expected.most_calls == expected.calls:
        return f"{expected.calls:,}"
    return f"{expected.calls:,} to {expected.most_calls:,}"


def forecasts_as_json(plan: Plan, forecasts: Sequence[Forecast]) -> dict[str, Any]:
    """Give the JSON of ``localrag eval --dry-run``."""
    return {
        "n": plan.n,
        "orders": plan.orders,
        "corpus": plan.corpus,
        "entries": [asdict(one) for one in forecasts],
        "left_out": [asdict(one) for one in plan.left_out],
    }


def print_runs(runs: Sequence[tuple[Path, Run]]) -> None:
    """Print a line for each run."""
    if not runs:
        say("There is no run yet. Begin one: localrag eval lawqa --method all")
        return
    table(
        ["run", "questions", "orders", "methods", "state"],
        [
            (
                f"{run.dataset}/{folder.name}",
                f"{run.n:,} of {run.split}",
                str(run.orders),
                ", ".join(entry.name for entry in run.entries),
                run.finished or "not finished; the same command goes on",
            )
            for folder, run in runs
        ],
        folding=("methods",),
    )


def _step(event: Asking) -> str:
    order = f", order {event.order + 1} of {event.orders}" if event.orders > 1 else ""
    return f"[{event.place}/{event.batches}] {event.name}{order}"


def _judging(event: Judging) -> str:
    return f"[{event.place}/{event.entries}] {event.judge} judges {event.name}"


def _failure(event: RowFailed | Unjudged) -> str:
    if isinstance(event, RowFailed):
        return f"row {event.row}: {event.cause}"
    return f"question {event.question}: {event.problem}"


def _print_measured(evaluation: Evaluation) -> None:
    """Print the main figures of answers in free text; nothing where they are a choice."""
    found = {
        answers.entry.name: one for answers in answers_of(evaluation) if (one := measured(answers))
    }
    names = dict.fromkeys(name for one in found.values() for name in one.figures if name in _MAIN)
    if names:
        table(
            ["method", *names, "not found", "quoted", "when answered", "TT", "TT by judge"],
            [
                (
                    name,
                    *(_value(one.figures.get(figure)) for figure in names),
                    _value(one.not_found),
                    _value(one.quoted),
                    _value(one.answered),
                    *(
                        _value(one.verdicts.get(by, {}).get(Verdict.TT))
                        for by in (DETERMINISTIC, JUDGE)
                    ),
                )
                for name, one in found.items()
            ],
            folding=("method",),
        )
        say("TT: answer and derivation right; all of it by type, with intervals, is in the report")
        for sentence in evaluation.measured_with:
            say(one_line(sentence))


def _value(found: Estimate | None) -> str:
    return f"{found.value:.1%}" if found else "–"


def _line(entry: Entry, numbers: Mapping[str, str]) -> tuple[str, ...]:
    found = _score(entry)
    failed = sum(bool(result.failure) for result in entry.results)
    spent = costs([result.spent for result in entry.results])
    said = counts(entry.results)
    return (
        entry.name,
        f"{found.value:.1%}" if found else "–",
        f"{found.low:.1%} to {found.high:.1%}" if found and found.low < found.high else "–",
        f"{failed:,}",
        f"{spent.calls:.1f}" if spent else "–",
        f"{spent.median_seconds:.3g}" if spent else "–",
        " ".join(number for note, number in numbers.items() if note in said) or "–",
    )


def _holding(note: str, noted: Mapping[str, Mapping[str, int]]) -> str:
    return ", ".join(f"{name} {found[note]:,}" for name, found in noted.items() if note in found)


def _as_json(answers: Answers) -> dict[str, Any]:
    entry, found = answers.entry, _score(answers.entry)
    more = measured(answers)
    return {
        "name": entry.name,
        "method": entry.method,
        "score": asdict(found) if found else None,
        "measured": asdict(more) if more else None,
        "failed": sum(bool(result.failure) for result in entry.results),
        "notes": counts(entry.results),
        "made_with": dict(entry.made_with),
    }


def _score(entry: Entry) -> Estimate | None:
    by_question: dict[str, list[float]] = {}
    for result in entry.results:
        by_question.setdefault(result.question, []).append(result.score)
    return score(list(by_question.values()))
