"""What stands for a law right before a number: 民 709, 民訴規 3, 金商令 2."""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from localrag.statutes.names import LawNames, customary
from localrag_indexes.analysis.normalize import plain

NAME_LETTER = "一-鿿々ァ-ヶーA-Za-z0-9"
"""What short names are written with, as a class of a pattern."""

_NAME_LETTER = re.compile(f"[{NAME_LETTER}]")
_LONGEST = 30
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
            for at in range(max(0, end - _LONGEST), start):
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
