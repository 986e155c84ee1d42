"""Tables in the text of a statute: whose provisions their rows cite cannot be told from here."""

import re
from bisect import bisect_right

from localrag.corpus.model import ARTICLES, Document

_ROW = re.compile(r"^[^\t｜\n]*[\t｜].*$", re.MULTILINE)
_REPLACING = re.compile("読み?替え")
_LONGEST_TABLE = 20_000


class Tables:
    """The rows of a statute's tables."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._rows = [row.span() for row in _ROW.finditer(document.text)]
        self._row_starts = [start for start, _ in self._rows]
        articles = [passage for passage in document.passages if passage.layer == ARTICLES]
        self._articles = [(passage.start, passage.locator.division) for passage in articles]
        self._article_starts = [start for start, _ in self._articles]
        self._replacing: dict[int, bool] = {}

    def cite_other_laws(self, position: int) -> bool:
        """Whether it stands in a row of an appendix, or of a table of words to be replaced."""
        row = self._row(position)
        return row is not None and (self._is_in_appendix(row) or self._replaces(row))

    def replace_words(self, position: int) -> bool:
        """Whether it stands in a row of a table of words to be replaced (読替え)."""
        row = self._row(position)
        return row is not None and not self._is_in_appendix(row) and self._replaces(row)

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
        if row not in self._replacing:
            at = bisect_right(self._article_starts, row) - 1
            head = self._article_starts[at] if at >= 0 else 0
            found = _REPLACING.search(self._text, max(head, row - _LONGEST_TABLE), row)
            self._replacing[row] = found is not None
        return self._replacing[row]
