"""Long texts, cut and broken so that editing them stays quick.

A text area wraps and paints a line as a whole at every key; one of 50,000 characters takes half a
second, and 25,000 lines take longer still to be wrapped. A break is marked by a character that a
question does not hold, and taken out again.
"""

import re
from typing import NamedTuple

from localrag_tui.shown import harmless

MOST_CHARACTERS, MOST_LINES = 60_000, 1_000
"""Of a text that is edited: more than a question may hold, so that none is cut that could be asked.
"""
_BREAK = "\N{WORD JOINER}\n"
_LONGEST = 400
_LONG = re.compile(rf"[^\n]{{{_LONGEST}}}(?=[^\n])")


def broken(text: str) -> str:
    """The text as it is edited."""
    return _LONG.sub(lambda line: line[0] + _BREAK, text)


def whole(text: str) -> str:
    """The text as it was meant."""
    return text.replace(_BREAK, "").replace(_BREAK[0], "")


class Fitted(NamedTuple):
    """A text that can be edited.

    Attributes:
        text: what there is of it, harmless.
        cut: whether its end was left out.
        joined: whether its last lines were made one.
    """

    text: str
    cut: bool
    joined: bool


def fitted(text: str, characters: int, lines: int) -> Fitted:
    """A text from anywhere, as it fits into so many characters and lines (at least one)."""
    kept = harmless(text[: max(0, characters)].replace("\r\n", "\n").replace("\r", "\n"))
    *first, last = kept.split("\n", max(0, lines - 1))
    whole_lines = "\n".join([*first, last.replace("\n", " ")])
    return Fitted(whole_lines, len(text) > characters, "\n" in last)
