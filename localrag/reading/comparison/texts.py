"""What is neither date nor quantity nor place: texts, and how far one says the other."""

import re
from functools import lru_cache
from itertools import pairwise

from localrag.reading.comparison.folding import NOTE
from localrag_indexes.analysis.normalize import normalize

_QUOTATION = re.compile(r"[「」『』\"“”‘’'\s]")
_ENUMERATION = re.compile(r"[、,，;；／]| / |(?<=[^\d])/(?=[^\d])")
_SHORTEST = 2
_LIKELY = 0.75
"""The share of a condition, by pairs of characters, from which a text likely says it."""


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """A text as `spelt`, without the note at its end."""
    return spelt(re.sub(rf"(?<=.){NOTE}$", "", normalize(text).strip()))


def spelt(text: str) -> str:
    """A text without regard to case, width, spaces and quotation marks, its notes included."""
    return _QUOTATION.sub("", normalize(text))


def items(text: str) -> tuple[str, ...]:
    """The parts of an enumeration; 「・」 separates none, for it may belong to a name."""
    return tuple(item for item in map(str.strip, _ENUMERATION.split(text)) if item)


def contains(whole: str, part: str) -> bool:
    """Whether one text stands in the other, both folded."""
    return len(part) >= _SHORTEST and part in whole


def coverage(condition: str, text: str) -> float:
    """The share of the pairs of characters of a condition that stand in a text, both folded."""
    asked = set(pairwise(condition))
    return len(asked & set(pairwise(text))) / len(asked) if asked else 0.0


def likely(condition: str, text: str) -> bool:
    """Whether a text, as written, likely says what is asked in a folded condition."""
    said = spelt(text)
    return (
        contains(said, condition)
        or contains(condition, folded(text))
        or coverage(condition, said) >= _LIKELY
    )
