"""Words of which a text never says one for the other: 売主 and 買主, 許可 and 届出, 及び and 又は.

A claim that has one of them where its sentences have only another says something else, however
many of its other words they share. Listed are those on which rights and duties turn; what everyday
language mixes up with good reason (使用者 and 労働者 in a rule that binds the one for the other) is
not among them.
"""

import re
from collections.abc import Hashable, Iterator
from functools import cache
from typing import NamedTuple

_JAPANESE = (
    # What an office is asked for, and by what an order is made.
    ("許可", "認可", "承認", "免許", "登録", "認定", "届け?出"),
    ("政令", "省令", "府令", "条例"),
    ("都道府県知事", "市町村長"),
    # Who owes, and who is owed.
    ("売主", "買主"),
    ("貸主", "借主"),
    ("賃貸人", "賃借人"),
    ("譲渡人", "譲受人"),
    ("債権者", "債務者"),
    ("委任者", "受任者"),
    ("委託者", "受託者", "受益者"),
    ("寄託者", "受寄者"),
    ("贈与者", "受贈者"),
    ("遺贈者", "受遺者"),
    ("注文者", "請負人"),
    ("被保険者", "保険者"),
    ("被相続人", "相続人"),
    ("被害者", "加害者"),
    ("原告", "被告"),
    ("親会社", "子会社"),
    ("内国法人", "外国法人"),
    ("未成年者", "成年者"),
    # How, and what for.
    ("故意", "過失"),
    ("善意", "悪意"),
    ("有償", "無償"),
    ("有料", "無料"),
    ("国内", "国外|海外"),
    ("書面", "口頭", "電磁的方法"),
    ("不動産", "動産"),
    ("推定(?!相続)", "みな(?:す|し|さ[れなず])"),
    ("取り?消", "解除", "解約", "撤回"),
    ("控訴", "上告", "抗告"),
    ("懲役", "禁錮", "拘禁刑", "罰金", "拘留", "科料", "過料"),
    # When.
    ("直ちに", "遅滞なく", "速やかに"),
    ("毎日", "毎週", "毎月", "毎年"),
    ("公布", "施行"),
    ("設立", "解散"),
    ("開始", "終了"),
    # How much; 最高裁判所 is no measure.
    ("最大", "最小"),
    ("最高(?!裁|検)", "最低"),
    ("最長", "最短"),
    ("最古", "最新"),
    ("最初", "最後"),
    ("最も高", "最も低"),
    ("最も多", "最も少な"),
    ("最も大き", "最も小さ"),
    ("最も長", "最も短"),
    ("すべて|全て|全部(?!で)", "一部"),
)
_ENGLISH = (
    ("sellers?", "(?:buyer|purchaser)s?"),
    ("(?:landlord|lessor)s?", "(?:tenant|lessee)s?"),
    ("creditors?", "debtors?"),
    ("plaintiffs?", "defendants?"),
    ("(?:larg|bigg)est", "smallest"),
    ("highest", "lowest"),
    ("longest", "shortest"),
    ("oldest", "(?:new|young)est"),
    ("north(?:ern)?", "south(?:ern)?", "east(?:ern)?", "west(?:ern)?"),
)
# A longer word is written before those within it: 被保険者 is no 保険者. Without a group of its own
# for each word the expression is a hundred times as fast.
_LISTED = re.compile(
    "|".join(word for group in _JAPANESE for word in group)
    + rf"|\b(?:{'|'.join(word for group in _ENGLISH for word in group)})\b"
)
# Of one pair of words one text says "and", the other "or".
_JOINED = (
    re.compile(
        r"(?P<left>[一-鿿ァ-ヺー]{2})、?(?:(?P<both>及び|並びに|かつ)|又は|または|若しくは|もしくは)、?"
        r"(?P<right>[一-鿿ァ-ヺー]{2})"
    ),
    re.compile(r"\b(?P<left>[a-z]+) (?:(?P<both>and)|or) (?:the |an? )?(?P<right>[a-z]+)"),
)
# 締結前 and 締結後, 支払の前に; neither 前項 nor 三年前.
_WHEN = (
    re.compile(r"(?P<deed>[一-鿿]{2})の?(?P<when>前|後)(?![項条号段年月日回各])"),
    re.compile(r"\b(?P<when>before|after) (?:the |an? |its |his |her )?(?P<deed>[a-z]+)"),
)


class Counterpart(NamedTuple):
    """A word that has counterparts.

    Attributes:
        group: what the words share that are each other's counterparts.
        member: which of them it is.
        start, end: its span.
    """

    group: Hashable
    member: str
    start: int
    end: int


def counterparts_of(normal: str) -> Iterator[Counterpart]:
    """Find the words of a normalised text that have counterparts."""
    for found in _LISTED.finditer(normal):
        yield Counterpart(*_listed(found[0]), *found.span())
    for pattern in _JOINED:
        for found in pattern.finditer(normal):
            member = "and" if found["both"] else "or"
            yield Counterpart((found["left"], found["right"]), member, *found.span())
    for pattern in _WHEN:
        for found in pattern.finditer(normal):
            yield Counterpart(found["deed"], found["when"], *found.span())


@cache
def _listed(written: str) -> tuple[Hashable, str]:
    """The group and the word of it that stand in a text in some form."""
    return next(
        (group, word)
        for group in (*_JAPANESE, *_ENGLISH)
        for word in group
        if re.fullmatch(word, written)
    )
