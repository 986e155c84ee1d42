"""Answers a comparison from the objects of triples, and shows the computation."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from localrag.methods.comparison import (
    ComparisonKind,
    Decision,
    Side,
    all_of,
    any_of,
    statement,
    values,
)
from localrag.methods.comparison.ordering import by_age, by_amount, by_time
from localrag.methods.comparison.values import Address, Text, Value, folded, items, read
from localrag.text import dates, quantities
from localrag.text.dates import Date, Day, Interval, Period, periods
from localrag.text.folding import COUNT, ORDINAL
from localrag.text.quantities import Quantity
from localrag_indexes.analysis.normalize import normalize

_ORDERS: dict[ComparisonKind, tuple[Callable[[Sequence[Side], bool], Decision | None], bool]] = {
    ComparisonKind.EARLIER: (by_time, True),
    ComparisonKind.LATER: (by_time, False),
    ComparisonKind.OLDER: (by_age, True),
    ComparisonKind.YOUNGER: (by_age, False),
    ComparisonKind.MORE: (by_amount, False),
    ComparisonKind.LESS: (by_amount, True),
}

_CLEARLY, _HARDLY = 1.5, 0.1
"""Factor by which a side must be nearer in wording than the others, and the least that counts."""


def compare(
    comparison: ComparisonKind, sides: Sequence[Side], condition: str = ""
) -> Decision | None:
    """Compute the answer to a comparison; None if code cannot decide.

    `condition` is a condition in words for EACH, ANY and WHICH (「20世紀」, 「100人以上」,
    「東京都」). For SAME and DIFFERENT it is the aspect (「年」, 「学年」), empty for the whole
    value. If the values are equal, `side` is None and `because` says so.
    """
    if not sides or not all(any(map(str.strip, side.objects)) for side in sides):
        return None
    if order := _ORDERS.get(comparison):
        rank, first = order
        return rank(sides, first) if len(sides) > 1 else None
    if comparison in (ComparisonKind.SAME, ComparisonKind.DIFFERENT):
        if len(sides) < 2:
            return None
        return _decided(same(sides, condition), negated=comparison is ComparisonKind.DIFFERENT)
    if not condition.strip():
        return None
    findings = [_named(side, meets(side, condition)) for side in sides]
    if comparison is ComparisonKind.WHICH:
        return _the_one(findings) or _the_likeliest(sides, condition, findings)
    return _decided((all_of if comparison is ComparisonKind.EACH else any_of)(findings))


def _decided(finding: Decision, *, negated: bool = False) -> Decision | None:
    if finding.holds is None:
        return None
    return finding._replace(holds=finding.holds is not negated)


def _named(side: Side, finding: Decision) -> Decision:
    because = f"{side.name}：{finding.because}" if finding.because else ""
    return finding._replace(because=because)


def _the_one(findings: Sequence[Decision]) -> Decision | None:
    """The side meeting the condition. A certain one is preferred."""
    met = [place for place, finding in enumerate(findings) if finding.holds]
    sure = [place for place in met if findings[place].certain]
    chosen = sure if len(sure) == 1 else met
    if len(chosen) == 1:
        decided = all(finding.holds is not None for finding in findings)
        certain = findings[chosen[0]].certain and len(met) == 1 and decided
        return Decision(side=chosen[0], because=_because(findings), certain=certain)
    certain = all(finding.certain and finding.holds is not None for finding in findings)
    return Decision(because=_because(findings)) if certain else None


def _the_likeliest(
    sides: Sequence[Side], condition: str, findings: Sequence[Decision]
) -> Decision | None:
    """The side whose words are clearly nearest to the condition."""
    if all(finding.holds is None for finding in findings):
        return None
    shares = [suits(side, condition) for side in sides]
    first, second = sorted(shares, reverse=True)[:2] if len(shares) > 1 else (*shares, 0.0)
    side = shares.index(first) if first >= _CLEARLY * max(second, _HARDLY) else None
    return Decision(side=side, because=_because(findings), certain=False)


def _because(findings: Sequence[Decision]) -> str:
    return "、".join(finding.because for finding in findings if finding.because)


_SEASONS = {"春": (3, 4, 5), "夏": (6, 7, 8), "秋": (9, 10, 11), "冬": (12, 1, 2)}
_SEASON = re.compile(r"(春|夏|秋|冬)(?:季|期|場|の?生まれ|に.{0,40})?")
_HIRAGANA = re.compile(r"[ぁ-ん\s、。]+")
_BIRTH = "生誕産"
_OF_BEGINNING, _OF_END = re.compile("[生始開設創]"), re.compile("[死没終退廃散]")
# A corpus does not know today's date.
_NEEDS_TODAY = re.compile(r"[0-9]年(?:以上|以内|ほど)?前|現在|今年|昨年|去年|最近")
_AROUND_PLACE = re.compile(
    r"(?:出身|生まれ|在住|(?:に|の中に)?(?:ある|あり|所在|位置)(?:する|して(?:い|お)?[るり])?)$"
)


@dataclass(frozen=True, slots=True)
class When:
    """A condition on time."""

    # the matching days, one span for each reading (1900年代); () for months
    spans: tuple[Interval[Day], ...]
    months: tuple[int, ...]  # of any year, 1 to 12
    named: str
    rest: str  # the rest of the condition


def meets(side: Side, condition: str) -> Decision:
    """Whether an object of the side meets the condition.

    The condition is read as a time, a quantity or a place if the object is one. Otherwise texts are
    compared, which is never certain. A condition on today's date is not decided.
    """
    if _NEEDS_TODAY.search(normalize(condition)):
        return Decision(None, "")
    when = _when(condition)
    return any_of(_meets(text, side.predicate, condition, when) for text in side.objects)


def suits(side: Side, condition: str) -> float:
    """How far a side states the condition, 0 to 1, by the wording of its best object."""
    asked = folded(condition)
    return max((values.coverage(asked, values.spelt(text)) for text in side.objects), default=0.0)


def _meets(text: str, predicate: str, condition: str, when: When | None) -> Decision:
    return (
        (_in_time(text, predicate, when) if when else None)
        or _in_amount(text, condition)
        or _in_place(text, predicate, condition)
        or _in_words(text, condition)
    )


@lru_cache(maxsize=1)
def _period() -> re.Pattern[str]:
    names = "|".join(sorted(periods(), key=len, reverse=True))
    return re.compile(rf"({names})(?![元0-9])")


@lru_cache(maxsize=256)
def _when(condition: str) -> When | None:
    plain = normalize(condition).strip()
    if season := _SEASON.fullmatch(plain):
        return When((), _SEASONS[season[1]], season[1], "")
    named = {found.value for found in dates.find(condition)}
    if len(named) == 1:
        date, rest = named.pop(), dates.blanked(condition)
        if isinstance(date, Period):
            if date.end is None or not (date.start.has_year and date.end.has_year):
                return None
            return When((date.start.span.hull(date.end.span),), (), str(date), rest)
        if date.has_year:
            return When((date.span, *filter(None, [date.narrow])), (), str(date), rest)
        if date.month is not None and date.day is None:
            return When((), (date.month,), str(date), rest)
        return None
    if period := _period().search(plain):
        rest = plain[: period.start()] + plain[period.end() :]
        return When((periods()[period[1]],), (), period[1], rest)
    return None


def _in_time(text: str, predicate: str, when: When) -> Decision | None:
    value = dates.read(text, predicate)
    if value is None:
        found = dates.find(text)
        value = found[0].value if len(found) == 1 else None
    if value is None:
        return None
    if isinstance(value, Period):
        return _period_in_time(value, when)
    holds, others = _lies_in(value, when)
    # 1998年に生まれた歌手 asks for more than a year of birth.
    rest = _HIRAGANA.sub("", when.rest)
    is_all = all(character in predicate or character in _BIRTH for character in rest)
    certain = not others and (is_all or holds is False)
    return _membership(str(value), when.named, holds, certain=certain)


def _lies_in(date: Date, when: When) -> tuple[bool | None, bool]:
    """Whether a date meets a condition, and whether its other reading differs."""
    if not when.spans:
        return date.month in when.months if date.month is not None else None, False
    if not date.has_year:
        return None, False
    holds, *others = (date.span.lies_in(span) for span in when.spans)
    return holds, any(other is not holds for other in others)


def _period_in_time(value: Period, when: When) -> Decision:
    ends = [value.start, *([value.end] if value.end else [])]
    beginning, end = _OF_BEGINNING.search(when.rest), _OF_END.search(when.rest)
    if end and not beginning:
        ends = ends[1:]
    elif beginning and not end:
        ends = ends[:1]
    inside = {_lies_in(date, when) for date in ends}
    holds, others = inside.pop() if len(inside) == 1 else (None, False)
    return _membership(str(value), when.named, holds, certain=not others)


def _in_amount(text: str, condition: str) -> Decision | None:
    asked, whole = _quantity(condition), quantities.read(text)
    amount = whole or _quantity(text)
    if asked is None or amount is None:
        return None
    if asked.dimension != amount.dimension:
        bounded = whole is not None and not asked.span.is_point
        return Decision(None, statement(amount.text, "?", asked.text)) if bounded else None
    # A number in a name is no quantity: 青坂46 against 赤坂46.
    if whole is None and asked.span.is_point:
        return None
    counters = {asked.unit, amount.unit} - {""}
    if asked.dimension in (COUNT, ORDINAL) and len(counters) > 1:
        return None
    holds = amount.span.lies_in(asked.span)
    shown = amount.shown(converted=False)
    return _membership(shown, asked.text, holds, certain=whole is not None)


def _quantity(text: str) -> Quantity | None:
    whole = quantities.read(text)
    found = (whole,) if whole else quantities.find(text)
    if len(found) != 1 or (not whole and not found[0].unit and found[0].span.is_point):
        return None
    return found[0]


def _in_place(text: str, predicate: str, condition: str) -> Decision | None:
    asked = values.read_place(_AROUND_PLACE.sub("", normalize(condition).strip()), predicate)
    place = values.read_place(text, predicate)
    if asked is None or place is None:
        return None
    holds = place.within(asked)
    if holds is None:
        return None
    sign = "=" if place.parts == asked.parts else "⊂" if holds else "⊄"
    return Decision(holds, statement(place.text, sign, asked.text))


def _in_words(text: str, condition: str) -> Decision:
    asked = folded(condition)
    if values.spelt(condition) in map(values.spelt, (text, *values.items(text))):
        return Decision(True, statement(text, "=", condition))
    likely = values.likely(asked, text)
    return Decision(likely, statement(text, "≒" if likely else "≠", condition), certain=False)


def _membership(value: str, bounds: str, holds: bool | None, *, certain: bool = True) -> Decision:
    return Decision(
        holds, statement(value, {True: "∈", False: "∉", None: "?"}[holds], bounds), certain
    )


_NEW_SCHOOL_YEAR = (4, 2)
"""A person born on 1 April belongs to the year before (学校教育法第17条, 年齢計算法)."""


def same(sides: Sequence[Side], respect: str = "") -> Decision:
    """Whether all sides share an object, or the aspect of it that `respect` names.

    The aspects are 学年, 世紀, 年代, 年, 月, 月日, 誕生日, 都道府県, 市, 区, 町, 村. Without one it
    is the whole, or the year if the predicates ask for one.
    """
    of_sides = [_values(side) for side in sides]
    aspect = respect or ("年" if all(side.predicate.endswith("年") for side in sides) else "")
    first, *others = of_sides
    return any_of(
        all_of(any_of(_alike(one, other, aspect) for other in theirs) for theirs in others)
        for one in first
    )


def _values(side: Side) -> list[Value]:
    """Objects, with enumerations split if a text is no other value."""
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
    """Whether two texts say the same; likely if one contains the other.

    Notes count: 所属 until 1990 differs from 所属, an album from the song of its name.
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
    if one.has_year == other.has_year:
        return _alike_spans(str(one), one.span, str(other), other.span)
    days = [(date.month, date.day) for date in (one, other)]
    return _equation(str(one), str(other), None if None in days[0] else days[0] == days[1])


def _alike_quantities(one: Quantity, other: Quantity) -> Decision:
    if one.dimension != other.dimension:
        return alike_texts(one.text, other.text)
    return _alike_spans(one.text, one.span, other.text, other.span)


def _alike_spans(one: str, ours: Interval[Any], other: str, theirs: Interval[Any]) -> Decision:
    overlapping = None if ours.overlaps(theirs) else False
    return _equation(one, other, True if ours == theirs else overlapping)


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
    """The comparison in one aspect; None if the values do not have it."""
    for words, kind, key, shown in _RESPECTS:
        if words.search(respect) and isinstance(one, kind) and isinstance(other, kind):
            ours, theirs = key(one), key(other)
            if ours is None or theirs is None:
                return Decision(None, f"{one.text}と{other.text}の{respect}は決まらない")
            return _equation(shown.format(ours), shown.format(theirs), ours == theirs)
    return None


def _equation(one: str, other: str, holds: bool | None) -> Decision:
    return Decision(holds, statement(one, {True: "=", False: "≠", None: "?"}[holds], other))


def _year_by(count: Callable[[Day], int]) -> Callable[[Date], int | None]:
    """The number shared by both ends of a date; None if they differ or are open."""

    def counted(date: Date) -> int | None:
        low, high = date.span.low, date.span.high
        if not date.has_year or low is None or high is None:
            return None
        return count(low) if count(low) == count(high) else None

    return counted


_school_year = _year_by(lambda day: day[0] - (day[1:] < _NEW_SCHOOL_YEAR))
_century = _year_by(lambda day: (day[0] - 1) // 100 + 1)
_decade = _year_by(lambda day: day[0] // 10 * 10)


def _day(date: Date) -> tuple[int, int, int] | None:
    return date.span.low if date.has_year and date.day is not None else None


def _birthday(date: Date) -> tuple[int, int] | None:
    return None if date.month is None or date.day is None else (date.month, date.day)


def _part(*kinds: str) -> Callable[[Address], str | None]:
    return lambda place: next(
        filter(None, (values.part_of(place.text, kind) for kind in kinds)), None
    )


# A longer word comes before a shorter one inside it.
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
