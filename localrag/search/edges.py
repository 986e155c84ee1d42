"""Step `expand`: provisions connected with those found.

Edges between provisions are found when indexing (`localrag.corpus.links`). A question follows the
kinds it needs: for a penalty the punishing provision, for a delegated point the implementing one.
References raise both ends. `reading` looks up definitions.

Ordinary documents have no edges but names. The page of a film names its director, and the corpus
has a page with that title: a two-step question ("where was the director of … born?") needs both.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from localrag.corpus.links import (
    APPLIES,
    BY_ORDER,
    DELEGATED_BY,
    PUNISHES,
    PUNISHES_A_BODY,
    REFERS,
    Reference,
)
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import PARAGRAPHS, PASSAGES, Locator
from localrag.law.delegations import (
    CABINET,
    Filling,
    Point,
    article_of,
    fillings_of,
    points_left,
    points_of,
    same_before,
)
from localrag.search.query import analyzer
from localrag.search.question.asked import OrderAsked
from localrag.search.reading import Reading
from localrag.search.search import Titles
from localrag.search.types import Hit, Link, LinkKind
from localrag.search.units import Admission, Scores, article_unit, target_of
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import normalize

STAGE = "expand"


@dataclass(frozen=True, slots=True)
class Seed:
    """A provision to follow edges from.

    Attributes:
        locator: the place named, or the article found.
        strength: 0 to 1.
        named: whether the question names it.
    """

    law_id: str
    locator: Locator
    strength: float
    named: bool

    @property
    def unit(self) -> str:
        """Its article."""
        return article_unit(self.law_id, self.locator)


# References, and the pages that a page names.

_FORWARD = {
    REFERS: FactKind.REFERRED_TO_BY,
    APPLIES: FactKind.APPLIED_BY,
    DELEGATED_BY: FactKind.FILLED_IN_BY,
}
_BACKWARD = {
    REFERS: FactKind.REFERS_TO,
    APPLIES: FactKind.APPLIES,
    DELEGATED_BY: FactKind.FILLS_IN,
}
# Share of its strength passed along a reference.
_HANDED_ON = 0.4
# Ignore provisions with more references: definitions and penalties lead nowhere in particular.
_TOO_MANY = 400


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A unit connected with the seeds.

    Attributes:
        relation: kind of the note giving the reason.
        other: the connected unit.
        referring: the end with the reference; "" if neither.
    """

    strength: float
    relation: FactKind
    other: str
    referring: str = ""


def neighbours(
    store: Lookups, seeds: Sequence[Seed], admission: Admission
) -> Mapping[str, Neighbour]:
    """Units referring to the seeds or referred to by them, each by its strongest reference."""
    best: dict[str, Neighbour] = {}
    for unit, neighbour in _referring(store, seeds):
        known = best.get(unit)
        if known is not None and known.strength >= neighbour.strength:
            continue
        if admission.admits(unit.partition("#")[0]):
            best[unit] = neighbour
    return best


def require_undamaged(
    store: Lookups, reached: Mapping[str, Neighbour], hits: Sequence[Hit]
) -> None:
    """Check the stored references used by hits, of the hundreds weighed.

    Raises:
        StoreError: a stored reference cannot be read.
    """
    units = (article_unit(hit.passage.document_id, hit.passage.locator) for hit in hits)
    for referring in {reached[unit].referring for unit in units if unit in reached} - {""}:
        target = target_of(referring)
        store.references_from(target.law_id, target.locator)


def pages_named(
    store: Lookups, titles: Titles, best: Sequence[str], found: Scores, admission: Admission
) -> Mapping[str, Neighbour]:
    """Units of documents whose titles occur in the text of units found.

    A unit shares its strength among the documents it names. The unit of a document is its best
    passage found, else its first.

    Args:
        store: the corpus store.
        titles: of its documents.
        best: units to start from; only passages of ordinary documents count.
        found: scores of all units found, relative to the best.
        admission: which documents may be found.
    """
    units: dict[str, str] = {}
    for unit in sorted(found, key=lambda unit: -found[unit]):
        units.setdefault(unit.rpartition("#")[0], unit)
    named: dict[str, Neighbour] = {}
    texts = store.by_ids(best)
    for source, passage in texts.items():
        if passage.layer != PASSAGES:
            continue
        title = store.document(passage.document_id).title
        openings = store.openings(titles.named_in(passage.text, title))
        strength = found[source] / sqrt(len(openings) or 1)
        for opening in openings:
            document = opening.rpartition("#")[0]
            unit = units.get(document, opening)
            known = named.get(unit)
            stronger = known is None or strength > known.strength
            if stronger and document != passage.document_id and admission.admits(document):
                named[unit] = Neighbour(strength, FactKind.NAMED_IN, source)
    return named


def _referring(store: Lookups, seeds: Iterable[Seed]) -> Iterator[tuple[str, Neighbour]]:
    """Every unit connected with a seed.

    Connections of one kind share the strength: the more there are, the less each counts.
    """
    for seed in seeds:
        for relations, look_up in (
            (_FORWARD, store.connections_from),
            (_BACKWARD, store.connections_to),
        ):
            # The whole article, or only the place if the article has too many.
            for place in (article_of(seed.locator), seed.locator):
                connections = look_up(seed.law_id, place, _TOO_MANY)
                if len(connections) < _TOO_MANY:
                    break
            else:
                continue
            for kind, relation in relations.items():
                # In the order of the connections, equal in every process.
                found = (f"{c.document_id}#{c.article}" for c in connections if c.kind == kind)
                units = dict.fromkeys(found)
                strength = seed.strength * _HANDED_ON / sqrt(len(units) or 1)
                for unit in units:
                    if unit != seed.unit:
                        referring = seed.unit if relations is _FORWARD else unit
                        yield unit, Neighbour(strength, relation, seed.unit, referring)


def touch(one: Locator, other: Locator) -> bool:
    """Whether one of two places contains the other."""
    return one.contains(other) or other.contains(one)


# What punishes a breach.

# Provisions found by words whose penalties are looked up.
_FOLLOWED = 10


# Bonus of a penal provision with every word of the question, besides the citation.
_REPEATS_DOING = 0.3
# Drop candidates that score below 70 % of the best.
_NEAR = 0.7


class Penalty(NamedTuple):
    """A penal provision for the question.

    Attributes:
        link: to the provision whose breach it punishes, or to itself if it states the offence.
        strength: how well it matches, 0 to 1.3.
    """

    link: Link
    strength: float


def penalties(
    store: Lookups, reading: "Reading", doing: Collection[str], found: Scores, admission: Admission
) -> list[Penalty]:
    """The penalties for the offence in a question, best first.

    Without an offence, all penalties of the laws named, in the order of their texts. Else the
    penalties for breaches of the best provisions found, or those provisions themselves. For a
    question about the legal person, the provision that punishes it besides the offender.

    Args:
        store: the corpus store.
        reading: of a question about a penalty.
        doing: the terms of the offence.
        found: articles with their agreement with the offence, 0 to 1.
        admission: which documents may be found.
    """
    of_a_body = reading.penalty is not None and reading.penalty.of_a_body
    whole = PUNISHES_A_BODY if of_a_body else PUNISHES
    if of_laws := _of_laws(store, filter(admission.admits, reading.punishing), whole):
        return of_laws
    of_doers = _of_breaches(store, found, PUNISHES, doing, admission)
    if not (of_a_body and of_doers):
        return of_doers
    punished = {penalty.link.unit: penalty.strength for penalty in reversed(of_doers)}
    surest = of_doers[0].link.unit.rpartition("#")[0]
    return (
        # 前各条の違反行為 is not always resolved: use what the law of the best penalty has.
        _of_breaches(store, punished, PUNISHES_A_BODY, (), admission)
        or _of_laws(store, [surest], PUNISHES_A_BODY)
        or of_doers
    )


def _of_laws(store: Lookups, law_ids: Iterable[str], kind: str) -> list[Penalty]:
    """All penalties of laws, in the order of their texts: grave offences come first."""
    edges = (edge for id_ in law_ids for edge in store.references_from(id_, Locator(), kind))
    links = (
        Link(LinkKind.PUNISHES, unit, unit, edge.start, comes_first=True)
        for edge in edges
        if _is_own(edge) and (unit := article_unit(edge.document_id, edge.source))
    )
    return [Penalty(link, 1 / place) for place, link in enumerate(links, 1)]


def _of_breaches(
    store: Lookups, broken: Scores, kind: str, doing: Collection[str], admission: Admission
) -> list[Penalty]:
    """The penalties for breaches of articles, or those articles if they punish; best first."""
    # A penal provision may punish several breaches, each in its own item.
    best: dict[tuple[str, int], Penalty] = {}
    for unit in sorted(broken, key=lambda unit: -broken[unit])[:_FOLLOWED]:
        for edge, share in _best_lines(store, unit, kind, doing).values():
            if not admission.admits(edge.document_id):
                continue
            strength = broken[unit] * (1 + _REPEATS_DOING * share)
            penal = article_unit(edge.document_id, edge.source)
            known = best.get((penal, edge.start))
            if known is None or strength > known.strength:
                link = Link(LinkKind.PUNISHES, penal, unit, edge.start, comes_first=True)
                best[penal, edge.start] = Penalty(link, strength)
    ranked = sorted(best.values(), key=lambda penalty: -penalty.strength)
    return [penalty for penalty in ranked if penalty.strength >= _NEAR * ranked[0].strength]


def _best_lines(
    store: Lookups, unit: str, kind: str, doing: Collection[str]
) -> dict[str, tuple[Reference, float]]:
    """For each article punishing a breach, the edge whose line has most words of the offence."""
    of = target_of(unit)
    law_id, place = of.law_id, of.locator
    if not store.provision_exists(law_id, place):
        return {}
    edges = store.references_to(law_id, place, kind)
    if any(_is_own(edge) for edge in edges):
        edges = store.references_from(law_id, place, kind)
    direct = [edge for edge in edges if edge.detail != BY_ORDER]
    found: dict[str, tuple[Reference, float]] = {}
    for edge in direct or edges:
        line = store.at(edge.document_id, edge.source) if doing else None
        terms = set(analyzer().terms(line.text.partition("\n")[0])) if line else set()
        share = len(terms.intersection(doing)) / (len(doing) or 1)
        penal = article_unit(edge.document_id, edge.source)
        if penal not in found or share > found[penal][1]:
            found[penal] = edge, share
    return found


def _is_own(edge: Reference) -> bool:
    return edge.law_id == edge.document_id and edge.target == edge.source


# What implements a delegated point.
#
# An act says その他の有価証券で政令で定めるもの, and several provisions of its orders implement it.
# A question names the place, the words of the act, or its noun.

# Characters around 政令で定める searched for the noun asked for.
_AFTER = 20
# Weight of a point without its noun in the question (額 in いくらか).
_UNNAMED = 0.5
# Share of the question required in the act, unless the question asks for an order or cites the
# place.
_LEAST = 0.6
# Weight of a provision that implements another part than the one named, or no known point.
_ELSEWHERE = 0.5
# Weights of an order that implements the point, and of a paragraph with the question's words.
_REPEATS, _ABOUT = 0.5, 0.3
_LEAST_FIT = 0.2
# Weights if an order is asked for: of the point, by its noun, of the number of words that suffices,
# and of a noun found elsewhere than right behind.
_ASKED, _OF_NOUN, _ENOUGH, _SAME = 2.0, 0.6, 20, 0.8
# Characters before 政令で定める that make a quotation of the act; places at most.
_QUOTES, _FEW = 6, 3
_PROVISO = "ただし書"


class _Found(NamedTuple):
    """A provision that implements another one.

    Attributes:
        link: from its article to that of the other.
        place: its paragraph.
        point: the point it implements, or None if unknown.
        fit: how well it answers, above 0.
    """

    link: Link
    place: Locator
    point: Point | None
    fit: float


class Filler:
    """Finds the implementing provisions for one question.

    Args:
        store: the corpus store.
        admission: which documents may be found.
        reading: of the question.

    Attributes:
        events: notes for the user, after `links`.
    """

    def __init__(
        self,
        store: Lookups,
        admission: Admission,
        reading: Reading,
    ) -> None:
        self._store = store
        self._admission = admission
        self._question = reading.sought.text
        self._laws = [law_id for law in reading.laws for law_id in law.law_ids]
        self._asked = reading.orders
        # The words of the question without laws and provisions.
        self._words = _pairs(reading.beside)
        # The noun asked for. A provision that only delegates it again is no answer.
        self._needed = ""
        self.events: list[Fact] = []

    def links(self, seeds: Sequence[Seed]) -> list[Link]:
        """What implements the best seeds, and what implements that if it delegates again.

        Args:
            seeds: the provisions named, or else the best ones found, best first.

        Returns:
            At most two links; none if the question asks for no delegated point.
        """
        asked, further = (*self._asked, None, None)[:2]
        named = [seed for seed in seeds if seed.named] or self._quoted(asked, seeds)
        first = self._best(named or seeds, asked)
        if first is None:
            return []
        law_id = first.link.unit.rpartition("#")[0]
        self._needed = first.point.words.noun if first.point and asked else ""
        again = self._best([Seed(law_id, first.place, 1.0, named=False)], further)
        if again is None and further is not None:
            # One provision may delegate both.
            again = self._best(named or seeds, further)
        return [one.link for one in (first, again) if one is not None]

    def _quoted(self, asked: OrderAsked | None, seeds: Sequence[Seed]) -> list[Seed]:
        """The places with 政令で定める after the same words as in the question; none if many.

        Only the laws named are searched, or else those found by words.
        """
        if asked is None or not asked.before:
            return []
        longest, places = _QUOTES - 1, list[Seed]()
        for law_id in dict.fromkeys(self._laws or [seed.law_id for seed in seeds]):
            admitted = self._admission.admits(law_id)
            for point in points_left(self._store, law_id, Locator()) if admitted else ():
                is_left = point.reference.law_name == asked.instrument
                if not (is_left and point.words.after.startswith(asked.point[:1])):
                    continue
                same = same_before(asked.before, point.words.before)
                if same > longest:
                    longest, places = same, []
                if same == longest:
                    places.append(Seed(law_id, point.reference.source, 1.0, named=True))
        return places if len(places) <= _FEW else []

    def _best(self, seeds: Sequence[Seed], asked: OrderAsked | None) -> _Found | None:
        best: _Found | None = None
        for seed in seeds:
            article = article_of(seed.locator)
            points = points_left(self._store, seed.law_id, article)
            # A question citing the exact paragraph means every point it delegates.
            cited = seed.named and bool(points) and self._is_one_paragraph(seed)
            shares = self._shares(points, seed, asked, cited=cited)
            if asked is None and not shares:
                continue
            meant = _meant(shares, seed) if asked and seed.named else []
            filled = False
            for filling in fillings_of(self._store, seed.law_id, article, self._admission.admits):
                own = [point for point in points_of(filling, points) if point in shares]
                point = max(own, key=shares.__getitem__, default=None)
                if meant and point not in meant:
                    continue
                share = shares[point] if point else None
                fit = seed.strength * self._fit(seed, filling, asked, share, cited=cited)
                filled = filled or fit > 0
                if fit > (best.fit if best else 0.0):
                    link = Link(
                        LinkKind.FILLS,
                        article_unit(filling.reference.document_id, filling.place),
                        seed.unit,
                        filling.reference.start,
                        comes_first=asked is not None,
                        leaves=point.reference.start if point else -1,
                    )
                    best = _Found(link, filling.place, point, fit)
            provision = self._store.at(seed.law_id, seed.locator) if meant and not filled else None
            if provision:
                instrument = meant[0].reference.law_name
                self.events.append(
                    Fact(FactKind.NOT_FILLED_IN, provision=provision.header, instrument=instrument)
                )
        return best

    def _is_one_paragraph(self, seed: Seed) -> bool:
        place = seed.locator
        return (
            bool(place.paragraph)
            or len(self._store.locators(seed.law_id, article_of(place), PARAGRAPHS)) < 2
        )

    def _shares(
        self, points: Sequence[Point], seed: Seed, asked: OrderAsked | None, *, cited: bool
    ) -> dict[Point, float]:
        """How well each point of an article matches the question, 0 to 1.

        For a cited place without a mention of orders, all its points. Elsewhere points with
        matching words around them, and the point delegated again.
        """
        if asked is not None:
            return {point: _agreement(point, asked) for point in points}
        shares: dict[Point, float] = {}
        for point in points:
            noun, near = _noun(point), touch(seed.locator, point.reference.source)
            share = _held(self._words, f"{point.words.before} {point.words.after}")
            if near and noun and noun == self._needed:
                shares[point] = 1.0
            elif near and (cited or (noun and share >= _LEAST)):
                shares[point] = share * (1.0 if noun and noun in self._question else _UNNAMED)
        return shares

    def _fit(
        self,
        seed: Seed,
        filling: Filling,
        asked: OrderAsked | None,
        share: float | None,
        *,
        cited: bool,
    ) -> float:
        """How well a provision implements the point asked for; 0 for another point."""
        near = touch(seed.locator, filling.reference.target)
        if asked is None and not (near and (cited or share is not None)):
            return 0.0
        paragraph = self._store.at(filling.reference.document_id, filling.place)
        said = f"{paragraph.header}{paragraph.text}" if paragraph else ""
        # A question about the proviso excludes what implements the main sentence.
        exact = near and (_PROVISO not in self._question or filling.said.of_proviso)
        return (1.0 if exact else _ELSEWHERE) * (
            _LEAST_FIT
            + (_ASKED if asked else _REPEATS) * (share or 0.0)
            + _ABOUT * _held(self._words, said)
        )


def _meant(shares: Mapping[Point, float], seed: Seed) -> list[Point]:
    """Points of a cited place with their noun, or all words before, in the question."""
    return [
        point
        for point, share in shares.items()
        if share >= _OF_NOUN and touch(seed.locator, point.reference.source)
    ]


def _agreement(point: Point, asked: OrderAsked) -> float:
    """How well a point matches the question by its noun and the words before it, 0 to 1."""
    if asked.instrument and (asked.instrument == CABINET) != point.of_cabinet:
        return 0.0
    before, after = point.words.before, point.words.after
    # 政令で定める有価証券 equals 有価証券で政令で定めるもの.
    named = _held(_pairs(asked.point), f"{before[-_AFTER:]} {after[:_AFTER]}")
    noun = max(_SAME * named, float(after.startswith(asked.point)))
    words = min(same_before(asked.before, before), _ENOUGH) / _ENOUGH
    return _OF_NOUN * noun + (1 - _OF_NOUN) * words


def _noun(point: Point) -> str:
    return point.words.noun or point.words.noun_before


def _pairs(text: str) -> set[str]:
    """Pairs of meaningful letters: words without their inflection."""
    return {
        one + other
        for one, other in pairwise(normalize(text))
        if _carries_meaning(one) and _carries_meaning(other)
    }


def _carries_meaning(character: str) -> bool:
    return character.isalnum() and not "ぁ" <= character <= "ゖ"


def _held(asked: set[str], text: str) -> float:
    return len(asked & _pairs(text)) / len(asked) if asked else 1.0
