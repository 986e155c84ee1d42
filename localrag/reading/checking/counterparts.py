"""Words of which a text never says one for the other: 許可 and 届出, 売主 and 買主, 前 and 後.

A claim that has one of them where its sentences have only another says something else, however
many of its other words they share. Words that people mix up with good reason are not among them
(解除 and 解約), nor those of which the one often follows from the other (開始 and 終了).
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from localrag_indexes.analysis.analyzer import ENGLISH

_ALTERNATIVES = (
    # What an office is asked for, and by what an order is made.
    ("許可", "認可", "承認", "免許", "登録", "認定", "届け?出"),
    ("政令", "省令", "府令", "条例"),
    ("都道府県知事", "市町村長"),
    ("懲役", "禁錮", "拘禁刑", "罰金", "拘留", "科料", "過料"),
    ("控訴", "上告", "抗告"),
    ("と推定", "とみな(?:す|し|さ[れなず])"),
    # Who, how and what.
    ("未成年者", "成年者"),
    ("内国法人", "外国法人"),
    ("故意", "過失"),
    ("善意", "悪意"),
    ("有償", "無償"),
    ("有料", "無料"),
    ("国内", "国外"),
    ("書面", "口頭", "電磁的方法"),
    ("不動産", "動産(?!業)"),
    # When, and how much.
    ("直ちに", "遅滞なく", "速やかに"),
    ("事前", "事後"),
    ("毎日", "毎週", "毎月", "毎年"),
    ("公布", "施行"),
    ("最大(?!限)", "最小(?!限)"),
    ("最長", "最短"),
    ("最古", "最新"),
    ("最も高", "最も低"),
    ("最も多", "最も少な"),
    ("最も大き", "最も小さ"),
    ("最も長", "最も短"),
)
_ENGLISH_ALTERNATIVES = (
    ("(?:larg|bigg)est", "smallest"),
    ("highest", "lowest"),
    ("longest", "shortest"),
    ("oldest", "(?:new|young)est"),
)
# The two sides of one relation; who speaks of the one may name the other as well.
_PARTNERS = (
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
    ("被害者", "加害者"),
    ("原告", "被告"),
    ("親会社", "子会社"),
)
_ENGLISH_PARTNERS = (
    ("sellers?", "(?:buyer|purchaser)s?"),
    ("(?:landlord|lessor)s?", "(?:tenant|lessee)s?"),
    ("creditors?", "debtors?"),
    ("plaintiffs?", "defendants?"),
)
_JAPANESE, _ENGLISH = (*_ALTERNATIVES, *_PARTNERS), (*_ENGLISH_ALTERNATIVES, *_ENGLISH_PARTNERS)
# A longer word is written before those within it: 被保険者 is no 保険者. Without a group of its own
# for each word the expression is a hundred times as fast.
_LISTED = re.compile(
    "|".join(word for group in _JAPANESE for word in group)
    + rf"|\b(?:{'|'.join(word for group in _ENGLISH for word in group)})\b"
)
# 拘禁刑はない, 書面によらない: what is denied is not said.
_DENIED = re.compile(
    r"刑?(?:では|で|によら|は|が|も)?(?:ない|なく(?!て?は?な[らり])|ず|不要|要しない|定められて(?:い)?ない)"
)

# Of one pair of words one text says "and", the other "or".
_JOINED = (
    re.compile(
        r"(?P<left>[一-鿿ァ-ヺー]{2})、?(?:(?P<both>及び|並びに|かつ)|又は|または|若しくは|もしくは)、?"
        r"(?P<right>[一-鿿ァ-ヺー]{2})"
    ),
    re.compile(r"\b(?P<left>[a-z]+) (?:(?P<both>and)|or) (?:the |an? )?(?P<right>[a-z]+)"),
)
# 締結前 and 締結した後; neither 三十日前 nor 以前 and 午後.
_WHEN = (
    re.compile(
        r"(?P<deed>(?:(?![〇一二三四五六七八九十百千])[一-鿿]){2})(?<![以午産])"
        r"(?:を?(?:する|した|される|された))?の?(?P<when>前後|前|後)(?![後半任期者項条号段年月日回各])"
    ),
    re.compile(r"\b(?P<when>before|after) (?:the |an? )?(?P<deed>[a-z]+)"),
)


class Counterpart(NamedTuple):
    """A word that has counterparts.

    Attributes:
        group: of words that are each other's counterparts; of "and" and "or" what they join, of
            "before" and "after" what happens.
        member: which of the group it is.
        is_partner: whether they are the two sides of one relation.
        is_joint: whether it is "and" or "or".
        start, end: its span.
    """

    group: tuple[str, ...]
    member: str
    start: int
    end: int
    is_partner: bool = False
    is_joint: bool = False


def counterparts_of(normal: str) -> Iterator[Counterpart]:
    """Find the words of a normalised text that have counterparts, those denied left out."""
    for found in _LISTED.finditer(normal):
        if not _DENIED.match(normal, found.end()):
            group, member = _listed(found[0])
            is_partner = group in _PARTNERS or group in _ENGLISH_PARTNERS
            yield Counterpart(group, member, *found.span(), is_partner=is_partner)
    for pattern in _JOINED:
        for found in pattern.finditer(normal):
            member = "and" if found["both"] else "or"
            yield Counterpart((found["left"], found["right"]), member, *found.span(), is_joint=True)
    for pattern in _WHEN:
        for found in pattern.finditer(normal):
            deed = found["deed"]
            if deed not in ENGLISH and not deed.endswith("ing"):
                whens = "前後" if found["when"] == "前後" else (found["when"],)
                yield from (Counterpart((deed,), when, *found.span()) for when in whens)


@cache
def _listed(written: str) -> tuple[tuple[str, ...], str]:
    """The group and the word of it that stand in a text in some form."""
    return next(
        (group, word)
        for group in (*_JAPANESE, *_ENGLISH)
        for word in group
        if re.fullmatch(word, written)
    )
