"""The sections of a report on answers in free text, as blocks of Markdown; empty if void."""

from collections.abc import Iterator, Mapping, Sequence

from localrag.evaluation.measures import Verdict
from localrag.evaluation.report.figures import EntryFigures
from localrag.evaluation.report.measured import Measured, Searched
from localrag.evaluation.report.sections import costs_of
from localrag.evaluation.report.tables import DASH, estimate, listed, plain, table
from localrag.evaluation.statistics import Estimate, share
from localrag.evaluation.types import DETERMINISTIC, JUDGE, Reading

_PARTS = ("precision", "recall", "f1")
_VERDICTS = {
    Verdict.TT: "answer and derivation right",
    Verdict.TF: "answer right, derivation wrong",
    Verdict.FT: "answer wrong, derivation right",
    Verdict.FF: "both wrong",
    Verdict.NA: "no answer",
}

_Row = tuple[str, str, Measured]
"""A name of an entry, of a group of its questions, and what these come to."""


def measures(entries: Sequence[EntryFigures], made_with: Sequence[str]) -> list[str]:
    """The figures of the measure of the dataset, of answers and of derivations.

    Args:
        entries: of the report.
        made_with: what has to be known of the figures.
    """
    rows = list(_rows(entries))
    names = list(dict.fromkeys(name for *_, found in rows for name in found.figures))
    if not rows:
        return []
    triads = [
        triad
        for triad in dict.fromkeys(name.rpartition("_")[0] for name in names)
        if all(f"{triad}_{part}" in names for part in _PARTS)
    ]
    single = [name for name in names if name.rpartition("_")[0] not in triads]
    blocks = [
        "Answers: their figures, the share of questions that nothing was found for, the share that "
        "only quotations were given for, and the score of the others.",
        table(
            [
                *("entry", "questions", "n", *map(plain, single)),
                *("not found", "quoted", "when answered"),
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
        blocks += [
            f"Derivations, {plain(triad)}:",
            table(
                ["entry", "questions", "n", *_PARTS],
                [
                    [
                        *_called(row),
                        *(estimate(row[2].figures.get(f"{triad}_{part}")) for part in _PARTS),
                    ]
                    for row in rows
                ],
                left=2,
            ),
        ]
    return [*blocks, listed(map(plain, made_with))] if made_with else blocks


def verdicts(entries: Sequence[EntryFigures], judges: Sequence[Mapping[str, object]]) -> list[str]:
    """The verdicts on answer and derivation, by code and by a judge side by side.

    Args:
        entries: of the report.
        judges: what the verdicts of each were made with; an empty one is none.
    """
    rows = [row for row in _rows(entries) if row[2].verdicts]
    if not rows:
        return []
    blocks = [
        table(
            ["entry", "questions", "by", "n", *(verdict.value for verdict in Verdict)],
            [
                [
                    *map(plain, row[:2]),
                    by,
                    str(next(iter(shares.values())).n),
                    *(estimate(shares.get(verdict)) for verdict in Verdict),
                ]
                for row in rows
                for by in (DETERMINISTIC, JUDGE)
                if (shares := row[2].verdicts.get(by))
            ],
            left=3,
        ),
        listed(f"{verdict.value}: {means}." for verdict, means in _VERDICTS.items()),
    ]
    made_with = dict.fromkeys(
        ", ".join(f"{name} {value}" for name, value in judge.items() if value != "")
        for judge in judges
        if judge
    )
    if not made_with:
        return [
            *blocks,
            "No judge was named: these are the verdicts of the deterministic comparison alone, "
            "which takes other words for the same fact as wrong (`--judge NAME` has a model judge "
            "them too).",
        ]
    return [
        *blocks,
        "How far code and judge agree, over the answers that both gave a verdict on:",
        table(
            ["entry", "questions", "n", "same verdict", "no verdict of the judge"],
            [
                [
                    *map(plain, row[:2]),
                    str(row[2].agreement.n) if row[2].agreement else "0",
                    estimate(row[2].agreement),
                    str(row[2].unjudged),
                ]
                for row in rows
            ],
            left=2,
        ),
        listed(f"Judged with {plain(one)}." for one in made_with),
        *costs_of("verdict", {entry.name: entry.judging for entry in entries}),
    ]


def searches(entries: Sequence[EntryFigures]) -> list[str]:
    """The published table of search success against what the stage made of it."""
    rows = [
        [*map(plain, row[:2]), stage.value, *_success(found)]
        for row in _rows(entries)
        for stage, found in row[2].searched.items()
    ]
    if not rows:
        return []
    unsought = [
        f"{plain(entry.name)}: {entry.measured.unsought:,}"
        for entry in entries
        if entry.measured and entry.measured.unsought
    ]
    made = [reading.value.replace("_", " ") for reading in Reading]
    return [
        "Queries that ask for a gold triple, stage by stage: whether the hits that the stage read "
        "hold it, or a passage that says it; and what the stage made of them: the right triple, a "
        "wrong one, or nothing.",
        table(
            [
                "entry",
                "questions",
                "stage",
                "queries",
                "gold among the hits",
                *(f"hits with gold: {one}" for one in made),
                *(f"without: {one}" for one in made),
            ],
            rows,
            left=3,
        ),
        *([f"Gold triples that no query asked for: {'; '.join(unsought)}."] if unsought else []),
    ]


def _success(found: Searched) -> list[str]:
    with_gold, without = sum(found.found.values()), sum(found.missed.values())
    return [
        str(with_gold + without),
        estimate(_share(with_gold, with_gold + without)),
        *(_part(found.found[reading], with_gold) for reading in Reading),
        *(_part(found.missed[reading], without) for reading in Reading),
    ]


def _part(count: int, of: int) -> str:
    return f"{count} ({estimate(_share(count, of))})" if of else DASH


def _share(count: int, of: int) -> Estimate | None:
    return share(count, of) if of else None


def _called(row: _Row) -> list[str]:
    entry, questions, found = row
    return [plain(entry), plain(questions), str(found.n)]


def _rows(entries: Sequence[EntryFigures]) -> Iterator[_Row]:
    """Every entry over all its questions, then over the groups that are measured apart."""
    for entry in entries:
        if entry.measured:
            yield entry.name, "all", entry.measured
            for name, values in entry.apart.items():
                for value, found in values.items():
                    yield entry.name, f"{name}: {value}", found
