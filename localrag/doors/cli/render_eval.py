"""Shows an evaluation in progress, and its report."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from localrag.doors.cli.render_batch import EVERY
from localrag.doors.cli.terminal import (
    Meter,
    duration,
    say,
    table,
    tell,
    tell_failed,
    tell_note,
)
from localrag.evaluation.measures import AnswerVerdict
from localrag.evaluation.planning import Plan
from localrag.evaluation.record import Run
from localrag.evaluation.report import MARKDOWN
from localrag.evaluation.report.measured import (
    Answers,
    TraceNote,
    answers_of,
    common,
    costs,
    counts,
    measured,
    refusals,
    sentences_shown,
    shown,
)
from localrag.evaluation.runner import Finished, Forecast
from localrag.evaluation.statistics import Estimate, score
from localrag.evaluation.types import (
    DETERMINISTIC,
    JUDGE,
    Asking,
    Entry,
    Evaluation,
    Event,
    Judging,
    Listener,
    NotMeasured,
    Unjudged,
)
from localrag.language import _, aside, colon, ngettext
from localrag.ops.batch.types import RowFailed
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import one_line
from localrag.text.progress import Progress

_MAIN = ("char_f1", "similarity", "full_f1")
"""Figures of a measure that are shown here; the score is the first of them anyway."""

_FAILURES = 3
"""Failures of a batch shown one by one; the report counts all."""


def tell_left_out(left_out: Sequence[NotMeasured]) -> None:
    """Name the methods that ``all`` does not mean here."""
    for one in left_out:
        tell((_("left out: "), "yellow"), one.cause)
    for cure in dict.fromkeys(one.cure for one in left_out):
        tell("  ", (cure, "bold"))


def _left_out(plan: Plan) -> list[dict[str, str]]:
    return [{"method": one.name, "cause": one.cause, "cure": one.cure} for one in plan.left_out]


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
                        words = f"{step}{_(', ')}{_failure(event)}"
                        tell_failed(words)
                    elif failures == _FAILURES + 1:
                        tell(
                            _("further failures are only counted here; the report counts them all")
                        )
                case Fact(kind=FactKind.INDEX_BEHIND) if not behind:
                    behind = True
                    tell_note(str(event))
                case Fact(kind=FactKind.STOPPED):
                    tell(f"{step}{colon()}{event}")
                case NotMeasured():
                    words = f"{event.name}{colon()}{event.cause}"
                    tell((_("stopped: "), "bold red"), words)
                    tell("  ", (event.cure, "bold"))
                case _:
                    pass

        yield listener


def print_finished(finished: Finished) -> None:
    """Print a line for each entry, and the place of the report."""
    evaluation = finished.evaluation
    questions = evaluation.questions
    notes = {entry.name: counts(entry.results) for entry in evaluation.entries}
    shared = common((notes[one.name], len(one.results)) for one in evaluation.entries)
    numbers = {note.key: f"({number})" for number, note in enumerate(shared, 1)}
    own = _("{dataset}, own questions {split}") if questions.own else _("{dataset} {split}")
    named = own.format(dataset=questions.dataset.name, split=questions.split)
    say((named, "bold"), colon(), _asked(evaluation, finished.asked))
    table(
        [
            _("method"),
            _("score"),
            _("95 % interval"),
            _("failed"),
            _("calls"),
            _("median s"),
            _("notes"),
        ],
        [_line(entry, notes[entry.name], numbers) for entry in evaluation.entries],
        folding=(_("method"), _("notes")),
    )
    say(_("calls and median s are per answer"))
    _print_measured(evaluation)
    _print_refusals(evaluation)
    for note in shared:
        holding = _holding(note, notes)
        say(f"{numbers[note.key]} {one_line(str(note))}{colon()}{holding}")
    for name, error in finished.stopped.items():
        say((_("{name}: no results").format(name=name), "bold red"), aside(error.cause))
    if any(result.failure for entry in evaluation.entries for result in entry.results):
        say(
            _("Failed questions count as wrong. Ask them again: "),
            ("--retry-failed", "bold"),
        )
    say(_("report: "), (one_line(str(finished.folder / MARKDOWN)), "bold"))


def _asked(evaluation: Evaluation, now: int) -> str:
    n = len(evaluation.questions.questions)
    words = ngettext("{n:,} question", "{n:,} questions", n).format(n=n)
    if evaluation.orders > 1:
        words = _("{questions} in {orders} orders").format(
            questions=words, orders=evaluation.orders
        )
    if evaluation.questions.own_documents:
        words = _("{questions}, each of its own documents").format(questions=words)
    return _("{questions}; {n:,} asked now").format(questions=words, n=now)


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
        "own_documents": evaluation.questions.own_documents,
        "unanswerable": evaluation.questions.unanswerable,
        "asked": finished.asked,
        "judge": dict(evaluation.judge),
        "entries": [_as_json(answers) for answers in answers_of(evaluation)],
        "left_out": _left_out(plan),
        "stopped": {name: str(error) for name, error in finished.stopped.items()},
    }


def print_forecasts(plan: Plan, forecasts: Sequence[Forecast]) -> None:
    """Print the open questions of each entry."""
    words = ngettext("{n:,} question", "{n:,} questions", plan.n).format(n=plan.n)
    asked = ngettext(
        "{questions} in {n} order, corpus {corpus}; nothing is written",
        "{questions} in {n} orders, corpus {corpus}; nothing is written",
        plan.orders,
    )
    say(asked.format(questions=words, n=plan.orders, corpus=plan.corpus))
    about = _("about {amount}")
    judged = [_("verdicts")] if plan.judge else []
    table(
        [
            _("method"),
            _("answered"),
            _("left"),
            _("calls of a model"),
            _("tokens"),
            _("time"),
            *judged,
        ],
        [
            (
                one.name,
                f"{one.done:,}",
                f"{one.left:,}",
                _calls(one),
                about.format(amount=f"{one.prompt + one.completion:,}") if one.prompt else "–",
                about.format(amount=duration(one.seconds)) if one.seconds else "–",
                *(f"{one.verdicts:,}" for _ in judged),
            )
            for one in forecasts
        ],
        folding=(_("method"),),
    )


def _calls(expected: Forecast) -> str:
    if expected.most_calls == expected.calls:
        return f"{expected.calls:,}"
    return _("{least:,} to {most:,}").format(least=expected.calls, most=expected.most_calls)


def forecasts_as_json(plan: Plan, forecasts: Sequence[Forecast]) -> dict[str, Any]:
    """Give the JSON of ``localrag eval --dry-run``."""
    return {
        "n": plan.n,
        "orders": plan.orders,
        "corpus": plan.corpus,
        "own_documents": plan.questions.own_documents,
        "unanswerable": plan.questions.unanswerable,
        "entries": [asdict(one) for one in forecasts],
        "left_out": _left_out(plan),
    }


def print_runs(runs: Sequence[tuple[Path, Run]]) -> None:
    """Print a line for each run."""
    if not runs:
        say(_("There is no run yet. Begin one: localrag eval lawqa --method all"))
        return
    table(
        [_("run"), _("questions"), _("orders"), _("methods"), _("state")],
        [
            (
                f"{run.dataset}/{folder.name}",
                _("{n:,} of {split}").format(n=run.n, split=run.split),
                str(run.orders),
                ", ".join(entry.name for entry in run.entries),
                run.finished or _("not finished; the same command goes on"),
            )
            for folder, run in runs
        ],
        folding=(_("methods"),),
    )


def _step(event: Asking) -> str:
    place = f"[{event.place}/{event.batches}] {event.name}"
    if event.orders == 1:
        return place
    words = _("{place}, order {order} of {orders}")
    return words.format(place=place, order=event.order + 1, orders=event.orders)


def _judging(event: Judging) -> str:
    words = _("{judge} judges {name}").format(judge=event.judge, name=event.name)
    return f"[{event.place}/{event.entries}] {words}"


def _failure(event: RowFailed | Unjudged) -> str:
    if isinstance(event, RowFailed):
        return _("row {n}: {cause}").format(n=event.row, cause=event.cause)
    return _("question {name}: {cause}").format(name=event.question, cause=event.problem)


def _print_measured(evaluation: Evaluation) -> None:
    """Print the main figures of answers in free text; nothing where they are a choice."""
    found = {
        answers.entry.name: one for answers in answers_of(evaluation) if (one := measured(answers))
    }
    names = dict.fromkeys(name for one in found.values() for name in one.figures if name in _MAIN)
    if names:
        table(
            [
                _("method"),
                *names,
                _("not found"),
                _("quoted"),
                _("when answered"),
                "TT",
                _("TT by judge"),
            ],
            [
                (
                    name,
                    *(_value(one.figures.get(figure)) for figure in names),
                    _value(one.not_found),
                    _value(one.quoted),
                    _value(one.answered),
                    *(
                        _value(one.verdicts.get(by, {}).get(AnswerVerdict.TT))
                        for by in (DETERMINISTIC, JUDGE)
                    ),
                )
                for name, one in found.items()
            ],
            folding=(_("method"),),
        )
        said = _(
            "TT: answer and derivation right; all of it by type, with intervals, is in the report"
        )
        say(said)
        for fact in evaluation.measured_with:
            say(one_line(str(fact)))


def _print_refusals(evaluation: Evaluation) -> None:
    """Print how often questions were refused an answer; nothing where all of them have one."""
    found = {answers.entry.name: refusals(answers) for answers in answers_of(evaluation)}
    if not any(found.values()):
        return
    table(
        [_("method"), _("refused, without an answer"), _("refused, with an answer")],
        [
            (
                name,
                *(
                    f"{_value(one.refused)} ({_interval(one.refused)})"
                    if (one := by_value.get(value))
                    else "–"
                    for value in ("no", "yes")
                ),
            )
            for name, by_value in found.items()
        ],
        folding=(_("method"),),
    )


def _value(found: Estimate | None) -> str:
    return f"{found.value:.1%}" if found else "–"


def _line(entry: Entry, said: Sequence[TraceNote], numbers: Mapping[str, str]) -> tuple[str, ...]:
    found = _score(entry)
    failed = sum(bool(result.failure) for result in entry.results)
    spent = costs([result.spent for result in entry.results])
    keys = {note.key for note in said}
    return (
        entry.name,
        f"{found.value:.1%}" if found else "–",
        _interval(found) if found and found.low < found.high else "–",
        f"{failed:,}",
        f"{spent.calls:.1f}" if spent else "–",
        f"{spent.median_seconds:.3g}" if spent else "–",
        " ".join(number for key, number in numbers.items() if key in keys) or "–",
    )


def _interval(found: Estimate) -> str:
    return _("{low:.1%} to {high:.1%}").format(low=found.low, high=found.high)


def _holding(note: TraceNote, notes: Mapping[str, Sequence[TraceNote]]) -> str:
    return _(", ").join(
        f"{name} {one.answers:,}"
        for name, said in notes.items()
        for one in said
        if one.key == note.key
    )


def _as_json(answers: Answers) -> dict[str, Any]:
    entry, found = answers.entry, _score(answers.entry)
    more, seen, sentences = measured(answers), shown(answers), sentences_shown(answers)
    return {
        "name": entry.name,
        "method": entry.method,
        "score": asdict(found) if found else None,
        "measured": asdict(more) if more else None,
        "shown": asdict(seen) if seen else None,
        "sentences_shown": asdict(sentences) if sentences else None,
        "refusals": {value: asdict(one) for value, one in refusals(answers).items()},
        "failed": sum(bool(result.failure) for result in entry.results),
        "notes": {note.key: note.answers for note in counts(entry.results)},
        "made_with": dict(entry.made_with),
    }


def _score(entry: Entry) -> Estimate | None:
    by_question: dict[str, list[float]] = {}
    for result in entry.results:
        by_question.setdefault(result.question, []).append(result.score)
    return score(list(by_question.values()))
