"""The words of a question: its topic, what is asked of it, and what is said of any matter."""

import re
import tomllib
from collections.abc import Sequence
from enum import Enum, auto
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from localrag_indexes.analysis import Analyzer, Token
from localrag_indexes.analysis.analyzer import ENGLISH
from localrag_indexes.analysis.japanese import morphemes

_INFLECTION = re.compile("(?<=[一-鿿々])[ぁ-ゖ]+")
_NUMBER = re.compile(r"[0-9.,]+")
# 最近, 以前: nouns that tell when, and name nothing.
_ADVERBIAL = "名詞-普通名詞-副詞可能"
# 自由か, 無効になる, 途中で解約できる: nouns that are said of something where a question ends.
_PREDICATIVE = "名詞-普通名詞-形状詞可能"
_SAID_OF = re.compile("(?:に(?:なる|なります)|です|でしょう|なの|の)?か?[？?。\\s]*$")
_VERBAL = "名詞-普通名詞-サ変可能"
_DONE = re.compile("(?:する|し|され|できる|でき|しな|せ|させ)[ぁ-ゖ]*[？?。\\s]*$")
_PERSON_DONE_TO = re.compile("[人者](?:を|に)$")
# Terms of the index that one word of the vocabulary may have.
_LONGEST_WORD = 3


class WordRole(Enum):
    """What a word does in a question."""

    TOPIC = auto()
    SAID = auto()
    ASKED = auto()


class Word(NamedTuple):
    """A word of a question and where it stands."""

    kind: WordRole
    start: int
    end: int


class _FollowUpWords(NamedTuple):
    asked: frozenset[str]
    said: frozenset[str]
    agents: frozenset[str]


def words_of(text: str, without: Sequence[tuple[int, int]] = ()) -> list[Word]:
    """The words of a question in order; none of those that are stop words of the index.

    Args:
        text: the question.
        without: spans whose words are left out.
    """
    tokens = [
        token
        for token in _analyzer().tokens(text)
        if not any(start < token.end and token.start < end for start, end in without)
    ]
    found = []
    while tokens:
        first = tokens[0]
        kind, taken = _kind(first.term), 1
        # 手数料 is one word here, and two terms of the index.
        for count in range(2, 1 + _adjoining(tokens[:_LONGEST_WORD])):
            longer = _kind(text[first.start : tokens[count - 1].end])
            if longer is not WordRole.TOPIC:
                kind, taken = longer, count
        found.append(Word(kind, first.start, tokens[taken - 1].end))
        tokens = tokens[taken:]
    return found


def _adjoining(tokens: Sequence[Token]) -> int:
    """How many tokens from the first one on are written without anything between them."""
    pairs = enumerate(pairwise(tokens), 1)
    return next((count for count, (one, other) in pairs if one.end != other.start), len(tokens))


def _kind(term: str) -> WordRole:
    vocabulary, stem = _vocabulary(), _stem(term)
    if stem in vocabulary.asked or _NUMBER.fullmatch(stem):
        return WordRole.ASKED
    return WordRole.SAID if stem in vocabulary.said or stem in ENGLISH else WordRole.TOPIC


def matter_of(text: str, words: Sequence[Word]) -> list[Word]:
    """Those words of a Japanese question that say by themselves what it is about.

    These are nouns. A verb whose object is left unsaid (何年とっておくの) takes it from what was
    asked before; 人を殴ったら has one, though 人 is said of any matter.

    Args:
        text: the question.
        words: its words, in order.
    """
    nouns = [
        (one.start, one.end)
        for one in morphemes(text)
        if one.kind.startswith("名詞")
        and one.kind != _ADVERBIAL
        and not (one.kind == _PREDICATIVE and _SAID_OF.match(text, one.end))
        and not (one.kind == _VERBAL and _DONE.match(text, one.end))
    ]
    return [
        word
        for word in words
        if word.kind is WordRole.TOPIC
        and (
            any(start < word.end and word.start < end for start, end in nouns)
            or _PERSON_DONE_TO.search(text, 0, word.start)
        )
    ]


def ends_in_a_verb(text: str) -> bool:
    """Whether a Japanese text is a sentence (国籍を選びたい), and no noun (国籍の選択, 支払い)."""
    words = morphemes(text)
    return bool(words) and words[-1].kind.startswith(("動詞", "形容詞", "助動詞"))


def names_an_agent(text: str) -> bool:
    """Whether a Japanese noun is one of a person, a body or an office."""
    return text[-1:] in _vocabulary().agents


@cache
def _analyzer() -> Analyzer:
    return Analyzer()


@cache
def _vocabulary() -> _FollowUpWords:
    text = files("localrag.question").joinpath("follow_up.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)

    def stems(words: str) -> frozenset[str]:
        # English words are cut to their stems as the words of a question are.
        terms = [_analyzer().terms(word) if word.isascii() else [word] for word in words.split()]
        return frozenset(_stem(term) for cut in terms for term in cut)

    return _FollowUpWords(
        stems(entries["asked"]), stems(entries["said"]), frozenset(entries["agents"])
    )


def _stem(term: str) -> str:
    """届け出る as 届出: what is written in hiragana after a Chinese character is inflection."""
    return _INFLECTION.sub("", term)
