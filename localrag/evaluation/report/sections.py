"""The sections of a report that hold figures: each a list of blocks of Markdown, empty if void."""

from collections.abc import Mapping, Sequence

from localrag.evaluation.report.figures import EntryFigures, Figures, Pair
from localrag.evaluation.report.measured import DEPTHS, SHARE, Costs, common
from localrag.evaluation.report.tables import (
    DASH,
    counted,
    estimate,
    listed,
    p_value,
    percent,
    plain,
    points,
    table,
)
from localrag.evaluation.types import Cause, NotMeasured, Published

_CAUSES = {
    Cause.CORPUS: (
        "corpus lacks it",
        "the corpus holds no gold provision, so that no search could find one",
    ),
    Cause.SEARCH: ("search failed", "no gold provision was among the hits"),
    Cause.EVIDENCE: (
        "evidence does not match",
        "a gold provision was among the hits, but not in what the model was shown or the answer "
        "quotes",
    ),
    Cause.REPLY: ("reply malformed", "no answer came, or none that could be read"),
    Cause.REASONING: (
        "reasoning wrong, or nothing was searched",
        "gold was at hand as well; or the method does not search (statute-direct sees no law, "
        "statute-gold only the gold itself), or the question names no gold",
    ),
}


def scores(figures: Figures) -> list[str]:
    """The score of every entry with what it rests on, and what needs no reading."""
    entries = figures.entries
    numbers = {note: number for number, note in _numbered(entries)}
    rows = [
        [
            plain(entry.name),
            str(entry.score.n) if entry.score else "0",
            estimate(entry.score),
            str(sum(entry.failures.values())),
            "; ".join(map(published_figure, entry.published)) or DASH,
            " ".join(number for note, number in numbers.items() if note in entry.notes) or DASH,
        ]
        for entry in entries
    ]
    rows += [
        [f"*{plain(one.name)}*", str(one.score.n), estimate(one.score), DASH, DASH, DASH]
        for one in figures.baselines
    ]
    header = ["entry", "questions", "score", "failed", "published, other conditions", "notes"]
    return [table(header, rows)]


def notes(entries: Sequence[EntryFigures]) -> list[str]:
    """What the numbers beside the scores stand for, and how many answers of each entry say it."""
    rows = [
        [number, plain(note), *(_share(entry, note) for entry in entries)]
        for number, note in _numbered(entries)
    ]
    rarer = len({note for entry in entries for note in entry.notes}) - len(rows)
    blocks = []
    if rows:
        blocks += [
            "As the traces of the answers say it, and of how many answers:",
            table(["", "note", *(plain(entry.name) for entry in entries)], rows, left=2),
        ]
    if rarer:
        blocks.append(
            f"In the JSON only: {counted(rarer, 'note')} on less than {100 * SHARE:.0f} % of the "
            "answers of every entry, or on a single one."
        )
    return blocks


def caveats(sentences: Sequence[str]) -> list[str]:
    """What has to be known of the dataset to judge a score on it."""
    if not sentences:
        return []
    # A sentence could begin like a list.
    return [listed(f"Of the dataset: {plain(sentence)}" for sentence in sentences)]


def published(figures: Mapping[str, Sequence[Published]]) -> list[str]:
    """What others have published, with its conditions."""
    lines = [
        f"{plain(method)}: {published_figure(one)}, {plain(one.conditions)} ({plain(one.source)})"
        for method, ones in figures.items()
        for one in ones
    ]
    if not lines:
        return []
    return [
        "Published under other conditions, and so not to be ranked with these scores:",
        # A method's name could begin like a list.
        listed(f"Method {line}" for line in lines),
    ]


def published_figure(one: Published) -> str:
    """A figure of others with its n, where they give it."""
    return f"{percent(one.score)} (n = {one.n})" if one.n else percent(one.score)


def differences(pairs: Sequence[Pair], *, choices: bool) -> list[str]:
    """Every two entries against each other.

    Args:
        pairs: of entries.
        choices: whether the questions have options, and so orders of them.
    """
    rows = [
        [
            plain(f"{pair.first} − {pair.second}"),
            points(pair.difference),
            *(
                [str(pair.mcnemar.first), str(pair.mcnemar.second), p_value(pair.mcnemar.p)]
                if pair.mcnemar
                else [DASH] * 3
            ),
            p_value(pair.adjusted),
        ]
        for pair in pairs
    ]
    if not rows:
        return []
    over, of = (
        (" over all orders of the options", " in the order of the dataset") if choices else ("", "")
    )
    return [
        f"Percentage points{over}, with a paired bootstrap interval; and McNemar's exact test{of}, "
        "by the questions that one of the two alone has right. Holm's correction is for all "
        f"{len(pairs)} pairs of this table.",
        table(["pair", "points", "only the first", "only the second", "p", "p (Holm)"], rows),
    ]


def not_measured(left_out: Sequence[NotMeasured]) -> list[str]:
    """What was asked for and has no results, and why."""
    if not left_out:
        return []
    # A name could begin like a list.
    return [listed(f"Entry {plain(f'{o.name}: {o.cause} {o.cure}')}" for o in left_out)]


def groups(entries: Sequence[EntryFigures]) -> dict[str, list[str]]:
    """A section for each group of questions: a row for each value, a column for each entry."""
    names = dict.fromkeys(name for entry in entries for name in entry.by_group)
    sections = {}
    for name in names:
        found = [entry.by_group.get(name, {}) for entry in entries]
        sizes = {value: score.n for scores in found for value, score in scores.items()}
        rows = [
            [plain(value), str(n), *(estimate(scores.get(value)) for scores in found)]
            for value, n in sizes.items()
        ]
        header = [plain(name), "questions", *(plain(entry.name) for entry in entries)]
        sections[f"Scores by {plain(name)}"] = [table(header, rows)]
    return sections


def orders(entries: Sequence[EntryFigures]) -> list[str]:
    """What the order of the options changes: scores, choices, positions."""
    blocks = []
    if any(len(entry.by_order) > 1 and not entry.measured for entry in entries):
        most = max(len(entry.by_order) for entry in entries)
        blocks += [
            "Order 0 is that of the dataset. The last column is the share of questions with the "
            "same option chosen in every order, whether it is right or not.",
            table(
                ["entry", *(f"order {order}" for order in range(most)), "same choice in all"],
                [
                    [plain(entry.name), *map(estimate, entry.by_order), estimate(entry.same_choice)]
                    for entry in entries
                ],
            ),
        ]
    choosing = [entry for entry in entries if entry.positions]
    labels = sorted({position.label for entry in choosing for position in entry.positions})
    if choosing:
        blocks += [
            "How often each position was chosen, and how often it was right, in the answers that "
            "chose one:",
            table(
                ["entry", "answers", *(f"{label}: chosen / right" for label in labels)],
                [_positions(entry, labels) for entry in choosing],
            ),
        ]
    return blocks


def retrieval(entries: Sequence[EntryFigures]) -> list[str]:
    """Recall of every stage of every entry."""
    rows = [
        [
            plain(entry.name),
            plain(stage),
            str(next(iter(one.any_found.values())).n),
            *(
                estimate(found.get(depth))
                for depth in DEPTHS
                for found in (one.any_found, one.all_found)
            ),
        ]
        for entry in entries
        for stage, one in entry.recall.items()
    ]
    if not rows:
        return []
    header = [f"{which} at {depth}" for depth in DEPTHS for which in ("any", "all")]
    return [
        "Questions with any, with all of their gold provisions among the first hits of a stage, of "
        "those that have some; a stage that a question never came to found nothing for it. There "
        f"is no figure at {DEPTHS[1]} where no list of the stage holds more than {DEPTHS[0]}.",
        table(["entry", "stage", "questions", *header], rows, left=2),
    ]


def costs(entries: Sequence[EntryFigures]) -> list[str]:
    """What an answer costs."""
    return costs_of("answer", {entry.name: entry.costs for entry in entries})


def costs_of(what: str, found: Mapping[str, Costs | None]) -> list[str]:
    """A table of what one of something costs, by the name of the entry."""
    rows = [
        [
            plain(name),
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
    header = ["prompt tokens", "of these cached", "completion tokens", "median s", "p95 s"]
    return [
        f"For one {what}: means, and the median and the 95th percentile of the seconds; retries "
        f"are those of all {what}s together.",
        table(["entry", f"{what}s", "calls", "retries", *header], rows),
    ]


def failures(entries: Sequence[EntryFigures]) -> list[str]:
    """Answers that failed, by the type of the error."""
    kinds = dict.fromkeys(kind for entry in entries for kind in entry.failures)
    if not kinds:
        return []
    rows = [[plain(e.name), *(str(e.failures.get(kind, 0)) for kind in kinds)] for e in entries]
    return [table(["entry", *map(plain, kinds)], rows)]


def causes(entries: Sequence[EntryFigures]) -> list[str]:
    """Answers that are not right, by cause."""
    rows = [
        [
            plain(entry.name),
            str(sum(entry.causes.values())),
            *(str(entry.causes.get(cause, 0)) for cause in Cause),
        ]
        for entry in entries
    ]
    if not any(entry.causes for entry in entries):
        return []
    header = ["entry", "answers not right", *(_CAUSES[cause][0] for cause in Cause)]
    return [
        table(header, rows),
        listed(f"{title.capitalize()}: {means}." for title, means in _CAUSES.values()),
    ]


def _numbered(entries: Sequence[EntryFigures]) -> list[tuple[str, str]]:
    found = common((entry.notes, entry.costs.n) for entry in entries if entry.costs)
    return [(f"({number})", note) for number, note in enumerate(found, 1)]


def _share(entry: EntryFigures, note: str) -> str:
    n = entry.notes.get(note, 0)
    return f"{n} of {entry.costs.n}" if n and entry.costs else DASH


def _positions(entry: EntryFigures, labels: Sequence[str]) -> list[str]:
    by_label = {position.label: position for position in entry.positions}
    n = sum(position.chosen for position in entry.positions)
    cells = [
        f"{percent(one.chosen / n)} / {percent(one.right / n)}"
        if (one := by_label.get(label))
        else DASH
        for label in labels
    ]
    return [plain(entry.name), str(n), *cells]
