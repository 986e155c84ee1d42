"""Traces of answers against gold: success of each stage's search, and gold sentences shown.

A query counts for the gold triple of its subject with the most similar predicate. Its hits hold the
triple, or a passage that states it: it names all objects, and the subject or its document's title
matches. The model alone, and queries without a stage in the trace, are left out.

A gold sentence counts as shown if the shown text of its document, in reading order, contains its
words. Dataset and localrag may split a text differently.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache

from localrag.answer.types import Stage, Step
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import TRIPLES, Passage, Triple
from localrag.evaluation import places
from localrag.evaluation.answers import Answered, read_rows
from localrag.evaluation.measures.answers import folded
from localrag.evaluation.planning import Plan, Setup
from localrag.evaluation.types import GoldSentence, Question, Result, StageReading, StageSearch
from localrag.methods.extractive import EVIDENCE
from localrag.methods.staged.stages import label_of
from localrag.ops.batch.rows import StageSummary
from localrag.search.predicates import likeness
from localrag.search.types import TextSpan
from localrag_indexes.analysis.normalize import without_blanks

Said = tuple[Passage, str]
"""A passage, and the title of its document."""


def with_searches(
    plan: Plan, setup: Setup, order: int, results: dict[int, Result]
) -> dict[int, Result]:
    """Add the searches of derivations to the results of an order. Raises `StoreError`."""
    if not (setup.method.derives and setup.method.searches):
        return results
    path = places.order_file(setup.folder, order)
    found = dict(results)
    with CorpusStore.open(plan.workspace.corpus(plan.corpus).store, read_only=True) as store:

        @cache
        def said(passage_id: str) -> Said | None:
            passage = store.by_id(passage_id)
            return (passage, store.document(passage.document_id).title) if passage else None

        for row, answer in read_rows(path, Answered.of, plan.n).items():
            success, unsought = searches(answer, plan.asked[row - 1], said)
            found[row] = replace(results[row], searches=success, unsought=unsought)
    return found


def searches(
    answer: Answered, question: Question, said: Callable[[str], Said | None]
) -> tuple[tuple[StageSearch, ...], int]:
    """Compare the searches of a derivation with the gold triples: each stage of each query.

    Also counts the gold triples without a query. Stages name their step as `label_of` does.
    """
    sought: set[Triple] = set()
    found: list[StageSearch] = []
    for number, step in enumerate(answer.derivation.steps, 1):
        gold = _gold(step, question.derivation)
        if gold is None or not step.tried:
            continue
        sought.add(gold)
        records = [stage for stage in answer.stages if stage.subject == label_of(number)]
        if not records:
            continue
        hits = [one for id_ in _read(records) if (one := said(id_))]
        found += [
            StageSearch(stage, _holds(hits, gold, stage), _reading(step, gold, stage))
            for stage in step.tried
            if stage is not Stage.MODEL
        ]
    return tuple(found), len(set(question.derivation) - sought)


def _gold(step: Step, derivation: Sequence[Triple]) -> Triple | None:
    # A query may have no subject, or another name for it than the triple.
    for subject in (step.subject, step.triple.subject if step.triple else ""):
        about = [one for one in derivation if folded(one.subject) == folded(subject)]
        if about:
            break
    return max(about, key=lambda one: likeness(step.predicate, one.predicate), default=None)


def _read(records: Sequence[StageSummary]) -> list[str]:
    """Passages of the evidence, or of the last stage with hits."""
    holding = [stage for stage in records if stage.passages]
    chosen = [stage for stage in holding if stage.stage == EVIDENCE] or holding[-1:]
    return [id_ for stage in chosen for id_ in stage.passages]


def _holds(hits: Iterable[Said], gold: Triple, stage: Stage) -> bool:
    if stage is Stage.KNOWLEDGE:
        return any(one.triple is not None and _same(one.triple, gold) for one, _ in hits)
    return any(_says(one, title, gold) for one, title in hits if one.layer != TRIPLES)


def _says(passage: Passage, title: str, gold: Triple) -> bool:
    text = f"{passage.header} {passage.text}"
    about = folded(title) == folded(gold.subject) or _names(text, gold.subject)
    return about and all(_names(text, one) for one in gold.objects)


def _names(text: str, name: str) -> bool:
    # `folded` removes dates of birth in brackets.
    return folded(name) in folded(text) or without_blanks(name) in without_blanks(text)


def _reading(step: Step, gold: Triple, stage: Stage) -> StageReading:
    if step.stage is not stage or step.triple is None:
        return StageReading.NOT_FOUND
    return StageReading.RIGHT if _same(step.triple, gold) else StageReading.WRONG


def _same(one: Triple, other: Triple) -> bool:
    """Whether subject and objects are equal; predicates are ignored."""
    first, second = (
        (folded(triple.subject), {folded(each) for each in triple.objects})
        for triple in (one, other)
    )
    return first == second


def with_sentences(
    plan: Plan, setup: Setup, order: int, results: dict[int, Result]
) -> dict[int, Result]:
    """Add the shown gold sentences to the results of an order, if the traces record them."""
    if not setup.method.searches or not any(one.sentences for one in plan.asked):
        return results
    rows = read_rows(places.order_file(setup.folder, order), Answered.of, plan.n)
    spans = {row: _chosen(answer.stages) for row, answer in rows.items()}
    if not any(spans.values()):
        return results
    with CorpusStore.open(plan.workspace.corpus(plan.corpus).store, read_only=True) as store:

        def text_of(span: TextSpan) -> str:
            return store.text(*span)

        return {
            row: replace(
                result, sentences=shown(plan.asked[row - 1].sentences, spans.get(row, ()), text_of)
            )
            for row, result in results.items()
        }


def shown(
    gold: Sequence[GoldSentence], spans: Iterable[TextSpan], text_of: Callable[[TextSpan], str]
) -> tuple[bool, ...]:
    """For each gold sentence, whether the spans contain it."""
    wanted = {one.document for one in gold}
    found: dict[str, str] = defaultdict(str)
    for span in sorted(set(spans)):
        if span.document in wanted:
            found[span.document] += without_blanks(text_of(span))
    return tuple(without_blanks(one.text) in found[one.document] for one in gold)


def _chosen(stages: Iterable[StageSummary]) -> list[TextSpan]:
    return [span for stage in stages if stage.stage == EVIDENCE for span in stage.spans]
