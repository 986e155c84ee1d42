"""Which provisions laws have, as the resolver asks for it, and what their appendices are called."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document, Locator, Passage
from localrag.statutes.names import LawNames
from localrag.statutes.notation import NUMBER, SUPPLEMENT, read_number
from localrag_indexes.analysis.normalize import PlainText, to_kanji

_DEPTHS = {ARTICLES: 0, PARAGRAPHS: 1, ITEMS: 2}
_WHOLE_LAW = Locator()


class ProvisionLookup(Protocol):
    """The provisions of the laws at hand; unknown laws have none, nothing raises."""

    def exists(self, law_id: str, locator: Locator) -> bool:
        """Whether the law has exactly this provision; the empty locator asks for the law."""
        ...

    def articles(self, law_id: str, division: str) -> Sequence[str]:
        """Article numbers of one division ("" for the main provisions), in printed order."""
        ...

    def children(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """List what stands right inside a provision, in printed order.

        That is the paragraphs of an article (or of a division without articles), the items of a
        paragraph, the subitems of an item.
        """
        ...

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """List the divisions besides the main provisions with their printed labels, in order.

        ``{"suppl1": "附則", "appendix1": "別表第一（第二条関係）"}``
        """
        ...


class Provisions:
    """A `ProvisionLookup` in memory, of documents that are at hand as a whole."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._places: dict[str, dict[Locator, None]] = {}
        self._articles: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._children: dict[tuple[str, Locator], list[Locator]] = defaultdict(list)
        self._divisions: dict[str, dict[str, str]] = defaultdict(dict)
        for document in documents:
            self._enter(document)

    def exists(self, law_id: str, locator: Locator) -> bool:
        """Whether the law has exactly this provision."""
        places = self._places.get(law_id)
        return places is not None and (locator in places or locator == _WHOLE_LAW)

    def articles(self, law_id: str, division: str) -> Sequence[str]:
        """Article numbers of one division, in printed order."""
        return self._articles.get((law_id, division), ())

    def children(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """List what stands right inside a provision, in printed order."""
        return self._children.get((law_id, locator), ())

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """List the divisions besides the main provisions with their printed labels."""
        return self._divisions.get(law_id, {})

    def _enter(self, document: Document) -> None:
        places = self._places.setdefault(document.id, {})
        for passage in document.passages:
            locator = passage.locator
            if locator in places:
                continue
            places[locator] = None
            if locator.division and locator.division not in self._divisions[document.id]:
                words = passage.header.removeprefix(document.title).split()
                self._divisions[document.id][locator.division] = words[0] if words else ""
            if passage.layer == ARTICLES and locator.article:
                self._articles[document.id, locator.division].append(locator.article)
            elif (outer := container(locator)) is not None:
                self._children[document.id, outer].append(locator)


def in_plain_characters(document: Document) -> tuple[Document, PlainText]:
    """A statute with its text and passages in plain characters, and the way back."""
    read = PlainText(document.text)
    if read.is_as_written:
        return document, read
    passages = []
    for passage in document.passages:
        start, end = read.place(passage.start), read.place(passage.end)
        passages.append(replace(passage, text=read.text[start:end], start=start, end=end))
    return replace(document, text=read.text, passages=tuple(passages)), read


def outside_in(document: Document) -> list[Passage]:
    """Sort the passages by where they begin, those around before those inside."""
    return sorted(
        document.passages,
        key=lambda passage: (passage.start, -passage.end, _DEPTHS.get(passage.layer, 0)),
    )


class Innermost:
    """The most exact provision around a position; asked in rising order.

    Args:
        passages: as `outside_in` sorts them.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._next = 0
        self._open: list[tuple[int, Locator]] = []

    def at(self, position: int) -> Locator:
        """Its locator; the empty one outside of all provisions."""
        passages = self._passages
        while self._next < len(passages) and passages[self._next].start <= position:
            passage = passages[self._next]
            self._next += 1
            while self._open and self._open[-1][0] <= passage.start:
                self._open.pop()
            self._open.append((passage.end, passage.locator))
        while self._open and self._open[-1][0] <= position:
            self._open.pop()
        return self._open[-1][1] if self._open else Locator()


def container(locator: Locator) -> Locator | None:
    """Return the provision right around this one; None for an article or a division."""
    division, article, paragraph, item = (
        locator.division,
        locator.article,
        locator.paragraph,
        locator.item,
    )
    # Written out: `dataclasses.replace` takes five times as long.
    if locator.subitem:
        return Locator(division, article, paragraph, item, locator.subitem.rpartition(".")[0])
    if item:
        return Locator(division, article, paragraph)
    if paragraph:
        return Locator(division, article)
    return None


def deleted_row(articles: Iterable[str], locator: Locator) -> Locator | None:
    """Return the row of deleted articles that an article is one of.

    第五十条 of a law that prints 第三十八条から第八十四条まで　削除 is one of 38:84.

    Args:
        articles: of the division.
        locator: of the article, or of something inside it.
    """
    number = locator.article
    if not number or ":" in number:
        return None
    # A law has hundreds of articles and few rows.
    row = next((row for row in articles if ":" in row and is_in_row(number, row)), None)
    return Locator(locator.division, row) if row else None


def is_in_row(number: str, row: str) -> bool:
    """Whether a number is one of a row that is printed as one, 38:84; a single one is no row."""
    first, ranged, last = row.partition(":")
    return bool(ranged) and order_of(first) <= order_of(number) <= order_of(last)


def order_of(number: str) -> list[int]:
    """The numbers of an article, a paragraph or an item, to be compared: 27_36 is 27, 36.

    Of a row they are those of its first.
    """
    return [int(part) for part in number.partition(":")[0].split("_") if part.isdecimal()]


def numbers_of(place: Locator) -> list[list[int]]:
    """The numbers of a provision, to be compared: 第三条の二第一項 is [[3, 2], [1]]."""
    numbers = [place.article, place.paragraph, place.item, *place.subitem.split(".")]
    return [order_of(number) for number in numbers if number]


class StoredProvisions:
    """A `ProvisionLookup` over a corpus store."""

    def __init__(self, store: Lookups, names: LawNames) -> None:
        self._store = store
        self._names = names

    def exists(self, law_id: str, locator: Locator) -> bool:
        """Whether the law has exactly this provision."""
        return self._store.provision_exists(law_id, locator)

    def articles(self, law_id: str, division: str) -> Sequence[str]:
        """Article numbers of one division, in printed order."""
        return self._store.articles(law_id, division)

    def children(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """What stands right inside a provision, in printed order."""
        layer = ITEMS if locator.paragraph else PARAGRAPHS
        inside = dict.fromkeys(self._store.locators(law_id, locator, layer))
        return [place for place in inside if container(place) == locator]

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """The divisions besides the main provisions, as printed, in order."""
        title = self._names.title(law_id)
        return {
            division: (header.removeprefix(title).split() or [""])[0]
            for division, header in self._store.divisions(law_id).items()
        }


class RememberedProvisions:
    """A `ProvisionLookup` that asks another one everything once; for as long as a text is read."""

    def __init__(self, provisions: ProvisionLookup) -> None:
        self._exists = cache(provisions.exists)
        self._articles = cache(provisions.articles)
        self._children = cache(provisions.children)
        self._divisions = cache(provisions.divisions)
        self._in_division = cache(self._articles_of)

    def exists(self, law_id: str, locator: Locator) -> bool:
        """Whether the law has exactly this provision."""
        return self._exists(law_id, locator)

    def articles(self, law_id: str, division: str) -> Sequence[str]:
        """Article numbers of one division, in printed order."""
        return self._articles(law_id, division)

    def children(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """List what stands right inside a provision, in printed order."""
        return self._children(law_id, locator)

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """List the divisions besides the main provisions with their printed labels."""
        return self._divisions(law_id)

    def beside(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """List what stands beside a provision, and itself, in printed order."""
        outer = container(locator)
        if outer is not None:
            return self._children(law_id, outer)
        return self._in_division(law_id, locator.division)

    def _articles_of(self, law_id: str, division: str) -> Sequence[Locator]:
        return [Locator(division, number) for number in self._articles(law_id, division)]


# Appendices (別表, 様式, 書式) by their labels, which every law writes in its own way: 第三号様式,
# 様式第三 and 別記様式第３号 are one label, 様式第三. That of a supplementary provision is called
# 附則別表 and told by the division it belongs to.
_BRANCHES = rf"(?:[のノ之]{NUMBER})*+"
_BEFORE = "(?:別記|別紙|付録|附録)?"
_FORM = "様式|書式"
_FORMS = re.compile(rf"{_FORM}|ひな形|雛形|記載例")
LABEL = re.compile(
    rf"{_BEFORE}(?:第(?P<first>{NUMBER}(?:号)?{_BRANCHES})(?P<form>{_FORM})(?P<more>{_BRANCHES})"
    rf"|(?P<name>別表|{_FORM})(?:第?(?P<number>{NUMBER})号?(?P<branches>{_BRANCHES}))?)"
)
"""How an appendix is called at its head."""
CITED_FORM = re.compile(
    # The first characters of its branches: what cannot begin one is passed over at once.
    rf"(?=[別付附第様書])(?:{_BEFORE}第{NUMBER}号?{_BRANCHES}(?:{_FORM}){_BRANCHES}"
    rf"|{_BEFORE}(?:{_FORM})第?{NUMBER}号?{_BRANCHES}|別記(?:{_FORM}))"
)
"""How a provision cites a form; 別表 is part of the citations of `localrag.statutes.citations`."""


def label_of(written: str) -> str:
    """The label at the head of some words, always written alike; "" where there is none."""
    found = LABEL.match(written.lstrip("【"))
    if found is None:
        return ""
    if found["form"]:
        return found["form"] + _number(found["first"] + found["more"])
    return found["name"] + _number((found["number"] or "") + (found["branches"] or ""))


def appendices(document: Document) -> Mapping[tuple[str, str], str]:
    """The appendices of a statute: by division they belong to ("" for the law) and label.

    Of two that are called alike (様式第一, 別記様式第一) none is meant.
    """
    supplements: dict[str, str] = {}
    found: dict[tuple[str, str], str] = {}
    for passage in document.passages:
        division = passage.locator.division
        if passage.layer != ARTICLES or not division:
            continue
        words = passage.header.removeprefix(document.title).strip()
        if division.startswith(SUPPLEMENT):
            supplements.setdefault(words.split(" ")[0], division)
        elif not passage.locator.article:
            outer, _, inner = words.partition(" ")
            belongs = supplements.get(outer, "") if outer.startswith("附則") else ""
            if label := label_of(inner if belongs else words):
                key = belongs, label
                found[key] = division if key not in found else ""
    return found


def is_form(passage: Passage) -> bool:
    """Whether a passage is a form to fill in (様式, 書式), or a model of one (ひな形, 記載例)."""
    if not passage.locator.division.startswith("appendix"):
        return False
    # The title of a law can have such a word, too.
    return _FORMS.search(passage.header.partition(" ")[2]) is not None


def names_form(text: str) -> bool:
    """Whether a text speaks of forms."""
    return _FORMS.search(text) is not None


def _number(written: str) -> str:
    numbers = read_number(written).split("_")
    return "第" + "の".join(to_kanji(int(number)) for number in numbers) if numbers[0] else ""
