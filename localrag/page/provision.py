"""Provisions as blocks, and citations in the style of lawyers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from localrag.answer import wording
from localrag.answer.types import Citation
from localrag.corpus.store import CorpusStore, DocumentInfo
from localrag.corpus.types import Passage, with_pages
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.language import N_, _
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
from localrag.search.contents import Part
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
    "filled_in_by": N_("Implemented by"),
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
