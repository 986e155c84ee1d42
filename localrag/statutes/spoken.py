"""The laws that a text speaks of: what 同法, その施行令, a bare article or a short name is."""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import islice

from localrag.statutes._places import Law
from localrag.statutes.citations import LawKind, LawPart, ProvisionCitation, law_part_before
from localrag.statutes.names import LawNames, NameMatch, customary, law_words
from localrag_indexes.analysis.normalize import plain

_Ids = tuple[str, ...]

_ACT_SUFFIXES = {"施行令": "施行令", "令": "施行令", "施行規則": "施行規則", "規則": "施行規則"}
_ACT_TYPES = ("Act", "Constitution")
_SPELLED_AS_ORDER = re.compile(
    r"(?!(?:施行令|施行規則|施行細則)$)"
    r".*(?:(?:関する|ための)法律|(?<![命法政省府指辞号])令|..規則|施行細則)",
    re.DOTALL,
)
_WORD = "一-鿿々ァ-ヶーA-Za-zＡ-Ｚａ-ｚ"
INNER_KANA = (
    "[いきしちみりえけせめれげぎび](?=[一-鿿])(?![都道府県市区町村国本同各新旧当該]{1,4}条)"
)
"""The kana within a word that names a bylaw: 空き家条例, and not 規制し県条例."""
# 公害防止条例（以下「条例」という。）第3条
_WORD_BEFORE = re.compile(
    rf"(?P<word>[{_WORD}](?:[{_WORD}]|{INNER_KANA})*)[」』]?(?P<of>の)?"
    r"(?P<aside>[ 　]?[（(][^（）()\n]{1,80}[）)])?[ 　]?$"
)
_LONGEST_WORD = 120
_JOINED = re.compile(r"の *\Z")
# What places, bodies and parties make; …則 is spelled as a law is.
_BYLAW = re.compile("(?:条例|条約|協定|議定書|規程|規約|約款|定款|契約書|要綱|要領)$")
# 本契約, この規程: the text itself.
_ITSELF = re.compile(
    "(?:[本当]|この)(?:件)?[一-鿿ァ-ヶー]{0,8}(?:契約書?|規程|規約|規則|約款|定款|覚書|合意書?|協定書?"
    "|要綱|要領|内規|規定|条項|誓約書|書面?|細則|基準|指針|方針)"
    "[」』]?の?[ 　]?$"
)
_LONGEST_NAME = 30
# A text that names more laws tells of none of them that a bare article is of it.
_MOST_MEANT = 20
# 旧民法 is a state of 民法, and 日本民法 no other law.
_SAID_BEFORE_A_NAME = re.compile("^(?:旧|改正|日本)")


class SpokenLaws:
    """The laws that a question or a single provision speaks of."""

    def __init__(
        self, text: str, names: LawNames, own: Law | None, definitions: Mapping[str, str]
    ) -> None:
        self._text = text
        self._names = names
        self._own = own
        self._definitions = definitions
        self._mentions = names.find_names(text)
        self._by_ending: dict[tuple[str, ...], list[NameMatch]] = {}

    def law_of(self, citation: ProvisionCitation) -> Law:
        """Return the law of a citation that begins a list."""
        part = citation.law
        if part.kind is LawKind.TABLE:
            return Law((), part.text)
        if law_id := self._definitions.get(part.text):
            return self._law((law_id,))
        if part.kind is LawKind.NONE:
            start = citation.start
            return self._own or self._lacking_before(start) or self._spoken_of(start)
        if part.kind is LawKind.THIS:
            return self._own or self._last(citation.start) or Law((), part.text)
        if part.kind is LawKind.SAME:
            return self._same(part, citation.start)
        if part.kind is LawKind.PARENT:
            return self._acts(citation.start) or Law((), part.text)
        if part.kind in (LawKind.DECREE, LawKind.RULE) or part.text in _ACT_SUFFIXES:
            # 技術上の規格を定める省令 is a title that ends like what others call 省令.
            title = self._names.title_ending_at(self._text, part.end)
            if title and title.start < part.start:
                return self._law(title.law_ids)
            return self._order(part, citation.start)
        return self._named(part)

    def is_inside_a_name(self, citation: ProvisionCitation) -> bool:
        """Whether the citation is part of a law's title."""
        part = citation.law
        start = part.end if part.text else citation.start
        # No name is inside another: of those that begin before, the last one ends last.
        begun = bisect_right(self._mentions, start, key=lambda name: name.start)
        return begun > 0 and citation.end <= self._mentions[begun - 1].end

    def _named(self, part: LawPart) -> Law:
        match = self._names.ending_at(self._text, part.end)
        if match is not None:
            return self._law(match.law_ids)
        if part.number and (ids := self._names.lookup(part.number)):
            return self._law(ids)
        return Law((), part.text)

    def _word_before(self, position: int) -> re.Match[str] | None:
        """The word right before a bare article, with what stands between them."""
        floor = max(self._text.rfind("\n", 0, position) + 1, position - _LONGEST_WORD)
        return _WORD_BEFORE.search(self._text, floor, position)

    def _bylaw_before(self, position: int) -> Law | None:
        """Return the bylaw that a bare article is of, which no corpus of statutes has: X条例3条.

        The 定型約款 of 民法の定型約款548条の2 is what an article of 民法 is about.
        """
        before = self._word_before(position)
        if before is None or not is_bylaw(before["word"]):
            return None
        is_matter = self._text.endswith("の", 0, before.start()) and self._names.ending_at(
            self._text, before.start() - 1
        )
        known = self._names.ending_at(self._text, before.end("word"))
        return None if is_matter or known else Law((), before["word"])

    def _lacking_before(self, position: int) -> Law | None:
        """Return the law that の joins to a bare article where the corpus lacks it: 旅券法の5条."""
        if itself := names_itself(self._text, position):
            return Law((), itself)
        if bylaw := self._bylaw_before(position):
            return bylaw
        joined = _JOINED.search(self._text, max(0, position - _LONGEST_WORD), position)
        if joined is None:
            return None
        part = law_part_before(self._text, joined.start(), 0)
        if part.kind is not LawKind.NAMED or not _is_spelled_as_law(part.text):
            return None
        law = self._named(part)
        is_there = law.ids or self._names.lookup(_SAID_BEFORE_A_NAME.sub("", part.text))
        return None if is_there else law

    def _same(self, part: LawPart, position: int) -> Law:
        ending = part.text[-1]
        named = self._mentioned(position, ("法", "律") if ending in "法律" else (ending,))
        return named or Law((), part.text)

    def _acts(self, position: int) -> Law | None:
        """Return what 法 can mean: the act of the order at hand, else the acts spoken of."""
        if self._own is not None:
            parents = self._names.parents(self._own.ids[0])
            return self._law(parents or self._own.ids)
        acts = [
            law_id
            for law_id in self._spoken_of(position).ids
            if self._names.law_type(law_id) in _ACT_TYPES
        ]
        return self._law(acts) if acts else None

    def _order(self, part: LawPart, position: int) -> Law:
        acts = self._acts(position)
        if acts is None:
            return Law((), part.text)
        suffix = _ACT_SUFFIXES.get(part.text)
        if suffix:
            ids = tuple(i for law_id in acts.ids for i in self._names.order_of(law_id, suffix))
            if ids:
                return self._law(ids)
        named = self._mentioned(position, (part.text,))
        if named:
            return named
        orders = tuple(
            order
            for law_id in acts.ids
            for order in self._names.orders(law_id)
            if self._names.title(order).endswith(part.text)
        )
        return self._law(orders) if orders else Law((), part.text)

    def _spoken_of(self, position: int) -> Law:
        """Return what a bare article can be of: the laws named, nearest before first, then acts."""
        ended = bisect_right(self._mentions, position, key=lambda name: name.end)
        before, after = self._nearest
        ids = dict.fromkeys((*before[ended], *after[ended]))
        for law_id in tuple(ids):
            ids.update(dict.fromkeys(self._names.parents(law_id)))
        return self._law(tuple(ids))

    @cached_property
    def _nearest(self) -> tuple[list[_Ids], list[_Ids]]:
        """The laws named before and after each place between two names, the nearest first."""
        before, after = _running(self._mentions), _running(reversed(self._mentions))
        return before, after[::-1]

    def _last(self, position: int) -> Law | None:
        return self._mentioned(position, ("",))

    def _mentioned(self, position: int, endings: tuple[str, ...]) -> Law | None:
        """Return the law named last before a position whose title ends so."""
        fitting = self._fitting(endings)
        ended = bisect_right(fitting, position, key=lambda name: name.end)
        return self._law(fitting[ended - 1].law_ids) if ended else None

    def _fitting(self, endings: tuple[str, ...]) -> list[NameMatch]:
        """The names of laws whose titles end so."""
        if endings not in self._by_ending:
            self._by_ending[endings] = [
                name
                for name in self._mentions
                if self._names.title(name.law_ids[0]).endswith(endings)
            ]
        return self._by_ending[endings]

    def _law(self, law_ids: Sequence[str]) -> Law:
        return Law(tuple(law_ids), self._names.title(law_ids[0]) if law_ids else "")


def _running(mentions: Iterable[NameMatch]) -> list[_Ids]:
    """The laws named last before each name, and behind them all, the nearest first."""
    # A dict keeps the order in which its keys went in.
    last: dict[str, None] = {}
    seen: list[_Ids] = [()]
    for name in mentions:
        for law_id in reversed(name.law_ids):
            last.pop(law_id, None)
            last[law_id] = None
        seen.append(tuple(islice(reversed(last), _MOST_MEANT)))
    return seen


def names_itself(text: str, end: int) -> str:
    """The name that a contract or a bylaw has for itself right before a place: 本契約, この規程.

    Returns:
        The name; "" where none is there.
    """
    found = _ITSELF.search(text, max(0, end - _LONGEST_NAME), end)
    return found[0].rstrip("の 　」』") if found else ""


def is_bylaw(name: str) -> bool:
    """Whether a word names what places, bodies or parties make for themselves: 条例, 規程, 約款."""
    return _BYLAW.search(name) is not None


def _is_spelled_as_law(name: str) -> bool:
    """Whether a name is one of a law by its spelling: 旅券法, and not 同法, 計算方法 or 特別法."""
    words = law_words()
    if words.known.lookup(name):
        return True
    if name.startswith("同") or name in words.generic:
        return False
    stem = name.removesuffix("法")
    if stem == name:
        return _SPELLED_AS_ORDER.fullmatch(name) is not None
    return not stem.endswith(words.ways)


# What stands for a law right before a number: 民 709, 民訴規 3, 金商令 2.

NAME_LETTER = "一-鿿々ァ-ヶーA-Za-z0-9"
"""What short names are written with, as a class of a pattern."""

_NAME_LETTER = re.compile(f"[{NAME_LETTER}]")
_LONGEST_SHORT = 30
# A word of more characters than a short name and the ending of an order opens like a name.
_OPENING, _SURE = 6, 10
_KANJI = re.compile("[一-鿿々]+")
_KANJI_OR_DIGIT = re.compile("[0-9一-鿿々]")
_ORDERS = {
    **dict.fromkeys(("施行令", "施令", "令"), ("施行令", "令")),
    **dict.fromkeys(("施行規則", "施規", "施則", "規則", "規", "則"), ("施行規則", "規則")),
}


class ShortNames:
    """What stands for the laws of a corpus before a number, and what it stands for.

    Short for a law is its name without 法, for rules their name without 則, and for the orders
    and rules under a law whatever is short for it with 令, 規 or 則. What well-known laws are
    called is known of those too that the corpus lacks.
    """

    def __init__(self, names: LawNames) -> None:
        self._names = names
        self._titles = {name: title for title, called in customary().items() for name in called}
        self._full: dict[str, str] = {}
        self._known = dict.fromkeys((*names.names, *customary(), *self._titles, *_short_names()))
        for name in self._known:
            if name.endswith(("法", "規則")) and len(name) > 1:
                self._full.setdefault(name[:-1], name)
        for title, called in _short_names().items():
            self._full |= dict.fromkeys(called, title)
        self._last = frozenset(word[-1] for word in (*self._full, *_ORDERS))
        self._ends = self._last.union((name[-1] for name in self._known), "号")
        self._openings = frozenset(plain(name)[:_OPENING] for name in (*self._known, *self._full))

    def full(self, word: str) -> str:
        """The name that a word stands for, its own where it is one; empty where it is none."""
        if _KANJI_OR_DIGIT.match(word[-1:]) and word[-1] not in self._ends:
            # Most of what is asked in a long text ends like no name at all.
            return ""
        is_long = len(word) > _SURE and not word.endswith("号")
        if is_long and plain(word.lstrip()[: 2 * _OPENING])[:_OPENING] not in self._openings:
            return ""
        if word in self._known or (word not in self._names.rows and self._names.lookup(word)):
            return word
        if name := self._full.get(word):
            return name
        for ending, kinds in _ORDERS.items():
            stem = word.removesuffix(ending)
            if stem != word and (law := self._full.get(stem)):
                return self._order(law, *kinds)
        return ""

    def before(self, text: str, end: int) -> str:
        """The longest name or short name that ends in a text at `end`; empty where none does."""
        match = self._names.ending_at(text, end)
        start = match.start if match else end
        if text[end - 1 : end] in self._last:
            for at in range(max(0, end - _LONGEST_SHORT), start):
                if text[at].isspace():
                    # A name is found under its blanks, too, and does not begin with them.
                    continue
                alone = at == 0 or not _NAME_LETTER.match(text[at - 1])
                if alone and self.full(text[at:end]):
                    return text[at:end]
        return text[start:end]

    def is_word(self, word: str) -> bool:
        """Whether a short name may be a word besides: 会社, 番号.

        Not 民, nor what leaves out characters of the title that it stands for: 民訴, 金商令.
        """
        name = self._full.get(word, "")
        if not name or (len(word) == 1 and name == f"{word}法"):
            return False
        return not _KANJI.fullmatch(word) or any(word in title for title in self._titles_of(name))

    def _titles_of(self, name: str) -> list[str]:
        known = [self._names.title(law_id) for law_id in self._names.lookup(name)]
        return known or [self._titles.get(name, name)]

    def _order(self, law: str, kind: str, other: str) -> str:
        """The order of a law: 民訴規 is 民事訴訟規則, for there is no 民事訴訟法施行規則."""
        title = self._titles_of(law)[0]
        of_its_own = title.removesuffix("法") + other
        if self._names.lookup(of_its_own) and not self._names.lookup(title + kind):
            return of_its_own
        return title + kind


@lru_cache(maxsize=4)
def short_names(names: LawNames) -> ShortNames:
    """The short names of the laws of a corpus; made once for it."""
    return ShortNames(names)


@cache
def _short_names() -> dict[str, tuple[str, ...]]:
    text = files("localrag.statutes").joinpath("short_names.toml").read_text(encoding="utf-8")
    return {title: tuple(called) for title, called in tomllib.loads(text).items()}
