"""A report as Markdown, for people: what was measured, how sure it is, and what made it."""

from collections.abc import Mapping

from localrag.evaluation.report import free_text, sections
from localrag.evaluation.report.figures import Figures
from localrag.evaluation.report.measured import DEPTHS
from localrag.evaluation.report.tables import DASH, counted, listed, plain, table
from localrag.evaluation.statistics import FEW, RESAMPLES
from localrag.evaluation.types import Evaluation

_INTERVALS = f"""\
Brackets hold 95 % intervals: Wilson's where every question is right or wrong as a whole, else a
percentile bootstrap over questions ({RESAMPLES:,} resamples, fixed seed), which keeps the orders of
a question together; below {FEW} questions Hoeffding's in its place, which is wide, but holds
whatever the scores are. None is printed where nothing varies between {FEW} questions or more, which
is no certainty. A failed answer scores 0."""

_RANKS = f"""\
Where a question was searched for several times, once for
each option or in one law more, the rank of a gold provision is its best in any of these lists: "at
{DEPTHS[0]}" then counts the first {DEPTHS[0]} of each.
"""

HOW_TO_READ = f"{_INTERVALS} {_RANKS}"

_OF_CHOICES = (
    "Groups: law, chapter and kind (in lawqa 根拠条文 and 関連法令) are the dataset's own; "
    "polarity is read from the question by code.",
    "Polarity: agrees, the option that agrees with the law is asked for; deviates, the one that "
    "does not.",
    "Orders: order 0 is that of the dataset; order n begins with the option n places further on, "
    "and what stood before it follows at the end (a rotation). In as many orders as there are "
    "options each stands once in every place.",
    "Causes: decided by code from the trace of the answer; the first that applies counts.",
)
_OF_STAGES = (
    "Stages: 1 knowledge, the triples of the corpus; 2 documents, its passages; 3 model, what the "
    "model knows by itself. An order such as 1-2 asks the later one where the earlier one found "
    "nothing.",
)
_OF_ALL = (
    "code: a digest of the rooms corpus, methods, reading, retrieval and statutes of the source; "
    "where it differs, other code made the answers.",
)
# The sections of the settings that name a model.
_OF_MODELS = ("chat", "embedding", "reranking")
_LARGEST_CONTEXT = 8_192


def markdown(evaluation: Evaluation, figures: Figures, *, plot: str, without: str) -> str:
    """Write a report.

    Args:
        evaluation: what the figures were computed from.
        figures: of the evaluation.
        plot: the file name of the plot; "" where there is none.
        without: why there is none.
    """
    entries = figures.entries
    choices = _has_choices(evaluation)
    picture = f"![Scores with their 95 % intervals]({plot})" if plot else plain(without)
    published = evaluation.questions.dataset.published
    parts = {
        "Scores": [
            *sections.scores(figures),
            *sections.caveats(evaluation.questions.dataset.caveats),
            *sections.published(published),
            picture,
        ],
        "What stood in, was switched off or left out": sections.notes(entries),
        "Differences": sections.differences(figures.pairs, choices=choices),
        "Not measured": sections.not_measured(evaluation.not_measured),
        "Measures": free_text.measures(entries, evaluation.measured_with),
        "Verdicts": free_text.verdicts(entries, [evaluation.judge]),
        "Search success": free_text.searches(entries),
        **sections.groups(entries),
        "Order of the options": sections.orders(entries),
        "Retrieval": [
            *sections.retrieval(entries),
            *_lacking(evaluation),
            *_without_embedder(evaluation, figures),
        ],
        "Costs": sections.costs(entries),
        "Failed answers": [*sections.failures(entries), *_transient(evaluation)],
        # Without gold places there is nothing that the trace could be held against.
        "Why answers are wrong": sections.causes(entries) if choices else [],
        "Made with": made_with({one.name: _in_full(one.made_with) for one in evaluation.entries}),
        "Dataset": [_dataset(evaluation)],
        "How to read this": (
            [HOW_TO_READ, listed((*_OF_CHOICES, *_OF_ALL))]
            if choices
            else [_INTERVALS, listed((*_OF_STAGES, *_OF_ALL))]
        ),
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


def _in_full(made_with: Mapping[str, object]) -> dict[str, object]:
    """The same, with words where a value is not known or says nothing by itself."""
    found = dict(made_with)
    for section in _OF_MODELS:
        if found.get(f"{section}.model"):
            teller = "file" if f"{section}.weights" in found else "server"
            found.setdefault(f"{section}.quantisation", f"not told by the {teller}")
    if found.get("chat.context") == 0:
        found["chat.context"] = f"0 (what the model has, at most {_LARGEST_CONTEXT:,})"
    return found


def _has_choices(evaluation: Evaluation) -> bool:
    # Of no question at all it is not known.
    asked = evaluation.questions.questions
    return not asked or any(question.query.options for question in asked)


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
        f"No embedder was named: {', '.join(names)} searched by words (BM25), also where the "
        "method asks for search by meaning.",
    ]


def _lacking(evaluation: Evaluation) -> list[str]:
    asked = [one for one in evaluation.questions.questions if one.gold]
    lacking = [len(evaluation.lacking.get(one.id, ())) for one in asked]
    if not any(lacking):
        return []
    all_of_them = sum(lacks == len(one.gold) for lacks, one in zip(lacking, asked, strict=True))
    some = sum(map(bool, lacking)) - all_of_them
    return [
        f"Of the {counted(len(asked), 'question')} with gold provisions the corpus holds none of "
        f"them for {all_of_them}, and lacks some of them for {some} more: no search of this corpus "
        "can find those. The JSON names them."
    ]


def _transient(evaluation: Evaluation) -> list[str]:
    n = sum(result.transient for entry in evaluation.entries for result in entry.results)
    if not n:
        return []
    return [
        f"{counted(n, 'failure')} may be gone by now, such as a server that did not answer: the "
        "same command asks again."
    ]


def _value(value: object) -> str:
    return DASH if value in (None, "") else plain(value)


def _head(evaluation: Evaluation) -> str:
    asked = evaluation.questions
    orders = "one order" if evaluation.orders == 1 else f"{evaluation.orders} orders"
    options = f", asked with the options in {orders}" if _has_choices(evaluation) else ""
    title = plain(asked.dataset.title)
    named = f"Questions: {title}" if asked.own else f"Dataset {title}, split {plain(asked.split)}"
    n = counted(len(asked.questions), "question")
    return (
        f"{named}: {n}{options}. "
        f"Ended {plain(evaluation.date)}. Machine: {plain(evaluation.machine)}."
    )


def _dataset(evaluation: Evaluation) -> str:
    asked = evaluation.questions
    return listed(
        f"{name}: {plain(value)}"
        for name, value in {
            "read as" if asked.own else "name": asked.dataset.name,
            "title": asked.dataset.title,
            "source": asked.dataset.source,
            "licence": asked.dataset.licence,
            "file" if asked.own else "split": asked.split,
            "sha256 of its file": asked.sha256,
        }.items()
        if value
    )
