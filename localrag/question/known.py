"""Words that name a law, whether a corpus has it or not: what ``laws.toml`` and spelling tell."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from localrag.statutes.names import LawNames, LawRow, customary

_ORDERS = ("施行令", "施行規則")
_WORD = "一-鿿々ァ-ヶーA-Za-zＡ-Ｚａ-ｚ・"
# A word that ends like a law, and does not go on as another word (法人, 方法論).
_CANDIDATE = re.compile(
    rf"[{_WORD}]{{1,40}}?(?:法典?|条例|条約)"
    rf"(?=[^{_WORD}]|第|上[のはもで、]|[等中下]|違反|所定|関係|施行|改正|以外|及|又|並|[〇一二三四五六七八九十百]+条|$)"
)
_NOT_OF_THE_NAME = re.compile(
    "(?:[旧新各諸・]|現行|当該|我が国|日本(?!国|銀|年|放|郵|学|司|農|下))(?=..)"
)
# After a word that only looks like a law nobody goes on like this.
_CITED = re.compile(
    r"[（(「」』]*(?:第?[0-9０-９〇一二三四五六七八九十百千]+条|違反|施行(?:令|規則))"
)
_SAID_OF_A_LAW = re.compile(
    "(?:に(?:違反|規定|基づ|定め|おけ|おい|よれ|より|よる|よって|照らし)|が(?:規定|定め|禁止|適用|改正)"
    "|で(?![あきす])|だと|なら|って|の(?:規定|条文|罰則|適用|施行|改正|下で|もとで)|上[のはもで、]|所定|施行|附則)"
)
_ENTITLED = re.compile(
    "(?:^|[。「」『』（）()?？!！ 　]|[はがを]、)(?P<name>[^。「」『』（）()?？!！ 　]{4,80}?"
    "(?:に関する|のための|に関スル)(?:法律|特別措置法|特例法|政令|[^。、]{0,6}省令|内閣府令|規則|命令))"
    "(?=[」』]?(?:[（(](?:明治|大正|昭和|平成|令和)|第[0-9０-９〇一二三四五六七八九十]|施行|違反|に違反"
    "|に基づ|におけ|におい|によれ|によると|上[のはもで、]))"
)
# 条例 of this or that place, 条約 of some states, and not one that has a name.
_SOME = (
    "都道府県", "市町村", "自治体", "地方公共団体", "地方", "当該", "委任", "課税", "税", "関係",
    "施行", "改正", "独自", "国際", "二国間", "多国間", "租税", "平和", "通商", "投資",
)  # fmt: skip
_SHORTEST_BYLAW = 4
_SHORTEST_STEM = 2
# So long a word is called 法 as a title only.
_LONG_STEM = 5
# 平成二十六年改正法, 医療保険各法: more than one law, or none that has a name.
_SOME_LAWS = re.compile("(?:改正|[各両諸新旧二三四五六]|年|成文)$")
_KANJI = re.compile("[一-鿿]")
# Companies Act, Act on the Protection of Personal Information
_WORDS_BETWEEN = "of|on|and|for|to|the|in|against|by|from|with|or|&"
_ENGLISH_TITLE = re.compile(
    rf"\b(?:[A-Z][\w'’\-]*,? (?:(?:{_WORDS_BETWEEN}|[A-Z][\w'’\-]*),? ){{0,12}}?"
    r"Acts?\b(?! (?:on|for|against) )"
    r"|Act (?:on|for|against|concerning|regarding|relating to) (?:the )?[A-Z][\w'’\-]*"
    rf"(?:,? (?:(?:{_WORDS_BETWEEN}) )*[A-Z][\w'’\-]*)*)"
)
_NOT_A_TITLE = re.compile(
    r"(?:(?:Does|Do|Did|Is|Are|Was|Were|What|Which|When|Where|Why|How|Who|Whether|Under|In|Can|May|"
    r"Must|Shall|Should|Will|By|If|Has|Have|For|On|At|To|From|And|Or|Of|As|Please|Explain|Describe|"
    r"According|Per|The|This|That|These|An?|Article|Section|Japan['’]s|Japanese|Cabinet|Order|of|on|"
    r"and|for|to|the|in|against|by|from|with|or),? )+"
)


class EnglishName(NamedTuple):
    """An English name of a law in a text, and its Japanese title; "" where that is not known."""

    start: int
    end: int
    title: str


class _Known(NamedTuple):
    names: LawNames
    foreign: re.Pattern[str]
    heads: tuple[str, ...]
    generic: frozenset[str]
    ways: tuple[str, ...]
    without_rules: frozenset[str]
    titles: dict[str, str]
    english: tuple[re.Pattern[str], re.Pattern[str]]


def in_japanese(text: str) -> Iterator[tuple[int, int]]:
    """Spans of words that name a law; they can overlap."""
    data = _known()
    for name in data.names.find_names(text):
        if not is_another_word(text, name.start, name.end):
            yield name.start, name.end
    for match in data.foreign.finditer(text):
        yield match.span()
    for match in _CANDIDATE.finditer(text):
        start, end = match.span()
        while prefix := _NOT_OF_THE_NAME.match(text, start, end):
            start = prefix.end()
        if not is_another_word(text, start, end) and _names_a_law(text, start, end, data):
            yield start, end


def entitled(text: str) -> Iterator[tuple[int, int]]:
    """Spans of what reads like a long title; where it begins is a guess."""
    for match in _ENTITLED.finditer(text):
        yield match.span("name")


def has_rules_of_other_names(title: str) -> bool:
    """Whether the ordinances under an act have titles of their own, and none is its 施行規則."""
    return title in _known().without_rules


def is_title(word: str) -> bool:
    """Whether this is exactly a name of a well-known law."""
    return bool(_known().names.lookup(word))


def is_another_word(text: str, start: int, end: int) -> bool:
    """Whether a name here is only the tail of a word that names none: 商法 in 送りつけ商法."""
    return any(len(word) > end - start and text.endswith(word, 0, end) for word in _known().generic)


def in_english(text: str) -> Iterator[EnglishName]:
    """English names of laws, in no order; none overlaps another."""
    data = _known()
    found = [
        EnglishName(*match.span(), data.titles[match[0].casefold()])
        for pattern in data.english
        for match in pattern.finditer(text)
    ]
    for match in _ENGLISH_TITLE.finditer(text):
        begin = _NOT_A_TITLE.match(text, match.start(), match.end())
        start = begin.end() if begin else match.start()
        alone = " " not in text[start : match.end()]
        if not alone and all(match.end() <= one.start or one.end <= start for one in found):
            found.append(EnglishName(start, match.end(), ""))
    yield from found


def _names_a_law(text: str, start: int, end: int, data: _Known) -> bool:
    word = text[start:end].removesuffix("典")
    if word.endswith(("条例", "条約")):
        return len(word) >= _SHORTEST_BYLAW and not word[:-2].endswith(_SOME)
    stem = word.removesuffix("法")
    if word in data.generic or _SOME_LAWS.search(stem):
        return False
    if data.names.lookup(word):
        return True
    if len(stem) < _SHORTEST_STEM:
        return False
    if _CITED.match(text, end):
        return True
    if stem.endswith(data.ways):
        return False
    said_of_a_law = _SAID_OF_A_LAW.match(text, end) is not None
    if not _KANJI.search(stem):
        return said_of_a_law and len(stem) >= _LONG_STEM
    return said_of_a_law or len(stem) >= _LONG_STEM or stem.endswith(data.heads)


@cache
def _known() -> _Known:
    text = files("localrag.question").joinpath("laws.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    titles = dict.fromkeys((*read["titles"], *customary()))
    named = [name for title in titles for name in (title, *(title + order for order in _ORDERS))]
    english = {name: title for title, names in read["english"].items() for name in names}
    short = [name for name in english if name.isupper()]
    return _Known(
        LawNames(LawRow(name, name) for name in named),
        _any_of(read["foreign"]),
        tuple(read["heads"]),
        frozenset(read["generic"]),
        tuple(read["ways"]),
        frozenset(read["without_rules"]),
        {name.casefold(): title for name, title in english.items()},
        (_any_of(short), _any_of(set(english).difference(short), re.IGNORECASE)),
    )


def _any_of(names: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    """Any of some names, the longest that fits; Latin letters go on in none of them."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    each = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{each})(?![A-Za-z0-9])", flags)
