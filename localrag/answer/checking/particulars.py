"""The particulars of a text: figures, dates, citations of provisions, names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from localrag.answer.checking.polarity import vocabulary
from localrag.corpus.types import Locator
from localrag.law.citations import ProvisionCitation, find_citations
from localrag.search.question.asked import QUOTED
from localrag.text import dates, quantities
from localrag.text.dates import Date, Day, Interval, Period
from localrag.text.folding import COUNT, LONGEST, UNITS, Folded, Unit
from localrag_indexes.analysis.analyzer import ENGLISH
from localrag_indexes.analysis.normalize import normalize, with_blanks


class Bound(StrEnum):
    """How a figure is bounded."""

    FROM = "≥"
    ABOVE = ">"
    UP_TO = "≤"
    BELOW = "<"


class Direction(StrEnum):
    """The side of a date."""

    FROM = "from"
    UNTIL = "until"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit.

    Attributes:
        start, end: span in the folded text.
        values: in the base unit of the dimension; two ends for a range. An approximate number (約)
            counts as that number.
        numbers: as written, without unit.
        dimension: comparable figures share it; "" for an unknown unit.
        bound: 以上, at least …, or None.
    """

    start: int
    end: int
    values: frozenset[Fraction]
    numbers: frozenset[Fraction]
    dimension: str
    bound: Bound | None


@dataclass(frozen=True, slots=True)
class Dated:
    """A date, and the side of it meant."""

    start: int
    end: int
    date: Date
    direction: Direction | None


@dataclass(frozen=True, slots=True)
class Name:
    """A name or quoted words.

    Attributes:
        text: normalised.
        written: as written.
        is_quoted: whether it is in quotation marks.
    """

    text: str
    written: str
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Particulars:
    """The particulars of a text; spans are in its folded text.

    Attributes:
        months: months without year or day, read as lengths of time: 三月 in statutes is three
            months.
    """

    figures: tuple[Figure, ...]
    months: tuple[Figure, ...]
    dates: tuple[Dated, ...]
    provisions: tuple[ProvisionCitation, ...]


_NUMBER = re.compile(r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?")
# 17.57億バレル: with an unknown unit, the reader of quantities stops at the point.
_CUT_SHORT = re.compile(r"\.[0-9]")
# 三京円, but not 第三京浜.
_SCALE = re.compile("[万億兆垓]|京(?![一-鿿])|京(?=[円人個株年口])")
_SCALES = {"万": 10**4, "億": 10**8, "兆": 10**12, "京": 10**16, "垓": 10**20}
_FRACTION = re.compile(r"([0-9]{1,6})分の([0-9]{1,6})")
_LATIN_WITH_DIGITS = re.compile(
    r"(?<![a-z0-9])(?=[a-z0-9\-]*[a-z])(?=[a-z0-9\-]*[0-9])[a-z][a-z0-9\-]*"
)
_PAUSE = re.compile(r"[。\n]|\. ")
# 五年の懲役: without an era a length of time.
_YEARS = re.compile(r"[0-9]{1,2}年")
# 3年（一定の事業の完了に必要な期間を定めるものは、5年）を超える期間: brackets without a year.
_YEARS_NOTED = re.compile(r"[0-9]{1,2}年[（(](?![^（）()]*(?:明治|大正|昭和|平成|令和|[0-9]{4}年))")
_RANGE = re.compile(r"[~\-]")
_MONTH, _TIMES = UNITS["か月"], UNITS["倍"]
_MONTHS_OF_A_YEAR = 12
_MONTHS = re.compile("月(?![額給収次刊0-9])")

# From the number to its bound: the unit, and no other number.
_BEHIND = r"[^0-9、。,.;:()「」]{0,9}?"
_BOUNDS_BEHIND, _BOUNDS_BEFORE = (
    [(Bound(sign), "|".join(words)) for sign, *words in vocabulary()[name]]
    for name in ("bounds_behind", "bounds_before")
)
_BEHIND_NUMBER = re.compile(
    _BEHIND + "(?:" + "|".join(f"({words})" for _, words in _BOUNDS_BEHIND) + ")"
)
_BEFORE_NUMBER = re.compile(
    "(?:"
    + "|".join(f"({words})" for _, words in _BOUNDS_BEFORE)
    + r")(?:で| (?:a|the))? ?[$€£]?約?$"
)
_LONGEST_BEFORE = 24
# The pattern of the bound only has the stem of を超える and を下回る.
_REST_OF_BOUND = re.compile("(?:える|えて|え|ない|る|い|く)?")

_DIRECTIONS_BEHIND = re.compile(
    r"(?:[(（][^)）]{0,20}[)）])?(?:(以降|以後|から|より後|onwards?)|(以前|まで|より前|前に))"
)
_DIRECTIONS_BEFORE = re.compile(
    r"(?:(since|after|from|as of|starting)|(before|until|till|by|prior to|through)) (?:the )?$"
)


def particulars_of(folded: Folded) -> Particulars:
    """The figures, dates and citations of a text; each number belongs to one of them."""
    provisions = tuple(_provisions(folded))
    taken = [(cited.start, cited.end) for cited in provisions]
    taken += [match.span() for match in _LATIN_WITH_DIGITS.finditer(folded.text)]
    plain = with_blanks(folded.text, taken)
    found = [dated for window in _windows(plain) for dated in _dates(plain, *window)]
    plain = with_blanks(folded.text, [*taken, *((dated.start, dated.end) for dated in found)])
    figures = [figure for window in _windows(plain) for figure in _figures(plain, *window)]
    months = [
        _figure(folded.text, dated.start, dated.end, [dated.date.month * _MONTH.size], _MONTH)
        for dated in found
        if dated.date.month and not dated.date.has_year and dated.date.day is None
    ]
    return Particulars(tuple(figures), tuple(months), tuple(found), provisions)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Spans short enough for the readers of values, cut between sentences."""
    start = 0
    while start < len(text):
        end = min(start + LONGEST, len(text))
        if end < len(text):
            pauses = [pause.end() for pause in _PAUSE.finditer(text, start + 1, end)]
            end = pauses[-1] if pauses else end
        yield start, end
        start = end


def _provisions(folded: Folded) -> Iterator[ProvisionCitation]:
    """The citations of a text, without the names of laws."""
    for citation in find_citations(folded.text):
        law = citation.law.text
        is_before = folded.text.startswith(law, citation.start)
        yield citation._replace(start=citation.start + (len(law) if is_before else 0))


def _dates(plain: str, start: int, end: int) -> Iterator[Dated]:
    window = plain[start:end]
    # The reader of dates trims its input.
    shift = start + len(window) - len(window.lstrip())
    for found in dates.find(window):
        first, last = shift + found.start, shift + found.end
        if _YEARS.fullmatch(plain, first, last) or _YEARS_NOTED.match(plain, first, last):
            continue
        value = found.value
        for date in (value.start, value.end) if isinstance(value, Period) else (value,):
            if date is not None:
                yield Dated(first, last, date, _direction(plain, first, last))


def _direction(plain: str, start: int, end: int) -> Direction | None:
    behind = _DIRECTIONS_BEHIND.search(plain[start : end + 6])
    before = _DIRECTIONS_BEFORE.search(plain[max(start - _LONGEST_BEFORE, 0) : start])
    for match in (behind, before):
        if match:
            return Direction.FROM if match[1] else Direction.UNTIL
    return None


def _figures(plain: str, start: int, end: int) -> Iterator[Figure]:
    window = plain[start:end]
    for match in _FRACTION.finditer(window):
        window = window[: match.start()] + " " * len(match[0]) + window[match.end() :]
        if int(match[1]):
            share = Fraction(int(match[2]), int(match[1]))
            yield _figure(plain, start + match.start(), start + match.end(), [share], _TIMES)
    done: list[tuple[int, int]] = []
    for found in quantities.find_folded(window):
        if _CUT_SHORT.match(window, found.end):
            continue
        done.append((found.start, found.end))
        quantity = found.value
        values = [value for value in (quantity.span.low, quantity.span.high) if value is not None]
        if len(set(values)) > 1 and not _RANGE.search(quantity.text):
            values = [sum(values, Fraction(0)) / len(values)]
        unit = UNITS.get(quantity.unit, Unit("", Fraction(1)))
        if quantity.dimension not in (unit.dimension, COUNT):
            unit = Unit(quantity.dimension, Fraction(1))
        yield _figure(plain, start + found.start, start + found.end, values, unit)
    for match in _NUMBER.finditer(window):
        if any(first <= match.start() < last for first, last in done):
            continue
        scale = _SCALE.match(window, match.end())
        value = Fraction(match[0].replace(",", "")) * (_SCALES[scale[0]] if scale else 1)
        first, last = start + match.start(), start + (scale or match).end()
        if value > _MONTHS_OF_A_YEAR and _MONTHS.match(plain, last):
            # 十八月 is a length of time, not a month.
            yield _figure(plain, first, last + 1, [value * _MONTH.size], _MONTH)
        else:
            yield _figure(plain, first, last, [value], Unit("", Fraction(1)))


def _figure(plain: str, start: int, end: int, values: Sequence[Fraction], unit: Unit) -> Figure:
    numbers = list(_NUMBER.finditer(plain, start, end))
    return Figure(
        start,
        end,
        frozenset(values),
        frozenset(value / unit.size for value in values),
        unit.dimension,
        _bound(plain, start, numbers[-1].end() if numbers else end),
    )


def _bound(plain: str, start: int, end: int) -> Bound | None:
    """The bound of the number ending at `end`."""
    behind = _BEHIND_NUMBER.match(plain[end : end + 24])
    before = _BEFORE_NUMBER.search(plain[max(start - _LONGEST_BEFORE, 0) : start])
    for match, bounds in ((behind, _BOUNDS_BEHIND), (before, _BOUNDS_BEFORE)):
        if match:
            assert match.lastindex is not None
            return bounds[match.lastindex - 1][0]
    return None


def bounded(folded: Folded, figure: Figure) -> str:
    """A figure as written, with its bound: 十日以内, 少なくとも十日, 四分の三を超える."""
    start, end = figure.start, figure.end
    numbers = list(_NUMBER.finditer(folded.text, start, end))
    number_end = numbers[-1].end() if numbers else end
    floor = max(start - _LONGEST_BEFORE, 0)
    if behind := _BEHIND_NUMBER.match(folded.text[number_end : number_end + 24]):
        end = max(end, number_end + behind.end())
        rest = _REST_OF_BOUND.match(folded.text, end)
        end = rest.end() if rest else end
    elif before := _BEFORE_NUMBER.search(folded.text[floor:start]):
        start = floor + before.start()
    return folded.written(start, end)


def same_figure(one: Figure, other: Figure) -> bool:
    """Whether a text has a figure of another; a bare number fits any unit."""
    if one.dimension == other.dimension:
        return one.values <= other.values
    return not (one.dimension and other.dimension) and one.numbers <= other.numbers


def same_date(one: Dated, other: Dated) -> bool:
    """Whether a text has a date, or a more exact one."""
    if one.date.has_year != other.date.has_year:
        return (
            not one.date.has_year
            and one.date.month is not None
            and (
                (one.date.month, one.date.day)
                in ((other.date.month, other.date.day), (other.date.month, None))
            )
        )
    if one.direction or other.direction:
        return _ends(one.date.span) & _ends(other.date.span) != set()
    return other.date.span.within(one.date.span)


def _ends(span: Interval[Day]) -> set[tuple[int, ...]]:
    """The ends of a span with the precision given: the year alone for its first or last day."""
    ends: set[tuple[int, ...]] = set()
    for end, first, last in ((span.low, 1, 1), (span.high, 12, 31)):
        if end is not None:
            year, month, day = end
            whole_month = day == last
            whole_year = whole_month and month == first
            ends.add((year,) if whole_year else (year, month) if whole_month else end)
    return ends


def within(inner: Locator, outer: Locator) -> Locator:
    """第二項 under the heading of article 27 is its second paragraph."""
    if inner.article or inner.division:
        return inner
    if inner.paragraph:
        return Locator(outer.division, outer.article, inner.paragraph, inner.item, inner.subitem)
    return Locator(outer.division, outer.article, outer.paragraph, inner.item, inner.subitem)


def neighbour(word: str, here: Locator) -> Locator:
    """前項 and 次項 as numbers. Articles have branches, so 前条 is unknown without the law."""
    step = {"前項": -1, "次項": 1}.get(word, 0)
    if step and here.paragraph.isdecimal():
        return Locator(here.division, here.article, str(int(here.paragraph) + step))
    return Locator()


def is_at(claimed: Locator, place: Locator) -> bool:
    """Whether a place equals the claimed one or is inside it."""
    pairs = (
        (claimed.division, place.division),
        (claimed.article, place.article),
        # The paragraph of a one-paragraph article has no number.
        (claimed.paragraph, place.paragraph or ("1" if place.article else "")),
        (claimed.item, place.item),
    )
    if not all(not wanted or wanted == there for wanted, there in pairs):
        return False
    return not claimed.subitem or f"{place.subitem}.".startswith(f"{claimed.subitem}.")


_KATAKANA = re.compile(r"[ァ-ヺー]{2,}")
_LATIN = re.compile(r"[a-z\u00df-\u024f][a-z0-9\u00df-\u024f]*(?:[-'’.&][a-z0-9\u00df-\u024f]+)*")
_KANJI = re.compile("[一-鿿々]")
_WORD_WITH_CASE = re.compile(r"[^\W\d_][\w]*(?:[-'’.&][\w]+)*")
_CAPITAL = re.compile(r"[A-Z\u00c0-\u00de]")
# Words behind a name at the start of an English sentence, unlikely behind a common noun.
_AFTER_NAME = re.compile(r"(?:'s)? (?:is|was|has|had)\b|'s\b| and [A-Z]| [A-Z]|,| \(")
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+|[\n\"“(])\s*$")


def names_of(folded: Folded) -> tuple[Name, ...]:
    """Names recognised by spelling and dictionary, and quoted words."""
    found = [
        Name(words.strip(), folded.written_normal(match.start(), match.end()), True)
        for match in QUOTED.finditer(folded.normal)
        if (words := match[1] or match[2]).strip()
    ]
    found += _japanese_names(folded) if folded.words else _english_names(folded.original)
    return tuple(found)


def _japanese_names(folded: Folded) -> Iterator[Name]:
    spans = [
        match.span() for pattern in (_KATAKANA, _LATIN) for match in pattern.finditer(folded.normal)
    ]
    spans += [
        (word.start, word.end)
        for word in folded.words
        if word.kind.startswith("名詞-固有名詞") and _KANJI.search(word.surface)
    ]
    for start, end in spans:
        yield Name(folded.normal[start:end], folded.written_normal(start, end))


def _english_names(original: str) -> Iterator[Name]:
    for match in _WORD_WITH_CASE.finditer(original):
        plain = normalize(match[0])
        is_common = plain.removesuffix("'s") in ENGLISH
        if is_common or not _CAPITAL.match(match[0]):
            continue
        opens = _SENTENCE_START.search(original[max(match.start() - 4, 0) : match.start()])
        if opens and not _AFTER_NAME.match(original, match.end()):
            continue
        yield Name(plain, match[0])
