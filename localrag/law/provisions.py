"""The structure of a statute: provisions, appendices, brackets and tables.

Brackets hold asides: the text after them continues the text before. The text does not say which
law's provisions the rows of a table cite.
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
    """The provisions of the laws at hand. Unknown laws have none; nothing raises."""

    def exists(self, law_id: str, locator: Locator) -> bool:
        """Whether the law has exactly this provision; the empty locator means the law."""

    def articles(self, law_id: str, division: str) -> Sequence[str]:
        """Article numbers of a division ("" for the main provisions), in printed order."""

    def children(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """The provisions directly inside another, in printed order.

        Paragraphs of an article (or of a division without articles), items of a paragraph, subitems
        of an item.
        """

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """The divisions other than the main provisions with their printed labels, in order.

        ``{"suppl1": "附則", "appendix1": "別表第一（第二条関係）"}``
        """


class Provisions:
    """A `ProvisionLookup` over documents in memory."""

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
        """The provisions directly inside another, in printed order."""
        return self._children.get((law_id, locator), ())

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """The divisions other than the main provisions with their printed labels."""
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
    """A statute in plain characters, and the mapping of positions back."""
    read = PlainText(document.text)
    if read.is_as_written:
        return document, read
    passages = []
    for passage in document.passages:
        start, end = read.place(passage.start), read.place(passage.end)
        passages.append(replace(passage, text=read.text[start:end], start=start, end=end))
    return replace(document, text=read.text, passages=tuple(passages)), read


def outside_in(document: Document) -> list[Passage]:
    """Sort passages by start, outer ones first."""
    return sorted(
        document.passages,
        key=lambda passage: (passage.start, -passage.end, _DEPTHS.get(passage.layer, 0)),
    )


class Innermost:
    """The innermost provision at a position; ask in rising order.

    Args:
        passages: as sorted by `outside_in`.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._next = 0
        self._open: list[tuple[int, Locator]] = []

    def at(self, position: int) -> Locator:
        """Its locator, empty outside all provisions."""
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
    """The provision directly around another; None for an article or a division."""
    # Written out: `dataclasses.replace` is five times slower.
    division, article, paragraph = locator.division, locator.article, locator.paragraph
    if locator.subitem:
        outer = locator.subitem.rpartition(".")[0]
        return Locator(division, article, paragraph, locator.item, outer)
    if locator.item:
        return Locator(division, article, paragraph)
    return Locator(division, article) if paragraph else None


def deleted_row(articles: Iterable[str], locator: Locator) -> Locator | None:
    """The row of deleted articles with an article.

    第五十条 is in 38:84 if the law prints 第三十八条から第八十四条まで 削除.

    Args:
        articles: of the division.
        locator: of the article, or of a place inside it.
    """
    number = locator.article
    if not number or ":" in number:
        return None
    # A law has hundreds of articles and few rows.
    row = next((row for row in articles if ":" in row and is_in_row(number, row)), None)
    return Locator(locator.division, row) if row else None


def is_in_row(number: str, row: str) -> bool:
    """Whether a number is in a row printed as one, 38:84."""
    first, ranged, last = row.partition(":")
    return bool(ranged) and order_of(first) <= order_of(number) <= order_of(last)


def order_of(number: str) -> list[int]:
    """The parts of a number, for comparison: 27_36 is 27, 36.

    For a row, those of its first number.
    """
    return [int(part) for part in number.partition(":")[0].split("_") if part.isdecimal()]


def numbers_of(place: Locator) -> list[list[int]]:
    """The numbers of a provision, for comparison: 第三条の二第一項 is [[3, 2], [1]]."""
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
        """The provisions directly inside another, in printed order."""
        layer = ITEMS if locator.paragraph else PARAGRAPHS
        inside = dict.fromkeys(self._store.locators(law_id, locator, layer))
        return [place for place in inside if container(place) == locator]

    def divisions(self, law_id: str) -> Mapping[str, str]:
        """The divisions other than the main provisions, as printed, in order."""
        title = self._names.title(law_id)
        return {
            division: (header.removeprefix(title).split() or [""])[0]
            for division, header in self._store.divisions(law_id).items()
        }


class RememberedProvisions:
    """A `ProvisionLookup` with a cache, for one text."""

    def __init__(self, provisions: ProvisionLookup) -> None:
        self.exists = cache(provisions.exists)
        self.articles = cache(provisions.articles)
        self.children = cache(provisions.children)
        self.divisions = cache(provisions.divisions)
        self._in_division = cache(self._articles_of)

    def beside(self, law_id: str, locator: Locator) -> Sequence[Locator]:
        """The siblings of a provision and itself, in printed order."""
        outer = container(locator)
        if outer is not None:
            return self.children(law_id, outer)
        return self._in_division(law_id, locator.division)

    def _articles_of(self, law_id: str, division: str) -> Sequence[Locator]:
        return [Locator(division, number) for number in self.articles(law_id, division)]


# Labels of appendices (別表, 様式, 書式) vary: 第三号様式, 様式第三 and 別記様式第３号 become
# 様式第三. The appendix of a supplement is 附則別表; its division identifies it.
_BRANCHES = rf"(?:[のノ之]{NUMBER})*+"
_BEFORE = "(?:別記|別紙|付録|附録)?"
_FORM = "様式|書式"

LABEL = re.compile(
    rf"{_BEFORE}(?:第(?P<first>{NUMBER}(?:号)?{_BRANCHES})(?P<form>{_FORM})(?P<more>{_BRANCHES})"
    rf"|(?P<name>別表|{_FORM})(?:第?(?P<number>{NUMBER})号?(?P<branches>{_BRANCHES}))?)"
)
"""The name of an appendix at its head."""
CITED_FORM = re.compile(
    # First characters of its branches, to skip other positions at once.
    rf"(?=[別付附第様書])(?:{_BEFORE}第{NUMBER}号?{_BRANCHES}(?:{_FORM}){_BRANCHES}"
    rf"|{_BEFORE}(?:{_FORM})第?{NUMBER}号?{_BRANCHES}|別記(?:{_FORM}))"
)
"""A citation of a form; `localrag.law.citations` finds 別表."""


def label_of(written: str) -> str:
    """The label at the head of a text in one spelling, or ""."""
    found = LABEL.match(written.lstrip("【"))
    if found is None:
        return ""
    if found["form"]:
        return labelled(found["form"], found["first"] + found["more"])
    return labelled(found["name"], (found["number"] or "") + (found["branches"] or ""))


def appendices(document: Document) -> Mapping[tuple[str, str], str]:
    """The appendices of a statute, by division ("" for the law) and label.

    Equal labels (様式第一, 別記様式第一) are ambiguous and left out.
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


_BRACKET = re.compile("[（）()]")
_MARK = re.compile(r"[（）()「」\n]")
# 第三条第一項（第五条において準用する場合を含む。）
_ALTERNATIVE = re.compile(r"(?:を含む|を除く|に限る|除く|限る)。?$")
# Laws nest five deep; a hostile text may nest endlessly.
_DEEPEST = 32
BLOT = "\0"

T = TypeVar("T")


class NestedSpot(NamedTuple):
    """A position in nested brackets.

    Attributes:
        line: start of its line.
        open: starts of the brackets and quotation marks around it, outermost first.
    """

    line: int
    open: tuple[int, ...]


class Nesting:
    """The brackets open at any position of a text; the end of a line closes them."""

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
        """The nesting of a position, with a bracket right before it open."""
        return self._spots[bisect_left(self._marks, position)]

    def is_quoted(self, position: int) -> bool:
        """Whether a position is inside quotation marks."""
        return any(self._text[opening] == "「" for opening in self.at(position).open)

    def is_alternative(self, spot: NestedSpot) -> bool:
        """Whether its bracket includes or excludes: を含む, を除く, に限る."""
        return bool(spot.open) and spot.open[-1] in self._alternatives


class Recent(Generic[T]):
    """The values named last while reading.

    A value in brackets is visible while they are open, and from neighbouring brackets if it
    explains a word: A（第三条のAをいう。）及びB（同条のBをいう。）. An invisible value counts only
    if its line has no other.
    """

    def __init__(self, nesting: Nesting) -> None:
        self._nesting = nesting
        self._named: dict[tuple[tuple[int, ...], int, bool], tuple[NestedSpot, T]] = {}
        self._latest: tuple[NestedSpot, T] | None = None

    def enter(self, value: T, at: NestedSpot, *, in_passing: bool = False) -> None:
        """Record `value` as named last.

        Args:
            value: the value.
            at: its position.
            in_passing: whether it is invisible at once.
        """
        self._latest = at, value
        if in_passing:
            return
        self._named = {key: named for key, named in self._named.items() if _around(key[0], at.open)}
        key = at.open[:-1], len(at.open), self._nesting.is_alternative(at)
        self._named.pop(key, None)
        self._named[key] = at, value

    def on_line(self, at: NestedSpot) -> T | None:
        """The value named last on the line, visible at a position."""
        return self._in_sight(at, at.line)

    def last(self, at: NestedSpot) -> T | None:
        """The value named last, visible ones first."""
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
    """``text[start:end]`` with brackets closed before `end` blotted out.

    Positions stay valid.
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
    """The start of the bracket closing right before `end`, not before `floor`."""
    depth = 0
    for bracket in reversed([*_BRACKET.finditer(text, max(floor, 0), end)]):
        depth += 1 if bracket[0] in "）)" else -1
        if depth == 0:
            return bracket.start()
    return None


class _Brackets:
    """Reads the bracket marks of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.open: list[int] = []
        """Where the open ones stand."""

    def read(self, position: int) -> int | None:
        """Read a mark; for a closing one return the position of its opening.

        That is 0 for a bracket opened before the text.
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
        """Close a quotation; the quoted words may leave brackets open."""
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
    """Spans of a row: a provision, its words, and the replacement."""

    provision: tuple[int, int]
    replaced: tuple[int, int]
    replacing: tuple[int, int]


def lines_with(words: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """The lines of a text with some words."""
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
        """Whether a position is in a row of an appendix or replacement table."""
        row = self._row(position)
        return row is not None and (self._is_in_appendix(row) or self._replaces(row))

    def replace_words(self, position: int) -> bool:
        """Whether a position is in a row of a replacement table (読替え)."""
        row = self._row(position)
        return row is not None and not self._is_in_appendix(row) and self._replaces(row)

    def readings(self) -> Iterator[Cells]:
        """The rows of replacement tables: provision, words, replacement."""
        for row, cells in self._cells.items():
            if self.replace_words(row):
                yield cells

    def heading_of(self, position: int) -> tuple[int, int] | None:
        """The span naming the provisions of a replacement table's row.

        From the start of the article to the table's first row, which may be a heading:
        読み替える会社法の規定. None if no row names a provision.
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
        """The start of the cell at a position."""
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
