"""Finds sentences with the opposite ending: してはならない for しなければならない.

Code cannot decide which provision a proviso or condition belongs to. But two sentences with the
same words up to the verb cannot both be right.
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

# 民法5条1項によれば、: the statement follows.
_NAMES_BEFORE = re.compile("^[はがに、]*(?:によれば|によると|により|では)?、?")
# Common letters needed before the ending, and most other letters allowed.
_SAME_SENTENCE, _SAME_ENDING = 12, 3
_KANA_BEHIND = re.compile("[ぁ-ゖ]*$")
# Both verbs of 取り消す.
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
    """Remove the naming of a provision at the beginning: によれば、."""
    return _NAMES_BEFORE.sub("", said)


def turned_round(said: str, sentences: Sequence[str]) -> Instead | None:
    """Return the ending of a sentence and the provision's opposite one, or None."""
    own = _closing(without_naming(said.strip()))
    if own is None:
        return None
    lines = (line for text in sentences for line in text.split("\n"))
    for line in lines:
        for start, end in split_sentences(line):
            # Comparing letters first is quick.
            if own.letters[-_SAME_ENDING:] not in letters(line[start:end]):
                continue
            its = _closing(line[start:end])
            if its and frozenset((its.force, own.force)) in _TURNED and _is_same(own, its):
                return Instead(own.written, (its.written,))
    return None


class _Closing(NamedTuple):
    letters: str  # all before the verb, without kana
    kana: str  # between them and the ending (をし of をしなければならない)
    force: Force  # the meaning of the ending
    written: str


@lru_cache(maxsize=512)
def _closing(sentence: str) -> _Closing | None:
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
    """Whether two sentences are the same up to the verb, in any spelling."""
    first, second = spelt(one.letters), spelt(other.letters)
    size = min(len(first), len(second))
    return (
        first[-size:] == second[-size:]
        and abs(len(one.letters) - len(other.letters)) <= _SAME_SENTENCE
        and not _stems(one.kana).isdisjoint(_stems(other.kana))
    )


def _stems(kana: str) -> set[str]:
    """Return the possible stems of a verb's kana: of ける, け and する."""
    return {kana, kana[:-1], kana.removesuffix("する")}
