"""Automatic numbers of paragraphs (第1条, (1), ア) and notes in Word, and styles.

The file has no numbers as text. It has counters (`w:abstractNum`), their uses (`w:num`), and
paragraphs naming a use and a level, directly or by style.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from lxml import etree

from localrag.corpus.readers.package import child, is_on, name, number, value
from localrag_indexes.analysis.normalize import to_kanji

_LEVELS, _DEEPEST = 9, 50
_AIUEO = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_IROHA = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノ"
    "オクヤマケフコエテアサキユメミシヱヒモセスン"
)
# Word writes ｱ for aiueo and ア for aiueoFullWidth; two kana have no half width.
_HALF_WIDTH = {
    unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF66, 0xFF9E)
}
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_LEGAL = str.maketrans("一二三五十百千万", "壱弐参伍拾百阡萬")
_CHINESE, _CHINESE_UNITS = "零一二三四五六七八九", "千百十"
_TRADITIONAL = str.maketrans("一二三四五六七八九十百千万", "壹貳參肆伍陸柒捌玖拾佰仟萬")
_SIMPLIFIED = str.maketrans("一二三四五六七八九十百千", "壹贰叁肆伍陆柒捌玖拾佰仟")
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LONGEST = 64
# Limit for counters.
_MOST = 1_000_000


def _listed(signs: str, n: int) -> str:
    return signs[(n - 1) % len(signs)]


def _half_width(signs: str, n: int) -> str:
    sign = _listed(signs, n)
    return _HALF_WIDTH.get(sign, sign)


def _letters(n: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[(n - 1) % 26] * min((n - 1) // 26 + 1, 20)


def _roman(n: int) -> str:
    written = ""
    for size, sign in _ROMAN:
        count, n = divmod(n, size)
        written += sign * min(count, 40)
    return written


def _within(first: str, last: int, n: int) -> str:
    return chr(ord(first) + n - 1) if n <= last else str(n)


def _ordinal(n: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th") if n % 100 // 10 != 1 else "th"
    return f"{n}{ending}"


def _full_width(n: int) -> str:
    return "".join(chr(ord(digit) + 0xFEE0) for digit in str(n))


def _digits(n: int) -> str:
    return "".join("〇一二三四五六七八九"[int(digit)] for digit in str(n))


def _cycle(n: int) -> str:
    return _listed(_STEMS, n) + _listed(_BRANCHES, n)


def _chinese(n: int) -> str:
    """A number in Chinese, with ones and zeros: 一百零九, 一千零五十."""
    high, low = divmod(n, 10_000)
    written, skips = (_chinese(high) + "万" if high else ""), False
    for at, unit in enumerate((*_CHINESE_UNITS, "")):
        digit = low // 10 ** (3 - at) % 10
        if digit:
            written += ("零" if skips and written else "") + _CHINESE[digit] + unit
        skips = not digit
    return written


def _chinese_counting(n: int) -> str:
    return _chinese(n).removeprefix("一") if n // 10 == 1 else _chinese(n)


# Formats with plain digits, or without a number.
_DECIMAL = frozenset(["decimal", "decimalHalfWidth", "bullet"])
# Other number formats (ST_NumberFormat).
_FORMATS: Mapping[str, Callable[[int], str]] = {
    "decimalZero": lambda n: f"{n:02}",
    "upperRoman": lambda n: _roman(n).upper(),
    "lowerRoman": _roman,
    "upperLetter": lambda n: _letters(n).upper(),
    "lowerLetter": _letters,
    "ordinal": _ordinal,
    "hex": lambda n: f"{n:X}",
    "numberInDash": lambda n: f"- {n} -",
    "chicago": lambda n: "*†‡§"[(n - 1) % 4] * min((n - 1) // 4 + 1, 20),
    "decimalFullWidth": _full_width,
    "decimalFullWidth2": _full_width,
    "decimalEnclosedCircle": partial(_within, "①", 20),
    "decimalEnclosedCircleChinese": partial(_within, "①", 20),
    "decimalEnclosedFullstop": partial(_within, "⒈", 20),
    "decimalEnclosedParen": partial(_within, "⑴", 20),
    "ideographEnclosedCircle": partial(_within, "㊀", 10),
    "japaneseCounting": to_kanji,
    "japaneseLegal": lambda n: to_kanji(n).translate(_LEGAL),
    "japaneseDigitalTenThousand": _digits,
    "ideographDigital": _digits,
    "chineseCounting": to_kanji,
    "chineseCountingThousand": _chinese_counting,
    "chineseLegalSimplified": lambda n: _chinese(n).translate(_SIMPLIFIED),
    "ideographLegalTraditional": lambda n: _chinese(n).translate(_TRADITIONAL),
    "taiwaneseCounting": to_kanji,
    "taiwaneseCountingThousand": _chinese_counting,
    "taiwaneseDigital": _digits,
    "koreanDigital2": _digits,
    "ideographTraditional": partial(_listed, _STEMS),
    "ideographZodiac": partial(_listed, _BRANCHES),
    "ideographZodiacTraditional": _cycle,
    "aiueo": partial(_half_width, _AIUEO),
    "aiueoFullWidth": partial(_listed, _AIUEO),
    "iroha": partial(_half_width, _IROHA),
    "irohaFullWidth": partial(_listed, _IROHA),
    "ganada": partial(_listed, "가나다라마바사아자차카타파하"),
    "chosung": partial(_listed, "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"),
    "none": lambda _: "",
}


def formatted(n: int, number_format: str) -> str:
    """Write a number like Word (3 is ``ウ`` in ``aiueoFullWidth``), else in digits."""
    write = _FORMATS.get(number_format)
    return str(n) if write is None or (n < 1 and number_format != "none") else write(n)


def is_known(number_format: str) -> bool:
    """Whether `formatted` knows a format."""
    return number_format in _FORMATS or number_format in _DECIMAL


@dataclass(slots=True)
class _Style:
    based_on: str = ""
    title: str = ""
    outline: int | None = None
    hidden: bool | None = None
    num: str | None = None
    level: int | None = None


class Styles:
    """The styles of a document."""

    def __init__(self, root: etree._Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        self._usual = ""
        for style in root if root is not None else ():
            if name(style) == "w:style":
                id_ = value(style, "styleId")
                self._styles[id_] = _style(style)
                if value(style, "type") == "paragraph" and value(style, "default") in ("1", "true"):
                    self._usual = id_

    def depth(self, properties: etree._Element | None) -> int:
        """Depth of a heading, from 1; 0 for other paragraphs."""
        direct = child(properties, "w:outlineLvl")
        if direct is not None:
            return _depth(number(value(direct), _LEVELS))
        for _, style in self._chain(value(child(properties, "w:pStyle"))):
            if style.outline is not None:
                return _depth(style.outline)
            heading = re.fullmatch(r"(?:heading|見出し) ?([0-9]+)", style.title, re.IGNORECASE)
            if heading:
                return min(number(heading[1]), _LEVELS)
        return 0

    def is_hidden(self, run: etree._Element, paragraph: etree._Element | None) -> bool:
        """Whether Word hides a run, by its own properties, its style or its paragraph's."""
        properties = child(run, "w:rPr")
        direct = child(properties, "w:vanish")
        if direct is not None:
            return is_on(direct)
        of_run = value(child(properties, "w:rStyle"))
        of_paragraph = value(child(paragraph, "w:pStyle"), default=self._usual)
        for id_ in (of_run, of_paragraph):
            for _, style in self._chain(id_) if id_ else ():
                if style.hidden is not None:
                    return style.hidden
        return False

    def numbering(self, properties: etree._Element | None) -> tuple[str, int | None, str]:
        """Id of the use, or ""; level, or None if the style sets it; id of the style, or ""."""
        own = child(properties, "w:numPr")
        num, level = child(own, "w:numId"), child(own, "w:ilvl")
        at = number(value(level)) if level is not None else None
        if num is not None:
            return value(num), at or 0, ""
        for id_, style in self._chain(value(child(properties, "w:pStyle"))):
            at = style.level if at is None else at
            if style.num is not None:
                return style.num, at, id_
        return "", None, ""

    def num_of(self, id_: str) -> str:
        """The use named by a list style; "" for none."""
        return self._styles[id_].num or "" if id_ in self._styles else ""

    def _chain(self, id_: str) -> Iterator[tuple[str, _Style]]:
        id_ = id_ or self._usual
        for _ in range(_DEEPEST):
            if id_ not in self._styles:
                return
            yield id_, self._styles[id_]
            id_ = self._styles[id_].based_on


def _style(style: etree._Element) -> _Style:
    of_paragraph = child(style, "w:pPr")
    outline, hidden = child(of_paragraph, "w:outlineLvl"), child(style, "w:rPr", "w:vanish")
    num = child(of_paragraph, "w:numPr", "w:numId")
    level = child(of_paragraph, "w:numPr", "w:ilvl")
    return _Style(
        value(child(style, "w:basedOn")),
        value(child(style, "w:name")),
        None if outline is None else number(value(outline), _LEVELS),
        None if hidden is None else is_on(hidden),
        None if num is None else value(num),
        None if level is None else number(value(level)),
    )


def _depth(outline: int) -> int:
    return outline + 1 if 0 <= outline < _LEVELS else 0


@dataclass(slots=True)
class _Level:
    """A level of a list: how to make and write its number."""

    start: int = 1
    number_format: str = "decimal"
    text: str = ""
    follows: str = "tab"
    restart: int | None = None
    legal: bool = False
    style: str = ""
    font: str = ""
    hidden: bool = False


@dataclass(slots=True)
class _Use:
    """A use of a counter, with its own levels and start values."""

    abstract: str
    levels: dict[int, _Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Number:
    """The number of a paragraph."""

    text: str  # as printed; "" for nothing
    parted: bool  # whether a tab or space follows
    font: str  # of a bullet, maybe without Unicode


class Numbering:
    """Counts the paragraphs in reading order, and collects numbers of `unknown` formats."""

    def __init__(self, root: etree._Element | None, styles: Styles) -> None:
        self._styles = styles
        self._abstract: dict[str, dict[int, _Level]] = {}
        self._linked: dict[str, str] = {}
        self._uses: dict[str, _Use] = {}
        self._counts: dict[str, list[int | None]] = {}
        self._begun = set[tuple[str, int]]()
        self.unknown = 0
        for one in root if root is not None else ():
            if name(one) == "w:abstractNum":
                id_ = value(one, "abstractNumId")
                self._abstract[id_] = dict(_levels(one))
                if link := value(child(one, "w:numStyleLink")):
                    self._linked[id_] = link
            elif name(one) == "w:num":
                self._uses[value(one, "numId")] = _use(one)

    def of(self, properties: etree._Element | None) -> Number | None:
        """Count a paragraph; None if it has no number."""
        num, level, style = self._styles.numbering(properties)
        use = self._uses.get(num)
        if use is None:
            return None
        abstract = self._resolved(use.abstract)
        levels = {**self._abstract.get(abstract, {}), **use.levels}
        if level is None:
            level = next((at for at, one in levels.items() if style and one.style == style), 0)
        if level not in levels:
            return None
        return self._written(levels, self._counted(num, use, abstract, levels, level), level)

    def _resolved(self, abstract: str) -> str:
        """The counter with the levels; some only name a style with another use."""
        passed = set[str]()
        while abstract in self._linked and abstract not in passed:
            passed.add(abstract)
            use = self._uses.get(self._styles.num_of(self._linked[abstract]))
            abstract = use.abstract if use else abstract
        return abstract

    def _counted(
        self, num: str, use: _Use, abstract: str, levels: Mapping[int, _Level], level: int
    ) -> list[int]:
        """The number of each level after counting a paragraph."""
        starts = {at: use.starts.get(at, one.start) for at, one in levels.items()}
        counts = self._counts.setdefault(abstract, [None] * _LEVELS)
        begins = level in use.starts and (num, level) not in self._begun
        self._begun.add((num, level))
        before = counts[level]
        counts[level] = starts[level] if begins or before is None else min(before + 1, _MOST)
        for below in range(level + 1, _LEVELS):
            restart = levels[below].restart if below in levels else None
            # 0: never; n: after a paragraph of level n or above.
            if level < (below if restart is None else restart):
                counts[below] = None
        return [starts.get(at, 1) if count is None else count for at, count in enumerate(counts)]

    def _written(self, levels: Mapping[int, _Level], counts: list[int], level: int) -> Number:
        own = levels[level]

        def digits(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            if at not in levels:
                return ""
            written_in = "decimal" if own.legal else levels[at].number_format
            self.unknown += not is_known(written_in)
            return formatted(counts[at], written_in)

        text = "" if own.hidden else own.text
        if own.number_format != "bullet":
            text = re.sub("%([1-9])", digits, text)
        return Number(text, own.follows != "nothing", own.font)


def _levels(of: etree._Element) -> Iterator[tuple[int, _Level]]:
    for one in of:
        if name(one) == "w:lvl":
            at = number(value(one, "ilvl"), -1)
            if 0 <= at < _LEVELS:
                yield at, _level(one)


def _level(one: etree._Element) -> _Level:
    # Newer formats are alternatives beside an older one.
    number_format = child(one, "w:numFmt")
    if number_format is None:
        number_format = child(one, "mc:AlternateContent", "mc:Choice", "w:numFmt")
    restart, properties = child(one, "w:lvlRestart"), child(one, "w:rPr")
    fonts = child(properties, "w:rFonts")
    return _Level(
        start=number(value(child(one, "w:start")), 0),
        number_format=_of_example(number_format),
        text=value(child(one, "w:lvlText"))[:_LONGEST],
        follows=value(child(one, "w:suff"), default="tab"),
        restart=None if restart is None else number(value(restart)),
        legal=is_on(child(one, "w:isLgl")),
        style=value(child(one, "w:pStyle")),
        font=value(fonts, "ascii") or value(fonts, "hAnsi"),
        hidden=is_on(child(properties, "w:vanish")),
    )


def _of_example(number_format: etree._Element | None) -> str:
    named = value(number_format, default="decimal")
    example = value(number_format, "format")
    return "decimalZero" if named == "custom" and example.startswith("0") else named


def _use(num: etree._Element) -> _Use:
    use = _Use(value(child(num, "w:abstractNumId")))
    for override in num:
        if name(override) != "w:lvlOverride":
            continue
        at = number(value(override, "ilvl"), -1)
        use.levels.update(_levels(override))
        start = child(override, "w:startOverride")
        if start is not None and 0 <= at < _LEVELS:
            use.starts[at] = number(value(start))
    return use


@dataclass(slots=True)
class WordNotes:
    """The footnotes or endnotes of a file."""

    by_id: dict[str, etree._Element]
    label: str = "注"  # label before the number
    number_format: str = "decimal"  # of the numbers
    start: int = 1  # the first number
    restarts: bool = False  # whether each section starts over
    unknown: int = 0  # numbers written in digits, because their format is unknown
    _count: int = 0

    def next_label(self) -> str:
        """The label of the next note: 注1."""
        self._count += 1
        self.unknown += not is_known(self.number_format)
        return self.label + formatted(self.start + self._count - 1, self.number_format)

    def begin_section(self) -> None:
        """Begin a section."""
        self._count = 0 if self.restarts else self._count


def notes_of(
    kind: str, roots: Iterable[etree._Element], places: Iterable[etree._Element | None]
) -> WordNotes:
    """Collect the footnotes or endnotes of a file; later `places` override."""
    found = WordNotes(
        {
            value(note, "id"): note
            for root in roots
            for note in root
            if name(note) == f"w:{kind}" and value(note, "type", "normal") == "normal"
        }
    )
    for place in places:
        properties = child(place, f"w:{kind}Pr")
        found.number_format = value(child(properties, "w:numFmt")) or found.number_format
        found.start = number(value(child(properties, "w:numStart")), found.start)
        found.restarts |= value(child(properties, "w:numRestart")) == "eachSect"
    return found
