"""The extractive reader: an answer made of verbatim quotations, with no model."""

from collections.abc import Sequence
from typing import NamedTuple

from localrag.corpus.model import ARTICLES
from localrag.reading.model import Citation
from localrag.reading.pieces import Piece, pieces_of, with_context
from localrag.reading.support import Support, SupportScorer
from localrag.reading.verifier import verify
from localrag.retrieval.model import Query, Retrieval
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.query import asked_of, full_text

QUOTES = 3
"""Quotations of an answer, what they stand under not counted."""

# Below this share of the question nothing is said to support an answer. Chosen so that of the right
# JSQuAD answers about one in a hundred is lost.
_SUPPORTED = 0.39
# A question that names its law has said by that what it is about.
_SUPPORTED_IN_ITS_LAW = 0.1
# What a piece gains, as a share of the question, because the question names its very place.
_NAMED = 0.4
# A further quotation must come this near to the best one's coverage.
_WORTH_QUOTING = 0.6


class _Candidate(NamedTuple):
    """A piece with what supports it, the rank of its hit, and the least that it must cover."""

    piece: Piece
    support: Support
    rank: int
    floor: float


class Quotations(NamedTuple):
    """What of the passages found comes nearest to a question.

    Attributes:
        citations: in the order of their support, each after what it stands under; none where
            nothing comes near enough.
        coverage: the share of the question that the best one covers, 0 to 1.
    """

    citations: tuple[Citation, ...]
    coverage: float


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
    chosen = _choose(candidates, retrieval, quotes)
    citations = tuple(verify(retriever.store, cited(piece)) for piece in with_context(chosen))
    best = max((candidate.support.coverage for candidate in candidates), default=0.0)
    return Quotations(citations, best)


def _candidates(retriever: Retriever, query: Query, retrieval: Retrieval) -> list[_Candidate]:
    asked = full_text(asked_of(query, retrieval.laws))
    scorer = SupportScorer(asked, retriever.inverse_document_frequency)
    best = max((hit.score for hit in retrieval.hits), default=0.0) or 1.0
    candidates = []
    for hit in retrieval.hits:
        if hit.beside:
            continue
        pieces = pieces_of(retriever.store, hit.passage)
        supports = scorer.score(pieces, hit.passage.header, hit.score / best)
        in_its_law = bool(retrieval.laws) and hit.passage.layer == ARTICLES
        floor = _SUPPORTED_IN_ITS_LAW if in_its_law else _SUPPORTED
        for piece, support in zip(pieces, supports, strict=True):
            named = _is_named(piece, retrieval)
            support = _raised(support) if named else support
            candidates.append(_Candidate(piece, support, hit.rank, floor))
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


def _choose(candidates: Sequence[_Candidate], retrieval: Retrieval, quotes: int) -> list[Piece]:
    """The best pieces that are worth quoting; none where nothing supports an answer.

    Where the question names several laws, what each of them says best goes first.
    """
    ranked = sorted(candidates, key=lambda candidate: -candidate.support.score)
    leaders = _leaders(ranked, retrieval)
    carried = [one for one in ranked if one in leaders or one.support.coverage >= one.floor]
    if not carried:
        return []
    least = _WORTH_QUOTING * carried[0].support.coverage
    chosen: list[Piece] = []
    for one in sorted(carried, key=lambda one: one not in leaders):
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


def cited(piece: Piece) -> Citation:
    """The citation of a piece, as it stands in the document."""
    return Citation(
        piece.passage.id, piece.text, start=piece.start, end=piece.end, label=piece.label
    )
