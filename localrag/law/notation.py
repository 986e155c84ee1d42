"""The notation of provisions, for reading and citing: 第二十七条の三十六第一項第二号イ(1)."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from localrag.corpus.types import Locator
from localrag_indexes.analysis.normalize import (
    CIRCLED,
    FORMAL_NUMERALS,
    in_digits,
    parse_numeral,
    to_kanji,
)

IROHA = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
)
"""The order of subitem letters."""

ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
"""The numerals below them."""

SUPPLEMENT = "suppl"
"""A 附則 as cited, before its division is known."""


_KANJI = "〇零一二三四五六七八九十百千壱弐参拾"
_DIGITS = "0-9０-９"
NUMBER = rf"(?:[{_KANJI}]++|[{_DIGITS}]{{1,5}}+)"
# Before 条, impossible numbers are read, too, so that they are reported.
COUNT = rf"[{_KANJI}{FORMAL_NUMERALS}万億{_DIGITS}]++"
# 陸上, 参考 and 伍長 are words: formal numerals count as a branch only if the number ends.
_BRANCH = (
    rf"(?:(?!参[考照加与入上政議院列画])[{_KANJI}]++(?![{FORMAL_NUMERALS}])|[{_DIGITS}]{{1,5}}+"
    rf"|[{_KANJI}{FORMAL_NUMERALS}]++(?=第|[^一-鿿]|$|[及又若並且乃]))"
)
BLANK = r"[ \u00a0]?"

DASHES = "~～〜∼〰‐‑‒–—―−－─ー-"
"""Signs of a range, for a class of a pattern."""
TO = rf"(?:から|より|乃至は?|ないしは?|[{DASHES}])"
"""Words and signs between the ends of a range."""
AND = (
    "(?:及び|又は|若しくは|並びに|且つ|および|または|もしくは|ならびに|かつ"
    "|及ビ|又ハ|若ハ|若クハ|並ニ)"
)
"""Words between the members of a list."""

# の二 after a number is a branch, unless it begins another word: の一部, の三分の一, の二月.
ANOTHER_WORD = (
    r"次[^条項号]|[分部般方時定体切人名月年日週回倍割個つ度種件者円級段重要類原因環態]"
    r"|[箇かヶヵ][月所]|以[上下内]|[万億兆円歳時秒割％%]|パーセント|メートル|キロ|ヘクタール|トン"
    r"|[.．][0-9０-９]|[,，][0-9０-９]{3}(?![0-9０-９])"
)
# 94条の2項 and 1項の2号 have no branch: the number belongs to 項 or 号.
_COUNTED = rf"{BLANK}(?:項|号(?![一-鿿]))"
_BRANCHES = rf"(?:{BLANK}[のノ之]{BLANK}{_BRANCH}(?!{ANOTHER_WORD}|{_COUNTED}))*+"
_ARTICLE = rf"(?:第{BLANK})?+{COUNT}{BLANK}[条條](?![例約理件]){_BRANCHES}"
_ARTICLE_WORD = rf"(?:[同本][条條]|この条|前(?:各|{NUMBER})?[条條]|次{NUMBER}?[条條])(?![例約件])"
_PARAGRAPH = rf"(?:第{BLANK})?+{COUNT}{BLANK}項(?!目){_BRANCHES}"
_PARAGRAPH_WORD = rf"[同本各]項|この項|前(?:各|{NUMBER})?項|次{NUMBER}?項"
_ITEM = rf"(?:第{BLANK})?+{COUNT}{BLANK}号{_BRANCHES}"
_ITEM_WORD = rf"[同本各]号|この号|前(?:各|{NUMBER})?号|次号"

# A katakana letter is a subitem, except as a particle of a katakana law (第二号ニ規定スル).
_LETTER = rf"[{IROHA}](?:(?=乃至)|(?![ァ-ヴー]|[一-鿿]{{1,4}}[ァ-ヴ]))"
DEEPER = rf"{BLANK}[（(](?:{NUMBER}|[ivxｉｖｘⅰ-ⅻ]{{1,5}})[）)]"
SUBITEM = rf"{_LETTER}(?:{DEEPER}){{0,3}}"

# 第…号 is an item only among suitable words: not in 第一号被保険者, not in a law number or
# resolution, nor in 判タ第千号 and 基発0331第3号.
_NO_NOUN = "(?=[^一-鿿々]|[及又若並且乃迄各中前後以等違所列該本但]|$)"
_BARE_ITEM = (
    rf"(?:(?<=[及又若並且段文分中表欄])|(?<=乃至)|(?<=号ー)|(?<![一-鿿々ァ-ヶーA-Za-z{_DIGITS}])"
    rf"|(?<=[ノハビニヲリ]))第{BLANK}{NUMBER}{BLANK}号{_BRANCHES}{_NO_NOUN}"
)
# 2項 without 第 only continues a list or a range.
_LISTING = (
    *("から", "より", "乃至", "乃至は", "ないし", "ないしは", "及び", "又は", "若しくは"),
    *("並びに", "且つ", "および", "または", "もしくは", "ならびに", "かつ"),
    f"[・、，,同とや及又並{DASHES}]",
    f"[、，,{DASHES}][ 　]",
)
_IN_A_LIST = "|".join(map("(?<={})".format, _LISTING))
# Alone it is a word (法律の前文); with a number it is a place: 憲法前文第二項.
_PREAMBLE = rf"前文(?={BLANK}(?:第{BLANK})?{NUMBER}{BLANK}項)"
START = re.compile(
    rf"(?=[第同本こ各別前次附{_DIGITS}法令則])(?:第{BLANK}{COUNT}{BLANK}[条條項号]|[同本][条條項号]|この[条項号]|各[項号]|別表|{_PREAMBLE}"
    rf"|前(?:各|{NUMBER})?[条條項号]|次{NUMBER}?[条條項号]|附則{BLANK}(?:第|別表|[前次同]|[{_DIGITS}])"
    rf"|(?=[{_DIGITS}])(?<![{_DIGITS}]){COUNT}{BLANK}[条條]|[法令則]{BLANK}(?=[{_KANJI}{FORMAL_NUMERALS}]){COUNT}[条條](?![例約])"
    rf"|(?:{_IN_A_LIST})[{_DIGITS}]{{1,4}}+{BLANK}(?:項|号{_NO_NOUN}))"
)
"""Start of a citation; the first character of each branch comes first, for speed.

2条5項から7項 continues without 第; such a number counts only in a list or a range. 民法七〇九条
without 第 is found by the character before it, not part of the citation.
"""
BEFORE_BARE_NUMBER = "法令則"

CHAIN = re.compile(
    r"(?:(?<!当該)(?<!次の)(?<!それぞれ)|(?!各))"
    rf"(?:(?![{_DIGITS}])|(?<![{_DIGITS}.．第]))"
    rf"(?={_BARE_ITEM}|(?!第{BLANK}{COUNT}{BLANK}号))"
    rf"(附則{BLANK})?(別表(?:第{NUMBER}(?![条條項号]){_BRANCHES})?|{_PREAMBLE})?"
    rf"(?:{BLANK}(?:({_ARTICLE})|({_ARTICLE_WORD})))?+"
    rf"(?:{BLANK}(?:(?:の{BLANK})?+({_PARAGRAPH})|({_PARAGRAPH_WORD})))?+"
    rf"(?:{BLANK}(?:(?:の(?!第))?+({_ITEM})|({_ITEM_WORD}))(?:{BLANK}({SUBITEM}))?)?"
)
"""One citation at `START`; its groups are the arguments of `read_chain`."""

_EACH_NUMBER = re.compile(COUNT)
_EACH_STEP = re.compile(rf"[{IROHA}{CIRCLED}Ⅰ-Ⅻ]|{NUMBER}|[ivxIVXｉｖｘⅰ-ⅻ]+")
# Longer numbers belong to no law and are reported, up to a length Python can count.
_LONGEST_NUMERAL, _LONGEST_NUMBER = 16, 1_000
_IN_DIGITS = str.maketrans("〇零一二三四五六七八九０１２３４５６７８９", "001234567890123456789")


class Chain(NamedTuple):
    """The content of one citation: numbers or relative words."""

    division: str = ""
    article: str = ""
    article_word: str = ""
    paragraph: str = ""
    paragraph_word: str = ""
    item: str = ""
    item_word: str = ""
    subitem: str = ""

    @property
    def depth(self) -> int:
        """The number of levels before the first one written: 0 article, 3 subitem."""
        if self.division or self.article or self.article_word:
            return 0
        if self.paragraph or self.paragraph_word:
            return 1
        return 2 if self.item or self.item_word else 3

    def after(self, first: "Chain") -> "Chain | None":
        """The chain as a later member of a list: 第三条第一項及び第二項.

        None if both cannot be in one list: a paragraph cannot follow an article.
        """
        if self._is_relative:
            return self
        return None if self.depth > first.lowest else self.inside(first)

    def inside(self, first: "Chain") -> "Chain":
        """The chain with the levels above taken from `first`."""
        if self.depth == 0:
            if first.division and not self.division and first.depth == 0 and self.article:
                return self._replace(division=first.division)
            return self
        kept = 1 + 2 * self.depth
        return Chain(*first[:kept], *self[kept:])

    def of_the_same(self, first: "Chain") -> "Chain":
        """The chain as the end of a range: 第一号から同項第四号まで."""
        same = (self.article_word[:1], self.paragraph_word[:1], self.item_word[:1])
        if "同" not in same:
            return self
        kept = (3, 5, 7)[same.index("同")]
        return Chain(*first[:kept], *self[kept:])

    @property
    def _is_relative(self) -> bool:
        """Whether it begins with 前項, 同号 …."""
        word = (self.article_word, self.paragraph_word, self.item_word, "")[self.depth]
        return bool(word) and word[0] != "各"

    @property
    def lowest(self) -> int:
        """The deepest level written: 0 article, 1 paragraph, 2 item, 3 subitem."""
        if self.subitem:
            return 3
        if self.item or self.item_word:
            return 2
        return 1 if self.paragraph or self.paragraph_word else 0


@lru_cache(maxsize=65536)
def read_chain(
    supplement: str | None,
    appendix: str | None,
    article: str | None,
    article_word: str | None,
    paragraph: str | None,
    paragraph_word: str | None,
    item: str | None,
    item_word: str | None,
    subitem: str | None,
) -> Chain | None:
    """Read the groups of `CHAIN` as numbers; None if empty or invalid."""
    try:
        chain = Chain(
            _division(supplement, appendix),
            read_number(article),
            article_word or "",
            read_number(paragraph),
            paragraph_word or "",
            read_number(item),
            item_word or "",
            read_subitem(subitem),
        )
        for word in (chain.article_word, chain.paragraph_word, chain.item_word):
            count(word)
    except ValueError:
        return None
    return chain if any(chain) and chain != (SUPPLEMENT, *("",) * 7) else None


def _division(supplement: str | None, appendix: str | None) -> str:
    if appendix:
        return appendix if appendix == "前文" else labelled("別表", appendix)
    return SUPPLEMENT if supplement else ""


def read_number(written: str | None) -> str:
    """第二十七条の三十六 as ``27_36``.

    Raises:
        ValueError: the kanji are no number (十百).
    """
    if not written:
        return ""
    return "_".join(_number(number) for number in _EACH_NUMBER.findall(written))


def _number(written: str) -> str:
    digits = written.translate(_IN_DIGITS)
    if _LONGEST_NUMERAL < len(digits) <= _LONGEST_NUMBER and digits.isdecimal():
        return digits.lstrip("0") or "0"
    return str(parse_numeral(written))


def read_subitem(written: str | None) -> str:
    """イ（２）(i) as ``1.2.1``; each sign alone, too: ② and Ⅱ are ``2``."""
    return ".".join(_step(step) for step in _EACH_STEP.findall(written or ""))


def count(word: str) -> int:
    """Number of provisions in a relative word: 前三条 has 3, 前条 1.

    Raises:
        ValueError: the kanji are no number (前十百条).
    """
    number = _EACH_NUMBER.search(word)
    return parse_numeral(number[0]) if number else 1


def _step(sign: str) -> str:
    if sign in IROHA:
        return str(IROHA.index(sign) + 1)
    narrow = unicodedata.normalize("NFKC", sign).lower()
    return str(ROMAN.index(narrow) + 1) if narrow in ROMAN else in_digits(narrow)


def labelled(head: str, written: str) -> str:
    """The label of an appendix in one spelling: 別表第2の3 is 別表第二の三.

    Raises:
        ValueError: the kanji are no number (十百).
    """
    numbers = [to_kanji(parse_numeral(number)) for number in _EACH_NUMBER.findall(written)]
    return head + ("第" + "の".join(numbers) if numbers else "")


def cite(title: str, locator: Locator, *, arabic: bool = False, division: str = "") -> str:
    """Write 金融商品取引法第二十七条の三十六第一項第二号イ.

    Args:
        title: the law's title; may be "".
        locator: the provision.
        arabic: write 第27条の36第1項第2号イ.
        division: printed label of a supplementary provision or appendix (別表第一); default 附則 or
            別表.
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
            ends = [numbered(end, counter, arabic=arabic) for end in number.split(":")]
            parts.append("から".join(ends) + ("まで" if len(ends) > 1 else ""))
    parts += [
        _subitem(number, level)
        for level, number in enumerate(filter(None, locator.subitem.split(".")))
    ]
    return "".join(parts)


def numbered(number: str, counter: str, *, arabic: bool) -> str:
    """Write an article, a paragraph or an item: ``27_36`` is 第二十七条の三十六."""
    main, *branches = number.split("_")
    words = f"第{_written(main, arabic)}{counter}"
    return words + "".join(f"の{_written(branch, arabic)}" for branch in branches)


def _written(number: str, arabic: bool) -> str:
    is_in_kanji = not arabic and number.isdecimal() and len(number) <= _LONGEST_NUMERAL
    return to_kanji(int(number)) if is_in_kanji else number


def _subitem(number: str, level: int) -> str:
    value = int(number) if number.isdecimal() else 0
    if level == 0 and 0 < value <= len(IROHA):
        return IROHA[value - 1]
    if level == 2 and 0 < value <= len(ROMAN):
        return f"({ROMAN[value - 1]})"
    return f"({number})"


# Numbers with 号 other than items: of cases, laws, notices, bills. 令和3年（ワ）第12345号,
# 平成15年法律第57号及び第58号, 基発0331第3号, 議案第5号、第6号. The words right before the number
# or its list decide.
_ANY_NUMBER = "(?:[〇零一二三四五六七八九十百千]{1,12}+|[0-9０-９]{1,9}+)"
_WITH_NUMBER = rf"(?:第[ 　]?)?{_ANY_NUMBER}[ 　]?号"
_YEAR = (
    rf"(?:(?:明治|大正|昭和|平成|令和|[明大昭平令MTSHRＭＴＳＨＲ])[ 　]?(?:元|{_ANY_NUMBER})"
    r"|(?<![0-9０-９])[12１２][0-9０-９]{3})[ 　]?年?[ 　]?"
)
_OPEN, _CLOSE = r"[ 　]?[（(][ 　]?", r"[ 　]?[)）][ 　]?"
# Courts' marks for the kind of a case: ワ, オ, わ, 行ヒ, 家, 特わ, 手ワ.
_KIND = "(?:[一-鿿]{0,2}[ぁ-んァ-ヶ]{1,3}|家|受|許|執|判|措|納|秩|再|企|船|財)"
_OF_CASE = (
    rf"(?:{_YEAR}{_OPEN}[一-鿿ぁ-んァ-ヶ]{{1,4}}{_CLOSE}"
    rf"|(?<![条項号]){_OPEN}{_KIND}{_CLOSE}|[㋐-㋾])"
)
# 昭和31年文部省令, 令和3年ワ: numbered within a year.
_OF_YEAR = rf"(?:{_YEAR}度?[一-鿿ァ-ヶー・]{{0,30}}+)"
_THING = (
    "(?:告示|訓令|通達|通知|通牒|回答|議案|法案|事件|判決|決定|審決|答申|意見|報告|請願|陳情|諮問|承認"
    "|特許|登録|公報|官報|会報|会議録|文書|発簡|免許|許可|認可)"
)
_BEFORE = rf"(?:{_OF_CASE}|{_THING}{_OPEN}|番号[ 　]?[：: 　][ 　]?)"
# Kanji, katakana, letters and digits before 第…号 name the numbered thing, unless a provision or
# branch ends there.
_NAMES_ANOTHER = (
    "(?<=[一-鿿々ァ-ヶーA-Za-zＡ-Ｚａ-ｚ0-9０-９])"
    "(?<![第条條項号段文分中表欄書及又若並且至附ノハビニヲリ〇零一二三四五六七八九十百千])(?<!附則)"
)
_ASIDE = r"(?:[（(][^（）()\n]{1,20}+[)）])?"
_JOIN = rf"[ 　]?[、，,]?(?:{AND}|{TO}|[、，,・と及又])[ 　]?(?:同年?)?"
_MEMBER = rf"{_WITH_NUMBER}(?:(?![及又若並且乃])[一-鿿]){{0,4}}+{_ASIDE}{_JOIN}"
_LONGEST_LIST = 20
# Not inside a number: 6号 in 第16号.
_FIRST = rf"(?:{_BEFORE}|{_OF_YEAR}|{_NAMES_ANOTHER}(?=第|(?<![0-9０-９])[0-9０-９]))"
_HEAD = re.compile(
    rf"(?:{_BEFORE}|{_OF_YEAR}|{_FIRST}(?:{_MEMBER}{_OF_CASE}?){{1,{_LONGEST_LIST}}}+)$"
)
# 第5号及び第6号議案
_NAMED_BEHIND = re.compile(
    rf"{_WITH_NUMBER}(?:{_JOIN}{_WITH_NUMBER}){{1,{_LONGEST_LIST}}}+"
    r"(?=[一-鿿])(?![及又若並且乃迄各中前後以等違所列該本但])"
)
_REACH = 120
_CASE = re.compile(rf"{_YEAR}度?{_OPEN}[一-鿿ぁ-んァ-ヶ]{{1,4}}{_CLOSE}{_WITH_NUMBER}")


def case_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Spans of case numbers: 令和3年（ワ）第12345号."""
    return (found.span() for found in _CASE.finditer(text))


def numbers_another(text: str, start: int) -> bool:
    """Whether 第…号 at a position numbers something other than an item."""
    floor = max(text.rfind("\n", 0, start) + 1, start - _REACH)
    if _HEAD.search(text, floor, start):
        return True
    return _NAMED_BEHIND.match(text, start, start + _REACH) is not None
