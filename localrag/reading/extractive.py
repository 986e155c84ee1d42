"""The extractive reader: an answer made of verbatim quotations, with no model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from localrag.corpus.model import PASSAGES, Passage
from localrag.corpus.store import CorpusStore
from localrag.question.laws import law_asked
from localrag.reading.answerability import Answerability, weights_for
from localrag.reading.linked import with_linked
from localrag.reading.pieces import Piece, pieces_of, with_context
from localrag.reading.support import COVERAGE, Support, SupportScorer
from localrag.reading.topic import Topic
from localrag.reading.types import Citation
from localrag.reading.verifier import verify
from localrag.retrieval.model import LinkKind, Query, Retrieval
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.query import asked_of, full_text
from localrag.retrieval.relation import NAMES_IT

QUOTES = 3
"""Quotations of an answer, what they stand under not counted."""

# What a piece gains, as a share of the question, because the question names its very place.
_NAMED = 0.4
# A further quotation must come this near to the best one's coverage.
_WORTH_QUOTING = 0.6


class _Candidate(NamedTuple):
    """A piece with what supports it, and the passage found that it is part of.

    Its fit is what speaks for or against a provision beside its words.
    """

    piece: Piece
    support: Support
    fit: float
    passage: Passage

    @property
    def total(self) -> float:
        return self.support.score + self.fit


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
    best = ranked[0]
    signs = answerability.signs(best.piece, best.passage, best.support.coverage)
    weights = weights_for(signs)
    probability = weights.probability(signs)
    ranked.sort(key=lambda candidate: -candidate.total)
    chosen = _choose(ranked, query, retrieval, quotes) if probability >= weights.quoted_from else []
    chosen = with_linked(retriever.store, chosen, retrieval)[:quotes]
    return Quotations(quoted(retriever.store, chosen), probability, signs)


def _candidates(retriever: Retriever, query: Query, retrieval: Retrieval) -> list[_Candidate]:
    wordings, weight = retrieval.trace.wordings, retriever.inverse_document_frequency
    asked = full_text(asked_of(replace(query, text=retrieval.doing or query.text), retrieval.laws))
    scorer = SupportScorer(asked, weight, wordings)
    topic = Topic(asked, wordings, weight, penalty=bool(retrieval.doing))
    best = max((hit.score for hit in retrieval.hits), default=0.0) or 1.0
    candidates = []
    for hit in retrieval.hits:
        if hit.beside:
            continue
        pieces = pieces_of(retriever.store, hit.passage)
        header = hit.passage.header
        supports = scorer.score(pieces, header, hit.score / best)
        mention = retrieval.mentions.get(hit.passage.id)
        for piece, support in zip(pieces, supports, strict=True):
            support = _raised(support) if _is_named(piece, retrieval) else support
            fit = topic.fit(piece, header)
            if mention and any(piece.start <= at < piece.end for at in mention.positions):
                fit += NAMES_IT * COVERAGE * mention.tells
            candidates.append(_Candidate(piece, support, fit, hit.passage))
    return candidates


def _named_laws(retrieval: Retrieval) -> list[tuple[str, ...]]:
    """The ids of each law named; none where a question names fewer than two."""
    laws = [law_ids for law_ids in dict.fromkeys(law.law_ids for law in retrieval.laws) if law_ids]
    return laws if len(laws) > 1 else []


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


def _choose(
    ranked: Sequence[_Candidate], query: Query, retrieval: Retrieval, quotes: int
) -> list[Piece]:
    """The best pieces that are worth quoting, and what each of several laws named says best.

    Args:
        ranked: best first, at least one.
        query: the question.
        retrieval: tells the laws; what they say goes before all else.
        quotes: how many pieces at most, what they stand under not counted.
    """
    leaders = _leaders(ranked, query, retrieval)
    least = _WORTH_QUOTING * ranked[0].support.coverage
    chosen: list[Piece] = []
    for one in [*leaders, *(one for one in _spread(ranked) if one not in leaders)]:
        if one in leaders or one.support.coverage >= least:
            chosen.append(one.piece)
        # What another quotation stands under is quoted with it in any case.
        under = {id(above) for piece in chosen for above in piece.above}
        if sum(id(piece) not in under for piece in chosen) == quotes:
            break
    return chosen


def _spread(ranked: Sequence[_Candidate]) -> list[_Candidate]:
    """The same with the best piece of another provision second, where provisions were found.

    Where the first is of a provision that only resembles the one asked for, its other paragraphs
    are of no more use.
    """
    if not ranked or ranked[0].piece.passage.layer == PASSAGES:
        return list(ranked)
    first, *rest = ranked
    second = next((one for one in rest if one.passage.id != first.passage.id), None)
    return [first, *([second] if second else []), *(one for one in rest if one is not second)]


def _leaders(ranked: Sequence[_Candidate], query: Query, retrieval: Retrieval) -> list[_Candidate]:
    """What is quoted first whatever else agrees with a question.

    Of each law the best piece, where it names several, first of the one it asks. Else of the
    provision it names, where an order fills that in: the one is read with the other.
    """
    only = law_asked(query.text, retrieval.laws)
    leaders: list[_Candidate] = []
    for law_ids in _named_laws(retrieval):
        own = [one for one in ranked if one.piece.passage.document_id in law_ids][:1]
        leaders = [*own, *leaders] if only and only.law_ids == law_ids else [*leaders, *own]
    if not leaders:
        filled = {link.other for link in retrieval.links if link.kind is LinkKind.FILLS}
        leaders = [
            one for one in ranked if one.passage.id in filled and _is_named(one.piece, retrieval)
        ][:1]
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
