"""The places that somebody can mean by what is typed so far: provisions, laws, documents."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.corpus.types import Locator, Passage
from localrag.language import _
from localrag_tui.shown import one_line
from localrag_tui.spot import Spot

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.statutes.names import LawNames
    from localrag.statutes.resolver import Resolution, Target

_LIMIT = 20
# Nothing in a corpus is called so: what was pasted by mistake is not searched for.
_LONGEST = 500
_PREVIEW = 300
_PLACE = re.compile(r"第?[0-9０-９〇一二三四五六七八九十百千]|附則|別表|様式|前文")


@dataclass(frozen=True, slots=True)
class Offer:
    """A place that can be meant.

    Attributes:
        title: the name that fits, or the provision as printed.
        note: what else tells what it is: the title of the law, its number, the id of a document.
        preview: how it begins.
    """

    spot: Spot
    title: str
    note: str = ""
    preview: str = ""


@dataclass(frozen=True, slots=True)
class PlacesFound:
    """What a look-up found.

    Attributes:
        offers: the likeliest first.
        certain: whether the first may be taken unseen: what is cited is one provision.
        cause, cure: why nothing is called so, and what there is; empty where something is.
        complete: whether all titles of documents were looked at.
    """

    offers: tuple[Offer, ...] = ()
    certain: bool = False
    cause: str = ""
    cure: str = ""
    complete: bool = True


def look_up(store: "CorpusStore", names: "LawNames", typed: str, law_id: str = "") -> PlacesFound:
    """Find the places that are called so.

    Args:
        store: the corpus.
        names: its laws.
        typed: a citation, a law's name or number, a subject, a title, an id; or a part of a name.
        law_id: the law that is read, which a bare 第三条 is of.
    """
    typed = typed.strip()
    if not typed or len(typed) > _LONGEST:
        return PlacesFound()
    place_alone = law_id in names.rows and _PLACE.match(typed)
    written = f"{names.title(law_id)} {typed}" if place_alone else typed
    resolutions = _resolutions(store, names, written)
    missing = [resolution for resolution in resolutions if resolution.problem]
    targets = [target for one in resolutions for target in one.candidates if target.locator.path]
    if missing:
        targets = []
    provisions = [*_provisions(store, names, targets), *_branches(store, names, targets)]
    laws = list(_laws(store, names, typed))
    titled = store.titled(typed, _LIMIT)
    others = [Offer(Spot(id_), title, id_ if id_ != title else "") for id_, title in titled.found]
    offers = _distinct([*provisions, *laws, *_known(store, names, typed), *others])
    if missing and not offers:
        return _missing(store, names, missing)
    certain = bool(offers) and len(targets) <= 1
    return PlacesFound(tuple(offers[:_LIMIT]), certain, complete=titled.complete)


def _resolutions(store: "CorpusStore", names: "LawNames", written: str) -> "tuple[Resolution, ...]":
    from localrag.statutes.provisions import StoredProvisions
    from localrag.statutes.resolver import parse_target

    return parse_target(written, names, StoredProvisions(store, names))


def _provisions(
    store: "CorpusStore", names: "LawNames", targets: Iterable["Target"]
) -> Iterator[Offer]:
    for target in list(targets)[:_LIMIT]:
        passage = store.at(target.law_id, target.locator)
        if passage is not None:
            yield _offer(passage, names)
        else:
            yield Offer(Spot(target.law_id), names.title(target.law_id))


def _branches(
    store: "CorpusStore", names: "LawNames", targets: Sequence["Target"]
) -> Iterator[Offer]:
    """Of an article alone, those whose numbers go on from its own: 第二十七条の二 of 第二十七条."""
    if len(targets) != 1 or targets[0].locator.paragraph or not targets[0].locator.article:
        return
    law_id, place = targets[0].law_id, targets[0].locator
    branches = [
        number
        for number in store.articles(law_id, place.division)
        if number.startswith(f"{place.article}_")
    ]
    for number in branches[: _LIMIT - 1]:
        passage = store.at(law_id, Locator(place.division, number))
        if passage is not None:
            # Of which law is said above it.
            yield replace(_offer(passage, names), note="")


def _laws(store: "CorpusStore", names: "LawNames", typed: str) -> Iterator[Offer]:
    from localrag.statutes.names import suggest

    for law in suggest(names, typed, _LIMIT):
        number = names.rows[law.law_id].law_num
        date = store.document(law.law_id).metadata.get("date", "")
        preview = "　".join(filter(None, (number, date)))
        by_title = law.matched == law.title
        note = number if by_title else law.title
        yield Offer(Spot(law.law_id), law.matched, note, preview)


def _known(store: "CorpusStore", names: "LawNames", typed: str) -> Iterator[Offer]:
    """A passage by its id; the subjects of triples by their name."""
    if (passage := store.by_id(typed)) is not None:
        yield _offer(passage, names)
    for subject in store.knowledge.subjects(typed)[:_LIMIT]:
        for known in store.knowledge.about(subject, 1):
            if (passage := store.by_id(known.passage_id)) is not None:
                yield _offer(passage, names)


def _missing(store: "CorpusStore", names: "LawNames", missing: "list[Resolution]") -> PlacesFound:
    """Say what is missing, and offer what there is around it."""
    from localrag.provision import around

    nearest = [target for resolution in missing for target in around(store, resolution)]
    return PlacesFound(tuple(_provisions(store, names, nearest)), cause=_cause(store, missing[0]))


def _cause(store: "CorpusStore", missing: "Resolution") -> str:
    if not missing.nearest:
        return one_line(str(missing.problem))
    date = store.document(missing.nearest[0].law_id).metadata.get("date", "")
    if not date:
        return _("{provision} is not in the text.").format(provision=missing.text)
    return _("{provision} is not in the text as of {date}.").format(
        provision=missing.text, date=date
    )


def _offer(passage: Passage, names: "LawNames") -> Offer:
    # Titles of laws are long: what tells provisions from each other goes first.
    law = names.title(passage.document_id)
    title = passage.header.removeprefix(law).strip() or passage.header
    return Offer(Spot.of(passage), title, law, passage.text[:_PREVIEW])


def _distinct(offers: Iterable[Offer]) -> list[Offer]:
    return list({(offer.spot, offer.title): offer for offer in offers}.values())
