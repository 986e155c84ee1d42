"""Resolves a citation to its law and place."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice, pairwise, starmap
from typing import NamedTuple

from localrag.corpus.types import Locator
from localrag.law.citations import LawKind, LawPart, ProvisionCitation, law_part_before
from localrag.law.names import LawNames, NameMatch, law_words
from localrag.law.notation import SUPPLEMENT, count
from localrag.law.provisions import Nesting, ProvisionLookup, Recent

# 以下この号及び第十七条の三において同じ。
_LEVELS = ("article", "paragraph", "item")
_IN_PASSING = re.compile(r"において(?:も|単に)?(?:同じ|「)")


class Law(NamedTuple):
    """The law of a citation: candidates in the corpus, and its name as cited.

    Missing laws have a `name`, too.
    """

    ids: tuple[str, ...]
    name: str = ""

    @property
    def is_told(self) -> bool:
        """Whether the text names the law, in the corpus or not."""
        return bool(self.ids or self.name)

    @property
    def id(self) -> str:
        """The id of the only candidate, or ""."""
        return self.ids[0] if len(self.ids) == 1 else ""


class CitedPlace(NamedTuple):
    """A provision of a law, or the ends of a range."""

    law: Law
    first: Locator
    last: Locator | None = None


class Placer:
    """Places the citations of one text.

    Args:
        provisions: consulted for the provisions around a relative word.
        own: the law of the text; None for a question.
        text: around the citations.
        nesting: of the text.
    """

    def __init__(
        self, provisions: ProvisionLookup, own: Law | None, text: str, nesting: Nesting
    ) -> None:
        self._provisions = provisions
        self._own = own
        self._text = text
        self._nesting = nesting
        self._paragraph_here: Locator | None = None
        self._last: dict[str, Recent[CitedPlace]] = {}
        self._at = nesting.at(0)

    def place(
        self, citation: ProvisionCitation, law: Law, here: Locator | None
    ) -> CitedPlace | None:
        """The place of a citation written at `here`, or None."""
        self._at = self._nesting.at(citation.end)
        paragraph = here and Locator(here.division, here.article, here.paragraph)
        if paragraph != self._paragraph_here or not self._last:
            # 同項 refers to nothing in another paragraph.
            self._paragraph_here = paragraph
            self._last = {level: Recent(self._nesting) for level in _LEVELS}
        if (exact := self._written_out(citation, law, here)) is not None:
            self._remember(exact, citation)
            return exact
        outer = self._article(citation, law, here)
        for inside in (self._paragraph, self._item):
            if outer is None:
                return None
            outer = inside(citation, outer, here)
        if outer is None:
            return None
        place = self._range_end(citation, outer, here)
        self._remember(place, citation)
        return place

    def _same(self, level: str) -> CitedPlace | None:
        """同条, 同項, 同号: the part cited last at a level."""
        return self._last[level].last(self._at)

    def _remember(self, place: CitedPlace, citation: ProvisionCitation) -> None:
        """Record the provision cited last; 同条 never means この条."""
        if any(word.startswith(("この", "本")) for word in citation.words):
            return
        in_passing = _IN_PASSING.match(self._text, citation.end) is not None
        if place.last is not None:
            place = CitedPlace(place.law, place.last)
        is_of_article = citation.article_word or citation.locator.article
        cited = (is_of_article, place.first.paragraph, place.first.item)
        for level, is_cited in zip(_LEVELS, cited, strict=True):
            if is_cited:
                self._last[level].enter(place, self._at, in_passing=in_passing)

    def _written_out(
        self, citation: ProvisionCitation, law: Law, here: Locator | None
    ) -> CitedPlace | None:
        """The place of a citation with plain numbers, as most have."""
        written = citation.locator
        if not written.article or citation.last is not None or citation.last_word:
            return None
        if citation.paragraph_word or citation.item_word not in ("", "各号"):
            return None
        paragraph = written.paragraph
        if not paragraph and (written.item or citation.item_word):
            paragraph = "1"
        division = self._division(citation, here)
        if division == written.division and paragraph == written.paragraph:
            return CitedPlace(law, written)
        return CitedPlace(
            law, Locator(division, written.article, paragraph, written.item, written.subitem)
        )

    def _division(self, citation: ProvisionCitation, here: Locator | None) -> str:
        """The division of a 附則: the text's own, else the law's original one."""
        written = citation.locator.division
        if written != SUPPLEMENT:
            return written
        bare = citation.law.kind is LawKind.NONE and self._own is not None
        if bare and here is not None and here.division.startswith(SUPPLEMENT):
            return here.division
        return f"{SUPPLEMENT}1"

    def _article(
        self, citation: ProvisionCitation, law: Law, here: Locator | None
    ) -> CitedPlace | None:
        word, locator = citation.article_word, citation.locator
        if word:
            if word[0] == "同":
                return _down_to(self._same("article"), "article")
            if here is None or self._own is None:
                same = self._same("article")
                return _down_to(same, "article") if word == "本条" else None
            if not law.is_told:
                return None
            if word in ("本条", "この条", "本條"):
                return CitedPlace(self._own, Locator(here.division, here.article))
            found = _relative(word, here.article, self._own_articles(here.division))
            return found and CitedPlace(
                self._own,
                Locator(here.division, found[0]),
                Locator(here.division, found[1]) if found[1] != found[0] else None,
            )
        if locator.article or locator.division:
            return CitedPlace(law, Locator(self._division(citation, here), locator.article))
        if citation.paragraph_word == "同項" and (same := self._same("paragraph")):
            return _down_to(same, "article")
        if citation.item_word == "同号" and (same := self._same("item")):
            return _down_to(same, "article")
        if not law.is_told and self._own is not None:
            return None
        if here is not None and self._own is not None:
            return CitedPlace(self._own, Locator(here.division, here.article))
        if citation.law.kind is LawKind.NAMED and law.ids:
            # Short orders have paragraphs without articles.
            return CitedPlace(law, Locator())
        return _down_to(self._same("article"), "article")

    def _paragraph(
        self, citation: ProvisionCitation, outer: CitedPlace, here: Locator | None
    ) -> CitedPlace | None:
        word, number = citation.paragraph_word, citation.locator.paragraph
        if number:
            last = outer.last and _at(outer.last, number)
            return CitedPlace(outer.law, _at(outer.first, number), last)
        if word == "同項":
            return _down_to(self._same("paragraph"), "paragraph")
        if word and word != "各項":
            return self._near(word, outer, here, "paragraph")
        if not (citation.locator.item or citation.item_word):
            return outer
        if citation.locator.article or citation.article_word or citation.locator.division:
            return outer._replace(first=_at(outer.first, "1" if outer.first.article else ""))
        if citation.item_word == "同号" and (same := self._same("item")):
            return _down_to(same, "paragraph")
        if here is not None:
            # Text below all paragraphs belongs to the only paragraph of an article.
            paragraph = here.paragraph or ("1" if here.article else "")
            return outer._replace(first=_at(outer.first, paragraph))
        return _down_to(self._same("paragraph"), "paragraph") or outer

    def _item(
        self, citation: ProvisionCitation, outer: CitedPlace, here: Locator | None
    ) -> CitedPlace | None:
        word, written = citation.item_word, citation.locator
        first = outer.first
        if written.item:
            return outer._replace(first=_at(first, first.paragraph, written.item, written.subitem))
        if word == "同号":
            same = self._same("item")
            return same and CitedPlace(
                same.law, _at(same.first, same.first.paragraph, same.first.item, written.subitem)
            )
        if word and word != "各号":
            near = self._near(word, outer, here, "item")
            if near and written.subitem:
                item = near.first
                return CitedPlace(near.law, _at(item, item.paragraph, item.item, written.subitem))
            return near
        if written.subitem and here is not None:
            return outer._replace(first=_at(first, first.paragraph, here.item, written.subitem))
        return outer

    def _near(
        self, word: str, outer: CitedPlace, here: Locator | None, level: str
    ) -> CitedPlace | None:
        """The paragraphs or items meant by この項, 前項, 次号 … inside `outer`."""
        if here is None:
            return None
        number = getattr(here, level)
        if word.startswith(("この", "本")):
            return _spread(outer, level, (number, number))
        found = _relative(word, number, self._numbers(outer.law, outer.first, level))
        return found and _spread(outer, level, found)

    def _range_end(
        self, citation: ProvisionCitation, place: CitedPlace, here: Locator | None
    ) -> CitedPlace:
        if citation.last is not None:
            return place._replace(last=_completed(citation.last, place.first))
        word = citation.last_word
        if not word or here is None:
            return place
        first = place.first
        if word.startswith(("この", "本")):
            level = {"項": "paragraph", "号": "item"}.get(word[-1], "")
            if not level:
                return place._replace(last=Locator(here.division, here.article))
            number = getattr(here, level)
            return place._replace(last=_spread(place, level, (number, number)).first)
        if word[-1] in "条條":
            found = _relative(word, here.article, self._own_articles(first.division))
            return place._replace(last=found and Locator(first.division, found[1]))
        level = "paragraph" if word[-1] == "項" else "item"
        outer = Locator(first.division, first.article, first.paragraph if level == "item" else "")
        found = _relative(word, getattr(here, level), self._numbers(place.law, outer, level))
        if found is None:
            return place
        return place._replace(last=_spread(place, level, (found[1], found[1])).first)

    def _own_articles(self, division: str) -> Sequence[str]:
        return self._provisions.articles(self._own.id if self._own else "", division)

    def _numbers(self, law: Law, outer: Locator, level: str) -> list[str]:
        inside = self._provisions.children(law.id, outer)
        return [getattr(locator, level) for locator in inside]


def _down_to(place: CitedPlace | None, level: str) -> CitedPlace | None:
    """The article or paragraph around a place."""
    if place is None:
        return None
    first = place.first
    paragraph = first.paragraph if level == "paragraph" else ""
    return CitedPlace(place.law, Locator(first.division, first.article, paragraph))


def _at(outer: Locator, paragraph: str, item: str = "", subitem: str = "") -> Locator:
    return Locator(outer.division, outer.article, paragraph, item, subitem)


def _completed(last: Locator, first: Locator) -> Locator:
    """Complete the end of a range by its start."""
    if last.article:
        paragraph = last.paragraph or ("1" if last.item else "")
        return Locator(first.division, last.article, paragraph, last.item, last.subitem)
    if last.paragraph:
        return _at(first, last.paragraph, last.item, last.subitem)
    return _at(first, first.paragraph, last.item or first.item, last.subitem)


def _spread(outer: CitedPlace, level: str, found: tuple[str, str]) -> CitedPlace:
    """The range of all paragraphs or items inside a provision."""
    paragraph = outer.first.paragraph
    first, last = (
        _at(outer.first, number) if level == "paragraph" else _at(outer.first, paragraph, number)
        for number in found
    )
    return CitedPlace(outer.law, first, last if last != first else None)


def _relative(word: str, here: str, numbers: Sequence[str]) -> tuple[str, str] | None:
    """The first and last number meant by 前条, 前二項, 前各号, 次号 … at `here`.

    None if one of them is not printed, as in extracts of supplementary provisions.
    """
    if not here or here not in numbers:
        return None
    at = numbers.index(here)
    if word.startswith("前各"):
        return (numbers[0], numbers[at - 1]) if at else None
    size = count(word)
    first, last = (at - size, at) if word[0] == "前" else (at, at + size)
    row = numbers[first : last + 1] if first >= 0 else ()
    if len(row) <= size or not all(starmap(_is_next, pairwise(row))):
        return None
    return (row[0], row[-2]) if word[0] == "前" else (row[1], row[-1])


def _is_next(number: str, other: str) -> bool:
    """Whether two numbers are adjacent: 三 and 四 or 三の二, 三の二 and 四."""
    before = [int(part) for part in number.rpartition(":")[2].split("_")]
    after = [int(part) for part in other.partition(":")[0].split("_")]
    if len(after) > len(before):
        return after[:-1] == before and after[-1] <= 2
    depth = len(after) - 1
    return after[:depth] == before[:depth] and after[depth] == before[depth] + 1


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
"""Kana inside a bylaw's name: 空き家条例, but not 規制し県条例."""
# 公害防止条例（以下「条例」という。）第3条
_WORD_BEFORE = re.compile(
    rf"(?P<word>[{_WORD}](?:[{_WORD}]|{INNER_KANA})*)[」』]?(?P<of>の)?"
    r"(?P<aside>[ 　]?[（(][^（）()\n]{1,80}[）)])?[ 　]?$"
)
_LONGEST_WORD = 120
_JOINED = re.compile(r"の *\Z")
# Made by towns, bodies and parties; …則 is spelled like a law.
_BYLAW = re.compile("(?:条例|条約|協定|議定書|規程|規約|約款|定款|契約書|要綱|要領)$")
# 本契約, この規程: the text itself.
_ITSELF = re.compile(
    "(?:[本当]|この)(?:件)?[一-鿿ァ-ヶー]{0,8}(?:契約書?|規程|規約|規則|約款|定款|覚書|合意書?|協定書?"
    "|要綱|要領|内規|規定|条項|誓約書|書面?|細則|基準|指針|方針)"
    "[」』]?の?[ 　]?$"
)
_LONGEST_NAME = 30
# A text naming more laws does not determine the law of a bare article.
_MOST_MEANT = 20
# 旧民法 is a state of 民法, and 日本民法 the same law.
_SAID_BEFORE_A_NAME = re.compile("^(?:旧|改正|日本)")


class SpokenLaws:
    """The laws named in a question or a single provision."""

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
        """The law of a citation at the start of a list."""
        part = citation.law
        if part.kind is LawKind.TABLE:
            return Law((), part.text)
        if law_id := self._definitions.get(part.text):
            return self._law((law_id,))
        if part.kind is LawKind.NONE:
            start = citation.start
            return self._own or self._lacking_before(start) or self._spoken_of(start)
        if part.kind is LawKind.THIS:
            return self._own or self._mentioned(citation.start, ("",)) or Law((), part.text)
        if part.kind is LawKind.SAME:
            return self._same(part, citation.start)
        if part.kind is LawKind.PARENT:
            return self._acts(citation.start) or Law((), part.text)
        if part.kind in (LawKind.DECREE, LawKind.RULE) or part.text in _ACT_SUFFIXES:
            # 技術上の規格を定める省令 is a title, although 省令 alone may refer to others.
            title = self._names.title_ending_at(self._text, part.end)
            if title and title.start < part.start:
                return self._law(title.law_ids)
            return self._order(part, citation.start)
        return self._named(part)

    def is_inside_a_name(self, citation: ProvisionCitation) -> bool:
        """Whether the citation is part of a law's title."""
        part = citation.law
        start = part.end if part.text else citation.start
        # Names do not nest: the last one beginning before also ends last.
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
        floor = max(self._text.rfind("\n", 0, position) + 1, position - _LONGEST_WORD)
        return _WORD_BEFORE.search(self._text, floor, position)

    def _bylaw_before(self, position: int) -> Law | None:
        """The bylaw of a bare article, never in a corpus of statutes: X条例3条.

        But in 民法の定型約款548条の2, 定型約款 is the subject of the article.
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
        """The missing law joined by の to a bare article: 旅券法の5条."""
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
        """Candidates for 法: the act of the order at hand, else the acts named."""
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
        """Candidates for a bare article: laws named, nearest before first, then acts."""
        ended = bisect_right(self._mentions, position, key=lambda name: name.end)
        before, after = self._nearest
        ids = dict.fromkeys((*before[ended], *after[ended]))
        for law_id in tuple(ids):
            ids.update(dict.fromkeys(self._names.parents(law_id)))
        return self._law(tuple(ids))

    @cached_property
    def _nearest(self) -> tuple[list[_Ids], list[_Ids]]:
        before, after = _running(self._mentions), _running(reversed(self._mentions))
        return before, after[::-1]

    def _mentioned(self, position: int, endings: tuple[str, ...]) -> Law | None:
        """The law named last before a position with such a title."""
        if endings not in self._by_ending:
            self._by_ending[endings] = [
                name
                for name in self._mentions
                if self._names.title(name.law_ids[0]).endswith(endings)
            ]
        fitting = self._by_ending[endings]
        ended = bisect_right(fitting, position, key=lambda name: name.end)
        return self._law(fitting[ended - 1].law_ids) if ended else None

    def _law(self, law_ids: Sequence[str]) -> Law:
        return Law(tuple(law_ids), self._names.title(law_ids[0]) if law_ids else "")


def _running(mentions: Iterable[NameMatch]) -> list[_Ids]:
    """The laws named last before each name and after all, nearest first."""
    # A dict keeps insertion order.
    last: dict[str, None] = {}
    seen: list[_Ids] = [()]
    for name in mentions:
        for law_id in reversed(name.law_ids):
            last.pop(law_id, None)
            last[law_id] = None
        seen.append(tuple(islice(reversed(last), _MOST_MEANT)))
    return seen


def names_itself(text: str, end: int) -> str:
    """The self-reference of a contract or bylaw right before a place: 本契約, この規程.

    Returns:
        The words, or "".
    """
    found = _ITSELF.search(text, max(0, end - _LONGEST_NAME), end)
    return found[0].rstrip("の 　」』") if found else ""


def is_bylaw(name: str) -> bool:
    """Whether a word names a bylaw or contract: 条例, 規程, 約款."""
    return _BYLAW.search(name) is not None


def _is_spelled_as_law(name: str) -> bool:
    """Whether a name is spelled like a law: 旅券法, but not 同法, 計算方法 or 特別法."""
    words = law_words()
    if words.known.lookup(name):
        return True
    if name.startswith("同") or name in words.generic:
        return False
    stem = name.removesuffix("法")
    if stem == name:
        return _SPELLED_AS_ORDER.fullmatch(name) is not None
    return not stem.endswith(words.ways)
