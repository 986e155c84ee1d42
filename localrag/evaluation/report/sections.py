"""Sections of a report in the language in use."""

from collections.abc import Iterable, Mapping, Sequence

from localrag.answer.wording import FAILURES, VERACITIES
from localrag.evaluation.report import claims, free_text, rated
from localrag.evaluation.report.document import (
    DASH,
    Block,
    Emphasised,
    ReportItems,
    ReportSection,
    ReportText,
    Table,
    estimate,
    p_value,
    percent,
    points,
    value,
)
from localrag.evaluation.report.figures import EntryFigures, Figures
from localrag.evaluation.report.measured import CHANCE, DEPTHS, SHARE, Baseline, TraceNote, common
from localrag.evaluation.statistics import FEW, RESAMPLES
from localrag.evaluation.types import Cause, Evaluation, NotMeasured, Published
from localrag.language import N_, _, ngettext

_CAUSES = {
    Cause.CORPUS: (
        N_("not in the corpus"),
        N_("Not in the corpus: the corpus has no gold provision, so no search can find one."),
    ),
    Cause.SEARCH: (
        N_("search failed"),
        N_("Search failed: no gold provision was among the hits."),
    ),
    Cause.EVIDENCE: (
        N_("evidence does not match"),
        N_(
            "Evidence does not match: a gold provision was among the hits, but not in what the "
            "model was shown or the answer quotes."
        ),
    ),
    Cause.REPLY: (
        N_("reply malformed"),
        N_("Reply malformed: no answer came, or none that could be read."),
    ),
    Cause.REASONING: (
        N_("reasoning wrong, or nothing was searched"),
        N_(
            "Reasoning wrong, or nothing was searched: gold was at hand too, the question "
            "has no gold, or the method does not search. (statute-direct sees no law, "
            "statute-gold only the gold.)"
        ),
    ),
}
_INTERVALS = N_(
    "Brackets hold 95 % intervals. They are Wilson's if every question is right or wrong "
    "as a whole. Otherwise they are a percentile bootstrap over questions ({resamples:,} "
    "resamples, fixed seed), with the orders of a question kept together. Below {few} "
    "questions they are Hoeffding's: wide, but valid for any scores. No interval is "
    "printed if {few} questions or more do not vary; that is not certainty. A failed "
    "answer scores 0."
)
_RANKS = N_(
    "If a question has several searches (for each option, or in another law), the rank of "
    'a gold provision is its best in these lists. "at {depth}" then counts the first '
    "{depth} of each."
)
_OF_CHOICES = (
    N_(
        "Groups: law, chapter and kind (in lawqa 根拠条文 and 関連法令) are the dataset's own; "
        "polarity is read from the question by code."
    ),
    N_(
        "Polarity: agrees asks for the option agreeing with the law, deviates for the option "
        "deviating from it."
    ),
    N_(
        "Orders: order 0 is the dataset's. Order n begins with the option n places further "
        "on; the earlier ones follow at the end (a rotation). With as many orders as "
        "options, each option is once in every place."
    ),
    N_("Causes: decided by code from the trace of the answer; the first that applies counts."),
)
_OF_STAGES = N_(
    "Stages: 1 knowledge, the triples of the corpus; 2 documents, its passages; 3 model, what the "
    "model knows by itself. An order such as 1-2 asks the later one where the earlier one found "
    "nothing."
)
_OF_ALL = N_(
    "code: a digest of the rooms corpus, methods, reading, retrieval and statutes of the "
    "source. If it differs, other code made the answers."
)
# Sections of the settings with a model.
_OF_MODELS = ("chat", "embedding", "reranking")
_LARGEST_CONTEXT = 8_192


def all_sections(
    evaluation: Evaluation, figures: Figures, plot: Sequence[Block]
) -> list[ReportSection]:
    """All sections of a report, even empty ones."""
    entries, dataset = figures.entries, evaluation.questions.dataset
    choices = _has_choices(evaluation)
    parts: dict[str, Sequence[Block]] = {
        _("Scores"): [
            *scores(figures),
            *caveats(dataset.caveats),
            *published(dataset.published),
            *plot,
        ],
        _("Replaced, switched off or left out"): notes(entries),
        _("Differences"): differences(figures, choices=choices),
        _("Not measured"): not_measured(evaluation.not_measured),
        _("Measures"): free_text.measures(entries, map(str, evaluation.measured_with)),
        _("Verdicts on claims"): claims.blocks({one.name: one.verdicts for one in entries}),
        _("Refusals"): free_text.refusals(entries),
        _("Verdicts"): free_text.verdicts(entries, [evaluation.judge]),
        _("Ratings by a judge"): rated.blocks(figures.rated, evaluation.judge),
        _("Search success"): free_text.searches(entries),
        **groups(entries),
        _("Order of the options"): orders(entries),
        _("Retrieval"): [
            *retrieval(entries),
            *free_text.shown(entries),
            *_lacking(evaluation),
            *_without_embedder(evaluation, figures),
        ],
        _("Costs"): free_text.costs(
            _(
                "For one answer: means, and the median and 95th percentile of the seconds. "
                "Retries are the sum over all answers."
            ),
            _("answers"),
            {entry.name: entry.costs for entry in entries},
        ),
        _("Failed answers"): [*failures(entries), *_transient(evaluation)],
        # Without gold places the trace cannot be judged.
        _("Why answers are wrong"): causes(entries) if choices else [],
        _("Made with"): made_with(
            {one.name: _in_full(one.made_with) for one in evaluation.entries}
        ),
        _("Dataset"): [_dataset(evaluation)],
        _("How to read this"): [
            ReportText(how_to_read(searched=choices)),
            ReportItems([*map(_, _OF_CHOICES if choices else (_OF_STAGES,)), _(_OF_ALL)]),
        ],
    }
    title = _("Evaluation {name}").format(name=evaluation.id)
    head = ReportSection(title, [ReportText(_head(evaluation))], level=1)
    return [head, *(ReportSection(name, blocks) for name, blocks in parts.items())]


def how_to_read(*, searched: bool) -> str:
    """Explains intervals, and ranks if `searched`."""
    words = _(_INTERVALS).format(resamples=RESAMPLES, few=FEW)
    return f"{words} {_(_RANKS).format(depth=DEPTHS[0])}" if searched else words


def scores(figures: Figures) -> list[Block]:
    """Score of every entry, and baselines."""
    entries = figures.entries
    numbers = {note.key: number for number, note in _numbered(entries)}
    rows = [
        [
            entry.name,
            str(entry.score.n) if entry.score else "0",
            estimate(entry.score),
            str(sum(entry.failures.values())),
            "; ".join(map(published_figure, entry.published)) or DASH,
            " ".join(numbers[one.key] for one in _in_order(entry, numbers)) or DASH,
        ]
        for entry in entries
    ]
    rows += [
        [Emphasised(_named(one)), str(one.score.n), estimate(one.score), DASH, DASH, DASH]
        for one in figures.baselines
    ]
    header = [
        _("entry"),
        _("questions"),
        _("score"),
        _("failed"),
        _("published, other conditions"),
        _("notes"),
    ]
    return [Table(header, rows)]


def notes(entries: Sequence[EntryFigures]) -> list[Block]:
    """Notes behind the numbers beside the scores, with their number of answers."""
    numbered = _numbered(entries)
    rows = [
        [number, str(note), *(_share(entry, note) for entry in entries)]
        for number, note in numbered
    ]
    rarer = len({note.key for entry in entries for note in entry.notes}) - len(rows)
    blocks: list[Block] = []
    if rows:
        header = ["", _("note"), *(entry.name for entry in entries)]
        blocks += [
            ReportText(_("As the traces of the answers say it, and of how many answers:")),
            Table(header, rows, left=2),
        ]
    if rarer:
        words = ngettext(
            "In the JSON only: {n:,} note on less than {share:.0f} % of the answers of every "
            "entry, or on a single one.",
            "In the JSON only: {n:,} notes on less than {share:.0f} % of the answers of every "
            "entry, or on a single one.",
            rarer,
        )
        blocks.append(ReportText(words.format(n=rarer, share=100 * SHARE)))
    return blocks


def caveats(sentences: Sequence[str]) -> list[Block]:
    """Caveats of the dataset."""
    # A sentence could look like a list item.
    said = [_("Of the dataset: {sentence}").format(sentence=_(one)) for one in sentences]
    return [ReportItems(said)] if said else []


def published(figures: Mapping[str, Sequence[Published]]) -> list[Block]:
    """Figures of others, with conditions and source."""
    # A method's name could look like a list item.
    said = [
        _("Method {method}: {figure}, {conditions} ({source})").format(
            method=method,
            figure=published_figure(one),
            conditions=_(one.conditions),
            source=_(one.source),
        )
        for method, ones in figures.items()
        for one in ones
    ]
    if not said:
        return []
    head = _("Published under other conditions, and so not to be ranked with these scores:")
    return [ReportText(head), ReportItems(said)]


def published_figure(one: Published) -> str:
    """A figure of others with its n, if known."""
    return f"{percent(one.score)} (n = {one.n})" if one.n else percent(one.score)


def differences(figures: Figures, *, choices: bool) -> list[Block]:
    """Every two entries, and on claims each against a constant verdict."""
    named = {one.name: _named(one) for one in figures.baselines}
    rows = [
        [
            f"{pair.first} − {named.get(pair.second, pair.second)}",
            points(pair.difference),
            *(
                [str(pair.mcnemar.first), str(pair.mcnemar.second), p_value(pair.mcnemar.p)]
                if pair.mcnemar
                else [DASH] * 3
            ),
            p_value(pair.adjusted),
        ]
        for pair in figures.pairs
    ]
    if not rows:
        return []
    head = (
        _(
            "Percentage points over all orders of the options, with a paired bootstrap "
            "interval. McNemar's exact test in the order of the dataset, over questions "
            "that only one of the two has right. Holm's correction is for all {n} pairs of "
            "this table."
        )
        if choices
        else _(
            "Percentage points, with a paired bootstrap interval. McNemar's exact test, "
            "over questions that only one of the two has right. Holm's correction is for "
            "all {n} pairs of this table."
        )
    )
    header = [
        _("pair"),
        _("points"),
        _("only the first"),
        _("only the second"),
        _("p"),
        _("p (Holm)"),
    ]
    return [ReportText(head.format(n=len(rows))), Table(header, rows)]


def not_measured(left_out: Sequence[NotMeasured]) -> list[Block]:
    """Entries without results, and the cause."""
    # A name could look like a list item.
    said = [
        _("Entry {name}: {cause} {cure}").format(name=one.name, cause=one.cause, cure=one.cure)
        for one in left_out
    ]
    return [ReportItems(said)] if said else []


def groups(entries: Sequence[EntryFigures]) -> dict[str, Sequence[Block]]:
    """A section for each group: values as rows, entries as columns."""
    names = dict.fromkeys(name for entry in entries for name in entry.by_group)
    found_in: dict[str, Sequence[Block]] = {}
    for name in names:
        found = [entry.by_group.get(name, {}) for entry in entries]
        sizes = {one: score.n for by_value in found for one, score in by_value.items()}
        rows = [
            [one, str(n), *(estimate(by_value.get(one)) for by_value in found)]
            for one, n in sizes.items()
        ]
        header = [name, _("questions"), *(entry.name for entry in entries)]
        found_in[_("Scores by {group}").format(group=name)] = [Table(header, rows)]
    return found_in


def orders(entries: Sequence[EntryFigures]) -> list[Block]:
    """Effect of the order of options: scores, choices, positions."""
    blocks: list[Block] = []
    if any(len(entry.by_order) > 1 and not entry.measured for entry in entries):
        most = max(len(entry.by_order) for entry in entries)
        numbered = (_("order {n}").format(n=order) for order in range(most))
        rows = [
            [entry.name, *map(estimate, entry.by_order), estimate(entry.same_choice)]
            for entry in entries
        ]
        blocks += [
            ReportText(
                _(
                    "Order 0 is the dataset's. The last column is the share of questions "
                    "with the same choice in every order, right or wrong."
                )
            ),
            Table([_("entry"), *numbered, _("same choice in all")], rows),
        ]
    choosing = [entry for entry in entries if entry.positions]
    labels = sorted({position.label for entry in choosing for position in entry.positions})
    if choosing:
        chosen = (_("{label}: chosen / right").format(label=label) for label in labels)
        blocks += [
            ReportText(
                _(
                    "How often each position was chosen, and how often it was right, in the "
                    "answers that chose one:"
                )
            ),
            Table(
                [_("entry"), _("answers"), *chosen],
                [_positions(entry, labels) for entry in choosing],
            ),
        ]
    return blocks


def retrieval(entries: Sequence[EntryFigures]) -> list[Block]:
    """Recall of every stage of every entry."""
    rows = [
        [
            entry.name,
            stage,
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
    head = _(
        "Questions with any or all of their gold provisions among the first hits of a "
        "stage, of those with gold. A stage that a question did not reach found nothing "
        "for it. Without a list of more than {first} hits, a stage has no figure at "
        "{second}."
    )
    return [
        ReportText(head.format(first=DEPTHS[0], second=DEPTHS[1])),
        Table([_("entry"), _("stage"), _("questions"), *recall_header()], rows, left=2),
    ]


def recall_header() -> list[str]:
    """Heads of the recall columns: any and all, at each depth."""
    return [
        words.format(depth=depth)
        for depth in DEPTHS
        for words in (_("any at {depth}"), _("all at {depth}"))
    ]


def failures(entries: Sequence[EntryFigures]) -> list[Block]:
    """Failed answers, by kind."""
    kinds = dict.fromkeys(kind for entry in entries for kind in entry.failures)
    if not kinds:
        return []
    rows = [[one.name, *(str(one.failures.get(kind, 0)) for kind in kinds)] for one in entries]
    return [Table([_("entry"), *(_(FAILURES.get(kind, kind)) for kind in kinds)], rows)]


def causes(entries: Sequence[EntryFigures]) -> list[Block]:
    """Wrong answers, by cause."""
    if not any(entry.causes for entry in entries):
        return []
    rows = [
        [
            entry.name,
            str(sum(entry.causes.values())),
            *(str(entry.causes.get(cause, 0)) for cause in Cause),
        ]
        for entry in entries
    ]
    header = [_("entry"), _("answers not right"), *(_(_CAUSES[cause][0]) for cause in Cause)]
    return [Table(header, rows), ReportItems([_(means) for _name, means in _CAUSES.values()])]


def made_with(entries: Mapping[str, Mapping[str, object]]) -> list[Block]:
    """Settings behind the answers: first shared ones, then differing ones."""
    names = sorted({name for values in entries.values() for name in values})
    rows = {name: [values.get(name) for values in entries.values()] for name in names}
    shared = {name: row[0] for name, row in rows.items() if all(one == row[0] for one in row)}
    blocks: list[Block] = []
    if shared:
        cells = [[name, value(one)] for name, one in shared.items()]
        blocks.append(Table([_("all entries"), _("value")], cells, left=2))
    if len(shared) < len(rows):
        differing = [[name, *map(value, row)] for name, row in rows.items() if name not in shared]
        blocks.append(Table([_("by entry"), *entries], differing, left=len(entries) + 1))
    return blocks


def _in_full(made_with: Mapping[str, object]) -> dict[str, object]:
    """Settings, with words for unknown or empty values."""
    found = dict(made_with)
    for section in _OF_MODELS:
        if found.get(f"{section}.model"):
            untold = (
                _("not told by the file")
                if f"{section}.weights" in found
                else _("not told by the server")
            )
            found.setdefault(f"{section}.quantisation", untold)
    if found.get("chat.context") == 0:
        words = _("0 (what the model has, at most {most:,})")
        found["chat.context"] = words.format(most=_LARGEST_CONTEXT)
    return found


def _has_choices(evaluation: Evaluation) -> bool:
    # Unknown without questions.
    asked = evaluation.questions.questions
    return not asked or any(question.query.options for question in asked)


def _without_embedder(evaluation: Evaluation, figures: Figures) -> list[Block]:
    searching = {entry.name for entry in figures.entries if entry.recall}
    names = [
        entry.name
        for entry in evaluation.entries
        if entry.name in searching and not entry.made_with.get("embedding.model")
    ]
    if not names:
        return []
    words = _(
        "No embedder was named: {names} searched by words (BM25), also where the method asks for "
        "search by meaning."
    )
    return [ReportText(words.format(names=_(", ").join(names)))]


def _lacking(evaluation: Evaluation) -> list[Block]:
    asked = [one for one in evaluation.questions.questions if one.gold]
    lacking = [len(evaluation.lacking.get(one.id, ())) for one in asked]
    if not any(lacking):
        return []
    whole = sum(lacks == len(one.gold) for lacks, one in zip(lacking, asked, strict=True))
    words = ngettext(
        "Of the {n:,} question with gold provisions, the corpus has none of them for "
        "{whole}, and only some for {some} more. No search of this corpus can find the "
        "others. The JSON names them.",
        "Of the {n:,} questions with gold provisions, the corpus has none of them for "
        "{whole}, and only some for {some} more. No search of this corpus can find the "
        "others. The JSON names them.",
        len(asked),
    )
    some = sum(map(bool, lacking)) - whole
    return [ReportText(words.format(n=len(asked), whole=whole, some=some))]


def _transient(evaluation: Evaluation) -> list[Block]:
    n = sum(result.transient for entry in evaluation.entries for result in entry.results)
    if not n:
        return []
    words = ngettext(
        "{n:,} failure may be gone by now, such as a server that did not answer: the same command "
        "asks again.",
        "{n:,} failures may be gone by now, such as a server that did not answer: the same command "
        "asks again.",
        n,
    )
    return [ReportText(words.format(n=n))]


def _head(evaluation: Evaluation) -> str:
    asked = evaluation.questions
    n = len(asked.questions)
    words = ngettext("{n:,} question", "{n:,} questions", n).format(n=n)
    if _has_choices(evaluation):
        words = ngettext(
            "{questions}, asked with the options in one order",
            "{questions}, asked with the options in {n} orders",
            evaluation.orders,
        ).format(questions=words, n=evaluation.orders)
    if asked.unanswerable:
        words += _(
            ", each of its own documents, and again without the documents supporting its answer"
        )
    elif asked.own_documents:
        words += _(", each of its own documents")
    named = _("Questions: {title}") if asked.own else _("Dataset {title}, split {split}")
    return _("{named}: {questions}. Ended {date}. Machine: {machine}.").format(
        named=named.format(title=asked.dataset.title, split=asked.split),
        questions=words,
        date=evaluation.date,
        machine=evaluation.machine,
    )


def _dataset(evaluation: Evaluation) -> ReportItems:
    asked = evaluation.questions
    told = {
        _("read as") if asked.own else _("name"): asked.dataset.name,
        _("title"): asked.dataset.title,
        _("source"): asked.dataset.source,
        _("licence"): asked.dataset.licence,
        _("file") if asked.own else _("split"): asked.split,
        _("sha256 of its file"): asked.sha256,
    }
    return ReportItems([f"{name}: {one}" for name, one in told.items() if one])


def _named(one: Baseline) -> str:
    if one.name == CHANCE:
        return _("chance")
    words = VERACITIES.get(one.position)
    return _("always {label}").format(label=_(words) if words else one.position)


def _numbered(entries: Iterable[EntryFigures]) -> list[tuple[str, TraceNote]]:
    found = common((entry.notes, entry.costs.n) for entry in entries if entry.costs)
    return [(f"({number})", note) for number, note in enumerate(found, 1)]


def _in_order(entry: EntryFigures, numbers: Mapping[str, str]) -> list[TraceNote]:
    place = {key: number for number, key in enumerate(numbers)}
    return sorted(
        (one for one in entry.notes if one.key in numbers), key=lambda one: place[one.key]
    )


def _share(entry: EntryFigures, note: TraceNote) -> str:
    n = next((one.answers for one in entry.notes if one.key == note.key), 0)
    return _("{n} of {total}").format(n=n, total=entry.costs.n) if n and entry.costs else DASH


def _positions(entry: EntryFigures, labels: Sequence[str]) -> list[str]:
    by_label = {position.label: position for position in entry.positions}
    n = sum(position.chosen for position in entry.positions)
    cells = [
        f"{percent(one.chosen / n)} / {percent(one.right / n)}"
        if (one := by_label.get(label))
        else DASH
        for label in labels
    ]
    return [entry.name, str(n), *cells]
