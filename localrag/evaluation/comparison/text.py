"""What changed from one run to another, as Markdown."""

from collections.abc import Iterator

from localrag.evaluation.comparison.comparing import Comparison, EntryComparison
from localrag.evaluation.report.recall import DEPTHS, Recall
from localrag.evaluation.report.tables import (
    DASH,
    counted,
    estimate,
    p_value,
    percent,
    plain,
    points,
    table,
)


def markdown(comparison: Comparison) -> str:
    """A comparison for people."""
    first, second = plain(comparison.first), plain(comparison.second)
    both = over = of = ""
    # Answers in free text come in one order.
    if not any(entry.measured for entry in comparison.entries):
        both = f" and {counted(comparison.orders, 'order')} of the options"
        over, of = ", over all orders", " in the order of the dataset"
    blocks = [
        f"# {first} against {second}",
        f"Dataset {plain(comparison.dataset)}, split {plain(comparison.split)}: "
        f"{counted(comparison.questions, 'question')}{both} that both have. Points are those of "
        f"the second run above the first{over}, with a paired bootstrap interval; p is McNemar's "
        f"exact test{of}, by the questions that one run alone has right.",
        table(
            ["entry", "first", "second", "points", "only the first", "only the second", "p"],
            map(_row, comparison.entries),
        ),
    ]
    for entry in comparison.entries:
        if entry.changed:
            blocks += [f"## {_name(entry)}", *_details(entry)]
    if comparison.unchanged:
        names = ", ".join(map(plain, comparison.unchanged))
        blocks.append(f"Made with the same, and nothing changed: {names}.")
    blocks += [
        f"In {run} alone: {', '.join(map(plain, names))}."
        for run, names in ((first, comparison.only_first), (second, comparison.only_second))
        if names
    ]
    return "\n\n".join(blocks) + "\n"


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
    names = dict.fromkeys((plain(entry.first_name), plain(entry.second_name)))
    return " → ".join(names)


def _details(entry: EntryComparison) -> Iterator[str]:
    if entry.made_with:
        rows = [
            [plain(name), *(DASH if value in (None, "") else plain(value) for value in values)]
            for name, values in entry.made_with.items()
        ]
        yield table(["made with", "first", "second"], rows, left=3)
    else:
        yield "Both were made with the same."
    if entry.measures_changed:
        rows = [
            [plain(name), *map(estimate, both)]
            for name, both in entry.measured.items()
            if both[0] != both[1]
        ]
        yield table(["measure", "first", "second"], rows)
    if entry.recall_changed:
        header = [f"{which} at {depth}" for depth in DEPTHS for which in ("any", "all")]
        rows = [[plain(stage), *_recalls(*both)] for stage, both in entry.recall.items()]
        yield table(["recall, first → second", *header], rows)
    elif entry.recall:
        yield "Recall is the same at every stage."
    for words, ids in (("Scored higher", entry.gained), ("Scored lower", entry.lost)):
        yield f"{words} in the second run: {', '.join(map(plain, ids)) or 'none'} ({len(ids)})."


def _recalls(first: Recall | None, second: Recall | None) -> list[str]:
    def both(depth: int, *, every: bool) -> str:
        found = [
            one and (one.all_found if every else one.any_found).get(depth)
            for one in (first, second)
        ]
        return " → ".join(percent(one.value) if one else DASH for one in found)

    return [both(depth, every=every) for depth in DEPTHS for every in (False, True)]
