"""The dialogue "Answer with": corpus, method and model."""

import asyncio
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from localrag.corpus.config import Config, load
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag.text.harmless import one_line
from localrag_tui.ask.composer import DEFAULT_READER
from localrag_tui.corpora.work import STATES, CorpusRow, overview
from localrag_tui.screen import Dialogue
from localrag_tui.shell.bars import KeyBar
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import content, cure_of, size

DEFAULT_ABOUT = N_("generative if a model is chosen, else extractive")


class Way(NamedTuple):
    """A method, or the default reader.

    Attributes:
        name: as in the settings; "" for the default reader.
    """

    name: str
    about: str
    chooses: bool = False
    needs_model: bool = False
    evaluates: bool = False
    layers: tuple[str, ...] = ()


class ModelChoice(NamedTuple):
    """A chat model.

    Attributes:
        name: as in the settings; "" for no model.
        size: bytes; 0 if it is not installed.
        problem: why it cannot be used; "" if it can.
    """

    name: str
    size: int = 0
    problem: str = ""


def ways() -> list[Way]:
    """Every way to answer, the default reader first."""
    from localrag.methods.catalogue import NAMES, method

    found = (method(name) for name in NAMES)
    return [
        Way("", DEFAULT_ABOUT),
        *(
            Way(one.name, one.about, one.chooses, one.needs_model, one.reads_context, one.layers)
            for one in found
        ),
    ]


def not_prepared(place: CorpusPaths, way: Way) -> str:
    """How to prepare the missing layers of a method; "" if none is missing."""
    from localrag.prepare.index import require_layers

    try:
        require_layers(place, way.layers)
    except LocalragError as error:
        return _("not prepared: {cure}").format(cure=cure_of(error))
    return ""


def chat_models(workspace: Workspace, *named: str) -> list[ModelChoice]:
    """No model, the installed ones, and the named ones on a server or missing here."""
    from localrag.corpus.inference.opening import as_ours
    from localrag_models.store import ModelStore

    store = ModelStore(workspace.models)
    wanted = [name for name in dict.fromkeys(named) if name]
    here = [
        ModelChoice(model.name, model.size) for model in store.installed() if model.kind == "chat"
    ]
    known = {model.name for model in here}
    served = [ModelChoice(name) for name in wanted if ":" in name and name not in known]
    missing = [name for name in wanted if ":" not in name and name not in known]
    faults = store.problems() if missing else {}
    lost = [
        ModelChoice(
            name, problem=as_ours(faults[name]).cause if name in faults else N_("not installed")
        )
        for name in missing
    ]
    return [ModelChoice(""), *served, *here, *lost]


def fault_of_options(way: Way, count: int) -> tuple[int, int] | None:
    """The least and the greatest number of options, if a question has another number."""
    from localrag.methods.catalogue import FEWEST, LABELS

    if not way.chooses or FEWEST <= count <= len(LABELS):
        return None
    return FEWEST, len(LABELS)


class ChoiceRow(NamedTuple):
    """A row of the dialogue.

    Attributes:
        field: the field of `Choices` it sets.
        why_not: why it cannot be chosen; "" if it can.
    """

    field: str
    value: str
    name: str
    about: str = ""
    why_not: str = ""


_TITLES = {"corpus": N_("Corpus"), "method": N_("Method"), "model": N_("Model")}


class Chooser(Dialogue):
    """Chooses corpus, method and model; each choice is remembered at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", N_("Choose"), id="chooser.choose", priority=True),
        Binding("space", "keep", N_("Choose and stay"), id="chooser.keep"),
        Binding("ctrl+o", "leave", N_("Close"), id="chooser.close", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: tuple[list[CorpusRow], list[Way], list[ModelChoice]] = ([], [], [])
        self._rows: list[ChoiceRow | None] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Content(_("Answer with")), classes="heading")
            yield OptionList(markup=False)
            yield Paragraph(id="about")
            yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(OptionList).loading = True
        self._look_up()

    def action_take(self) -> None:
        if self._choose():
            self.dismiss(None)

    def action_keep(self) -> None:
        self._choose()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        offer = self._rows[event.option_index] if event.option_index < len(self._rows) else None
        self.query_one("#about", Paragraph).show(content(offer.about if offer else ""))

    def on_option_list_option_selected(self) -> None:
        self._choose()

    @work
    async def _look_up(self) -> None:
        bench = self.bench
        chosen = bench.memory.choices.model or ""

        def look() -> tuple[list[CorpusRow], list[Way], list[ModelChoice]]:
            named = load(bench.workspace, bench.overrides).chat.model
            return overview(bench.workspace), ways(), chat_models(bench.workspace, named, chosen)

        try:
            self._found = await asyncio.to_thread(look)
        except LocalragError as error:
            self.dismiss(None)
            bench.tell(error)
            return
        listed = self.query_one(OptionList)
        listed.loading = False
        self._fill()
        listed.focus()

    def _choose(self) -> bool:
        place = self.query_one(OptionList).highlighted
        if place is None or (offer := self._rows[place]) is None or offer.why_not:
            return False
        self.bench.memory.remember(**{offer.field: offer.value})
        self._fill()
        return True

    def _fill(self) -> None:
        try:
            settings = self.bench.config()
        except LocalragError as error:
            # The settings of the chosen corpus are unreadable; another corpus may work.
            self.bench.tell(error)
            settings = Config()
        chosen = {
            "corpus": self.bench.corpus,
            "method": settings.method.name,
            "model": settings.chat.model,
        }
        found = list(self._all(with_model=bool(settings.chat.model)))
        name_width = max((cell_len(offer.name) for offer in found), default=0)
        listed = self.query_one(OptionList)
        before = self._rows[listed.highlighted] if listed.highlighted is not None else None
        options: list[Option] = []
        self._rows = []
        for field, offers in groupby(found, key=lambda offer: offer.field):
            options.append(Option(content(_(_TITLES[field]), "bold $accent"), disabled=True))
            self._rows.append(None)
            # Available choices first.
            for offer in sorted(offers, key=lambda offer: bool(offer.why_not)):
                row = _row(offer, name_width, chosen=chosen[field] == offer.value)
                options.append(Option(row, disabled=bool(offer.why_not)))
                self._rows.append(offer)
        listed.clear_options()
        listed.add_options(options)
        wanted = {before.field: before.value} if before else chosen
        listed.highlighted = self._place_of(wanted)

    def _place_of(self, wanted: Mapping[str, str]) -> int | None:
        return next(
            (
                at
                for at, offer in enumerate(self._rows)
                if offer and not offer.why_not and offer.value == wanted.get(offer.field)
            ),
            None,
        )

    def _all(self, *, with_model: bool) -> Iterator[ChoiceRow]:
        corpora, methods, models = self._found
        place = self.bench.workspace.corpus(self.bench.corpus)
        for row in corpora:
            documents = ngettext("{n:,} document", "{n:,} documents", row.documents)
            state = _(STATES[row.index]) if row.index else ""
            about = _(", ").join((documents.format(n=row.documents), state))
            yield ChoiceRow("corpus", row.name, row.name, about, row.problem)
        for way in methods:
            why_not = ""
            if way.evaluates:
                why_not = _("for evaluations only")
            elif way.needs_model and not with_model:
                why_not = _("needs a model")
            else:
                why_not = not_prepared(place, way)
            yield ChoiceRow(
                "method", way.name, way.name or _(DEFAULT_READER), _(way.about), why_not
            )
        for model in models:
            about = size(model.size) if model.size else ""
            if not model.name:
                about = _("answers by quotation alone")
            name = model.name or _("none")
            yield ChoiceRow("model", model.name, name, about, _(model.problem))


def _row(offer: ChoiceRow, name_width: int, *, chosen: bool) -> Content:
    pad = " " * (name_width - cell_len(offer.name) + 2)
    ink = "$foreground-muted" if offer.why_not else "$foreground"
    about = " - ".join(filter(None, (offer.why_not, offer.about)))
    return Content.assemble(
        ("✓ " if chosen else "  ", "bold"),
        content(one_line(offer.name), f"bold {ink}" if chosen else ink),
        pad,
        content(one_line(about), "$foreground-muted"),
    )
