"""One form for what is written in many, before values are read."""

import re

from localrag.reading.comparison.units import COUNT, UNITS
from localrag_indexes.analysis.normalize import normalize
from localrag_indexes.analysis.numerals import NUMERAL_CHARACTERS, parse_numeral

LONGEST = 1_000
"""Longer texts, in characters, are read as no date, quantity or place."""

_OPENING, _CLOSING = "(〈<\\[〔《【", ")〉>\\]〕》】"
NOTE = rf"[{_OPENING}][^{_OPENING}{_CLOSING}]{{0,80}}[{_CLOSING}]?"
"""A note in brackets, quotation marks not among them; the closing one may be missing."""

RANGE = r" ?(?:から|より|[-‐‑–—―−~〜ー]) ?"
"""What joins the ends of a range."""

_COUNTED = re.compile(rf"[{NUMERAL_CHARACTERS}]{{1,16}}(?=年|か月|ヶ月|箇月|月|日|世紀)")
_DIGITS = "〇一二三四五六七八九"
# 二・三人 and 二・三日 are two or three.
_MEASURED = "|".join(
    re.escape(name) for name, unit in UNITS.items() if unit.dimension not in (COUNT, "時間")
)
_DECIMAL = re.compile(
    rf"([{NUMERAL_CHARACTERS}]{{1,16}})[・.]([{_DIGITS}]{{1,12}})"
    rf"(?= ?[十百千万億兆]?(?:{_MEASURED}))"
)


def fold(text: str) -> str:
    """Normalised, and kanji numerals of dates in digits: 昭和四十年 is ``昭和40年``.

    Decimals of what is measured are in digits too: 七・二メートル is ``7.2メートル``.
    """
    return _DECIMAL.sub(_decimal, _COUNTED.sub(_in_digits, normalize(text))).strip()


def _decimal(match: re.Match[str]) -> str:
    decimals = "".join(str(_DIGITS.index(digit)) for digit in match[2])
    try:
        return f"{parse_numeral(match[1])}.{decimals}"
    except ValueError:
        return match[0]


def _in_digits(match: re.Match[str]) -> str:
    try:
        return str(parse_numeral(match[0]))
    except ValueError:
        return match[0]
