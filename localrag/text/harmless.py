"""Makes foreign text safe for terminals, pages and files; lays it out in rows of cells."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

# C0 (except tab and line feed), DEL and C1 control the terminal. Line and paragraph separators may
# start a line, bidirectional controls reorder text. A lone surrogate cannot be encoded.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# These, line breaks, tabs, and zero-width characters, with which two names look the same.
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# json.dumps escapes C0 itself.
_CONTROLS_IN_JSON = re.compile(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """Replace each control character by a visible sign (ESC becomes ␛); positions stay valid."""
    return _CONTROLS.sub(_picture, text)


def one_line(text: str) -> str:
    """Show a name in one line: line breaks become ␊, U+202E becomes <U+202E>.

    For names of files, documents, headings, corpora, models and tokens: a line break in a name must
    not start a line that looks like one of localrag.
    """
    return _UNSEEN.sub(_sign, text)


def json_text(value: Any, *, indent: int | None = None, allow_nan: bool = True) -> str:
    """JSON of a value, safe for a terminal. An `indent` of None is one line."""
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

# Characters that begin no row, and characters that end none (a simple form of 禁則).
_NO_START = frozenset(
    "、。，．,.」』）)］]〕｝}〉》】！？!?：；:;ー々ゝゞヽヾぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ・"
)
_NO_END = frozenset("「『（(［[〔｛{〈《【")
# Characters of two cells, and of one: uniform lines need no measuring.
_WIDE = re.compile("[　-〩ぁ-ゖ゛-ヿ㐀-䶿一-鿿豈-﫿！-｠]*")
_NARROW = re.compile("[ -~]*")

Indents = Callable[[str, int, int], tuple[int, int]]
"""Indentation of a line (text, start, end) in cells: first row, other rows."""


class Row(NamedTuple):
    """A row of a layout: its span in the text, and its indentation in cells."""

    start: int
    end: int
    indent: int


class Layout(Sequence[Row]):
    """The rows of a text at a width in cells.

    Every character is in one row, except line feeds and blanks at breaks. No row is wider than the
    width.
    """

    def __init__(self, text: str, width: int, indents: Indents | None = None) -> None:
        """Wrap a text. `text`: harmless; lines end with a line feed. `indents`: by default 0."""
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
        """The row of a character, or the row before a broken blank."""
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
    """The width of a text in cells."""
    if _WIDE.fullmatch(text):
        return 2 * len(text)
    if _NARROW.fullmatch(text):
        return len(text)
    # Errors and help in plain ASCII need no measuring.
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
    """A text of at most so many characters; a cut is marked."""
    return text if len(text) <= most else f"{text[:most]}…"


def _measure(
    text: str, start: int, end: int
) -> tuple[Callable[[int, int], int], Sequence[int] | None]:
    """End of a row by its start and width, and the allowed ends (None for all)."""
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
    """End of a row: at its limit, or at the last allowed break before it."""
    at = limit
    while at > start and _holds_together(text[at - 1], text[at]):
        at -= 1
    if edges is not None:
        at = edges[bisect_right(edges, at) - 1]
    return at if at > start else limit


def _holds_together(before: str, after: str) -> bool:
    return after in _NO_START or before in _NO_END or (_in_word(before) and _in_word(after))


def _in_word(character: str) -> bool:
    # From the CJK blocks on, a line may break between any letters.
    return character < "⺀" and (character.isalnum() or character in "'’-_+")
