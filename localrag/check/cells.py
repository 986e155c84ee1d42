"""Finds the cells of tables; a row is one line.

Readers put a tab between cells, Markdown puts | around them. A cell naming only a provision and the
words in the next cell belong together.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from localrag.answer.checking.particulars import particulars_of
from localrag.check.laws import CitedRange, cited_within
from localrag.text.folding import fold
from localrag_indexes.analysis.analyzer import split_sentences
from localrag_indexes.analysis.normalize import with_blanks

_ROW = re.compile(r"^(?=[ 　]*\||[^\n]*\t)[^\n]*$", re.MULTILINE)
_PIPE_FIRST = re.compile("[ 　]*\\|")
_TAB, _ANY_BORDER = re.compile("\t"), re.compile("[\t|]")
# A column header, as rows of Excel and CSV have it before each value.
_LABEL = re.compile("[^\t\n。、：:「」『』|]{1,60}[：:] ?")
# After a citation: a caption or a subject; a topic (は) makes it a statement.
_GLOSS = re.compile(r"(?<= )[（(][^（）()。は0-9０-９\n]{1,60}(?:[一-鿿々ァ-ヶー等]|こと)[)）]")
# Words around citations without a statement: 第1　, 根拠：, を参照, 及び.
_NAMING = re.compile(
    r"^ *第[0-9０-９一二三四五六七八九十]+(?=[ 　])|^[^。、：:]{1,12}[：:]"
    r"|(?:につ(?:いて|き))?を?(?:参照|見よ)(?:のこと|されたい)?|関係|以下|など"
    r"|及び|並びに|又は|若しくは|[等とや]|[\W_]"
)


# 民法709条は、 in one cell; the next cell continues.
_LEADS_ON = re.compile("(?:によれば|によると|では|には|は)[、,]?$")


class Cell(NamedTuple):
    """A cell as a span of the text, without blanks and without its column header."""

    start: int
    end: int
    label: int
    """Where it begins with its head; the same as `start` where it has none."""


class TableCells:
    """The cells of all tables in a flowing text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.rows: list[list[Cell]] = []
        plain: list[str] = []
        done = 0
        for row in _ROW.finditer(text):
            border = _ANY_BORDER if _PIPE_FIRST.match(row[0]) else _TAB
            cells = list(_cells(text, row.start(), row.end(), border))
            if cells:
                self.rows.append(cells)
            # A line break alone would end a sentence anywhere.
            plain += text[done : row.start()], border.sub("\r", row[0])
            done = row.end()
        self._bordered = "".join([*plain, text[done:]])
        self._all = [(cell, row, at) for row in self.rows for at, cell in enumerate(row)]
        self._starts = [cell.label for cell, _, _ in self._all]
        self._naming_rows: dict[int, bool] = {}

    def sentences(self) -> list[tuple[int, int]]:
        """Return the spans of sentences; each ends with its cell."""
        return split_sentences(self._bordered)

    def around(self, position: int) -> Cell | None:
        """Return the cell at a position; None outside of tables."""
        found = self._found(position)
        return found[0] if found else None

    def are_apart(self, one: int, other: int) -> bool:
        """Whether two positions are in different cells of one row."""
        first, second = self._found(one), self._found(other)
        if first is None or second is None:
            return False
        return first[1] is second[1] and first[0] != second[0]

    def begin(self, position: int, cited: Sequence[CitedRange]) -> int:
        """Return the beginning of a row with a cell of citations only, else the position."""
        found = self._found(position)
        if found is None:
            return position
        _, row, _ = found
        begins = row[0].label
        if begins not in self._naming_rows:
            self._naming_rows[begins] = any(self.naming(cell, cited) for cell in row)
        return begins if self._naming_rows[begins] else position

    def beside(self, cell: Cell) -> Sequence[Cell]:
        """Return the cells before and after a cell of a row."""
        found = self._found(cell.start)
        if found is None:
            return ()
        _, row, at = found
        return row[max(0, at - 1) : at] + row[at + 1 : at + 2]

    def _found(self, position: int) -> tuple[Cell, list[Cell], int] | None:
        at = bisect_right(self._starts, position) - 1
        if at < 0 or position >= self._all[at][0].end:
            return None
        return self._all[at]

    def naming(self, cell: Cell, cited: Sequence[CitedRange]) -> Sequence[CitedRange]:
        """Return the citations of a cell that only names provisions; [] for other cells."""
        there = cited_within(cited, cell.start, cell.end)
        if not there:
            return ()
        spans = [(one.start - cell.start, min(one.end, cell.end) - cell.start) for one in there]
        besides = with_blanks(self._text[cell.start : cell.end], spans)
        return () if said_besides(_LEADS_ON.sub("", besides)) else there


def _cells(text: str, start: int, end: int, border: re.Pattern[str]) -> Iterator[Cell]:
    ends = [*(match.start() for match in border.finditer(text, start, end)), end]
    for finish in ends:
        words = text[start:finish]
        first = start + len(words) - len(words.lstrip())
        last = start + len(words.rstrip())
        if first < last:
            label = _LABEL.match(text, first, last)
            yield Cell(label.end() if label and label.end() < last else first, last, first)
        start = finish + 1


def said_besides(text: str) -> str:
    """Return the words beyond names of provisions and their subjects, such as a figure."""
    plain = _GLOSS.sub(lambda gloss: gloss[0] if _measures(gloss[0]) else "", text)
    return _NAMING.sub("", plain)


@lru_cache(maxsize=512)
def _measures(text: str) -> bool:
    """Whether a text measures something: 五年, but not 二 in 二重売買."""
    return any(figure.dimension for figure in particulars_of(fold(text)).figures)
