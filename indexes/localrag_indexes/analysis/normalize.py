"""The form of text that terms are made from, and the way back to the original."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from localrag_indexes.analysis.characters import (
    LONG_VOWEL,
    SIMPLE_CHARACTERS,
    common,
    visible,
)

SIMPLE = re.compile(f"[{SIMPLE_CHARACTERS}]+")
"""Runs of characters that each normalise to one: most of any text."""
# Those of them that normalise to another one.
_CHANGED = re.compile("[A-Z\u3000\u301c\uff01-\uff5e]")


def unified(text: str) -> str:
    """Return `text` in NFKC, with one form for each kind of punctuation; its case stays.

    Invisible characters and variation selectors are left out. A dash is ``-``, and ``ー`` where it
    stands for a long vowel; a wave is ``~``.
    """
    return visible(_one_form(_with_long_vowels(text)))


def normalize(text: str) -> str:
    """Return `text` as `unified` writes it, case-folded."""
    text = _with_long_vowels(text)
    if SIMPLE.fullmatch(text):
        # To replace the few different characters that change takes a fifth of the time.
        for character in set(_CHANGED.findall(text)):
            text = text.replace(character, _one_form(character).casefold())
        return text
    return visible(_one_form(text).casefold())


def _with_long_vowels(text: str) -> str:
    """Write ー for a hyphen that stands for it; nothing moves."""
    return LONG_VOWEL.sub("ー", text) if "-" in text or "－" in text else text


def _one_form(text: str) -> str:
    form = unicodedata.normalize("NFKC", common(text))
    return form.replace("―", "-").replace("〜", "~")


def without_blanks(text: str) -> str:
    """Return `text` as `normalize` does, with nothing between its words."""
    return "".join(normalize(text).split())


def letters_of(text: str) -> str:
    """Return the letters and digits of `text` as `normalize` writes them."""
    return "".join(filter(str.isalnum, normalize(text)))


def compact(text: str) -> str:
    """Return `text` as `unified` does, with nothing between its words."""
    return "".join(unified(text).split())


def normalize_with_offsets(text: str) -> tuple[str, Sequence[int]]:
    """Normalise, and say which original character each normalised one stems from.

    Returns:
        ``normalize(text)`` and offsets, one more than it has characters: character i stems from
        the original at ``offsets[i]``; the last entry is ``len(text)``. Characters that came out
        of one (㍻ to 平成) or went into one (ｶﾞ to ガ) share an offset: use `original_span`.
    """
    normal = normalize(text)
    if normal == text:
        return text, range(len(text) + 1)
    text = _with_long_vowels(text)
    parts: list[str] = []
    offsets: list[int] = []

    def add_clusters(start: int, end: int) -> None:
        for first, last in _clusters(text, start, end):
            part = normalize(text[first:last])
            parts.append(part)
            offsets.extend([first] * len(part))

    done = 0
    for run in SIMPLE.finditer(text):
        add_clusters(done, run.start())
        # The last one may be changed by what follows.
        done = run.end() - 1
        parts.append(normalize(text[run.start() : done]))
        offsets.extend(range(run.start(), done))
    add_clusters(done, len(text))
    offsets.append(len(text))
    return "".join(parts), offsets


def original_span(offsets: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Map a non-empty span of normalised text to the smallest original span that covers it."""
    last = offsets[end - 1]
    while offsets[end] == last:
        end += 1
    return offsets[start], offsets[end]


def _clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of characters that normalise on their own, apart from what stands around them."""
    starts: list[int] = []
    cluster = ""
    for position in range(start, end):
        character = text[position]
        if cluster and _joins(cluster, character):
            cluster += character
        else:
            starts.append(position)
            cluster = character
    return pairwise([*starts, end])


def _joins(cluster: str, character: str) -> bool:
    if character < "\u0300" or "\u3400" <= character <= "\u9fff":
        return False
    alone = unicodedata.normalize("NFKC", character)
    if unicodedata.combining(alone[0]):
        return True
    if "\u3000" <= character <= "\u30ff":
        return False
    before = unicodedata.normalize("NFKC", cluster)
    return unicodedata.normalize("NFKC", cluster + character) != before + alone
