"""Where the relative words of a citation lead: 前条, 同項, 前各号, from where they are written."""

import re
from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import NamedTuple

from localrag.corpus.types import Locator
from localrag.statutes._structure import NestedSpot, Nesting, Recent
from localrag.statutes.citations import LawKind, ProvisionCitation
from localrag.statutes.notation import SUPPLEMENT, count
from localrag.statutes.provisions import ProvisionLookup

# 以下この号及び第十七条の三において同じ。
_IN_PASSING = re.compile(r"において(?:も|単に)?(?:同じ|「)")


class Law(NamedTuple):
    """The law of a citation: the laws it may be, and its name as cited.

    `division` is where its bare articles stand: a supplementary provision's own, else the main
    provisions. `name` tells of laws which the corpus lacks.
    """

    ids: tuple[str, ...]
    name: str = ""
    division: str = ""

    @property
    def is_told(self) -> bool:
        """Whether the text tells which law it is, be it one that the corpus lacks."""
        return bool(self.ids or self.name)


class CitedPlace(NamedTuple):
    """A provision, or the first and last of a range, of a law."""

    law: Law
    first: Locator
    last: Locator | None = None


class Antecedents:
    """What one paragraph cited last at each level, for 同条, 同項 and 同号."""

    def __init__(self, nesting: Nesting) -> None:
        self._nesting = nesting
        self._here: Locator | None = None
        self._paragraph: Locator | None = None
        self._forget()

    def _forget(self) -> None:
        self.article: Recent[CitedPlace] = Recent(self._nesting)
        self.paragraph: Recent[CitedPlace] = Recent(self._nesting)
        self.item: Recent[CitedPlace] = Recent(self._nesting)

    def go_to(self, here: Locator | None) -> None:
        """Go on reading at `here`: a new paragraph takes up nothing of the one before."""
        if here is self._here:
            return
        self._here = here
        paragraph = here and Locator(here.division, here.article, here.paragraph)
        if paragraph != self._paragraph:
            self._paragraph = paragraph
            self._forget()

    def remember(
        self, place: CitedPlace, citation: ProvisionCitation, at: NestedSpot, *, in_passing: bool
    ) -> None:
        """Enter a provision as the one cited last; nobody says 同条 for この条."""
        words = (citation.article_word, citation.paragraph_word, citation.item_word)
        if any(word.startswith(("この", "本")) for word in words):
            return
        if place.last is not None:
            place = CitedPlace(place.law, place.last)
        locator = place.first
        if citation.article_word or citation.locator.article:
            self.article.enter(place, at, in_passing=in_passing)
        if locator.paragraph:
            self.paragraph.enter(place, at, in_passing=in_passing)
        if locator.item:
            self.item.enter(place, at, in_passing=in_passing)


class Placer:
    """Finds the places of one text's citations.

    Args:
        provisions: asked only about the order of the provisions around a relative word.
        own: the law that the text belongs to; None for a question.
        text: that they stand in.
        nesting: of the text.
    """

    def __init__(
        self, provisions: ProvisionLookup, own: Law | None, text: str, nesting: Nesting
    ) -> None:
        self._provisions = provisions
        self._own = own
        self._text = text
        self._nesting = nesting
        self._seen = Antecedents(nesting)
        self._at = nesting.at(0)

    def place(
        self, citation: ProvisionCitation, law: Law, here: Locator | None
    ) -> CitedPlace | None:
        """Return the place of a citation written at `here`; None where its words lead nowhere."""
        self._at = self._nesting.at(citation.end)
        self._seen.go_to(here)
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

    def _remember(self, place: CitedPlace, citation: ProvisionCitation) -> None:
        in_passing = _IN_PASSING.match(self._text, citation.end) is not None
        self._seen.remember(place, citation, self._at, in_passing=in_passing)

    def _written_out(
        self, citation: ProvisionCitation, law: Law, here: Locator | None
    ) -> CitedPlace | None:
        """Return the place of a citation that needs nothing but its numbers, as most do."""
        written = citation.locator
        if not written.article or citation.last is not None or citation.last_word:
            return None
        if citation.paragraph_word or citation.item_word not in ("", "各号"):
            return None
        paragraph = written.paragraph
        if not paragraph and (written.item or citation.item_word):
            paragraph = "1"
        division = self._division(citation, law, here)
        if division == written.division and paragraph == written.paragraph:
            return CitedPlace(law, written)
        return CitedPlace(
            law, Locator(division, written.article, paragraph, written.item, written.subitem)
        )

    def _division(self, citation: ProvisionCitation, law: Law, here: Locator | None) -> str:
        """Place a 附則 as cited: that of the text itself, else the law's first and original one."""
        written = citation.locator.division
        if not written:
            return law.division
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
                return _down_to(self._seen.article.last(self._at), "article")
            if here is None or self._own is None:
                same = self._seen.article.last(self._at)
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
            return CitedPlace(law, Locator(self._division(citation, law, here), locator.article))
        if citation.paragraph_word == "同項" and (same := self._seen.paragraph.last(self._at)):
            return _down_to(same, "article")
        if citation.item_word == "同号" and (same := self._seen.item.last(self._at)):
            return _down_to(same, "article")
        if not law.is_told and self._own is not None:
            return None
        if here is not None and self._own is not None:
            return CitedPlace(self._own, Locator(here.division, here.article))
        if citation.law.kind is LawKind.NAMED and law.ids:
            # Short orders have paragraphs and no articles.
            return CitedPlace(law, Locator(law.division))
        return _down_to(self._seen.article.last(self._at), "article")

    def _paragraph(
        self, citation: ProvisionCitation, outer: CitedPlace, here: Locator | None
    ) -> CitedPlace | None:
        word, number = citation.paragraph_word, citation.locator.paragraph
        if number:
            last = outer.last and _at(outer.last, number)
            return CitedPlace(outer.law, _at(outer.first, number), last)
        if word == "同項":
            return _down_to(self._seen.paragraph.last(self._at), "paragraph")
        if word and word != "各項":
            return self._near(word, outer, here, "paragraph")
        if not (citation.locator.item or citation.item_word):
            return outer
        if citation.locator.article or citation.article_word or citation.locator.division:
            return outer._replace(first=_at(outer.first, "1" if outer.first.article else ""))
        if citation.item_word == "同号" and (same := self._seen.item.last(self._at)):
            return _down_to(same, "paragraph")
        if here is not None:
            # What is printed below all paragraphs of an article speaks of its only one.
            paragraph = here.paragraph or ("1" if here.article else "")
            return outer._replace(first=_at(outer.first, paragraph))
        return _down_to(self._seen.paragraph.last(self._at), "paragraph") or outer

    def _item(
        self, citation: ProvisionCitation, outer: CitedPlace, here: Locator | None
    ) -> CitedPlace | None:
        word, written = citation.item_word, citation.locator
        first = outer.first
        if written.item:
            return outer._replace(first=_at(first, first.paragraph, written.item, written.subitem))
        if word == "同号":
            same = self._seen.item.last(self._at)
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
        """Find the paragraphs or items that この項, 前項, 次号 … mean inside `outer`."""
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
        return self._provisions.articles(_only(self._own) if self._own else "", division)

    def _numbers(self, law: Law, outer: Locator, level: str) -> list[str]:
        """Paragraph or item numbers right inside a provision."""
        inside = self._provisions.children(_only(law), outer)
        return [getattr(locator, level) for locator in inside]


def _only(law: Law) -> str:
    return law.ids[0] if len(law.ids) == 1 else ""


def _down_to(place: CitedPlace | None, level: str) -> CitedPlace | None:
    """Return the article or paragraph that a place stands in."""
    if place is None:
        return None
    first = place.first
    paragraph = first.paragraph if level == "paragraph" else ""
    return CitedPlace(place.law, Locator(first.division, first.article, paragraph))


def _at(outer: Locator, paragraph: str, item: str = "", subitem: str = "") -> Locator:
    """Build a place inside an article; `dataclasses.replace` would take most of the time here."""
    return Locator(outer.division, outer.article, paragraph, item, subitem)


def _completed(last: Locator, first: Locator) -> Locator:
    """Complete the last provision of a range by what it shares with the first."""
    if last.article:
        paragraph = last.paragraph or ("1" if last.item else "")
        return Locator(first.division, last.article, paragraph, last.item, last.subitem)
    if last.paragraph:
        return _at(first, last.paragraph, last.item, last.subitem)
    return _at(first, first.paragraph, last.item or first.item, last.subitem)


def _spread(outer: CitedPlace, level: str, found: tuple[str, str]) -> CitedPlace:
    """Return the range of paragraphs or items inside a provision."""
    paragraph = outer.first.paragraph
    first, last = (
        _at(outer.first, number) if level == "paragraph" else _at(outer.first, paragraph, number)
        for number in found
    )
    return CitedPlace(outer.law, first, last if last != first else None)


def _relative(word: str, here: str, numbers: Sequence[str]) -> tuple[str, str] | None:
    """First and last of the numbers that 前条, 前二項, 前各号, 次号 … lead to from `here`.

    None where one of them is not printed, as in extracts of supplementary provisions.
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
    """Whether nothing can stand between two numbers: 三 and 四 or 三の二, 三の二 and 四."""
    before = [int(part) for part in number.rpartition(":")[2].split("_")]
    after = [int(part) for part in other.partition(":")[0].split("_")]
    if len(after) > len(before):
        return after[:-1] == before and after[-1] <= 2
    depth = len(after) - 1
    return after[:depth] == before[:depth] and after[depth] == before[depth] + 1
