"""Whether sides have an object in common, as a whole or in one respect."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from localrag.methods.comparison import values
from localrag.methods.comparison.types import Decision, Side, all_of, any_of, statement
from localrag.methods.comparison.values import Address, Text, Value, folded, items, read
from localrag.reading.dates import Date, Period
from localrag.reading.quantities import Quantity

_NEW_SCHOOL_YEAR = (4, 2)
"""Who is born on 1 April still belongs to those born before (学校教育法第17条, 年齢計算法)."""


def same(sides: Sequence[Side], respect: str = "") -> Decision:
    """Whether all sides share an object.

    Args:
        sides: two or more.
        respect: what of the objects is compared, in words that may name it: 学年, 世紀, 年代, 年,
            月, 月日, 誕生日, 都道府県, 市, 区, 町, 村; empty for the whole, or the year where the
            predicates ask for one.
    """
    of_sides = [_values(side) for side in sides]
    aspect = respect or ("年" if all(side.predicate.endswith("年") for side in sides) else "")
    first, *others = of_sides
    return any_of(
        all_of(any_of(_alike(one, other, aspect) for other in theirs) for theirs in others)
        for one in first
    )


def _values(side: Side) -> list[Value]:
    """Objects, enumerations taken apart where a text is read as nothing else."""
    values: list[Value] = []
    for text in side.objects:
        value = read(text, side.predicate)
        if isinstance(value, Text):
            values += [Text(item, folded(item)) for item in items(text)]
        else:
            values.append(value)
    return values


def _alike(one: Value, other: Value, respect: str) -> Decision:
    if respect and (compared := _in_respect(one, other, respect)):
        return compared
    match one, other:
        case Date(), Date():
            return _alike_dates(one, other)
        case Quantity(), Quantity():
            return _alike_quantities(one, other)
        case Address(), Address():
            return _alike_places(one, other)
        case Period(), Period():
            return _equation(one.text, other.text, one == other)
    return alike_texts(one.text, other.text)


def alike_texts(one: str, other: str) -> Decision:
    """Whether two texts say the same; that one holds the other makes it likely, no more.

    A note tells apart what is called the same: 所属 until 1990, an album of the name of a song.
    """
    ours, theirs = folded(one), folded(other)
    if values.spelt(one) == values.spelt(other):
        return _equation(one, other, True)
    if (
        ours == theirs
        or values.contains(values.spelt(one), theirs)
        or values.contains(values.spelt(other), ours)
    ):
        return Decision(True, statement(one, "≒", other), certain=False)
    return Decision(False, statement(one, "≠", other), certain=not values.coverage(ours, theirs))


def _alike_dates(one: Date, other: Date) -> Decision:
    if one.has_year != other.has_year:
        days = [(date.month, date.day) for date in (one, other)]
        return _equation(str(one), str(other), None if None in days[0] else days[0] == days[1])
    if one.span == other.span:
        return _equation(str(one), str(other), True)
    return _equation(str(one), str(other), None if one.span.overlaps(other.span) else False)


def _alike_quantities(one: Quantity, other: Quantity) -> Decision:
    if one.dimension != other.dimension:
        return alike_texts(one.text, other.text)
    if one.span == other.span:
        return _equation(one.text, other.text, True)
    return _equation(one.text, other.text, None if one.span.overlaps(other.span) else False)


def _alike_places(one: Address, other: Address) -> Decision:
    if one.parts == other.parts:
        if one.note == other.note:
            return _equation(one.text, other.text, True)
        return Decision(True, statement(one.text + one.note, "≒", other.text + other.note), False)
    if one.within(other) or other.within(one):
        inner, outer = (one, other) if one.within(other) else (other, one)
        return Decision(True, statement(inner.text, "⊂", outer.text), certain=False)
    if one.within(other) is False:
        return _equation(one.text, other.text, False)
    return alike_texts(one.text, other.text)


def _in_respect(one: Value, other: Value, respect: str) -> Decision | None:
    """Compared in what the words name; None where they name nothing that the values have."""
    for words, kind, key, shown in _RESPECTS:
        if words.search(respect) and isinstance(one, kind) and isinstance(other, kind):
            ours, theirs = key(one), key(other)
            if ours is None or theirs is None:
                return Decision(None, f"{one.text}と{other.text}の{respect}は決まらない")
            return _equation(shown.format(ours), shown.format(theirs), ours == theirs)
    return None


def _equation(one: str, other: str, holds: bool | None) -> Decision:
    return Decision(holds, statement(one, {True: "=", False: "≠", None: "?"}[holds], other))


def _school_year(date: Date) -> int | None:
    low, high = date.span.low, date.span.high
    if not date.has_year or low is None or high is None:
        return None
    first, last = (day[0] - (day[1:] < _NEW_SCHOOL_YEAR) for day in (low, high))
    return first if first == last else None


def _century(date: Date) -> int | None:
    low, high = date.span.low, date.span.high
    if not date.has_year or low is None or high is None:
        return None
    first, last = ((day[0] - 1) // 100 + 1 for day in (low, high))
    return first if first == last else None


def _decade(date: Date) -> int | None:
    low, high = date.span.low, date.span.high
    if not date.has_year or low is None or high is None or low[0] // 10 != high[0] // 10:
        return None
    return low[0] // 10 * 10


def _day(date: Date) -> tuple[int, int, int] | None:
    return date.span.low if date.has_year and date.day is not None else None


def _birthday(date: Date) -> tuple[int, int] | None:
    return None if date.month is None or date.day is None else (date.month, date.day)


def _part(*kinds: str) -> Callable[[Address], str | None]:
    return lambda place: next(
        filter(None, (values.part_of(place.text, kind) for kind in kinds)), None
    )


# In this order: the longer word is told before the one it holds.
_RESPECTS: tuple[tuple[re.Pattern[str], type[Any], Callable[[Any], Any], str], ...] = (
    (re.compile("学年|同級"), Date, _school_year, "{}年度"),
    (re.compile("世紀"), Date, _century, "{}世紀"),
    (re.compile("年代"), Date, _decade, "{}年代"),
    (re.compile("年月日"), Date, _day, "{0[0]}年{0[1]}月{0[2]}日"),
    (re.compile("月日|誕生日"), Date, _birthday, "{0[0]}月{0[1]}日"),
    (re.compile("年(?!齢)"), Date, lambda date: date.year, "{}年"),
    (re.compile("月"), Date, lambda date: date.month, "{}月"),
    (re.compile("都道府県|県|都(?!市)|府|道"), Address, lambda place: place.prefecture, "{}"),
    (re.compile("市"), Address, _part("city"), "{}"),
    (re.compile("区"), Address, _part("ward"), "{}"),
    (re.compile("[町村]"), Address, _part("town"), "{}"),
)
