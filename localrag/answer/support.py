"""How far a piece of text supports an answer, and how probably it answers.

The support is the share of the question that a piece covers, by weight. The probability decides
what is quoted: a logistic regression on a few signs, each of which speaks for an answer where there
is more of it: how much of the question a text covers, how far the search puts its passage ahead of
all others, what of the question its passage repeats, whether that speaks of the names in the
question, and whether the text offers the kind of thing asked for; of a provision, whether its law
is the one named, how many of the best hits are of that law, and whether its passage says what
statutes say for a matter of law that the question has in everyday words
(`localrag.search.question.everyday`); by meaning, how near its passage is to the question.
``answerability.toml`` holds the weights, with the command that fitted them.
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
from localrag.law.predicted import predicted_questions
from localrag.search import dense
from localrag.search.query import analyzer, asked_of, full_text
from localrag.search.question.asked import Expectation
from localrag.search.question.everyday import EverydayWord
from localrag.search.reading import Retrieval
from localrag_indexes.analysis.normalize import letters_of, normalize, with_blanks

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
# What of a score a piece has that says all that was asked.
_COVERED = 2.0

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


def heading_of(passage: Passage) -> str:
    """The header of a passage and the questions that it answers, a line each."""
    return "\n".join((passage.header, *predicted_questions(passage.id)))


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
                _COVERED * coverage
                + _EXPECTED * self._expectation.met_by(piece.text)
                + _RETRIEVAL * relative_score
            )
            supports.append(Support(coverage, score))
        return supports


class _Wanted(NamedTuple):
    """The features of a question by weight, and what can be said in several ways.

    Attributes:
        weights: of what stands in the question as statutes have it.
        words: of every everyday word the weight, and the features of each way to say it by weight,
            as it is said first.
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
    """The weights, less for what stands in many of the pieces and so tells none of them apart."""
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
"""By what is judged, its signs: each has its own weights. See `Answerability.signs`."""

# A run of so many characters of the question in a text is no chance; a longer one adds nothing.
_LONG_RUN = 12
# So many of the best hits show whether they agree on a law.
_AGREEING = 5
# A question in the words of statutes, or on something else, tells neither for nor against a text.
_UNTOLD = 0.5
# Multilingual E5 gives cosines above this to whatever is compared.
_LEAST_COSINE = 0.7


class Searcher(Protocol):
    """What of a retriever is needed here; fulfilled by `localrag.search.pipeline.Retriever`.

    Attributes:
        store: the corpus store.
    """

    store: CorpusStore

    def inverse_document_frequency(self, term: str) -> float:
        """How much a term says in the corpus."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerabilityWeights:
    """How much each sign counts; fitted by ``scripts/train_answerability.py``.

    Attributes:
        base: log odds where every sign is 0.
        signs: what one of each adds to them.
        quoted_from: the least probability at which a text is quoted as what may answer.
    """

    base: float
    signs: Mapping[str, float]
    quoted_from: float

    def probability(self, signs: Mapping[str, float]) -> float:
        """The probability that a text with these signs answers, 0 to 1."""
        odds = self.base + sum(weight * signs[name] for name, weight in self.signs.items())
        return 1 / (1 + math.exp(-odds))


class Answerability:
    """How probably texts answer one question.

    Args:
        retrieval: what was found for the question.
        inverse_document_frequency: how much a term says in the corpus.
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
        # A provision that has the law's own phrase for an everyday word repeats that word.
        self._in_law = {
            term: phrases
            for wording, phrases in wordings
            for term in analyzer().terms(wording.said)
        }
        # What any question may say tells no matter of law: 返す, 夜に.
        self._matters = [
            phrase for wording, phrases in wordings if not wording.is_plain for phrase in phrases
        ]
        self._letters = letters_of(asked)
        # What is an everyday word for something names nothing: ドローン, キャンセル.
        everyday = [letters_of(wording.said) for wording, _ in wordings]
        names = map(letters_of, self._expectation.names)
        self._names = [name for name in names if not any(name in said for said in everyday)]
        self._laws = {law_id for law in retrieval.laws for law_id in law.law_ids}
        hits = [hit for hit in retrieval.hits if not hit.beside]
        self._documents = [hit.passage.document_id for hit in hits[:_AGREEING]]
        self._scores = {hit.passage.id: hit.score for hit in hits}
        self._cosines = _cosines(retrieval)

    def signs(self, piece: Piece, passage: Passage, coverage: float) -> dict[str, float]:
        """The signs of a piece: each 0 to 1, but for those that compare, which begin at -1.

        Args:
            piece: what may answer.
            passage: the passage found that it is part of.
            coverage: the share of the question it covers (`localrag.answer.support`).
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
        """Whether a text with some terms is on a matter of law that the question has."""
        if not self._matters:
            return _UNTOLD
        return float(any(phrase <= terms for phrase in self._matters))

    def _ahead(self, passage: Passage) -> float:
        """How far the score of a passage is above those of all others, as a share of the best."""
        own = self._scores.get(passage.id, 0.0)
        other = _best_other(self._scores, passage, 0.0)
        return (own - other) / (max(own, other) or 1.0)

    def _named(self, letters: str) -> float:
        """The share of the names of the question that a text has; of none it has all."""
        if not self._names:
            return 1.0
        return sum(name in letters for name in self._names) / len(self._names)

    def _said(self, term: str, terms: set[str]) -> bool:
        """Whether a text with some terms says one of the question, as it is or as the law does."""
        return term in terms or any(phrase <= terms for phrase in self._in_law.get(term, ()))


def answers(
    searcher: Searcher, retrieval: Retrieval, cited: Sequence[tuple[Passage, Piece]]
) -> float:
    """How probably the sentences that a claim cites answer the question, 0 to 1.

    That a model chose them is evidence besides, which is not counted here.

    Args:
        searcher: the retriever; used by one thread at a time.
        retrieval: what was found for the question.
        cited: sentences, each with the passage found that it is part of.

    Returns:
        The probability of the likeliest of them; 0 for none, and for those that share nothing
        with the question and refer to nothing before them.
    """
    reading, weight = retrieval.reading, searcher.inverse_document_frequency
    scorer = SupportScorer(reading.matter, weight, reading.everyday)
    answerability = Answerability(retrieval, weight)
    likeliest = 0.0
    for passage, piece in cited:
        # Standing in the same text makes no sentence an answer: anybody may have written it there.
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
    """The weights for a text with these signs."""
    return _fitted()[kind_of(signs)]


def kind_of(signs: Mapping[str, float]) -> str:
    """What is judged by these signs, as `SIGNS` has it."""
    return next(kind for kind, names in SIGNS.items() if signs.keys() == set(names))


def _best_other(scores: Mapping[str, float], passage: Passage, default: float) -> float:
    """The best score of another passage."""
    return max((score for unit, score in scores.items() if unit != passage.id), default=default)


def _cosines(retrieval: Retrieval) -> dict[str, float]:
    """By unit the cosine to the question, of those found by meaning; none where laws are named.

    Their scores count then relative to the best of their law.
    """
    if any(law.law_ids for law in retrieval.laws):
        return {}
    return {
        hit.passage.id: hit.score
        for stage in retrieval.trace.stages
        if stage.stage == dense.STAGE
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
