"""Brackets and tables in the text of a statute.

Brackets hold asides: who reads on after them takes up what stands before them. Whose provisions
the rows of a table cite cannot be told from the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

from localrag.corpus.types import ARTICLES, Document

_BRACKET = re.compile("[（）()]")
_MARK = re.compile(r"[（）()「」\n]")
# 第三条第一項（第五条において準用する場合を含む。）
_ALTERNATIVE = re.compile(r"(?:を含む|を除く|に限る|除く|限る)。?$")
# Laws nest five deep; a hostile text may nest without end.
_DEEPEST = 32
BLOT = "\0"

T = TypeVar("T")


class NestedSpot(NamedTuple):
    """Where something stands.

    Attributes:
        line: where its line begins.
        open: where the brackets and quotation marks open that stand around it, outermost first.
    """

    line: int
    open: tuple[int, ...]


class Nesting:
    """The brackets that are open at any position of a text; a line ends them all."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._marks: list[int] = []
        self._spots = [NestedSpot(0, ())]
        self._alternatives: set[int] = set()
        line = 0
        brackets = _Brackets(text)
        for mark in _MARK.finditer(text):
            start = mark.start()
            opening = brackets.read(start)
            if opening and _ALTERNATIVE.search(text, max(opening, start - 4), start):
                self._alternatives.add(opening)
            if mark[0] == "\n":
                line = mark.end()
            self._marks.append(start)
            self._spots.append(NestedSpot(line, tuple(brackets.open)))

    def at(self, position: int) -> NestedSpot:
        """Where a position stands; a bracket right before it is open."""
        return self._spots[bisect_left(self._marks, position)]

    def is_quoted(self, position: int) -> bool:
        """Whether quotation marks stand around a position."""
        return any(self._text[opening] == "「" for opening in self.at(position).open)

    def is_alternative(self, spot: NestedSpot) -> bool:
        """Whether its bracket says what else counts or does not: を含む, を除く, に限る."""
        return bool(spot.open) and spot.open[-1] in self._alternatives


class Recent(Generic[T]):
    """What a text named last, as one reads on.

    What stands in brackets is in sight as long as they are open, and from other brackets beside
    them where it explains a word: A（第三条のAをいう。）及びB（同条のBをいう。）. What is out of
    sight counts only where its line names nothing else.
    """

    def __init__(self, nesting: Nesting) -> None:
        self._nesting = nesting
        self._named: dict[tuple[tuple[int, ...], int, bool], tuple[NestedSpot, T]] = {}
        self._latest: tuple[NestedSpot, T] | None = None

    def enter(self, value: T, at: NestedSpot, *, in_passing: bool = False) -> None:
        """Take `value` as the one named last.

        Args:
            value: what is named.
            at: where.
            in_passing: it is out of sight at once.
        """
        self._latest = at, value
        if in_passing:
            return
        self._named = {key: named for key, named in self._named.items() if _around(key[0], at.open)}
        key = at.open[:-1], len(at.open), self._nesting.is_alternative(at)
        self._named.pop(key, None)
        self._named[key] = at, value

    def on_line(self, at: NestedSpot) -> T | None:
        """What the line named last in sight of a place."""
        return self._in_sight(at, at.line)

    def last(self, at: NestedSpot) -> T | None:
        """What was named last, in sight if its line names anything that is."""
        if (value := self._in_sight(at, at.line)) is not None:
            return value
        if self._latest and self._latest[0].line == at.line:
            return self._latest[1]
        if (value := self._in_sight(at)) is not None:
            return value
        return self._latest[1] if self._latest else None

    def _in_sight(self, at: NestedSpot, line: int = -1) -> T | None:
        for spot, value in reversed(self._named.values()):
            if line in (-1, spot.line) and self._sees(at, spot):
                return value
        return None

    def _sees(self, at: NestedSpot, spot: NestedSpot) -> bool:
        if _around(spot.open, at.open):
            return True
        beside = len(at.open) >= len(spot.open) and _around(spot.open[:-1], at.open)
        return beside and at.line == spot.line and not self._nesting.is_alternative(spot)


def without_asides(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]`` with the brackets blotted out that have closed before `end`.

    Every character keeps its place.
    """
    part = text[start:end]
    brackets = _Brackets(part)
    for mark in _MARK.finditer(part):
        opening = brackets.read(mark.start())
        if opening is not None:
            closing = mark.end()
            part = part[:opening] + BLOT * (closing - opening) + part[closing:]
    return part


def bracket_before(text: str, end: int, floor: int) -> int | None:
    """Where the bracket that closes right before `end` opens, at `floor` or behind it."""
    depth = 0
    for bracket in reversed([*_BRACKET.finditer(text, max(floor, 0), end)]):
        depth += 1 if bracket[0] in "）)" else -1
        if depth == 0:
            return bracket.start()
    return None


class _Brackets:
    """Reads the marks of a text one by one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.open: list[int] = []
        """Where the open ones stand."""

    def read(self, position: int) -> int | None:
        """Read a mark; where it closes a bracket, return where that opened.

        That is 0 for one that opened before the text begins.
        """
        mark = self._text[position]
        if mark == "\n":
            self.open.clear()
        elif mark in "（(「":
            if len(self.open) < _DEEPEST:
                self.open.append(position)
        elif not self.open:
            return 0
        elif mark == "」":
            return self._end_quote()
        elif self._text[self.open[-1]] != "「":
            return self.open.pop()
        return None

    def _end_quote(self) -> int | None:
        """Close a quotation; the words quoted may open brackets that they do not close."""
        for depth in range(len(self.open) - 1, -1, -1):
            opening = self.open[depth]
            if self._text[opening] == "「":
                del self.open[depth:]
                return opening
        return None


def _around(outer: tuple[int, ...], inner: tuple[int, ...]) -> bool:
    return inner[: len(outer)] == outer


_REPLACING = re.compile("読み?替え|掲げる字句")
_CELL_END = re.compile("[\t｜]")
_LONGEST_TABLE = 20_000
_LONGEST_HEADING = 2_000


class Cells(NamedTuple):
    """Spans of a row: a provision, words that it has, and the words that are read instead."""

    provision: tuple[int, int]
    replaced: tuple[int, int]
    replacing: tuple[int, int]


def _rows(text: str) -> Iterator[tuple[int, int]]:
    """The lines that hold cells."""
    end = 0
    while (mark := _CELL_END.search(text, end)) is not None:
        start = text.rfind("\n", 0, mark.start()) + 1
        end = text.find("\n", mark.end())
        end = len(text) if end < 0 else end
        yield start, end


def _cells(text: str, start: int, end: int) -> list[tuple[int, int]]:
    breaks = [start - 1, *(mark.start() for mark in _CELL_END.finditer(text, start, end)), end]
    return [(before + 1, after) for before, after in pairwise(breaks)]


class Tables:
    """The rows of a statute's tables."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._rows = list(_rows(document.text))
        self._row_starts = [start for start, _ in self._rows]
        self._tops = [0] * len(self._rows)
        for index in range(1, len(self._rows)):
            follows = self._rows[index - 1][1] + 1 == self._rows[index][0]
            self._tops[index] = self._tops[index - 1] if follows else index
        self._cells = {
            start: Cells(*cells)
            for start, end in self._rows
            if len(cells := _cells(document.text, start, end)) == len(Cells._fields)
        }
        articles = [passage for passage in document.passages if passage.layer == ARTICLES]
        self._articles = [(passage.start, passage.locator.division) for passage in articles]
        self._article_starts = [start for start, _ in self._articles]
        self._replacing = [match.span() for match in _REPLACING.finditer(document.text)]
        self._replacing_ends = [end for _, end in self._replacing]

    def cite_other_laws(self, position: int) -> bool:
        """Whether it stands in a row of an appendix, or of a table of words to be replaced."""
        row = self._row(position)
        return row is not None and (self._is_in_appendix(row) or self._replaces(row))

    def replace_words(self, position: int) -> bool:
        """Whether it stands in a row of a table of words to be replaced (読替え)."""
        row = self._row(position)
        return row is not None and not self._is_in_appendix(row) and self._replaces(row)

    def readings(self) -> Iterator[Cells]:
        """Yield the rows of tables that give a provision, its words and those read instead."""
        for row, cells in self._cells.items():
            if self.replace_words(row):
                yield cells

    def heading_of(self, position: int) -> tuple[int, int] | None:
        """Return the span that tells whose provision is named there, in a table of readings.

        It reaches from the beginning of the article to the first row of the table, which may be a
        heading: 読み替える会社法の規定. None where no such row names a provision.
        """
        row = self._row(position)
        cells = None if row is None else self._cells.get(row)
        if row is None or cells is None or position >= cells.provision[1]:
            return None
        if not self.replace_words(row):
            return None
        top = self._tops[bisect_right(self._row_starts, row) - 1]
        article = bisect_right(self._article_starts, row) - 1
        floor = self._article_starts[article] if article >= 0 else 0
        return max(floor, self._rows[top][0] - _LONGEST_HEADING), self._rows[top][1]

    def cell_start(self, position: int) -> int:
        """Where the cell begins that it stands in."""
        return max(self._text.rfind(mark, 0, position) for mark in "\t｜\n") + 1

    def _row(self, position: int) -> int | None:
        at = bisect_right(self._row_starts, position) - 1
        return self._row_starts[at] if at >= 0 and position < self._rows[at][1] else None

    def _is_in_appendix(self, row: int) -> bool:
        at = bisect_right(self._article_starts, row) - 1
        return at >= 0 and self._articles[at][1].startswith("appendix")

    def _replaces(self, row: int) -> bool:
        at = bisect_right(self._article_starts, row) - 1
        head = self._article_starts[at] if at >= 0 else 0
        last = bisect_right(self._replacing_ends, row) - 1
        return last >= 0 and self._replacing[last][0] >= max(head, row - _LONGEST_TABLE)
