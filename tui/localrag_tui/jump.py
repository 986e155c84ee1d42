"""Finding a place by name while typing, on the Read screen and in a dialogue."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static

from localrag.corpus.types import Locator, Passage
from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag.text.facts import FactKind
from localrag.text.harmless import harmless, one_line
from localrag_tui.screen import Dialogue, bench_of
from localrag_tui.shell.form import TextField
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.listing import Valued
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import cure_of
from localrag_tui.spot import Spot

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.law.names import LawNames
    from localrag.law.resolver import Resolution, Target
    from localrag_tui.source.pane import SourcePane

_LIMIT = 20
# No name is so long: a text pasted by mistake is not searched for.
_LONGEST = 500
_PREVIEW = 300
_PLACE = re.compile(r"第?[0-9０-９〇一二三四五六七八九十百千]|附則|別表|様式|前文")


@dataclass(frozen=True, slots=True)
class Offer:
    """A possible place."""

    spot: Spot
    title: str  # the matching name, or the provision as printed
    note: str = ""  # title or number of the law, or id of the document
    preview: str = ""


@dataclass(frozen=True, slots=True)
class PlacesFound:
    """The result of a look-up."""

    offers: tuple[Offer, ...] = ()
    certain: bool = False  # whether the first may be taken at once: one provision was cited
    cause: str = ""  # cause, cure: why nothing was found, and the cure; empty otherwise
    cure: str = ""
    complete: bool = True


def look_up(store: "CorpusStore", names: "LawNames", typed: str, law_id: str = "") -> PlacesFound:
    """Find places by a citation, a law's name or number, a subject, a title, or part of a name."""
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
    parts = list(_parts(store, names, written))
    laws = list(_laws(store, names, typed))
    titled = store.titled(typed, _LIMIT)
    others = [Offer(Spot(id_), title, id_ if id_ != title else "") for id_, title in titled.found]
    offers = _distinct([*provisions, *parts, *laws, *_known(store, names, typed), *others])
    if missing and not offers:
        return _missing(store, names, missing)
    certain = bool(offers) and len(targets) + len(parts) <= 1
    return PlacesFound(tuple(offers[:_LIMIT]), certain, complete=titled.complete)


def _resolutions(store: "CorpusStore", names: "LawNames", written: str) -> "tuple[Resolution, ...]":
    from localrag.law.provisions import StoredProvisions
    from localrag.law.resolver import parse_target

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
    """The branch articles of an article: 第二十七条の二 of 第二十七条."""
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
            # The row above names the law.
            yield replace(_offer(passage, names), note="")


def _parts(store: "CorpusStore", names: "LawNames", written: str) -> Iterator[Offer]:
    """Parts of a law under typed headings: 民法 第三編第五章."""
    from localrag.law.typed import read_part
    from localrag.search.contents import sections_called, titled

    law, headings = read_part(written, names)
    for law_id, section in sections_called(store, names.lookup(law), headings)[:_LIMIT]:
        spot = Spot(law_id, section.start, section.start)
        yield Offer(spot, section.title, titled(store, law_id, section))


def _laws(store: "CorpusStore", names: "LawNames", typed: str) -> Iterator[Offer]:
    from localrag.search.finding import suggest

    for law in suggest(names, typed, _LIMIT):
        number = names.rows[law.law_id].law_num
        date = store.document(law.law_id).metadata.get("date", "")
        preview = "　".join(filter(None, (number, date)))
        by_title = law.matched == law.title
        note = number if by_title else law.title
        yield Offer(Spot(law.law_id), law.matched, note, preview)


def _known(store: "CorpusStore", names: "LawNames", typed: str) -> Iterator[Offer]:
    """A passage by its id; subjects of triples by name."""
    if (passage := store.by_id(typed)) is not None:
        yield _offer(passage, names)
    for subject in store.knowledge.subjects(typed)[:_LIMIT]:
        for known in store.knowledge.about(subject, 1):
            if (passage := store.by_id(known.passage_id)) is not None:
                yield _offer(passage, names)


def _missing(store: "CorpusStore", names: "LawNames", missing: "list[Resolution]") -> PlacesFound:
    """Name the missing provision, and offer its neighbours."""
    from localrag.search.reading import around

    nearest = [target for resolution in missing for target in around(store, resolution)]
    return PlacesFound(tuple(_provisions(store, names, nearest)), cause=_cause(store, missing[0]))


def _cause(store: "CorpusStore", missing: "Resolution") -> str:
    problem = missing.problem
    if not missing.nearest or (problem and problem.kind is not FactKind.NO_SUCH_PROVISION):
        return one_line(str(missing.problem))
    date = store.document(missing.nearest[0].law_id).metadata.get("date", "")
    if not date:
        return _("{provision} is not in the text.").format(provision=missing.text)
    return _("{provision} is not in the text in force from {date}.").format(
        provision=missing.text, date=date
    )


def _offer(passage: Passage, names: "LawNames") -> Offer:
    # Titles of laws are long: the distinguishing part comes first.
    law = names.title(passage.document_id)
    title = passage.header.removeprefix(law).strip() or passage.header
    return Offer(Spot.of(passage), title, law, passage.text[:_PREVIEW])


def _distinct(offers: Iterable[Offer]) -> list[Offer]:
    return list({(offer.spot, offer.title): offer for offer in offers}.values())


class Finder(Vertical):
    """Finds a place, in the open law by default; shows only the result of the newest text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "next", N_("Next"), id="jump.next", show=False),
        Binding("up", "previous", N_("Previous"), id="jump.previous", show=False),
    ]

    @dataclass
    class Chosen(Message):
        """A place was chosen."""

        spot: Spot

    @dataclass
    class Typed(Message):
        """The text has changed; its result may come later."""

        text: str

    @dataclass
    class Previewed(Message):
        """Another offer is highlighted, or none."""

        offer: Offer | None

    def __init__(self, law_id: str = "") -> None:
        super().__init__()
        self.law_id = law_id
        self._found_for = ""

    def compose(self) -> ComposeResult:
        yield TextField(
            placeholder=_("a law, an abbreviation, a citation"),
            id="place",
            compact=True,
            select_on_focus=False,
        )
        yield Paragraph(classes="problem")
        offers = OptionList()
        offers.can_focus = False
        yield offers
        words = _("Of so many documents not every title was looked at: search with {key}.")
        yield Paragraph(
            Content(words.format(key=key_of(self.app, "app.search"))),
            classes="cut",
        )

    def clear(self) -> None:
        self.query_one(Input).value = ""

    @property
    def typed(self) -> str:
        return self.query_one(Input).value.strip()

    @on(Input.Changed)
    def _typed_on(self, event: Input.Changed) -> None:
        event.stop()
        self.set_class(bool(self.typed), "-typed")
        self.post_message(self.Typed(self.typed))
        self._look()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.submit()

    def submit(self) -> None:
        """Choose the highlighted offer; before there are offers, the certain one to come."""
        if self._found_for == self.typed:
            option = self.query_one(OptionList).highlighted_option
            if isinstance(option, Valued):
                self._choose(option.value)
        elif self.typed:
            # A fast typist need not wait for the offers.
            self._look(choose=True)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        assert isinstance(event.option, Valued)
        self._choose(event.option.value)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        assert isinstance(event.option, Valued)
        self.post_message(self.Previewed(event.option.value))

    def action_next(self) -> None:
        """Highlight the next offer; with nothing typed, leave the field."""
        if self.typed:
            self.query_one(OptionList).action_cursor_down()
        else:
            self.screen.focus_next()

    def action_previous(self) -> None:
        self.query_one(OptionList).action_cursor_up()

    @work(exclusive=True)
    async def _look(self, *, choose: bool = False) -> None:
        typed, law_id = self.typed, self.law_id
        bench = bench_of(self)
        try:
            found = await bench.library.read_names(
                lambda store, names: look_up(store, names, typed, law_id)
            )
        except LocalragError as error:
            found = PlacesFound(cause=error.cause, cure=cure_of(error))
        self._show(found, typed)
        if choose and found.certain:
            self._choose(found.offers[0])

    def _show(self, found: PlacesFound, typed: str) -> None:
        self._found_for = typed
        self.set_class(bool(found.cause) or bool(typed and not found.offers), "-problem")
        self.set_class(not found.complete, "-cut")
        self.query_one(".problem", Paragraph).show(_problem(found, key_of(self.app, "app.search")))
        offers = self.query_one(OptionList)
        offers.clear_options()
        offers.add_options(Valued(_shown(offer), offer) for offer in found.offers)
        # Enter just after the list must not choose among several meanings, or a neighbour of a
        # missing provision.
        offers.highlighted = 0 if found.certain else None
        if offers.highlighted is None:
            self.post_message(self.Previewed(None))

    def _choose(self, offer: Offer) -> None:
        self.post_message(self.Chosen(offer.spot))


def _problem(found: PlacesFound, key: str) -> Content:
    searched = _("Search ({key}) looks into the texts.").format(key=key)
    if not found.cause:
        nothing = _("Nothing is called so.")
        return Content.assemble(nothing, "\n", (searched, "$foreground"))
    cure = _("Nearby:") if found.offers else one_line(found.cure) or searched
    return Content.assemble(one_line(found.cause), "\n", (cure, "$foreground"))


def _shown(offer: Offer) -> Content:
    title = one_line(offer.title)
    return Content.assemble(
        title, (f"  {one_line(offer.note)}" if offer.note else "", "$foreground-muted")
    )


class JumpDialogue(Dialogue):
    """Returns the chosen `Spot`; a place without a law belongs to the open law below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # The field takes Enter, too, but shows nothing in the footer.
        Binding("enter", "submit", N_("Go there"), id="jump.submit", priority=True),
    ]

    def action_submit(self) -> None:
        self.query_one(Finder).submit()

    def body(self) -> ComposeResult:
        yield Static(_("Go to a provision"), classes="heading")
        yield Finder(self._law_in_view())
        yield Paragraph(id="preview")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Finder.Previewed)
    def _preview(self, event: Finder.Previewed) -> None:
        text = event.offer.preview if event.offer else ""
        preview = self.query_one("#preview", Paragraph)
        preview.set_class(bool(text), "-filled")
        preview.show(Content(harmless(text)))

    @on(Finder.Chosen)
    def _chosen(self, event: Finder.Chosen) -> None:
        self.dismiss(event.spot)

    def _law_in_view(self) -> str:
        panes = cast("list[SourcePane]", [*self.app.screen_stack[-2].query("SourcePane")])
        read = sorted(panes, key=lambda pane: not pane.has_focus_within)
        return next((pane.spot.document_id for pane in read if pane.spot), "")
