"""Segmentation of Japanese text with MeCab and UniDic."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

# MeCab holds one lattice for all it is given: a document of a megabyte would cost gigabytes.
_LONGEST_RUN = 4000
_PAUSE = re.compile(r"[。、\s]")
# Where UniDic writes the parts of speech, the form that dictionaries list, and the pronunciation.
_PARTS_OF_SPEECH, _LEMMA, _SOUND = 3, 7, 9
# Ways of cutting and reading a word, the likeliest first, that are looked at.
_READINGS = 20


class Morpheme(NamedTuple):
    """A word as MeCab tells it.

    Attributes:
        surface: as written.
        start, end: its span in the text.
        kind: parts of speech, the general one first ("名詞-固有名詞-地名").
        lemma: the form that dictionaries list; the surface where UniDic lacks the word.
    """

    surface: str
    start: int
    end: int
    kind: str
    lemma: str


@cache
def _tagger(options: str) -> Any:
    import fugashi

    return fugashi.Tagger(options)


def segment(text: str) -> list[str]:
    """Cut normalised text into surfaces; blanks are dropped, all else is kept in order."""
    return [
        surface
        for start, end in _runs(text)
        for surface in _tagger("-Owakati").parse(text[start:end]).split()
    ]


def morphemes(text: str) -> list[Morpheme]:
    """Cut normalised text as `segment` does, with what the dictionary says of each word."""
    found: list[Morpheme] = []
    for start, end in _runs(text):
        at = start
        for node in _tagger("")(text[start:end]):
            at = text.index(node.surface, at)
            # The raw line is six times as fast to read as the library's named fields.
            fields = node.feature_raw.split(",", _LEMMA + 1)
            kind = "-".join(field for field in fields[:_PARTS_OF_SPEECH] if field != "*")
            lemma = fields[_LEMMA] if len(fields) > _LEMMA else node.surface
            found.append(Morpheme(node.surface, at, at + len(node.surface), kind, lemma))
            at += len(node.surface)
    return found


def sounds(word: str) -> frozenset[str]:
    """How a word can be read aloud, in katakana: 民放 is ミンポー, and less likely ミンホー.

    Nothing of a word with a piece that UniDic lacks.
    """
    read = set()
    for nodes in _tagger("").nbestToNodeList(word, _READINGS):
        pieces = [node.feature_raw.split(",") for node in nodes]
        if all(len(fields) > _SOUND for fields in pieces):
            read.add("".join(fields[_SOUND] for fields in pieces))
    return frozenset(read)


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Spans of a text that MeCab takes at once, cut at pauses where there are any."""
    start = 0
    while start < len(text):
        end = min(start + _LONGEST_RUN, len(text))
        if end < len(text):
            pauses = [pause.end() for pause in _PAUSE.finditer(text, end - 500, end)]
            end = pauses[-1] if pauses else end
        yield start, end
        start = end
