"""Numbers, dates, places in statutes and Latin words: what has many spellings and one meaning."""

import re
from collections.abc import Callable
from functools import lru_cache

from localrag_indexes.analysis.numerals import NUMERAL_CHARACTERS, in_digits

_YEAR_BEFORE = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_KANJI = NUMERAL_CHARACTERS
_NUMERAL = rf"(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9])[{_KANJI}]*|[0-9{_KANJI}]+)"
# Copied text has stray blanks inside places: 第６条 の２.
_BRANCHES = rf"(?: ?の ?{_NUMERAL})*"
_LATIN = "a-z\u00df-\u024f"
# One kanji numeral alone is mostly part of a word (一般, 千葉): these make it a count.
_COUNTER = "(?:か月|箇月|ヶ月|か年|箇年|週間|時間|[日年月人円歳回名件点割倍])"
_ORDINAL = "[章節款目編部回種類級巻話期代位次世版]"

ENTITY = re.compile(
    rf"(?=[0-9{_LATIN}第別明大昭平令{_KANJI}])(?:"
    rf"(?P<era>(?:{'|'.join(_YEAR_BEFORE)})(?:元|{_NUMERAL})年)"
    rf"|(?P<place>(?:第 ?)?{_NUMERAL} ?[条項号]{_BRANCHES})"
    rf"|(?P<ordinal>第{_NUMERAL}{_ORDINAL}{_BRANCHES})"
    rf"|(?P<table>別表 ?(?:第 ?)?{_NUMERAL}{_BRANCHES})"
    rf"|(?P<year>(?:[0-9]{{3,4}}|[{_KANJI}]{{3,}})年)"
    rf"|(?P<number>[0-9]+\.[0-9]+|(?=[0-9]){_NUMERAL}|[{_KANJI}]{{2,}}|[{_KANJI}](?={_COUNTER}))"
    rf"|(?P<word>[{_LATIN}]+(?:['’][a-z]+)?)"
    ")"
)
"""Finds the entities of normalised text; `term_of` gives the term of each."""


def term_of(match: re.Match[str], stem: Callable[[str], str]) -> str:
    """Name an entity by its canonical term: 第二十七条の三十六 is ``第27条の36``."""
    if match.lastgroup == "word":
        return stem(match[0].replace("’", "'"))
    return _canonical(match.lastgroup or "", match[0])


@lru_cache(maxsize=65536)
def _canonical(kind: str, text: str) -> str:
    if kind == "era":
        era, count = text[:2], text[2:-1]
        year = in_digits("1" if count == "元" else count)
        return f"{_YEAR_BEFORE[era] + int(year)}年" if year.isdigit() else text
    written = re.sub(_NUMERAL, lambda numeral: in_digits(numeral[0]), text.replace(" ", ""))
    if kind == "place" and not written.startswith("第"):
        return f"第{written}"
    if kind == "table" and not written.startswith("別表第"):
        return f"別表第{written.removeprefix('別表')}"
    return written
