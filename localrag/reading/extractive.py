"""The extractive reader: an answer made of verbatim quotations, with no model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from localrag.reading.linked import with_linked
from localrag.reading.model import Answer, Citation, Status
from localrag.reading.pieces import Piece, pieces_of
from localrag.reading.support import Support, SupportScorer
from localrag.reading.verifier import verify
from localrag.reading.watching import UNWATCHED, Watch
from localrag.retrieval.model import Query, Retrieval
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.query import full_text

QUOTES = 3
"""Quotations of an answer, what they stand under not counted."""

# Below this share of the question nothing is said to support an answer. Chosen so that of the right
# JSQuAD answers about one in a hundred is lost.
_SUPPORTED = 0.39
# A question with an everyday word of the law is put in other words than any statute, and is about
# what one says all the same.
_SUPPORTED_IN_LAW = 0.2
# What a piece gains, as a share of the question, because the question names its very place.
_NAMED = 0.4
# A further quotation must come this near to the best one's coverage.
_WORTH_QUOTING = 0.6


class _Candidate(NamedTuple):
    piece: Piece
    support: Support


def answer(
    retriever: Retriever,
    query: Query,
    *,
    k: int | None = None,
    quotes: int = QUOTES,
    watch: Watch = UNWATCHED,
) -> Answer:
    """Answer with the provisions or sentences that support an answer best.

    Args:
        retriever: finds the evidence.
        query: the question.
        k: how many passages to read; the corpus's setting by default.
        quotes: how many quotations at most.
        watch: follows the stages of the retrieval.

    Returns:
        Quotations in the order of their support, every one verified; `not_found`, without any
        quotation, where the best evidence covers too little of the question.

    Raises:
        Cancelled: the answer is no longer wanted.
    """
    retrieval = retriever.search(query, k, on_stage=watch.stage)
    watch.require()
    # Where all that the question names is missing, nothing found is what was asked about.
    missing = retrieval.missing and not retrieval.named
    chosen = (
        []
        if missing
        else _choose(_candidates(retriever, query, retrieval), _floor(retrieval), quotes)
    )
    chosen = with_linked(retriever.store, chosen, retrieval)[:quotes]
    citations = tuple(verify(retriever.store, _citation(piece)) for piece in _with_context(chosen))
    if not citations:
        return Answer("", (), Status.NOT_FOUND, retrieval.trace)
    verified = all(citation.verified for citation in citations)
    return Answer(
        text="\n".join(citation.quote for citation in citations if citation.verified),
        citations=citations,
        status=Status.SUPPORTED if verified else Status.UNSUPPORTED,
        trace=retrieval.trace,
    )


def _candidates(retriever: Retriever, query: Query, retrieval: Retrieval) -> list[_Candidate]:
    asked = replace(query, text=retrieval.doing or query.text)
    scorer = SupportScorer(
        full_text(asked), retriever.inverse_document_frequency, retrieval.trace.wordings
    )
    best = max((hit.score for hit in retrieval.hits), default=0.0) or 1.0
    candidates = []
    for hit in retrieval.hits:
        pieces = pieces_of(retriever.store, hit.passage)
        supports = scorer.score(pieces, hit.passage.header, hit.score / best)
        for piece, support in zip(pieces, supports, strict=True):
            named = _is_named(piece, retrieval)
            candidates.append(_Candidate(piece, _raised(support) if named else support))
    return candidates


def _is_named(piece: Piece, retrieval: Retrieval) -> bool:
    return any(
        target.law_id == piece.passage.document_id
        and target.locator.contains(piece.passage.locator)
        for target in retrieval.named
    )


def _raised(support: Support) -> Support:
    """What the question names is evidence by that alone."""
    coverage = min(1.0, support.coverage + _NAMED)
    return Support(coverage, support.score + _NAMED)


def _floor(retrieval: Retrieval) -> float:
    """The least share of the question that a quotation must cover."""
    of_law = any(not wording.is_plain for wording in retrieval.trace.wordings)
    return _SUPPORTED_IN_LAW if of_law else _SUPPORTED


def _choose(candidates: Sequence[_Candidate], floor: float, quotes: int) -> list[Piece]:
    """The best pieces that are worth quoting; none where nothing supports an answer."""
    ranked = sorted(candidates, key=lambda candidate: -candidate.support.score)
    if not ranked or ranked[0].support.coverage < floor:
        return []
    least = _WORTH_QUOTING * ranked[0].support.coverage
    chosen: list[Piece] = []
    for piece, support in ranked:
        if support.coverage >= least:
            chosen.append(piece)
        # What another quotation stands under is quoted with it in any case.
        under = {id(above) for one in chosen for above in one.above}
        if sum(id(one) not in under for one in chosen) == quotes:
            break
    return chosen


def _with_context(pieces: Sequence[Piece]) -> list[Piece]:
    """Each piece after what it stands under, nothing twice."""
    complete: list[Piece] = []
    for piece in pieces:
        complete += [part for part in (*piece.above, piece) if part not in complete]
    return complete


def _citation(piece: Piece) -> Citation:
    return Citation(
        piece.passage.id, piece.text, start=piece.start, end=piece.end, label=piece.label
    )
