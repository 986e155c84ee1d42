"""Reads dates and spans of time: western years, eras, centuries, in any precision.

An `Interval` holds an imprecise value; quantities use it, too.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from localrag.text.folding import LONGEST, NOTE, RANGE, WORDS, fold_value
from localrag_indexes.analysis.normalize import normalize, parse_numeral, parse_year, plain


class Ordered(Protocol):
    """Any ordered type."""

    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=Ordered)


@dataclass(frozen=True, slots=True)
class Interval(Generic[T]):
    """All values from `low` to `high`."""

    low: T | None  # low, high: None for no bound
    high: T | None
    above: bool = False  # above, below: whether `low`, or `high`, itself is excluded
    below: bool = False

    def before(self, other: "Interval[T]") -> bool:
        """Whether every value is smaller than every value of `other`."""
        if self.high is None or other.low is None:
            return False
        return self.high < other.low or (self.high == other.low and (self.below or other.above))

    def overlaps(self, other: "Interval[T]") -> bool:
        """Whether both share a value."""
        return not self.before(other) and not other.before(self)

    def within(self, other: "Interval[T]") -> bool:
        """Whether every value is in `other`."""
        return other._starts_before(self) and self._ends_before(other)

    def lies_in(self, other: "Interval[T]") -> bool | None:
        """Whether the value meant is in `other`; None if only some values are."""
        if self.within(other):
            return True
        return None if self.overlaps(other) else False

    def hull(self, other: "Interval[T]") -> "Interval[T]":
        """The smallest interval around both."""
        lows = self if self._starts_before(other) else other
        highs = other if self._ends_before(other) else self
        return Interval(lows.low, highs.high, lows.above, highs.below)

    def overlap(self, other: "Interval[T]") -> "Interval[T]":
        """The intersection; they must overlap."""
        lows = other if self._starts_before(other) else self
        highs = self if self._ends_before(other) else other
        return Interval(lows.low, highs.high, lows.above, highs.below)

    @property
    def is_point(self) -> bool:
        """Whether it is one value."""
        return self.low is not None and self.low == self.high

    def _starts_before(self, other: "Interval[T]") -> bool:
        if self.low is None or other.low is None:
            return self.low is None
        return self.low < other.low or (self.low == other.low and self.above <= other.above)

    def _ends_before(self, other: "Interval[T]") -> bool:
        if self.high is None or other.high is None:
            return other.high is None
        return self.high < other.high or (self.high == other.high and self.below >= other.below)


Day = tuple[int, int, int]
"""Year (astronomical: 0 is 1 BC), month, day. For comparison only: the 31st is the end of any
month.
"""

SOLAR_FROM = 1873
"""The first year of the Gregorian calendar in Japan."""

# Proclaimed at the end of a lunar year extending into the next western one: their first year is the
# western year before the library's day.
_PROCLAIMED_LATE = re.compile(
    "天延|天元|長和|嘉保|永長|承徳|建保|元仁|安貞|暦仁|徳治|正中|正平|寛正|文禄|正保|天保|弘化|安政"
)


class Era(NamedTuple):
    """An era."""

    first_year: int  # the western year of its first year (元年)
    span: Interval[Day]  # its first and last day; the present one ends in 9999

    @property
    def is_modern(self) -> bool:
        """Whether its days, or the later ones, are those of the western calendar."""
        return self.span.high is not None and self.span.high >= (SOLAR_FROM, 1, 1)


@lru_cache(maxsize=1)
def eras() -> dict[str, Era]:
    """Every era since 645 by name; one of both courts (建武) from its earlier beginning."""
    from japanera import ERA_DATA_DAIKAKUJI, ERA_DATA_GENERAL, ERA_DATA_JIMYOUIN

    found: dict[str, Era] = {}
    for era in (*ERA_DATA_GENERAL, *ERA_DATA_DAIKAKUJI, *ERA_DATA_JIMYOUIN):
        if era.kanji != "不明" and era.kanji not in found:
            until = (era.until or date.max) - timedelta(days=1)
            first_year = era.since.year - bool(_PROCLAIMED_LATE.fullmatch(era.kanji))
            found[era.kanji] = Era(first_year, Interval(_day(era.since), _day(until)))
    return found


@lru_cache(maxsize=1)
def periods() -> dict[str, Interval[Day]]:
    """Historical periods by name: 江戸時代, 明治時代, 昭和期, 平成."""
    known = {name: _years(first, last) for name, (first, last) in WORDS["periods"].items()}
    for name, era in eras().items():
        if era.is_modern:
            known |= dict.fromkeys((name + "時代", name + "期", name + "年間", name), era.span)
    return known


def _day(of: date) -> Day:
    return of.year, of.month, of.day


_CENTURY_WIDE, _SOME_YEARS = 50, 5
_FISCAL_YEAR_FROM = 4
_NEW_MILLENNIUM = 2000
_MONTHS, _DAYS = 12, 31


def _within_year(year: int, month: int | None, day: int | None) -> Interval[Day] | None:
    """A year, a month or a day; None outside the calendar."""
    if month is None:
        return _years(year, year)
    if not (1 <= month <= _MONTHS and 1 <= (day or 1) <= _DAYS):
        return None
    return Interval((year, month, day or 1), (year, month, day or _DAYS))


def _years(first: int, last: int) -> Interval[Day]:
    return Interval((first, 1, 1), (last, _MONTHS, _DAYS))


def _century(number: int, *, before_christ: bool) -> Interval[Day]:
    last = -100 * (number - 1) if before_christ else 100 * number
    return _years(last - 99, last)


def _decade(year: int) -> Interval[Day]:
    """1990年代 is ten years, 1900年代 may be a century, 2000年代 is mostly ten years."""
    is_century = year % 100 == 0 and year < _NEW_MILLENNIUM
    return _years(year, year + (99 if is_century else 9))


def _ten_years(span: Interval[Day]) -> Interval[Day]:
    return _years(span.low[0], span.low[0] + 9) if span.low is not None else span


def _fiscal_year(year: int) -> Interval[Day]:
    return Interval((year, _FISCAL_YEAR_FROM, 1), (year + 1, _FISCAL_YEAR_FROM - 1, _DAYS))


def _from_lunar(span: Interval[Day]) -> Interval[Day]:
    return Interval(span.low, _months_on(span.high, 2))


def _months_on(day: Day | None, months: int) -> Day | None:
    if day is None:
        return None
    later, month = divmod(day[1] - 1 + months, _MONTHS)
    return day[0] + later, month + 1, day[2]


def _about(span: Interval[Day]) -> Interval[Day]:
    """Some years around; half a century around a century or a round year (1500年頃)."""
    is_round = span.low is not None and span.low[0] % 100 in (0, 1) and span.low[1] == 1
    months = _MONTHS * (_CENTURY_WIDE if is_round else _SOME_YEARS)
    return Interval(_months_on(span.low, -months), _months_on(span.high, months))


def _half(span: Interval[Day], *, first: bool) -> Interval[Day]:
    """The first or second half of whole years; shorter spans are unchanged."""
    low, high = span.low, span.high
    if low is None or high is None or low[1] != 1 or high[1] != _MONTHS:
        return span
    months = (high[0] - low[0] + 1) * _MONTHS // 2
    if first:
        return Interval(low, _months_on((low[0], low[1], _DAYS), months - 1))
    return Interval(_months_on(low, months), high)


def _bounded(span: Interval[Day], bound: str) -> Interval[Day]:
    """A date with 以降, 以前 and the like, or unchanged."""
    match bound:
        case "以降" | "以後":
            return Interval(span.low, None)
        case "以前" | "まで":
            return Interval(None, span.high)
        case "より前":
            return Interval(None, span.low, below=True)
        case "より後":
            return Interval(span.high, None, above=True)
    return span


_ABOUT = r"頃|ごろ|前後"
_BARE_YEARS = re.compile(rf"([0-9]{{1,4}})(?:({RANGE})([0-9]{{1,4}}))?")
_ASKS_FOR_DATE = re.compile(r"年(?![齢数収間商俸])|日(?![本数])|時期|期間|いつ")
_SHORT_YEAR = re.compile(r"[0-9]{1,2}年")
# 3年間, 2年前, 3年生 are no years; 3年生まれ, 1990年前半 are.
_NO_DURATION = r"(?!間|以上|以下|未満|超|前(?!半)|ぶり|後(?!半)|目|生(?!ま)|半|齢|数)"
_RANGE = re.compile(RANGE)
# Text beside a date without content.
_ORNAMENT = re.compile(rf"{NOTE}|現在|継続中|[\s、,。.:]")


@dataclass(frozen=True, slots=True)
class Date:
    """A day, month, year, decade or century, or a part of one."""

    span: Interval[Day]  # first and last day meant, or possible for an uncertain date
    text: str  # as written, normalised
    has_year: bool = True  # False without a known year; the year of `span` is 0 then
    # the span in a narrower reading (1900年代 as ten years), or None
    narrow: Interval[Day] | None = None

    @property
    def year(self) -> int | None:
        """Its year, if it is in one."""
        low, high = self.span.low, self.span.high
        within = self.has_year and low is not None and high is not None and low[0] == high[0]
        return low[0] if within and low is not None else None

    @property
    def month(self) -> int | None:
        """Its month, 1 to 12, if it is in one."""
        low, high = self.span.low, self.span.high
        return low[1] if low is not None and high is not None and low[:2] == high[:2] else None

    @property
    def day(self) -> int | None:
        """Its day of the month, if it is a day."""
        return self.span.low[2] if self.span.low is not None and self.span.is_point else None

    def __str__(self) -> str:
        """Western year, month and day as far as known; else as written."""
        if self.day is None and self.month is None and self.year is None:
            return self.text
        if self.year is not None and self.month is None and not self._is_whole_year:
            return self.text
        if self.year is None:
            year = ""
        else:
            year = f"{self.year}年" if self.year > 0 else f"紀元前{1 - self.year}年"
        month = f"{self.month}月" if self.month is not None else ""
        return year + month + (f"{self.day}日" if self.day is not None else "")

    @property
    def _is_whole_year(self) -> bool:
        low, high = self.span.low, self.span.high
        return low is not None and high is not None and (low[1:], high[1:]) == ((1, 1), (12, 31))


@dataclass(frozen=True, slots=True)
class Period:
    """A span between dates; `end` is None if open or unknown."""

    start: Date
    end: Date | None

    def __str__(self) -> str:
        return f"{self.start}–{self.end or ''}"

    @property
    def text(self) -> str:
        """Its beginning and end, in words."""
        return str(self)


class DateFound(NamedTuple):
    """A date or period, and its place in the folded text."""

    start: int
    end: int
    value: Date | Period


def read(text: str, predicate: str = "") -> Date | Period | None:
    """The date a text consists of, or None. ``1964`` is a year if `predicate` asks for a time."""
    if len(text) > LONGEST:
        return None
    plain = fold_value(text)
    asked = _ASKS_FOR_DATE.search(predicate) is not None
    if asked and (bare := _BARE_YEARS.fullmatch(plain)):
        plain = f"{bare[1]}年" + (f"{bare[2]}{bare[3]}年" if bare[3] else "")
    found = list(_scan(plain))
    if len(found) != 1:
        return None
    only = found[0]
    rest = plain[: only.start] + plain[only.end :]
    if _ORNAMENT.sub("", rest) or (not asked and _SHORT_YEAR.fullmatch(str(only.value))):
        return None
    return only.value


def read_day(text: str) -> date | None:
    """The day a text consists of: 2020-04-01, 令和2年4月1日, 令和二年四月一日; else None."""
    plain = normalize(text).strip()
    with suppress(ValueError):
        return date.fromisoformat(plain)
    found = read(plain)
    if isinstance(found, Date) and found.has_year and found.day and found.span.low:
        # The 31st is the end of any month.
        with suppress(ValueError):
            return date(*found.span.low)
    return None


def find(text: str) -> list[DateFound]:
    """Every date and period in a text, in order; none in a text longer than `LONGEST`."""
    return list(_scan(fold_value(text))) if len(text) <= LONGEST else []


def blanked(text: str) -> str:
    """The folded text with every date blanked."""
    plain = fold_value(text)
    for start, end, value in reversed(list(_scan(plain))):
        if not _SHORT_YEAR.fullmatch(str(value)):
            plain = f"{plain[:start]} {plain[end:]}"
    return plain


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    names = "|".join(sorted(eras(), key=len, reverse=True))
    return re.compile(
        rf"(?:約|およそ)?(?:(?P<bc>紀元前|bc)?(?<![0-9.])(?P<century>[0-9]{{1,2}})世紀"
        # The end of 123,456年 is no year.
        rf"|(?:(?P<bc_year>紀元前|bc)?(?<![0-9.])(?!(?<=[0-9],)[0-9]{{3}}年)(?P<year>[0-9]{{1,4}})"
        rf"|(?P<era>{names})(?P<of_era>元|[0-9]{{1,2}}))年{_NO_DURATION}"
        rf"(?:(?P<decade>代)|(?P<fiscal>度))?(?P<about>{_ABOUT})?(?P<note>{NOTE})?"
        rf"(?: ?閏?(?P<month>[0-9]{{1,2}})月(?:{NOTE})?(?:(?P<day>[0-9]{{1,2}})日)?)?"
        rf"|(?<![0-9.])(?P<lone_month>[0-9]{{1,2}})月(?:(?P<lone_day>[0-9]{{1,2}})日)?)"
        rf"(?P<half>前半|後半)?(?P<about_all>{_ABOUT})?(?P<tail>{NOTE})?"
        r"(?P<bound>以降|以後|以前|まで|より前|より後)?"
    )


def _scan(plain: str) -> Iterator[DateFound]:
    position = 0
    while match := _pattern().search(plain, position):
        position = match.end()
        start = _date(match)
        if start is None:
            continue
        value: Date | Period = start
        if joint := _RANGE.match(plain, position):
            following = _pattern().match(plain, joint.end())
            end = _date(following, inherited=start) if following else None
            if following and end:
                value, position = Period(start, end), following.end()
            elif not _ORNAMENT.sub("", plain[joint.end() :]):
                value, position = Period(start, None), joint.end()
        yield DateFound(match.start(), position, value)


def _date(match: re.Match[str], inherited: Date | None = None) -> Date | None:
    """The date of one match; `inherited` is the start of a range whose end has no year."""
    span: Interval[Day] | None
    has_year = True
    if match["century"]:
        span = _century(int(match["century"]), before_christ=bool(match["bc"]))
    elif match["lone_month"]:
        year = inherited.year if inherited else None
        has_year = year is not None
        span = _within_year(year or 0, int(match["lone_month"]), _number(match["lone_day"]))
    else:
        noted = _western_note(match) if match["era"] else None
        if noted is not None and noted.day is not None:
            return noted
        span = _in_year(match, noted.year if noted else None)
    if span is None:
        return None
    narrow = _ten_years(span) if match["decade"] else span
    narrow, span = (_qualified(match, each, has_year) for each in (narrow, span))
    return Date(span, match[0], has_year, narrow if narrow != span else None)


def _qualified(match: re.Match[str], span: Interval[Day], has_year: bool) -> Interval[Day]:
    """A span with the words beside it: half, uncertain or open."""
    if match["half"]:
        span = _half(span, first=match["half"] == "前半")
    vague = match["about"] or match["about_all"] or match[0].startswith(("約", "およそ"))
    if vague and has_year:
        span = _about(span)
    return _bounded(span, match["bound"] or "")


def _western_note(match: re.Match[str]) -> Date | None:
    """The western date in brackets behind a date of an era."""
    for note in (match["tail"], match["note"]):
        inner = _pattern().search(note) if note else None
        if inner and inner["year"] and (date := _date(inner)):
            return date
    return None


def _in_year(match: re.Match[str], noted: int | None) -> Interval[Day] | None:
    era = eras()[match["era"]] if match["era"] else None
    if era:
        of_era = 1 if match["of_era"] == "元" else int(match["of_era"])
        if not of_era:
            return None
        year = era.first_year - 1 + of_era
        year = noted if noted is not None else year
    else:
        year = 1 - int(match["year"]) if match["bc_year"] else int(match["year"])
    if match["decade"]:
        return _decade(year)
    if match["fiscal"]:
        return _fiscal_year(year)
    span = _within_year(year, _number(match["month"]), _number(match["day"]))
    if span is None:
        return None
    if era and match["month"] and year < SOLAR_FROM:
        span = _from_lunar(span)
    elif era and era.is_modern and span.overlaps(era.span):
        span = span.overlap(era.span)
    return span


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


LAW_NUMBER = re.compile(
    r"(明治|大正|昭和|平成|令和)[ 　]?(元|[〇一二三四五六七八九十百0-9０-９]{1,4})[ 　]?年[ 　]?"
    r"([一-鿿ァ-ヶー・]{1,40}?)[ 　]?第[ 　]?([〇一二三四五六七八九十百千0-9０-９]{1,7})[ 　]?号"
)
"""A law number: 平成十七年法律第八十六号."""


def may_be_same_number(one: str, other: str) -> bool:
    """Whether two law numbers agree in any spelling, as far as both are readable."""
    first, second = (LAW_NUMBER.fullmatch(plain(number)) for number in (one, other))
    return first is None or second is None or number_key(first) == number_key(second)


def number_key(match: re.Match[str]) -> str:
    """One spelling of a law number that `LAW_NUMBER` matched."""
    era, year, kind, number = match.groups()
    return f"{era}{parse_year(year)}{kind}{parse_numeral(number)}"
