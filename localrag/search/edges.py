"""Step `expand`: what the law itself connects with the provisions found.

Indexing has found the edges between provisions (`localrag.corpus.links`); a question follows the
kinds that it wants. Who asks for a penalty wants what punishes; who asks what a term means, what
defines it; who asks for a point that an act leaves to an order, what fills it in. Of every
provision named or found, what it refers to and what refers to it gains.

Ordinary documents have no edges; what connects them is names. A page on a film names its director,
and the corpus has a page with that title: where a question asks in two steps ("where was the
director of … born?"), the second step stands there.
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
        """The article that it is, or belongs to."""
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
# How much of its strength a provision hands on along a reference.
_HANDED_ON = 0.4
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
    """Every unit connected with a seed.

    The connections of one kind share its strength: the more there are, the less each says.
    """
    for seed in seeds:
        for relations, look_up in (
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
            for kind, relation in relations.items():
                # In the order of the connections, which is the same in every process.
                found = (f"{c.document_id}#{c.article}" for c in connections if c.kind == kind)
                units = dict.fromkeys(found)
                strength = seed.strength * _HANDED_ON / sqrt(len(units) or 1)
                for unit in units:
                    if unit != seed.unit:
                        referring = seed.unit if relations is _FORWARD else unit
                        yield unit, Neighbour(strength, relation, seed.unit, referring)


def touch(one: Locator, other: Locator) -> bool:
    """Whether one of two places is the other or stands inside it."""
    return one.contains(other) or other.contains(one)


# What defines a term.

# The first so many are found for defining a term.
_MOST = 8


class Meaning(NamedTuple):
    """Where the term is defined that a question asks the meaning of.

    Attributes:
        term: as the question has it; empty where it asks for no meaning, or none is defined.
        definitions: best first.
        events: which laws define it, where several do.
        undefined: the term, where nothing but its meaning is asked for and no law defines it.
    """

    term: str = ""
    definitions: tuple[Definition, ...] = ()
    events: tuple[Fact, ...] = ()
    undefined: str = ""

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
    provision. Laws with the term in their titles come first, then acts.

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
            plainest.sort(key=partial(_rank, names, term))
            laws = tuple(dict.fromkeys(names.title(one.document_id) for one in plainest))
            several = Fact(FactKind.DEFINED_IN_SEVERAL, term=term, laws=laws)
            return Meaning(term, tuple(plainest[:_MOST]), (several,) if len(laws) > 1 else ())
    return Meaning(undefined=undefined) if undefined else NO_MEANING


def _rank(names: LawNames, term: str, one: Definition) -> tuple[bool, bool]:
    return term not in names.title(one.document_id), not names.is_act(one.document_id)


# What punishes a breach.

# Provisions found by their words that are followed to what punishes their breach.
_FOLLOWED = 10


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
