"""Make text harmless for terminals, pages and files, and lay it out in rows of cells.

Control characters become visible signs. Rows are wrapped and cut by the width of characters.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

# C0 (except tab and line feed), DEL and C1 control the terminal; line and paragraph separators may
# begin a line; bidirectional controls reorder the text; a lone surrogate cannot be encoded.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# These, line breaks, tabs and invisible characters, with which two names can look the same.
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# json.dumps escapes C0 itself.
_CONTROLS_IN_JSON = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Make control characters visible: ESC becomes ␛.

    Each becomes one character (U+FFFD without a sign), so positions stay.
    """
    return _CONTROLS.sub(_picture, text)


def one_line(text: str) -> str:
    """Make a name visible in one line: line breaks become ␊, U+202E becomes <U+202E>.

    For names of files, documents, headings, corpora, models and tokens: a line break in a name
    must not look like a message of localrag.
    """
    return _UNSEEN.sub(_sign, text)


def json_text(value: Any, *, indent: int | None = None, allow_nan: bool = True) -> str:
    """Write a value as JSON that is safe to show in a terminal.

    Args:
        value: as for `json.dumps`.
        indent: blanks for each level; None for one line.
        allow_nan: write NaN and infinities, which only Python reads.

    Raises:
        ValueError: it contains NaN or infinity, and they are not allowed.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=allow_nan, indent=indent)
    return _CONTROLS_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else f"<U+{code:04X}>"


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"


NARROWEST = 2
"""Least width of a row in cells: one wide character."""

# Rows do not begin with the first or end with the second (a plain form of 禁則).
_NO_START = frozenset(
    "、。，．,.」』）)］]〕｝}〉》】！？!?：；:;ー々ゝゞヽヾぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ・"
)
_NO_END = frozenset("「『（(［[〔｛{〈《【")
# Characters of two cells, and of one: lines of these only need no measuring.
_WIDE = re.compile("[　-〩ぁ-ゖ゛-ヿ㐀-䶿一-鿿豈-﫿！-｠]*")
_NARROW = re.compile("[ -~]*")

Indents = Callable[[str, int, int], tuple[int, int]]
"""Gives the indents of a line (text, start, end) in cells: first row, other rows."""


class Row(NamedTuple):
    """A row of a layout: its span in the text, and the blank cells before it."""

    start: int
    end: int
    indent: int


class Layout(Sequence[Row]):
    """The rows of a text at one width.

    Every character is in one row, except line feeds and the blanks at a break. No row is wider
    than the width.

    Attributes:
        width: in cells.
    """

    def __init__(self, text: str, width: int, indents: Indents | None = None) -> None:
        """Wrap a text.

        Args:
            text: without control characters; lines end with a line feed.
            width: at least `NARROWEST`.
            indents: None for no indents.
        """
        self.width = width
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._indents = bytearray()
        start = 0
        for line in text.split("\n"):
            end = start + len(line)
            first, rest = (0, 0) if indents is None else indents(text, start, end)
            if max(first, rest) > width // 4:
                first = rest = 0
            self._wrap(text, start, end, first, rest)
            start = end + 1

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> Row:  # type: ignore[override]
        return Row(self._starts[number], self._ends[number], self._indents[number])

    def row_of(self, position: int) -> int:
        """The number of the row with a character, or before its blank."""
        return max(0, bisect_right(self._starts, position) - 1)

    def _wrap(self, text: str, start: int, end: int, first: int, rest: int) -> None:
        reach, edges = _measure(text, start, end)
        indent = first
        while (limit := reach(start, self.width - indent)) < end:
            at = _break(text, start, limit, edges)
            self._enter(start, at, indent)
            start = at
            while start < end and text[start] == " ":
                start += 1
            indent = rest
            if start == end:
                return
        self._enter(start, end, indent)

    def _enter(self, start: int, end: int, indent: int) -> None:
        self._starts.append(start)
        self._ends.append(end)
        self._indents.append(indent)


def cells(text: str) -> int:
    """How many cells a text takes."""
    if _WIDE.fullmatch(text):
        return 2 * len(text)
    if _NARROW.fullmatch(text):
        return len(text)
    # Plain ASCII needs no measuring.
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """A text in at most so many cells; a cut is marked."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"


def shorten(text: str, most: int) -> str:
    """The first characters of a text, at most so many; a cut is marked."""
    return text if len(text) <= most else f"{text[:most]}…"


def _measure(
    text: str, start: int, end: int
) -> tuple[Callable[[int, int], int], Sequence[int] | None]:
    """A function for the end of a row, from its start and width.

    Also the positions at which a row may end; None for all.
    """
    if _WIDE.fullmatch(text, start, end):
        return lambda first, width: first + width // 2, None
    if _NARROW.fullmatch(text, start, end):
        return lambda first, width: first + width, None
    from rich.cells import split_graphemes

    spans, _ = split_graphemes(text[start:end])
    edges = [start + span[0] for span in spans] + [end]
    before = [0, *accumulate(span[2] for span in spans)]

    def reach(first: int, width: int) -> int:
        number = bisect_right(edges, first) - 1
        return edges[bisect_right(before, before[number] + width) - 1]

    return reach, edges


def _break(text: str, start: int, limit: int, edges: Sequence[int] | None) -> int:
    """The end of a row: its limit, or before characters that stay together."""
    at = limit
    while at > start and _holds_together(text[at - 1], text[at]):
        at -= 1
    if edges is not None:
        at = edges[bisect_right(edges, at) - 1]
    return at if at > start else limit


def _holds_together(before: str, after: str) -> bool:
    return after in _NO_START or before in _NO_END or (_in_word(before) and _in_word(after))


def _in_word(character: str) -> bool:
    # Letters from the CJK blocks on may be separated anywhere.
    return character < "⺀" and (character.isalnum() or character in "'’-_+")
