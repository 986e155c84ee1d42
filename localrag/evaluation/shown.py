"""Gold sentences that a model was shown, by the traces.

Dataset and localrag may split a text differently. A gold sentence counts if the shown text of its
document, in reading order, contains its words.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from localrag.batch.rows import StageSummary
from localrag.corpus.store import CorpusStore
from localrag.evaluation import places
from localrag.evaluation.answers import Answered, read_rows
from localrag.evaluation.planning import Plan, Setup
from localrag.evaluation.types import GoldSentence, Result
from localrag.methods.extractive import EVIDENCE
from localrag.retrieval.types import TextSpan
from localrag_indexes.analysis.normalize import without_blanks


def with_sentences(
    plan: Plan, setup: Setup, order: int, results: dict[int, Result]
) -> dict[int, Result]:
    """Add the shown gold sentences to the results of an order, if the traces record them.

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
    """For each gold sentence, whether the spans contain it.

    Args:
        gold: the sentences.
        spans: shown text, in any order.
        text_of: returns the text of a span.
    """
    wanted = {one.document for one in gold}
    found: dict[str, str] = defaultdict(str)
    for span in sorted(set(spans)):
        if span.document in wanted:
            found[span.document] += without_blanks(text_of(span))
    return tuple(without_blanks(one.text) in found[one.document] for one in gold)


def _chosen(stages: Iterable[StageSummary]) -> list[TextSpan]:
    return [span for stage in stages if stage.stage == EVIDENCE for span in stage.spans]
