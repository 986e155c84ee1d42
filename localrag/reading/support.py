"""How far a piece of text supports an answer: the share of the question it covers, by weight."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from localrag.question.expectation import Expectation
from localrag.reading.pieces import Piece
from localrag.retrieval.query import analyzer
from localrag_indexes.analysis.normalize import normalize

# Weights chosen on JSQuAD questions with both halves in view, the header's on lawqa questions too:
# the figures of scripts/bench/jsquad.py are those of development.
_FROM_HEADER = 0.9
_FROM_CONTEXT = 0.65
_FROM_ANTECEDENT = 0.8
_COMMON_IN_PASSAGE = 0.7
_COVERAGE = 2.0
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
        coverage: share of the question, 0 to 1: the mean of its terms by weight and of its
            character pairs, which inflected words share; what only the context holds counts in
            part.
        score: for ranking pieces of one question; includes the rank of their passage.
    """

    coverage: float
    score: float


class SupportScorer:
    """Scores pieces for one question."""

    def __init__(self, question: str, inverse_document_frequency: Callable[[str], float]) -> None:
        self._expectation = Expectation.of(question)
        asked = self._expectation.rest
        self._weights = {
            term: inverse_document_frequency(term) for term in set(analyzer().terms(asked))
        }
        self._bigrams = dict.fromkeys(_bigrams(asked), 1.0)

    def score(self, pieces: Sequence[Piece], header: str, relative_score: float) -> list[Support]:
        """Score the pieces of one passage.

        Args:
            pieces: all pieces of the passage, in reading order.
            header: where the passage stands; its words count as read before every piece.
            relative_score: the passage's retrieval score relative to the best passage's, 0 to 1.
        """
        by_terms = _shares(self._weights, pieces, header, analyzer().terms)
        by_characters = _shares(self._bigrams, pieces, header, _bigrams)
        supports = []
        for piece, terms, characters in zip(pieces, by_terms, by_characters, strict=True):
            coverage = (terms + characters) / 2
            score = (
                _COVERAGE * coverage
                + _EXPECTED * self._expectation.met_by(piece.text)
                + _RETRIEVAL * relative_score
            )
            supports.append(Support(coverage, score))
        return supports


def _shares(
    weights: Mapping[str, float],
    pieces: Sequence[Piece],
    header: str,
    features: Callable[[str], Iterable[str]],
) -> list[float]:
    """Share of the question's features, by weight, that each piece or its context holds."""
    texts = dict.fromkeys(text for piece in pieces for text in (piece.text, *piece.before))
    of = {text: set(features(text)) for text in texts}
    within = _weights_within(weights, [of[piece.text] for piece in pieces])
    total = sum(within.values()) or 1.0
    heading = set(features(header))
    shares = []
    for piece in pieces:
        before = set().union(*(of[text] for text in piece.before))
        last: set[str] = set()
        if piece.before and (piece.above or _DEMONSTRATIVE.match(piece.text)):
            last = of[piece.before[-1]]
        held = (
            weight * _counts(feature, of[piece.text], last, before, heading)
            for feature, weight in within.items()
        )
        shares.append(sum(held) / total)
    return shares


def _counts(
    feature: str, own: set[str], last: set[str], before: set[str], heading: set[str]
) -> float:
    if feature in own:
        return 1.0
    return max(
        _FROM_HEADER * (feature in heading),
        _FROM_ANTECEDENT * (feature in last),
        _FROM_CONTEXT * (feature in before),
    )


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
