"""Sections of a report on answers in free text; each may be empty."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from localrag.evaluation.report.document import (
    DASH,
    Block,
    Markdown,
    ReportItems,
    ReportText,
    Table,
    estimate,
)
from localrag.evaluation.report.figures import EntryFigures
from localrag.evaluation.report.measured import AnswerMeasures, Costs, GoldShown, Searched
from localrag.evaluation.statistics import Estimate
from localrag.evaluation.types import DETERMINISTIC, JUDGE, AnswerVerdict, StageReading
from localrag.language import N_, _

_MEANINGS = {
    "contains": N_("the answer contains the right answer"),
    "em": N_("the answer is the right one, to the letter"),
    "f1": N_("how far the answer consists of the same words as the right one (F1)"),
    "char_f1": N_("how far the answer consists of the same characters as the right one (F1)"),
    "similarity": N_("how like the right answer the answer is, word for word, synonyms included"),
    "accuracy": N_("the verdict is the right one"),
    "Q": N_(
        "similarity of the questions asked about the claim to the questions of the dataset (METEOR)"
    ),
    "Q+A": N_("the same of the questions with what was found for them"),
    "aspects": N_(
        "share of the question's aspects cited by a statement that code has found in its source"
    ),
    "documents": N_("of the documents of these aspects, the share that such a statement cites"),
    "new": N_("share of the statements not made by an earlier one"),
    "carried": N_("share of the statements that code has found in their citations"),
    "entity": N_("how like the right triples are in subject and object"),
    "relation": N_("how like they are in the predicate"),
    "full": N_("how like they are in all three parts"),
}
"""Meaning of each figure for one answer; for derivations, the compared parts."""
_AT_LEVEL = N_("the verdict is the right one, and Q+A is above {level}")

_PARTS = (("precision", N_("precision")), ("recall", N_("recall")), ("f1", N_("F1")))
_VERDICTS = {
    AnswerVerdict.TT: N_("answer and derivation right"),
    AnswerVerdict.TF: N_("answer right, derivation wrong"),
    AnswerVerdict.FT: N_("answer wrong, derivation right"),
    AnswerVerdict.FF: N_("both wrong"),
    AnswerVerdict.NA: N_("no answer"),
}
_SHOWN: Mapping[str, Callable[[EntryFigures], GoldShown | None]] = {
    N_("places"): lambda entry: entry.shown,
    N_("sentences"): lambda entry: entry.sentences_shown,
}
_HAVING = {"yes": N_("with an answer"), "no": N_("without an answer")}
_GIVEN_BY = {DETERMINISTIC: N_("deterministic"), JUDGE: N_("judge")}
_WITH_GOLD = {
    StageReading.RIGHT: N_("hits with gold: right"),
    StageReading.WRONG: N_("hits with gold: wrong"),
    StageReading.NOT_FOUND: N_("hits with gold: not found"),
}
_WITHOUT = {
    StageReading.RIGHT: N_("without: right"),
    StageReading.WRONG: N_("without: wrong"),
    StageReading.NOT_FOUND: N_("without: not found"),
}

_Row = tuple[str, str, AnswerMeasures]
"""A name of an entry, of a group of its questions, and what these come to."""


def measures(entries: Sequence[EntryFigures], made_with: Iterable[str]) -> list[Block]:
    """Figures of the dataset's measure, for answers and derivations."""
    rows = list(_rows(entries))
    names = list(dict.fromkeys(name for *_one, found in rows for name in found.figures))
    if not rows:
        return []
    triads = [
        triad
        for triad in dict.fromkeys(name.rpartition("_")[0] for name in names)
        if all(f"{triad}_{part}" in names for part, _words in _PARTS)
    ]
    single = [name for name in names if name.rpartition("_")[0] not in triads]
    blocks: list[Block] = [
        ReportText(
            _(
                "Answers: their figures, the shares of questions with nothing found and "
                "with quotations only, and the score of the others."
            )
        ),
        Table(
            [
                *(_("entry"), _("questions"), "n", *single),
                *(_("not found"), _("quoted"), _("when answered")),
            ],
            [
                [
                    *_called(row),
                    *(estimate(row[2].figures.get(name)) for name in single),
                    estimate(row[2].not_found),
                    estimate(row[2].quoted),
                    estimate(row[2].answered),
                ]
                for row in rows
            ],
            left=2,
        ),
    ]
    for triad in triads:
        table = Table(
            [_("entry"), _("questions"), "n", *(_(words) for _part, words in _PARTS)],
            [
                [
                    *_called(row),
                    *(estimate(row[2].figures.get(f"{triad}_{part}")) for part, _words in _PARTS),
                ]
                for row in rows
            ],
            left=2,
        )
        blocks += [ReportText(_("Derivations, {what}:").format(what=triad)), table]
    said = [*_meanings((*single, *triads)), *made_with]
    return [*blocks, ReportItems(said)] if said else blocks


def _meanings(figures: Iterable[str]) -> Iterator[str]:
    for figure in figures:
        name, _at, level = figure.partition("@")
        # Earlier versions may have had other figures.
        if means := _AT_LEVEL if level else _MEANINGS.get(name):
            yield _("{name}: {meaning}.").format(name=figure, meaning=_(means).format(level=level))


def refusals(entries: Sequence[EntryFigures]) -> list[Block]:
    """How often unanswerable and answerable questions were refused."""
    rows = [
        [
            entry.name,
            _(_HAVING[value]),
            str(found.n),
            *map(
                estimate,
                (
                    found.refused,
                    found.not_found,
                    found.unsupported,
                    found.quoted,
                    found.supported,
                ),
            ),
        ]
        for entry in entries
        for value, found in entry.refusals.items()
    ]
    if not rows:
        return []
    head = _(
        "Refused: nothing was found, or the answer was marked as one that its citations do not "
        "carry. Of questions without an answer every other outcome is an error, and of those with "
        "one every refusal is. A failed answer is neither."
    )
    header = [
        _("entry"),
        _("questions"),
        "n",
        _("refused"),
        _("not found"),
        _("not carried"),
        _("quoted"),
        _("answered"),
    ]
    return [ReportText(head), Table(header, rows, left=2)]


def verdicts(
    entries: Sequence[EntryFigures], judges: Sequence[Mapping[str, object]]
) -> list[Block]:
    """Verdicts on answer and derivation, of code and judge side by side."""
    rows = [row for row in _rows(entries) if row[2].verdicts]
    if not rows:
        return []
    blocks: list[Block] = [
        Table(
            [
                _("entry"),
                _("questions"),
                _("by"),
                "n",
                *(verdict.value for verdict in AnswerVerdict),
            ],
            [
                [
                    *row[:2],
                    _(words),
                    str(next(iter(shares.values())).n),
                    *(estimate(shares.get(verdict)) for verdict in AnswerVerdict),
                ]
                for row in rows
                for by, words in _GIVEN_BY.items()
                if (shares := row[2].verdicts.get(by))
            ],
            left=3,
        ),
        ReportItems(
            [
                _("{name}: {meaning}.").format(name=verdict.value, meaning=_(means))
                for verdict, means in _VERDICTS.items()
            ]
        ),
    ]
    made_with = dict.fromkeys(
        ", ".join(f"{name} {value}" for name, value in judge.items() if value != "")
        for judge in judges
        if judge
    )
    if not made_with:
        alone = _(
            "No judge was named: these are verdicts of the deterministic comparison only. "
            "It counts other words for the same fact as wrong (--judge NAME lets a model "
            "judge too)."
        )
        return [*blocks, ReportText(alone)]
    return [
        *blocks,
        ReportText(
            _("How far code and judge agree, over the answers that both gave a verdict on:")
        ),
        Table(
            [_("entry"), _("questions"), "n", _("same verdict"), _("no verdict of the judge")],
            [
                [
                    *row[:2],
                    str(row[2].agreement.n) if row[2].agreement else "0",
                    estimate(row[2].agreement),
                    str(row[2].unjudged),
                ]
                for row in rows
            ],
            left=2,
        ),
        ReportItems([_("Judged with {what}.").format(what=one) for one in made_with]),
        *costs(
            _(
                "For one verdict: means, and the median and 95th percentile of the "
                "seconds. Retries are the sum over all verdicts."
            ),
            _("verdicts"),
            {entry.name: entry.judging for entry in entries},
        ),
    ]


def searches(entries: Sequence[EntryFigures]) -> list[Block]:
    """Success of searches against the readings of stages."""
    rows = [
        [*row[:2], stage.value, *_success(found)]
        for row in _rows(entries)
        for stage, found in row[2].searched.items()
    ]
    if not rows:
        return []
    unsought = [
        f"{entry.name}: {entry.measured.unsought:,}"
        for entry in entries
        if entry.measured and entry.measured.unsought
    ]
    blocks: list[Block] = [
        ReportText(
            _(
                "Queries for a gold triple, by stage. Found: the hits hold the triple, or "
                "a passage that states it. Reading: the stage got the right triple, a "
                "wrong one, or nothing."
            )
        ),
        Table(
            [
                _("entry"),
                _("questions"),
                _("stage"),
                _("queries"),
                _("gold among the hits"),
                *map(_, _WITH_GOLD.values()),
                *map(_, _WITHOUT.values()),
            ],
            rows,
            left=3,
        ),
    ]
    if unsought:
        words = _("Gold triples that no query asked for: {counts}.")
        blocks.append(ReportText(words.format(counts="; ".join(unsought))))
    return blocks


def shown(entries: Sequence[EntryFigures]) -> list[Block]:
    """Share of gold places or sentences shown to a model."""
    rows = [
        [entry.name, _(of), str(one.recall.n)]
        + [estimate(each) for each in (one.any_found, one.all_found, one.recall)]
        for of, found in _SHOWN.items()
        for entry in entries
        if (one := found(entry))
    ]
    if not rows:
        return []
    head = _(
        "Share of questions with any or all gold places shown to the model, over all searches. "
        "The same for the gold sentences in them. Last: the mean share shown."
    )
    header = [
        _("entry"),
        _("gold"),
        _("questions"),
        _("any shown"),
        _("all shown"),
        _("share shown"),
    ]
    return [ReportText(head), Table(header, rows, left=2)]


def costs(head: str, counted: str, found: Mapping[str, Costs | None]) -> list[Block]:
    """A table of mean costs, by name of the entry."""
    rows = [
        [
            name,
            str(cost.n),
            f"{cost.calls:.2f}",
            str(cost.retries),
            f"{cost.prompt:,.0f}",
            f"{cost.cached:,.0f}",
            f"{cost.completion:,.0f}",
            f"{cost.median_seconds:.3g}",
            f"{cost.p95_seconds:.3g}",
        ]
        for name, cost in found.items()
        if cost
    ]
    if not rows:
        return []
    header = [
        _("entry"),
        counted,
        _("calls"),
        _("retries"),
        _("prompt tokens"),
        _("of these cached"),
        _("completion tokens"),
        _("median s"),
        _("p95 s"),
    ]
    return [ReportText(head), Table(header, rows)]


def _success(found: Searched) -> list[str]:
    return [
        str(found.gold.n),
        estimate(found.gold),
        *(_part(found.found[one], found.of_found.get(one)) for one in StageReading),
        *(_part(found.missed[one], found.of_missed.get(one)) for one in StageReading),
    ]


def _part(count: int, share: Estimate | None) -> str:
    return Markdown(f"{count} ({estimate(share)})") if share else DASH


def _called(row: _Row) -> list[str]:
    entry, questions, found = row
    return [entry, questions, str(found.n)]


def _rows(entries: Sequence[EntryFigures]) -> Iterator[_Row]:
    """Each entry over all questions, then over the groups in `APART`."""
    for entry in entries:
        if entry.measured:
            yield entry.name, _("all"), entry.measured
            for name, values in entry.apart.items():
                for value, found in values.items():
                    yield entry.name, f"{name}: {value}", found
