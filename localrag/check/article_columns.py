"""Reads tables with a law in one column and an article number in the next: 民法, 724.

The headers of the columns identify them. Such a pair is one citation, written out in the second
cell.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from localrag.statutes.names import LawNames

_LAW_HEAD = "(?:根拠)?(?:法令|法律|法)(?:の?名称?)?"
_ARTICLE_HEAD = "(?:根拠)?(?:該当)?(?:条文?|条項|条数|条名)(?:の?番号)?"
_IS_LAW_HEAD, _IS_ARTICLE_HEAD = re.compile(_LAW_HEAD), re.compile(_ARTICLE_HEAD)
_HEAD = re.compile(r"(?P<head>[^：:\t|]{1,12})[：:] ?(?P<value>.+)")
# 724, 724条, 724-2, 766の2
_NUMBER = re.compile(
    r"第?(?P<article>[0-9０-９〇一二三四五六七八九十百千]{1,6})(?:\.0)?条?"
    r"(?P<branch>(?:[のー－-][0-9０-９一二三四五六七八九十]{1,3})*)"
)
_BRANCH = re.compile("[のー－-]")
_CELL = re.compile(r"[^\t|\n]+")


class _Value(NamedTuple):
    """A cell without blanks: its span, its words, and its header."""

    start: int
    end: int
    words: str
    head: str


def articles_in_columns(text: str, names: LawNames) -> list[tuple[int, int, str]]:
    """Return the cells with article numbers, and the citation of each."""
    found: list[tuple[int, int, str]] = []
    columns: tuple[int, int] | None = None
    start = 0
    for line in text.split("\n"):
        cells = list(_values(line, start)) if "\t" in line or "|" in line else []
        start += len(line) + 1
        if not cells:
            columns = None
            continue
        columns = _columns([cell.head or cell.words for cell in cells]) or columns
        if columns is None or max(columns) >= len(cells):
            continue
        law, article = (cells[at] for at in columns)
        number = _NUMBER.fullmatch(article.words)
        if number and names.lookup(law.words):
            branch = _BRANCH.sub("の", number["branch"])
            written = f"{law.words}第{number['article']}条{branch}"
            found.append((article.start, article.end, written))
    return found


def _values(line: str, offset: int) -> Iterator[_Value]:
    for cell in _CELL.finditer(line):
        words = cell[0].strip(" 　")
        if not words:
            continue
        start = offset + cell.start() + cell[0].index(words)
        head = _HEAD.fullmatch(words)
        if head:
            yield _Value(
                start + head.start("value"), start + len(words), head["value"], head["head"]
            )
        else:
            yield _Value(start, start + len(words), words, "")


def _columns(heads: list[str]) -> tuple[int, int] | None:
    for at, (first, second) in enumerate(pairwise(heads)):
        if _IS_LAW_HEAD.fullmatch(first) and _IS_ARTICLE_HEAD.fullmatch(second):
            return at, at + 1
    return None
