"""One spelling for dates, figures and shares, of a value or a whole text.

`fold_value` is for single values. `fold` is for claims and sentences in Japanese or English. A
dictionary recognises numerals, and positions map back. Units of measurement are
here, since a decimal needs a unit.
"""

import calendar
import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any, NamedTuple

from localrag_indexes.analysis.analyzer import Morpheme, morphemes
from localrag_indexes.analysis.normalize import (
    NUMERAL_CHARACTERS,
    in_digits,
    normalize,
    normalize_with_offsets,
    original_span,
    parse_numeral,
)


class Unit(NamedTuple):
    """A unit."""

    dimension: str  # what it measures; only quantities of one dimension can be compared
    size: Fraction  # in the base unit of the dimension, exactly


COUNT, ORDINAL = "数", "順番"
"""The dimensions of counts, with any counter, and of ordinals."""


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


WORDS = _data("words.toml")
"""Patterns of dates, figures and quantities, explained in the file."""

UNITS = {
    name: Unit(dimension, Fraction(size))
    for dimension, sizes in _data("units.toml").items()
    for names, size in sizes.items()
    for name in names.split()
}
"""Units by normalised name (NFKC turns ㎢ and km² into km2)."""

BASES = {unit.dimension: name for name, unit in reversed(UNITS.items()) if unit.size == 1}
"""The name of the base unit, by dimension."""


LONGEST = 1_000
"""Longer texts, in characters, are no date, quantity or place."""

_OPENING, _CLOSING = "(〈<\\[〔《【", ")〉>\\]〕》】"
NOTE = rf"[{_OPENING}][^{_OPENING}{_CLOSING}]{{0,80}}[{_CLOSING}]?"
"""A note in brackets, not in quotation marks; the closing bracket may be missing."""

RANGE = r" ?(?:から|より|[-~ー]) ?"
"""Signs and words between the ends of a range."""

_COUNTED = re.compile(rf"[{NUMERAL_CHARACTERS}]{{1,16}}(?=年|か月|ヶ月|箇月|月|日|世紀)")
_DIGITS = "〇一二三四五六七八九"
# 二・三人 and 二・三日 are two or three.
_MEASURED = "|".join(
    re.escape(name) for name, unit in UNITS.items() if unit.dimension not in (COUNT, "時間")
)
_ISO = re.compile(r"(?<![0-9])([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?![0-9])")
_DECIMAL = re.compile(
    rf"([{NUMERAL_CHARACTERS}]{{1,16}})[・.]([{_DIGITS}]{{1,12}})"
    rf"(?= ?[十百千万億兆]?(?:{_MEASURED}))"
)


def fold_value(text: str) -> str:
    """The spelling for reading dates, quantities and places: normalised, numerals as digits.

    Only numerals of dates (昭和四十年 is ``昭和40年``, 1964-10-10 is ``1964年10月10日``) and
    decimals of measures (七・二メートル is ``7.2メートル``); other kanji numerals may be names.
    """
    counted = _COUNTED.sub(lambda match: in_digits(match[0]), normalize(text))
    return _ISO.sub(_japanese_date, _DECIMAL.sub(_decimal, counted).strip())


def _decimal(match: re.Match[str]) -> str:
    decimals = "".join(str(_DIGITS.index(digit)) for digit in match[2])
    try:
        return f"{parse_numeral(match[1])}.{decimals}"
    except ValueError:
        return match[0]


def _japanese_date(match: re.Match[str]) -> str:
    return f"{match[1]}年{match[3]}月{match[4]}日"


_JAPANESE = re.compile("[ぁ-ゖァ-ヶ一-鿿々]")
_LATIN = re.compile("[a-z]")
_LETTERS_A_KANJI = 4
_KANJI_NUMERAL = re.compile(rf"[{NUMERAL_CHARACTERS}]+")
# ひとり, ふたつ, ついたち: separate words in the dictionary.
_COUNTED_WORD = re.compile(rf"[{NUMERAL_CHARACTERS}]+[人日つ月口]")
# A third party (第三者, 第三債務者) is a word, not a count.
_THIRD_PARTY = re.compile("者|国|債務|取得|当事|セクター")
_COMMON_NOUN = "名詞-普通名詞-一般"
_HUNDREDTHS = re.compile(r"(100|1000|10000)分の([0-9]+(?:\.[0-9]+)?)")
# 一割八分 and, of interest, 年五分 are shares; 八分 alone is eight minutes.
_ONE_DIGIT = f"[0-9{_DIGITS}]"
_TENTHS = re.compile(
    rf"(?:([0-9]{{1,3}}|[{_DIGITS}十]{{1,3}})割(?![合当振印賦愛譲])|(?<![0-9{_DIGITS}十])年(?={_ONE_DIGIT}分))"
    rf"(?:({_ONE_DIGIT})分(?!の{_ONE_DIGIT})(?:({_ONE_DIGIT})厘)?)?"
)
_DECIMAL_POINT = re.compile(r"(?<=[0-9])・(?=[0-9])")

_ONES, _TENS, _ORDINAL_WORDS = (row.split() for row in WORDS["english_numbers"].values())
_WORDS = {word: number for number, word in enumerate(_ONES, 2)} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}
_ORDINALS = {word: number for number, word in enumerate(_ORDINAL_WORDS, 1)}
_SCALES, _DENOMINATORS = WORDS["english_scales"], WORDS["english_parts"]
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})[- ](one|{'|'.join(_ONES[:8])})\b")
_SPELT = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")
# "One" is a pronoun unless something counted follows.
_ONE = re.compile(
    r"\ba?one(?=[- ](?:years?|months?|weeks?|days?|hours?|percent|per cent|hundred|thousand"
    r"|million|billion|third|half|quarter)\b)"
)
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS)})\b")
_SCALED = re.compile(rf"\b([0-9][0-9,]*(?:\.[0-9]+)?)[ -]({'|'.join(_SCALES)})\b")
_PARTS = re.compile(rf"\b([0-9]+)[- ]({'|'.join(_DENOMINATORS)})s?\b")

_UNITS = WORDS["english_units"]
_UNIT = re.compile(
    r"(?<=[0-9])[- ]("
    + "|".join(f"(?P<u{place}>{names})" for place, names in enumerate(_UNITS))
    + r")\b"
)
_UNIT_NAMES = tuple(_UNITS.values())

_MONTHS = [name.lower() for name in calendar.month_name[1:]]
_MONTH = rf"({'|'.join(_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_DAY = r"([0-9]{1,2})(?:st|nd|rd|th)?"
_DAYS = rf"{_DAY}(?: ?- ?{_DAY})?"
_YEAR = r"(?:,? ([0-9]{4})(?![0-9]|[,.][0-9]))?"
_DAY_FIRST = re.compile(rf"\b{_DAYS} (?:of )?{_MONTH}{_YEAR}")
_MONTH_FIRST = re.compile(rf"\b{_MONTH} {_DAYS}(?![0-9]){_YEAR}")
_MONTH_OF_YEAR = re.compile(rf"\b{_MONTH},? ([0-9]{{4}})\b")

# A plain figure as large as a year is compared with years, too.
_PLAIN_YEAR = re.compile(
    r"(?<![0-9.,/$€£#])(?<![a-z]-)(?:1[0-9]{3}|20[0-9]{2})"
    r"(?![0-9%/年人a-z]|[.,][0-9]| ?(?:hundred|thou|mill|bill))"
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in one spelling."""

    original: str  # as written
    # normalised; numerals as digits, shares in percent, dates in Japanese form (``1871年3月2日``),
    # English units under their Japanese names
    text: str
    # for each character of `text` its original position, and the original length
    offsets: Sequence[int]
    normal: str  # normal, normal_offsets: the same for the normalised text with numbers as written
    normal_offsets: Sequence[int]
    words: tuple[Morpheme, ...]  # of the normalised text; none for English
    # spans of `normal` with invalid kanji numerals, or numbers of 10^16 and more
    unread: tuple[tuple[int, int], ...] = ()

    def written(self, start: int, end: int) -> str:
        """The original of a span of `text`, trimmed."""
        first, last = original_span(self.offsets, start, end)
        return self.original[first:last].strip()

    def written_normal(self, start: int, end: int) -> str:
        """The original of a span of `normal`, trimmed."""
        first, last = original_span(self.normal_offsets, start, end)
        return self.original[first:last].strip()


def is_japanese(text: str) -> bool:
    """Whether a text is Japanese; an English one may have a name in kanji."""
    written = len(_JAPANESE.findall(text))
    return written > 0 and written * _LETTERS_A_KANJI >= len(_LATIN.findall(text))


def fold(original: str) -> Folded:
    """Fold a text; linear in its length."""
    normal, offsets = normalize_with_offsets(original)
    words: tuple[Morpheme, ...] = ()
    unread: list[tuple[int, int]] = []
    spelling = Spelling(normal, list(offsets))
    if is_japanese(normal):
        words = tuple(_with_third_parties(morphemes(normal)))
        numerals = [(*span, in_digits(normal[slice(*span)])) for span in _numerals(normal, words)]
        spelling.replace_spans(numerals)
        unread = [
            (start, end)
            for start, end, digits in numerals
            if end - start > 1 and not digits.isdecimal()
        ]
        spelling.rewrite(_DECIMAL_POINT, lambda _: ".")
        spelling.rewrite(_HUNDREDTHS, _percent)
        spelling.rewrite(_TENTHS, _tenths)
    else:
        for pattern, replacement in _ENGLISH:
            spelling.rewrite(pattern, replacement)
    spelling.rewrite(_ISO, _japanese_date)
    return Folded(original, spelling.text, spelling.offsets, normal, offsets, words, tuple(unread))


class Spelling:
    """A text under revision, with the origin of each character."""

    def __init__(self, text: str, offsets: list[int]) -> None:
        self.text = text
        self.offsets = offsets

    def rewrite(
        self, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]
    ) -> None:
        """Replace every match."""
        self.replace_spans(
            [
                (match.start(), match.end(), replacement(match))
                for match in pattern.finditer(self.text)
            ]
        )

    def replace_spans(self, edits: Sequence[tuple[int, int, str]]) -> None:
        """Replace spans, in order; new characters originate from the first one replaced."""
        if not edits:
            return
        pieces: list[str] = []
        offsets: list[int] = []
        done = 0
        for start, end, new in edits:
            pieces += self.text[done:start], new
            offsets += self.offsets[done:start]
            offsets += [self.offsets[start]] * len(new)
            done = end
        pieces.append(self.text[done:])
        offsets += self.offsets[done:]
        self.text, self.offsets = "".join(pieces), offsets


def _with_third_parties(words: Sequence[Morpheme]) -> Iterator[Morpheme]:
    """The words, with 第三 joined to its noun."""
    at = 0
    while at < len(words):
        word = words[at]
        third = "".join(one.surface for one in words[at : at + 2]) == "第三"
        if third and at + 2 < len(words) and _THIRD_PARTY.match(words[at + 2].surface):
            yield Morpheme("第三", word.start, words[at + 1].end, _COMMON_NOUN, "第三")
            at += 2
        else:
            yield word
            at += 1


def _numerals(normal: str, words: Sequence[Morpheme]) -> Iterator[tuple[int, int]]:
    """Kanji numerals that are numbers in the dictionary, not parts of words."""
    numbers = [
        (word.start, word.end - (word.kind != "名詞-数詞"))
        for word in words
        if word.kind == "名詞-数詞" or _COUNTED_WORD.fullmatch(word.surface)
    ]
    starts = [start for start, _ in numbers]
    for match in _KANJI_NUMERAL.finditer(normal):
        start, end = match.span()
        first = bisect_left(starts, start)
        covered = start
        while first < len(numbers) and numbers[first][0] == covered < end:
            covered = numbers[first][1]
            first += 1
        if covered == start or (start and normal[start - 1].isdigit()):
            continue
        yield start, covered


def _percent(match: re.Match[str]) -> str:
    whole, _, decimals = match[2].partition(".")
    places = len(decimals) + len(match[1]) - len("100")
    digits = (whole + decimals).zfill(places + 1)
    share = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"{share}%"


def _tenths(match: re.Match[str]) -> str:
    try:
        tenths, hundredths, thousandths = (parse_numeral(one or "0") for one in match.groups())
    except ValueError:
        return match[0]
    if match[1] is None and match[2] is None:
        return match[0]
    share = f"{10 * tenths + hundredths}" + (f".{thousandths}" if thousandths else "")
    return f"{'' if match[1] else '年'}{share}%"


def _scaled(match: re.Match[str]) -> str:
    whole, _, decimals = match[1].replace(",", "").partition(".")
    zeros = len(str(_SCALES[match[2]])) - 1
    if len(decimals) > zeros:
        return match[0]
    return whole + decimals + "0" * (zeros - len(decimals))


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name[:3]))


def _date(year: str | None, month: str, first: str, last: str | None = None) -> str:
    day = f"{_month(month)}月{first}日" + (f"-{_month(month)}月{last}日" if last else "")
    return (f"{year}年{day}" if year else day) + " "


_ENGLISH: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_DAY_FIRST, lambda match: _date(match[4], match[3], match[1], match[2])),
    (_MONTH_FIRST, lambda match: _date(match[4], match[1], match[2], match[3])),
    (_MONTH_OF_YEAR, lambda match: f"{match[2]}年{_month(match[1])}月 "),
    (
        _COMPOUND,
        lambda match: str(_WORDS[match[1]] + _WORDS.get(match[2], 1)),
    ),
    (_SPELT, lambda match: str(_WORDS[match[0]])),
    (_ONE, lambda _: "1"),
    # Once for "hundred", again for the "thousand" of "five hundred thousand".
    (_SCALED, _scaled),
    (_SCALED, _scaled),
    (_PARTS, lambda match: f"{_DENOMINATORS[match[2]]}分の{match[1]}"),
    (_ORDINAL, lambda match: f"第{_ORDINALS[match[1]]}"),
    (
        _UNIT,
        lambda match: next(name for place, name in enumerate(_UNIT_NAMES) if match[f"u{place}"]),
    ),
    (_PLAIN_YEAR, lambda match: f"{match[0]}年"),
)
