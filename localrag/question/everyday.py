"""Everyday words of a question, and what statutes say instead.

A statute speaks of 会社関係者 and 重要事実, its reader of インサイダー取引. What stands for what is
data: ``vocabulary.toml``, which says how its entries are written.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.normalize import normalize, normalize_with_offsets, original_span

_ENGLISH = re.compile(r"[\x00-\x7f]+")
# What may stand between the letters of one Japanese word: クーリング・オフ, 誇大 広告.
_BETWEEN = re.compile(r"[\s・]")
_KATAKANA = re.compile("[ァ-ヺー]")
_KANJI = re.compile("[一-鿿々]")


@dataclass(frozen=True, slots=True)
class Wording:
    """An everyday word of a question with what statutes say instead.

    Attributes:
        said: the word as the question has it.
        start, end: its span in the question, in characters.
        phrases: what statutes say; any one of them says the same.
        is_plain: whether any question may have the word, be it about the law or not.
    """

    said: str
    start: int
    end: int
    phrases: tuple[str, ...]
    is_plain: bool = False


class _Entry(NamedTuple):
    phrases: tuple[str, ...]
    is_plain: bool


Spans = Iterable[tuple[int, int]]


def wordings(question: str, besides: Spans = ()) -> tuple[Wording, ...]:
    """Find the everyday words of a question, in their order; the longest of several at a place.

    Args:
        question: Japanese or English, or both.
        besides: spans of it that are names and mean nothing else: the titles of laws.
    """
    taken = list(besides)
    found: list[Wording] = []
    every = (*_japanese(question), *_english(question))
    for wording in sorted(every, key=lambda one: (one.start - one.end, one.start)):
        if all(wording.end <= start or end <= wording.start for start, end in taken):
            taken.append((wording.start, wording.end))
            found.append(wording)
    return tuple(sorted(found, key=lambda one: one.start))


class _Vocabulary(NamedTuple):
    """What is said for what, ready to be looked up.

    Attributes:
        japanese: by the word without what may stand between its letters.
        english: by the terms of the word.
        longest: characters of the longest Japanese word.
        most: terms of the longest English one.
    """

    japanese: dict[str, _Entry]
    english: dict[tuple[str, ...], _Entry]
    longest: int
    most: int


@cache
def _analyzer() -> Analyzer:
    return Analyzer()


@cache
def _vocabulary() -> _Vocabulary:
    entries = tomllib.loads(files(__package__).joinpath("vocabulary.toml").read_text("utf-8"))
    japanese: dict[str, _Entry] = {}
    english: dict[tuple[str, ...], _Entry] = {}
    for section in ("plain", "words"):
        for written in entries[section]:
            entry = _Entry(tuple(written["law"]), section == "plain")
            for said in written["said"]:
                if _ENGLISH.fullmatch(said):
                    english[tuple(_analyzer().terms(said))] = entry
                else:
                    japanese[_BETWEEN.sub("", normalize(said))] = entry
    return _Vocabulary(japanese, english, max(map(len, japanese)), max(map(len, english)))


def _japanese(question: str) -> Iterator[Wording]:
    known = _vocabulary()
    normal, offsets = normalize_with_offsets(question)
    places = [place for place, letter in enumerate(normal) if not _BETWEEN.match(letter)]
    letters = "".join(normal[place] for place in places)
    for first in range(len(letters)):
        for last in range(first + 1, min(first + known.longest, len(letters)) + 1):
            entry = known.japanese.get(letters[first:last])
            if entry and not _goes_on(letters, first, last):
                start, end = original_span(offsets, places[first], places[last - 1] + 1)
                yield Wording(question[start:end], start, end, *entry)


def _goes_on(letters: str, first: int, last: int) -> bool:
    """Whether it is a part of a longer word: パート of デパート, 車 of 自動車."""
    scripts = (_KATAKANA, _KANJI) if last == first + 1 else (_KATAKANA,)
    return any(
        0 < edge < len(letters) and script.match(letters[edge - 1]) and script.match(letters[edge])
        for edge in (first, last)
        for script in scripts
    )


def _english(question: str) -> Iterator[Wording]:
    known = _vocabulary()
    tokens = _analyzer().tokens(question)
    for first in range(len(tokens)):
        for last in range(first + 1, min(first + known.most, len(tokens)) + 1):
            entry = known.english.get(tuple(token.term for token in tokens[first:last]))
            if entry:
                start, end = tokens[first].start, tokens[last - 1].end
                yield Wording(question[start:end], start, end, *entry)
