"""Numbers of provisions: from the printed form to locators, and from locators to words."""

import re

_DIGITS = "〇一二三四五六七八九"
_UNITS = {"十": 10, "百": 100, "千": 1000}
_KANJI = "〇一二三四五六七八九十百千"
_WELL_FORMED = re.compile(r"\d+(?:_\d+)*(?::\d+(?:_\d+)*)?")
_PRINTED_ARTICLE = re.compile(rf"第([{_KANJI}0-9０-９]+)条((?:[のノ][{_KANJI}0-9０-９]+)*)")
_PRINTED_ITEM = re.compile(rf"([{_KANJI}]+)((?:[のノ][{_KANJI}]+)*)")
_ITEM_TITLE = re.compile(rf"(?:[{_KANJI}のノ]|から|まで|及び|及ビ|及|乃至|、|・)+")


def is_number(number: str) -> bool:
    """Tell whether `number` has the form of a locator number: ``27``, ``27_36``, ``55:63``."""
    return _WELL_FORMED.fullmatch(number) is not None


def kanji(number: int) -> str:
    """Write ``36`` as 三十六; for 0 < `number` < 10000."""
    words = ""
    for unit, size in (("千", 1000), ("百", 100), ("十", 10)):
        count, number = divmod(number, size)
        if count:
            words += ("" if count == 1 else _DIGITS[count]) + unit
    return words + (_DIGITS[number] if number else "")


def integer(printed: str) -> int:
    """Read 三十六, 三六 or ３６ as 36; `printed` holds nothing but digits of one of these forms."""
    if not any(unit in printed for unit in _UNITS):
        return int("".join(str(_DIGITS.index(c)) if c in _DIGITS else c for c in printed))
    total, digit = 0, 0
    for character in printed:
        if character in _UNITS:
            total += (digit or 1) * _UNITS[character]
            digit = 0
        else:
            digit = _DIGITS.index(character)
    return total + digit


def article_number(number: str, title: str) -> str:
    """Find the locator number of an article.

    Args:
        number: as the file states it; taken where well-formed.
        title: as printed, read otherwise (第五十五条から第六十三条まで is ``55:63``).

    Returns:
        The number, empty where neither tells it.
    """
    if is_number(number):
        return number
    printed = [
        "_".join(str(integer(part)) for part in (main, *re.split("[のノ]", branches)[1:]))
        for main, branches in _PRINTED_ARTICLE.findall(title)
    ]
    if len(printed) > 1:
        return f"{printed[0]}:{printed[-1]}"
    return printed[0] if printed else ""


def article_words(number: str, title: str) -> str:
    """Return the printed title, or 第二十七条の三十六 from ``27_36`` where none is printed."""
    if title or not number:
        return title
    return "から".join(_branched(part, "条") for part in number.split(":"))


def paragraph_words(number: str) -> str:
    """Write 第六項 for ``6``."""
    return "から".join(_branched(part, "項") for part in number.split(":"))


def item_words(title: str) -> str:
    """Write 第一号の二 for the printed 一の二; other signs (イ, （１）) stay as printed."""
    if _ITEM_TITLE.fullmatch(title):
        return _PRINTED_ITEM.sub(r"第\1号\2", title)
    return title


def _branched(number: str, counter: str) -> str:
    main, *branches = (kanji(int(part)) for part in number.split("_"))
    return f"第{main}{counter}" + "".join(f"の{branch}" for branch in branches)
