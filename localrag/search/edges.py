"""Step `expand`: provisions connected with those found.

Edges between provisions are found when indexing (`localrag.corpus.links`). A question follows the
kinds it needs: for a penalty, what punishes; for a term, what defines it; for a delegated point,
what implements it. References raise both ends.

Ordinary documents have no edges but names. The page of a film names its director, and the corpus
has a page with that title: a two-step question ("where was the director of … born?") needs both.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from localrag.corpus.links import (
    APPLIES,
    BY_ORDER,
    DELEGATED_BY,
    PUNISHES,
    PUNISHES_A_BODY,
    REFERS,
    Definition,
    Reference,
)
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import PASSAGES, Locator
from localrag.law.delegations import article_of
from localrag.law.names import LawNames
from localrag.search.query import analyzer
from localrag.search.question.asked import term_alone_asked, terms_asked
from localrag.search.scope import Scope
from localrag.search.search import Titles
from localrag.search.types import Hit, Link, LinkKind
from localrag.search.units import Admission, Scores, article_unit, target_of
from localrag.text.facts import Fact, FactKind

if TYPE_CHECKING:
    from localrag.search.reading import Reading

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
    """Units that refer to the seeds or are referred to, each by its strongest reference."""
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


# What defines a term.

# At most this many definitions of a term.
_MOST = 8


class Meaning(NamedTuple):
    """Definitions of the term asked about.

    Attributes:
        term: as in the question; "" if it asks for no meaning, or no definition was found.
        definitions: best first.
        events: a note on the laws defining it, if several do.
        undefined: the term, if only its meaning is asked for and no law defines it.
    """

    term: str = ""
    definitions: tuple[Definition, ...] = ()
    events: tuple[Fact, ...] = ()
    undefined: str = ""

    @property
    def units(self) -> tuple[str, ...]:
        """Their units, best first, each once."""
        units = (article_unit(one.document_id, one.locator) for one in self.definitions)
        return tuple(dict.fromkeys(units))


NO_MEANING = Meaning()
"""For questions about something else."""


def meaning_asked(
    store: Lookups, names: LawNames, question: str, admission: Admission, scope: Scope
) -> Meaning:
    """Find the definitions of the term asked about, in main provisions.

    A definition for the whole law in a provision of its own is the answer. Laws with the term in
    their titles come first, then acts.

    Args:
        store: the corpus store.
        names: of the laws.
        question: without names of laws.
        admission: which documents may be found.
        scope: the laws named; if any, only their definitions count.
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
            plainest.sort(key=partial(_rank, names, term))
            laws = tuple(dict.fromkeys(names.title(one.document_id) for one in plainest))
            several = Fact(FactKind.DEFINED_IN_SEVERAL, term=term, laws=laws)
            return Meaning(term, tuple(plainest[:_MOST]), (several,) if len(laws) > 1 else ())
    return Meaning(undefined=undefined) if undefined else NO_MEANING


def _rank(names: LawNames, term: str, one: Definition) -> tuple[bool, bool]:
    return term not in names.title(one.document_id), not names.is_act(one.document_id)


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
