"""Provisions as blocks, and citations in the style of lawyers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby

from localrag.answer import wording
from localrag.answer.types import Citation
from localrag.check.pending import Upcoming
from localrag.corpus.store import CorpusStore, DocumentInfo
from localrag.corpus.types import Passage, with_pages
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.language import N_, _, colon
from localrag.page.blocks import (
    Block,
    Code,
    Heading,
    Inline,
    Item,
    Items,
    Quotation,
    Strong,
    items,
    paragraph,
)
from localrag.search.affected import KINDS, Affected, Dependent, LawCount
from localrag.search.contents import Part
from localrag.search.history import Amendment, amended_by
from localrag.search.history.comparing import CHANGES, Change
from localrag.search.provision import LookedUp, Provision, ProvisionLink, citation_of

Places = Callable[[str, Citation], str]
"""Cites a citation of a corpus; arguments are the corpus name and the citation."""


@contextmanager
def places(workspace: Workspace) -> Iterator[Places]:
    """Give a function to cite in legal style: 民法第709条（明治二十九年法律第八十九号）.

    Without the corpus or the passage it returns the stored label.
    """
    opened: dict[str, CorpusStore] = {}
    with ExitStack() as held:

        def locate(corpus: str, citation: Citation) -> str:
            try:
                if corpus not in opened:
                    store = CorpusStore.open(workspace.corpus(corpus).store, read_only=True)
                    opened[corpus] = held.enter_context(store)
                return place(opened[corpus], citation)
            except LocalragError:
                return citation.label

        yield locate


def place(store: CorpusStore, citation: Citation) -> str:
    """Cite in legal style; return the stored label if the passage is gone."""
    passage = store.by_id(citation.passage_id)
    if passage is None:
        return citation.label
    where = cited(store, passage)
    if not citation.page:
        return where
    return with_pages(where, citation.page, citation.last_page, passage.text)


def cited(store: CorpusStore, passage: Passage) -> str:
    """Cite a passage as lawyers do, with the number of its law."""
    number = store.document(passage.document_id).metadata.get("law_num", "")
    return citation_of(store, passage) + (f"（{number}）" if number else "")


def looked_up_blocks(store: CorpusStore, found: LookedUp) -> Iterator[Block]:
    """Yield the provisions with their links, or the contents of a law."""
    if found.contents is not None:
        contents = found.contents
        yield Heading(1, " > ".join((contents.document.title, *contents.place)))
        yield from _origin(contents.document, contents.document.id)
        yield from _parts(contents.parts)
    for view in found.provisions:
        yield from _provision(store, view)
    if found.left_out:
        yield paragraph(_("… and {n:,} more; --all shows them").format(n=found.left_out))


def _origin(law: DocumentInfo, id_: str) -> Iterator[Block]:
    told = [law.metadata.get("law_num", ""), wording.state_of(law)]
    words = " · ".join(filter(None, told))
    yield paragraph(f"{words} · " if words else "", Code(id_))


def _parts(parts: Sequence[Part]) -> Iterator[Block]:
    yield Items(tuple(Item((part.title,), tuple(_below(part))) for part in parts))


def _below(part: Part) -> Iterator[Block]:
    if part.parts:
        yield from _parts(part.parts)


def _provision(store: CorpusStore, view: Provision) -> Iterator[Block]:
    yield Heading(1, cited(store, view.passage))
    if view.place:
        yield paragraph(" > ".join(view.place))
    yield from _origin(view.document, view.passage.id)
    if told := wording.of_passage(view.passage):
        yield paragraph(told)
    if view.is_deleted:
        yield paragraph(Strong(_("It is deleted: the law keeps its number alone.")))
    if view.as_read is None:
        yield Quotation(view.passage.text)
        for by in view.changed_by:
            yield paragraph(Strong(wording.changed()), cited(store, by))
            yield Quotation(by.text)
    else:
        yield paragraph(Strong(wording.made_by_code(view.as_read)))
        yield Quotation("".join(read + of for read, of in wording.as_read(view.as_read)))
        if view.as_read.left_out:
            yield Heading(2, wording.not_made())
            yield items("".join(wording.replacement(words)) for words in view.as_read.left_out)
    yield from _ties(view)


_TIES = {
    "filled_in_by": N_("Filled in by"),
    "refers_to": N_("Refers to"),
    "referred_by": N_("Referred to by"),
    "read_by": N_("Words read otherwise by"),
}


def _ties(view: Provision) -> Iterator[Block]:
    if view.delegations:
        yield Heading(2, _("Left to orders"))
        yield Items(
            tuple(
                Item((of.words,), (items(link.label for link in of.filled_in_by),))
                if of.filled_in_by
                else Item((of.words,))
                for of in view.delegations
            )
        )
    for name, title in _TIES.items():
        links: Sequence[ProvisionLink] = getattr(view, name)
        if links:
            yield Heading(2, _(title))
            yield items(map(_link, links))
    if view.reads:
        yield Heading(2, _("Words read otherwise"))
        yield Items(
            tuple(
                Item(
                    (readings.link.label or readings.link.words,),
                    (items("".join(wording.replacement(words)) for words in readings.words),),
                )
                for readings in view.reads
            )
        )
    if view.known:
        yield Heading(2, _("Known besides"))
        yield items((triple.text, " ", Code(id_)) for id_, triple in view.known)
    if view.terms:
        yield Heading(2, _("Terms defined elsewhere"))
        yield items((Strong(term.term), f" – {term.passage.header}") for term in view.terms)


def _link(link: ProvisionLink) -> tuple[Inline, ...]:
    note = "" if link.exists else _("  (not in this corpus)")
    note = _("  (deleted)") if link.deleted else note
    return (link.label, f"（{link.words}）{note}" if link.words != link.label else note)


def affected_blocks(found: Affected, most: int | None = None) -> Iterator[Block]:
    """Yield the counts by law, the provisions of each kind, and the ways to farther ones.

    `most` limits the laws and the provisions of a kind.
    """
    yield Heading(1, found.label)
    direct = [one for one in found.dependents if one.depth == 1]
    if not direct:
        yield paragraph(_("Nothing in this corpus depends on it."))
        return
    yield paragraph(
        _("{provisions:,} provisions of {laws:,} laws depend on it.").format(
            provisions=len(direct), laws=len(found.laws)
        )
    )
    yield items([_law_count(law) for law in found.laws[:most]])
    yield from _left_out(len(found.laws), most)
    for kind, words in KINDS.items():
        of_kind = [one for one in direct if one.kinds[0] == kind]
        if of_kind:
            yield Heading(2, f"{_(words)} ({len(of_kind):,})")
            yield items((one.label, " ", Code(one.place.id)) for one in of_kind[:most])
            yield from _left_out(len(of_kind), most)
    farther = [one for one in found.dependents if one.depth > 1]
    if farther:
        labels = {one.place.id: one.label for one in found.dependents}
        yield Heading(2, _("Farther ({n:,})").format(n=len(farther)))
        yield items(_way(one, labels) for one in farther[:most])
        yield from _left_out(len(farther), most)
    if found.not_followed:
        words = _("{n:,} provisions were not followed farther: there are too many.")
        yield paragraph(words.format(n=found.not_followed))


def _law_count(law: LawCount) -> str:
    kinds = _(", ").join(f"{_(KINDS[kind])} {n:,}" for kind, n in law.kinds.items())
    return f"{law.title} {law.provisions:,} ({kinds})"


def _left_out(count: int, most: int | None) -> Iterator[Block]:
    if most is not None and count > most:
        yield paragraph(_("… and {n:,} more; --all shows them").format(n=count - most))


def _way(one: Dependent, labels: Mapping[str, str]) -> str:
    steps = [labels.get(id_, id_) for id_ in one.path[1:]]
    return " → ".join((one.label, *reversed(steps)))


def amendment_blocks(amendments: Sequence[Amendment]) -> Iterator[Block]:
    """Yield the amendments to come by day, with the changed provisions."""
    if not amendments:
        yield paragraph(_("No text of the corpus comes into force later."))
    for one in amendments:
        yield Heading(2, f"{one.day} {one.after.title}")
        if number := amended_by(one.after):
            yield paragraph(_("amended by {law}").format(law=number))
        if one.before is None:
            yield paragraph(_("a new law"))
        elif not one.changes:
            yield paragraph(_("Nothing changed."))
        else:
            yield Items(tuple(_changed(change, one.after.title) for change in one.changes))


def _changed(change: Change, title: str) -> Item:
    headers = [
        side.header.removeprefix(title).strip() for side in (change.before, change.after) if side
    ]
    where = " → ".join(dict.fromkeys(headers))
    lines = [
        Item((*filter(None, (line.place,)), f" {sign} ", line.text))
        for difference in change.differences
        for sign, line in (("-", difference.before), ("+", difference.after))
        if line
    ]
    below = (Items(tuple(lines)),) if lines else ()
    return Item((Strong(_(CHANGES[change.kind])), f" {where}"), below)


def upcoming_blocks(found: Sequence[Upcoming]) -> Iterator[Block]:
    """Yield the changing citations and quotations of a text, by day."""
    if not found:
        yield paragraph(_("No later text of the corpus changes a citation or quotation."))
    for day, group in groupby(found, lambda one: one.day):
        yield Heading(2, day)
        yield Items(tuple(map(_upcoming, group)))


def _upcoming(one: Upcoming) -> Item:
    line = _("line {n}").format(n=one.place.line)
    what = (f"{line}{colon()}", Strong(one.said), f" · {one.provision}")
    if one.moved_to:
        return Item((*what, " → ", one.moved_to))
    now = [Item(("- ", one.before)), Item(("+ ", one.after or _("(gone)")))]
    return Item(what, (Items(tuple(now)),))
