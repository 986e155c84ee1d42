"""The form of text that terms are made from, and the way back to the original."""

import re
import unicodedata
from collections.abc import Sequence

# With NUL, at which C libraries stop, and lone surrogates, which no encoding can write.
_INVISIBLE = re.compile(
    "[\x00\ud800-\udfff\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)


def normalize(text: str) -> str:
    """Return `text` in NFKC, case-folded, without invisible characters and variant selectors."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).casefold())


def without_blanks(text: str) -> str:
    """Return `text` as `normalize` does, with nothing between its words."""
    return "".join(normalize(text).split())


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
    parts: list[str] = []
    offsets: list[int] = []
    for start, end in _clusters(text):
        part = normalize(text[start:end])
        parts.append(part)
        offsets.extend([start] * len(part))
    offsets.append(len(text))
    return "".join(parts), offsets


def original_span(offsets: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Map a non-empty span of normalised text to the smallest original span that covers it."""
    last = offsets[end - 1]
    while offsets[end] == last:
        end += 1
    return offsets[start], offsets[end]


def _clusters(text: str) -> list[tuple[int, int]]:
    """Spans of characters that normalise on their own, apart from what stands around them."""
    starts: list[int] = []
    cluster = ""
    for position, character in enumerate(text):
        if cluster and _joins(cluster, character):
            cluster += character
        else:
            starts.append(position)
            cluster = character
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


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
