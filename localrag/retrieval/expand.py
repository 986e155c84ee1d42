"""Stage `expand`: what the law itself connects with the provisions found.

An act says 政令で定める and the answer stands in the order; a prohibition says 前条 and its limits
stand there. The stage follows the references of the provisions named in the question and of the
best ones found, in both directions, one step far.

Ordinary documents have no references; what connects them is names. A page on a film names its
director, and the corpus has a page with that title: where a question asks in two steps ("where was
the director of … born?"), the second step stands there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from localrag.corpus.links import Connection
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import PASSAGES, Locator
from localrag.facts import FactKind
from localrag.retrieval.search import Titles
from localrag.retrieval.types import Hit
from localrag.retrieval.units import Admission, Scores, article_unit, target_of
from localrag.statutes.references import APPLIES, DELEGATED_BY, REFERS

STAGE = "expand"

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
_TOO_MANY = 400


LookUp = Callable[[str, Locator, int], list[Connection]]


@dataclass(frozen=True, slots=True)
class Seed:
    """A provision to expand from.

    Attributes:
        locator: the place named, or the article found.
        strength: 0 to 1.
        named: whether the question names it.
    """

    law_id: str
    locator: Locator
    strength: float
    named: bool


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
    """The units connected with the seeds, each by its strongest connection."""
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
        best: units to expand from; what is no passage of an ordinary document is passed over.
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
        own = article_unit(seed.law_id, seed.locator)
        for weights, look_up in (
            (_FORWARD, store.connections_from),
            (_BACKWARD, store.connections_to),
        ):
            connections = _connections(seed, look_up)
            for unit, (weight, relation) in _weighted(seed.locator, weights, connections).items():
                if unit != own:
                    referring = own if weights is _FORWARD else unit
                    yield unit, Neighbour(seed.strength * weight, relation, own, referring)


def _connections(seed: Seed, look_up: LookUp) -> list[Connection]:
    """The connections of the seed's article; of the place alone where the article has too many.

    What half the law refers to, a definition or a penalty, leads nowhere in particular.
    """
    article = Locator(seed.locator.division, seed.locator.article)
    for place in dict.fromkeys((article, seed.locator)):
        connections = look_up(seed.law_id, place, _TOO_MANY)
        if len(connections) < _TOO_MANY:
            return connections
    return []


def _weighted(
    named: Locator,
    weights: Mapping[str, tuple[float, FactKind]],
    connections: Sequence[Connection],
) -> dict[str, tuple[float, FactKind]]:
    """Weight and relation of the strongest connection with every unit.

    The connections of one kind share their weight, those with the place named and those with
    the rest of its article apart: the more there are, the less each of them says.
    """
    place = named.path
    # Units in the order of the connections: what is found alike keeps one order in every process.
    groups: dict[tuple[str, bool], dict[str, None]] = {}
    for connection in connections:
        group = connection.kind, _touches(place, connection.place)
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


def _touches(place: str, other: str) -> bool:
    """Whether one of two paths is the other or stands inside it."""
    return f"{place}.".startswith(f"{other}.") or f"{other}.".startswith(f"{place}.")
