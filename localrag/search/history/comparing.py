"""Compares two states of a law, provision by provision.

An article is matched by its number; if that number has another article, by its words. Moved and
renumbered articles are followed, and so are paragraphs and items. Widths, blanks and printed
numbers do not count: some sources leave the numbers out. Some leave out all appendices or the
enacting clause; this is noted once, and counts as no change.
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

# Minimum likeness of a moved article, and of an article with the same number.
_MOVED, _STAYED = 0.6, 0.3
# A shorter article (削除, 略) is matched by its number alone.
_SHORTEST = 15
# More pairs of articles would take too long: numbers decide.
_MOST_PAIRS = 400_000
# With more lines, two versions of an article are aligned by place.
_MOST_LINES = 40_000
# After all branches of an article: 第六十三条の九.
_ENDLESS = 10**6
_DELETED = re.compile("削除")
# Beginnings of divisions that some sources leave out.
_APPENDICES, _ENACTING_CLAUSE = "appendix", "enact"
_PRINTED_NUMBER = re.compile(r"(?:第[^　 ]{1,20}条[^　 ]{0,12}|[０-９0-9]{1,3}|[①-⑳])(?:　|$)")
# 三の二, イ, （１）, ⅰ
_ITEM_NUMBER = re.compile(
    r"(?:[〇一二三四五六七八九十百]{1,5}(?:の[一二三四五六七八九十]{1,3}){0,3}|[ァ-ヶ]{1,2}|[ⅰ-ⅻ]"
    r"|[（(][^（）() 　]{1,4}[)）])　"
)
_CAPTION = re.compile(r"（[^ 　]*）$")


class ChangeKind(StrEnum):
    """How a provision changed."""

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
    """A line of an article, and its place: 第二項 第一号; "" for a caption."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A changed or moved line of an article.

    Attributes:
        kind: of the change; a moved line may also have changed words.
        before, after: None if missing. A printed number on one side only is left out.
    """

    kind: ChangeKind
    before: Line | None
    after: Line | None

    @property
    def place(self) -> str:
        """Its place, and its earlier place if moved: 第四号 → 第三号."""
        places = [line.place for line in (self.before, self.after) if line]
        return " → ".join(places if self.kind is ChangeKind.MOVED else places[-1:])


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one article, or of a passage outside articles.

    Attributes:
        kind: of the change; a moved article may also have changed words.
        before, after: the passages, or None. 削除 counts as deleted.
        differences: by paragraph and item, in reading order.
    """

    kind: ChangeKind
    before: Passage | None
    after: Passage | None
    differences: tuple[Difference, ...] = ()

    @property
    def lines(self) -> tuple[Difference, ...]:
        """The lines to show: all lines of an added or deleted article."""
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
    """Compare two states of a law, in reading order of the later one.

    Appendices or an enacting clause missing as a whole from one of them are left out.
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
        # Most articles are unchanged; their lines are not read.
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
    return [
        passage
        for passage in document.passages
        if passage.layer == ARTICLES and passage.locator.division.startswith(prefix)
    ]


def left_out(
    one: DocumentInfo, old: Document, other: DocumentInfo, new: Document
) -> Iterator[Fact]:
    """Parts missing as a whole from one of two states."""
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
    return state.metadata.get("date") or state.state_id


class _Row(NamedTuple):
    """A line prepared for comparison.

    Attributes:
        line: as printed.
        words: without printed number, blanks and widths.
        begins: whether a paragraph or an item begins here.
    """

    line: Line
    words: str
    begins: bool


class _Articles:
    """The articles of one state, prepared for comparison."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.passages = [one for one in document.passages if one.layer == ARTICLES]
        self._inner = [one for one in document.passages if one.layer in (PARAGRAPHS, ITEMS)]
        self._keys = {one.id: self._key_of(one) for one in self.passages}
        self._bodies = {one.id: "".join(map(_body, one.text.split("\n"))) for one in self.passages}
        self._stubs = [one for one in self.passages if self.is_deleted(one)]

    def key(self, passage: Passage) -> str:
        """The name of an article within its law: 附則（平成…） 第二条."""
        return self._keys[passage.id]

    def body(self, passage: Passage) -> str:
        """Its words without printed numbers, blanks and widths."""
        return self._bodies[passage.id]

    def is_deleted(self, passage: Passage) -> bool:
        """Whether it only says 削除."""
        return _DELETED.fullmatch(self._bodies[passage.id]) is not None

    def deleting(self, key: str, passage: Passage) -> Passage | None:
        """The 削除 that replaces an article of another state, alone or in a range."""
        for stub in self._stubs:
            if self.key(stub) == key or _covers(stub.locator, passage.locator):
                return stub
        return None

    def rows(self, passage: Passage) -> list[_Row]:
        """Its lines with their paragraphs and items."""
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
    """Match articles of the earlier state with those of the later one, by id."""
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
    """Candidate pairs with their likeness."""
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
                # Of two equal pairs, prefer the one with the same number.
                yield alike + (0.05 if stays else 0.0), one, other


def _differences(old: Sequence[_Row], new: Sequence[_Row]) -> Iterator[Difference]:
    """Changed and moved lines, aligned."""
    before, after = ([row.words for row in rows] for rows in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for what, first, end, begin, stop in matcher.get_opcodes():
        pair = zip if what == "equal" else _aligned
        for one, other in pair(old[first:end], new[begin:stop]):
            if difference := _difference(one, other):
                yield difference


def _difference(one: _Row | None, other: _Row | None) -> Difference | None:
    """The change of a line, or None."""
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
    return place.rpartition(" ")[2]


def _aligned(old: Sequence[_Row], new: Sequence[_Row]) -> Iterator[tuple[_Row | None, _Row | None]]:
    """Pair similar lines in order, then lines of equal place between them."""
    first = begin = 0
    for at, to in [*_alike(old, new), (len(old), len(new))]:
        yield from _of_one_place(old[first:at], new[begin:to])
        if at < len(old):
            yield old[at], new[to]
        first, begin = at + 1, to + 1


def _alike(old: Sequence[_Row], new: Sequence[_Row]) -> list[tuple[int, int]]:
    """The likeliest pairing of lines in order, as line numbers."""
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
    # Best total likeness from a line of each side on.
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
    """Whether an article is in a deleted range: 第五十五条から第六十三条まで."""
    first, _, last = deleted.article.partition(":")
    if not last or deleted.division != article.division or not article.article:
        return False
    return order_of(first) <= order_of(article.article) <= [*order_of(last), _ENDLESS]


def _body(line: str) -> str:
    number = _PRINTED_NUMBER.match(line)
    return compact(line[number.end() :] if number else line).replace("|", "")


def _likeness(one: set[tuple[str, str]], other: set[tuple[str, str]]) -> float:
    both = len(one) + len(other)
    return 2 * len(one & other) / both if both else 1.0


def _pairs_of(text: str) -> set[tuple[str, str]]:
    return set(pairwise(text))
