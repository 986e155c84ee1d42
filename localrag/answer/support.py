"""How well a text supports an answer, and how probably it answers.

The support is the weighted share of the question covered by a piece. The probability decides what
is quoted: a logistic regression on signs. For every text: coverage, the lead of its passage in the
search, repeated words, names of the question, the kind of answer asked for, nearness of meaning.
For provisions also: the law named, agreement of the best hits on a law, and statutory words of the
matter (`localrag.search.question.everyday`). ``answerability.toml`` has the weights and the command
that fitted them.
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache, partial
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from localrag.answer.pieces import Piece, sentences_of
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, PASSAGES, Passage
from localrag.search import ranking
from localrag.search.query import analyzer, asked_of, full_text
from localrag.search.question.asked import Expectation
from localrag.search.question.everyday import EverydayWord, predicted_questions
from localrag.search.reading import Retrieval
from localrag_indexes.analysis.normalize import letters_of, normalize, with_blanks

# Weights chosen on both halves of the JSQuAD questions, the header's on lawqa, too:
# scripts/bench/jsquad.py therefore prints development figures.
_FROM_HEADER = 0.9
_FROM_CONTEXT = 0.65
_FROM_ANTECEDENT = 0.8
_COMMON_IN_PASSAGE = 0.7
# A statutory counterpart counts slightly less than the everyday word.
_IN_LAW = 0.9
_EXPECTED = 0.3
_RETRIEVAL = 1.0
# Weight of full coverage in the score of a piece.
_COVERED = 2.0

# Hiragana alone is the phrasing of a question (してもいいか, どうなるか). Statutes phrase
# differently, so it counts neither way for a provision.
_HIRAGANA = re.compile("[ぁ-ゖ]+")
# Latin words of an English question missing from the vocabulary are in no Japanese statute.
_LATIN = re.compile("[a-z]+")
_LATIN_IN_LAW = 0.25
_OF_STATUTES = (ARTICLES, PARAGRAPHS, ITEMS)

# Such an opening refers to the sentence before.
_DEMONSTRATIVE = re.compile(
    r"^(?:また、|しかし、|なお、|ただし、|一方、)?"
    r"(?:この|その|これ|それ|こう|同|彼|当時|そこ|ここ|以上|It |They |He |She |This |These |That )"
)


@dataclass(frozen=True, slots=True)
class Support:
    """The support of a piece.

    Attributes:
        coverage: share of the question, 0 to 1: mean over weighted terms and character pairs
            (shared
            by inflected words). Context counts in part.
        score: for ranking pieces of one question; includes the rank of the passage.
    """

    coverage: float
    score: float


def heading_of(passage: Passage) -> str:
    """The header of a passage and its predicted questions, a line each."""
    return "\n".join((passage.header, *predicted_questions(passage.id)))


def refers_back(text: str) -> bool:
    """Whether a sentence refers to the one before it: この, それ, they."""
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
            question: with its options.
            inverse_document_frequency: of a term in the corpus.
            wordings: everyday words of the question; any of their phrases counts as the word.
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
            header: of the passage; read before every piece.
            relative_score: of the passage, relative to the best, 0 to 1.
        """
        in_law = any(piece.passage.layer in _OF_STATUTES for piece in pieces)
        wanted, bigrams = self._in_law if in_law else (self._terms, self._bigrams)
        by_terms = _shares(wanted, pieces, header, analyzer().terms)
        by_characters = _shares(bigrams, pieces, header, _bigrams)
        supports = []
        for piece, terms, characters in zip(pieces, by_terms, by_characters, strict=True):
            coverage = (terms + characters) / 2
            score = (
                _COVERED * coverage
                + _EXPECTED * self._expectation.met_by(piece.text)
                + _RETRIEVAL * relative_score
            )
            supports.append(Support(coverage, score))
        return supports


class _Wanted(NamedTuple):
    """The weighted features of a question, and their alternatives.

    Attributes:
        weights: features in statutory words.
        words: for each everyday word its weight, and the weighted features of each phrase, the
            original first.
    """

    weights: Mapping[str, float]
    words: Sequence[tuple[float, Sequence[Mapping[str, float]]]]

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
            ways = [weights(one) for one in (wording.said, *wording.phrases)]
            words.append((sum(ways[0].values()), ways))
        return cls(weights(asked), words)

    def in_law(self) -> "_Wanted":
        """The features, with less weight on words foreign to statutes if others remain."""
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
    """Share of the question's weighted features in each piece and its context."""
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
                (_IN_LAW if at else 1.0) * _held(way, counts) / sum(way.values())
                for at, way in enumerate(ways)
                if way
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
    """The weights, reduced for features common to many of the pieces."""
    return {
        feature: weight
        * (1 - _COMMON_IN_PASSAGE * max(sum(feature in own for own in pieces) - 1, 0) / len(pieces))
        for feature, weight in weights.items()
    }


def _bigrams(text: str) -> Iterable[str]:
    letters = "".join(filter(str.isalnum, normalize(text)))
    return map("".join, pairwise(letters))


COVERAGE, AHEAD, RUN, WORDS, NAMES, KIND = _OF_ALL = (
    "coverage", "ahead", "run", "words", "names", "kind",
)  # fmt: skip
LAW, AGREEMENT, MATTER = "law", "agreement", "matter"
NEARNESS, NEAREST = "nearness", "nearest"
PROVISIONS = "provisions"
PASSAGES_BY_WORDS, PASSAGES_BY_VECTORS = "by_words", "by_vectors"
SIGNS = {
    PROVISIONS: (*_OF_ALL, LAW, AGREEMENT, MATTER),
    PASSAGES_BY_WORDS: _OF_ALL,
    PASSAGES_BY_VECTORS: (*_OF_ALL, NEARNESS, NEAREST),
}
"""The signs of each kind of text, with its own weights. See `Answerability.signs`."""

# A run of this many characters from the question is no chance; more add nothing.
_LONG_RUN = 12
# Number of best hits compared for their law.
_AGREEING = 5
# The neutral value, for questions in statutory words or about something else.
_UNTOLD = 0.5
# Multilingual E5 gives higher cosines to any two texts.
_LEAST_COSINE = 0.7


class Searcher(Protocol):
    """The part of a retriever needed here; `localrag.search.pipeline.Retriever` has it.

    Attributes:
        store: the corpus store.
    """

    store: CorpusStore

    def inverse_document_frequency(self, term: str) -> float:
        """The inverse document frequency of a term in the corpus."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerabilityWeights:
    """Weights of the signs, fitted by ``scripts/train_answerability.py``.

    Attributes:
        base: log odds if every sign is 0.
        signs: weight of each.
        quoted_from: least probability of a quotation.
    """

    base: float
    signs: Mapping[str, float]
    quoted_from: float

    def probability(self, signs: Mapping[str, float]) -> float:
        """The probability of an answer in a text with these signs, 0 to 1."""
        odds = self.base + sum(weight * signs[name] for name, weight in self.signs.items())
        return 1 / (1 + math.exp(-odds))


class Answerability:
    """Judges texts for one question.

    Args:
        retrieval: the result for the question.
        inverse_document_frequency: of a term in the corpus.
    """

    def __init__(
        self, retrieval: Retrieval, inverse_document_frequency: Callable[[str], float]
    ) -> None:
        reading = retrieval.reading
        self._expectation = Expectation.of(full_text(asked_of(reading.query, reading.laws)))
        asked = self._expectation.rest
        self._weights = {term: inverse_document_frequency(term) for term in analyzer().terms(asked)}
        wordings = [
            (wording, [set(analyzer().terms(phrase)) for phrase in wording.phrases])
            for wording in reading.everyday
        ]
        # A statutory phrase for an everyday word counts as repeating it.
        self._in_law = {
            term: phrases
            for wording, phrases in wordings
            for term in analyzer().terms(wording.said)
        }
        # Words of any question are no matter of law: 返す, 夜に.
        self._matters = [
            phrase for wording, phrases in wordings if not wording.is_plain for phrase in phrases
        ]
        self._letters = letters_of(asked)
        # Everyday words are not names: ドローン, キャンセル.
        everyday = [letters_of(wording.said) for wording, _ in wordings]
        names = map(letters_of, self._expectation.names)
        self._names = [name for name in names if not any(name in said for said in everyday)]
        self._laws = {law_id for law in retrieval.laws for law_id in law.law_ids}
        hits = [hit for hit in retrieval.hits if not hit.beside]
        self._documents = [hit.passage.document_id for hit in hits[:_AGREEING]]
        self._scores = {hit.passage.id: hit.score for hit in hits}
        self._cosines = _cosines(retrieval)

    def signs(self, piece: Piece, passage: Passage, coverage: float) -> dict[str, float]:
        """The signs of a piece, each 0 to 1; comparing ones begin at -1.

        Args:
            piece: a possible answer.
            passage: the passage found around it.
            coverage: of the question (`Support`).
        """
        heading = heading_of(passage)
        passage_terms = set(analyzer().terms(f"{heading}\n{passage.text}"))
        total = sum(self._weights.values()) or 1.0
        letters, around = letters_of(piece.text), letters_of(f"{heading}{passage.text}")
        signs = {
            COVERAGE: coverage,
            AHEAD: self._ahead(passage),
            RUN: min(_longest_run(self._letters, letters) / _LONG_RUN, 1.0),
            WORDS: sum(w for t, w in self._weights.items() if self._said(t, passage_terms)) / total,
            NAMES: self._named(around),
            KIND: float(self._expectation.sign is None or self._expectation.met_by(piece.text)),
        }
        if piece.passage.layer != PASSAGES:
            own = self._documents.count(piece.passage.document_id)
            signs[LAW] = float(piece.passage.document_id in self._laws)
            signs[AGREEMENT] = own / (len(self._documents) or 1)
            signs[MATTER] = self._matter(passage_terms)
        elif self._cosines:
            least = min(self._cosines.values())
            cosine = self._cosines.get(passage.id, least)
            signs[NEARNESS] = (cosine - _LEAST_COSINE) / (1 - _LEAST_COSINE)
            signs[NEAREST] = (cosine - _best_other(self._cosines, passage, least)) / (
                1 - _LEAST_COSINE
            )
        return signs

    def _matter(self, terms: set[str]) -> float:
        if not self._matters:
            return _UNTOLD
        return float(any(phrase <= terms for phrase in self._matters))

    def _ahead(self, passage: Passage) -> float:
        own = self._scores.get(passage.id, 0.0)
        other = _best_other(self._scores, passage, 0.0)
        return (own - other) / (max(own, other) or 1.0)

    def _named(self, letters: str) -> float:
        if not self._names:
            return 1.0
        return sum(name in letters for name in self._names) / len(self._names)

    def _said(self, term: str, terms: set[str]) -> bool:
        return term in terms or any(phrase <= terms for phrase in self._in_law.get(term, ()))


def answers(
    searcher: Searcher, retrieval: Retrieval, cited: Sequence[tuple[Passage, Piece]]
) -> float:
    """How probably cited sentences answer the question, 0 to 1.

    A model's choice of them is further evidence, not counted here.

    Args:
        searcher: the retriever; one thread at a time.
        retrieval: the result for the question.
        cited: sentences with the passages found around them.

    Returns:
        The probability of the best one; 0 without any, or if they neither share a word with the
        question nor refer to a sentence before.
    """
    reading, weight = retrieval.reading, searcher.inverse_document_frequency
    scorer = SupportScorer(reading.matter, weight, reading.everyday)
    answerability = Answerability(retrieval, weight)
    likeliest = 0.0
    for passage, piece in cited:
        # Nearness in a text proves nothing: anybody may have written it there.
        (own,) = scorer.score([replace(piece, before=())], "", 0.0)
        if piece.passage.layer == PASSAGES and not (own.coverage or refers_back(piece.text)):
            continue
        pieces = sentences_of(searcher.store, passage)
        supports = scorer.score(pieces, heading_of(passage), 0.0)
        at = [(one.start, one.end) for one in pieces].index((piece.start, piece.end))
        signs = answerability.signs(piece, passage, supports[at].coverage)
        likeliest = max(likeliest, weights_for(signs).probability(signs))
    return likeliest


def weights_for(signs: Mapping[str, float]) -> AnswerabilityWeights:
    """The weights for these signs."""
    return _fitted()[kind_of(signs)]


def kind_of(signs: Mapping[str, float]) -> str:
    """The kind of text with these signs, as in `SIGNS`."""
    return next(kind for kind, names in SIGNS.items() if signs.keys() == set(names))


def _best_other(scores: Mapping[str, float], passage: Passage, default: float) -> float:
    return max((score for unit, score in scores.items() if unit != passage.id), default=default)


def _cosines(retrieval: Retrieval) -> dict[str, float]:
    """Cosines to the question by unit; empty if laws are named.

    Then scores are relative to the best hit of their law.
    """
    if any(law.law_ids for law in retrieval.laws):
        return {}
    return {
        hit.passage.id: hit.score
        for stage in retrieval.trace.stages
        if stage.stage == ranking.MEANING
        for hit in stage.hits
    }


def _longest_run(one: str, other: str) -> int:
    return SequenceMatcher(None, one, other, autojunk=False).find_longest_match().size


@cache
def _fitted() -> Mapping[str, AnswerabilityWeights]:
    text = files("localrag.answer").joinpath("answerability.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    return {kind: _weights(read[kind]) for kind in SIGNS}


def _weights(read: Mapping[str, Any]) -> AnswerabilityWeights:
    return AnswerabilityWeights(read["base"], read["signs"], read["quoted_from"])
