"""The extractive reader: an answer made of verbatim quotations, with no model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from localrag.corpus.model import Passage
from localrag.corpus.store import CorpusStore
from localrag.reading.answerability import Answerability, weights_for
from localrag.reading.linked import with_linked
from localrag.reading.model import Citation
from localrag.reading.pieces import Piece, pieces_of, with_context
from localrag.reading.support import Support, SupportScorer
from localrag.reading.verifier import verify
from localrag.retrieval.model import Query, Retrieval
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.query import asked_of, full_text

QUOTES = 3
"""Quotations of an answer, what they stand under not counted."""

# What a piece gains, as a share of the question, because the question names its very place.
_NAMED = 0.4
# A further quotation must come this near to the best one's coverage.
_WORTH_QUOTING = 0.6


class _Candidate(NamedTuple):
    """A piece with what supports it, and the passage found that it is part of, with its rank."""

    piece: Piece
    support: Support
    passage: Passage
    rank: int


class Quotations(NamedTuple):
    """What of the passages found comes nearest to a question.

    Attributes:
        citations: in the order of their support, each after what it stands under; none where
            nothing comes near enough.
        probability: that the best one answers the question, 0 to 1.
        signs: what the probability was made of (`localrag.reading.answerability`); none where
            nothing was found.
    """

    citations: tuple[Citation, ...]
    probability: float
    signs: Mapping[str, float]


def quotations(
    retriever: Retriever, query: Query, retrieval: Retrieval, quotes: int = QUOTES
) -> Quotations:
    """Quote the provisions or sentences that support an answer best.

    Args:
        retriever: found the evidence; used by one thread at a time.
        query: the question.
        retrieval: what was found for it.
        quotes: how many quotations at most.
    """
    # Where all that the question names is missing, nothing found is what was asked about.
    missing = retrieval.missing and not retrieval.named
    candidates = [] if missing else _candidates(retriever, query, retrieval)
    if not candidates:
        return Quotations((), 0.0, {})
    ranked = sorted(candidates, key=lambda candidate: -candidate.support.score)
    answerability = Answerability(query, retrieval, retriever.inverse_document_frequency)
    signs = answerability.signs(*_compared(ranked))
    weights = weights_for(signs)
    probability = weights.probability(signs)
    chosen = _choose(ranked, retrieval, quotes) if probability >= weights.quoted_from else []
    chosen = with_linked(retriever.store, chosen, retrieval)[:quotes]
    return Quotations(quoted(retriever.store, chosen), probability, signs)


def _compared(ranked: Sequence[_Candidate]) -> tuple[Piece, Passage, float, float]:
    """The best piece with its passage and coverage, and the best coverage of other passages."""
    best = ranked[0]
    others = (one.support.coverage for one in ranked if one.passage.id != best.passage.id)
    return best.piece, best.passage, best.support.coverage, max(others, default=0.0)


def _candidates(retriever: Retriever, query: Query, retrieval: Retrieval) -> list[_Candidate]:
    asked = asked_of(replace(query, text=retrieval.doing or query.text), retrieval.laws)
    wordings = retrieval.trace.wordings
    scorer = SupportScorer(full_text(asked), retriever.inverse_document_frequency, wordings)
    best = max((hit.score for hit in retrieval.hits), default=0.0) or 1.0
    candidates = []
    for hit in retrieval.hits:
        if hit.beside:
            continue
        pieces = pieces_of(retriever.store, hit.passage)
        supports = scorer.score(pieces, hit.passage.header, hit.score / best)
        for piece, support in zip(pieces, supports, strict=True):
            named = _is_named(piece, retrieval)
            support = _raised(support) if named else support
            candidates.append(_Candidate(piece, support, hit.passage, hit.rank))
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


def _choose(ranked: Sequence[_Candidate], retrieval: Retrieval, quotes: int) -> list[Piece]:
    """The best pieces that are worth quoting, and what each of several laws named says best.

    Args:
        ranked: best first, at least one.
        retrieval: tells the laws; what they say goes before all else.
        quotes: how many pieces at most, what they stand under not counted.
    """
    leaders = _leaders(ranked, retrieval)
    least = _WORTH_QUOTING * ranked[0].support.coverage
    chosen: list[Piece] = []
    for one in sorted(ranked, key=lambda one: one not in leaders):
        if one in leaders or one.support.coverage >= least:
            chosen.append(one.piece)
        # What another quotation stands under is quoted with it in any case.
        under = {id(above) for piece in chosen for above in piece.above}
        if sum(id(piece) not in under for piece in chosen) == quotes:
            break
    return chosen


def _leaders(ranked: Sequence[_Candidate], retrieval: Retrieval) -> list[_Candidate]:
    """Of each law the best piece of its best hit, where a question names several."""
    laws = [law_ids for law_ids in dict.fromkeys(law.law_ids for law in retrieval.laws) if law_ids]
    leaders = []
    for law_ids in laws if len(laws) > 1 else ():
        own = [one for one in ranked if one.piece.passage.document_id in law_ids]
        first = min((one.rank for one in own), default=0)
        leaders += [one for one in own if one.rank == first][:1]
    return leaders


def quoted(store: CorpusStore, pieces: Sequence[Piece]) -> tuple[Citation, ...]:
    """The citations of pieces as they stand in the document, each with what it is read with."""
    return tuple(
        verify(
            store,
            Citation(one.passage.id, one.text, start=one.start, end=one.end, label=one.label),
        )
        for one in with_context(pieces)
    )
