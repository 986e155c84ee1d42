"""Closes spread letters: 労 働 基 準 法 第 2 0 条 becomes 労働基準法第20条.

Such rows are typed so or copied from justified pages (均等割付). Separate words stay separate: 民法
709条 20条, figures, Latin letters, and words beside a row unless a law's name continues.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len

from localrag.law.names import LawNames
from localrag.search.question.laws import is_known_title, laws_named

_KANJI = "一-鿿々"
_DIGIT = "0-9０-９"
_LETTER = f"[{_KANJI}〇ぁ-ゖァ-ヺー{_DIGIT}（）「」『』〔〕、。・]"
_BLANKS = "[ 　]{1,4}"
_ROW = re.compile(f"{_LETTER}(?:{_BLANKS}{_LETTER})+")
_STEP = re.compile(f"(?P<blanks>{_BLANKS})(?P<letter>{_LETTER})")
_IS_DIGIT = re.compile(f"[{_DIGIT}]")
_IS_KANJI = re.compile(f"[{_KANJI}]")
# This many single letters make a row; fewer need a name or a number.
_LEAST = 4
_COUNTERS = "条條項号年月日編章節款週時分秒円万億人歳"
_BEFORE_NUMBER = "第法令則例律条條項号の"
# 労 働 基 準 法第20条: the next word continues the row.
_BEGINS_ON = re.compile(f"[第{_COUNTERS}]|[^{_KANJI}]")
# 第 2 0 条 損 害 賠 償: a new word, unless it continues the citation (第 1 項, 及 び).
_CITED = re.compile(f"[{_DIGIT}〇一二三四五六七八九十百千][条條項号]")
_GOES_ON_AS_CITED = re.compile(
    f"[第項号但本前後柱各及又並若乃以参違所準類関等]|[^{_KANJI}{_DIGIT}]"
)
_AROUND = 60


class _Row(NamedTuple):
    letters: str  # the first may end a word, the last may begin one
    blanks: tuple[tuple[int, int], ...]
    before: str  # before, after: the adjacent characters; "" for a blank
    after: str

    @property
    def singles(self) -> int:
        return len(self.letters) - bool(self.before) - bool(self.after)


def spread_letters(text: str, names: LawNames) -> list[tuple[int, int, str]]:
    """Return the blanks between spread letters, and their replacements, in order."""
    return [edit for row in _rows(text) for edit in _closed(row, text, names)]


def _rows(text: str) -> Iterator[_Row]:
    for match in _ROW.finditer(text):
        start, end = match.span()
        steps = list(_STEP.finditer(text, start + 1, end))
        letters = text[start] + "".join(step["letter"] for step in steps)
        before, after = text[start - 1 : start], text[end : end + 1]
        yield _Row(
            letters,
            tuple(step.span("blanks") for step in steps),
            before.strip(),
            after.strip(),
        )


def _closed(row: _Row, text: str, names: LawNames) -> Iterator[tuple[int, int, str]]:
    """Yield the blanks to drop, and wide blanks between words as one blank."""
    counted = _counted(row)
    is_row = row.singles >= _LEAST and any(map(_IS_KANJI.match, row.letters))
    name = 0 if is_row else _name_within(row, names)
    if not (is_row or counted or name):
        return
    widths = [cell_len(text[start:end]) for start, end in row.blanks]
    counts = Counter(widths)
    usual = min(width for width, count in counts.items() if count == max(counts.values()))
    for at, (start, end) in enumerate(row.blanks):
        digits = {place for place in (at, at + 1) if _IS_DIGIT.match(row.letters[place])}
        if _ends_a_citation(row, at):
            closes = False
        elif digits:
            closes = digits <= counted
        elif is_row:
            closes = _joins(row, at, text, names)
        else:
            closes = at + 1 < name
        if closes and widths[at] <= usual:
            yield start, end, ""
        elif is_row and end - start > 1:
            yield start, end, " "


def _counted(row: _Row) -> set[int]:
    """Return the digits with a counter: 2 and 0 of 第 2 0 条."""
    found: set[int] = set()
    letters = row.letters
    for number in re.finditer(f"[{_DIGIT}]+", letters):
        start, end = number.span()
        behind = letters[end : end + 1] or row.after
        ahead = letters[start - 1 : start] if start else row.before
        # 第1 2条 may be two words: 第1 is a heading.
        is_cut = (not start and bool(row.before)) or (end == len(letters) and bool(row.after))
        if is_cut and end - start < 3:
            continue
        is_spread = row.singles >= _LEAST or ahead in _BEFORE_NUMBER
        if behind and behind in _COUNTERS and is_spread:
            found |= set(range(start, end))
    return found


def _name_within(row: _Row, names: LawNames) -> int:
    """Return the length of a law's name at the beginning of a short row: 民　法第709条."""
    if row.singles >= _LEAST or (row.before and _IS_KANJI.match(row.before)):
        return 0
    for size in range(len(row.letters), 1, -1):
        goes_on = row.letters[size : size + 1] or row.after
        name = row.letters[:size]
        is_whole = not goes_on or _BEGINS_ON.match(goes_on)
        if is_whole and (names.lookup(name) or is_known_title(name)):
            return size
    return 0


def _ends_a_citation(row: _Row, at: int) -> bool:
    """Whether a blank ends a citation and a word or number follows."""
    is_cited = _CITED.fullmatch(row.letters[max(0, at - 1) : at + 1])
    return bool(is_cited) and not _GOES_ON_AS_CITED.match(row.letters[at + 1])


def _joins(row: _Row, at: int, text: str, names: LawNames) -> bool:
    """Whether the letters around a blank belong to one word."""
    last = len(row.blanks) - 1
    if at == 0 and row.before and _IS_KANJI.match(row.before) and _IS_KANJI.match(row.letters):
        return _is_one_name(row, at, text, names)
    is_end = at == last and row.after and _IS_KANJI.match(row.letters[-1])
    if is_end and row.letters[-1] not in _COUNTERS and not _BEGINS_ON.match(row.after):
        return _is_one_name(row, at, text, names)
    return True


def _is_one_name(row: _Row, at: int, text: str, names: LawNames) -> bool:
    """Whether a law's name continues across a blank at an end: 労 働 基準法."""
    start, end = row.blanks[at]
    first, last = row.blanks[0][0], row.blanks[-1][1]
    floor = max(0, first - _AROUND) if at == 0 else max(first - 1, end - 4 * _AROUND)
    before = text[floor:start].replace(" ", "").replace("　", "")
    behind = text[end : (start + 4 * _AROUND if at == 0 else last + _AROUND)]
    behind = behind.partition("\n")[0].replace(" ", "").replace("　", "")
    joined = before.rpartition("\n")[2] + behind
    cut = len(joined) - len(behind)
    return any(
        name.start < cut < name.end and (name.law_ids or is_known_title(name.words))
        for name in laws_named(joined, names)
    )
