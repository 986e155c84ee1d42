"""Writes provisions the way lawyers cite them."""

from localrag.corpus.model import Locator
from localrag.statutes._grammar import IROHA
from localrag_indexes.analysis.numerals import to_kanji

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


def cite(title: str, locator: Locator, *, arabic: bool = False, division: str = "") -> str:
    """Write 金融商品取引法第二十七条の三十六第一項第二号イ.

    Args:
        title: the law's title, written first; may be empty.
        locator: the provision.
        arabic: write 第27条の36第1項第2号イ.
        division: the printed label of a supplementary provision or appendix (別表第一);
            without it a supplementary provision is 附則 and an appendix 別表.
    """
    if not division and locator.division:
        division = "附則" if locator.division.startswith("suppl") else "別表"
    parts = [title, division]
    for number, counter in (
        (locator.article, "条"),
        (locator.paragraph, "項"),
        (locator.item, "号"),
    ):
        if number:
            ends = [_numbered(end, counter, arabic) for end in number.split(":")]
            parts.append("から".join(ends) + ("まで" if len(ends) > 1 else ""))
    parts += [
        _subitem(number, level)
        for level, number in enumerate(filter(None, locator.subitem.split(".")))
    ]
    return "".join(parts)


def _numbered(number: str, counter: str, arabic: bool) -> str:
    main, *branches = number.split("_")
    words = f"第{_written(main, arabic)}{counter}"
    return words + "".join(f"の{_written(branch, arabic)}" for branch in branches)


def _written(number: str, arabic: bool) -> str:
    return number if arabic or not number.isdecimal() else to_kanji(int(number))


def _subitem(number: str, level: int) -> str:
    value = int(number) if number.isdecimal() else 0
    if level == 0 and 0 < value <= len(IROHA):
        return IROHA[value - 1]
    if level == 2 and 0 < value <= len(_ROMAN):
        return f"({_ROMAN[value - 1]})"
    return f"({number})"
