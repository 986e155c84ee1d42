"""Step `expand`: what the law itself connects with the provisions found.

Indexing has found the edges between provisions (`localrag.corpus.links`); a question follows the
kinds that it wants. Who asks for a penalty wants what punishes; who asks what a term means, what
defines it; who asks for a point that an act leaves to an order, what fills it in. Of every
provision named or found, what it refers to and what refers to it gains.

Ordinary documents have no edges; what connects them is names. A page on a film names its director,
and the corpus has a page with that title: where a question asks in two steps ("where was the
director of … born?"), the second step stands there.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple, Self

from localrag.corpus.links import (
    APPLIES,
    DELEGATED_BY,
    PUNISHES,
    PUNISHES_A_BODY,
    REFERS,
    Connection,
    Definition,
    Reference,
)
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import PARAGRAPHS, PASSAGES, Locator
from localrag.facts import Fact, FactKind
from localrag.question.asked import OrderAsked, term_alone_asked, terms_asked
from localrag.retrieval.query import analyzer
from localrag.retrieval.scope import Scope
from localrag.retrieval.titles import Titles
from localrag.retrieval.types import Hit, Link, LinkKind
from localrag.retrieval.units import Admission, Scores, article_unit, target_of
from localrag.statutes.delegations import (
    CABINET,
    CABINET_TYPES,
    Filling,
    Point,
    article_of,
    fillings_of,
    points_left,
    points_of,
    same_before,
)
from localrag.statutes.names import LawNames
from localrag.statutes.penal import BY_ORDER
from localrag_indexes.analysis.normalize import normalize

if TYPE_CHECKING:
    from localrag.retrieval.reading import Reading

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
        """The article that it is, or belongs to."""
        return article_unit(self.law_id, self.locator)


# References, and the pages that a page names.

# How much of its strength a provision hands on along a reference, by kind and direction. An order
# that fills a provision in (delegated-by, followed backwards) is nearly part of it.
_FORWARD = {
    REFERS: (0.4, FactKind.REFERRED_TO_BY),
    APPLIES: (0.4, FactKind.APPLIED_BY),
    DELEGATED_BY: (0.6, FactKind.FILLED_IN_BY),
}
_BACKWARD = {
    REFERS: (0.4, FactKind.REFERS_TO),
    APPLIES: (0.3, FactKind.APPLIES),
    DELEGATED_BY: (1.0, FactKind.FILLS_IN),
}
# A reference to another paragraph than the one named says less.
_ELSEWHERE_IN_ARTICLE = 0.5
# What half the law refers to, a definition or a penalty, leads nowhere in particular.
_TOO_MANY = 400


@dataclass(frozen=True, slots=True)
class Neighbour:
    """How strongly a unit is connected with the seeds, and how.

    Attributes:
        relation: the kind of the fact that gives it as a reason.
        other: the unit it is connected with.
        referring: which of the two refers to the other; "" where neither does.
    """

    strength: float
    relation: FactKind
    other: str
    referring: str = ""


def neighbours(
    store: Lookups, seeds: Sequence[Seed], admission: Admission
) -> Mapping[str, Neighbour]:
    """The units that refer to the seeds or are referred to, each by its strongest reference."""
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
    """Read the references that hits came by, of the hundreds that were weighed.

    Raises:
        StoreError: one of them is not what was stored.
    """
    units = (article_unit(hit.passage.document_id, hit.passage.locator) for hit in hits)
    for referring in {reached[unit].referring for unit in units if unit in reached} - {""}:
        target = target_of(referring)
        store.references_from(target.law_id, target.locator)


def pages_named(
    store: Lookups, titles: Titles, best: Sequence[str], found: Scores, admission: Admission
) -> Mapping[str, Neighbour]:
    """The units of the documents whose titles stand in the text of units found.

    A unit hands on its whole strength, shared among the documents it names. Of a document of which
    passages were found the best is its unit, else its first.

    Args:
        store: the corpus.
        titles: of its documents.
        best: units to start from; what is no passage of an ordinary document is passed over.
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
    for seed in seeds:
        for weights, look_up in (
            (_FORWARD, store.connections_from),
            (_BACKWARD, store.connections_to),
        ):
            # All of the article, or those of the place alone where it has too many.
            for place in (article_of(seed.locator), seed.locator):
                connections = look_up(seed.law_id, place, _TOO_MANY)
                if len(connections) < _TOO_MANY:
                    break
            else:
                continue
            for unit, (weight, relation) in _weighted(seed.locator, weights, connections).items():
                if unit != seed.unit:
                    referring = seed.unit if weights is _FORWARD else unit
                    yield unit, Neighbour(seed.strength * weight, relation, seed.unit, referring)


def _weighted(
    named: Locator,
    weights: Mapping[str, tuple[float, FactKind]],
    connections: Sequence[Connection],
) -> dict[str, tuple[float, FactKind]]:
    """Weight and relation of the strongest connection with every unit.

    The connections of one kind share their weight, those with the place named and those with
    the rest of its article apart: the more there are, the less each of them says.
    """
    # Units in the order of the connections: what is found alike keeps one order in every process.
    groups: dict[tuple[str, bool], dict[str, None]] = {}
    for connection in connections:
        group = connection.kind, _touch(named, Locator.parse(connection.place))
        groups.setdefault(group, {})[f"{connection.document_id}#{connection.article}"] = None
    found: dict[str, tuple[float, FactKind]] = {}
    for (kind, exact), units in groups.items():
        if kind not in weights:
            continue
        weight, relation = weights[kind]
        weight *= (1.0 if exact else _ELSEWHERE_IN_ARTICLE) / sqrt(len(units))
        for unit in units:
            if unit not in found or weight > found[unit][0]:
                found[unit] = weight, relation
    return found


def _touch(one: Locator, other: Locator) -> bool:
    return one.contains(other) or other.contains(one)


# What defines a term.

# The first so many are provisions that the question names; of the others it is only told.
_MOST = 8
# Characters between a term and the provision that it is taken from, at most:
# 営業秘密（不正競争防止法（平成五年法律第四十七号）第二条第六項に規定する営業秘密をいう。）.
_TAKEN_WITHIN = 80
# A term of one character stands in the title of many laws (物, 人).
_SHORTEST_SUBJECT = 2


class Meaning(NamedTuple):
    """Where the term is defined that a question asks the meaning of.

    Attributes:
        term: as the question has it; empty where it asks for no meaning, or none is defined.
        main: the definitions in the laws whose term it is before others, best first.
        others: the definitions in other laws, best first.
        events: which laws define it, where several do.
        undefined: the term, where nothing but its meaning is asked for and no law defines it.
    """

    term: str = ""
    main: tuple[Definition, ...] = ()
    others: tuple[Definition, ...] = ()
    events: tuple[Fact, ...] = ()
    undefined: str = ""

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """All of them, best first."""
        return self.main + self.others

    @property
    def units(self) -> tuple[str, ...]:
        """The units that they stand in, best first, each once."""
        units = (article_unit(one.document_id, one.locator) for one in self.definitions)
        return tuple(dict.fromkeys(units))


NO_MEANING = Meaning()
"""Of a question for something else."""


def meaning_asked(
    store: Lookups, names: LawNames, question: str, admission: Admission, scope: Scope
) -> Meaning:
    """Find the definitions of the term that a question asks the meaning of, in main provisions.

    What says the meaning alone, and for the whole law, is the answer, where there is such a
    provision.

    Args:
        store: where they are.
        names: of the laws.
        question: without the names of laws.
        admission: which documents may be found.
        scope: the laws that the question names; where it names some, what they define counts alone.
    """
    undefined = term_alone_asked(question)
    for term in terms_asked(question):
        anywhere = store.definitions_of(term)
        undefined = "" if anywhere else undefined
        defined = [
            one
            for one in anywhere
            if not one.locator.division
            and not scope.is_beside(one.document_id)
            and admission.admits(one.document_id)
        ]
        if defined:
            least = min(one.aside for one in defined)
            plainest = [one for one in defined if one.aside == least]
            return _ranked(store, names, term, plainest)
    return Meaning(undefined=undefined) if undefined else NO_MEANING


def _ranked(store: Lookups, names: LawNames, term: str, defined: Sequence[Definition]) -> Meaning:
    """First the laws about the thing itself, then those whose term others take over, then acts.

    A law that takes a term as another provision defines it says nothing of what it means.
    """
    taken = _taken(store, defined)
    own = [one for one in defined if one not in taken] or list(defined)
    takers = Counter(taken.values())

    def rank(one: Definition) -> tuple[bool, int, bool]:
        subject = len(term) >= _SHORTEST_SUBJECT and term in names.title(one.document_id)
        return not subject, -takers[one], not names.is_act(one.document_id)

    own.sort(key=rank)
    best = rank(own[0])
    main = [one for one in own if rank(one) == best]
    laws = tuple(dict.fromkeys(names.title(one.document_id) for one in own))
    events = (Fact(FactKind.DEFINED_IN_SEVERAL, term=term, laws=laws),) if len(laws) > 1 else ()
    return Meaning(term, tuple(main[:_MOST]), tuple(own[len(main) : _MOST]), events)


def _taken(store: Lookups, defined: Collection[Definition]) -> dict[Definition, Definition]:
    """The definitions that refer to another one right behind their term, and which that is."""
    if len(defined) == 1:
        return {}
    taken: dict[Definition, Definition] = {}
    for one in defined:
        for reference in store.references_from(one.document_id, one.locator):
            if not 0 <= reference.start - one.end <= _TAKEN_WITHIN:
                continue
            for other in defined:
                of_its_law = other != one and reference.law_id == other.document_id
                if of_its_law and _touch(reference.target, other.locator):
                    taken.setdefault(one, other)
    return taken


# What punishes a breach.

# Provisions found by their words that are followed to what punishes their breach.
_FOLLOWED = 10
# A breach of what is ordered under a provision is a breach of it only in the second place.
_BY_ORDER = 0.6
# What a penal provision gains that repeats every word of the question, beside the citation.
_REPEATS_DOING = 0.3
# What is less sure than this share of the surest is not meant.
_NEAR = 0.7


class Penalty(NamedTuple):
    """A penal provision that the question leads to.

    Attributes:
        link: of the provision with the one whose breach it punishes; with itself where it says
            what is punished.
        strength: how surely it is meant, 0 to 1.3.
    """

    link: Link
    strength: float


def penalties(
    store: Lookups, reading: "Reading", doing: Collection[str], found: Scores, admission: Admission
) -> list[Penalty]:
    """What punishes what a question tells, the surest first.

    That is all that the laws punish which it names with no doing, in the order of their texts; else
    what punishes the best provisions found, or is one of them. Where the legal person is asked for,
    for which the doer acted, it is what punishes that beside the doer, if anything does.

    Args:
        store: where the provisions are.
        reading: of the question, which asks for a penalty.
        doing: the terms of what is done.
        found: articles by how well their words agree with what is done, 0 to 1.
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
        # 前各条の違反行為 is not always resolved: what the law of the surest one has stands in.
        _of_breaches(store, punished, PUNISHES_A_BODY, (), admission)
        or _of_laws(store, [surest], PUNISHES_A_BODY)
        or of_doers
    )


def _of_laws(store: Lookups, law_ids: Iterable[str], kind: str) -> list[Penalty]:
    """All that laws punish, in the order of their texts: the gravest breaches stand first."""
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
    """What punishes the breach of the best of some articles, or is one of them; surest first."""
    # A penal provision may punish breaches of several of them, each in an item of its own.
    best: dict[tuple[str, int], Penalty] = {}
    for unit in sorted(broken, key=lambda unit: -broken[unit])[:_FOLLOWED]:
        for edge, share in _best_lines(store, unit, kind, doing).values():
            if not admission.admits(edge.document_id):
                continue
            strength = broken[unit] * (1 + _REPEATS_DOING * share)
            strength *= _BY_ORDER if edge.detail == BY_ORDER else 1
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
    """Of each article that punishes a breach of one the edge whose line has most words of it."""
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
    """Whether it says that the article itself punishes."""
    return edge.law_id == edge.document_id and edge.target == edge.source


# What fills in what is left to an order.

# Characters on both sides of 政令で定める in which the noun asked for may stand.
_AFTER = 20
# How far a point is asked for whose noun the question does not have (額 in いくらか).
_UNNAMED = 0.5
# Of the question so much must stand where the act leaves a point to an order, unless it asks for
# an order, cites the place or asks for a figure.
_LEAST = 0.6
# What a provision counts that fills in another part than the one named, or no point of it.
_ELSEWHERE = 0.5
# How much counts that an order fills in the point, that its
# paragraph has the words of the question, and that these words have found it.
_REPEATS, _ABOUT, _IS_FOUND = 0.5, 0.3, 0.3
_LEAST_FIT = 0.2
# Where an order is asked for its point counts more: so far by its noun, else by the words before
# it, of which so many tell enough. A noun that stands elsewhere than right behind counts less.
_ASKED, _OF_NOUN, _ENOUGH, _SAME = 2.0, 0.6, 20, 0.8
# So many characters of the act before 政令で定める a question has that quotes it; and in so many
# places at most.
_QUOTES, _FEW = 6, 3
_PROVISO = "ただし書"


class _Words(NamedTuple):
    """The words of a question, for what they share with a text.

    Attributes:
        own: the pairs of its letters, but for everyday words.
        everyday: for each everyday word its pairs, and those of each phrase of statutes for it.
    """

    own: set[str]
    everyday: list[list[set[str]]]

    @classmethod
    def of(cls, reading: "Reading") -> Self:
        """The words of a question without the laws and provisions that it names."""
        said = [_pairs(one.said) for one in reading.everyday]
        own = _pairs(reading.beside).difference(*said)
        return cls(own, [[_pairs(x) for x in (one.said, *one.phrases)] for one in reading.everyday])

    def share(self, text: str) -> float:
        """The share of the words that a text has; of none it has all."""
        pairs = _pairs(text)
        total = len(self.own) + sum(len(one[0]) for one in self.everyday)
        held: float = len(self.own & pairs)
        for said, *phrases in self.everyday:
            best = max(len(one & pairs) / (len(one) or 1) for one in (said, *phrases))
            held += len(said) * best
        return held / total if total else 1.0


class _Found(NamedTuple):
    """What fills in a provision.

    Attributes:
        link: its article, tied to that of the provision.
        place: its paragraph.
        point: what it fills in; None where that is not known.
        fit: how well it answers, more than 0.
    """

    link: Link
    place: Locator
    point: Point | None
    fit: float


class Filler:
    """Finds what fills in the provisions that one question leads to.

    Args:
        store: where provisions and their edges are.
        names: of the laws.
        admission: which documents may be found.
        reading: of the question.
        found: articles by how well their words agree with the question, 0 to 1.

    Attributes:
        events: what of it the user should know, once the links were looked for.
    """

    def __init__(
        self,
        store: Lookups,
        names: LawNames,
        admission: Admission,
        reading: "Reading",
        found: Scores,
    ) -> None:
        self._store = store
        self._names = names
        self._admission = admission
        self._question = reading.sought.text
        self._laws = [law_id for law in reading.laws for law_id in law.law_ids]
        self._asked = reading.orders
        self._figure = reading.figure
        self._words = _Words.of(reading)
        self._found = found
        # The noun asked for: what says it only by leaving it again is no answer.
        self._needed = ""
        self.events: list[Fact] = []

    def links(self, seeds: Sequence[Seed]) -> list[Link]:
        """What fills in the best of the seeds, and what fills that in if it leaves the point again.

        Args:
            seeds: the provisions named, or else the best ones found, best first.

        Returns:
            At most two links; none where the question does not ask for what is left to an order.
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
            # Both may be left by one provision.
            again = self._best(named or seeds, further)
        return [one.link for one in (first, again) if one is not None]

    def _quoted(self, asked: OrderAsked | None, seeds: Sequence[Seed]) -> list[Seed]:
        """The places that say 政令で定める behind the same words as the question; none if many.

        They are looked for in the laws that it names, or else in those that its words have found.
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
            # A question that names the very paragraph names all that it leaves to an order.
            cited = seed.named and bool(points) and self._is_one_paragraph(seed)
            shares = self._shares(points, seed, asked, cited=cited)
            if asked is None and not shares:
                continue
            meant = _meant(shares, seed) if asked and seed.named else []
            filled = False
            for filling in fillings_of(
                self._store, seed.law_id, article, lambda order: self._admits(order, asked)
            ):
                own = [point for point in points_of(filling, points) if point in shares]
                point = max(own, key=shares.__getitem__, default=None)
                if meant and point not in meant:
                    continue
                share = shares[point] if point else self._unmatched(filling, points, shares, asked)
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
        """How far each point of an article is asked for, 0 to 1; those that may be asked for.

        Where the question asks for no order, those are all of a place that it cites; elsewhere
        those with its words around them, those that are figures, where it asks for a figure, and
        that which was asked for and is left again.
        """
        if asked is not None:
            return {point: _agreement(point, asked) for point in points}
        shares: dict[Point, float] = {}
        for point in points:
            noun, near = _noun(point), _touch(seed.locator, point.reference.source)
            share = self._words.share(f"{point.words.before} {point.words.after}")
            is_figure = self._figure is not None and self._figure.is_called(noun)
            if near and noun and noun == self._needed:
                shares[point] = 1.0
            elif near and (cited or (noun and (share >= _LEAST or is_figure))):
                shares[point] = share * (1.0 if noun and noun in self._question else _UNNAMED)
        return shares

    def _unmatched(
        self,
        filling: Filling,
        points: Sequence[Point],
        shares: Mapping[Point, float],
        asked: OrderAsked | None,
    ) -> float | None:
        """How far what no point is found for fills in what is asked for; None where not at all.

        For a figure it may say what else the act calls it: 基礎額, which is 政令で定める金額.
        """
        if asked is not None:
            none = not points_of(filling, points)
            return _ELSEWHERE * _held(_pairs(asked.point), filling.said.subject) if none else None
        figure = self._figure
        if figure is None or not figure.is_called(filling.said.subject):
            return None
        return max(
            (share for point, share in shares.items() if figure.is_called(_noun(point))),
            default=None,
        )

    def _admits(self, order: str, asked: OrderAsked | None) -> bool:
        if not self._admission.admits(order):
            return False
        if asked is None or not asked.instrument:
            return True
        return (self._names.law_type(order) in CABINET_TYPES) == (asked.instrument == CABINET)

    def _fit(
        self,
        seed: Seed,
        filling: Filling,
        asked: OrderAsked | None,
        share: float | None,
        *,
        cited: bool,
    ) -> float:
        """How well a provision fills in the point asked for; 0 where it fills in another one."""
        near = _touch(seed.locator, filling.reference.target)
        if asked is None and not (near and (cited or share is not None)):
            return 0.0
        paragraph = self._store.at(filling.reference.document_id, filling.place)
        said = f"{paragraph.header}{paragraph.text}" if paragraph else ""
        unit = article_unit(filling.reference.document_id, filling.place)
        # Who names the proviso of a place means none of what fills in the rest of it.
        exact = near and (_PROVISO not in self._question or filling.said.of_proviso)
        return (1.0 if exact else _ELSEWHERE) * (
            _LEAST_FIT
            + (_ASKED if asked else _REPEATS) * (share or 0.0)
            + _ABOUT * self._words.share(said)
            + _IS_FOUND * self._found.get(unit, 0.0)
        )


def _meant(shares: Mapping[Point, float], seed: Seed) -> list[Point]:
    """The points of a place cited whose noun, or all of whose words before, the question has."""
    return [
        point
        for point, share in shares.items()
        if share >= _OF_NOUN and _touch(seed.locator, point.reference.source)
    ]


def _agreement(point: Point, asked: OrderAsked) -> float:
    """How far a question asks for a point by the noun and the words before it, 0 to 1."""
    if asked.instrument and (asked.instrument == CABINET) != point.of_cabinet:
        return 0.0
    before, after = point.words.before, point.words.after
    # 政令で定める有価証券 is 有価証券で政令で定めるもの.
    named = _held(_pairs(asked.point), f"{before[-_AFTER:]} {after[:_AFTER]}")
    noun = max(_SAME * named, float(after.startswith(asked.point)))
    words = min(same_before(asked.before, before), _ENOUGH) / _ENOUGH
    return _OF_NOUN * noun + (1 - _OF_NOUN) * words


def _noun(point: Point) -> str:
    return point.words.noun or point.words.noun_before


def _pairs(text: str) -> set[str]:
    """The pairs of letters of a text that carry meaning: words without their inflection."""
    return {
        one + other
        for one, other in pairwise(normalize(text))
        if _carries_meaning(one) and _carries_meaning(other)
    }


def _carries_meaning(character: str) -> bool:
    return character.isalnum() and not "ぁ" <= character <= "ゖ"


def _held(asked: set[str], text: str) -> float:
    """The share of the pairs asked for that a text has; of none it has all."""
    return len(asked & _pairs(text)) / len(asked) if asked else 1.0
