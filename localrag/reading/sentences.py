"""The evidence a model is shown: numbered sentences, those that may answer and what they need.

A model that cites a sentence by its number copies no text: the words quoted are put in by code.
What it reads is short, and so is what it writes.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from localrag.corpus.model import Passage
from localrag.reading.pieces import Piece, sentences_of
from localrag.reading.support import SupportScorer
from localrag.retrieval.model import Hit, Query
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.query import full_text

MOST, ROOM = 10, 1_600
"""Sentences that are shown at most, and their characters, unless the best one is longer."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the evidence.

    Attributes:
        number: what a model cites it by, from 1.
        piece: its text and place.
        passage: the passage that was found, which it is part of.
    """

    number: int
    piece: Piece
    passage: Passage


@dataclass(frozen=True, slots=True)
class Shown:
    """Sentences of one passage, as a prompt shows them.

    Attributes:
        place: where the passage stands, in words.
        sentences: in reading order.
    """

    place: str
    sentences: tuple[Sentence, ...]


class Chosen(NamedTuple):
    """Sentences that may answer.

    Attributes:
        sentences: in the order of their hits, within one in reading order.
        squeezed: whether there would have been more, had the prompt held them.
        least: the fewest that an answer could rest on.
    """

    sentences: list[Sentence]
    squeezed: bool
    least: list[Sentence]


def passages_of(sentences: Sequence[Sentence]) -> list[Shown]:
    """The sentences by the passage they are part of, in their order."""
    return [
        Shown(place, tuple(inside))
        for place, inside in groupby(sentences, lambda sentence: sentence.passage.header)
    ]


def sentences_that_may_answer(
    retriever: Retriever,
    query: Query,
    hits: Sequence[Hit],
    fits: Callable[[Sequence[Sentence]], bool],
    most: int = MOST,
) -> Chosen:
    """Choose the sentences that support an answer best, each with its stem and its neighbours.

    Args:
        retriever: what found the hits; used by one thread at a time.
        query: the question.
        hits: best first.
        fits: whether a prompt with these sentences leaves room for the reply.
        most: sentences at most; the best one is shown with what it is read with in any case.

    Returns:
        The sentences; none where the prompt does not hold even the best one.
    """
    found = [(hit.passage, sentences_of(retriever.store, hit.passage)) for hit in hits]
    chosen: list[tuple[int, int]] = []
    least: list[Sentence] = []
    squeezed = False
    for group in _by_support(retriever, query, hits, found):
        new = [place for place in group if place not in chosen]
        wider = [*chosen, *new]
        length = sum(len(found[hit][1][at].text) for hit, at in wider)
        if chosen and (len(wider) > most or length > ROOM):
            continue
        numbered = _numbered(found, wider)
        least = least or numbered
        if not fits(numbered):
            squeezed = True
            break
        chosen = wider
    return Chosen(_numbered(found, chosen), squeezed, least)


def _by_support(
    retriever: Retriever,
    query: Query,
    hits: Sequence[Hit],
    found: Sequence[tuple[Passage, Sequence[Piece]]],
) -> Iterator[list[tuple[int, int]]]:
    """Places of sentences (hit, sentence), the best first, each with those it is read with."""
    scorer = SupportScorer(full_text(query), retriever.inverse_document_frequency)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    scores = {
        (of, at): support.score
        for of, (passage, pieces) in enumerate(found)
        for at, support in enumerate(scorer.score(pieces, passage.header, hits[of].score / best))
    }
    # A provision can have thousands of items: what one is read with is looked up by its place.
    starts = [[piece.start for piece in pieces] for _, pieces in found]
    for of, at in sorted(scores, key=lambda place: -scores[place]):
        pieces = found[of][1]
        group = {at}
        for part in (*pieces[at].above, *pieces[at].below):
            first, last = (bisect_left(starts[of], place) for place in (part.start, part.end))
            group.update(range(first, last))
        yield [(of, other) for other in sorted(group)]
        # The sentence before says who is meant, the one after often what follows from it.
        yield [(of, other) for other in (at - 1, at + 1) if 0 <= other < len(pieces)]


def _numbered(
    found: Sequence[tuple[Passage, Sequence[Piece]]], chosen: Sequence[tuple[int, int]]
) -> list[Sentence]:
    return [
        Sentence(number, found[of][1][at], found[of][0])
        for number, (of, at) in enumerate(sorted(chosen), 1)
    ]
