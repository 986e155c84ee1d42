"""Eras of the Japanese calendar, and the periods that history is told by."""

import re
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from localrag.reading.comparison.interval import Interval

Day = tuple[int, int, int]
"""Year (astronomical: 0 is 1 BC), month, day; compared only, so the 31st stands for any end."""

SOLAR_FROM = 1873
"""The first year in which Japan counted its days by the Gregorian calendar."""

# Proclaimed in the last months of a lunar year that ran on into the next western one: their first
# year is the western year before the day that the library gives.
_PROCLAIMED_LATE = re.compile(
    "天延|天元|長和|嘉保|永長|承徳|建保|元仁|安貞|暦仁|徳治|正中|正平|寛正|文禄|正保|天保|弘化|安政"
)

# As far as school books agree: first and last year.
_PERIODS = {
    "飛鳥時代": (592, 710),
    "奈良時代": (710, 794),
    "平安時代": (794, 1185),
    "鎌倉時代": (1185, 1333),
    "南北朝時代": (1336, 1392),
    "室町時代": (1336, 1573),
    "戦国時代": (1467, 1590),
    "安土桃山時代": (1573, 1603),
    "江戸時代": (1603, 1868),
}


class Era(NamedTuple):
    """An era.

    Attributes:
        first_year: the western year that its first year (元年) is called.
        span: its first and last day; the last of the present one is in the year 9999.
    """

    first_year: int
    span: Interval[Day]

    @property
    def is_modern(self) -> bool:
        """Whether its days are those of the western calendar, all or the later ones."""
        return self.span.high is not None and self.span.high >= (SOLAR_FROM, 1, 1)


@lru_cache(maxsize=1)
def eras() -> dict[str, Era]:
    """Every era since 645, those of both courts included, by name.

    An era that both courts proclaimed (建武) is entered once, from its earlier beginning.
    """
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
    """What history is told by, by name: 江戸時代, 明治時代, 昭和期, 平成."""
    known = {
        name: Interval((first, 1, 1), (last, 12, 31)) for name, (first, last) in _PERIODS.items()
    }
    for name, era in eras().items():
        if era.is_modern:
            known |= dict.fromkeys((name + "時代", name + "期", name + "年間", name), era.span)
    return known


def _day(of: date) -> Day:
    return of.year, of.month, of.day
