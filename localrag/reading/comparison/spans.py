"""Spans of days: what a year, a century, an uncertain date can mean."""

from localrag.reading.comparison.eras import Day
from localrag.reading.comparison.interval import Interval

_CENTURY_WIDE, _SOME_YEARS = 50, 5
_FISCAL_YEAR_FROM = 4
_NEW_MILLENNIUM = 2000
_MONTHS, _DAYS = 12, 31


def within_year(year: int, month: int | None, day: int | None) -> Interval[Day] | None:
    """A year, a month or a day; None where there is no such month or day."""
    if month is None:
        return years(year, year)
    if not (1 <= month <= _MONTHS and 1 <= (day or 1) <= _DAYS):
        return None
    return Interval((year, month, day or 1), (year, month, day or _DAYS))


def years(first: int, last: int) -> Interval[Day]:
    """From one year to another, both included."""
    return Interval((first, 1, 1), (last, _MONTHS, _DAYS))


def century(number: int, *, before_christ: bool) -> Interval[Day]:
    """The first century begins with the year 1."""
    last = -100 * (number - 1) if before_christ else 100 * number
    return years(last - 99, last)


def decade(year: int) -> Interval[Day]:
    """1990年代 is ten years, 1900年代 can be a century, 2000年代 mostly stands for ten years."""
    is_century = year % 100 == 0 and year < _NEW_MILLENNIUM
    return years(year, year + (99 if is_century else 9))


def ten_years(span: Interval[Day]) -> Interval[Day]:
    """The years that every reading of a decade has in common."""
    return years(span.low[0], span.low[0] + 9) if span.low is not None else span


def fiscal_year(year: int) -> Interval[Day]:
    """A Japanese 年度."""
    return Interval((year, _FISCAL_YEAR_FROM, 1), (year + 1, _FISCAL_YEAR_FROM - 1, _DAYS))


def from_lunar(span: Interval[Day]) -> Interval[Day]:
    """A day of the old calendar comes three to eight weeks later in the western one."""
    return Interval(span.low, _months_on(span.high, 2))


def _months_on(day: Day | None, months: int) -> Day | None:
    if day is None:
        return None
    later, month = divmod(day[1] - 1 + months, _MONTHS)
    return day[0] + later, month + 1, day[2]


def about(span: Interval[Day]) -> Interval[Day]:
    """Some years to either side; half a century of a century or a round year (1500年頃)."""
    is_round = span.low is not None and span.low[0] % 100 in (0, 1) and span.low[1] == 1
    months = _MONTHS * (_CENTURY_WIDE if is_round else _SOME_YEARS)
    return Interval(_months_on(span.low, -months), _months_on(span.high, months))


def half(span: Interval[Day], *, first: bool) -> Interval[Day]:
    """The first or second half of whole years; what is shorter stays as it is."""
    low, high = span.low, span.high
    if low is None or high is None or low[1] != 1 or high[1] != _MONTHS:
        return span
    months = (high[0] - low[0] + 1) * _MONTHS // 2
    if first:
        return Interval(low, _months_on((low[0], low[1], _DAYS), months - 1))
    return Interval(_months_on(low, months), high)


def bounded(span: Interval[Day], bound: str) -> Interval[Day]:
    """What 以降, 以前 and the like make of a date; without such a word the date itself."""
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
