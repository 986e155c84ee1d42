"""Two states of a law compared, provision by provision.

An article is known again by its number, and where that was given to another one, by its words:
moved and renumbered articles are followed, and so are paragraphs and items within an article.
Widths of characters and blanks do not count, nor do the printed numbers of articles and paragraphs,
which some sources leave out; others leave out all appendices, or the enacting clause, which is told
once and as no change.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from localrag.corpus.store import DocumentInfo
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document, Locator, Passage
from localrag.language import N_
from localrag.law.provisions import order_of
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import compact, normalize

# What an article that moved has in common with itself at least, and what one that keeps its number
# has to, lest it be told as another one that took the place.
_MOVED, _STAYED = 0.6, 0.3
# An article as short as 削除 or 略 is known by its number alone.
_SHORTEST = 15
# Comparing more pairs of articles than this takes longer than a reader waits: the numbers decide.
_MOST_PAIRS = 400_000
# Above this, lines of two versions of an article are paired by their places.
_MOST_LINES = 40_000
# After all branches of an article: 第六十三条の九.
_ENDLESS = 10**6
_DELETED = re.compile("削除")
# How the divisions begin that sources leave out as a whole.
_APPENDICES, _ENACTING_CLAUSE = "appendix", "enact"
_PRINTED_NUMBER = re.compile(r"(?:第[^　 ]{1,20}条[^　 ]{0,12}|[０-９0-9]{1,3}|[①-⑳])(?:　|$)")
# 三の二, イ, （１）, ⅰ
_ITEM_NUMBER = re.compile(
    r"(?:[〇一二三四五六七八九十百]{1,5}(?:の[一二三四五六七八九十]{1,3}){0,3}|[ァ-ヶ]{1,2}|[ⅰ-ⅻ]"
    r"|[（(][^（）() 　]{1,4}[)）])　"
)
_CAPTION = re.compile(r"（[^ 　]*）$")


class ChangeKind(StrEnum):
    """What became of a provision."""

    ADDED = "added"
    DELETED = "deleted"
    CHANGED = "changed"
    MOVED = "moved"


CHANGES = {
    ChangeKind.ADDED: N_("added"),
    ChangeKind.DELETED: N_("deleted"),
    ChangeKind.CHANGED: N_("changed"),
    ChangeKind.MOVED: N_("moved"),
}


class Line(NamedTuple):
    """A line of an article, and the place that it is of: 第二項 第一号; "" for a caption."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A line that an article has in another wording, or at another place.

    Attributes:
        kind: as the name says; the line of a moved paragraph or item may be changed as well.
        before, after: None without one. A printed number that only one side has is left out.
    """

    kind: ChangeKind
    before: Line | None
    after: Line | None

    @property
    def place(self) -> str:
        """Where it stands, and stood before if that was elsewhere: 第四号 → 第三号."""
        places = [line.place for line in (self.before, self.after) if line]
        return " → ".join(places if self.kind is ChangeKind.MOVED else places[-1:])


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one article, or of what stands outside any article.

    Attributes:
        kind: as the name says; a moved one may be changed as well.
        before, after: the passages; None where there is none. What 削除 stands for is deleted.
        differences: by paragraph and item, in reading order.
    """

    kind: ChangeKind
    before: Passage | None
    after: Passage | None
    differences: tuple[Difference, ...] = ()

    @property
    def lines(self) -> tuple[Difference, ...]:
        """What is shown of it: of what came or went as a whole, all its lines."""
        if self.kind is ChangeKind.ADDED and self.after:
            return tuple(
                Difference(self.kind, None, Line("", text)) for text in self.after.text.split("\n")
            )
        if self.kind is ChangeKind.DELETED and self.before:
            return tuple(
                Difference(self.kind, Line("", text), None) for text in self.before.text.split("\n")
            )
        return self.differences


def compare(before: Document, after: Document) -> tuple[Change, ...]:
    """Tell what changed from one state of a law to another, in reading order of the later one.

    Appendices and an enacting clause that one of them lacks as a whole are left out.
    """
    old, new = _Articles(before), _Articles(after)
    partners = _partners(old, new)
    changes: list[tuple[int, Change]] = []
    position = 0
    for passage in old.passages:
        partner = partners.get(passage.id)
        if partner is None:
            if not old.is_deleted(passage):
                stub = new.deleting(old.key(passage), passage)
                changes.append((position, Change(ChangeKind.DELETED, passage, stub)))
            continue
        position = partner.start
        differences: tuple[Difference, ...] = ()
        # Most articles stay as they are, and their lines are not even read.
        if old.body(passage) != new.body(partner):
            differences = tuple(_differences(old.rows(passage), new.rows(partner)))
        if old.key(passage) != new.key(partner):
            changes.append((position, Change(ChangeKind.MOVED, passage, partner, differences)))
        elif differences:
            changes.append((position, Change(ChangeKind.CHANGED, passage, partner, differences)))
    known = {partner.id for partner in partners.values()}
    changes += [
        (passage.start, Change(ChangeKind.ADDED, None, passage))
        for passage in new.passages
        if passage.id not in known and not new.is_deleted(passage)
    ]
    lacking = tuple(
        prefix
        for prefix in (_APPENDICES, _ENACTING_CLAUSE)
        if not (_of_division(before, prefix) and _of_division(after, prefix))
    )
    return tuple(
        change
        for _, change in sorted(changes, key=lambda placed: placed[0])
        if not any(
            side and side.locator.division.startswith(lacking)
            for side in (change.before, change.after)
        )
    )


def _of_division(document: Document, prefix: str) -> list[Passage]:
    """What stands in the divisions that begin so."""
    return [
        passage
        for passage in document.passages
        if passage.layer == ARTICLES and passage.locator.division.startswith(prefix)
    ]


def left_out(
    one: DocumentInfo, old: Document, other: DocumentInfo, new: Document
) -> Iterator[Fact]:
    """What only one of two states has as a whole."""
    for prefix in (_ENACTING_CLAUSE, _APPENDICES):
        before, after = _of_division(old, prefix), _of_division(new, prefix)
        if bool(before) == bool(after):
            continue
        lacking, having = (other, one) if before else (one, other)
        states = {"state": _day(lacking), "other": _day(having)}
        if prefix == _ENACTING_CLAUSE:
            yield Fact(FactKind.NO_ENACTING_CLAUSE, **states)
            continue
        headers = (part.header.removeprefix(having.title) for part in before or after)
        names = tuple(_CAPTION.sub("", header).strip(" ") for header in headers)
        yield Fact(FactKind.NO_APPENDICES, **states, names=names)


def _day(state: DocumentInfo) -> str:
    """By what a state is told: the day from which it is in force, or its id without one."""
    return state.metadata.get("date") or state.state_id


class _Row(NamedTuple):
    """A line of an article as it is compared.

    Attributes:
        line: as printed.
        words: without the number printed before them, blanks and widths.
        begins: whether a paragraph or an item begins with it.
    """

    line: Line
    words: str
    begins: bool


class _Articles:
    """The articles of one state, as far as comparing needs them."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.passages = [one for one in document.passages if one.layer == ARTICLES]
        self._inner = [one for one in document.passages if one.layer in (PARAGRAPHS, ITEMS)]
        self._keys = {one.id: self._key_of(one) for one in self.passages}
        self._bodies = {one.id: "".join(map(_body, one.text.split("\n"))) for one in self.passages}
        self._stubs = [one for one in self.passages if self.is_deleted(one)]

    def key(self, passage: Passage) -> str:
        """What an article is called within its law: 附則（平成…） 第二条."""
        return self._keys[passage.id]

    def body(self, passage: Passage) -> str:
        """Its words, without printed numbers, blanks and widths."""
        return self._bodies[passage.id]

    def is_deleted(self, passage: Passage) -> bool:
        """Whether all that it says is 削除."""
        return _DELETED.fullmatch(self._bodies[passage.id]) is not None

    def deleting(self, key: str, passage: Passage) -> Passage | None:
        """What says 削除 in the place of an article of another state, or of a range it is in."""
        for stub in self._stubs:
            if self.key(stub) == key or _covers(stub.locator, passage.locator):
                return stub
        return None

    def rows(self, passage: Passage) -> list[_Row]:
        """Its lines, each with the paragraph and item that it is of."""
        found = []
        start = passage.start
        head = _CAPTION.sub("", passage.header)
        inner = [p for p in self._inner if passage.start <= p.start and p.end <= passage.end]
        for text in passage.text.split("\n"):
            around = [p for p in inner if p.start <= start < max(p.end, p.start + 1)]
            of = min(around, key=lambda p: p.end - p.start) if around else passage
            place = of.header.removeprefix(head).strip(" ") if around else ""
            begins = of.start == start
            number = _ITEM_NUMBER.match(text) if begins and of.layer == ITEMS else None
            words = _body(text[number.end() :] if number else text)
            found.append(_Row(Line(place, text), words, begins))
            start += len(text) + 1
        return found

    def _key_of(self, passage: Passage) -> str:
        words = passage.header.removeprefix(self._document.title)
        return normalize(_CAPTION.sub("", words) if passage.locator.article else words).strip()


def _partners(old: _Articles, new: _Articles) -> dict[str, Passage]:
    """The article of the later state that each of the earlier one has become, by its id."""
    partners: dict[str, Passage] = {}
    taken: set[str] = set()

    def join(one: Passage, other: Passage) -> None:
        partners[one.id] = other
        taken.add(other.id)

    living = [one for one in new.passages if not new.is_deleted(one)]
    same: dict[tuple[str, str], list[Passage]] = defaultdict(list)
    for one in reversed(living):
        same[new.key(one), new.body(one)].append(one)
    for one in old.passages:
        if unchanged := same.get((old.key(one), old.body(one))):
            join(one, unchanged.pop())
    left = [p for p in old.passages if p.id not in partners and not old.is_deleted(p)]
    free = [p for p in living if p.id not in taken]
    for _alike, one, other in sorted(_likely(old, left, new, free), key=lambda pair: -pair[0]):
        if one.id not in partners and other.id not in taken:
            join(one, other)
    rewritten = {new.key(one): one for one in reversed(free) if one.id not in taken}
    for one in left:
        if one.id not in partners and old.key(one) in rewritten:
            join(one, rewritten.pop(old.key(one)))
    return partners


def _likely(
    old: _Articles, left: Sequence[Passage], new: _Articles, free: Sequence[Passage]
) -> Iterator[tuple[float, Passage, Passage]]:
    """Pairs that may be one article, and how alike they are."""
    grams = {one.id: _pairs_of(new.body(one)) for one in free}
    crossing = len(left) * len(free) <= _MOST_PAIRS
    for one in left:
        mine, key = _pairs_of(old.body(one)), old.key(one)
        for other in free:
            stays = key == new.key(other)
            if not stays and not (
                crossing
                and one.locator.division == other.locator.division
                and min(len(mine), len(grams[other.id])) >= _SHORTEST
            ):
                continue
            alike = _likeness(mine, grams[other.id])
            if alike >= (_STAYED if stays else _MOVED):
                # Of two that are equally alike, the one that keeps its number has stayed.
                yield alike + (0.05 if stays else 0.0), one, other


def _differences(old: Sequence[_Row], new: Sequence[_Row]) -> Iterator[Difference]:
    """The lines that are not the same or not at the same place, aligned."""
    before, after = ([row.words for row in rows] for rows in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for what, first, end, begin, stop in matcher.get_opcodes():
        pair = zip if what == "equal" else _aligned
        for one, other in pair(old[first:end], new[begin:stop]):
            if difference := _difference(one, other):
                yield difference


def _difference(one: _Row | None, other: _Row | None) -> Difference | None:
    """What became of a line; None where it is the same at the same place."""
    if one is None or other is None:
        kind = ChangeKind.ADDED if one is None else ChangeKind.DELETED
        return Difference(kind, one and one.line, other and other.line)
    before, after = one.line, other.line
    numbers = _PRINTED_NUMBER.match(before.text), _PRINTED_NUMBER.match(after.text)
    if None in numbers:
        before, after = (
            line._replace(text=line.text[number.end() :]) if number else line
            for line, number in zip((before, after), numbers, strict=True)
        )
    if one.begins and other.begins and _number(before.place) != _number(after.place):
        return Difference(ChangeKind.MOVED, before, after)
    return Difference(ChangeKind.CHANGED, before, after) if one.words != other.words else None


def _number(place: str) -> str:
    """Its own, without that of what it stands in, which moves with all it holds."""
    return place.rpartition(" ")[2]


def _aligned(old: Sequence[_Row], new: Sequence[_Row]) -> Iterator[tuple[_Row | None, _Row | None]]:
    """Pair the lines that are alike, in their order; between those, the lines of one place."""
    first = begin = 0
    for at, to in [*_alike(old, new), (len(old), len(new))]:
        yield from _of_one_place(old[first:at], new[begin:to])
        if at < len(old):
            yield old[at], new[to]
        first, begin = at + 1, to + 1


def _alike(old: Sequence[_Row], new: Sequence[_Row]) -> list[tuple[int, int]]:
    """Numbers of lines that may be one line, of all ways to pair them in order the likeliest."""
    if len(old) * len(new) > _MOST_LINES:
        return []
    mine, theirs = ([_pairs_of(row.words) for row in rows] for rows in (old, new))
    likely: dict[tuple[int, int], float] = {}
    for at, one in enumerate(old):
        for to, other in enumerate(new):
            stays = one.line.place == other.line.place
            if stays or min(len(mine[at]), len(theirs[to])) >= _SHORTEST:
                alike = _likeness(mine[at], theirs[to])
                if alike >= (_STAYED if stays else _MOVED):
                    likely[at, to] = alike
    # How alike all pairs are, at most, from a line of each side on.
    most = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for at in reversed(range(len(old))):
        for to in reversed(range(len(new))):
            paired = likely.get((at, to), 0.0) + most[at + 1][to + 1]
            most[at][to] = max(paired, most[at + 1][to], most[at][to + 1])
    pairs = []
    at = to = 0
    while at < len(old) and to < len(new):
        if most[at][to] == most[at + 1][to]:
            at += 1
        elif most[at][to] == most[at][to + 1]:
            to += 1
        else:
            pairs.append((at, to))
            at, to = at + 1, to + 1
    return pairs


def _of_one_place(
    old: Sequence[_Row], new: Sequence[_Row]
) -> Iterator[tuple[_Row | None, _Row | None]]:
    places = [row.line.place for row in new]
    position = 0
    for row in old:
        at = places.index(row.line.place, position) if row.line.place in places[position:] else -1
        if at < 0:
            yield row, None
            continue
        yield from ((None, added) for added in new[position:at])
        yield row, new[at]
        position = at + 1
    yield from ((None, added) for added in new[position:])


def _covers(deleted: Locator, article: Locator) -> bool:
    """Whether an article is of a range that is deleted as a whole: 第五十五条から第六十三条まで."""
    first, _, last = deleted.article.partition(":")
    if not last or deleted.division != article.division or not article.article:
        return False
    return order_of(first) <= order_of(article.article) <= [*order_of(last), _ENDLESS]


def _body(line: str) -> str:
    """The words of a line, without the printed number it begins with, and lines of tables."""
    number = _PRINTED_NUMBER.match(line)
    return compact(line[number.end() :] if number else line).replace("|", "")


def _likeness(one: set[tuple[str, str]], other: set[tuple[str, str]]) -> float:
    """Of all pairs of characters of both, the share of those that both have."""
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else 1.0


def _pairs_of(text: str) -> set[tuple[str, str]]:
    return set(pairwise(text))
