"""How far a piece of text supports an answer: the share of the question it covers, by weight."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS
from localrag.question.asked import Expectation
from localrag.question.everyday import EverydayWord
from localrag.reading.pieces import Piece
from localrag.retrieval.query import analyzer
from localrag_indexes.analysis.normalize import normalize, with_blanks

# Weights chosen on JSQuAD questions with both halves in view, the header's on lawqa questions too:
# the figures of scripts/bench/jsquad.py are those of development.
_FROM_HEADER = 0.9
_FROM_CONTEXT = 0.65
_FROM_ANTECEDENT = 0.8
_COMMON_IN_PASSAGE = 0.7
# What the law says instead of an everyday word is not quite what was asked.
_IN_LAW = 0.9
_EXPECTED = 0.3
_RETRIEVAL = 1.0
COVERAGE = 2.0
"""What of a score a piece has that says all that was asked."""

# What a question has in hiragana alone is the way it is put (してもいいか, どうなるか).
# Statutes say such things otherwise, so it speaks neither for nor against a provision.
_HIRAGANA = re.compile("[ぁ-ゖ]+")
# An English question has words that the vocabulary lacks, and a Japanese statute has none of them.
_LATIN = re.compile("[a-z]+")
_LATIN_IN_LAW = 0.25
_OF_STATUTES = (ARTICLES, PARAGRAPHS, ITEMS)

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


def refers_back(text: str) -> bool:
    """Whether a sentence speaks of what the one before it said: この, それ, they."""
    return _DEMONSTRATIVE.match(text) is not None


class SupportScorer:
    """Scores pieces for one question."""

    def __init__(
        self,
        question: str,
        inverse_document_frequency: Callable[[str], float],
        wordings: Sequence[EverydayWord] = (),
    ) -> None:
        """Read the question.

        Args:
            question: with its options, if it has some.
            inverse_document_frequency: how much a term says in the corpus.
            wordings: everyday words of the question; who says one of their phrases says the word.
        """
        plain = with_blanks(question, ((wording.start, wording.end) for wording in wordings))
        self._expectation = Expectation.of(plain)
        asked = self._expectation.rest
        self._terms = _Wanted.of(asked, wordings, analyzer().terms, inverse_document_frequency)
        self._bigrams = _Wanted.of(asked, wordings, _bigrams, lambda _: 1.0)
        self._in_law = self._terms.in_law(), self._bigrams.in_law()

    def score(self, pieces: Sequence[Piece], header: str, relative_score: float) -> list[Support]:
        """Score the pieces of one passage.

        Args:
            pieces: all pieces of the passage, in reading order.
            header: where the passage stands; its words count as read before every piece.
            relative_score: the passage's retrieval score relative to the best passage's, 0 to 1.
        """
        in_law = any(piece.passage.layer in _OF_STATUTES for piece in pieces)
        wanted, bigrams = self._in_law if in_law else (self._terms, self._bigrams)
        by_terms = _shares(wanted, pieces, header, analyzer().terms)
        by_characters = _shares(bigrams, pieces, header, _bigrams)
        supports = []
        for piece, terms, characters in zip(pieces, by_terms, by_characters, strict=True):
            coverage = (terms + characters) / 2
            score = (
                COVERAGE * coverage
                + _EXPECTED * self._expectation.met_by(piece.text)
                + _RETRIEVAL * relative_score
            )
            supports.append(Support(coverage, score))
        return supports


class _Way(NamedTuple):
    """One way to say a word of the question: its features by weight, and how far it counts."""

    weights: Mapping[str, float]
    counts: float


class _Wanted(NamedTuple):
    """The features of a question by weight, and what can be said in several ways.

    Attributes:
        weights: of what stands in the question as statutes have it.
        words: of every everyday word the weight, and the ways to say it.
    """

    weights: Mapping[str, float]
    words: Sequence[tuple[float, Sequence[_Way]]]

    @classmethod
    def of(
        cls,
        asked: str,
        wordings: Sequence[EverydayWord],
        features: Callable[[str], Iterable[str]],
        weight: Callable[[str], float],
    ) -> "_Wanted":
        def weights(text: str) -> Mapping[str, float]:
            return {feature: weight(feature) for feature in features(text)}

        words = []
        for wording in wordings:
            said = weights(wording.said)
            ways = [_Way(said, 1.0), *(_Way(weights(one), _IN_LAW) for one in wording.phrases)]
            words.append((sum(said.values()), ways))
        return cls(weights(asked), words)

    def in_law(self) -> "_Wanted":
        """What is wanted, with less weight on what no statute says, if there is anything else."""
        weights = {
            one: weight * (_LATIN_IN_LAW if _LATIN.fullmatch(one) else 1.0)
            for one, weight in self.weights.items()
            if not _HIRAGANA.fullmatch(one)
        }
        return _Wanted(weights if weights or self.words else self.weights, self.words)


def _shares(
    wanted: _Wanted,
    pieces: Sequence[Piece],
    header: str,
    features: Callable[[str], Iterable[str]],
) -> list[float]:
    """Share of the question's features, by weight, that each piece or its context holds."""
    texts = dict.fromkeys(text for piece in pieces for text in (piece.text, *piece.before))
    of = {text: set(features(text)) for text in texts}
    within = _weights_within(wanted.weights, [of[piece.text] for piece in pieces])
    total = sum(within.values()) + sum(weight for weight, _ in wanted.words) or 1.0
    heading = set(features(header))
    shares = []
    read: tuple[str, ...] = ()
    before: set[str] = set()
    for piece in pieces:
        # Mostly the texts before the last piece, and some more.
        known = len(read) if piece.before[: len(read)] == read else 0
        before = (
            before.union(*(of[text] for text in piece.before[known:]))
            if known
            else (set().union(*(of[text] for text in piece.before)))
        )
        read = piece.before
        last: set[str] = set()
        if piece.before and (piece.above or refers_back(piece.text)):
            last = of[piece.before[-1]]
        counts = partial(_counts, own=of[piece.text], last=last, before=before, heading=heading)
        held = _held(within, counts)
        for weight, ways in wanted.words:
            said = (
                way.counts * _held(way.weights, counts) / sum(way.weights.values())
                for way in ways
                if way.weights
            )
            held += weight * max(said, default=0.0)
        shares.append(held / total)
    return shares


def _held(weights: Mapping[str, float], counts: Callable[[str], float]) -> float:
    return sum(weight * counts(feature) for feature, weight in weights.items())


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
