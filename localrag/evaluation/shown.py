"""Which gold sentences a model was shown, by what the traces say of the sentences chosen for it.

A dataset and the splitter of localrag may cut a text at other places. A gold sentence counts as
shown where its words stand in those that were shown of its document, put together in reading order.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from localrag.corpus.store import CorpusStore
from localrag.evaluation import places
from localrag.evaluation.answers import Answered, read_rows
from localrag.evaluation.planning import Plan, Setup
from localrag.evaluation.types import GoldSentence, Result
from localrag.methods.extractive import EVIDENCE
from localrag.ops.batch.rows import StageSummary
from localrag.search.types import TextSpan
from localrag_indexes.analysis.normalize import without_blanks


def with_sentences(
    plan: Plan, setup: Setup, order: int, results: dict[int, Result]
) -> dict[int, Result]:
    """The results of an order with the gold sentences that were shown.

    Where no answer of the order tells which sentences were chosen for it, none is known.

    Raises:
        StoreError: the corpus cannot be read.
    """
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
    """For each gold sentence whether the spans hold it.

    Args:
        gold: the sentences.
        spans: what was shown, in any order.
        text_of: gives the text of a span.
    """
    wanted = {one.document for one in gold}
    found: dict[str, str] = defaultdict(str)
    for span in sorted(set(spans)):
        if span.document in wanted:
            found[span.document] += without_blanks(text_of(span))
    return tuple(without_blanks(one.text) in found[one.document] for one in gold)


def _chosen(stages: Iterable[StageSummary]) -> list[TextSpan]:
    return [span for stage in stages if stage.stage == EVIDENCE for span in stage.spans]
