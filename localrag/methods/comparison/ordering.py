"""Puts sides in order: by time, by age, by amount."""

import re
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

from localrag.methods.comparison import SHOWN, Decision, Side
from localrag.text import dates, quantities
from localrag.text.dates import Date, Day, Interval, Period
from localrag.text.folding import COUNT, ORDINAL, UNITS
from localrag.text.harmless import shorten
from localrag.text.quantities import Quantity

_AGE = UNITS["歳"].dimension
_SPEED = UNITS["ノット"].dimension
# Predicates of a whole period, not of a day in it.
_LASTING = re.compile(r"期間|活動|営業|放送|連載|在[任位職籍学]|生没")
_MONTH, _ROUNDED = 30.4375, 3


class Standing(NamedTuple):
    """The value of a side."""

    span: Interval[Any]  # compared; it covers all values
    shown: str  # the values, for the computation


def by_time(sides: Sequence[Side], first: bool) -> Decision | None:
    """Which side is first, or last: by dates, places in a series, times taken, or speeds."""
    return (
        _by_dates(sides, first)
        or _by_quantities(sides, first, lambda of: of.dimension in (ORDINAL, _AGE))
        or _by_quantities(sides, not first, lambda of: of.dimension == _SPEED)
    )


def by_age(sides: Sequence[Side], oldest: bool) -> Decision | None:
    """Which side is the oldest, or youngest: by its first date, or by its age."""
    return _by_dates(sides, oldest) or _by_quantities(
        sides, not oldest, lambda quantity: quantity.dimension == _AGE
    )


def by_amount(sides: Sequence[Side], least: bool) -> Decision | None:
    """Which side has the least, or most: by duration, quantities, else number of objects."""
    # 1位 may be more or less than 2位.
    return (
        _by_length(sides, least)
        or _by_quantities(sides, least, lambda of: of.dimension != ORDINAL)
        or _by_number(sides, least)
    )


def _by_length(sides: Sequence[Side], least: bool) -> Decision | None:
    """By duration; None if no side has one that has ended."""
    told = [[dates.read(text, side.predicate) for text in side.objects] for side in sides]
    periods = [value for found in told for value in found if isinstance(value, Period)]
    if not any(period.end for period in periods):
        return None
    shown = [shorten("、".join(side.objects), SHOWN) for side in sides]
    lengths = [_length(found) for found in told]
    known = [Standing(of, text) for of, text in zip(lengths, shown, strict=True) if of is not None]
    if len(known) < len(sides):
        return Decision(because=f"{'と'.join(shown)}は長短が決まらない")
    return _ranked(known, smallest=least, undecided="長短が決まらない")


def _length(found: Sequence[Date | Period | None]) -> Interval[float] | None:
    """The days of the only period; None if its beginning or end is unknown."""
    only = found[0] if len(found) == 1 else None
    if not isinstance(only, Period) or only.end is None:
        return None
    start, end = only.start.span, only.end.span
    if start.low is None or start.high is None or end.low is None or end.high is None:
        return None
    return Interval(
        _days(end.low) - _days(start.high) - _ROUNDED, _days(end.high) - _days(start.low) + _ROUNDED
    )


def _days(of: Day) -> float:
    year, month, day = of
    return (12 * year + month) * _MONTH + day


def _by_dates(sides: Sequence[Side], first: bool) -> Decision | None:
    dated = [_dates(side) for side in sides]
    beginnings = [
        [value.start if isinstance(value, Period) else value for value in found] for found in dated
    ]
    known = {date.has_year for found in beginnings for date in found}
    if not all(dated) or len(known) != 1:
        return None
    standings = [
        Standing(
            reduce(Interval.hull, (date.span for date in found)),
            "、".join(dict.fromkeys(map(str, found))),
        )
        for found in beginnings
    ]
    kinds = {type(value) for found in dated for value in found}
    lasts = all(_LASTING.search(side.predicate) for side in sides)
    return _ranked(
        standings,
        smallest=first,
        undecided="前後が決まらない",
        certain=kinds == {Date} or (kinds == {Period} and lasts),
    )


def _dates(side: Side) -> list[Date | Period]:
    found: list[Date | Period] = []
    for text in side.objects:
        whole = dates.read(text, side.predicate)
        found += [whole] if whole else [inner.value for inner in dates.find(text)]
    return found


def _by_quantities(
    sides: Sequence[Side], smallest: bool, accepts: Callable[[Quantity], bool]
) -> Decision | None:
    """By the dimensions of all sides; several dimensions must agree."""
    measured = [list(filter(accepts, _quantities(side))) for side in sides]
    dimensions = dict.fromkeys(quantity.dimension for quantity in measured[0])
    outcomes = [
        outcome
        for dimension in dimensions
        if (outcome := _by_dimension(measured, dimension, smallest))
    ]
    if len({outcome.side for outcome in outcomes}) > 1:
        return Decision(because="、".join(outcome.because for outcome in outcomes))
    return outcomes[0] if outcomes else None


def _quantities(side: Side) -> list[Quantity]:
    found: list[Quantity] = []
    for text in side.objects:
        if dates.read(text, side.predicate):
            continue  # The predicate makes 1964 a year.
        whole = quantities.read(text)
        # A note adds a dimension: 56億ドル（約4648億円）.
        inner = quantities.find(text)
        found += [whole] if whole else []
        found += [each for each in inner if whole is None or each.dimension != whole.dimension]
    return found


def _by_dimension(
    measured: Sequence[Sequence[Quantity]], dimension: str, smallest: bool
) -> Decision | None:
    of_dimension = [
        [quantity for quantity in found if quantity.dimension == dimension] for found in measured
    ]
    if not all(of_dimension):
        return None
    units = {quantity.unit for found in of_dimension for quantity in found}
    converted = len({UNITS[unit].size for unit in units if unit in UNITS}) > 1
    standings = [
        Standing(
            reduce(Interval.hull, (quantity.span for quantity in found)),
            "、".join(dict.fromkeys(quantity.shown(converted=converted) for quantity in found)),
        )
        for found in of_dimension
    ]
    # 11タイトル and 2本 may count the same, or not.
    certain = dimension not in (COUNT, ORDINAL) or len(units) == 1
    return _ranked(standings, smallest=smallest, undecided="大小が決まらない", certain=certain)


def _by_number(sides: Sequence[Side], least: bool) -> Decision | None:
    """By the number of objects. The corpus may not list all, so the result is not certain."""
    if any(_dates(side) or _quantities(side) for side in sides):
        return None
    standings = [
        Standing(
            Interval(len(side.objects), len(side.objects)),
            f"{shorten('、'.join(side.objects), SHOWN)}（{len(side.objects)}）",
        )
        for side in sides
    ]
    ranked = _ranked(standings, smallest=least, undecided="", certain=False)
    return ranked if ranked.side is not None else None


def _ranked(
    standings: Sequence[Standing], *, smallest: bool, undecided: str, certain: bool = True
) -> Decision:
    winner = next(
        (
            place
            for place, one in enumerate(standings)
            if all(
                _precedes(one, other, smallest)
                for rank, other in enumerate(standings)
                if rank != place
            )
        ),
        None,
    )
    if winner is None:
        shown = [standing.shown for standing in standings]
        if len({standing.span for standing in standings}) == 1 and standings[0].span.is_point:
            return Decision(because=" = ".join(shown), certain=certain)
        return Decision(because=f"{'と'.join(shown)}は{undecided}", certain=certain)
    order = _in_order(standings, winner, smallest)
    sign = "<" if smallest else ">"
    because = order[0].shown
    for one, other in pairwise(order):
        because += f" {sign if _precedes(one, other, smallest) else '?'} {other.shown}"
    return Decision(side=winner, because=because, certain=certain)


def _in_order(standings: Sequence[Standing], winner: int, smallest: bool) -> list[Standing]:
    others = [standing for place, standing in enumerate(standings) if place != winner]
    preceded = [sum(_precedes(one, other, smallest) for other in others) for one in others]
    ranks = sorted(range(len(others)), key=lambda place: -preceded[place])
    return [standings[winner], *(others[place] for place in ranks)]


def _precedes(one: Standing, other: Standing, smallest: bool) -> bool:
    return one.span.before(other.span) if smallest else other.span.before(one.span)
