"""Which lines of a paragraph are items and subitems, where a file gives only the lines.

A sign at the head of a line is not enough: tables hold lines such as 百万円　… as well. A line
counts as an item only where its number follows the one before, or where it is the first of its
kind and stands directly below the sentence or the item it belongs to. What is not certain stays a
plain line of the paragraph.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from localrag.corpus.readers.statute_words import integer

_KANJI = "[一二三四五六七八九十百千]+"
_ALPHABETS = {
    "iroha": "イロハニホヘトチリヌルヲワカヨタレソツネナラム"
    "ウヰノオクヤマケフコエテアサキユメミシヱヒモセス",
    "gojuon": "アイウエオカキクケコサシスセソタチツテトナニヌネノ"
    "ハヒフヘホマミムメモヤユヨラリルレロワ",
    "lower": "ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ",
    "upper": "ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ",
    "roman": "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹ",
    "upper roman": "ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ",
    "circled": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
}
_ROMAN_LETTERS = ["ｉ", "ｉｉ", "ｉｉｉ", "ｉｖ", "ｖ", "ｖｉ", "ｖｉｉ", "ｖｉｉｉ", "ｉｘ", "ｘ"]

_HEAD = re.compile(r"([^　\s]{1,24})　")
_BRANCHED = re.compile(rf"({_KANJI})((?:[のノ]{_KANJI})*)")
_RANGE = re.compile(r"(.+?)(?:から|及び|及ビ|及|乃至)(.+?)(?:まで)?")
_BRACKETED = re.compile(r"[（(](.+)[）)]")
_CELL = "｜"
"""Separates the cells of table rows, which may begin like items."""
_DIGITS = re.compile("[0-9０-９]{1,3}")

_Number = tuple[int, ...]
_Reading = tuple[str, _Number, _Number]
"""What a sign may be: the kind of its list, its first and its last number."""


@dataclass(slots=True)
class ItemLine:
    """A line and the items below it.

    Attributes:
        line: as printed, sign and all.
        sign: the printed number (一の二, イ, （１）); empty for a plain line.
        number: the same as a locator number (``1_2``, ``1``); empty for a plain line.
        below: items and plain lines one step deeper.
    """

    line: str
    sign: str = ""
    number: str = ""
    below: list["ItemLine"] = field(default_factory=list)


@dataclass(slots=True)
class _Level:
    style: str
    last: _Number
    node: ItemLine


def item_lines(lines: Iterable[str]) -> list[ItemLine]:
    """Sort the lines below a paragraph's sentence into items, subitems and plain lines."""
    top: list[ItemLine] = []
    levels: list[_Level] = []
    directly_below = True
    for line in lines:
        head = None if _CELL in line else _HEAD.match(line)
        readings = _readings(head.group(1)) if head else []
        reading = _continued(levels, readings) or (directly_below and _begun(levels, readings))
        directly_below = bool(reading)
        if not head or not reading:
            # It may belong to the paragraph or to the item above; no provision claims it.
            (levels[-2].node.below if len(levels) > 1 else top).append(ItemLine(line))
            continue
        style, first, last = reading
        number = _locator(first) if first == last else f"{_locator(first)}:{_locator(last)}"
        node = ItemLine(line, head.group(1), number)
        (levels[-1].node.below if levels else top).append(node)
        levels.append(_Level(style, last, node))
    return top


def _continued(levels: list[_Level], readings: list[_Reading]) -> _Reading | None:
    """Find the list that a sign continues, and close those inside it."""
    for reading in readings:
        for depth, level in enumerate(levels):
            if level.style == reading[0] and _follows(level.last, reading[1]):
                del levels[depth:]
                return reading
    return None


def _begun(levels: list[_Level], readings: list[_Reading]) -> _Reading | None:
    """Find the list that a sign begins, of another kind than those it would stand in."""
    styles = {level.style for level in levels}
    return next((r for r in readings if r[1] == (1,) and r[0] not in styles), None)


def _follows(before: _Number, number: _Number) -> bool:
    """Tell whether `number` is next: 二 or 一の二 after 一, 二 or 一の四 after 一の三."""
    return any(
        number == (*before[:depth], before[depth] + 1) for depth in range(len(before))
    ) or number in ((*before, 2), (*before, 1))


def _readings(sign: str) -> list[_Reading]:
    """List what a sign may be: イ is first of one order and second of another."""
    ends = _RANGE.fullmatch(sign)
    if ends:
        firsts, lasts = _readings(ends.group(1)), _readings(ends.group(2))
        return [
            (style, first, last)
            for style, first, _ in firsts
            for other, last, _ in lasts
            if style == other and last > first
        ]
    bracketed = _BRACKETED.fullmatch(sign)
    prefix = "bracketed " if bracketed else ""
    return [
        (prefix + style, number, number)
        for style, number in _simple(bracketed.group(1) if bracketed else sign)
    ]


def _simple(sign: str) -> list[tuple[str, _Number]]:
    branched = _BRANCHED.fullmatch(sign)
    if branched:
        parts = (branched.group(1), *re.split("[のノ]", branched.group(2))[1:])
        return [("kanji", tuple(integer(part) for part in parts))]
    if _DIGITS.fullmatch(sign):
        return [("digits", (int(sign),))]
    readings: list[tuple[str, _Number]] = []
    if sign in _ROMAN_LETTERS:
        readings.append(("roman", (_ROMAN_LETTERS.index(sign) + 1,)))
    if len(sign) == 1:
        readings += [
            (style, (alphabet.index(sign) + 1,))
            for style, alphabet in _ALPHABETS.items()
            if sign in alphabet
        ]
    return readings


def _locator(number: _Number) -> str:
    return "_".join(map(str, number))
