"""Builds the document of a statute line by line, with places in words."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from localrag.corpus.readers.text import bounded, brief
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document, Locator, Passage, Section
from localrag.errors import InputError
from localrag.language import N_
from localrag.text.harmless import shorten
from localrag_indexes.analysis.normalize import to_kanji

_DIGITS = "〇一二三四五六七八九"
_UNITS = {"十": 10, "百": 100, "千": 1000}
_KANJI = "〇一二三四五六七八九十百千"
_WELL_FORMED = re.compile(r"\d+(?:_\d+)*(?::\d+(?:_\d+)*)?")
_PRINTED_ARTICLE = re.compile(rf"第([{_KANJI}0-9０-９]+)条((?:[のノ][{_KANJI}0-9０-９]+)*)")
_PRINTED_ITEM = re.compile(rf"([{_KANJI}]+)((?:[のノ][{_KANJI}]+)*)")
_ITEM_TITLE = re.compile(rf"(?:[{_KANJI}のノ]|から|まで|及び|及ビ|及|乃至|、|・)+")


def is_number(number: str) -> bool:
    """Whether `number` is a locator number: ``27``, ``27_36``, ``55:63``."""
    return len(number) <= _LONGEST_NUMBER and _WELL_FORMED.fullmatch(number) is not None


def integer(printed: str) -> int:
    """Read 三十六, 三六 or ３６ as 36; `printed` has only digits of one of these forms."""
    if not any(unit in printed for unit in _UNITS):
        return int("".join(str(_DIGITS.index(c)) if c in _DIGITS else c for c in printed))
    total, digit = 0, 0
    for character in printed:
        if character in _UNITS:
            total += (digit or 1) * _UNITS[character]
            digit = 0
        else:
            digit = _DIGITS.index(character)
    return total + digit


def article_number(number: str, title: str) -> str:
    """The locator number of an article, by its number or else its title; "" without one."""
    if is_number(number):
        return number
    title = title[:_LONGEST_TITLE]
    printed = [
        "_".join(str(integer(part)) for part in (main, *re.split("[のノ]", branches)[1:]))
        for main, branches in _PRINTED_ARTICLE.findall(title)
    ]
    if len(printed) > 1:
        return f"{printed[0]}:{printed[-1]}"
    return printed[0] if printed else ""


def article_words(number: str, title: str) -> str:
    """The printed title, or 第二十七条の三十六 for ``27_36``."""
    if title or not number:
        return title
    return "から".join(_branched(part, "条") for part in number.split(":"))


def paragraph_words(number: str) -> str:
    """第六項 for ``6``."""
    return "から".join(_branched(part, "項") for part in number.split(":"))


@lru_cache(maxsize=8192)
def item_words(title: str) -> str:
    """第一号の二 for the printed 一の二; other signs (イ, （１）) stay as printed."""
    if _ITEM_TITLE.fullmatch(title):
        return _PRINTED_ITEM.sub(r"第\1号\2", title)
    return title


@lru_cache(maxsize=8192)
def _branched(number: str, counter: str) -> str:
    main, *branches = (to_kanji(n) if n else "" for n in map(int, number.split("_")))
    return f"第{main}{counter}" + "".join(f"の{branch}" for branch in branches)


# Limits in characters for a number, a title read as number, and the words of a place. Real ones
# stay below a fifth; ids and headers of all passages contain them.
_LONGEST_NUMBER, _LONGEST_TITLE, _LONGEST_WORDS = 50, 100, 1_500
# Article, paragraph, item and ten deeper levels each repeat the same words.
_LEVELS, _LITTLE = 12, 1_000_000
_LAYER_ORDER = {ARTICLES: 0, PARAGRAPHS: 1, ITEMS: 2}


class StatutePlace(NamedTuple):
    """The present place: the fields of a locator, and the same in words."""

    words: str
    division: str = ""
    article: str = ""
    paragraph: str = ""
    item: str = ""
    subitem: str = ""

    def step(self, words: str) -> str:
        """The words of a place inside this one."""
        return f"{self.words} {brief(words)}" if words else self.words


class _Draft(NamedTuple):
    layer: str
    place: StatutePlace
    start: int
    end: int


class StatuteBuilder:
    """Collects lines, provisions and headings of a statute, in reading order."""

    def __init__(self, law_id: str, title: str) -> None:
        self.law_id = bounded(N_("id"), law_id)
        self.title = bounded(N_("title"), title)
        self.position = 0
        self._parts: list[str] = []
        self._drafts: list[_Draft] = []
        self._sections: list[Section] = []

    def line(self, text: str) -> None:
        """Write one line; blank lines are dropped."""
        if text and not text.isspace():
            self._parts.append(text)
            self.position += len(text) + 1

    def provision(self, layer: str, place: StatutePlace, start: int) -> None:
        """Make the lines since `start` the provision at `place`."""
        if self.position > start:
            place = place._replace(words=shorten(place.words, _LONGEST_WORDS))
            self._drafts.append(_Draft(layer, place, start, self.position - 1))

    def section(self, depth: int, title: str, start: int) -> None:
        """Put the lines since `start` under the heading `title`."""
        if self.position > start:
            self._sections.append(Section(depth, title, start, self.position - 1))

    def document(self, source: str, metadata: Mapping[str, str]) -> Document:
        """Make the document of the lines so far."""
        if not self._drafts:
            raise InputError(N_("The law holds no provisions."), N_("The file is incomplete."))
        if sum(draft.end - draft.start for draft in self._drafts) > max(
            _LITTLE, _LEVELS * self.position
        ):
            raise InputError(
                N_("The provisions of the law are nested more than {n} deep."),
                N_("The file is damaged."),
                n=_LEVELS,
            )
        text = "\n".join(self._parts)
        self._drafts.sort(key=lambda draft: (_LAYER_ORDER[draft.layer], draft.start, -draft.end))
        seen: Counter[str] = Counter()
        return Document(
            id=self.law_id,
            title=self.title,
            kind="law",
            text=text,
            source=source,
            passages=tuple(self._passage(draft, text, seen) for draft in self._drafts),
            sections=tuple(sorted(self._sections, key=lambda s: (s.start, s.depth))),
            metadata=metadata,
        )

    def _passage(self, draft: _Draft, text: str, seen: Counter[str]) -> Passage:
        locator = Locator(*draft.place[1:])
        id_ = f"{self.law_id}#{locator.path}"
        seen[id_] += 1
        if seen[id_] > 1:
            # Amending acts repeat article numbers, even inside one supplementary provision.
            id_ = f"{id_}~{seen[id_]}"
        return Passage(
            id=id_,
            document_id=self.law_id,
            layer=draft.layer,
            text=text[draft.start : draft.end],
            header=draft.place.words,
            locator=locator,
            start=draft.start,
            end=draft.end,
        )
