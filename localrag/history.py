"""The states of a law side by side: the Python twin of ``localrag history`` and ``localrag diff``.

Two states are compared provision by provision. An article is known again by its number, and where
that was given to another one, by its words: moved and renumbered articles are followed. Widths of
characters and blanks do not count, nor do the printed numbers of articles and paragraphs, which
some sources leave out.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from localrag.corpus.store import CorpusStore, DocumentInfo
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Document, Locator, Passage
from localrag.errors import NotFoundError, UsageError
from localrag.finding import find, laws_called
from localrag.language import N_, _
from localrag.statutes.provisions import order_of
from localrag_indexes.analysis.normalize import compact, normalize

# What an article that moved has in common with itself at least, and what one that keeps its number
# has to, lest it be told as another one that took the place.
_MOVED, _STAYED = 0.6, 0.3
# An article as short as 削除 or 略 is known by its number alone.
_SHORTEST = 15
# Comparing more pairs of articles than this takes longer than a reader waits: the numbers decide.
_MOST_PAIRS = 400_000
# After all branches of an article: 第六十三条の九.
_ENDLESS = 10**6
_DELETED = re.compile("削除")
_PRINTED_NUMBER = re.compile(r"(?:第[^　 ]{1,20}条[^　 ]{0,12}|[０-９0-9]{1,3}|[①-⑳])(?:　|$)")
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
    """A line that an article has in another wording; `before` or `after` is None without one."""

    before: Line | None
    after: Line | None


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
            return tuple(Difference(None, Line("", text)) for text in self.after.text.split("\n"))
        if self.kind is ChangeKind.DELETED and self.before:
            return tuple(Difference(Line("", text), None) for text in self.before.text.split("\n"))
        return self.differences


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two states of a law, and all that changed from the one to the other, in reading order."""

    before: DocumentInfo
    after: DocumentInfo
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """A provision in one state of its law.

    Attributes:
        state: of the law.
        passage: None where this state does not have it.
        change: against the state before; None where nothing changed, and for the first state.
    """

    state: DocumentInfo
    passage: Passage | None
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class History:
    """A provision through the states of its law, the earliest first."""

    title: str
    versions: tuple[Version, ...]


_TYPES = {"AC": "法律", "CO": "政令"}
_ERAS = {"1": "明治", "2": "大正", "3": "昭和", "4": "平成", "5": "令和"}
_LAW_ID = re.compile(r"([1-5])(\d{2})(AC|CO)\d(\d{9})")


def amended_by(state: DocumentInfo) -> str:
    """The law that made a state what it is, by its number: 令和6年法律第65号; "" if not known.

    An id of another kind than those of acts and cabinet orders stays as it is.
    """
    law_id = state.metadata.get("amending_law", "")
    if (match := _LAW_ID.fullmatch(law_id)) is None:
        return law_id
    era, year, kind, number = match.groups()
    return f"{_ERAS[era]}{int(year)}年{_TYPES[kind]}第{int(number)}号"


def headline(version: Version) -> str:
    """From when to when a state is in force, by what law, and what became of the provision."""
    state = version.state
    parts = [f"{state.metadata.get('date') or _('without a date')} – {state.followed}".strip()]
    if law := amended_by(state):
        parts.append(_("amended by {law}").format(law=law))
    if version.change is not None:
        parts.append(_(CHANGES[version.change.kind]))
    elif version.passage is None:
        parts.append(_("not in this state"))
    return "  ".join(parts)


def history(store: CorpusStore, target: str) -> History:
    """Follow a provision through the states of its law.

    Args:
        store: a corpus; the citation is read in the state that it shows.
        target: a citation as for `provision.show`, of one article or of what stands in it.

    Raises:
        NotFoundError: there is no such provision.
        UsageError: it can mean several, or is of no law.
    """
    shown = _article(store, target)
    states = store.states(shown.document_id)
    documents = [store.read(state.key) for state in states]
    today = states.index(store.document(shown.document_id))
    versions: list[Version] = [Version(states[today], shown)]
    passage: Passage | None = shown
    for at in range(today, 0, -1):
        change = _change_of(passage, documents[at - 1], documents[at], backwards=True)
        versions[0] = Version(states[at], passage, change)
        passage = _other_side(change, passage, documents[at - 1], backwards=True)
        versions.insert(0, Version(states[at - 1], passage))
    passage = shown
    for at in range(today + 1, len(states)):
        change = _change_of(passage, documents[at - 1], documents[at])
        passage = _other_side(change, passage, documents[at])
        versions.append(Version(states[at], passage, change))
    return History(shown.header, tuple(versions))


def diff(store: CorpusStore, law: str, before: date, after: date) -> Comparison:
    """Compare the states in which a law was on two days.

    Raises:
        NotFoundError: the corpus has no such law, or no state of it that was in force on a day.
        UsageError: the name can mean several laws.
    """
    states = store.states(_law(store, law))
    one, other = (_on(states, day) for day in sorted((before, after)))
    if one.key == other.key:
        return Comparison(one, other, ())
    return Comparison(one, other, compare(store.read(one.key), store.read(other.key)))


def compare(before: Document, after: Document) -> tuple[Change, ...]:
    """Tell what changed from one state of a law to another, in reading order of the later one."""
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
        differences = tuple(_differences(old.lines(passage), new.lines(partner)))
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
    return tuple(change for _, change in sorted(changes, key=lambda placed: placed[0]))


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

    def lines(self, passage: Passage) -> list[Line]:
        """Its lines, each with the paragraph and item that it is of."""
        found = []
        start = passage.start
        inner = [p for p in self._inner if passage.start <= p.start and p.end <= passage.end]
        for text in passage.text.split("\n"):
            around = [p for p in inner if p.start <= start < max(p.end, p.start + 1)]
            place = min(around, key=lambda p: p.end - p.start).header if around else ""
            head = _CAPTION.sub("", passage.header)
            found.append(Line(place.removeprefix(head).strip(" "), text))
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
            both = len(mine) + len(grams[other.id])
            alike = 2 * len(mine & grams[other.id]) / both if both else 1.0
            if alike >= (_STAYED if stays else _MOVED):
                # Of two that are equally alike, the one that keeps its number has stayed.
                yield alike + (0.05 if stays else 0.0), one, other


def _differences(old: Sequence[Line], new: Sequence[Line]) -> Iterator[Difference]:
    """The lines that are not the same, aligned."""
    before, after = ([_body(line.text) for line in lines] for lines in (old, new))
    if "".join(before) == "".join(after):
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for what, first, end, begin, stop in matcher.get_opcodes():
        if what == "equal":
            continue
        yield from _aligned(old[first:end], new[begin:stop])


def _aligned(old: Sequence[Line], new: Sequence[Line]) -> Iterator[Difference]:
    """Pair what stands at the same place, then what is left in order."""
    if len(old) == len(new):
        yield from (Difference(*pair) for pair in zip(old, new, strict=True))
        return
    places = [line.place for line in new]
    position = 0
    for line in old:
        at = places.index(line.place, position) if line.place in places[position:] else -1
        if at < 0:
            yield Difference(line, None)
            continue
        yield from (Difference(None, added) for added in new[position:at])
        yield Difference(line, new[at])
        position = at + 1
    yield from (Difference(None, added) for added in new[position:])


def _change_of(
    passage: Passage | None, before: Document, after: Document, *, backwards: bool = False
) -> Change | None:
    """What became of one passage, which is of the later state where one goes backwards."""
    if passage is None:
        return None
    for change in compare(before, after):
        side = change.after if backwards else change.before
        if side is not None and side.locator == passage.locator:
            return change
    return None


def _other_side(
    change: Change | None, passage: Passage | None, other: Document, *, backwards: bool = False
) -> Passage | None:
    """The passage on the other side of a change; without one the passage of the same place."""
    if change is not None:
        return change.before if backwards else change.after
    if passage is None:
        return None
    same = (p for p in other.passages if p.layer == ARTICLES and p.locator == passage.locator)
    return next(same, None)


def _article(store: CorpusStore, target: str) -> Passage:
    """The article that a citation names or that what it names stands in."""
    passage = find(store, target)
    place = passage.locator
    article = store.at(passage.document_id, Locator(place.division, place.article), ARTICLES)
    if article is None:
        raise UsageError(
            N_("{target!r} is no provision of a law."),
            N_("Name one: localrag history 民法709条"),
            target=target,
        )
    return article


def _law(store: CorpusStore, name: str) -> str:
    found = laws_called(store, name)
    if len(found) > 1:
        raise UsageError(
            N_("{name!r} can mean {n:,} laws."),
            N_("Give the id of one: {ids}"),
            name=name,
            n=len(found),
            ids=", ".join(found),
        )
    return found[0]


def _on(states: Sequence[DocumentInfo], day: date) -> DocumentInfo:
    begun = [state for state in states if state.metadata.get("date", "") <= day.isoformat()]
    if begun:
        return begun[-1]
    raise NotFoundError(
        N_("The corpus has no state of {title} that was in force on {day}."),
        N_("Its first one is of {first}."),
        title=states[0].title,
        day=day.isoformat(),
        first=states[0].metadata.get("date", ""),
    )


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


def _pairs_of(text: str) -> set[tuple[str, str]]:
    return set(pairwise(text))
