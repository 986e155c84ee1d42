"""The Models screen: installed, used and loaded models, and models to pull."""

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from rich.cells import cell_len, set_cell_size
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from localrag.corpus.config import Config
from localrag.errors import LocalragError, NotFoundError, StorageError, UsageError
from localrag.language import N_, _
from localrag.text.harmless import cut, one_line
from localrag_models.catalogue import OWN
from localrag_tui.jobs import JobView
from localrag_tui.models.doctor import DoctorDialogue
from localrag_tui.models.stock import (
    KINDS,
    MemoryUsage,
    ModelRow,
    ModelState,
    advice,
    details,
    measure,
    memory,
    state,
    take_stock,
)
from localrag_tui.models.work import (
    add_model,
    export_model,
    import_model,
    pull_model,
    remove_model,
    try_model,
    verify_models,
)
from localrag_tui.screen import WorkbenchScreen, bench_of
from localrag_tui.shell.form import Field, Form, as_path, existing
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.listing import Listing
from localrag_tui.shell.look import sheets
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import size
from localrag_tui.work.jobs import Job, JobOutcome
from localrag_tui.work.jobs import State as JobState


def endpoint() -> str:
    """The address of the hub: ``HF_ENDPOINT``, else the public one."""
    from localrag_models.hub import PUBLIC_HUB

    return os.environ.get("HF_ENDPOINT") or PUBLIC_HUB


def pull_form(row: ModelRow | None, own: Path) -> Form:
    """Ask for a model to pull, and name the host: nothing else here uses the network.

    `own` is the file of the user's own entries.
    """
    host = urlsplit(endpoint()).netloc.rpartition("@")[2] or endpoint()
    text = _(
        "This uses the network: {host} sends files, and they are checked and kept in this "
        "workspace. Without a network: export the model on another machine, carry the file "
        "here, and import it (i)."
    ).format(host=host)
    if row is not None and row.size:
        left = size(max(row.size - row.fetched, 0))
        text += "\n\n" + _("{size} are to be fetched.").format(size=left)
    return Form(
        _("Pull a model"),
        text,
        go=_("Pull from {host}").format(host=host),
        fields=(
            Field(
                "wanted",
                _("name of the catalogue, OWNER/REPOSITORY or OWNER/REPOSITORY/FILE.gguf"),
                value=row.name if row is not None and row.size else "",
            ),
        ),
        check=partial(_check_wanted, own),
    )


def add_form() -> Form:
    """Ask for a model at hand."""
    fields = (
        Field("path", _(".gguf file, or folder of sentence-transformers"), is_path=True),
        Field("name", _("name; empty: after the file")),
    )
    about = _("It is copied into this workspace; its kind is read from it.")
    return Form(_("Add a model"), about, go=_("Add"), fields=fields, check=_check_path)


def import_form() -> Form:
    """Ask for an archive exported elsewhere."""
    fields = (
        Field("path", _("file written by export (NAME.tar)"), is_path=True),
        Field("name", _("name; empty: as it was")),
    )
    about = _("From a file that was exported on another machine; every hash is checked.")
    return Form(_("Import a model"), about, go=_("Import"), fields=fields, check=_check_path)


def export_form(name: str) -> Form:
    """Ask for a file to write a model to."""
    return Form(
        _("Export {name}").format(name=name),
        _("One file with the model, its licence and every hash, to carry to another machine."),
        go=_("Export"),
        fields=(
            Field(
                "path",
                _("file to write, or a folder to write it into"),
                is_path=True,
                hint=_("for example {value}").format(value="/media/stick/"),
            ),
        ),
        check=_check_target,
    )


def remove_form(row: ModelRow) -> Form:
    """Ask before removing a model."""
    text = _("Its files are deleted; conversations and corpora stay.")
    if row.used_as:
        text += "\n" + _("The settings name it ({setting}).").format(setting=row.used_as)
    title = _("Delete the downloaded part of {name}?")
    if row.state is not ModelState.UNFINISHED:
        title = _("Remove {name}?")
    return Form(title.format(name=row.name), text, go=_("Remove"), danger=True)


def _check_wanted(own: Path, values: dict[str, str]) -> None:
    from localrag.corpus.inference.opening import named
    from localrag_models.hub import Wish

    if not values["wanted"]:
        raise UsageError(_("No model is named."))
    with named():
        Wish.parse(values["wanted"], own)


def _check_path(values: dict[str, str]) -> None:
    existing(values["path"])


def _check_target(values: dict[str, str]) -> None:
    if not values["path"]:
        raise UsageError(_("No file or folder is named."))
    folder = as_path(values["path"]).parent
    if not folder.is_dir():
        raise NotFoundError(
            _("There is no folder {path}.").format(path=folder), _("Make it first.")
        )


_EVERY = 1.0


class MemoryPane(Static):
    """Two lines on memory."""

    class Measured(Message):
        """The first measurement is there: now a model fits or not."""

    def __init__(self) -> None:
        super().__init__()
        self.usage: MemoryUsage | None = None

    def on_mount(self) -> None:
        self.set_interval(_EVERY, self._look)
        self._look()

    def _look(self) -> None:
        if self.screen.is_current:
            self._measure()

    @work(exclusive=True)
    async def _measure(self) -> None:
        engine = bench_of(self).engine
        first = self.usage is None
        self.usage = await asyncio.to_thread(measure, engine.pid)
        self.update(memory(self.usage, engine.model))
        if first:
            self.post_message(self.Measured())


_LONGEST_NAME = 30
"""Cells; a name has up to 64, a name on a server more."""
_SIZE = 9
_TO_BE_PULLED = (ModelState.AVAILABLE, ModelState.UNFINISHED)


class ModelsList(Listing):
    """Every model in columns: installed ones, then models to pull."""

    def __init__(self) -> None:
        super().__init__()
        self._listed: list[ModelRow] = []

    @property
    def chosen(self) -> ModelRow | None:
        option = self.highlighted_option
        return self._listed[int(option.id)] if option is not None and option.id else None

    def fill(self, rows: list[ModelRow], usage: MemoryUsage | None, chosen: str = "") -> None:
        """Show other models; the cursor goes to `chosen`, else stays on its model."""
        name = chosen or (self.chosen.name if self.chosen is not None else "")
        here = [row for row in rows if row.state not in _TO_BE_PULLED]
        others = [row for row in rows if row.state in _TO_BE_PULLED]
        self._listed = here + others
        columns = _Columns(self._listed, usage)
        self.clear_options()
        self._head(_("In this workspace"))
        if not here:
            self._head(_("None yet; search and quotations work without."), "$foreground-muted")
        self._rows(columns, here, 0)
        if others:
            self._head("")
            self._head(_("Can be pulled"))
        self._rows(columns, others, len(here))
        names = [row.name for row in self._listed]
        place = names.index(name) if name in names else 0
        if names:
            self.highlighted = self.get_option_index(str(place))

    def _head(self, words: str, style: str = "bold $text-primary") -> None:
        self.add_option(Option(Content.styled(words, style), disabled=True))

    def _rows(self, columns: "_Columns", rows: list[ModelRow], first: int) -> None:
        for place, row in enumerate(rows, first):
            self.add_option(Option(columns.line(row), id=str(place)))


class _Columns:
    def __init__(self, rows: list[ModelRow], usage: MemoryUsage | None) -> None:
        names = (cell_len(one_line(row.name)) for row in rows)
        self._name = min(max(names, default=0), _LONGEST_NAME)
        self._usage = usage
        self._kind = max(cell_len(_(kind)) for kind in KINDS.values())

    def line(self, row: ModelRow) -> Content:
        name = cut(one_line(row.name), self._name)
        bold = "bold" if row.used_as else ""
        return Content.assemble(
            (set_cell_size(name, self._name), bold),
            "  ",
            (set_cell_size(_(KINDS[row.kind]), self._kind), "$foreground-muted"),
            (size(row.size).rjust(_SIZE) if row.size else " " * _SIZE),
            "  ",
            state(row, self._usage),
        )


_FURTHER_KEYS = ("release", "import", "export", "verify", "remove")
_TRIED = (ModelState.INSTALLED, ModelState.SERVED)
"""States of a usable model."""


class ModelsScreen(WorkbenchScreen):
    """The models of the workspace."""

    CSS_PATH = sheets("parts", "models")
    MODE: ClassVar[str] = "models"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "use", N_("Use"), id="models.use"),
        Binding("t", "try", N_("Test"), id="models.test"),
        Binding("p", "pull", N_("Pull"), id="models.pull"),
        Binding("a", "add", N_("Add"), id="models.add"),
        Binding("x", "stop", N_("Stop"), id="models.stop"),
        Binding("d", "doctor", N_("Doctor"), id="models.doctor"),
        Binding("m", "release", N_("Free the memory"), id="models.release", show=False),
        Binding("i", "import", N_("Import"), id="models.import", show=False),
        Binding("e", "export", N_("Export"), id="models.export", show=False),
        Binding("v", "verify", N_("Compare with the hashes"), id="models.verify", show=False),
        Binding("delete", "remove", N_("Remove"), id="models.remove", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._jobs: list[Job] = []
        self._rows: list[ModelRow] = []

    def body(self) -> ComposeResult:
        with Horizontal(id="parts"):
            yield ModelsList()
            with VerticalScroll(id="side"):
                yield Paragraph(id="details")
                yield Vertical(id="work")
                yield MemoryPane()
                yield Paragraph(Content(self._further_keys()), id="keys")

    def on_mount(self) -> None:
        self._unlisten = self.bench.jobs.listen(self._on_job)
        self.query_one(ModelsList).focus()

    def on_unmount(self) -> None:
        self._unlisten()

    def on_screen_resume(self) -> None:
        self.refill()

    @work(exclusive=True, group="stock")
    async def refill(self, chosen: str = "") -> None:
        try:
            rows = await asyncio.to_thread(
                lambda: take_stock(self.bench.workspace, self.bench.config())
            )
        except LocalragError as error:
            self.bench.tell(error)
            return
        except OSError as error:
            reason = _("The folder of the models cannot be read ({reason}).")
            cure = _("Check its permissions and the disk.")
            self.bench.tell(StorageError(reason.format(reason=error.strerror), cure))
            return
        self._rows = rows
        self._show_rows(chosen)

    @on(MemoryPane.Measured)
    def _show_fit(self) -> None:
        self._show_rows()

    def _show_rows(self, chosen: str = "") -> None:
        self.query_one(ModelsList).fill(self._rows, self.query_one(MemoryPane).usage, chosen)
        self._show_details()

    @on(OptionList.OptionHighlighted)
    def _show_details(self) -> None:
        row = self.query_one(ModelsList).chosen
        if row is not None:
            usage = self.query_one(MemoryPane).usage
            self.query_one("#details", Paragraph).show(details(row, usage))

    def action_use(self) -> None:
        """Answer with this model; again, with the setting."""
        row = self._chosen(*_TRIED)
        if row is None:
            return
        if row.kind != "chat":
            self._say(advice(row.name, row.kind))
            return
        memory = self.bench.memory
        unused = memory.choices.model == row.name
        memory.remember(model=None if unused else row.name)
        config = self._config()
        if config is not None:
            name = config.chat.model or _("quotations, without a model")
            self._say(_("Answers: {name}").format(name=name))
        self.refill()

    def action_try(self) -> None:
        row = self._chosen(*_TRIED)
        if row is None:
            return
        config = self._config()
        if config is not None:
            question = _("In one sentence: why does ice float on water?")
            arguments = (self.bench.workspace, row.name, row.kind, config, question)
            self._start(Job(_("Test {name}").format(name=row.name), try_model, arguments))

    def action_pull(self) -> None:
        """Pull the model after the user agrees to the host."""

        def go(values: dict[str, str]) -> None:
            title = _("Pull {name}").format(name=values["wanted"])
            arguments = (self.bench.workspace, values["wanted"], endpoint())
            self._start(Job(title, pull_model, arguments))

        row = self.query_one(ModelsList).chosen
        pulled = row is not None and row.state in (ModelState.AVAILABLE, ModelState.UNFINISHED)
        own = self.bench.workspace.models.parent / OWN
        self._ask(pull_form(row if pulled else None, own), go)

    def action_add(self) -> None:
        self._ask(add_form(), partial(self._install, _("Add {path}"), add_model))

    def action_import(self) -> None:
        self._ask(import_form(), partial(self._install, _("Import {path}"), import_model))

    def _install(self, title: str, install: Callable[..., object], values: dict[str, str]) -> None:
        arguments = (self.bench.workspace, as_path(values["path"]), values["name"])
        self._start(Job(title.format(path=values["path"]), install, arguments))

    def action_export(self) -> None:
        row = self._chosen(ModelState.INSTALLED)
        if row is None:
            return

        def go(values: dict[str, str]) -> None:
            title = _("Export {name}").format(name=row.name)
            arguments = (self.bench.workspace, row.name, as_path(values["path"]))
            self._start(Job(title, export_model, arguments))

        self._ask(export_form(row.name), go)

    def action_verify(self) -> None:
        row = self._chosen(ModelState.INSTALLED, ModelState.DAMAGED)
        if row is not None:
            title = _("Compare {name} with its hashes").format(name=row.name)
            self._start(Job(title, verify_models, (self.bench.workspace, [row.name])))

    def action_remove(self) -> None:
        row = self._chosen(ModelState.INSTALLED, ModelState.DAMAGED, ModelState.UNFINISHED)
        if row is not None:
            self._ask(remove_form(row), lambda _values: self._remove(row.name))

    def action_doctor(self) -> None:
        self.app.push_screen(DoctorDialogue())

    async def action_stop(self) -> None:
        running = [job for job in self._jobs if job.state is JobState.RUNNING]
        if running:
            await running[-1].stop()

    @work(group="release")
    async def action_release(self) -> None:
        await self.bench.engine.release()
        self._say(_("The memory is free; the next question loads the model again."))

    @work(group="remove")
    async def _remove(self, name: str) -> None:
        try:
            await asyncio.to_thread(remove_model, self.bench.workspace, name)
        except LocalragError as error:
            self.bench.tell(error)
        self.refill()

    def _chosen(self, *states: ModelState) -> ModelRow | None:
        """The model under the cursor; in another state, a notice and None."""
        row = self.query_one(ModelsList).chosen
        if row is None or row.state in states:
            return row
        if row.state in (ModelState.AVAILABLE, ModelState.UNFINISHED):
            key = key_of(self.app, "models.pull")
            self._say(_("It is not installed yet: {key} pulls it.").format(key=key))
        else:
            self._say(_("This cannot be done with {name}.").format(name=row.name))
        return None

    def _further_keys(self) -> str:
        titles = {b.id: b.description for b in self.BINDINGS if isinstance(b, Binding)}
        ids = (f"models.{name}" for name in _FURTHER_KEYS)
        return " · ".join(f"{key_of(self.app, id_)} {_(titles[id_])}" for id_ in ids)

    def _config(self) -> Config | None:
        """The settings; if they are invalid, a notice and None."""
        try:
            return self.bench.config()
        except LocalragError as error:
            self.bench.tell(error)
            return None

    def _say(self, text: str) -> None:
        self.notify(text, markup=False)

    def _ask(self, form: Form, go: Callable[[dict[str, str]], object]) -> None:
        def agreed(values: object) -> None:
            if isinstance(values, dict):
                go(values)

        self.app.push_screen(form, agreed)

    def _start(self, job: Job) -> None:
        self._jobs = [known for known in self._jobs if known.state is JobState.RUNNING]
        for view in self.query(JobView):
            if view.job not in self._jobs:
                view.remove()
        self._jobs.append(self.bench.jobs.start(job))
        self.query_one("#work").mount(JobView(job, full=True), before=0)

    def _on_job(self, job: Job, event: object) -> None:
        if job in self._jobs and event is None and job.state is not JobState.RUNNING:
            self.refill(job.value.made if isinstance(job.value, JobOutcome) else "")
