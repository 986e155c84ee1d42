"""Two runs over the same questions: their differences, tests, and settings that differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from localrag.errors import UsageError
from localrag.evaluation.report.document import (
    DASH,
    Block,
    ReportSection,
    ReportText,
    Table,
    estimate,
    p_value,
    percent,
    points,
    value,
)
from localrag.evaluation.report.document import (
    markdown as as_markdown,
)
from localrag.evaluation.report.figures import compared
from localrag.evaluation.report.measured import (
    DEPTHS,
    Answers,
    Recall,
    answers_of,
    measured,
    recall,
)
from localrag.evaluation.report.sections import recall_header
from localrag.evaluation.statistics import Estimate, McNemar, score
from localrag.evaluation.types import Entry, Evaluation, Question, Questions
from localrag.language import N_, _, ngettext

_Value = tuple[object, object]


@dataclass(frozen=True, slots=True)
class EntryComparison:
    """One entry of each run, on the questions and orders of both."""

    first_name: str
    second_name: str
    first: Estimate
    second: Estimate
    difference: Estimate
    mcnemar: McNemar | None  # in the order of the dataset; None unless all scores are 0 or 1
    # differing settings by dotted name, with both values; None if not set
    made_with: Mapping[str, _Value]
    # figures of answers in free text, by name
    measured: Mapping[str, tuple[Estimate | None, Estimate | None]]
    # by stage; None if an entry has no such stage
    recall: Mapping[str, tuple[Recall | None, Recall | None]]
    # gained, lost: ids of questions that the second scores higher or lower on
    gained: Sequence[str]
    lost: Sequence[str]

    @property
    def changed(self) -> bool:
        """Whether anything differs between the runs."""
        return bool(
            self.made_with
            or self.gained
            or self.lost
            or self.recall_changed
            or self.measures_changed
        )

    @property
    def measures_changed(self) -> bool:
        """Whether a figure of answers in free text differs."""
        return any(first != second for first, second in self.measured.values())

    @property
    def recall_changed(self) -> bool:
        """Whether the recall of a stage differs."""
        return any(first != second for first, second in self.recall.values())


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Differences between two runs."""

    first: str
    second: str
    dataset: str
    split: str
    questions: int
    orders: int
    entries: Sequence[EntryComparison]  # matched by name, or by method
    unchanged: Sequence[str]  # names of entries with equal settings, recall and scores
    only_first: Sequence[str]  # only_first, only_second: names of entries in one run only
    only_second: Sequence[str]


def compare(first: Evaluation, second: Evaluation) -> RunComparison:
    """Compare two runs over the same questions. Raises `UsageError` or `InputError`."""
    _require_same_file(first, second)
    # Check that both are complete before they are reduced to shared questions.
    entries = [{one.entry.name: one for one in answers_of(run)} for run in (first, second)]
    ids = {question.id for question in second.questions.questions}
    questions = tuple(one for one in first.questions.questions if one.id in ids)
    orders = min(first.orders, second.orders)
    matched = dict(_matched(first.entries, second.entries))
    if not questions or not matched:
        raise UsageError(
            N_("{first} and {second} share no method.")
            if questions
            else N_("{first} and {second} share no question."),
            N_("Compare runs that have both: localrag eval list"),
            first=first.id,
            second=second.id,
        )
    both = [
        _compared(
            _reduced(entries[0][ours], questions, orders),
            _reduced(entries[1][theirs], questions, orders),
        )
        for ours, theirs in matched.items()
    ]
    return RunComparison(
        first=first.id,
        second=second.id,
        dataset=first.questions.dataset.name,
        split=first.questions.split,
        questions=len(questions),
        orders=orders,
        entries=both,
        unchanged=[one.first_name for one in both if not one.changed],
        only_first=[name for name in entries[0] if name not in matched],
        only_second=[name for name in entries[1] if name not in matched.values()],
    )


def as_json(comparison: RunComparison) -> Any:
    """A comparison as JSON values."""
    return TypeAdapter(RunComparison).dump_python(comparison, mode="json")


def _require_same_file(first: Evaluation, second: Evaluation) -> None:
    ours, theirs = first.questions, second.questions
    if ours.dataset.name != theirs.dataset.name or ours.sha256 != theirs.sha256:
        raise UsageError(
            N_("{first} asked {asked}, {second} asked {other}: their scores do not compare."),
            N_("Name two runs over the same questions: localrag eval list"),
            first=first.id,
            asked=_file(ours),
            second=second.id,
            other=_file(theirs),
        )


def _file(questions: Questions) -> str:
    return f"{questions.dataset.name} {questions.split} (sha256 {questions.sha256[:12]})"


def _matched(ours: Sequence[Entry], theirs: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Names of equal entries: by name, or by method if each run has one left."""
    names = {entry.name for entry in ours} & {entry.name for entry in theirs}
    rest = [[entry for entry in entries if entry.name not in names] for entries in (ours, theirs)]
    for entry in ours:
        if entry.name in names:
            yield entry.name, entry.name
            continue
        left, right = ([one for one in group if one.method == entry.method] for group in rest)
        if len(left) == len(right) == 1:
            yield entry.name, right[0].name


def _reduced(answers: Answers, questions: tuple[Question, ...], orders: int) -> Answers:
    by_question = {one.id: answers.by_question[one.id][:orders] for one in questions}
    return Answers(answers.entry, questions, by_question)


def _compared(first: Answers, second: Answers) -> EntryComparison:
    gap, test = compared(second, first)
    scores = [
        score([answers.scores(question) for question in answers.questions])
        for answers in (first, second)
    ]
    assert gap
    assert scores[0]
    assert scores[1]
    before, after = first.entry.made_with, second.entry.made_with
    changes = dict(zip((q.id for q in first.questions), _gaps(first, second), strict=True))
    ours, theirs = recall(first), recall(second)
    return EntryComparison(
        first_name=first.entry.name,
        second_name=second.entry.name,
        first=scores[0],
        second=scores[1],
        difference=gap,
        # The test compares second with first; it is shown the other way round.
        mcnemar=test and McNemar(test.second, test.first, test.p),
        made_with={
            name: (before.get(name), after.get(name))
            for name in sorted({*before, *after})
            if before.get(name) != after.get(name)
        },
        measured=_measured(first, second),
        recall={stage: (ours.get(stage), theirs.get(stage)) for stage in {**ours, **theirs}},
        gained=[question for question, change in changes.items() if change > 0],
        lost=[question for question, change in changes.items() if change < 0],
    )


def _measured(
    first: Answers, second: Answers
) -> dict[str, tuple[Estimate | None, Estimate | None]]:
    before, after = (_figures(answers) for answers in (first, second))
    return {name: (before.get(name), after.get(name)) for name in {**before, **after}}


def _figures(answers: Answers) -> dict[str, Estimate]:
    found = measured(answers)
    if found is None:
        return {}
    shares = {
        f"{verdict} ({by})": share
        for by, verdicts in found.verdicts.items()
        for verdict, share in verdicts.items()
    }
    others = {"not found": found.not_found, "quoted": found.quoted}
    return {**found.figures, **others, **shares}


def _gaps(first: Answers, second: Answers) -> list[float]:
    return [b - a for a, b in zip(first.means(), second.means(), strict=True)]


def markdown(comparison: RunComparison) -> str:
    """A comparison as Markdown, in the language in use."""
    title = _("{first} against {second}").format(first=comparison.first, second=comparison.second)
    sections = [ReportSection(title, list(_head(comparison)), level=1)]
    sections += [
        ReportSection(_name(entry), list(_details(entry)))
        for entry in comparison.entries
        if entry.changed
    ]
    # Settings without a section come last.
    sections[-1] = replace(sections[-1], blocks=[*sections[-1].blocks, *_unchanged(comparison)])
    return as_markdown(sections)


def _head(comparison: RunComparison) -> Iterator[Block]:
    questions = ngettext("{n:,} question", "{n:,} questions", comparison.questions)
    questions = questions.format(n=comparison.questions)
    # Answers in free text come in one order.
    if any(entry.measured for entry in comparison.entries):
        words = _(
            "Dataset {dataset}, split {split}: {questions} in both runs. Points: second "
            "run minus first, with a paired bootstrap interval. p: McNemar's exact test "
            "over questions that only one run has right."
        )
    else:
        words = ngettext(
            "Dataset {dataset}, split {split}: {questions} and {orders} order of the "
            "options in both runs. Points: second run minus first over all orders, with a "
            "paired bootstrap interval. p: McNemar's exact test in the order of the "
            "dataset, over questions that only one run has right.",
            "Dataset {dataset}, split {split}: {questions} and {orders} orders of the "
            "options in both runs. Points: second run minus first over all orders, with a "
            "paired bootstrap interval. p: McNemar's exact test in the order of the "
            "dataset, over questions that only one run has right.",
            comparison.orders,
        )
    yield ReportText(
        words.format(
            dataset=comparison.dataset,
            split=comparison.split,
            questions=questions,
            orders=comparison.orders,
        )
    )
    header = [
        _("entry"),
        _("first"),
        _("second"),
        _("points"),
        _("only the first"),
        _("only the second"),
        _("p"),
    ]
    yield Table(header, [_row(entry) for entry in comparison.entries])


def _unchanged(comparison: RunComparison) -> Iterator[Block]:
    if comparison.unchanged:
        words = _("Made with the same, and nothing changed: {names}.")
        yield ReportText(words.format(names=_(", ").join(comparison.unchanged)))
    for run, names in (
        (comparison.first, comparison.only_first),
        (comparison.second, comparison.only_second),
    ):
        if names:
            words = _("In {run} alone: {names}.")
            yield ReportText(words.format(run=run, names=_(", ").join(names)))


def _row(entry: EntryComparison) -> list[str]:
    test = entry.mcnemar
    return [
        _name(entry),
        estimate(entry.first),
        estimate(entry.second),
        points(entry.difference),
        *([str(test.first), str(test.second), p_value(test.p)] if test else [DASH] * 3),
    ]


def _name(entry: EntryComparison) -> str:
    return " → ".join(dict.fromkeys((entry.first_name, entry.second_name)))


def _details(entry: EntryComparison) -> Iterator[Block]:
    sides = [_("first"), _("second")]
    if entry.made_with:
        rows = [[name, *map(value, values)] for name, values in entry.made_with.items()]
        yield Table([_("made with"), *sides], rows, left=3)
    else:
        yield ReportText(_("Both were made with the same."))
    if entry.measures_changed:
        rows = [
            [name, *map(estimate, both)]
            for name, both in entry.measured.items()
            if both[0] != both[1]
        ]
        yield Table([_("measure"), *sides], rows)
    if entry.recall_changed:
        rows = [[stage, *_recalls(*both)] for stage, both in entry.recall.items()]
        yield Table([_("recall, first → second"), *recall_header()], rows)
    elif entry.recall:
        yield ReportText(_("Recall is the same at every stage."))
    for words, ids in (
        (_("Scored higher in the second run: {ids} ({n})."), entry.gained),
        (_("Scored lower in the second run: {ids} ({n})."), entry.lost),
    ):
        yield ReportText(words.format(ids=_(", ").join(ids) or _("none"), n=len(ids)))


def _recalls(first: Recall | None, second: Recall | None) -> list[str]:
    def both(depth: int, *, every: bool) -> str:
        found = [
            one and (one.all_found if every else one.any_found).get(depth)
            for one in (first, second)
        ]
        return " → ".join(percent(one.value) if one else DASH for one in found)

    return [both(depth, every=every) for depth in DEPTHS for every in (False, True)]
