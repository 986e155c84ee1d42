"""The law that stands right before a citation, as it is written there."""

import re
from enum import StrEnum
from typing import NamedTuple


class LawKind(StrEnum):
    """How a citation names its law."""

    NONE = ""
    NAMED = "named"
    THIS = "this"
    PARENT = "law"
    DECREE = "decree"
    RULE = "rule"
    SAME = "same"
    TABLE = "table"


class LawPart(NamedTuple):
    """The law of a citation as written.

    Attributes:
        text: the name or word ("金融商品取引法", "法", "同法"); empty where none is written.
        kind: ``law`` is 法, ``decree`` 令, ``rule`` 規則 or 府令 or 省令, each standing alone;
            ``same`` 同法, 同令 …; ``this`` この法律, この政令 …; ``table`` 同表, 下欄 …, whose
            items are no provisions; ``named`` anything else.
        start, end: its span. Where a name in the middle of a sentence begins cannot be told from
            its spelling, so `start` is a guess for long names and `end` is exact.
        number: the law number in the brackets that follow the name, as written.
    """

    text: str = ""
    kind: LawKind = LawKind.NONE
    start: int = 0
    end: int = 0
    number: str = ""


NO_LAW = LawPart()

_LONGEST_NAME = 120
_LONGEST_BRACKETS = 300
_ENDINGS = "法律令則憲典程例約款件規定制"
_WORD = re.compile(r"[一-鿿々ァ-ヶー・]+")
_PROVISIONS = re.compile(
    r".*(?:[条項号章節款編則表]中|第[〇一二三四五六七八九十百千]+[章節款編条項号])"
)
_LONG_NAME = re.compile(
    r"(?:関する|ための|関スル|[るたの])"
    r"(?:法律|(?:特別|臨時)?(?:措置|特例)法|政令|内閣府令|[一-鿿]*省令|規則|命令|件)"
    r"(?:施行令|施行規則|施行細則)?$"
)
_AMENDED = re.compile(r".*[条項号編章節款表則]中(?P<name>[^。「」（）()\n\t　]*)$", re.DOTALL)
_JOINED = re.compile("、?(?:又は|及び|若しくは|並びに)?")
_CLAUSE = re.compile(
    r".*(?:[。「」『』（）()\n\t　]|[はがをもてで]、|、(?:又は|及び|若しくは|並びに)"
    r"|(?:において|について|により|規定による|定めによる|場合における|から(?!の)|(?<!我)が|規定する|掲げる|定める|準用する|うち|改正[前後]の|中(?=[一-鿿])(?!中小|中央|中心))、?)",
    re.DOTALL,
)
_KINDS = {
    "法": LawKind.PARENT,
    "令": LawKind.DECREE,
    **dict.fromkeys(("規則", "府令", "省令", "内閣府令"), LawKind.RULE),
    **dict.fromkeys(
        (
            "同法",
            "同法律",
            "同令",
            "同政令",
            "同規則",
            "同府令",
            "同省令",
            "同施行令",
            "同施行規則",
        ),
        LawKind.SAME,
    ),
    **dict.fromkeys(("本法", "当法", "本令", "本規則"), LawKind.THIS),
}
_THIS = frozenset(("法律", "政令", "府令", "省令", "規則", "命令", "法"))
_LAW_NUMBER = re.compile(
    r"(?:明治|大正|昭和|平成|令和)[^（）「」。]{1,6}年[^（）「」。]{1,30}第[^（）「」。、]{1,12}号"
)


# 昭和二十八年法律第百五十五号附則第十三条, 規則八―一二（職員の任免）第四条
_NUMBERED = re.compile(
    r"(?:(?:明治|大正|昭和|平成|令和)[〇一二三四五六七八九十元]{1,4}年)?[一-鿿]{0,12}"
    r"(?:法律|[政勅閣省府]令|規則|告示)第[〇一二三四五六七八九十百千]{1,7}号$"
    r"|(?:人事院)?規則[〇一二三四五六七八九十]{1,4}[―－][〇一二三四五六七八九十]{1,4}$"
)
_LONGEST_NUMBER = 40
_TABLE = re.compile(r"[表欄](?:の|に掲げる|に規定する|中)?$")


def table_before(text: str, position: int) -> LawPart:
    """Return the table that the item at `position` is one of: 同表第三号, 下欄に掲げる第一号."""
    found = _TABLE.search(text, max(0, position - 6), position)
    if found is None:
        return NO_LAW
    return LawPart(found[0], LawKind.TABLE, found.start(), position)


def law_part_before(text: str, position: int, floor: int) -> LawPart:
    """Return the law written right before `position`, looking back no further than `floor`."""
    end = position
    while end > floor and text[end - 1] in " 　\u00a0":
        end -= 1
    if end <= floor:
        return NO_LAW
    number = ""
    last = text[end - 1]
    if last in "）)":
        opening = _opening(text, end, floor)
        if opening <= floor:
            return NO_LAW
        found = _LAW_NUMBER.search(text, opening, end)
        number = found[0] if found else ""
        end = opening
        while end > floor and text[end - 1] in " 　":
            end -= 1
        last = text[end - 1]
    if last in "」』":
        end -= 1
        last = text[end - 1] if end > floor else ""
    if numbered := _NUMBERED.search(text, max(floor, end - _LONGEST_NUMBER), end):
        name = numbered[0]
        return LawPart(name, LawKind.NAMED, numbered.start(), end, number or name)
    if not last or last not in _ENDINGS:
        return NO_LAW
    return _named(text, end, max(floor, end - _LONGEST_NAME), number)


def _named(text: str, end: int, floor: int, number: str) -> LawPart:
    before = text[floor:end]
    word = _WORD.match(before[::-1])
    if word is None:
        return NO_LAW
    name = before[len(before) - word.end() :]
    if cut := _PROVISIONS.match(name):
        name = name[cut.end() :]
    if end - len(name) == floor:
        # Right after a provision: 第三条中民法第五条.
        name = name.removeprefix("中")
    if not name:
        return NO_LAW
    start = end - len(name)
    if name in _THIS and text.startswith("この", start - 2):
        return LawPart("この" + name, LawKind.THIS, start - 2, end, number)
    if (kind := _KINDS.get(name)) and not before.endswith(("関する" + name, "ための" + name)):
        return LawPart(name, kind, start, end, number)
    if name[-1] not in "法律令則憲典" and not number:
        return NO_LAW
    if _LONG_NAME.search(before):
        start = floor + _name_start(before)
    return LawPart(text[start:end], LawKind.NAMED, start, end, number)


def _name_start(before: str) -> int:
    """Guess where the long name begins that a piece of text ends with."""
    # 第二条中民間資金等の活用による公共施設等の整備等の促進に関する法律
    amended = _AMENDED.match(before)
    if amended and not _PROVISIONS.match(amended["name"]):
        return amended.start("name")
    clause = _CLAUSE.match(before)
    start = clause.end() if clause else 0
    joined = _JOINED.match(before, start)
    return joined.end() if joined else start


def _opening(text: str, end: int, floor: int) -> int:
    """Where the bracket that closes at `end` opens; `floor` where it does not nearby."""
    depth = 0
    for position in range(end - 1, max(floor, end - _LONGEST_BRACKETS) - 1, -1):
        if text[position] in "）)":
            depth += 1
        elif text[position] in "（(":
            depth -= 1
            if depth == 0:
                return position
    return floor
