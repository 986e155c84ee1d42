"""Numbers with 号 that are cited and are those of no provision: of cases, laws, notices, bills.

令和3年（ワ）第12345号, 平成15年法律第57号及び第58号, 基発0331第3号, 議案第5号、第6号. An item has
such a number, too. What the words right before a number name, or those before its list, tells.
"""

import re
from collections.abc import Iterator

from localrag.statutes.notation import AND, TO

_NUMBER = "(?:[〇零一二三四五六七八九十百千]{1,12}+|[0-9０-９]{1,9}+)"
_NUMBERED = rf"(?:第[ 　]?)?{_NUMBER}[ 　]?号"
_YEAR = (
    rf"(?:(?:明治|大正|昭和|平成|令和|[明大昭平令MTSHRＭＴＳＨＲ])[ 　]?(?:元|{_NUMBER})"
    r"|(?<![0-9０-９])[12１２][0-9０-９]{3})[ 　]?年?[ 　]?"
)
_OPEN, _CLOSE = r"[ 　]?[（(][ 　]?", r"[ 　]?[)）][ 　]?"
# What courts write for the kind of a case: ワ, オ, わ, 行ヒ, 家, 特わ, 手ワ.
_KIND = "(?:[一-鿿]{0,2}[ぁ-んァ-ヶ]{1,3}|家|受|許|執|判|措|納|秩|再|企|船|財)"
_OF_CASE = (
    rf"(?:{_YEAR}{_OPEN}[一-鿿ぁ-んァ-ヶ]{{1,4}}{_CLOSE}"
    rf"|(?<![条項号]){_OPEN}{_KIND}{_CLOSE}|[㋐-㋾])"
)
# 昭和31年文部省令, 令和3年ワ: what has its number in a year.
_OF_YEAR = rf"(?:{_YEAR}度?[一-鿿ァ-ヶー・]{{0,30}}+)"
_THING = (
    "(?:告示|訓令|通達|通知|通牒|回答|議案|法案|事件|判決|決定|審決|答申|意見|報告|請願|陳情|諮問|承認"
    "|特許|登録|公報|官報|会報|会議録|文書|発簡|免許|許可|認可)"
)
_BEFORE = rf"(?:{_OF_CASE}|{_THING}{_OPEN}|番号[ 　]?[：: 　][ 　]?)"
# Kanji, katakana, letters and digits before 第…号 name what is numbered, unless a provision or a
# branch ends so.
_NAMES_ANOTHER = (
    "(?<=[一-鿿々ァ-ヶーA-Za-zＡ-Ｚａ-ｚ0-9０-９])"
    "(?<![第条條項号段文分中表欄書及又若並且至附ノハビニヲリ〇零一二三四五六七八九十百千])(?<!附則)"
)
_ASIDE = r"(?:[（(][^（）()\n]{1,20}+[)）])?"
_JOIN = rf"[ 　]?[、，,]?(?:{AND}|{TO}|[、，,・と及又])[ 　]?(?:同年?)?"
_MEMBER = rf"{_NUMBERED}(?:(?![及又若並且乃])[一-鿿]){{0,4}}+{_ASIDE}{_JOIN}"
_LONGEST_LIST = 20
# Never inside a number: 6号 of 第16号.
_FIRST = rf"(?:{_BEFORE}|{_OF_YEAR}|{_NAMES_ANOTHER}(?=第|(?<![0-9０-９])[0-9０-９]))"
_HEAD = re.compile(
    rf"(?:{_BEFORE}|{_OF_YEAR}|{_FIRST}(?:{_MEMBER}{_OF_CASE}?){{1,{_LONGEST_LIST}}}+)$"
)
# 第5号及び第6号議案
_NAMED_BEHIND = re.compile(
    rf"{_NUMBERED}(?:{_JOIN}{_NUMBERED}){{1,{_LONGEST_LIST}}}+"
    r"(?=[一-鿿])(?![及又若並且乃迄各中前後以等違所列該本但])"
)
_REACH = 120
_CASE = re.compile(rf"{_YEAR}度?{_OPEN}[一-鿿ぁ-んァ-ヶ]{{1,4}}{_CLOSE}{_NUMBERED}")


def case_numbers(text: str) -> Iterator[tuple[int, int]]:
    """The spans of numbers of cases: 令和3年（ワ）第12345号."""
    return (found.span() for found in _CASE.finditer(text))


def numbers_another(text: str, start: int) -> bool:
    """Whether 第…号 at a place of a text is the number of something else than an item."""
    floor = max(text.rfind("\n", 0, start) + 1, start - _REACH)
    if _HEAD.search(text, floor, start):
        return True
    return _NAMED_BEHIND.match(text, start, start + _REACH) is not None
