"""Provisions as blocks, and citations in the style of lawyers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from localrag.answer import wording
from localrag.answer.types import Citation
from localrag.corpus.links import DELEGATES
from localrag.corpus.store import CorpusStore, DocumentInfo
from localrag.corpus.types import Locator, Passage, omission_notes, with_pages
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.language import N_, _, aside, colon
from localrag.law.notation import cite
from localrag.page.blocks import (
    Block,
    BlockRole,
    Code,
    Heading,
    Inline,
    Item,
    Items,
    Paragraph,
    PassageLink,
    Quotation,
    Remark,
    Strong,
    Tone,
    paragraph,
)
from localrag.search.contents import Contents, Part
from localrag.search.provision import (
    DefinedTerm,
    Delegation,
    LookedUp,
    Provision,
    ProvisionLink,
    ProvisionReadings,
    citation_of,
)

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


Named = Callable[[Passage], str]
"""Gives the heading of a passage."""

_SUPPLEMENT = ("附則", "附　則")
_KINDS = {
    "refers": "",
    "applies-mutatis-mutandis": "準用：",
    "delegated-by": N_("made under: "),
    "requires": N_("licence or notification: "),
    "reads": "読替え：",
}
# Provisions named for one point.
_NAMED = 3


def header(passage: Passage) -> str:
    """The heading of a passage on a screen."""
    return passage.header


def filed_provisions(store: CorpusStore, found: LookedUp) -> Iterator[Block]:
    """Yield the provisions for a file, cited as lawyers do, each with its links."""
    named = partial(cited, store)
    if found.contents is not None:
        yield from _contents(found.contents, in_short=False)
    for view in found.provisions:
        yield from text_blocks(view, named)
        yield from tie_blocks(view)
    yield from left_out(found)


def looked_up_blocks(found: LookedUp, *, in_short: bool = False) -> Iterator[Block]:
    """Yield a provision with its links, the texts of several, or the contents of a law.

    `in_short` leaves out the articles of a whole law.
    """
    if found.contents is not None:
        yield from _contents(found.contents, in_short=in_short)
    for view in found.provisions:
        yield from text_blocks(view, header)
        if len(found.provisions) == 1:
            yield from tie_blocks(view)


def left_out(found: LookedUp) -> Iterator[Block]:
    """Yield the number of provisions not shown, if any."""
    if found.left_out:
        yield paragraph(Remark(_("… and {n:,} more").format(n=found.left_out)))


def _contents(contents: Contents, *, in_short: bool) -> Iterator[Block]:
    document = contents.document
    yield Heading(1, " > ".join((document.title, *contents.place)))
    yield _origin(document, document.id)
    yield from _warnings(omission_notes(document.omissions))
    yield from _parts(contents.parts, is_whole=in_short and not contents.place)


def _origin(law: DocumentInfo, id_: str) -> Paragraph:
    told = filter(None, (law.metadata.get("law_num", ""), wording.state_of(law)))
    return paragraph(*map(Remark, told), Code(id_), role=BlockRole.PLACE)


def _warnings(told: Sequence[str]) -> Iterator[Paragraph]:
    return (
        paragraph(Remark(words, Tone.DOUBTFUL), role=BlockRole.STATE) for words in told if words
    )


def _parts(parts: Sequence[Part], *, is_whole: bool) -> Iterator[Block]:
    yield Items(tuple(_part(part, is_whole=is_whole) for part in parts), role=BlockRole.PARTS)


def _part(part: Part, *, is_whole: bool) -> Item:
    """Make an entry: an article, or a heading; of a whole law, its articles are only counted."""
    if part.passage_id:
        return Item((PassageLink(part.title, part.passage_id), Code(part.passage_id)))
    below = [one for one in part.parts if not (is_whole and one.passage_id)]
    if is_whole and part.title.startswith(_SUPPLEMENT):
        below = []
    return Item(
        (Strong(part.title), _articles(part)),
        tuple(_parts(below, is_whole=is_whole)) if below else (),
    )


def _articles(part: Part) -> str:
    if part.first is None or part.last is None or part.first.division != part.last.division:
        return ""
    # Deleted articles share a row: 第三十八条から第八十四条まで.
    ends = (part.first.article.partition(":")[0], part.last.article.rpartition(":")[2])
    return aside("―".join(dict.fromkeys(cite("", Locator(article=end)) for end in ends)))


def text_blocks(view: Provision, named: Named) -> Iterator[Block]:
    """Yield the text of a provision with its place, and its temporary changes."""
    passage, document = view.passage, view.document
    yield Heading(1, named(passage), source=PassageLink(passage.header, passage.id))
    yield paragraph(Remark(" > ".join((document.title, *view.place))), role=BlockRole.PLACE)
    yield _origin(document, passage.id)
    yield from _warnings([wording.of_passage(passage), *omission_notes(document.omissions)])
    if view.is_deleted:
        yield from _warnings([_("It is deleted: the law keeps its number alone.")])
    if view.as_read is not None:
        yield paragraph(Strong(wording.made_by_code(view.as_read), Tone.DOUBTFUL))
        yield Quotation("".join(map("".join, wording.as_read(view.as_read))))
        replaced = tuple(
            Item(("".join(wording.replacement(words)),)) for words in view.as_read.left_out
        )
        yield from _listed(wording.not_made(), replaced)
        return
    yield Quotation(passage.text)
    for by in view.changed_by:
        yield paragraph(Strong(wording.changed(), Tone.DOUBTFUL), PassageLink(named(by), by.id))
        yield Quotation(by.text)


def tie_blocks(view: Provision) -> Iterator[Block]:
    """Yield the links of a provision both ways, its terms, and other triples."""
    yield from _listed(_("Left to orders"), tuple(map(_delegation, view.delegations)))
    told = {link.label for of in view.delegations for link in of.filled_in_by}
    filled_in = _("Also implemented by") if told else _("Implemented by")
    others = [link for link in view.filled_in_by if link.label not in told]
    yield from _linked(filled_in, others)
    # References to orders are listed above.
    references = [link for link in view.refers_to if link.kind != DELEGATES]
    yield from _linked(_("Refers to"), references)
    yield from _listed(_("Words read otherwise"), tuple(map(_readings, view.reads)))
    yield from _linked(_("Referred to by"), view.referred_by)
    yield from _linked(_("Words read otherwise by"), view.read_by)
    known = (
        Item((PassageLink(of.triple.text, of.passage_id), Code(of.passage_id))) for of in view.known
    )
    yield from _listed(_("Known besides"), tuple(known))
    yield from _listed(_("Terms defined elsewhere"), tuple(map(_term, view.terms)))


def _linked(title: str, links: Sequence[ProvisionLink]) -> Iterator[Block]:
    return _listed(title, tuple(map(_link, links)))


def _listed(title: str, entries: tuple[Item, ...]) -> Iterator[Block]:
    if not entries:
        return
    yield Heading(2, title, count=len(entries))
    yield Items(entries)


def _delegation(of: Delegation) -> Item:
    named: list[Inline] = []
    for link in of.filled_in_by[:_NAMED]:
        named += [_(", ") if named else "  → ", _goal(link)]
    if (more := len(of.filled_in_by) - _NAMED) > 0:
        named.append(_(" and {more:,} more").format(more=more))
    absent = _("no such order is in this corpus")
    if of.has_order:
        absent = _("no provision in this corpus implements it")
    return Item((of.words, *(named or (f"  → {absent}",))))


def _term(of: DefinedTerm) -> Item:
    scope = aside(of.scope) if of.scope else ""
    return Item((Strong(of.term), scope, colon(), PassageLink(of.passage.header, of.passage.id)))


def _goal(link: ProvisionLink) -> PassageLink:
    is_here = link.exists and link.document_id and link.locator.path
    return PassageLink(link.label, f"{link.document_id}#{link.locator.path}" if is_here else "")


def _link(link: ProvisionLink) -> Item:
    note = "" if link.exists else _("  (not in this corpus)")
    note = _("  (deleted)") if link.deleted else note
    return Item((_goal(link), Remark(f"[{_(_KINDS[link.kind])}{link.words}]{note}")))


def _readings(readings: ProvisionReadings) -> Item:
    link, told = readings.link, f"[{readings.link.words}{readings.part}]"
    if not readings.told:
        told = wording.untold().strip()
    elif not link.exists:
        told += _("  (not in this corpus)")
    words = tuple(Item(("".join(wording.replacement(each)),)) for each in readings.words)
    return Item((_goal(link) if link.label else "…", Remark(told)), (Items(words),))
