"""Numerals in every spelling that statutes and questions use, read into integers."""

import re
from functools import lru_cache

from localrag_indexes.analysis.characters import CIRCLED, plain

FORMAL_NUMERALS = "壱壹弌弐貳貮弍参參弎肆伍陸漆柒捌玖拾佰陌仟阡萬廿卅"
"""The kanji that formal documents and old laws write in the place of simple ones."""

_SPELLINGS = (
    str.maketrans(
        "〇零一二三四五六七八九壱壹弌弐貳貮弍参參弎肆伍陸漆柒捌玖拾佰陌仟阡萬０１２３４５６７８９",
        "0012345678911122223334567789十百百千千万0123456789",
    )
    | {ord("廿"): "2十", ord("卅"): "3十"}
    | {ord(sign): str(number) for number, sign in enumerate(CIRCLED, 1)}
)
_SMALL_UNITS = {"千": 1000, "百": 100, "十": 10}
_LARGE_UNITS = {"兆": 10**12, "億": 10**8, "万": 10**4}
_DIGITS = "〇一二三四五六七八九"

NUMERAL_CHARACTERS = "〇零一二三四五六七八九壱弐参拾十百千万億兆"
"""The kanji that numerals are written with."""

YEAR_BEFORE = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
"""The eras of today's Japan in their order, each with the year before its first."""

_BELOW_TEN_THOUSAND = (
    r"(?:[0-9]{1,16}|(?=[1-9千百十])(?:[1-9]?千)?(?:[1-9]?百)?(?:[1-9]?十)?[1-9]?)"
)
_NUMERAL = re.compile(
    "".join(f"(?:({_BELOW_TEN_THOUSAND}){unit})?" for unit in _LARGE_UNITS)
    + f"({_BELOW_TEN_THOUSAND})?"
)
_RANKS = {unit: rank for rank, unit in enumerate("十百千万", 1)} | {"億": 4, "兆": 4}
_ZEROS = re.compile("(?<=([十百千万億兆]))0+(?=[1-9]([千百十]?))")
"""Zeros for the units that a number has none of: 百〇九, 千〇五十一."""
_GROUPED = re.compile(r"[0-9]{1,3}(?:[,，][0-9]{3})+")


@lru_cache(maxsize=4096)
def parse_numeral(text: str) -> int:
    """Read a whole number below 10^16.

    Takes multiplicative kanji (三十六, 二千万), positional kanji (一九九一), both with zeros
    for skipped units (百〇九), formal kanji (`FORMAL_NUMERALS`), digits in any form (⑱), digits
    grouped by commas, and mixtures (3億2千万, 7〇九).

    Raises:
        ValueError: the text is not one such numeral from end to end.
    """
    digits = _GROUPED.sub(_without_commas, plain(text).translate(_SPELLINGS))
    digits = _ZEROS.sub(_without_skipped, digits)
    match = _NUMERAL.fullmatch(digits)
    if not digits or match is None:
        raise ValueError(f"not a numeral: {text[:40]!r}")
    *large, rest = match.groups()
    total = _below_ten_thousand(rest) if rest else 0
    for digits, size in zip(large, _LARGE_UNITS.values(), strict=True):
        total += size * _below_ten_thousand(digits) if digits else 0
    return total


def parse_year(text: str) -> int:
    """Parse the year of an era, whose first one is called 元年.

    Raises:
        ValueError: the text is no numeral.
    """
    return 1 if text == "元" else parse_numeral(text)


def common_year(era: str, year: int) -> int:
    """The year of the common era that a year of one in `YEAR_BEFORE` is: 昭和50年 is 1975."""
    return YEAR_BEFORE[era] + year


def in_digits(text: str) -> str:
    """A numeral in digits; what is no whole one (万 alone, say) as it is written."""
    try:
        return str(parse_numeral(text))
    except ValueError:
        return text


def to_kanji(number: int) -> str:
    """Write a number the way statutes number their provisions: 36 is 三十六, 1000 is 千.

    Raises:
        ValueError: the number is negative or not below 10^16.
    """
    if not 0 <= number < 10**16:
        raise ValueError(f"no kanji numeral for {number}")
    if number == 0:
        return "〇"
    written = ""
    for unit, size in (*_LARGE_UNITS.items(), ("", 1)):
        count, number = divmod(number, size)
        if count:
            written += _kanji_below_ten_thousand(count) + unit
    return written


def _without_skipped(match: re.Match[str]) -> str:
    """Leave out zeros where at least one unit is skipped: in 千〇九百 none is, and they stay."""
    return "" if _RANKS[match[1]] - _RANKS.get(match[2], 0) > 1 else match[0]


def _without_commas(match: re.Match[str]) -> str:
    return match[0].replace(",", "").replace("，", "")


def _below_ten_thousand(text: str) -> int:
    if text.isdigit():
        return int(text)
    total = 0
    for unit, size in _SMALL_UNITS.items():
        before, found, after = text.partition(unit)
        if found:
            total += size * int(before or 1)
            text = after
    return total + int(text or 0)


def _kanji_below_ten_thousand(number: int) -> str:
    written = ""
    for unit, size in _SMALL_UNITS.items():
        count, number = divmod(number, size)
        if count:
            written += (_DIGITS[count] if count > 1 else "") + unit
    return written + (_DIGITS[number] if number else "")
