"""Several searches for one question, each by itself, and what they find in turn.

A question in everyday words shares few of them with the provision that answers it. What a model
writes for it does, where the model knows the law. Where it does not, nothing is lost: what the
question itself finds has the first turn. A question that follows others is searched for alone and
behind those: it may lean on them, or ask of something else.
"""

from collections.abc import Sequence
from dataclasses import replace

from localrag.progress import ignore
from localrag.question.laws import laws_named
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.reading import Retrieval
from localrag.retrieval.trail import StageListener
from localrag.retrieval.types import Hit, Query, StageRecord, Trace, WrittenSearch
from localrag_indexes.fusion import in_turn

STAGE = "written"
"""The stage that takes what each of the searches found in turn."""

# Hits of each search, among which the law that the model expects is looked for.
_DEPTH = 30
# What a hit counts more in the law that the model expects, and in the orders under it. Of the
# questions that may be seen (scripts/bench/lawyers.py --searches), 1.2 and 2 answer as many.
_EXPECTED, _UNDER_IT = 1.5, 1.2


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
        What is known of the question itself, with the hits of all searches in turn; those of the
        question are first, or second behind a search in a law that the corpus has. Where the
        question names a law that the corpus lacks, its own hits alone.

    Raises:
        UsageError: the question holds no word or is too long.
        IndexUnusable: the index turned out to be damaged.
    """
    found = retriever.search(asked, k, on_stage=on_stage)
    # A law that the user names goes before the one that the model expects.
    named = " ".join(law.words for law in found.laws)
    others = [WrittenSearch(f"{named} {one.words}".strip(), one.law) for one in written]
    # What the last question cites itself it asks about, whatever its other words find.
    if asked.last_start and not found.reading.resolved.cites:
        others.append(WrittenSearch(asked.last))
    if not others or found.absent:
        return found
    most = k or retriever.k
    stages = list(found.trace.stages)

    def record(stage: StageRecord) -> None:
        stages.append(stage)
        on_stage(stage)

    each: list[Retrieval] = []
    rankings: list[Sequence[Hit]] = []
    expected = [{} if named else _expected(retriever, one.law) for one in others]
    for number, (one, weights) in enumerate(zip(others, expected, strict=True), 1):
        query = replace(asked, text=one.words, last="")

        def labelled(stage: StageRecord, number: int = number, text: str = query.text) -> None:
            record(replace(stage, subject=f"search {number}", query=text))

        retrieval = retriever.search(query, _DEPTH, on_stage=labelled)
        hits = _weighed(retrieval.hits, weights)
        rankings.append(hits)
        each.append(replace(retrieval, hits=hits[:most]))
    # What the question itself finds is among the first two, for a weak model writes at random: it
    # comes first where the model knows no law of the corpus, and where provisions are cited.
    turn = 1 if expected[0] and not found.cited else 0
    rankings.insert(turn, found.hits)
    each.insert(turn, found)
    hits = _in_turn(rankings)[:most]
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


def _in_turn(rankings: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """The best of each ranking, then the second best of each, and so on, each hit once.

    Scores are relative to the best of their ranking. Reciprocal rank fusion finds fewer: what
    several searches rank tenth comes before what one of them ranks first.
    """
    relative = (
        [replace(hit, score=hit.score / (ranking[0].score or 1.0)) for hit in ranking]
        for ranking in rankings
    )
    hits: dict[str, Hit] = {}
    for hit in in_turn(relative):
        hits.setdefault(hit.passage.id, hit)
    return tuple(replace(hit, rank=rank, stage=STAGE) for rank, hit in enumerate(hits.values(), 1))
