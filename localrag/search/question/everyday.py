"""Everyday words of a question and their statutory counterparts, from ``vocabulary.tsv``.

A statute says 会社関係者 and 重要事実, its reader インサイダー取引.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Generic, NamedTuple, TypeVar

from localrag_indexes.analysis import Analyzer
from localrag_indexes.analysis.normalize import normalize, normalize_with_offsets, original_span

_ENGLISH = re.compile(r"[\x00-\x7f]+")
# Allowed between the letters of a Japanese word: クーリング・オフ, 誇大 広告; and an optional
# particle between two words: 会社を辞め, 会社辞め.
_BETWEEN = re.compile(r"[\s・]+|(?<=[^ぁ-ん])[のをがは](?=[一-鿿々ァ-ヺ])")
_KATAKANA = re.compile("[ァ-ヺー]")
_KANJI = re.compile("[一-鿿々]")
_LATIN = re.compile("[A-Za-zＡ-Ｚａ-ｚ]")


@dataclass(frozen=True, slots=True)
class EverydayWord:
    """An everyday word of a question.

    Attributes:
        said: as in the question.
        start, end: its span in the question, in characters.
        phrases: equivalent statutory phrases.
        is_plain: whether it also occurs in questions not about law.
    """

    said: str
    start: int
    end: int
    phrases: tuple[str, ...]
    is_plain: bool = False

    @property
    def others(self) -> tuple[str, ...]:
        """The phrases other than the word itself."""
        return tuple(phrase for phrase in self.phrases if phrase != self.said)


class VocabularyLine(NamedTuple):
    """A line of the vocabulary.

    Attributes:
        said: everyday words for one thing, Japanese and English.
        phrases, is_plain: as in `EverydayWord`.
    """

    said: tuple[str, ...]
    phrases: tuple[str, ...]
    is_plain: bool


Key = TypeVar("Key", str, tuple[str, ...])


def wordings(question: str, besides: Iterable[tuple[int, int]] = ()) -> tuple[EverydayWord, ...]:
    """Find the everyday words of a question, in order, without overlaps; the longest first.

    Args:
        question: in Japanese or English, or both.
        besides: spans to ignore, such as titles of laws.
    """
    taken = list(besides)
    found: list[EverydayWord] = []
    every = (*_japanese(question), *_english(question))
    for wording in sorted(every, key=lambda one: (one.start, -one.end)):
        if all(wording.end <= start or end <= wording.start for start, end in taken):
            taken.append((wording.start, wording.end))
            found.append(wording)
    return tuple(found)


@cache
def entries() -> tuple[VocabularyLine, ...]:
    """The whole vocabulary, in file order."""
    text = files(__package__).joinpath("vocabulary.tsv").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(
        VocabularyLine(
            tuple(row["said"].split(" | ")),
            tuple(row["law"].split(" | ")),
            row["kind"] == "plain",
        )
        for row in rows
    )


class _WordsByKey(NamedTuple, Generic[Key]):
    """The words of one language, prepared for look-up.

    Attributes:
        entries: by the letters of a Japanese word, or the terms of an English one.
        longest: length of the longest word beginning with each of them.
    """

    entries: Mapping[Key, VocabularyLine]
    longest: Mapping[str, int]

    def ends(self, first: int, beginning: str, length: int) -> range:
        """Possible ends of a word at `first`, in letters or terms."""
        return range(first + 1, min(first + self.longest.get(beginning, 0), length) + 1)


@cache
def _analyzer() -> Analyzer:
    return Analyzer()


@cache
def _japanese_words() -> _WordsByKey[str]:
    words: dict[str, VocabularyLine] = {}
    for entry in entries():
        for said in entry.said:
            if not _ENGLISH.fullmatch(said):
                word = _BETWEEN.sub("", normalize(said))
                words[word] = _both(words[word], entry) if word in words else entry
    return _WordsByKey(words, _longest(words))


def _both(one: VocabularyLine, other: VocabularyLine) -> VocabularyLine:
    """Merge two lines of the same word with other particles: 相続放棄, 相続を放棄."""
    phrases = tuple(dict.fromkeys((*one.phrases, *other.phrases)))
    return VocabularyLine(one.said, phrases, one.is_plain and other.is_plain)


@cache
def _english_words() -> _WordsByKey[tuple[str, ...]]:
    words = {
        tuple(_analyzer().terms(said)): entry
        for entry in entries()
        for said in entry.said
        if _ENGLISH.fullmatch(said)
    }
    return _WordsByKey(words, _longest(words))


def _longest(words: Iterable[str | tuple[str, ...]]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for word in words:
        longest[word[0]] = max(len(word), longest.get(word[0], 0))
    return longest


def _japanese(question: str) -> Iterator[EverydayWord]:
    known = _japanese_words()
    normal, offsets = normalize_with_offsets(question)
    between = {place for found in _BETWEEN.finditer(normal) for place in range(*found.span())}
    places = [place for place in range(len(normal)) if place not in between]
    letters = "".join(normal[place] for place in places)
    for first in range(len(letters)):
        for last in known.ends(first, letters[first], len(letters)):
            entry = known.entries.get(letters[first:last])
            if entry and not _goes_on(letters, first, last):
                start, end = original_span(offsets, places[first], places[last - 1] + 1)
                yield EverydayWord(question[start:end], start, end, entry.phrases, entry.is_plain)


def _goes_on(letters: str, first: int, last: int) -> bool:
    """Whether it is part of a longer word: パート in デパート, 車 in 自動車."""
    scripts = (_KATAKANA, _KANJI) if last == first + 1 else (_KATAKANA,)
    return any(
        0 < edge < len(letters) and script.match(letters[edge - 1]) and script.match(letters[edge])
        for edge in (first, last)
        for script in scripts
    )


def _english(question: str) -> Iterator[EverydayWord]:
    # Reading the English words takes half a second, and most questions have none.
    if not _LATIN.search(question):
        return
    known = _english_words()
    tokens = _analyzer().tokens(question)
    for first in range(len(tokens)):
        for last in known.ends(first, tokens[first].term, len(tokens)):
            entry = known.entries.get(tuple(token.term for token in tokens[first:last]))
            if entry:
                start, end = tokens[first].start, tokens[last - 1].end
                yield EverydayWord(question[start:end], start, end, entry.phrases, entry.is_plain)
