"""How far a piece of text supports an answer: the share of the question it covers, by weight."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from localrag.reading.expectation import Expectation
from localrag.reading.pieces import Piece
from localrag.retrieval.query import analyzer
from localrag_indexes.analysis.normalize import normalize

# Weights chosen on one half of the JSQuAD validation questions (by hash of their id) and
# confirmed on the other; scripts/bench/jsquad.py prints both halves.
_FROM_CONTEXT = 0.65
_FROM_ANTECEDENT = 0.8
_COMMON_IN_PASSAGE = 0.7
_CHARACTERS = 1.0
_EXPECTED = 0.3
_RETRIEVAL = 1.0

# A sentence that opens with one of these speaks of what the sentence before it said.
_DEMONSTRATIVE = re.compile(
    r"^(?:また、|しかし、|なお、|ただし、|一方、)?"
    r"(?:この|その|これ|それ|こう|同|彼|当時|そこ|ここ|以上|It |They |He |She |This |These |That )"
)


@dataclass(frozen=True, slots=True)
class Support:
    """What was found of a question in a piece.

    Attributes:
        coverage: share of the question's terms by weight, 0 to 1; terms that only the context
            holds count in part.
        score: for ranking pieces of one question; includes the rank of their passage.
    """

    coverage: float
    score: float


class SupportScorer:
    """Scores pieces for one question."""

    def __init__(self, question: str, inverse_document_frequency: Callable[[str], float]) -> None:
        self._weights = {
            term: inverse_document_frequency(term) for term in set(analyzer().terms(question))
        }
        self._bigrams = dict.fromkeys(_bigrams(question), 1.0)
        self._expectation = Expectation.of(question)

    def score(self, pieces: Sequence[Piece], header: str, relative_score: float) -> list[Support]:
        """Score the pieces of one passage.

        Args:
            pieces: all pieces of the passage, in reading order.
            header: where the passage stands; its words count as read before every piece.
            relative_score: the passage's retrieval score relative to the best passage's, 0 to 1.
        """
        by_terms = _coverages(self._weights, pieces, header, lambda text: analyzer().terms(text))
        # Inflected words share no term with the question, but most of their characters.
        by_characters = _coverages(self._bigrams, pieces, header, _bigrams)
        return [
            Support(
                terms,
                terms
                + _CHARACTERS * characters
                + _EXPECTED * self._expectation.met_by(piece.text)
                + _RETRIEVAL * relative_score,
            )
            for piece, terms, characters in zip(pieces, by_terms, by_characters, strict=True)
        ]


def _coverages(
    weights: Mapping[str, float],
    pieces: Sequence[Piece],
    header: str,
    features: Callable[[str], Iterable[str]],
) -> list[float]:
    """Share of the question's features, by weight, that each piece or its context holds."""
    of = {piece.text: set(features(piece.text)) for piece in pieces}
    within = _weights_within(weights, [of[piece.text] for piece in pieces])
    total = sum(within.values()) or 1.0
    heading = set(features(header))
    coverages = []
    for piece in pieces:
        before = heading.union(*(of[text] for text in piece.before if text in of))
        last: set[str] = set()
        if piece.before and (piece.above or _DEMONSTRATIVE.match(piece.text)):
            last = of.get(piece.before[-1], set())
        held = (
            weight * _share(feature, of[piece.text], last, before)
            for feature, weight in within.items()
        )
        coverages.append(sum(held) / total)
    return coverages


def _share(feature: str, own: set[str], last: set[str], before: set[str]) -> float:
    if feature in own:
        return 1.0
    if feature in last:
        return _FROM_ANTECEDENT
    return _FROM_CONTEXT if feature in before else 0.0


def _weights_within(weights: Mapping[str, float], pieces: Sequence[set[str]]) -> dict[str, float]:
    """The weights, less for what stands in many of the pieces and so tells none of them apart."""
    return {
        feature: weight
        * (1 - _COMMON_IN_PASSAGE * max(sum(feature in own for own in pieces) - 1, 0) / len(pieces))
        for feature, weight in weights.items()
    }


def _bigrams(text: str) -> Iterable[str]:
    letters = "".join(filter(str.isalnum, normalize(text)))
    return map("".join, pairwise(letters))
