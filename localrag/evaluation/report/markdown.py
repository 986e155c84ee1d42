"""A report as Markdown, for people: what was measured, how sure it is, and what made it."""

from collections.abc import Mapping

from localrag.evaluation.model import Evaluation
from localrag.evaluation.report import sections
from localrag.evaluation.report.figures import Figures
from localrag.evaluation.report.tables import DASH, listed, plain, table
from localrag.evaluation.statistics import RESAMPLES

HOW_TO_READ = f"""\
Brackets hold 95 % intervals: Wilson's where every question is right or wrong as a whole, else a
percentile bootstrap over questions ({RESAMPLES:,} resamples, fixed seed), which keeps the orders of
a question together. None is printed where nothing varies between questions, which is no certainty.
A failed answer scores 0.
"""


def markdown(evaluation: Evaluation, figures: Figures, *, plot: str, without: str) -> str:
    """Write a report.

    Args:
        evaluation: what the figures were computed from.
        figures: of the evaluation.
        plot: the file name of the plot; "" where there is none.
        without: why there is none.
    """
    entries = figures.entries
    picture = f"![Scores with their 95 % intervals]({plot})" if plot else plain(without)
    published = evaluation.questions.dataset.published
    parts = {
        "Scores": [*sections.scores(figures), *sections.published(published), picture],
        "Differences": sections.differences(figures.pairs),
        **sections.groups(entries),
        "Order of the options": sections.orders(entries),
        "Retrieval": [*sections.retrieval(entries), *_without_embedder(evaluation, figures)],
        "Costs": sections.costs(entries),
        "Failed answers": sections.failures(entries),
        "Why answers are wrong": sections.causes(entries),
        "Made with": made_with({entry.name: entry.made_with for entry in evaluation.entries}),
        "Dataset": [_dataset(evaluation)],
        "How to read this": [HOW_TO_READ],
    }
    blocks = [f"# Evaluation {plain(evaluation.id)}", _head(evaluation)]
    for title, body in parts.items():
        if body:
            blocks += [f"## {title}", *body]
    return "\n\n".join(block.strip() for block in blocks) + "\n"


def made_with(entries: Mapping[str, Mapping[str, object]]) -> list[str]:
    """What answers were made with: first what all entries share, then what tells them apart.

    Args:
        entries: values by dotted name, by the name of the entry.
    """
    names = sorted({name for values in entries.values() for name in values})
    rows = {name: [values.get(name) for values in entries.values()] for name in names}
    shared = {name: row[0] for name, row in rows.items() if all(one == row[0] for one in row)}
    blocks = []
    if shared:
        cells = [[plain(name), _value(value)] for name, value in shared.items()]
        blocks.append(table(["all entries", "value"], cells, left=2))
    if len(shared) < len(rows):
        differing = [
            [plain(name), *map(_value, row)] for name, row in rows.items() if name not in shared
        ]
        blocks.append(table(["by entry", *map(plain, entries)], differing, left=len(entries) + 1))
    return blocks


def _without_embedder(evaluation: Evaluation, figures: Figures) -> list[str]:
    searching = {entry.name for entry in figures.entries if entry.recall}
    names = [
        plain(entry.name)
        for entry in evaluation.entries
        if entry.name in searching and not entry.made_with.get("embedding.model")
    ]
    if not names:
        return []
    return [
        f"No embedder was named: BM25 stands in for search by meaning in {', '.join(names)}.",
    ]


def _value(value: object) -> str:
    return DASH if value in (None, "") else plain(value)


def _head(evaluation: Evaluation) -> str:
    asked = evaluation.questions
    orders = "one order" if evaluation.orders == 1 else f"{evaluation.orders} orders"
    return (
        f"Dataset {plain(asked.dataset.title)}, split {plain(asked.split)}: "
        f"{len(asked.questions)} questions, asked with the options in {orders}. "
        f"Ended {plain(evaluation.date)}. Machine: {plain(evaluation.machine)}."
    )


def _dataset(evaluation: Evaluation) -> str:
    asked = evaluation.questions
    return listed(
        f"{name}: {plain(value)}"
        for name, value in {
            "name": asked.dataset.name,
            "title": asked.dataset.title,
            "source": asked.dataset.source,
            "licence": asked.dataset.licence,
            "split": asked.split,
            "sha256 of its file": asked.sha256,
        }.items()
        if value
    )
