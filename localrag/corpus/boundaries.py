"""Where words and names begin and end in a running text that has no blanks."""

import re
from typing import NamedTuple

from localrag_indexes.analysis.japanese import segment

_OPENING, _CLOSING = "『「“\"'", "』」”\"'"
# What makes another name of a name that it stands before, or behind.
_BEFORE = re.compile(r"[a-z0-9新旧東西南北大小元前本第真超続副準]")
_BEHIND = re.compile(r"[^\W_ぁ-ゖー氏様君達型界系人家等的]")


class Words(NamedTuple):
    """The words of a text, by where they begin and by where they end."""

    starting: dict[int, str]
    ending: dict[int, str]


def words_of(text: str) -> Words:
    """The words of a normalised text."""
    words, position = Words({}, {}), 0
    for surface in segment(text):
        start = text.index(surface, position)
        position = start + len(surface)
        words.starting[start] = words.ending[position] = surface
    return words


def stands_alone(text: str, start: int, end: int, words: Words) -> bool:
    """Whether the name in a span is no piece of another: quoted, or cut from the words around it.

    Args:
        text: normalised.
        start: of the name, in characters of the text.
        end: of the name.
        words: of the text.
    """
    before, after = text[:start][-1:], text[end:][:1]
    if before and after and before in _OPENING and after in _CLOSING:
        return True
    if start not in words.starting or end not in words.ending:
        return False
    ahead, behind = words.ending.get(start, ""), words.starting.get(end, "")
    return not (_BEFORE.fullmatch(ahead) or _BEHIND.fullmatch(behind))
