"""Reads dates and spans of time: in western years, eras, centuries, as far as they are written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from localrag.reading.comparison import spans
from localrag.reading.comparison.eras import SOLAR_FROM, Day, eras
from localrag.reading.comparison.folding import LONGEST, NOTE, RANGE, fold
from localrag.reading.comparison.interval import Interval

_ABOUT = r"頃|ごろ|前後"
_ISO = re.compile(r"(?<![0-9])([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?![0-9])")
_BARE_YEARS = re.compile(rf"([0-9]{{1,4}})(?:({RANGE})([0-9]{{1,4}}))?")
_ASKS_FOR_DATE = re.compile(r"年(?![齢数収間商俸])|日(?![本数])|時期|期間|いつ")
_SHORT_YEAR = re.compile(r"[0-9]{1,2}年")
# 3年間, 2年前, 3年生 are no years; 3年生まれ, 1990年前半 are.
_NO_DURATION = r"(?!間|以上|以下|未満|超|前(?!半)|ぶり|後(?!半)|目|生(?!ま)|半|齢|数)"
_RANGE = re.compile(RANGE)
# What may stand beside a date without saying anything of its own.
_ORNAMENT = re.compile(rf"{NOTE}|現在|継続中|[\s、,。.:]")


@dataclass(frozen=True, slots=True)
class Date:
    """A day, month, year, decade or century, or what is known of one.

    Attributes:
        span: the first and last day that are meant or, of an uncertain date, possible.
        text: as written, normalised.
        has_year: False for a day or month of no certain year; the year of `span` is 0 then.
        narrow: the span where it is read as less (1900年代 as ten years); None where it cannot be.
    """

    span: Interval[Day]
    text: str
    has_year: bool = True
    narrow: Interval[Day] | None = None

    @property
    def year(self) -> int | None:
        """The one year it lies in."""
        low, high = self.span.low, self.span.high
        within = self.has_year and low is not None and high is not None and low[0] == high[0]
        return low[0] if within and low is not None else None

    @property
    def month(self) -> int | None:
        """The one month of the year it lies in, 1 to 12."""
        low, high = self.span.low, self.span.high
        return low[1] if low is not None and high is not None and low[:2] == high[:2] else None

    @property
    def day(self) -> int | None:
        """The day of the month, where it is a day."""
        return self.span.low[2] if self.span.low is not None and self.span.is_point else None

    def __str__(self) -> str:
        """Western year, month and day as far as they are known; else as written."""
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
    """From one date to another; `end` is None where it lasts or is not said."""

    start: Date
    end: Date | None

    def __str__(self) -> str:
        return f"{self.start}–{self.end or ''}"

    @property
    def text(self) -> str:
        """Its beginning and end, as they are shown."""
        return str(self)


class Found(NamedTuple):
    """A date or period, and its place in the folded text."""

    start: int
    end: int
    value: Date | Period


def read(text: str, predicate: str = "") -> Date | Period | None:
    """The date that a text says and nothing else; None where it says more, or none.

    Args:
        text: as written.
        predicate: what it is of its subject; one that asks for a time makes ``1964`` a year.
    """
    if len(text) > LONGEST:
        return None
    plain = _western(fold(text))
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


def find(text: str) -> list[Found]:
    """Every date and period in a text, in order; none in one longer than `LONGEST`."""
    return list(_scan(_western(fold(text)))) if len(text) <= LONGEST else []


def blanked(text: str) -> str:
    """The folded text with a blank in the place of every date, for what else it says."""
    plain = _western(fold(text))
    for start, end, value in reversed(list(_scan(plain))):
        if not _SHORT_YEAR.fullmatch(str(value)):
            plain = f"{plain[:start]} {plain[end:]}"
    return plain


def _western(plain: str) -> str:
    return _ISO.sub(lambda match: f"{match[1]}年{match[3]}月{match[4]}日", plain)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    names = "|".join(sorted(eras(), key=len, reverse=True))
    return re.compile(
        rf"(?:約|およそ)?(?:(?P<bc>紀元前|bc)?(?<![0-9.])(?P<century>[0-9]{{1,2}})世紀"
        rf"|(?:(?P<bc_year>紀元前|bc)?(?<![0-9.])(?P<year>[0-9]{{1,4}})"
        rf"|(?P<era>{names})(?P<of_era>元|[0-9]{{1,2}}))年{_NO_DURATION}"
        rf"(?:(?P<decade>代)|(?P<fiscal>度))?(?P<about>{_ABOUT})?(?P<note>{NOTE})?"
        rf"(?: ?閏?(?P<month>[0-9]{{1,2}})月(?:{NOTE})?(?:(?P<day>[0-9]{{1,2}})日)?)?"
        rf"|(?<![0-9.])(?P<lone_month>[0-9]{{1,2}})月(?:(?P<lone_day>[0-9]{{1,2}})日)?)"
        rf"(?P<half>前半|後半)?(?P<about_all>{_ABOUT})?(?P<tail>{NOTE})?"
        r"(?P<bound>以降|以後|以前|まで|より前|より後)?"
    )


def _scan(plain: str) -> Iterator[Found]:
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
        yield Found(match.start(), position, value)


def _date(match: re.Match[str], inherited: Date | None = None) -> Date | None:
    """The date of one match; `inherited` is the start of a range whose end repeats no year."""
    span: Interval[Day] | None
    has_year = True
    if match["century"]:
        span = spans.century(int(match["century"]), before_christ=bool(match["bc"]))
    elif match["lone_month"]:
        year = inherited.year if inherited else None
        has_year = year is not None
        span = spans.within_year(year or 0, int(match["lone_month"]), _number(match["lone_day"]))
    else:
        noted = _western_note(match) if match["era"] else None
        if noted is not None and noted.day is not None:
            return noted
        span = _in_year(match, noted.year if noted else None)
    if span is None:
        return None
    narrow = spans.ten_years(span) if match["decade"] else span
    narrow, span = (_qualified(match, each, has_year) for each in (narrow, span))
    return Date(span, match[0], has_year, narrow if narrow != span else None)


def _qualified(match: re.Match[str], span: Interval[Day], has_year: bool) -> Interval[Day]:
    """A span of which the words beside it make a half, an uncertain or an open one."""
    if match["half"]:
        span = spans.half(span, first=match["half"] == "前半")
    vague = match["about"] or match["about_all"] or match[0].startswith(("約", "およそ"))
    if vague and has_year:
        span = spans.about(span)
    return spans.bounded(span, match["bound"] or "")


def _western_note(match: re.Match[str]) -> Date | None:
    """The western date that stands in brackets behind a date of an era."""
    for note in (match["tail"], match["note"]):
        inner = _pattern().search(note) if note else None
        if inner and inner["year"] and (date := _date(inner)):
            return date
    return None


def _in_year(match: re.Match[str], noted: int | None) -> Interval[Day] | None:
    era = eras()[match["era"]] if match["era"] else None
    if era:
        year = era.first_year - 1 + (1 if match["of_era"] == "元" else int(match["of_era"]))
        year = noted if noted is not None else year
    else:
        year = 1 - int(match["year"]) if match["bc_year"] else int(match["year"])
    if match["decade"]:
        return spans.decade(year)
    if match["fiscal"]:
        return spans.fiscal_year(year)
    span = spans.within_year(year, _number(match["month"]), _number(match["day"]))
    if span is None:
        return None
    if era and match["month"] and year < SOLAR_FROM:
        span = spans.from_lunar(span)
    elif era and era.is_modern and span.overlaps(era.span):
        span = span.overlap(era.span)
    return span


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None
