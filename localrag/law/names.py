"""Names of laws: titles, official and customary abbreviations, law numbers, orders of a law."""

import re
import tomllib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import NamedTuple

from localrag.corpus.types import LawRow
from localrag.text.dates import LAW_NUMBER, may_be_same_number, number_key
from localrag_indexes.analysis.normalize import PlainText, plain

_ORDER_SUFFIXES = ("施行令", "施行規則", "施行細則", "施行法")
_ORDERS = ("施行令", "施行規則")
_WORD = "一-鿿々ァ-ヶー"
# A name followed by other words is another word (医療法人, 会計法規).
_MAY_FOLLOW = re.compile(
    rf"(?=[^{_WORD}]|第|附則|別表|上|等(?!の一部を改正)|中|内|下|違反|所定|関係|改正|制定|規定|以外|以下|適用"
    r"|施行[前後時日の]|本則|条文|各|及|又|並|若|[〇一二三四五六七八九十百千]+条|$)"
)
_MAY_PRECEDE = re.compile(rf"(?:^|[^{_WORD}]|現行|改正後|[新後中]|[及又若並])$")
# A short name with one character more or less is another law: 民法, 民訴法.
_SHORT_NAME = 3
_NamesByEnd = defaultdict[tuple[int, str], list[tuple[int, str]]]
_CITED = re.compile(
    r"(?:第[〇一二三四五六七八九十百千]+[条項号章編節](?:の[一二三四五六七八九十]+)*)+"
)
_NUMBERED_TITLE = re.compile(r"(?:明治|大正|昭和|平成|令和).{2,60}号（(.+)）")
# 決闘罪ニ関スル件: people now write such a title in hiragana.
_CLASSICAL = re.compile("[一-鿿](?:ニ関スル|ニ於テ|ヲ|ノ)[一-鿿]")
_IN_HIRAGANA = {katakana: katakana - 0x60 for katakana in range(0x30A1, 0x30F7)}


class NameMatch(NamedTuple):
    """A law's name in a text, and the laws with it."""

    start: int
    end: int
    law_ids: tuple[str, ...]


class LawNames:
    """The names of the laws of a corpus; immutable, picklable, cheap to build.

    Methods with a position take plain characters (`localrag_indexes.analysis.normalize`); others
    take any.
    """

    def __init__(self, rows: Iterable[LawRow]) -> None:
        self.rows: Mapping[str, LawRow] = {row.law_id: row for row in rows}
        self._ids = _names(self.rows.values())
        # Names share endings (…に関する法律). Sorted from the end, one bisection finds the longest
        # name at the end of a text.
        self._reversed = sorted(name[::-1] for name in self._ids)
        self._last = re.compile(
            "["
            + re.escape("".join({name[-1] for name in self._ids} or {"法"}))
            + "]"
            + _MAY_FOLLOW.pattern
        )

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str, str, str]]) -> "LawNames":
        """Build from (law_id, title, law_num, law_type, abbreviations) of every law."""
        return cls(LawRow(*row) for row in rows)

    def __getstate__(self) -> list[LawRow]:
        return list(self.rows.values())

    def __setstate__(self, rows: list[LawRow]) -> None:
        self.__init__(rows)  # type: ignore[misc]

    def lookup(self, name: str) -> tuple[str, ...]:
        """Ids of the laws with exactly this title, abbreviation or law number, in any spelling."""
        name = name.strip()
        if found := self._ids.get(name):
            return found
        if name in self.rows:
            return (name,)
        name = _printed(name)
        if found := self._ids.get(name):
            return found
        number = LAW_NUMBER.fullmatch(name)
        return self._numbers.get(number_key(number), ()) if number else ()

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Ids of laws by title and abbreviation, orders included."""
        return self._ids

    def title(self, law_id: str) -> str:
        """The title as printed, or ""."""
        row = self.rows.get(law_id)
        return row.title if row else ""

    def law_type(self, law_id: str) -> str:
        """``Act``, ``CabinetOrder`` …, or ""."""
        row = self.rows.get(law_id)
        return row.law_type if row else ""

    def is_act(self, law_id: str) -> bool:
        """Whether it ranks as an act; some orders of the occupation do, too."""
        acts = ("Act", "Constitution")
        return self.law_type(law_id) in acts or self._plain_title(law_id).endswith("法")

    def can_bear(self, law_id: str, number: str) -> bool:
        """Whether a number fits the law, as far as both are known."""
        return may_be_same_number(number, self.rows[law_id].law_num)

    def is_title(self, name: str) -> bool:
        """Whether it is the title of a law, not an abbreviation."""
        return any(_printed(self.title(law_id)) == name for law_id in self._ids.get(name, ()))

    def near(self, word: str) -> tuple[str, ...]:
        """Names one slip away from a word: a character wrong, more, less, or swapped.

        In two characters the first must be right: 方法 is not 刑法.
        """
        alike: dict[int, str] = {}
        for length in range(len(word) - 1, len(word) + 2):
            kept = _kept(length)
            for ends, end in zip(self._ends, (word[:kept], word[len(word) - kept :]), strict=True):
                alike.update(ends.get((length, end), ()))
        return tuple(name for _, name in sorted(alike.items()) if _one_slip(word, name))

    def ending_at(self, text: str, end: int) -> NameMatch | None:
        """The longest name of a law ending at `end`, not the tail of a longer word."""
        name = self._longest_at(text, end)
        if name is None or not _MAY_PRECEDE.search(
            text, max(0, end - len(name) - 4), end - len(name)
        ):
            return None
        return NameMatch(end - len(name), end, self._ids[name])

    def title_ending_at(self, text: str, end: int) -> NameMatch | None:
        """The longest title of a law ending at `end`, without abbreviations."""
        if text[end - 1 : end] not in self._title_ends:
            return None
        match = self.ending_at(text, end)
        return match if match and self.is_title(text[match.start : end]) else None

    def find_names(self, text: str) -> list[NameMatch]:
        """Names and law numbers in a text, in order, the longest of overlapping ones."""
        read = PlainText(text)
        found = [
            match
            for last in self._last.finditer(read.text)
            if (match := self.ending_at(read.text, last.end())) is not None
        ]
        found += [number for number in self._numbers_in(read.text) if number.law_ids]
        return [_as_written(match, read) for match in _outermost(found)]

    def find_numbers(self, text: str) -> list[NameMatch]:
        """Law numbers in a text, in order; without ids for missing laws."""
        read = PlainText(text)
        return [_as_written(match, read) for match in self._numbers_in(read.text)]

    def _numbers_in(self, text: str) -> Iterator[NameMatch]:
        for match in LAW_NUMBER.finditer(text):
            yield NameMatch(*match.span(), self._numbers.get(number_key(match), ()))

    def title_around(self, text: str, start: int, end: int) -> int:
        """End of the title beginning at `start` and continuing after `end`, else `end`.

        Some titles cite provisions: 金融商品取引法第二条に規定する定義に関する内閣府令.
        """
        return max(
            (
                start + len(title)
                for title in self._citing_titles.get(text[start:end], ())
                if text.startswith(title, start)
            ),
            default=end,
        )

    def parents(self, law_id: str) -> tuple[str, ...]:
        """The act named in an order's title: X法施行令, X法第三条の…を定める政令."""
        return self._parents.get(law_id, ())

    def orders(self, law_id: str) -> tuple[str, ...]:
        """The orders and ordinances with this law in their titles."""
        return self._orders.get(law_id, ())

    def order_of(self, law_id: str, suffix: str) -> tuple[str, ...]:
        """The 施行令, 施行規則 … of a law."""
        return self._ids.get(self._plain_title(law_id) + suffix, ())

    @cached_property
    def _ends(self) -> tuple[_NamesByEnd, _NamesByEnd]:
        """The names, indexed by length with beginning and with ending.

        One slip leaves one of the two intact.
        """
        beginning: _NamesByEnd = defaultdict(list)
        ending: _NamesByEnd = defaultdict(list)
        for number, name in enumerate(self._ids):
            kept = _kept(len(name))
            beginning[len(name), name[:kept]].append((number, name))
            ending[len(name), name[len(name) - kept :]].append((number, name))
        return beginning, ending

    @cached_property
    def _title_ends(self) -> frozenset[str]:
        return frozenset(_printed(row.title)[-1:] for row in self.rows.values())

    @cached_property
    def _numbers(self) -> dict[str, tuple[str, ...]]:
        numbers: dict[str, tuple[str, ...]] = {}
        for row in self.rows.values():
            if match := LAW_NUMBER.fullmatch(plain(row.law_num)):
                key = number_key(match)
                numbers[key] = (*numbers.get(key, ()), row.law_id)
        return numbers

    @cached_property
    def _citing_titles(self) -> dict[str, list[str]]:
        titles: dict[str, list[str]] = defaultdict(list)
        for title in self._ids:
            for citation in _CITED.finditer(title):
                if citation.end() < len(title):
                    titles[title[: citation.end()]].append(title)
        return dict(titles)

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        return {
            law_id: parents
            for law_id, row in self.rows.items()
            if row.law_type not in ("Act", "Constitution") and (parents := self._named_by(row))
        }

    @cached_property
    def _orders(self) -> dict[str, tuple[str, ...]]:
        orders: dict[str, list[str]] = defaultdict(list)
        for order, parents in self._parents.items():
            for parent in parents:
                orders[parent].append(order)
        return {parent: tuple(ids) for parent, ids in orders.items()}

    def _named_by(self, row: LawRow) -> tuple[str, ...]:
        for suffix in _ORDER_SUFFIXES:
            base, found, _ = plain(row.title).partition(suffix)
            if found and base in self._ids:
                return tuple(id_ for id_ in self._ids[base] if id_ != row.law_id)
        title = plain(row.title)
        first = next(iter(self.find_names(title.rstrip())), None)
        if first is None or first.start or row.law_id in first.law_ids:
            first = next((m for m in self._within(title) if row.law_id not in m.law_ids), None)
        return first.law_ids if first and first.start == 0 else ()

    def _within(self, title: str) -> Iterator[NameMatch]:
        for last in self._last.finditer(title[:-1] + "。"):
            if match := self.ending_at(title, last.end()):
                yield match

    def _longest_at(self, text: str, end: int) -> str | None:
        tail = text[max(0, end - 120) : end][::-1]
        while tail:
            at = bisect_right(self._reversed, tail) - 1
            if at < 0:
                return None
            name = self._reversed[at]
            if tail.startswith(name):
                return name[::-1]
            tail = tail[: alike_at_start(tail, name)]
        return None

    def _plain_title(self, law_id: str) -> str:
        return _printed(self.title(law_id))


@cache
def customary() -> dict[str, tuple[str, ...]]:
    """Customary abbreviations by full title, from ``abbreviations.toml``."""
    text = files("localrag.law").joinpath("abbreviations.toml").read_text(encoding="utf-8")
    return {title: tuple(names) for title, names in tomllib.loads(text).items()}


@cache
def former_titles() -> dict[str, tuple[str, date]]:
    """Former titles of well-known laws: the current title, and its first day."""
    text = files("localrag.law").joinpath("former_titles.toml").read_text(encoding="utf-8")
    return {former: (title, since) for former, (title, since) in tomllib.loads(text).items()}


class LawWords(NamedTuple):
    """Words that distinguish names of laws.

    Attributes:
        known: well-known laws and their orders, in the corpus or not.
        generic: words ending like a law (国際法).
        ways: words before 法 in the sense of a method (計算 in 計算法).
    """

    known: LawNames
    generic: frozenset[str]
    ways: tuple[str, ...]


@cache
def law_words() -> LawWords:
    """Words that distinguish names of laws, from ``law_words.toml``."""
    text = files("localrag.law").joinpath("law_words.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    titles = dict.fromkeys((*read["titles"], *customary()))
    named = [name for title in titles for name in (title, *(title + order for order in _ORDERS))]
    known = LawNames(LawRow(name, name) for name in named)
    return LawWords(known, frozenset(read["generic"]), tuple(read["ways"]))


def _kept(length: int) -> int:
    return max(0, length - 2) // 2


def _one_slip(word: str, name: str) -> bool:
    if word == name or abs(len(word) - len(name)) > 1:
        return False
    first = alike_at_start(word, name)
    last = alike_at_start(word[first:][::-1], name[first:][::-1])
    rest, other = word[first : len(word) - last], name[first : len(name) - last]
    if len(rest) == len(other) == 1:
        return first > 0 or last > 1
    one_more = len(rest) + len(other) == 1
    return max(len(word), len(name)) > _SHORT_NAME and (one_more or rest == other[::-1])


def alike_at_start(one: str, other: str) -> int:
    """Length of the common beginning of two texts."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _names(rows: Iterable[LawRow]) -> dict[str, tuple[str, ...]]:
    by_name: dict[str, tuple[str, ...]] = {}

    def enter(name: str, law_ids: tuple[str, ...]) -> None:
        known = by_name.get(name, ())
        by_name[name] = known + tuple(law_id for law_id in law_ids if law_id not in known)

    abbreviated: list[tuple[str, str]] = []
    for row in rows:
        title = _printed(row.title)
        if title:
            enter(title, (row.law_id,))
        if (numbered := _NUMBERED_TITLE.fullmatch(title)) is not None:
            enter(numbered[1], (row.law_id,))
            if _CLASSICAL.search(numbered[1]):
                enter(numbered[1].translate(_IN_HIRAGANA), (row.law_id,))
        abbreviated += [(title, name) for name in row.abbreviations.split(",") if name]
    abbreviated += [(title, name) for title, names in customary().items() for name in names]
    abbreviated = [(title, plain(name)) for title, name in abbreviated]
    entered: dict[str, list[str]] = defaultdict(list)
    for title, name in abbreviated:
        for suffix in ("", *_ORDER_SUFFIXES):
            if (ids := by_name.get(title + suffix)) is not None:
                entered[name + suffix] += ids
    for name, law_ids in entered.items():
        enter(name, tuple(law_ids))
    return by_name


def _printed(title: str) -> str:
    """A title in plain characters, without the mark of an extract (抄)."""
    return plain(title).removesuffix("抄").rstrip(" 　")


def _as_written(match: NameMatch, read: PlainText) -> NameMatch:
    if read.is_as_written:
        return match
    return NameMatch(*read.span(match.start, match.end), match.law_ids)


def _outermost(matches: list[NameMatch]) -> Iterator[NameMatch]:
    """The matches not inside others, in order."""
    end = 0
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if match.end > end:
            yield match
            end = match.end


# Short names of laws before a number: 民 709, 民訴規 3, 金商令 2.

NAME_LETTER = "一-鿿々ァ-ヶーA-Za-z0-9"
"""Characters of short names, as a class of a pattern."""

_NAME_LETTER = re.compile(f"[{NAME_LETTER}]")
_LONGEST_SHORT = 30
# A longer word begins like a name, if it is one.
_OPENING, _SURE = 6, 10
_KANJI = re.compile("[一-鿿々]+")
_KANJI_OR_DIGIT = re.compile("[0-9一-鿿々]")
_SHORT_ORDERS = {
    **dict.fromkeys(("施行令", "施令", "令"), ("施行令", "令")),
    **dict.fromkeys(("施行規則", "施規", "施則", "規則", "規", "則"), ("施行規則", "規則")),
}


class ShortNames:
    """Short names of laws before a number.

    A law is shortened by dropping 法, rules by dropping 則; orders and rules under a law are its
    short name with 令, 規 or 則. Short names of well-known laws count even if the corpus lacks
    them.
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
        self._last = frozenset(word[-1] for word in (*self._full, *_SHORT_ORDERS))
        self._ends = self._last.union((name[-1] for name in self._known), "号")
        self._openings = frozenset(plain(name)[:_OPENING] for name in (*self._known, *self._full))

    def full(self, word: str) -> str:
        """The name meant by a word, itself included; "" for none."""
        if _KANJI_OR_DIGIT.match(word[-1:]) and word[-1] not in self._ends:
            # Most words of a long text end like no name.
            return ""
        is_long = len(word) > _SURE and not word.endswith("号")
        if is_long and plain(word.lstrip()[: 2 * _OPENING])[:_OPENING] not in self._openings:
            return ""
        if word in self._known or (word not in self._names.rows and self._names.lookup(word)):
            return word
        if name := self._full.get(word):
            return name
        for ending, kinds in _SHORT_ORDERS.items():
            stem = word.removesuffix(ending)
            if stem != word and (law := self._full.get(stem)):
                return self._order(law, *kinds)
        return ""

    def before(self, text: str, end: int) -> str:
        """The longest name or short name ending at `end`, or ""."""
        match = self._names.ending_at(text, end)
        start = match.start if match else end
        if text[end - 1 : end] in self._last:
            for at in range(max(0, end - _LONGEST_SHORT), start):
                if text[at].isspace():
                    # A match may include blanks before the name; skip them.
                    continue
                alone = at == 0 or not _NAME_LETTER.match(text[at - 1])
                if alone and self.full(text[at:end]):
                    return text[at:end]
        return text[start:end]

    def is_word(self, word: str) -> bool:
        """Whether a short name may also be an ordinary word: 会社, 番号.

        民 is not, nor an abbreviation of the title: 民訴, 金商令.
        """
        name = self._full.get(word, "")
        if not name or (len(word) == 1 and name == f"{word}法"):
            return False
        return not _KANJI.fullmatch(word) or any(word in title for title in self._titles_of(name))

    def _titles_of(self, name: str) -> list[str]:
        known = [self._names.title(law_id) for law_id in self._names.lookup(name)]
        return known or [self._titles.get(name, name)]

    def _order(self, law: str, kind: str, other: str) -> str:
        """The order of a law: 民訴規 is 民事訴訟規則, because there is no 民事訴訟法施行規則."""
        title = self._titles_of(law)[0]
        of_its_own = title.removesuffix("法") + other
        if self._names.lookup(of_its_own) and not self._names.lookup(title + kind):
            return of_its_own
        return title + kind


@lru_cache(maxsize=4)
def short_names(names: LawNames) -> ShortNames:
    """The short names for a corpus, cached."""
    return ShortNames(names)


@cache
def _short_names() -> dict[str, tuple[str, ...]]:
    text = files("localrag.law").joinpath("short_names.toml").read_text(encoding="utf-8")
    return {title: tuple(called) for title, called in tomllib.loads(text).items()}
