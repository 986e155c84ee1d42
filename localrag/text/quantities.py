"""Reads exact quantities with units: counts, measures, ages, sums of money, ordinals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from localrag.text import dates
from localrag.text.dates import Interval
from localrag.text.folding import BASES, COUNT, LONGEST, NOTE, ORDINAL, UNITS, Unit, fold_value
from localrag_indexes.analysis.normalize import NUMERAL_CHARACTERS, parse_numeral

_DECIMAL = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,20}|[0-9]{1,60})(?:\.[0-9]{1,12})?"
_SCALES = {"": 1, "十": 10, "百": 100, "千": 1000, "万": 10**4, "億": 10**8, "兆": 10**12}
# 5億2596万9800, 1,089.29万, 三万.
_ARABIC = rf"{_DECIMAL}(?:[千万億兆]{{1,2}},?{_DECIMAL}){{0,3}}[十百千万億兆]{{0,2}}"
_SPELT = rf"[{NUMERAL_CHARACTERS}]{{1,16}}"
_CURRENCY = r"us\$|[$€£₩]"
_ABOUT = r"約|およそ|推定|ほぼ|概ね"
_BOUND = r"以上|以下|以内|未満|超|を超える|を超え|より多い|より少ない|前後|ほど|程度|余り|余|弱|強"
_COUNTER = r"[^\W\d_]{1,8}?"
_END = rf"(?=目?(?:{_BOUND})?(?:(?:満点)?中)?(?![^\W\d_]))"
_LARGE_NUMBER = re.compile("[万億兆]")
_DECIMALS = 6
_VAGUE = frozenset({"前後", "ほど", "程度", "余り", "余", "弱", "強"})
_PLACES = frozenset("位番弾号")
_SCALED = re.compile(rf"({_DECIMAL})([十百千万億兆]?)")
_TRIMMINGS = re.compile(
    rf"^(?:満|享年|全|計|合計|総計|最大)(?=[約0-9{NUMERAL_CHARACTERS}])|{NOTE}$"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a unit."""

    # in the base unit of the dimension; a point for a plain number, wider for 約, 以上, a range
    span: Interval[Fraction]
    dimension: str  # comparable quantities share it
    unit: str  # as written, normalised; "" for a bare number
    text: str  # as written, normalised

    def shown(self, *, converted: bool) -> str:
        """The quantity as written, with its full size for 万 or different units."""
        size = self.span.low
        if size is None or not self.span.is_point:
            return self.text
        if converted and self.unit in UNITS:
            return f"{self.text}（{_written(size)} {BASES[self.dimension]}）"
        if _LARGE_NUMBER.search(self.text):
            return f"{self.text}（{_written(size / _unit(self.unit).size)}）"
        return self.text


class QuantityFound(NamedTuple):
    """A quantity, and its place in the folded text."""

    start: int
    end: int
    value: Quantity


def read(text: str) -> Quantity | None:
    """The quantity a text consists of, apart from notes in brackets, or None.

    1932年 is a date. A counter may be unknown (13路線); kanji numerals are read (三万人).
    """
    if len(text) > LONGEST or dates.read(text):
        return None
    plain = _TRIMMINGS.sub("", fold_value(text))
    _, alone = _patterns()
    found = list(_scan(alone, plain))
    whole = len(found) == 1 and found[0][:2] == (0, len(plain))
    return found[0][2] if whole else None


def find(text: str) -> tuple[Quantity, ...]:
    """The quantities in a text, without dates; 100点満点中87点 has one. None beyond `LONGEST`."""
    if len(text) > LONGEST:
        return ()
    return tuple(found.value for found in find_folded(dates.blanked(text)))


def find_folded(plain: str) -> Iterator[QuantityFound]:
    """Every quantity in a folded text without dates, in order."""
    running, _ = _patterns()
    return _scan(running, plain)


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """For quantities in running text, and for a text that is one."""
    names = sorted(UNITS, key=len, reverse=True)
    # m is neither mm nor m2, but 2時間16分 has two units.
    latin = "|".join(re.escape(name) for name in names if name[-1].isascii())
    japanese = "|".join(name for name in names if not name[-1].isascii())
    one = rf"(?:(?:{latin})(?![a-z0-9])|{japanese})"
    known = f"{one}(?:/{one})?"
    # In running text: digits with a known unit or none. Alone: also 三万 and any counter.
    return (
        re.compile(_shape(_ARABIC, rf"{known}|[位番弾号]|(?!\w)")),
        re.compile(_shape(f"{_ARABIC}|{_SPELT}", rf"(?:{known}|{_COUNTER}|){_END}")),
    )


def _shape(number: str, unit: str) -> str:
    return (
        rf"(?P<about>{_ABOUT})?(?P<nth>第)?(?P<currency>{_CURRENCY})?"
        rf"(?<![0-9.,a-z\-])(?P<number>{number})(?:[~\-](?P<last>{_ARABIC}))?"
        rf"(?![0-9]) ?(?P<unit>{unit})(?P<th>目)?(?P<bound>{_BOUND})?(?P<of>(?:満点)?中)?"
    )


def _scan(pattern: re.Pattern[str], plain: str) -> Iterator[QuantityFound]:
    pending: QuantityFound | None = None
    for match in pattern.finditer(plain):
        quantity = _quantity(match)
        if quantity is None or match["of"]:
            continue
        if pending is not None:
            beside = not plain[pending.end : match.start()].strip()
            if beside and (joint := _sum(pending.value, quantity)):
                pending = QuantityFound(pending.start, match.end(), joint)
                continue
            yield pending
        pending = QuantityFound(*match.span(), quantity)
    if pending is not None:
        yield pending


def _quantity(match: re.Match[str]) -> Quantity | None:
    first, last = (_value(match[name]) for name in ("number", "last"))
    if first is None or (last is not None and last < first):
        return None
    span = Interval(first, first if last is None else last)
    if match["about"] or match["bound"] in _VAGUE:
        half = _last_place(match["number"], first) / 2
        span = Interval(first - half, first + half)
    elif match["bound"]:
        span = _bounded(first, match["bound"])
    name = match["currency"] or match["unit"]
    if name not in UNITS and re.fullmatch(_SPELT, match["number"]) and name:
        return None  # 三重県, 一般
    is_place = bool(match["nth"] or match["th"] or name in _PLACES)
    unit = Unit(ORDINAL, Fraction(1)) if is_place else _unit(name)
    scaled = Interval(_times(span.low, unit), _times(span.high, unit), span.above, span.below)
    return Quantity(scaled, unit.dimension, name, match[0].strip())


def _written(number: Fraction) -> str:
    """In decimals, exact if finite."""
    if number.denominator == 1:
        return f"{number.numerator:,}"
    rounded = round(number, _DECIMALS)
    about = "" if rounded == number else "約"
    return f"{about}{Decimal(rounded.numerator) / Decimal(rounded.denominator):,f}"


def _unit(name: str) -> Unit:
    measured, _, per = name.partition("/")
    unit = UNITS.get(measured, Unit(COUNT, Fraction(1)))
    if not per:
        return unit
    base = UNITS[per]
    return Unit(f"{unit.dimension}/{base.dimension}", unit.size / base.size)


def _times(bound: Fraction | None, unit: Unit) -> Fraction | None:
    return None if bound is None else bound * unit.size


def _value(text: str | None) -> Fraction | None:
    if text is None:
        return None
    try:
        return Fraction(parse_numeral(text))
    except ValueError:
        pieces = _SCALED.findall(text)
        if not pieces:
            return None
        return sum(
            (Fraction(digits.replace(",", "")) * _SCALES[scale] for digits, scale in pieces),
            Fraction(0),
        )


def _last_place(text: str, value: Fraction) -> Fraction:
    """The place of the last significant digit: 1000 for 35万2000 and 9.5万."""
    pieces = _SCALED.findall(text)
    if pieces and "." in pieces[-1][0]:
        digits, scale = pieces[-1]
        return Fraction(_SCALES[scale], 10 ** len(digits.partition(".")[2]))
    written = str(int(value))
    return Fraction(10 ** (len(written) - len(written.rstrip("0"))))


def _bounded(number: Fraction, bound: str) -> Interval[Fraction]:
    match bound:
        case "以上":
            return Interval(number, None)
        case "以下" | "以内":
            return Interval(None, number)
        case "未満" | "より少ない":
            return Interval(None, number, below=True)
    return Interval(number, None, above=True)


def _sum(first: Quantity, second: Quantity) -> Quantity | None:
    larger, smaller = UNITS.get(first.unit), UNITS.get(second.unit)
    if larger is None or smaller is None or larger.dimension != smaller.dimension:
        return None
    if larger.size <= smaller.size or None in (first.span.low, first.span.high):
        return None
    one, other = first.span, second.span
    span = Interval(
        _plus(one.low, other.low), _plus(one.high, other.high), other.above, other.below
    )
    return Quantity(span, first.dimension, first.unit, first.text + second.text)


def _plus(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other
