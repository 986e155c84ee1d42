"""The sections of a report that hold figures: each a list of blocks of Markdown, empty if void."""

from collections.abc import Mapping, Sequence

from localrag.evaluation.model import Cause, Published
from localrag.evaluation.report.figures import EntryFigures, Figures, Pair
from localrag.evaluation.report.recall import DEPTHS
from localrag.evaluation.report.tables import (
    DASH,
    estimate,
    listed,
    p_value,
    percent,
    plain,
    points,
    table,
)
from localrag.evaluation.statistics import Estimate

# What a trace says of a single question is rare; what makes a score another one is not.
_COMMON = 0.1
_MOST_NOTES = 5
_IN_WORDS = {
    Cause.SEARCH: "search failed",
    Cause.EVIDENCE: "evidence does not match",
    Cause.REPLY: "reply malformed",
    Cause.REASONING: "reasoning wrong",
}


def scores(figures: Figures) -> list[str]:
    """The score of every entry with what it rests on, and what needs no reading."""
    entries = figures.entries
    shown = dict.fromkeys(note for entry in entries for note in _common_notes(entry))
    numbers = {note: f"({number})" for number, note in enumerate(shown, 1)}
    rows = [
        [
            plain(entry.name),
            str(entry.score.n) if entry.score else "0",
            estimate(entry.score),
            str(sum(entry.failures.values())),
            "; ".join(map(published_figure, entry.published)) or DASH,
            " ".join(numbers[note] for note in entry.notes if note in numbers) or DASH,
        ]
        for entry in entries
    ]
    rows += [
        [f"*{plain(one.name)}*", str(one.score.n), estimate(one.score), DASH, DASH, DASH]
        for one in figures.baselines
    ]
    header = ["entry", "questions", "score", "failed", "published, other conditions", "notes"]
    blocks = [table(header, rows)]
    if numbers:
        blocks.append("Notes, and how many answers they hold for:")
        blocks.append(listed(_note(note, numbers[note], entries) for note in numbers))
    rarer = len({note for entry in entries for note in entry.notes} - set(numbers))
    if rarer:
        blocks.append(f"Rarer notes, such as on single questions, are in the JSON only: {rarer}.")
    return blocks


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


def differences(pairs: Sequence[Pair]) -> list[str]:
    """Every two entries against each other."""
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
    return [
        "Percentage points over all orders of the options, with a paired bootstrap interval; and "
        "McNemar's exact test in the order of the dataset, by the questions that one of the two "
        f"alone has right. Holm's correction is for all {len(pairs)} pairs of this table.",
        table(["pair", "points", "only the first", "only the second", "p", "p (Holm)"], rows),
    ]


def groups(entries: Sequence[EntryFigures]) -> dict[str, list[str]]:
    """A section for each group of questions."""
    names = dict.fromkeys(name for entry in entries for name in entry.by_group)
    return {
        f"Scores by {plain(name)}": [_grouped(entries, [e.by_group.get(name, {}) for e in entries])]
        for name in names
    }


def orders(entries: Sequence[EntryFigures]) -> list[str]:
    """What the order of the options changes: scores, choices, positions."""
    blocks = []
    if any(len(entry.by_order) > 1 for entry in entries):
        by_order = [
            {f"order {order}": found for order, found in enumerate(entry.by_order)}
            for entry in entries
        ]
        same = {"same choice in all": [estimate(entry.same_choice) for entry in entries]}
        blocks += [
            "Order 0 is that of the dataset. The last column is the share of questions with the "
            "same option chosen in every order, whether it is right or not.",
            _grouped(entries, by_order, same),
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
                estimate(found[depth])
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
        "those that have some; a stage that a question never came to found nothing for it.",
        table(["entry", "stage", "questions", *header], rows, left=2),
    ]


def costs(entries: Sequence[EntryFigures]) -> list[str]:
    """What an answer costs."""
    rows = [
        [
            plain(entry.name),
            str(cost.n),
            f"{cost.calls:.2f}",
            str(cost.retries),
            f"{cost.prompt:,.0f}",
            f"{cost.cached:,.0f}",
            f"{cost.completion:,.0f}",
            f"{cost.median_seconds:.3g}",
            f"{cost.p95_seconds:.3g}",
        ]
        for entry in entries
        if (cost := entry.costs)
    ]
    if not rows:
        return []
    header = ["prompt tokens", "of these cached", "completion tokens", "median s", "p95 s"]
    return [
        "For one answer; retries are those of all answers together.",
        table(["entry", "answers", "calls", "retries", *header], rows),
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
    header = ["entry", "answers not right", *(_IN_WORDS[cause] for cause in Cause)]
    return [
        "Search failed: no gold provision was among the hits. Evidence does not match: one was, "
        "but not in what the answer rests on. Reasoning wrong: it was there as well.",
        table(header, rows),
    ]


def _grouped(
    entries: Sequence[EntryFigures],
    groups: Sequence[Mapping[str, Estimate]],
    more: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """A row for each entry, a column for each value; every column has the same questions."""
    sizes = {value: found.n for group in groups for value, found in group.items()}
    more = more or {}
    header = ["entry", *(f"{plain(value)} (n = {n})" for value, n in sizes.items()), *more]
    rows = [
        [
            plain(entry.name),
            *(estimate(group.get(value)) for value in sizes),
            *(column[place] for column in more.values()),
        ]
        for place, (entry, group) in enumerate(zip(entries, groups, strict=True))
    ]
    return table(header, rows)


def _common_notes(entry: EntryFigures) -> list[str]:
    answers = entry.costs.n if entry.costs else 0
    common = [note for note, n in entry.notes.items() if n >= _COMMON * answers]
    return common[:_MOST_NOTES]


def _note(note: str, number: str, entries: Sequence[EntryFigures]) -> str:
    holds = "; ".join(
        f"{plain(entry.name)} {entry.notes[note]} of {entry.costs.n}"
        for entry in entries
        if note in entry.notes and entry.costs
    )
    return f"{number} {plain(note)}: {holds}"


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
