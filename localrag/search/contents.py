"""The table of contents of a law or of a part: 民法, 民法第三編第五章."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from localrag.corpus.browsing import Stand
from localrag.corpus.lookups import Lookups
from localrag.corpus.states import DocumentInfo
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES, Locator, Section
from localrag.errors import NotFoundError, UsageError
from localrag.language import N_
from localrag.law.typed import Heading, read_headings, read_part
from localrag.search.finding import LISTED, laws_called, names_of, some, targets_of
from localrag.search.types import Span
from localrag_indexes.analysis.normalize import plain

# Passages in a part of a document without headings or pages; more if the list gets too long.
_PART = 20
_PARTS = 200
# From this many, supplementary provisions are grouped under one heading.
_MANY = 3
_SUPPLEMENT = re.compile(r"附\s*則")


@dataclass(slots=True, eq=False)
class OutlineEntry:
    """An entry of a table of contents.

    Attributes:
        title: as printed ("第二条（定義）", "第一章　総則"), or the numbers of its passages.
        start, end: span in the document text, in characters.
        passage_id: the passage, if the entry is exactly one; else "".
        page: the page, from 1, if the entry is exactly one; else 0.
        parts: entries inside it.
    """

    title: str
    start: int
    end: int
    passage_id: str = ""
    page: int = 0
    parts: list["OutlineEntry"] = field(default_factory=list)

    def holds(self, position: int) -> bool:
        """Whether the entry covers a position in the document text."""
        return self.start <= position < self.end


def outline(store: Lookups, document_id: str) -> list[OutlineEntry]:
    """The table of contents of a document.

    A statute has 編・章・節 with their articles, supplementary provisions and appendices. Another
    document has headings, else pages, else groups of passages; a short one has none.

    Raises:
        NotFoundError: there is no such document.
    """
    document = store.document(document_id)
    sections = [OutlineEntry(of.title, of.start, of.end) for of in store.sections(document_id)]
    if document.kind == "law":
        articles = store.standing(document_id, ARTICLES)
        return _gathered(_nested(sections, articles, document.title))
    if sections:
        return _nested(sections)
    passages = store.standing(document_id, PASSAGES) or store.standing(document_id, TRIPLES)
    if any(stand.locator.page for stand in passages):
        return _pages(passages)
    return _parts(passages, document)


def _nested(
    sections: list[OutlineEntry], articles: Sequence[Stand] = (), title: str = ""
) -> list[OutlineEntry]:
    """Put every entry into the one around it."""
    leaves = [OutlineEntry(_name(title, of), of.start, of.end, of.passage_id) for of in articles]
    unnumbered = {of.passage_id for of in articles if not of.locator.article}
    outermost: list[OutlineEntry] = []
    around: list[OutlineEntry] = []
    for entry in sorted([*sections, *leaves], key=lambda entry: (entry.start, -entry.end)):
        while around and around[-1].end <= entry.start:
            around.pop()
        parent = around[-1] if around else None
        if entry.passage_id in unnumbered and parent and not (parent.passage_id or parent.parts):
            # An appendix, or 附則 without articles, is the heading itself.
            parent.passage_id = entry.passage_id
            continue
        (parent.parts if parent else outermost).append(entry)
        if not entry.passage_id:
            around.append(entry)
    return outermost


def _name(title: str, stand: Stand) -> str:
    """The title of an article below its headings."""
    name = stand.header.removeprefix(title).strip(" ")
    if stand.locator.division and stand.locator.article:
        name = name.partition(" ")[2] or name
    return name or stand.header


def _gathered(entries: list[OutlineEntry]) -> list[OutlineEntry]:
    """Group supplementary provisions under one heading; an old statute has a hundred."""
    supplements = [entry for entry in entries if _SUPPLEMENT.match(entry.title)]
    if len(supplements) < _MANY:
        return entries
    first, last = supplements[0], supplements[-1]
    heading = OutlineEntry("附則", first.start, last.end, parts=supplements)
    gathered = [heading if entry is first else entry for entry in entries]
    return [entry for entry in gathered if entry not in supplements[1:]]


def _pages(passages: Sequence[Stand]) -> list[OutlineEntry]:
    pages: dict[int, OutlineEntry] = {}
    for stand in passages:
        page = stand.locator.page
        entry = pages.setdefault(page, OutlineEntry("", stand.start, stand.end, page=page))
        entry.end = stand.end
    return list(pages.values())


def _parts(passages: Sequence[Stand], document: DocumentInfo) -> list[OutlineEntry]:
    size = max(_PART, -(-len(passages) // _PARTS))
    parts = []
    for first in range(0, len(passages), size):
        part = passages[first : first + size]
        header = "" if part[0].header == document.title else part[0].header
        title = f"{first + 1}–{first + len(part)} {header}".rstrip()
        parts.append(OutlineEntry(title, part[0].start, part[-1].end))
    return parts if len(parts) > 1 else []


_NAME = re.compile("[ 　]")


@dataclass(frozen=True, slots=True)
class Part:
    """A heading of a law with its content, or an article.

    Attributes:
        title: as printed (第五章　不法行為, 第七百九条（不法行為による損害賠償）).
        passage_id: of an article or a passage outside articles; "" for a heading.
        first, last: its first and last article, or None.
        parts: content of the heading, in reading order.
    """

    title: str
    passage_id: str = ""
    first: Locator | None = None
    last: Locator | None = None
    parts: tuple["Part", ...] = ()


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a law or a part.

    Attributes:
        document: the law.
        place: headings from the outermost to the part's own; empty for the whole law.
        parts: in reading order.
    """

    document: DocumentInfo
    place: tuple[str, ...]
    parts: tuple[Part, ...]


def contents_of(store: Lookups, law_id: str, section: Section | None = None) -> Contents:
    """The contents of a law, or of the part under one heading.

    Raises:
        NotFoundError: there is no such law.
    """
    entries: Sequence[OutlineEntry] = outline(store, law_id)
    place: tuple[str, ...] = ()
    if section is not None:
        place = tuple(of.title for of in _around(store.sections(law_id), section))
        entries = next(one.parts for one in _all(entries) if _is(one, section))
    articles = {of.passage_id: of.locator for of in store.standing(law_id, ARTICLES)}
    return Contents(store.document(law_id), place, tuple(_part(one, articles) for one in entries))


def part_called(
    store: Lookups, law: str, law_ids: Sequence[str], headings: Sequence[Heading]
) -> Contents:
    """Find a part of a law by headings; intermediate headings may be left out.

    Args:
        store: the corpus store.
        law: the name of the law.
        law_ids: the laws with that name.
        headings: from the outermost in.

    Raises:
        NotFoundError: there is none; the message lists existing headings.
        UsageError: there are several; the message lists them.
    """
    if not law_ids:
        raise NotFoundError(
            N_("The corpus has no law called {law}."),
            N_("See its laws: localrag list {corpus} --kind law"),
            corpus=store.corpus,
            law=law,
        )
    found = sections_called(store, law_ids, headings)
    if len(found) == 1:
        return contents_of(store, *found[0])
    if found:
        several = [titled(store, law_id, section) for law_id, section in found]
        raise UsageError(
            N_("{part} can mean {count:,} parts."),
            N_("Name one of them: {some}."),
            part=_words(headings),
            count=len(found),
            some=some(several[:LISTED], len(several)),
        )
    there = [
        titled(store, law_id, section)
        for law_id in law_ids
        for section in _instead(store.sections(law_id), headings)
    ]
    raise NotFoundError(
        N_("{law} has no {part}."),
        N_("There is: {places}.") if there else N_("The law has no headings: name an article."),
        law=law,
        part=_words(headings),
        places=some(there[:LISTED], len(there)),
    )


def sections_called(
    store: Lookups, law_ids: Iterable[str], headings: Sequence[Heading]
) -> list[tuple[str, Section]]:
    """Parts of laws under headings, each with the id of its law."""
    return [
        (law_id, section)
        for law_id in law_ids
        for section in _called(store.sections(law_id), headings)
    ]


def titled(store: Lookups, law_id: str, section: Section) -> str:
    """A part with its law and headings: 民法 第三編 債権 第五章 不法行為."""
    place = _around(store.sections(law_id), section)
    return " ".join((store.document(law_id).title, *(of.title.replace("　", " ") for of in place)))


def _called(sections: Sequence[Section], headings: Sequence[Heading]) -> list[Section]:
    """Sections under all the headings given, the last being their own."""
    found: list[Section | None] = [None]
    for heading in headings:
        found = [
            section
            for outer in found
            for section in sections
            if read_headings(_NAME.split(section.title)[0]) == (heading,)
            and (outer is None or _holds(outer, section))
        ]
    return [section for section in found if section is not None]


def _instead(sections: Sequence[Section], headings: Sequence[Heading]) -> list[Section]:
    """Existing headings of the same kind in the innermost part found."""
    for depth in range(len(headings) - 1, -1, -1):
        outer = _called(sections, headings[:depth])
        inside = [one for one in sections if not depth or any(_holds(of, one) for of in outer)]
        level = headings[depth].level
        alike = [
            one
            for one in inside
            if (read := read_headings(_NAME.split(one.title)[0])) and read[-1].level == level
        ]
        if alike or inside:
            return alike or [one for one in inside if one.depth == min(of.depth for of in inside)]
    return []


def _holds(outer: Section, inner: Section) -> bool:
    return outer is not inner and outer.start <= inner.start and inner.end <= outer.end


def _around(sections: Iterable[Section], inner: Section) -> list[Section]:
    return [
        one for one in sections if one == inner or (_holds(one, inner) and one.depth < inner.depth)
    ]


def _is(entry: OutlineEntry, section: Section) -> bool:
    return (entry.title, entry.start, entry.end) == (section.title, section.start, section.end)


def _all(entries: Iterable[OutlineEntry]) -> Iterator[OutlineEntry]:
    for entry in entries:
        yield entry
        yield from _all(entry.parts)


def _part(entry: OutlineEntry, articles: Mapping[str, Locator]) -> Part:
    inside = [articles[one.passage_id] for one in _all([entry]) if one.passage_id in articles]
    numbered = [place for place in inside if place.article]
    return Part(
        entry.title,
        entry.passage_id,
        numbered[0] if numbered else None,
        numbered[-1] if numbered else None,
        tuple(_part(one, articles) for one in entry.parts),
    )


def _words(headings: Iterable[Heading]) -> str:
    return "".join(
        f"第{main}{level}" + "".join(f"の{branch}" for branch in branches)
        for level, (main, *branches) in ((of.level, of.number.split("_")) for of in headings)
    )


_NUMBERED = re.compile("[0-9〇一二三四五六七八九十百千]条|附則|別表")


def spans_called(store: CorpusStore, written: str) -> tuple[Span, ...]:
    """Find a law, a part of one, or articles: 民法, 民法第一編第七章, 民法709〜724条.

    Args:
        store: the corpus store.
        written: what was typed.

    Returns:
        The spans; of a whole law, one from 0 to -1.

    Raises:
        NotFoundError: there is no such law, part or article.
        UsageError: the name of the part or of the article is ambiguous.
    """
    names = names_of(store)
    law, headings = read_part(written, names)
    if headings:
        law_ids = names.lookup(law)
        part_called(store, law, law_ids, headings)
        found = sections_called(store, law_ids, headings)
        return tuple(Span(law_id, section.start, section.end) for law_id, section in found)
    if names.lookup(written) or not _NUMBERED.search(plain(written)):
        return tuple(Span(law_id, 0, -1) for law_id in laws_called(store, written))
    passages = [store.at(of.law_id, of.locator) for of in targets_of(store, written, names)]
    return tuple(Span(one.document_id, one.start, one.end) for one in passages if one)
