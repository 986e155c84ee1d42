"""Several searches for one question, each by itself, and the sum of what they find.

A question in everyday words shares few of them with the provision that answers it. What a model
writes for it does, where the model knows the law. Where it does not, little is lost: what the
question itself finds counts as much as the likeliest search. A question that follows others is
searched for alone and behind those: it may lean on them, or ask of something else.
"""

from collections.abc import Sequence
from dataclasses import replace

from localrag.progress import ignore
from localrag.question.laws import laws_named
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.reading import Retrieval
from localrag.retrieval.trail import StageListener
from localrag.retrieval.types import Hit, Query, StageRecord, Trace, WrittenSearch
from localrag_indexes.fusion import convex_combination

STAGE = "written"
"""The stage that sums what the searches found."""

# Hits of each search, among which the law that the model expects is looked for.
_DEPTH = 30
# What a hit counts more in the law that the model expects, and in the orders under it. Of the
# questions that may be seen (scripts/bench/lawyers.py --searches), 1.2 and 2 answer as many.
_EXPECTED, _UNDER_IT = 1.5, 1.2
# What a search counts less than the likelier one before it, and the last question by itself less
# than with those before it. What cites provisions counts more than all that is written of it.
_LESS, _ALONE, _CITING = 0.5, 0.5, 3.0


def search_written(
    retriever: Retriever,
    asked: Query,
    written: Sequence[WrittenSearch],
    k: int | None = None,
    on_stage: StageListener = ignore,
) -> Retrieval:
    """Search for a question, for its last one alone, and for what a model wrote of it.

    Args:
        retriever: of the corpus; used by one thread at a time.
        asked: the question.
        written: the searches, the likeliest first.
        k: how many hits to give back; as the settings say by default.
        on_stage: told what each stage did, as soon as it has ended.

    Returns:
        What is known of the question itself, with the hits of all searches, by the sum of their
        relative scores. Where the question names a law that the corpus lacks, its own hits alone.

    Raises:
        UsageError: the question holds no word or is too long.
        IndexUnusable: the index turned out to be damaged.
    """
    found = retriever.search(asked, k, on_stage=on_stage)
    # A law that the user names goes before the one that the model expects.
    named = " ".join(law.words for law in found.laws)
    others = [WrittenSearch(f"{named} {one.words}".strip(), one.law) for one in written]
    weights = [_CITING if found.cited else 1.0, *(_LESS**n for n in range(len(others)))]
    # What the last question cites itself it asks about, whatever its other words find.
    if asked.last_start and not found.reading.resolved.cites:
        others.append(WrittenSearch(asked.last))
        weights.append(_ALONE)
    if not others or found.absent:
        return found
    most = k or retriever.k
    stages = list(found.trace.stages)

    def record(stage: StageRecord) -> None:
        stages.append(stage)
        on_stage(stage)

    each = [found]
    rankings: list[Sequence[Hit]] = [found.hits]
    for number, one in enumerate(others, 1):
        query = replace(asked, text=one.words, last="")

        def labelled(stage: StageRecord, number: int = number, text: str = query.text) -> None:
            record(replace(stage, subject=f"search {number}", query=text))

        retrieval = retriever.search(query, _DEPTH, on_stage=labelled)
        hits = _weighed(retrieval.hits, {} if named else _expected(retriever, one.law))
        rankings.append(hits)
        each.append(replace(retrieval, hits=hits[:most]))
    hits = _summed(rankings, weights)[:most]
    record(StageRecord(STAGE, hits, 0.0))
    return replace(found, hits=hits, trace=Trace(tuple(stages)), searches=tuple(each))


def _expected(retriever: Retriever, law: str) -> dict[str, float]:
    """The weights of the documents in which a model expects the answer; none of an unknown law."""
    weights: dict[str, float] = {}
    for named in laws_named(law, retriever.names) if law else ():
        for law_id in named.law_ids:
            weights |= dict.fromkeys(retriever.orders(law_id), _UNDER_IT)
        weights |= dict.fromkeys(named.law_ids, _EXPECTED)
    return weights


def _weighed(hits: Sequence[Hit], weights: dict[str, float]) -> tuple[Hit, ...]:
    """The hits with the weights of their documents, best first."""
    scored = (
        replace(hit, score=hit.score * weights.get(hit.passage.document_id, 1.0)) for hit in hits
    )
    best = sorted(scored, key=lambda hit: -hit.score)
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(best, 1))


def _summed(rankings: Sequence[Sequence[Hit]], weights: Sequence[float]) -> tuple[Hit, ...]:
    """The hits of all rankings, each with the weighted sum of its relative scores, best first.

    What the question and a written search agree on comes before what one of them finds alone, so
    that a weak model, which writes at random, does little harm.
    """
    hits = {hit.passage.id: hit for ranking in rankings for hit in ranking}
    scores = convex_combination(
        [{hit.passage.id: hit.score for hit in ranking} for ranking in rankings],
        weights,
        [0.0] * len(rankings),
    )
    return tuple(
        replace(hits[id_], score=score, rank=rank, stage=STAGE)
        for rank, (id_, score) in enumerate(scores.items(), 1)
    )
