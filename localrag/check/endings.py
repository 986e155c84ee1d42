"""The same sentence with another end: してはならない where the provision has しなければならない.

Which provision a proviso or a condition is of code does not tell; but two sentences that are the
same up to the deed, word for word in any notation, cannot both say the one and its opposite.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from localrag.answer.checking.polarity import Force, closing_force
from localrag.check.cases import Instead
from localrag.check.differences import spelt
from localrag.check.words import letters
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import normalize

# 民法5条1項によれば、: what is said follows.
_NAMES_BEFORE = re.compile("^[はがに、]*(?:によれば|によると|により|では)?、?")
# So many letters two sentences have before they end otherwise, and no more than so many else.
_SAME_SENTENCE, _SAME_ENDING = 12, 3
_KANA_BEHIND = re.compile("[ぁ-ゖ]*$")
# Of 取り消す both verbs.
_DEED = re.compile("(?:[一-鿿][いきしちにひみりえけせてねめれげべ](?=[一-鿿]$))?[一-鿿々ァ-ヶー]+$")
_TURNED = frozenset(
    frozenset(pair)
    for pair in (
        (Force.DEMANDED, Force.ALLOWED),
        (Force.DEMANDED, Force.FORBIDDEN),
        (Force.DEMANDED, Force.EXEMPTED),
        (Force.ALLOWED, Force.FORBIDDEN),
        (Force.AFFIRMED, Force.DENIED),
        (Force.AFFIRMED, Force.FORBIDDEN),
    )
)


def without_naming(said: str) -> str:
    """A sentence without what it names its provision by: によれば、."""
    return _NAMES_BEFORE.sub("", said)


def turned_round(said: str, sentences: Sequence[str]) -> Instead | None:
    """What a sentence says at its end where the same sentence of a provision ends otherwise.

    Args:
        said: the sentence, with blanks in the place of what it cites.
        sentences: the provisions.

    Returns:
        The deed and what is said of it (予告をしてはならない), and what the provision says of it;
        None where nothing is turned round.
    """
    own = _closing(without_naming(said.strip()))
    if own is None:
        return None
    lines = (line for text in sentences for line in text.split("\n"))
    for line in lines:
        for start, end in split_sentences(line):
            # Words are told apart only where the letters are the same, which is quickly seen.
            if own.letters[-_SAME_ENDING:] not in letters(line[start:end]):
                continue
            its = _closing(line[start:end])
            if its and frozenset((its.force, own.force)) in _TURNED and _is_same(own, its):
                return Instead(own.written, (its.written,))
    return None


class _Closing(NamedTuple):
    """How a sentence ends.

    Attributes:
        letters: up to the deed, without its kana.
        kana: those of the deed that stand before what is said of it (をし of をしなければならない).
        force: what is said of it.
        written: the deed, and what is said of it.
    """

    letters: str
    kana: str
    force: Force
    written: str


@lru_cache(maxsize=512)
def _closing(sentence: str) -> _Closing | None:
    """How a sentence ends; None of one too short to be known again."""
    normal = normalize(sentence).strip(" 。()")
    start, force = closing_force(normal)
    before = normal[:start].rstrip()
    stem = _KANA_BEHIND.sub("", before)
    deed = _DEED.search(normal, 0, len(stem))
    written = normal[deed.start() if deed else start :]
    if len(letters(stem)) < _SAME_SENTENCE:
        return None
    return _Closing(letters(stem), before[len(stem) :], force, written)


def _is_same(one: _Closing, other: _Closing) -> bool:
    """Whether two sentences are the same up to the deed, in any notation."""
    first, second = spelt(one.letters), spelt(other.letters)
    size = min(len(first), len(second))
    return (
        first[-size:] == second[-size:]
        and abs(len(one.letters) - len(other.letters)) <= _SAME_SENTENCE
        and not _stems(one.kana).isdisjoint(_stems(other.kana))
    )


def _stems(kana: str) -> set[str]:
    """What the kana of a verb may be without its inflection: of ける, け and する."""
    return {kana, kana[:-1], kana.removesuffix("する")}
