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
    rf"[{_WORD}]{{1,40}}?(?:法|条例)"
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
    "|で(?:定め|規定|禁止|義務|は)|の(?:規定|条文|罰則|適用|施行|改正|下で|もとで)|上[のはもで、]|所定|施行|附則)"
)
_ENTITLED = re.compile(
    "(?:^|[。「」『』（）()?？!！ 　]|[はがを]、)(?P<name>[^。「」『』（）()?？!！ 　]{4,80}?"
    "(?:に関する|のための|に関スル)(?:法律|特別措置法|特例法|政令|[^。、]{0,6}省令|内閣府令|規則|命令))"
    "(?=[」』]?(?:[（(](?:明治|大正|昭和|平成|令和)|第[0-9０-９〇一二三四五六七八九十]|施行|に違反|違反))"
)
_BY_LAW_SOMEWHERE = (
    "都道府県", "市町村", "自治体", "地方公共団体", "当該", "委任", "課税", "税", "関係", "施行",
)  # fmt: skip
_SHORTEST_BYLAW = 6
_SHORTEST_STEM = 2
# 平成二十六年改正法, 医療保険各法: more than one law, or none that has a name.
_SOME_LAWS = re.compile("(?:改正|[各両諸新旧]|年)$")
_KANJI = re.compile("[一-鿿]")
# Companies Act, Act on the Protection of Personal Information
_WORDS_BETWEEN = "of|on|and|for|to|the|in|against|by|from|with|or|&"
_ENGLISH_TITLE = re.compile(
    rf"\b(?:[A-Z][\w'’\-]*,? (?:(?:{_WORDS_BETWEEN}|[A-Z][\w'’\-]*),? ){{0,12}}?Acts?\b(?! (?:on|for|against) )"
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
    titles: dict[str, str]
    english: tuple[re.Pattern[str], re.Pattern[str]]


def in_japanese(text: str) -> Iterator[tuple[int, int]]:
    """Spans of words that name a law; they can overlap."""
    data = _known()
    for match in data.names.find_names(text):
        if not is_another_word(text, match.start, match.end):
            yield match.start, match.end
    for match in data.foreign.finditer(text):
        yield match.span()
    for match in _ENTITLED.finditer(text):
        yield match.span("name")
    for match in _CANDIDATE.finditer(text):
        start, end = match.span()
        while prefix := _NOT_OF_THE_NAME.match(text, start, end):
            start = prefix.end()
        if _names_a_law(text, start, end, data):
            yield start, end


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
    word = text[start:end]
    if word.endswith("条例"):
        return len(word) >= _SHORTEST_BYLAW and not word.removesuffix("条例").endswith(
            _BY_LAW_SOMEWHERE
        )
    stem = word.removesuffix("法")
    if len(stem) < _SHORTEST_STEM or word in data.generic or _SOME_LAWS.search(stem):
        return False
    if _CITED.match(text, end):
        return True
    if stem.endswith(data.ways) or not _KANJI.search(stem):
        return False
    return stem.endswith(data.heads) or _SAID_OF_A_LAW.match(text, end) is not None


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
        {name.casefold(): title for name, title in english.items()},
        (_any_of(short), _any_of(set(english).difference(short), re.IGNORECASE)),
    )


def _any_of(names: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    """Any of some names, the longest that fits; Latin letters go on in none of them."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    each = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{each})(?![A-Za-z0-9])", flags)
