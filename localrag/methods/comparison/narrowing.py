"""The part of an object that a question asks for: the year of a date, the city of an address."""

import re
from collections.abc import Callable

from localrag.methods.comparison import values
from localrag.reading import dates, quantities
from localrag.reading.dates import Date
from localrag.reading.folding import LONGEST
from localrag.reading.units import UNITS
from localrag_indexes.analysis.normalize import normalize

# What follows the last word of a question or predicate that says what is asked for.
_TAIL = r"(?=[はでがにをとか？?。、・]|名|のこと|の名|だ|$)"
_DATE_PARTS: tuple[tuple[re.Pattern[str], Callable[[Date], str]], ...] = (
    (re.compile("年月日"), lambda date: str(date) if date.day else ""),
    (re.compile("何年何月(?!何)|年月(?!日)"), lambda date: _year(date) + _month(date)),
    (re.compile("何月何日|月日"), lambda date: f"{_month(date)}{date.day}日" if date.day else ""),
    (re.compile("何月"), lambda date: _month(date)),
    (re.compile(rf"何年(?![間後前生目度代])|年{_TAIL}"), lambda date: _year(date)),
)
_ADDRESS_PARTS = {
    "都道府県": "prefecture",
    "県": "prefecture",
    "都": "prefecture",
    "府": "prefecture",
    "郡": "county",
    "市": "city",
    "区": "ward",
    "町": "town",
    "村": "town",
}
_KINDS = "|".join(_ADDRESS_PARTS)
_ASKED_PLACES = re.compile(rf"何({_KINDS})")
_NAMED_PLACES = re.compile(rf"({_KINDS}){_TAIL}")
# By what is asked for, the pattern of it.
_WORDS = (
    (r"何大学何?学部|大学・学部", r"[^\s、・(（]*?大学[^\s、・(（]*?学部"),
    (rf"何大学|大学{_TAIL}", r"[^\s、・(（]*?大学(?!院)"),
    (r"何型|血液型", r"[A-ZＡ-Ｚ±]{1,3}型"),
    (rf"州{_TAIL}", r"[ァ-ヺー＝=]+州"),
)


def narrowed(text: str, asked: str) -> str:
    """Cut an object down to what is asked for.

    Args:
        text: the object as written.
        asked: the end of the question or a predicate, in words: 「何年ですか」, 「何県何市」,
            「年月日」, 「所在地の区」, 「何大学」, 「何型」, 「約何日」.

    Returns:
        The part; the text as it is where nothing narrower is asked, or it has no such part. Dates
        come out in western years, without the year of the era that stands in brackets.
    """
    if len(text) > LONGEST:
        return text
    return (
        _of_date(text, asked)
        or _of_address(text, asked)
        or _of_words(text, asked)
        or _of_amount(text, asked)
        or text
    )


def _of_date(text: str, asked: str) -> str:
    date = dates.read(text, asked)
    if not isinstance(date, Date):
        return ""
    for words, wanted in _DATE_PARTS:
        if words.search(asked):
            return wanted(date)
    return ""


def _year(date: Date) -> str:
    if date.year is None:
        return ""
    return f"{date.year}年" if date.year > 0 else f"紀元前{1 - date.year}年"


def _month(date: Date) -> str:
    return f"{date.month}月" if date.month else ""


def _of_address(text: str, asked: str) -> str:
    kinds = _ASKED_PLACES.findall(asked) or _NAMED_PLACES.findall(asked)
    wanted = dict.fromkeys(_ADDRESS_PARTS[kind] for kind in kinds)
    found = [values.part_of(text, kind) for kind in wanted]
    return "".join(part for part in found if part) if all(found) else ""


def _of_words(text: str, asked: str) -> str:
    for words, wanted in _WORDS:
        if re.search(words, asked) and (found := re.search(wanted, text)):
            return found[0]
    return ""


def _of_amount(text: str, asked: str) -> str:
    wanted = normalize(asked)
    whole = quantities.read(text)
    found = (whole,) if whole else quantities.find(text)
    fitting = [each for each in found if each.unit and f"何{each.unit}" in wanted]
    if len(fitting) != 1:
        return ""
    # 87日23.3時間 is about 88 days.
    unit, size = UNITS.get(fitting[0].unit), fitting[0].span.low
    if "約何" in wanted and unit and size is not None and fitting[0].span.is_point:
        return f"約{round(size / unit.size):,}{fitting[0].unit}"
    return fitting[0].text
