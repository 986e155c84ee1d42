"""A provision or passage with its relations, as in ``localrag show``."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from localrag.corpus.knowledge import KnownTriple
from localrag.corpus.links import (
    DELEGATED_BY,
    DELEGATES,
    READS,
    REFERENCES,
    REFERS,
    REQUIRES,
    Definition,
    Reference,
)
from localrag.corpus.store import CorpusStore, DocumentInfo
from localrag.corpus.types import (
    PARAGRAPHS,
    Locator,
    Passage,
    Section,
    page_starts,
    pages_of,
    with_pages,
)
from localrag.errors import NotFoundError
from localrag.language import N_
from localrag.law.applied import (
    ReadText,
    ReadWords,
    as_read,
    is_told,
    reaches,
    words_of,
)
from localrag.law.delegations import filled_points
from localrag.law.notation import cite
from localrag.law.provisions import deleted_row, label_of
from localrag.law.typed import read_part
from localrag.search.contents import Contents, contents_of, part_called
from localrag.search.finding import LISTED, by_id, find, names_of, some, subject_of, targets_of

MOST = 20
"""Default number of provisions looked up for a list or a range."""

_SHOWN = (*REFERENCES, REQUIRES)
# The text of a deleted article, paragraph or item.
_DELETED = re.compile("(?:[^　\n]+　)?削除")
_HERE = re.compile("この([編章節款目条項号])")
# 別表第二 補償表（第七十七条関係）: the label is without title and scope.
_ABOUT = re.compile("　.*|（[^（）]*関係）$")
# 前項第一号の「支配株主等」とは
_NEAR = re.compile("[前次同][条項号]|第[〇一二三四五六七八九十百]+[項号]")


@dataclass(frozen=True, slots=True)
class ProvisionLink:
    """A reference, seen from one end.

    Attributes:
        kind: ``refers``, ``applies-mutatis-mutandis``, ``delegates``, ``delegated-by``,
            ``requires`` or ``reads``.
        document_id, locator: the other end; the id is empty for a law outside the corpus.
        label: the name of the other end; as cited for a law outside the corpus.
        words: the reference as written.
        exists: whether the corpus has the other end, in this state of the law.
        deleted: whether the other end is deleted.
    """

    kind: str
    document_id: str
    locator: Locator
    label: str
    words: str
    exists: bool = True
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Delegation:
    """A delegated point, and its implementing provisions.

    Attributes:
        locator: the most exact delegating provision.
        start, end: span of 政令で定め in the text of the document, in characters.
        instrument: the kind of order, as named: 政令, 内閣府令.
        words: the point with the words around it: その他の有価証券で政令で定めるもの.
        filled_in_by: implementing provisions, the most exact first; empty if the corpus has none.
        has_order: whether the corpus has an order of this kind under the law.
    """

    locator: Locator
    start: int
    end: int
    instrument: str
    words: str
    filled_in_by: tuple[ProvisionLink, ...]
    has_order: bool


@dataclass(frozen=True, slots=True)
class DefinedTerm:
    """A defined term used in the provision, and its definition."""

    term: str
    scope: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class ProvisionReadings:
    """A provision read with other words (読替え), and those words.

    Attributes:
        link: the provision, as cited.
        told: whether code can identify it; else the link has only its words.
        part: the part cited (ただし書), or "".
        words: at least one pair, each with its number of occurrences.
    """

    link: ProvisionLink
    told: bool
    part: str
    words: tuple[ReadWords, ...]


@dataclass(frozen=True, slots=True)
class Provision:
    """A passage and its relations.

    Attributes:
        place: headings from the outermost (編・章・節).
        refers_to: references in reading order, without delegations listed in `filled_in_by`.
        referred_by: references to it, without implementing provisions.
        delegations: delegated points in reading order, with their implementing provisions.
        filled_in_by: implementing provisions of orders and ordinances.
        terms: defined terms, by first use. Of two definitions the one in its own document counts,
            and there the one with the narrower scope.
        known: other triples about its subject, if the passage is a triple.
        reads: provisions read with other words (読替え) by it, in reading order.
        read_by: provisions reading it with other words.
        as_read: its text as read by one of them, if asked for.
        changed_by: temporary changes (当分の間), shown with it.
    """

    passage: Passage
    document: DocumentInfo
    place: tuple[str, ...]
    refers_to: tuple[ProvisionLink, ...]
    referred_by: tuple[ProvisionLink, ...]
    filled_in_by: tuple[ProvisionLink, ...]
    terms: tuple[DefinedTerm, ...]
    known: tuple[KnownTriple, ...] = ()
    reads: tuple[ProvisionReadings, ...] = ()
    read_by: tuple[ProvisionLink, ...] = ()
    as_read: ReadText | None = None
    delegations: tuple[Delegation, ...] = ()
    changed_by: tuple[Passage, ...] = ()

    @property
    def is_deleted(self) -> bool:
        """Whether the provision is deleted: 第八条 削除."""
        return is_deleted(self.passage)


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The result of a citation.

    Attributes:
        provisions: in the order of the citation; none for a law or a part.
        left_out: number of provisions not shown.
        contents: of a law or a part (民法 第三編第五章).
    """

    provisions: tuple[Provision, ...] = ()
    left_out: int = 0
    contents: Contents | None = None


def show(store: CorpusStore, target: str, *, as_read_by: str = "") -> Provision:
    """Find a citation or id (see `find`), with its relations.

    Args:
        store: the corpus store.
        target: what was typed.
        as_read_by: citation of the provision whose readings (読替え) apply, or "".

    Raises:
        NotFoundError: one of the two is not in the corpus, or the other reads none of its words.
        UsageError: one of the two is ambiguous.
    """
    view = describe(store, find(store, target))
    if not as_read_by:
        return view
    by = find(store, as_read_by)
    text = as_read(store, view.passage, by)
    if text is None:
        raise NotFoundError(
            N_("{by} has no words of {target} read otherwise."),
            N_("These provisions replace words of it: {some}.")
            if view.read_by
            else N_("Nothing in the corpus has."),
            by=by.header,
            target=view.passage.header,
            some=some([link.label for link in view.read_by[:LISTED]], len(view.read_by)),
        )
    return replace(view, as_read=text)


def look_up(store: CorpusStore, target: str, most: int | None = MOST) -> LookedUp:
    """Find everything cited: what `find` takes, lists, ranges, laws and parts.

    Args:
        store: the corpus store.
        target: what was typed (民法709〜724条, 民法5条及び6条, 民法, 民法 第三編第五章).
        most: most provisions to look up; None for all.

    Raises:
        NotFoundError: the corpus has no such law, part, provision or subject.
        UsageError: the target is ambiguous; the message lists the candidates.
    """
    if passage := by_id(store, target):
        return LookedUp((describe(store, passage),))
    names = names_of(store)
    law, headed = read_part(target, names)
    if headed:
        return LookedUp(contents=part_called(store, law, names.lookup(law), headed))
    try:
        targets = targets_of(store, target, names)
    except NotFoundError:
        if subject := subject_of(store, target):
            return LookedUp((describe(store, subject),))
        raise
    if len(targets) == 1 and not targets[0].locator.path:
        contents = contents_of(store, targets[0].law_id)
        only = store.by_id(contents.parts[0].passage_id) if len(contents.parts) == 1 else None
        return LookedUp((describe(store, only),)) if only else LookedUp(contents=contents)
    found = [store.at(of.law_id, of.locator) for of in targets[:most]]
    shown = tuple(describe(store, passage) for passage in found if passage is not None)
    return LookedUp(shown, len(targets) - len(found))


def describe(store: CorpusStore, passage: Passage) -> Provision:
    """Gather the relations of a passage."""
    document, locator = passage.document_id, as_cited(store, passage)
    if not locator.path:
        place, known = headings(store, passage), _known(store, passage)
        return Provision(passage, store.document(document), place, (), (), (), (), known)
    outgoing = _each_once(store.references_from(document, locator, *_SHOWN))
    incoming = store.references_to(document, locator, *_SHOWN)
    if label := appendix_label(store, passage):
        # Other laws cite it by its label alone.
        incoming += store.references_to(document, Locator(label))
    incoming = _each_once(incoming)
    filled = {_by_cabinet(of.document_id) for of in incoming if of.kind == DELEGATED_BY}
    reading = store.references_from(document, locator, READS)
    return Provision(
        passage=passage,
        document=store.document(document),
        place=headings(store, passage),
        refers_to=_distinct(
            _targets(
                store,
                [
                    reference
                    for reference in outgoing
                    if not _holds(passage, reference.law_id, reference.target)
                    and not (
                        reference.kind == DELEGATES and ("政令" in reference.law_name) in filled
                    )
                ],
            )
        ),
        referred_by=_sources(
            store,
            [
                reference
                for reference in incoming
                if reference.kind != DELEGATED_BY
                and not _holds(passage, reference.document_id, reference.source)
            ],
        ),
        filled_in_by=_sources(store, [of for of in incoming if of.kind == DELEGATED_BY]),
        terms=tuple(_terms(store, passage, outgoing)),
        reads=tuple(
            ProvisionReadings(
                link,
                is_told(reference),
                reference.reads.part if reference.reads else "",
                words_of(store, reference),
            )
            for reference, link in zip(reading, _targets(store, reading), strict=True)
        ),
        read_by=_sources(
            store,
            [
                reading
                for reading in store.references_to(
                    document, Locator(locator.division, locator.article), READS
                )
                if reaches(reading, locator)
            ],
        ),
        delegations=tuple(_delegations(store, document, locator)),
        changed_by=store.changed_by(passage),
    )


def _each_once(references: Sequence[Reference]) -> list[Reference]:
    """The references, those of a requirement without their plain twins."""
    required = {(of.document_id, of.start) for of in references if of.kind == REQUIRES}
    return [
        of for of in references if of.kind != REFERS or (of.document_id, of.start) not in required
    ]


def _delegations(store: CorpusStore, law_id: str, place: Locator) -> Iterator[Delegation]:
    filled = filled_points(store, law_id, place)
    references = [one.reference for fillings in filled.values() for one in fillings]
    # Only a reference without a target requires a search through the whole law.
    orders = {_by_cabinet(of.document_id) for of in references}
    if any(not fillings and point.of_cabinet not in orders for point, fillings in filled.items()):
        orders = {_by_cabinet(id_) for id_ in store.documents_referring(law_id, DELEGATED_BY)}
    links = iter(_links(store, references))
    for point, fillings in filled.items():
        left = point.reference
        yield Delegation(
            locator=left.source,
            start=left.start,
            end=left.end,
            instrument=left.law_name,
            words=point.words.shown,
            filled_in_by=_distinct(islice(links, len(fillings))),
            has_order=point.of_cabinet in orders,
        )


def citation_of(store: CorpusStore, passage: Passage) -> str:
    """Cite a passage as lawyers do: 金融商品取引法第27条の36第1項第2号.

    A supplementary provision or an appendix has its printed label, an article of one paragraph its
    number alone. A passage of another document has its headings and page.
    """
    title, place = store.document(passage.document_id).title, as_cited(store, passage)
    if place.path:
        division = _division(passage.header.removeprefix(title), place)
        return cite(title, place, arabic=True, division=division)
    where = passage.header if passage.header.startswith(title) else f"{title} {passage.header}"
    if not place.page:
        return where.strip()
    starts = page_starts(store.document(passage.document_id).metadata)
    pages = pages_of(starts, passage.start, passage.end) if starts else (place.page,) * 2
    return with_pages(where, *pages, passage.text)


def _division(header: str, place: Locator) -> str:
    """The label of a division, from its header: 別表第一, 附則別表."""
    outer, *inner = header.strip(" ").split(" ")
    if not place.division.startswith("appendix"):
        return outer if place.division else ""
    if inner and outer.startswith("附則"):
        return outer + _ABOUT.sub("", inner[0])
    return _ABOUT.sub("", outer)


def _known(store: CorpusStore, passage: Passage) -> tuple[KnownTriple, ...]:
    if passage.triple is None:
        return ()
    about = store.knowledge.about(passage.triple.subject)
    return tuple(known for known in about if known.passage_id != passage.id)


def as_cited(store: CorpusStore, passage: Passage) -> Locator:
    """The place as cited: an article with one paragraph is cited as the article."""
    place = passage.locator
    if place.article and place.paragraph and not place.item:
        article = Locator(place.division, place.article)
        if len(store.within(passage.document_id, article, PARAGRAPHS)) == 1:
            return article
    return place


def headings(store: CorpusStore, passage: Passage) -> tuple[str, ...]:
    """The headings above a passage, from the outermost (編・章・節)."""
    return tuple(
        section.title
        for section in store.sections(passage.document_id)
        if section.start <= passage.start and passage.end <= section.end
    )


def _holds(passage: Passage, document_id: str, locator: Locator) -> bool:
    # Omit a reference to the article itself, such as 前項.
    return document_id == passage.document_id and passage.locator.contains(locator)


def appendix_label(store: CorpusStore, passage: Passage) -> str:
    """The label of an appendix for citations from other laws; "" for other passages."""
    place = passage.locator
    if not place.division.startswith("appendix") or place != Locator(place.division):
        return ""
    title = store.document(passage.document_id).title
    return label_of(passage.header.removeprefix(title).strip())


def _placed(store: CorpusStore, reference: Reference) -> Reference:
    """The reference at its printed place.

    An appendix cited by its label has a division; a deleted article may share a row with others.
    """
    law, target = reference.law_id, reference.target
    if not law or store.provision_exists(law, target):
        return reference
    if not label_of(target.division):
        row = deleted_row(store.articles(law, target.division), target)
        return replace(reference, target=row, target_end=None) if row else reference
    title = store.document(law).title
    found = [
        division
        for division, header in store.divisions(law).items()
        if division.startswith("appendix")
        and label_of(header.removeprefix(title).strip()) == target.division
    ]
    if len(found) != 1:
        return reference
    placed = replace(target, division=found[0])
    whole = store.provision_exists(law, placed)
    return replace(reference, target=placed if whole else Locator(found[0]))


def _targets(store: CorpusStore, references: Iterable[Reference]) -> list[ProvisionLink]:
    """The target of each reference."""
    placed = [_placed(store, reference) for reference in references]
    places: dict[str, set[Locator]] = defaultdict(set)
    for of in placed:
        places[of.law_id].update({of.target, of.target_end or of.target})
    words = _words(store, placed)
    standing = {id_: store.all_at(id_, its) for id_, its in places.items() if id_}
    return [
        _target(store, of, words[of.document_id][of.start, of.end], standing.get(of.law_id, {}))
        for of in placed
    ]


def _target(
    store: CorpusStore, reference: Reference, words: str, standing: Mapping[Locator, Passage]
) -> ProvisionLink:
    """The target of a reference, given the passages of its law."""
    law, target, last = reference.law_id, reference.target, reference.target_end
    passage = standing.get(target)
    label = reference.law_name or words
    if law:
        label = _header(store, passage, law, target)
        if last is not None:
            label += f" – {_header(store, standing.get(last), law, last)}"
    # A whole law has no passage of its own.
    exists = passage is not None or (bool(law) and store.provision_exists(law, target))
    deleted = passage is not None and last is None and is_deleted(passage)
    return ProvisionLink(reference.kind, law, target, label, words, exists, deleted)


def is_deleted(passage: Passage) -> bool:
    """Whether a provision is deleted: 第八条 削除."""
    is_statute = bool(passage.locator.path)
    return is_statute and _DELETED.fullmatch(passage.text.strip()) is not None


def _by_cabinet(law_id: str) -> bool:
    return law_id[3:5] == "CO"


def _sources(store: CorpusStore, references: Sequence[Reference]) -> tuple[ProvisionLink, ...]:
    """Places of references, each once; of several in one place the last is quoted."""
    labels = _labels(store, references)
    told = {(of.kind, labels[of.document_id, of.source]): of for of in references}
    words = _words(store, told.values())
    return tuple(_source(of, labels, words) for of in told.values())


def _links(store: CorpusStore, references: Sequence[Reference]) -> list[ProvisionLink]:
    labels, words = _labels(store, references), _words(store, references)
    return [_source(of, labels, words) for of in references]


def _source(
    reference: Reference,
    labels: Mapping[tuple[str, Locator], str],
    words: Mapping[str, Mapping[tuple[int, int], str]],
) -> ProvisionLink:
    document, source = reference.document_id, reference.source
    said = words[document][reference.start, reference.end]
    return ProvisionLink(reference.kind, document, source, labels[document, source], said)


def _labels(store: CorpusStore, references: Iterable[Reference]) -> dict[tuple[str, Locator], str]:
    """Labels of the places of references, by document and place.

    Article 2 of an act may have three thousand, in few documents.
    """
    places: dict[str, set[Locator]] = defaultdict(set)
    for of in references:
        places[of.document_id].add(of.source)
    headers = {id_: store.headers(id_, its) for id_, its in places.items()}
    return {
        (id_, place): headers[id_].get(place) or cite(store.document(id_).title, place)
        for id_, its in places.items()
        for place in its
    }


def _words(
    store: CorpusStore, references: Iterable[Reference]
) -> dict[str, dict[tuple[int, int], str]]:
    """The words of references, by document and span."""
    spans: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for of in references:
        spans[of.document_id].add((of.start, of.end))
    return store.texts_of(spans)


def _header(store: CorpusStore, passage: Passage | None, law_id: str, place: Locator) -> str:
    return passage.header if passage else cite(store.document(law_id).title, place)


def _distinct(links: Iterable[ProvisionLink]) -> tuple[ProvisionLink, ...]:
    return tuple({(link.kind, link.label): link for link in links}.values())


def _terms(
    store: CorpusStore, passage: Passage, outgoing: Iterable[Reference]
) -> Iterator[DefinedTerm]:
    # An order uses the terms of its act without defining them again.
    parents = [r.law_id for r in outgoing if r.kind == DELEGATED_BY and r.law_id]
    sections = store.sections(passage.document_id)
    known = [
        definition
        for document_id in dict.fromkeys((passage.document_id, *parents))
        for definition in store.definitions_in(document_id)
        if len(definition.term) > 1 and _reaches(definition, passage, sections)
    ]
    # Own definitions come before those of the act, narrower ones before general ones.
    known.sort(key=lambda d: (d.document_id != passage.document_id, not d.scope))
    by_term = {definition.term: definition for definition in reversed(known)}
    # Longest term first: 渡し舟 must not match inside 渡し舟事業.
    longest_first = sorted(by_term, key=len, reverse=True)
    found = re.findall("|".join(map(re.escape, longest_first)) or "(?!)", passage.text)
    used = [by_term[term] for term in dict.fromkeys(found)]
    places: dict[str, list[Locator]] = defaultdict(list)
    for definition in used:
        places[definition.document_id].append(definition.locator)
    standing = {id_: store.all_at(id_, its) for id_, its in places.items()}
    for definition in used:
        place = standing[definition.document_id].get(definition.locator)
        if place and not _holds(passage, definition.document_id, definition.locator):
            yield DefinedTerm(definition.term, definition.scope, place)


def _reaches(definition: Definition, passage: Passage, sections: Sequence[Section]) -> bool:
    """Whether a definition's stated scope includes the passage, as far as clear."""
    mine, its = passage.locator, definition.locator
    elsewhere = definition.document_id != passage.document_id
    if its.division and (elsewhere or its.division != mine.division):
        return False
    same_article = (mine.division, mine.article) == (its.division, its.article)
    if _NEAR.match(definition.scope):
        return not elsewhere and same_article
    here = _HERE.search(definition.scope)
    if here is None:
        # 以下「…」という applies to what follows.
        return elsewhere or bool(definition.scope) or definition.start <= passage.end
    if elsewhere:
        return False
    if here[1] in "条項号":
        return same_article
    level = f"第[^　]+{here[1]}"
    return _under(sections, level, definition.start) == _under(sections, level, passage.start)


def _under(sections: Sequence[Section], level: str, position: int) -> str:
    return next(
        (
            section.title
            for section in sections
            if section.start <= position < section.end and re.match(level, section.title)
        ),
        "",
    )
