"""Dependents of a provision or a law, as in ``localrag affected``.

Indexing found the edges. Here they are followed backwards: to the provisions citing, applying,
implementing or punishing it, and from these to the next.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from localrag.corpus.links import (
    APPLIES,
    CHANGES,
    DELEGATED_BY,
    PUNISHES,
    PUNISHES_A_BODY,
    READS,
    REFERS,
)
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Locator
from localrag.errors import UsageError
from localrag.language import N_
from localrag.law.notation import cite
from localrag.search.finding import by_id, names_of, targets_of
from localrag.search.provision import appendix_label, as_cited

KINDS = {
    DELEGATED_BY: N_("implements it"),
    PUNISHES: N_("punishes its breach"),
    PUNISHES_A_BODY: N_("punishes the legal person for its breach"),
    APPLIES: N_("applies it mutatis mutandis"),
    READS: N_("replaces its words"),
    CHANGES: N_("changes it for a time"),
    REFERS: N_("refers to it"),
}
"""The kinds of edges followed, the closest first, with words."""

MOST_FOLLOWED = 2_000
"""Provisions followed to the next level."""


class Place(NamedTuple):
    """A provision, or a whole law (`locator` is empty)."""

    document_id: str
    locator: Locator

    @property
    def id(self) -> str:
        """The id of its passage, or of its law."""
        return f"{self.document_id}#{self.locator.path}" if self.locator.path else self.document_id

    @property
    def article(self) -> "Place":
        """Its article; an appendix is its own."""
        return Place(self.document_id, Locator(self.locator.division, self.locator.article))

    def contains(self, other: "Place") -> bool:
        """Whether the other place is this one, or inside it."""
        return self.document_id == other.document_id and self.locator.contains(other.locator)


@dataclass(frozen=True, slots=True)
class Dependent:
    """A provision depending on another one.

    Attributes:
        place: the provision.
        law: title of its law.
        label: its heading.
        kinds: how it depends on the last place of `path`, the closest kind first.
        path: ids of the places between, from the target of the question on.
    """

    place: Place
    law: str
    label: str
    kinds: tuple[str, ...]
    path: tuple[str, ...]

    @property
    def depth(self) -> int:
        """1 for a provision depending on the target itself."""
        return len(self.path)


@dataclass(frozen=True, slots=True)
class LawCount:
    """A law, and its provisions depending on the target itself.

    Attributes:
        kinds: number of provisions of each kind.
    """

    document_id: str
    title: str
    provisions: int
    kinds: dict[str, int]


@dataclass(frozen=True, slots=True)
class Affected:
    """The dependents of a provision or a law.

    Attributes:
        place: the target.
        label: its heading, or the title of the law.
        dependents: by distance, then in the order of the corpus.
        laws: counts of the first distance, the largest first.
        not_followed: provisions whose own dependents were not looked up.
    """

    place: Place
    label: str
    dependents: tuple[Dependent, ...]
    laws: tuple[LawCount, ...]
    not_followed: int = 0


def affected(store: CorpusStore, target: str, depth: int = 1) -> Affected:
    """Find the dependents of a provision, or of a law as a whole.

    Inner references of the target do not count. A provision is listed once, at its least distance.

    Args:
        store: the corpus.
        target: one citation, or a law.
        depth: largest distance; 1 for provisions depending on the target itself.

    Raises:
        NotFoundError: there is no such provision or law.
        UsageError: the target is ambiguous, several provisions, or not in a law.
    """
    place, label = _target(store, target)
    found: dict[Place, Dependent] = {}
    followed = {place}
    ends: dict[Place, tuple[str, ...]] = {place: (place.id,)}
    not_followed = 0
    for _ in range(depth):
        not_followed += max(0, len(ends) - MOST_FOLLOWED)
        level: list[Dependent] = []
        for end, path in islice(ends.items(), MOST_FOLLOWED):
            for one in _depending(store, end, path):
                if one.place not in found and not place.contains(one.place):
                    found[one.place] = one
                    level.append(one)
        ends = _ends(level, followed)
        followed |= ends.keys()
    dependents = tuple(_labelled(store, found.values()))
    return Affected(place, label, dependents, tuple(_counted(dependents)), not_followed)


def _target(store: CorpusStore, written: str) -> tuple[Place, str]:
    passage = by_id(store, written)
    if passage is None:
        targets = targets_of(store, written, names_of(store))
        if len(targets) > 1:
            raise UsageError(
                N_("{written!r} names {count:,} provisions."),
                N_("Name one of them, or a whole law."),
                written=written,
                count=len(targets),
            )
        (target,) = targets
        passage = store.at(target.law_id, target.locator)
        if passage is None:
            return Place(target.law_id, Locator()), store.document(target.law_id).title
    if not passage.locator.path:
        raise UsageError(
            N_("{written!r} is not a provision of a law."),
            N_("Name one: localrag affected 民法709条"),
            written=written,
        )
    return Place(passage.document_id, as_cited(store, passage)), passage.header


def _ends(level: Iterable[Dependent], followed: Collection[Place]) -> dict[Place, tuple[str, ...]]:
    """The articles to follow next, with their paths: several paragraphs lead to the same places."""
    ends: dict[Place, tuple[str, ...]] = {}
    for one in level:
        if one.place.article not in followed:
            ends.setdefault(one.place.article, (*one.path, one.place.id))
    return ends


def _depending(store: CorpusStore, end: Place, path: tuple[str, ...]) -> Iterator[Dependent]:
    kinds: dict[Place, set[str]] = defaultdict(set)
    titles: dict[str, str] = {}
    for cited in _as_targets(store, end):
        for document_id, title, source, kind in store.dependents(end.document_id, cited, *KINDS):
            titles[document_id] = title
            kinds[Place(document_id, Locator.parse(source))].add(kind)
    for place, its in kinds.items():
        if not end.contains(place):
            title = titles[place.document_id]
            yield Dependent(place, title, "", tuple(filter(its.__contains__, KINDS)), path)


def _as_targets(store: CorpusStore, end: Place) -> Iterator[Locator]:
    """A place as stored with edges: other laws cite an appendix by its label alone."""
    yield end.locator
    passage = store.at(*end) if end.locator.division.startswith("appendix") else None
    if passage is not None:
        yield Locator(appendix_label(store, passage))


def _labelled(store: CorpusStore, dependents: Collection[Dependent]) -> Iterator[Dependent]:
    places: dict[str, list[Locator]] = defaultdict(list)
    for one in dependents:
        places[one.place.document_id].append(one.place.locator)
    headers = {id_: store.headers(id_, its) for id_, its in places.items()}
    for one in dependents:
        at = one.place
        label = headers[at.document_id].get(at.locator) or cite(one.law, at.locator)
        yield replace(one, label=label)


def _counted(dependents: Iterable[Dependent]) -> list[LawCount]:
    laws: dict[str, list[Dependent]] = defaultdict(list)
    for one in dependents:
        if one.depth == 1:
            laws[one.place.document_id].append(one)
    counts = []
    for id_, its in laws.items():
        kinds = Counter(kind for one in its for kind in one.kinds)
        counts.append(LawCount(id_, its[0].law, len(its), dict(kinds)))
    return sorted(counts, key=lambda law: -law.provisions)
