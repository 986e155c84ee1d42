"""The make-up of a statute: its provisions and appendices, brackets and tables in its text.

Brackets hold asides: who reads on after them takes up what stands before them. Whose provisions
the rows of a table cite cannot be told from the text.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document, Locator, Passage
from localrag.law.names import LawNames
from localrag.law.notation import NUMBER, SUPPLEMENT, labelled
from localrag_indexes.analysis.normalize import PlainText

_DEPTHS = {ARTICLES: 0, PARAGRAPHS: 1, ITEMS: 2}
_WHOLE_LAW = Locator()


class ProvisionLookup(Protocol):
    """The provisions of the laws at hand; unknown laws have none, nothing raises."""

    def exists(self, law_id: str, locator: Locator) -> bool:
        """Whether the law has exactly this provision; the empty locator asks for the law."""

    def articles(self, law_id: str, division: str) -> Sequence[str]:
        """Article numbers of one division ("" for the main provisions), in printed order."""

    def children(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """List what stands right inside a provision, in printed order.

        That is the paragraphs of an article (or of a division without articles), the items of a
        paragraph, the subitems of an item.
        """

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """List the divisions besides the main provisions with their printed labels, in order.

        ``{"suppl1": "附則", "appendix1": "別表第一（第二条関係）"}``
        """


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
    # Written out: `dataclasses.replace` takes five times as long.
    division, article, paragraph = locator.division, locator.article, locator.paragraph
    if locator.subitem:
        outer = locator.subitem.rpartition(".")[0]
        return Locator(division, article, paragraph, locator.item, outer)
    if locator.item:
        return Locator(division, article, paragraph)
    return Locator(division, article) if paragraph else None


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
        self.exists = cache(provisions.exists)
        self.articles = cache(provisions.articles)
        self.children = cache(provisions.children)
        self.divisions = cache(provisions.divisions)
        self._in_division = cache(self._articles_of)

    def beside(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """List what stands beside a provision, and itself, in printed order."""
        outer = container(locator)
        if outer is not None:
            return self.children(law_id, outer)
        return self._in_division(law_id, locator.division)

    def _articles_of(self, law_id: str, division: str) -> Sequence[Locator]:
        return [Locator(division, number) for number in self.articles(law_id, division)]


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
"""How a provision cites a form; 別表 is part of the citations of `localrag.law.citations`."""


def label_of(written: str) -> str:
    """The label at the head of some words, always written alike; "" where there is none."""
    found = LABEL.match(written.lstrip("【"))
    if found is None:
        return ""
    if found["form"]:
        return labelled(found["form"], found["first"] + found["more"])
    return labelled(found["name"], (found["number"] or "") + (found["branches"] or ""))


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


_BRACKET = re.compile("[（）()]")
_MARK = re.compile(r"[（）()「」\n]")
# 第三条第一項（第五条において準用する場合を含む。）
_ALTERNATIVE = re.compile(r"(?:を含む|を除く|に限る|除く|限る)。?$")
# Laws nest five deep; a hostile text may nest without end.
_DEEPEST = 32
BLOT = "\0"

T = TypeVar("T")


class NestedSpot(NamedTuple):
    """Where something stands.

    Attributes:
        line: where its line begins.
        open: where the brackets and quotation marks open that stand around it, outermost first.
    """

    line: int
    open: tuple[int, ...]


class Nesting:
    """The brackets that are open at any position of a text; a line ends them all."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._marks: list[int] = []
        self._spots = [NestedSpot(0, ())]
        self._alternatives: set[int] = set()
        line = 0
        brackets = _Brackets(text)
        for mark in _MARK.finditer(text):
            start = mark.start()
            opening = brackets.read(start)
            if opening and _ALTERNATIVE.search(text, max(opening, start - 4), start):
                self._alternatives.add(opening)
            if mark[0] == "\n":
                line = mark.end()
            self._marks.append(start)
            self._spots.append(NestedSpot(line, tuple(brackets.open)))

    def at(self, position: int) -> NestedSpot:
        """Where a position stands; a bracket right before it is open."""
        return self._spots[bisect_left(self._marks, position)]

    def is_quoted(self, position: int) -> bool:
        """Whether quotation marks stand around a position."""
        return any(self._text[opening] == "「" for opening in self.at(position).open)

    def is_alternative(self, spot: NestedSpot) -> bool:
        """Whether its bracket says what else counts or does not: を含む, を除く, に限る."""
        return bool(spot.open) and spot.open[-1] in self._alternatives


class Recent(Generic[T]):
    """What a text named last, as one reads on.

    What stands in brackets is in sight as long as they are open, and from other brackets beside
    them where it explains a word: A（第三条のAをいう。）及びB（同条のBをいう。）. What is out of
    sight counts only where its line names nothing else.
    """

    def __init__(self, nesting: Nesting) -> None:
        self._nesting = nesting
        self._named: dict[tuple[tuple[int, ...], int, bool], tuple[NestedSpot, T]] = {}
        self._latest: tuple[NestedSpot, T] | None = None

    def enter(self, value: T, at: NestedSpot, *, in_passing: bool = False) -> None:
        """Take `value` as the one named last.

        Args:
            value: what is named.
            at: where.
            in_passing: it is out of sight at once.
        """
        self._latest = at, value
        if in_passing:
            return
        self._named = {key: named for key, named in self._named.items() if _around(key[0], at.open)}
        key = at.open[:-1], len(at.open), self._nesting.is_alternative(at)
        self._named.pop(key, None)
        self._named[key] = at, value

    def on_line(self, at: NestedSpot) -> T | None:
        """What the line named last in sight of a place."""
        return self._in_sight(at, at.line)

    def last(self, at: NestedSpot) -> T | None:
        """What was named last, in sight if its line names anything that is."""
        if (value := self._in_sight(at, at.line)) is not None:
            return value
        if self._latest and self._latest[0].line == at.line:
            return self._latest[1]
        if (value := self._in_sight(at)) is not None:
            return value
        return self._latest[1] if self._latest else None

    def _in_sight(self, at: NestedSpot, line: int = -1) -> T | None:
        for spot, value in reversed(self._named.values()):
            if line in (-1, spot.line) and self._sees(at, spot):
                return value
        return None

    def _sees(self, at: NestedSpot, spot: NestedSpot) -> bool:
        if _around(spot.open, at.open):
            return True
        beside = len(at.open) >= len(spot.open) and _around(spot.open[:-1], at.open)
        return beside and at.line == spot.line and not self._nesting.is_alternative(spot)


def without_asides(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]`` with the brackets blotted out that have closed before `end`.

    Every character keeps its place.
    """
    part = text[start:end]
    brackets = _Brackets(part)
    for mark in _MARK.finditer(part):
        opening = brackets.read(mark.start())
        if opening is not None:
            closing = mark.end()
            part = part[:opening] + BLOT * (closing - opening) + part[closing:]
    return part


def bracket_before(text: str, end: int, floor: int) -> int | None:
    """Where the bracket that closes right before `end` opens, at `floor` or behind it."""
    depth = 0
    for bracket in reversed([*_BRACKET.finditer(text, max(floor, 0), end)]):
        depth += 1 if bracket[0] in "）)" else -1
        if depth == 0:
            return bracket.start()
    return None


class _Brackets:
    """Reads the marks of a text one by one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.open: list[int] = []
        """Where the open ones stand."""

    def read(self, position: int) -> int | None:
        """Read a mark; where it closes a bracket, return where that opened.

        That is 0 for one that opened before the text begins.
        """
        mark = self._text[position]
        if mark == "\n":
            self.open.clear()
        elif mark in "（(「":
            if len(self.open) < _DEEPEST:
                self.open.append(position)
        elif not self.open:
            return 0
        elif mark == "」":
            return self._end_quote()
        elif self._text[self.open[-1]] != "「":
            return self.open.pop()
        return None

    def _end_quote(self) -> int | None:
        """Close a quotation; the words quoted may open brackets that they do not close."""
        for depth in range(len(self.open) - 1, -1, -1):
            opening = self.open[depth]
            if self._text[opening] == "「":
                del self.open[depth:]
                return opening
        return None


def _around(outer: tuple[int, ...], inner: tuple[int, ...]) -> bool:
    return inner[: len(outer)] == outer


_REPLACING = re.compile("読み?替え|掲げる字句")
_CELL_END = re.compile("[\t｜]")
_LONGEST_TABLE = 20_000
_LONGEST_HEADING = 2_000


class Cells(NamedTuple):
    """Spans of a row: a provision, words that it has, and the words that are read instead."""

    provision: tuple[int, int]
    replaced: tuple[int, int]
    replacing: tuple[int, int]


def lines_with(words: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """The lines of a text that hold some words."""
    end = 0
    while (mark := words.search(text, end)) is not None:
        start = text.rfind("\n", 0, mark.start()) + 1
        end = text.find("\n", mark.end())
        end = len(text) if end < 0 else end
        yield start, end


def _cells(text: str, start: int, end: int) -> list[tuple[int, int]]:
    breaks = [start - 1, *(mark.start() for mark in _CELL_END.finditer(text, start, end)), end]
    return [(before + 1, after) for before, after in pairwise(breaks)]


class Tables:
    """The rows of a statute's tables."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._rows = list(lines_with(_CELL_END, document.text))
        self._row_starts = [start for start, _ in self._rows]
        self._tops = [0] * len(self._rows)
        for index in range(1, len(self._rows)):
            follows = self._rows[index - 1][1] + 1 == self._rows[index][0]
            self._tops[index] = self._tops[index - 1] if follows else index
        self._cells = {
            start: Cells(*cells)
            for start, end in self._rows
            if len(cells := _cells(document.text, start, end)) == len(Cells._fields)
        }
        articles = [passage for passage in document.passages if passage.layer == ARTICLES]
        self._articles = [(passage.start, passage.locator.division) for passage in articles]
        self._article_starts = [start for start, _ in self._articles]
        self._replacing = [match.span() for match in _REPLACING.finditer(document.text)]
        self._replacing_ends = [end for _, end in self._replacing]

    def cite_other_laws(self, position: int) -> bool:
        """Whether it stands in a row of an appendix, or of a table of words to be replaced."""
        row = self._row(position)
        return row is not None and (self._is_in_appendix(row) or self._replaces(row))

    def replace_words(self, position: int) -> bool:
        """Whether it stands in a row of a table of words to be replaced (読替え)."""
        row = self._row(position)
        return row is not None and not self._is_in_appendix(row) and self._replaces(row)

    def readings(self) -> Iterator[Cells]:
        """Yield the rows of tables that give a provision, its words and those read instead."""
        for row, cells in self._cells.items():
            if self.replace_words(row):
                yield cells

    def heading_of(self, position: int) -> tuple[int, int] | None:
        """Return the span that tells whose provision is named there, in a table of readings.

        It reaches from the beginning of the article to the first row of the table, which may be a
        heading: 読み替える会社法の規定. None where no such row names a provision.
        """
        row = self._row(position)
        cells = None if row is None else self._cells.get(row)
        if row is None or cells is None or position >= cells.provision[1]:
            return None
        if not self.replace_words(row):
            return None
        top = self._tops[bisect_right(self._row_starts, row) - 1]
        article = bisect_right(self._article_starts, row) - 1
        floor = self._article_starts[article] if article >= 0 else 0
        return max(floor, self._rows[top][0] - _LONGEST_HEADING), self._rows[top][1]

    def cell_start(self, position: int) -> int:
        """Where the cell begins that it stands in."""
        return max(self._text.rfind(mark, 0, position) for mark in "\t｜\n") + 1

    def _row(self, position: int) -> int | None:
        at = bisect_right(self._row_starts, position) - 1
        return self._row_starts[at] if at >= 0 and position < self._rows[at][1] else None

    def _is_in_appendix(self, row: int) -> bool:
        at = bisect_right(self._article_starts, row) - 1
        return at >= 0 and self._articles[at][1].startswith("appendix")

    def _replaces(self, row: int) -> bool:
        at = bisect_right(self._article_starts, row) - 1
        head = self._article_starts[at] if at >= 0 else 0
        last = bisect_right(self._replacing_ends, row) - 1
        return last >= 0 and self._replacing[last][0] >= max(head, row - _LONGEST_TABLE)
