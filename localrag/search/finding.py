"""Finds what a person typed: a citation in any spelling, an id, the name of a subject."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from heapq import nsmallest
from typing import NamedTuple

from localrag.corpus.rows import fold
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES, TRIPLES, Passage, kind_name, spellings_of_kind
from localrag.errors import NotFoundError, UsageError
from localrag.language import N_, _
from localrag.law.names import LawNames
from localrag.law.provisions import StoredProvisions
from localrag.law.resolver import CitationResolver, Resolution, Target, parse_target
from localrag.search.question.laws import laws_named
from localrag.search.reading import around, cited_in_english, slips
from localrag.search.units import LAYERS
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import shorten
from localrag_indexes.analysis.normalize import plain

LISTED = 10
"""Candidates listed in a message."""

_NUMBER = "[0-9]+(?:-[0-9]+)*"
_ENGLISH_NUMBERS = re.compile(
    rf"(?P<law>[A-Za-z][^0-9]*[A-Za-z]),? (?P<numbers>{_NUMBER}(?:(?:,? (?:and|or) |, ){_NUMBER})*)"
)
# Only such names are looked up as file names: 手引.txt.
_FILE_NAME = re.compile(r"[^!/]\.[A-Za-z0-9]{2,8}$")
# Characters of the input repeated in a message.
_LONGEST = 100


def find(store: CorpusStore, target: str, names: LawNames | None = None) -> Passage:
    """Find a citation in any spelling, an id, or the name of a subject.

    The id of an ordinary document finds its first passage. The name of a subject finds its first
    triple.

    Args:
        store: the corpus store.
        target: what was typed.
        names: the laws of the corpus, if already read.

    Raises:
        NotFoundError: the corpus has no such law, provision or subject.
        UsageError: the target is ambiguous; the message lists the candidates.
    """
    try:
        return by_id(store, target) or _cited(store, target, names)
    except NotFoundError:
        if subject := subject_of(store, target):
            return subject
        raise


def by_id(store: CorpusStore, target: str) -> Passage | None:
    """The passage with this id, or the first passage of an ordinary document with it.

    A file name alone finds its document in any folder, zip or message.

    Raises:
        UsageError: several documents have this name; the message lists them.
    """
    return store.by_id(target) or _opening(store, target) or _of_file(store, target)


def names_of(store: CorpusStore) -> LawNames:
    """The names of the laws of a corpus, cached until the corpus changes."""
    return store.kept("names of laws", lambda: LawNames.from_rows(store.laws()))


def targets_of(store: CorpusStore, written: str, names: LawNames) -> list[Target]:
    """The provisions of a citation, each once, in order; or one law as a whole.

    Raises:
        NotFoundError: the corpus has no such law or provision.
        UsageError: a citation is ambiguous; the message lists the candidates.
    """
    resolutions = _resolutions(store, written, names)
    for resolution in resolutions:
        if resolution.problem:
            raise _not_found(store, written, resolution, names)
    targets = [target for resolution in resolutions for target in resolution.candidates]
    if len(targets) > len(resolutions):
        raise UsageError(
            N_("{written!r} can mean {count:,} provisions."),
            N_("Name one of them: {some}."),
            written=shorten(written, _LONGEST),
            count=len(targets),
            some=_listed(store, targets),
        )
    return list(dict.fromkeys(targets))


def _resolutions(store: CorpusStore, written: str, names: LawNames) -> tuple[Resolution, ...]:
    provisions = StoredProvisions(store, names)
    resolutions = parse_target(written, names, provisions)
    resolutions = resolutions or _in_english(written, names, CitationResolver(names, provisions))
    if not resolutions:
        raise NotFoundError(
            N_("{written!r} names no provision, document or subject of the corpus."),
            N_(
                "Write a law and an article (localrag show 渡し舟法8条), the id of a passage or a "
                "document (localrag list {corpus}), or the name of a subject of triples."
            ),
            corpus=store.corpus,
            written=shorten(written, _LONGEST),
        )
    return resolutions


def _in_english(
    written: str, names: LawNames, resolver: CitationResolver
) -> tuple[Resolution, ...]:
    """Read Article 709 of the Civil Code, and Civil Code 709 and 710."""
    written = plain(written)
    if bare := _ENGLISH_NUMBERS.fullmatch(written.strip()):
        written = f"Articles {bare['numbers']} of {bare['law']}"
    return tuple(cited_in_english(resolver.resolve, written, laws_named(written, names)))


@dataclass(frozen=True, slots=True)
class Place:
    """A provision of the corpus, or a whole law.

    Attributes:
        document_id: the law.
        locator: the path of the provision; "" for a whole law.
        passage_id: of the provision; "" for a whole law.
        label: its heading, or the title of the law.
        state: the day this text came into force; "" if unknown.
    """

    document_id: str
    locator: str
    passage_id: str
    label: str
    state: str


@dataclass(frozen=True, slots=True)
class ResolvedCitation:
    """A citation as written, and its candidates.

    Attributes:
        cited: the words of the citation.
        start, end: their span in the input.
        problem: why it cannot be resolved, or None.
        candidates: alternative meanings.
        nearest: existing provisions, if it cannot be resolved.
    """

    cited: str
    start: int
    end: int
    problem: Fact | None
    candidates: tuple[Place, ...]
    nearest: tuple[Place, ...]


def resolve(store: CorpusStore, written: str) -> tuple[ResolvedCitation, ...]:
    """Resolve citations in order, also ambiguous and missing ones.

    Raises:
        NotFoundError: the input has no citation.
    """

    def place(target: Target) -> Place:
        passage, law = store.at(target.law_id, target.locator), store.document(target.law_id)
        state = law.metadata.get("date", "")
        if passage is None:
            return Place(law.id, "", "", law.title, state)
        return Place(law.id, passage.locator.path, passage.id, passage.header, state)

    return tuple(
        ResolvedCitation(
            resolution.text,
            resolution.start,
            resolution.end,
            resolution.problem,
            tuple(map(place, resolution.candidates)),
            tuple(map(place, around(store, resolution))),
        )
        for resolution in _resolutions(store, written, names_of(store))
    )


def layers_called(names: Sequence[str]) -> tuple[str, ...]:
    """Layers of passages to search; raises UsageError if there is no such layer."""
    for layer in names:
        if layer not in LAYERS:
            raise UsageError(
                N_("There is no layer {name!r} to search."),
                N_("There is: {known}."),
                name=layer,
                known=", ".join(LAYERS),
            )
    return tuple(names)


def law_types_called(store: CorpusStore, names: Sequence[str]) -> tuple[str, ...]:
    """Types of laws (``Act``, 法律); raises NotFoundError if the corpus has no such law."""
    known = sorted({law.law_type for law in store.laws()} - {""})
    spelled = {spelling: one for one in known for spelling in spellings_of_kind(one)}
    for law_type in names:
        if law_type not in spelled:
            raise NotFoundError(
                N_("The corpus has no law of type {name!r}."),
                N_("There is: {known}.") if known else N_("It has no laws."),
                name=law_type,
                known=", ".join(map(kind_name, known)),
            )
    return tuple(spelled[law_type] for law_type in names)


def _cited(store: CorpusStore, written: str, names: LawNames | None) -> Passage:
    names = names or names_of(store)
    targets = targets_of(store, written, names)
    if len(targets) > 1:
        raise UsageError(
            N_("{written!r} names {count:,} provisions."),
            N_("Name one of them: {some}."),
            written=shorten(written, _LONGEST),
            count=len(targets),
            some=_listed(store, targets),
        )
    (target,) = targets
    passage = store.at(target.law_id, target.locator)
    if passage is None:
        title, articles = names.title(target.law_id), store.articles(target.law_id)
        raise UsageError(
            N_("{title} is a law of {count:,} articles, not a provision."),
            N_("Name a provision of it: localrag show {law} {article}"),
            title=title,
            count=len(articles),
            law=target.law_id,
            article="".join(articles[:1]),
        )
    return passage


def laws_called(store: CorpusStore, name: str) -> tuple[str, ...]:
    """Ids of the laws with a title, abbreviation, number or id.

    Raises:
        NotFoundError: there is no such law.
    """
    names = names_of(store)
    found = (name,) if name in names.rows else names.lookup(name)
    if not found:
        raise NotFoundError(
            N_("The corpus has no law {name!r}."),
            N_("See its laws: localrag list {corpus} --kind law"),
            name=name,
            corpus=store.corpus,
        )
    return found


def _opening(store: CorpusStore, document_id: str) -> Passage | None:
    first = store.by_id(f"{document_id}#1")
    return first if first and first.layer in (PASSAGES, TRIPLES) else None


def _of_file(store: CorpusStore, name: str) -> Passage | None:
    """The first passage of the only document with this file name."""
    if not _FILE_NAME.search(name):
        return None
    documents = store.named(name)
    if len(documents) > 1:
        raise UsageError(
            N_("{name!r} is the name of {count:,} documents."),
            N_("Name one of them: {some}."),
            name=shorten(name, _LONGEST),
            count=len(documents),
            some=some(documents[:LISTED], len(documents)),
        )
    return _opening(store, documents[0]) if documents else None


def subject_of(store: CorpusStore, name: str) -> Passage | None:
    """The first triple about a named subject; an exact match comes first.

    Raises:
        UsageError: the name is ambiguous; the message lists the subjects.
    """
    subjects = store.knowledge.subjects(name)
    meant = [name] if name in subjects else subjects
    if len(meant) > 1:
        raise UsageError(
            N_("{name!r} can mean {count:,} subjects."),
            N_("Name one of them: {some}."),
            name=name,
            count=len(meant),
            some=some(meant[:LISTED], len(meant)),
        )
    first = store.knowledge.about(meant[0], 1) if meant else ()
    return store.by_id(first[0].passage_id) if first else None


def _not_found(
    store: CorpusStore, written: str, resolution: Resolution, names: LawNames
) -> NotFoundError:
    """An error naming what is missing and what exists near it."""
    problem = resolution.problem
    said = problem if str(problem).startswith(written) else f"{written!r}: {problem}"
    if not resolution.nearest:
        cure = N_("See its laws: localrag list {corpus} --kind law")
        unread = (FactKind.NUMBER_UNREAD, FactKind.RANGE_BACKWARDS)
        if problem is not None and problem.kind in unread:
            cure = N_("Write a provision as 709条の2第1項, and a day with --as-of.")
        near = next(slips([resolution], written, names), None)
        return NotFoundError(
            N_("{said}."),
            near or cure,
            said=said,
            corpus=store.corpus,
        )
    dates = {store.document(t.law_id).metadata.get("date", "") for t in resolution.nearest}
    if problem is not None and problem.kind is not FactKind.NO_SUCH_PROVISION:
        dates = set()
    return NotFoundError(
        N_("{said} in its state of {dates}.") if any(dates) else N_("{said}."),
        N_("There is: {places}."),
        said=said,
        dates=_(" or ").join(sorted(filter(None, dates))),
        places=_listed(store, around(store, resolution)),
    )


def _listed(store: CorpusStore, targets: Sequence[Target]) -> str:
    return some([_named(store, target) for target in targets[:LISTED]], len(targets))


def some(names: Sequence[str], count: int) -> str:
    """The first names, and the number of others."""
    more, listed = count - len(names), _(", ").join(names)
    return _("{names} and {more:,} more").format(names=listed, more=more) if more else listed


def _named(store: CorpusStore, target: Target) -> str:
    passage = store.at(target.law_id, target.locator)
    if passage is None:
        return f"{store.document(target.law_id).title} ({target.law_id})"
    return f"{passage.header} ({passage.id})"


# Longest name of a law, in folded characters.
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A law suggested while typing.

    Attributes:
        title: as printed.
        matched: the matching name: title, abbreviation or law number.
    """

    law_id: str
    title: str
    matched: str


def suggest(names: LawNames, typed: str, limit: int) -> list[Suggestion]:
    """Suggest laws for typed characters, best first, each once.

    Names beginning with them come first, then names containing them, then names with the characters
    in order; shorter names first. Names are compared folded (`localrag.corpus.rows`). The first
    call folds all names.
    """
    wanted = fold(typed[: 2 * _LONGEST])
    if not wanted or len(wanted) > _LONGEST:
        return []
    best: dict[str, _Rank] = {}
    for rank in _ranked(wanted, _entries(names)):
        for law_id in rank.entry.law_ids:
            if law_id not in best or rank < best[law_id]:
                best[law_id] = rank
    chosen = nsmallest(limit, best.items(), key=lambda item: item[1])
    return [Suggestion(law_id, names.title(law_id), rank.entry.name) for law_id, rank in chosen]


class _Fit(IntEnum):
    WHOLE = 0
    PREFIX = 1
    SUBSTRING = 2
    SCATTERED = 3


class _Entry(NamedTuple):
    """A name; its number is its place among all names.

    Law numbers share most characters, so they match only as a whole piece.
    """

    folded: str
    number: int
    name: str
    law_ids: tuple[str, ...]
    scatters: bool = True


class _Rank(NamedTuple):
    fit: _Fit
    length: int
    number: int
    entry: _Entry


def _ranked(wanted: str, entries: tuple[_Entry, ...]) -> Iterator[_Rank]:
    for entry in entries:
        folded = entry.folded
        if wanted in folded:
            if folded == wanted:
                fit = _Fit.WHOLE
            else:
                fit = _Fit.PREFIX if folded.startswith(wanted) else _Fit.SUBSTRING
        elif entry.scatters and _in_order(wanted, folded):
            fit = _Fit.SCATTERED
        else:
            continue
        yield _Rank(fit, len(folded), entry.number, entry)


def _in_order(wanted: str, folded: str) -> bool:
    # A pattern would backtrack for hours on a repeated character.
    rest = iter(folded)
    return all(character in rest for character in wanted)


@lru_cache(maxsize=4)
def _entries(names: LawNames) -> tuple[_Entry, ...]:
    called = [(name, law_ids, True) for name, law_ids in names.names.items()]
    called += [(of.law_num, (of.law_id,), False) for of in names.rows.values() if of.law_num]
    return tuple(
        _Entry(fold(name), number, name, law_ids, scatters)
        for number, (name, law_ids, scatters) in enumerate(called)
    )
