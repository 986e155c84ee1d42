"""Naming a place: what can be meant is found while one types, on Read and in a dialogue."""

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static

from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag_tui.jump.places import Offer, PlacesFound, look_up
from localrag_tui.screen import Dialogue, bench_of
from localrag_tui.shell.keys import bench_key
from localrag_tui.shown import harmless, one_line
from localrag_tui.spot import Spot
from localrag_tui.widgets.listing import Valued
from localrag_tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from localrag_tui.source.pane import SourcePane


class Finder(Vertical):
    """Asks for a place; what is found for the newest text is shown, whatever comes in late.

    Attributes:
        law_id: the law that is read, which a place without a law is of; "" for none.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Finder {
        height: auto;
        Input, Input:focus { background: $panel; padding: 0 1; }
        OptionList {
            height: auto; max-height: 1fr; background: $surface;
            border: none; padding: 0 1;
        }
        .problem { height: auto; padding: 1 1; color: $error; display: none; }
        .cut { height: auto; padding: 0 1; color: $foreground-muted; display: none; }
        &.-typed { height: 1fr; }
        &.-problem .problem { display: block; }
        &.-cut .cut { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "next", N_("Next"), id="jump.next", show=False),
        Binding("up", "previous", N_("Previous"), id="jump.previous", show=False),
    ]

    class Chosen(Message):
        """A place was chosen."""

        def __init__(self, spot: Spot) -> None:
            super().__init__()
            self.spot = spot

    class Typed(Message):
        """Something else is typed; what is shown for it may come later."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Looked(Message):
        """An offer is looked at; None where there is none."""

        def __init__(self, offer: Offer | None) -> None:
            super().__init__()
            self.offer = offer

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
        yield Static(classes="problem")
        offers = OptionList()
        offers.can_focus = False
        yield offers
        words = _("Of so many documents not every title was looked at: search with {key}.")
        yield Static(
            Content(words.format(key=bench_key(self.app, "app.search"))),
            classes="cut",
        )

    def clear(self) -> None:
        """Empty the field."""
        self.query_one(Input).value = ""

    @property
    def typed(self) -> str:
        """What stands in the field."""
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
        """Choose the offer that is looked at; before anything is offered, what is meant."""
        if self._found_for == self.typed:
            option = self.query_one(OptionList).highlighted_option
            if isinstance(option, Valued):
                self._choose(option.value)
        elif self.typed:
            # Who types fast need not wait for what is offered.
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
        self.post_message(self.Looked(event.option.value))

    def action_next(self) -> None:
        """Look at the next offer; with nothing typed, go on to what stands below."""
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
            found = PlacesFound(cause=error.cause, cure=error.cure)
        self._show(found, typed)
        if choose and found.certain:
            self._choose(found.offers[0])

    def _show(self, found: PlacesFound, typed: str) -> None:
        self._found_for = typed
        self.set_class(bool(found.cause) or bool(typed and not found.offers), "-problem")
        self.set_class(not found.complete, "-cut")
        self.query_one(".problem", Static).update(
            _problem(found, bench_key(self.app, "app.search"))
        )
        offers = self.query_one(OptionList)
        offers.clear_options()
        offers.add_options(Valued(_shown(offer), offer) for offer in found.offers)
        # One of several meanings, or a neighbour of what is missing, is taken by nobody unawares:
        # not by an Enter either that comes just after the list.
        offers.highlighted = 0 if found.certain else None
        if offers.highlighted is None:
            self.post_message(self.Looked(None))

    def _choose(self, offer: Offer) -> None:
        self.post_message(self.Chosen(offer.spot))


def _problem(found: PlacesFound, key: str) -> Content:
    searched = _("Search ({key}) looks into the texts.").format(key=key)
    if not found.cause:
        nothing = _("Nothing is called so.")
        return Content.assemble(nothing, "\n", (searched, "$foreground"))
    cure = _("What there is around it:") if found.offers else one_line(found.cure) or searched
    return Content.assemble(one_line(found.cause), "\n", (cure, "$foreground"))


def _shown(offer: Offer) -> Content:
    title = one_line(offer.title)
    return Content.assemble(
        title, (f"  {one_line(offer.note)}" if offer.note else "", "$foreground-muted")
    )


class JumpDialogue(Dialogue):
    """Gives back the `Spot` that was chosen.

    A place without a law is one of the law that is read on the screen below.
    """

    CSS: ClassVar[str] = """
    JumpDialogue {
        align: center top;
        & > .box { width: 76; max-width: 100%; max-height: 90%; margin-top: 2; padding: 1 1 0 1; }
        .heading { padding: 0 1; margin: 0 0 1 0; }
        Finder { height: auto; max-height: 100%; }
        Finder.-typed { height: auto; }
        Finder OptionList { max-height: 10; }
        #preview {
            height: auto; max-height: 5; padding: 0 1; background: $panel; color: $foreground;
            display: none;
        }
        #preview.-filled { display: block; }
    }
    JumpDialogue.-wide > .box, JumpDialogue.-normal > .box { width: 90; margin-top: 4; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # The field takes Enter too, but tells nobody in the footer.
        Binding("enter", "submit", N_("Go there"), id="jump.submit", priority=True),
    ]

    def action_submit(self) -> None:
        self.query_one(Finder).submit()

    def body(self) -> ComposeResult:
        yield Static(_("Go to a provision"), classes="heading")
        yield Finder(self._law_in_view())
        yield Static(id="preview")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Finder.Looked)
    def _preview(self, event: Finder.Looked) -> None:
        text = event.offer.preview if event.offer else ""
        preview = self.query_one("#preview", Static)
        preview.set_class(bool(text), "-filled")
        preview.update(Content(harmless(text)))

    @on(Finder.Chosen)
    def _chosen(self, event: Finder.Chosen) -> None:
        self.dismiss(event.spot)

    def _law_in_view(self) -> str:
        panes = cast("list[SourcePane]", [*self.app.screen_stack[-2].query("SourcePane")])
        read = sorted(panes, key=lambda pane: not pane.has_focus_within)
        return next((pane.spot.document_id for pane in read if pane.spot), "")
