"""The laws named in a question, in the corpus or missing from it.

A law is recognised by name, abbreviation, number or English name, or as the order of a law named
before (その施行令). Missing laws are recognised by ``laws.toml``, ``law_words.toml`` and spelling.
"""

import re
import tomllib
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from operator import attrgetter
from typing import NamedTuple

from localrag.law.names import LawNames, NameMatch, law_words
from localrag.law.places import INNER_KANA
from localrag_indexes.analysis.analyzer import morphemes, sounds
from localrag_indexes.analysis.normalize import PlainText, letters_of, normalize, with_blanks

_LATIN = re.compile("[a-z0-9]+")
_WORD = "一-鿿々ァ-ヶーA-Za-zＡ-Ｚａ-ｚ・"
# A word ending like a law, and not part of another word (法人, 方法論).
_CANDIDATE = re.compile(
    rf"(?:[{_WORD}]{{1,40}}?(?:法典?|条例|条約)|[{_WORD}](?:[{_WORD}]|{INNER_KANA}){{1,40}}?条例)"
    "(?:施行法)?"
    rf"(?=[^{_WORD}]|第|上[のはもで、]|[等中下]|違反|所定|関係|施行|改正|以外|及|又|並|[〇一二三四五六七八九十百]+条|$)"
)
# A word at the start of a question or sentence is mostly the law asked about.
_OPENS = re.compile(r"(?:^|[。?？!！「『（(\s])$")
_ASKED_OF = re.compile(r"[」』]?(?:の|におけ|におい|に関|について|では|とは|[\s　]+\S)")
# 旅券法と民法の関係, 民法や旅券法では: a word joined to a law is a law too.
_AND = "(?:と|や|・|、|及び|並びに|又は|か)"
_AND_A_LAW = re.compile(rf"[」』]?{_AND}[「『]?[{_WORD}]{{1,20}}?(?:法典?|条例)(?![人令案])")
_A_LAW_AND = re.compile(rf"(?:法典?|条例|[条項号])[」』]?{_AND}[「『]?$")
_NOT_OF_THE_NAME = re.compile(
    "(?:[旧新各諸・]|現行|当該|我が国|日本(?!国|銀|年|放|郵|学|司|農|下))(?=..)"
)
# Such words follow only the name of a real law.
_CITED = re.compile(
    r"[（(「」』]*(?:第?[0-9０-９〇一二三四五六七八九十百千]+条|違反|施行(?:令|規則))"
)
# 旅券法の第5条, but not 計算の方法の2条件.
_CITED_BY_ITS_PART = re.compile(
    r"[」』]?の第?[0-9０-９〇一二三四五六七八九十百千]+条(?![件例約項文])"
)
_SAID_OF_A_LAW = re.compile(
    "(?:に(?:違反|規定|基づ|定め|おけ|おい|よれ|より|よる|よって|照らし)|が(?:規定|定め|禁止|適用|改正)"
    "|で(?![あきす])|だと|なら|って|の(?:規定|条文|罰則|適用|施行|改正|下で|もとで)|上[のはもで、]|所定|施行|附則)"
)
_ENTITLED = re.compile(
    "(?:^|[。「」『』（）()?？!！ 　]|[はがを]、)(?P<name>[^。「」『』（）()?？!！ 　]{4,80}?"
    "(?:に関する|のための|に関スル)(?:法律|特別措置法|特例法|政令|[^。、]{0,6}省令|内閣府令|規則|命令|条例))"
    "(?=[」』]?(?:[（(](?:明治|大正|昭和|平成|令和)|第[0-9０-９〇一二三四五六七八九十]|施行|違反|に違反"
    "|に基づ|におけ|におい|によれ|によると|上[のはもで、]))"
)
# 条例 of some place, 条約 of some states: no specific law.
_SOME = (
    "都道府県", "市町村", "自治体", "地方公共団体", "地方", "当該", "本件", "委任", "課税", "税",
    "関係", "施行", "改正", "独自", "国際", "二国間", "多国間", "租税", "平和", "通商", "投資",
)  # fmt: skip
_SHORTEST_BYLAW = 4
# The words before belong to a verb.
_GOVERNED = ("を", "に")
_LONGEST_OBJECT = 12
# 昭和44年東京都条例第97号
_BYLAW_NUMBER = re.compile("第[0-9０-９〇一二三四五六七八九十百千]+号")
_SHORTEST_STEM = 2
# Only a title ending in 法 is that long.
_LONG_STEM = 5
# 平成二十六年改正法, 医療保険各法: several laws, or none with a name.
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


_LONGEST_COUNTRY = 20


class _EnglishName(NamedTuple):
    """An English name of a law, and its Japanese title, or "" if unknown."""

    start: int
    end: int
    title: str


class _Known(NamedTuple):
    foreign: re.Pattern[str]
    abroad: tuple[re.Pattern[str], re.Pattern[str]]
    heads: tuple[str, ...]
    without_rules: frozenset[str]
    titles: dict[str, str]
    english: tuple[re.Pattern[str], re.Pattern[str]]


def _japanese_names(text: str) -> Iterator[tuple[int, int]]:
    """Spans of Japanese words naming a law; they may overlap."""
    data = _known()
    for name in law_words().known.find_names(text):
        if not _is_another_word(text, name.start, name.end):
            yield name.start, name.end
    for match in data.foreign.finditer(text):
        yield match.span()
    for match in _CANDIDATE.finditer(text):
        start, end = _after_verb(text, *match.span()), match.end()
        while prefix := _NOT_OF_THE_NAME.match(text, start, end):
            start = prefix.end()
        opens = _OPENS.search(text, max(0, match.start() - 1), match.start()) is not None
        if not _is_another_word(text, start, end) and _names_a_law(text, start, end, data, opens):
            yield start, end


def _after_verb(text: str, start: int, end: int) -> int:
    """Where a name starts after a verb: 新公害条例 in 反対を受け新公害条例."""
    if text[start - 1 : start] not in _GOVERNED:
        return start
    begin = max(0, start - _LONGEST_OBJECT)
    words = morphemes(text[begin:end])
    first = next((word for word in words if word.start == start - begin), None)
    is_verb = first is not None and first.kind.startswith("動詞")
    return begin + first.end if first and is_verb else start


def _entitled(text: str) -> Iterator[tuple[int, int]]:
    for match in _ENTITLED.finditer(text):
        yield match.span("name")


def _has_rules_of_other_names(title: str) -> bool:
    """Whether the ordinances under an act have their own titles, and no 施行規則."""
    return title in _known().without_rules


def is_known_title(word: str) -> bool:
    """Whether the word is exactly the name of a well-known law."""
    return bool(law_words().known.lookup(word))


def _is_another_word(text: str, start: int, end: int) -> bool:
    """Whether a name is only the tail of another word: 商法 in 送りつけ商法."""
    return any(text.endswith(word, 0, end) for word in _words_ending_with(text[start:end]))


@lru_cache(maxsize=4096)
def _words_ending_with(name: str) -> tuple[str, ...]:
    return tuple(word for word in law_words().generic if word != name and word.endswith(name))


def _english_names(text: str) -> Iterator[_EnglishName]:
    """English names of laws, unordered, without overlaps."""
    data = _known()
    found = [
        _of_its_country(text, _EnglishName(*match.span(), data.titles[match[0].casefold()]))
        for pattern in data.english
        for match in pattern.finditer(text)
    ]
    found.sort(key=attrgetter("start"))
    starts = [name.start for name in found]
    yield from found
    for match in _ENGLISH_TITLE.finditer(text):
        begin = _NOT_A_TITLE.match(text, match.start(), match.end())
        start = begin.end() if begin else match.start()
        before = bisect_left(starts, match.end()) - 1
        is_free = before < 0 or found[before].end <= start
        if is_free and " " in text[start : match.end()]:
            yield _EnglishName(start, match.end(), "")


def _of_its_country(text: str, name: _EnglishName) -> _EnglishName:
    """The name of a law; a foreign law (French Civil Code) has no Japanese title."""
    before, behind = _known().abroad
    floor = max(0, name.start - _LONGEST_COUNTRY)
    if country := before.search(text, floor, name.start):
        return _EnglishName(country.start(), name.end, "")
    if country := behind.match(text, name.end):
        return _EnglishName(name.start, country.end(), "")
    return name


def _names_a_law(text: str, start: int, end: int, data: _Known, opens: bool) -> bool:
    word = text[start:end].removesuffix("典")
    if word.endswith(("条例", "条約")):
        is_whole = len(word) >= _SHORTEST_BYLAW or word[0].isascii() or word[0].isupper()
        is_number = _BYLAW_NUMBER.match(text, end)
        return is_whole and not is_number and not word[:-2].endswith(_SOME)
    stem = word.removesuffix("法")
    if word in law_words().generic or _SOME_LAWS.search(stem):
        return False
    if law_words().known.lookup(word):
        return True
    if len(stem) < _SHORTEST_STEM:
        return False
    if _CITED.match(text, end):
        return True
    if stem.endswith(law_words().ways):
        return False
    if _CITED_BY_ITS_PART.match(text, end):
        return True
    if stem.endswith("法施行") or (opens and _KANJI.search(stem) and _ASKED_OF.match(text, end)):
        return True
    if _AND_A_LAW.match(text, end) or _A_LAW_AND.search(text, max(0, start - 6), start):
        return True
    said_of_a_law = _SAID_OF_A_LAW.match(text, end) is not None
    if not _KANJI.search(stem):
        return said_of_a_law and len(stem) >= _LONG_STEM
    return said_of_a_law or len(stem) >= _LONG_STEM or stem.endswith(data.heads)


@cache
def _known() -> _Known:
    text = files("localrag.search.question").joinpath("laws.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    english = {name: title for title, names in read["english"].items() for name in names}
    short = [name for name in english if name.isupper()]
    abroad = "|".join(map(re.escape, read["abroad"]))
    return _Known(
        _any_of(read["foreign"]),
        (
            re.compile(rf"(?<![A-Za-z])(?:{abroad}) $"),
            re.compile(rf" of (?:the )?(?:\w+ of )?(?:{abroad})(?![A-Za-z])"),
        ),
        tuple(read["heads"]),
        frozenset(read["without_rules"]),
        {name.casefold(): title for name, title in english.items()},
        (_any_of(short), _any_of(set(english).difference(short), re.IGNORECASE)),
    )


def _any_of(names: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    each = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{each})(?![A-Za-z0-9])", flags)


Orders = Callable[[str], Collection[str]]
"""Ids of the orders and ordinances under a law."""

# 改正個人情報保護法, but not 改正法.
_STATE = re.compile("改正(?=[一-鿿ァ-ヶーA-Za-z])(?!法|[後前時案規])|現行(?!法)")
# 法 may continue as another word (法人, 法令), after a name too: 医療法人. Other words after a name
# of three characters or more belong to the sentence: 景表法対応.
_LAST = re.compile(
    "[法律令則例典](?!人|規(?![制定])|律|令|典|案|益|的|廷|務|学|科|源|曹|制(?![定限])|師|理|話|治|体|則|例)"
)
_ENDS_LIKE_A_LAW = re.compile("[法律令則例典]$")
_SHORTEST_OPEN = 3
_ORDER = re.compile("の?(?P<kind>施行令|施行規則|施行細則)")
# Other names of orders, but not the delegating phrase of an act.
_SPOKEN = (
    "(?P<kind>内閣府令|政令|省令|府令|規則)(?=で?は|に(?:おいて|おける|よ)|上|の|で何|でど|[、。])"
)
_ITS_ORDER = re.compile(f"の{_SPOKEN}")
_ALONE = re.compile(
    "(?:(?:その|同法?の?)(?P<its>施行令|施行規則|施行細則|内閣府令|政令|省令|府令|令|規則)(?![で第]?定)"
    "|(?<![一-鿿])(?P<kind>施行令|施行規則|施行細則)"
    f"|(?<![一-鿿]){_SPOKEN.replace('<kind>', '<spoken>')}"
    "|(?P<same>同法)(?![人規律令典案益的廷務学科源曹制]))"
)
_TYPES = {
    "政令": "CabinetOrder",
    "令": "CabinetOrder",
    "内閣府令": "MinisterialOrdinance",
    "府令": "MinisterialOrdinance",
    "省令": "MinisterialOrdinance",
    "規則": "MinisterialOrdinance",
}
_LONGEST_ORDER = 60
_ENGLISH_ORDER = re.compile(
    r"(?:(?P<order>(?:Cabinet )?Order for (?:the )?Enforcement|Enforcement Order)"
    r"|(?:Ministerial )?(?:Ordinance|Regulations?|Rules) for (?:the )?Enforcement"
    r"|Enforcement (?:Ordinance|Regulations?|Rules)) of (?:the )?$",
    re.IGNORECASE,
)
# Labor Standards Act Enforcement Regulations
_ENGLISH_ORDER_BEHIND = re.compile(
    r"(?:['’]s)? Enforcement (?:(?P<order>Order)|Ordinance|Regulations?|Rules)\b", re.IGNORECASE
)
# 人事院規則１１―４
_NUMBERED_RULE = re.compile(
    "人事院規則[ 　]?([0-9０-９〇一二三四五六七八九]+)[―－ー-]([0-9０-９〇一二三四五六七八九]+)"
)
_IN_KANJI = str.maketrans("0123456789０１２３４５６７８９", 2 * "〇一二三四五六七八九")


@dataclass(frozen=True, slots=True)
class LawNamed:
    """A law named in a question.

    Attributes:
        words: as written.
        start, end: their span in the question.
        law_ids: candidates in the corpus; empty if missing.
    """

    words: str
    start: int
    end: int
    law_ids: tuple[str, ...]


def laws_named(text: str, names: LawNames, orders: Orders | None = None) -> tuple[LawNamed, ...]:
    """Find the laws named in a question, in order, without overlaps.

    Args:
        text: the question.
        names: the laws of the corpus.
        orders: orders under each law; without it, those found by title.
    """
    read = PlainText(text)
    found = _named_in(read.text, names, orders or names.orders)
    if read.is_as_written:
        return tuple(found)
    return tuple(LawNamed(law.words, *read.span(law.start, law.end), law.law_ids) for law in found)


def _named_in(text: str, names: LawNames, under: Orders) -> Iterator[LawNamed]:
    sought = without_states(text)
    bases = list(
        _outermost(
            [*_present(sought, names), *_lacking(sought, names), *_in_english(sought, names)]
        )
    )
    covered = _covered(bases, len(text))
    bases += [
        NameMatch(start, end, ())
        for start, end in _entitled(sought)
        if covered.find(1, start, end) < 0
    ]
    found = [_with_order(text, base, names, under) for base in bases]
    found += _spoken_of(text, found, names, under)
    found.sort(key=lambda name: name.start)
    for name in found:
        yield LawNamed(text[name.start : name.end], name.start, name.end, name.law_ids)


def without_states(text: str) -> str:
    """The question with 改正 and 現行 before laws blanked; spans stay valid."""
    return _STATE.sub(lambda state: "、" * len(state[0]), text)


def without_names(text: str, laws: Iterable[LawNamed]) -> str:
    """The question with the names of laws blanked."""
    return with_blanks(text, ((law.start, law.end) for law in laws))


def names_near(word: str, names: LawNames) -> tuple[str, ...]:
    """Laws with a similar name, for a misspelt one; those of the corpus first.

    A slip keeps the end of a name (労働規準法), forgets it (軽犯罪), or replaces it by a homophone
    (特許方, 民放). 刑事 is a different word, not a slip for 刑法.
    """
    if names.lookup(word) or is_known_title(word) or word in law_words().generic:
        return ()
    near = {names.lookup(name) or name: name for name in law_words().known.near(word)}
    every = ({names.lookup(name): name for name in names.near(word)} | near).values()
    return tuple(name for name in every if _is_slip(word, name))


def matters_of_absent_laws(question: str, names: LawNames) -> Iterator[tuple[str, str]]:
    """Matters of a question whose law is missing: パスポート of 旅券法.

    ``matters.tsv`` has the titles of well-known acts with words specific to their matters.

    Yields:
        The matter as in the file, and the title of the law; each law once.
    """
    letters = f" {' '.join(_LATIN.findall(normalize(question)))} {letters_of(question)}"
    for title, matters in _matters():
        found = next((word for sought, word in matters.items() if sought in letters), None)
        if found is not None and not names.lookup(title):
            yield found, title


def _sought(matter: str) -> str:
    words = _LATIN.findall(normalize(matter))
    return f" {' '.join(words)} " if words and matter.isascii() else letters_of(matter)


@cache
def _matters() -> Sequence[tuple[str, Mapping[str, str]]]:
    text = files(__package__).joinpath("matters.tsv").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in text.splitlines())
    return [(title, {_sought(word): word for word in words.split(" | ")}) for title, words in lines]


def _is_slip(word: str, name: str) -> bool:
    ends_alike = word[-1] == name[-1] and _ENDS_LIKE_A_LAW.search(word)
    return bool(ends_alike) or name == f"{word}法" or not sounds(word).isdisjoint(sounds(name))


def _present(text: str, names: LawNames) -> Iterator[NameMatch]:
    found = names.find_names(text)
    for last in _LAST.finditer(text):
        match = names.ending_at(text, last.end())
        if match is not None and match.end - match.start >= _SHORTEST_OPEN:
            found.append(match)
    for match in found:
        if not _is_another_word(text, match.start, match.end):
            yield match


def _lacking(text: str, names: LawNames) -> Iterator[NameMatch]:
    for start, end in _japanese_names(text):
        word = text[start:end].removesuffix("典")
        # 化粧品薬機法 is two words written as one; 米国特許法 is another law than 特許法.
        tails = (word[at:] for at in range(1, len(word) - _SHORTEST_OPEN + 1))
        two_words = any(names.lookup(tail) and not names.is_title(tail) for tail in tails)
        if names.lookup(word) or is_known_title(word) or not two_words:
            yield NameMatch(start, end, names.lookup(word))
    for number in names.find_numbers(text):
        if not number.law_ids:
            yield NameMatch(number.start, number.end, ())
    for rule in _NUMBERED_RULE.finditer(text):
        title = "人事院規則{}―{}".format(*(part.translate(_IN_KANJI) for part in rule.groups()))
        ids = (id_ for id_ in names.rows if names.title(id_).partition("（")[0] == title)
        yield NameMatch(*rule.span(), tuple(ids))


def _in_english(text: str, names: LawNames) -> Iterator[NameMatch]:
    for name in _english_names(text):
        ids = names.lookup(name.title)
        before = _ENGLISH_ORDER.search(text, max(0, name.start - _LONGEST_ORDER), name.start)
        order = before or _ENGLISH_ORDER_BEHIND.match(text, name.end)
        if order is None:
            yield NameMatch(name.start, name.end, ids)
        else:
            kind = "施行令" if order["order"] else "施行規則"
            ids = tuple(id_ for law_id in ids for id_ in names.order_of(law_id, kind))
            yield NameMatch(min(order.start(), name.start), max(order.end(), name.end), ids)


def _with_order(text: str, name: NameMatch, names: LawNames, under: Orders) -> NameMatch:
    """The order named by its law: 薬機法の施行規則."""
    match = _ORDER.match(text, name.end) or _ITS_ORDER.match(text, name.end)
    if match is None:
        return name
    ids = _order_of(name.law_ids, match["kind"], names, under)
    if match["kind"] == "施行規則" and not ids:
        others = [i for i in name.law_ids if _has_rules_of_other_names(names.title(i))]
        ids = _order_of(others, "規則", names, under)
    return NameMatch(name.start, match.end("kind"), ids)


def _spoken_of(
    text: str, found: Sequence[NameMatch], names: LawNames, under: Orders
) -> Iterator[NameMatch]:
    """The laws meant by 同法 or その施行令: the last act named, else another law."""

    def is_act(name: NameMatch) -> bool:
        return not name.law_ids or names.is_act(name.law_ids[0])

    covered = _covered(found, len(text))
    ahead = deque(sorted(found, key=attrgetter("end")))
    last_of_all = next(filter(is_act, reversed(found)), found[-1] if found else None)
    last = last_act = None
    for match in _ALONE.finditer(text):
        if covered.find(1, *match.span()) >= 0:
            continue
        while ahead and ahead[0].end <= match.start():
            last = ahead.popleft()
            last_act = last if is_act(last) else last_act
        antecedent = last_act or last or last_of_all
        if antecedent and (name := _order_alone(match, antecedent, names, under)) is not None:
            yield name
            last = name
            last_act = name if is_act(name) else last_act


def _covered(found: Iterable[NameMatch], length: int) -> bytearray:
    """For each character of a text: 1 inside a name, else 0."""
    covered = bytearray(length)
    for name in found:
        covered[name.start : name.end] = b"\1" * (name.end - name.start)
    return covered


def _order_alone(
    match: re.Match[str], antecedent: NameMatch, names: LawNames, under: Orders
) -> NameMatch | None:
    """The law meant by 同法 or その施行令 after another one, or None."""
    if match["same"]:
        # A missing law keeps its name.
        ids = antecedent.law_ids
        return NameMatch(match.start(), match.end(), ids) if ids else None
    kind = match["its"] or match["kind"] or match["spoken"]
    if not antecedent.law_ids:
        return None
    ids = _order_of(antecedent.law_ids, kind, names, under)
    return NameMatch(match.start(), match.end(), ids) if ids or kind.startswith("施行") else None


def _order_of(law_ids: Sequence[str], kind: str, names: LawNames, under: Orders) -> tuple[str, ...]:
    """The orders of a kind: 薬機法施行規則 is a title, その省令 any ordinance of the law."""
    titled = tuple(id_ for law_id in law_ids for id_ in names.order_of(law_id, kind))
    if titled or kind not in _TYPES:
        return titled
    return tuple(
        dict.fromkeys(
            order
            for law_id in law_ids
            for order in under(law_id)
            if names.law_type(order) == _TYPES[kind]
        )
    )


def _outermost(found: Iterable[NameMatch]) -> Iterator[NameMatch]:
    """Names that overlap no earlier or longer one; the corpus wins a tie."""
    longest_first = sorted(found, key=lambda name: (name.start - name.end, not name.law_ids))
    covered = bytearray(max((name.end for name in longest_first), default=0))
    taken: list[NameMatch] = []
    for name in longest_first:
        # Taken names are at least as long: an overlap covers one end of this one.
        if not (covered[name.start] or covered[name.end - 1]):
            covered[name.start : name.end] = b"\1" * (name.end - name.start)
            taken.append(name)
    return iter(sorted(taken, key=attrgetter("start")))
