"""The penalty of a doing: where a question leads to a prohibition, what punishes its breach.

A statute forbids in one place and punishes in another: 第十七条の規定に違反した者は、…に処する. The
penal provision need not have a word of the question; that it cites what was found is the link.
Who asks for the penalties of a law and names no doing means all that it punishes.

Beside the doer nearly every act punishes the legal person for which he acted, in one provision for
all breaches: 行為者を罰するほか、その法人に対して…罰金刑を科する.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import Locator, Passage
from localrag.retrieval.query import analyzer
from localrag.retrieval.types import Link, LinkKind
from localrag.retrieval.units import Admission, Scores, article_unit

_PENAL = re.compile(
    r"(?:死刑|懲役|拘禁刑|禁錮|罰金|拘留|科料|過料)[^。\n]{0,40}(?:処し|処す|処せ|科し|科す|処断)"
)
# Of a law as a whole, what punishes: not who may not be licensed for having been punished.
_PUNISHING = re.compile(
    r"(?:死刑|懲役|拘禁刑|禁錮|罰金|拘留|科料|過料)[^。\n]{0,40}(?:[にニ]処(?:し、|する|ス)|を科する|断ずる)"
)
_PUNISHES_A_BODY = re.compile(
    r"(?:行為者|違反者)[をヲ]罰(?:する|スル)(?:の?ほか|の?外|ノ外)|法人(?:又は|若しくは)?[^。\n]{0,120}罰金刑を科する"
)
_ORDERS = re.compile("命ずることができる|命じることができる|命ずるものとする")
_ASIDE = re.compile("（[^（）]*+）")
# Provisions found by their words that are followed to what punishes their breach.
_FOLLOWED = 10
# What cites a provision more often is no penalty of it in particular.
_TOO_MANY = 400
# A breach of what is ordered under a provision is a breach of it only in the second place.
_BY_ORDER = 0.6
# What a penal provision gains that repeats every word of the question, beside the citation.
_REPEATS = 0.3
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
    store: Lookups, found: Scores, doing: Collection[str], admission: Admission
) -> list[Penalty]:
    """What punishes the best provisions found, or is one of them; the surest first.

    Args:
        store: where provisions and their references are.
        found: articles by how well their words, or the question naming them, agree with what is
            done, 0 to 1.
        doing: the terms of what is done.
        admission: which documents may be found.
    """
    # A penal provision may punish breaches of several of them, each in an item of its own.
    best: dict[tuple[str, int], Penalty] = {}
    units = sorted(found, key=lambda unit: -found[unit])[:_FOLLOWED]
    for unit, passage in store.by_ids(units).items():
        for penalty in _of(store, unit, passage, found[unit], doing):
            place = penalty.link.unit, penalty.link.position
            known = best.get(place)
            if known is not None and known.strength >= penalty.strength:
                continue
            if admission.admits(penalty.link.unit.partition("#")[0]):
                best[place] = penalty
    ranked = sorted(best.values(), key=lambda penalty: -penalty.strength)
    return [penalty for penalty in ranked if penalty.strength >= _NEAR * ranked[0].strength]


def of_laws(
    store: Lookups, law_ids: Collection[str], admission: Admission, *, of_a_body: bool
) -> list[Penalty]:
    """All that laws punish, in the order of their texts: the gravest breaches stand first.

    Args:
        store: where the provisions are.
        law_ids: of the laws.
        admission: which documents may be found.
        of_a_body: only what punishes the legal person beside the doer.
    """
    sought = _PUNISHES_A_BODY if of_a_body else _PUNISHING
    found = []
    for law_id in filter(admission.admits, law_ids):
        units = [f"{law_id}#{article}" for article in store.articles(law_id)]
        for unit, passage in store.by_ids(units).items():
            if punishing := sought.search(passage.text):
                position = passage.start + punishing.start()
                found.append(Link(LinkKind.PUNISHES, unit, unit, position, comes_first=True))
    return [Penalty(link, 1 / place) for place, link in enumerate(found, 1)]


def of_bodies(store: Lookups, penalties: Sequence[Penalty], admission: Admission) -> list[Penalty]:
    """What punishes the legal person for the same breaches; the surest first.

    Args:
        store: where the provisions and their references are.
        penalties: what punishes the doer, the surest first.
        admission: which documents may be found.

    Returns:
        The provisions that cite one of the penalties; where none does (前各条 is not always
        resolved), those of the law of the surest one; the penalties themselves where that law has
        none.
    """
    found: dict[str, Penalty] = {}
    passages = store.by_ids([penalty.link.unit for penalty in penalties])
    for penalty in penalties:
        penal = passages[penalty.link.unit]
        for one in _citing(store, penal):
            if _PUNISHES_A_BODY.search(one.text) and admission.admits(one.document_id):
                places = _citations(store, one, penal)
                position = places[0] if places else one.start
                link = Link(LinkKind.PUNISHES, one.id, penal.id, position, comes_first=True)
                found.setdefault(one.id, Penalty(link, penalty.strength))
    law_ids = [passages[penalty.link.unit].document_id for penalty in penalties[:1]]
    found_in_law = [] if found else of_laws(store, law_ids, admission, of_a_body=True)
    return list(found.values()) or found_in_law or list(penalties)


def _of(
    store: Lookups, unit: str, passage: Passage, strength: float, doing: Collection[str]
) -> Iterator[Penalty]:
    if _is_penal(passage):
        lines = accumulate(passage.text.splitlines(keepends=True), initial="")
        starts = [passage.start + len(before) for before in lines][:-1]
        yield _penalty(passage, starts, unit, strength, doing)
        return
    citing = _citing(store, passage)
    penal = [one for one in citing if _is_penal(one)]
    for one in penal:
        yield _penalty(one, _citations(store, one, passage), unit, strength, doing)
    for order in () if penal else filter(_is_order, citing):
        for one in filter(_is_penal, _citing(store, order)):
            places = _citations(store, one, order)
            yield _penalty(one, places, unit, strength * _BY_ORDER, doing)


def _citing(store: Lookups, passage: Passage) -> list[Passage]:
    """The articles that cite this one, of the main provisions, in the order of the text."""
    article = Locator(passage.locator.division, passage.locator.article)
    connections = store.connections_to(passage.document_id, article, _TOO_MANY)
    if len(connections) == _TOO_MANY:
        return []
    units = {
        f"{one.document_id}#{one.article}": None for one in connections if _is_main(one.article)
    }
    units.pop(passage.id, None)
    return sorted(store.by_ids(units).values(), key=lambda one: (one.document_id, one.start))


def _is_penal(passage: Passage) -> bool:
    return _PENAL.search(passage.text) is not None


def _is_order(passage: Passage) -> bool:
    return _ORDERS.search(passage.text) is not None


def _is_main(article: str) -> bool:
    return not Locator.parse(article).division.startswith("suppl")


def _penalty(
    penal: Passage, places: Sequence[int], other: str, strength: float, doing: Collection[str]
) -> Penalty:
    """The penal provision, at the one of some places with most words of what is done around it."""
    best, position = 0.0, places[0] if places else penal.start
    for start in places:
        line, inside = _line(penal.text, start - penal.start)
        terms = set() if inside else set(analyzer().terms(line))
        share = len(terms.intersection(doing)) / (len(doing) or 1)
        if share > best:
            best, position = share, start
    link = Link(LinkKind.PUNISHES, penal.id, other, position, comes_first=True)
    return Penalty(link, strength * (1 + _REPEATS * best))


def _citations(store: Lookups, penal: Passage, cited: Passage) -> Sequence[int]:
    unit = article_unit(cited.document_id, cited.locator)
    references = store.references_from(penal.document_id, penal.locator)
    return [
        reference.start
        for reference in references
        if any(
            article_unit(reference.law_id, target) == unit
            for target in (reference.target, reference.target_end)
            if target is not None
        )
    ]


def _line(text: str, position: int) -> tuple[str, bool]:
    """The paragraph or item around a place without its asides, and whether it is in one of them.

    An aside tells what the breach led to, and cites what else was broken.
    """
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line, before = text[start : end if end >= 0 else None], text[start:position]
    return _ASIDE.sub("", _ASIDE.sub("", line)), before.count("（") > before.count("）")
