"""The Runs screen: all batches and evaluations, and one of them in full."""

from asyncio import to_thread
from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import monotonic
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.coordinate import Coordinate
from textual.widgets import DataTable

from localrag.errors import UsageError
from localrag.language import N_, _
from localrag.text.harmless import one_line
from localrag_tui.runs import work as functions
from localrag_tui.runs.detail import Live, RunDetail
from localrag_tui.runs.work import (
    BatchOrder,
    EvaluationOrder,
    FolderMade,
    RunLine,
    Runs,
    RunState,
    state,
)
from localrag_tui.screen import WorkbenchScreen
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.look import sheets
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import shortened, when
from localrag_tui.work.jobs import Job, State

_EVERY = 2.0
"""Seconds between two looks at the files of a running run."""
_TICK = 0.2
"""Seconds between two looks for news."""
_REPAINT = 0.1
"""Seconds between two paints of the progress."""
_COUNTED = 15
"""Cells of the answered count."""
_COLUMNS = {
    N_("run"): 25,
    N_("state"): 9,
    N_("answered"): _COUNTED,
    N_("failed"): 6,
    N_("begun"): 11,
}
"""Headings of the list with their widths in cells; all fit into 80 columns."""


class RunsScreen(WorkbenchScreen):
    """The list of runs, newest first; the chosen one beside it, below 100 columns over it."""

    CSS_PATH = sheets("runs")
    MODE: ClassVar[str] = "runs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new_batch", N_("New batch"), id="runs.batch"),
        Binding("e", "new_evaluation", N_("Evaluate"), id="runs.evaluate"),
        Binding("s", "start", N_("Resume"), id="runs.start"),
        Binding("x", "stop", N_("Stop"), id="runs.stop"),
        Binding("t", "retry", N_("Retry failed"), id="runs.retry"),
        Binding("delete", "forget", N_("Forget"), id="runs.forget", show=False),
        Binding("z", "zoom", N_("Zoom"), id="runs.zoom"),
        Binding("escape", "close", N_("Back"), id="runs.close", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._lines: dict[str, RunLine] = {}
        self._live: dict[str, Live] = {}
        self._folders: dict[int, str] = {}
        self._changed = False
        self._begun = ""
        self._stale = False
        self._looking = False
        self._known = False
        self._seen = 0.0

    def body(self) -> ComposeResult:
        self._runs = Runs(self.bench.workspace, self.bench.overrides)
        with Horizontal():
            with Vertical(id="list"):
                yield DataTable(id="runs", cursor_type="row")
                yield Paragraph(Content(_how_to_begin(self.app)), id="nothing")
                yield Paragraph(id="under-way")
            yield RunDetail(self._runs, id="detail")

    def on_mount(self) -> None:
        table = self._table
        for name, width in _COLUMNS.items():
            table.add_column(_(name), key=name, width=width)
        table.focus()
        self._unlisten = self.bench.jobs.listen(self._hear)
        self.watch(self.app, "theme", self._show, init=False)
        self.set_interval(_TICK, self._tick)
        self.set_interval(_REPAINT, self._repaint)
        self.look()

    def on_unmount(self) -> None:
        self._unlisten()

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self.look()

    @work(exclusive=True, group="look")
    async def look(self) -> None:
        self._stale, self._looking = False, True
        try:
            lines = await to_thread(self._runs.lines)
        finally:
            self._looking, self._seen = False, monotonic()
        self._known = True
        self._lines = {line.key: self._as_run_here(line) for line in lines}
        self._show()

    def on_data_table_row_highlighted(self) -> None:
        self._show_chosen()

    def on_data_table_row_selected(self) -> None:
        self.add_class("-opened")
        self._show_chosen()
        self.query_one(RunDetail).focus_part()

    def action_close(self) -> None:
        self.remove_class("-opened", "-zoomed")
        self._table.focus()

    def action_zoom(self) -> None:
        """Give the chosen run the whole width, or half of it again."""
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        else:
            self.add_class("-zoomed")
            if self.focused is self._table:
                self.query_one(RunDetail).focus_part()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        del parameters
        return not (action == "zoom" and (self.has_class("-narrow") or not self._lines))

    async def action_new_batch(self) -> None:
        from localrag_tui.runs.starting import BatchDialogue

        await self.app.push_screen(BatchDialogue(), self._start_chosen)

    async def action_new_evaluation(self) -> None:
        from localrag_tui.runs.starting import EvaluationDialogue

        await self.app.push_screen(EvaluationDialogue(), self._start_chosen)

    def action_start(self) -> None:
        self._go_on(retry_failed=False)

    def action_retry(self) -> None:
        self._go_on(retry_failed=True)

    async def action_stop(self) -> None:
        line = self._chosen
        if line is None:
            return
        if line.state is RunState.ELSEWHERE:
            self.notify(
                _("Another process runs it: stop it there. Answers are kept."),
                severity="warning",
            )
            return
        for job in self.bench.jobs.running:
            if self._key(job) == line.key:
                self._live[line.key].stopping = True
                key = key_of(self.app, "runs.start")
                words = _("Stopping. All answers are kept; {key} resumes it.")
                self.notify(words.format(key=key))
                await job.stop()

    @work
    async def action_forget(self) -> None:
        line = self._chosen
        if line is None or line.state in (RunState.RUNNING, RunState.ELSEWHERE):
            return
        if line.known is None:
            self.notify(_("An evaluation lies in the workspace: remove its folder to forget it."))
            return
        await to_thread(self._runs.forget, line.known)
        self.notify(_("Removed from the list; its questions and answers stay."))
        self.look()

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one("#runs", DataTable)

    @property
    def _chosen(self) -> RunLine | None:
        table = self._table
        if not table.row_count:
            return None
        key = table.coordinate_to_cell_key(Coordinate(table.cursor_row, 0)).row_key.value
        return self._lines.get(key or "")

    def _go_on(self, *, retry_failed: bool) -> None:
        line = self._chosen
        if line is None:
            return
        if line.state in (RunState.RUNNING, RunState.ELSEWHERE):
            self.notify(_("It is running already."))
        elif line.order is None:
            self.bench.tell(
                UsageError(
                    _("It cannot be resumed from here: its questions came from a stream."),
                    _("Give the command again in a shell, with the same questions."),
                )
            )
        elif line.state is RunState.FINISHED and not line.failed:
            self.notify(_("It is finished, and none of its questions has failed."))
        elif line.state is RunState.FINISHED and not retry_failed:
            key = key_of(self.app, "runs.retry")
            self.notify(_("It is finished. {key} asks its failed questions again.").format(key=key))
        else:
            self._start_chosen(replace(line.order, retry_failed=retry_failed))

    def _start_chosen(self, order: object) -> None:
        if isinstance(order, BatchOrder | EvaluationOrder):
            self._begun = order.key
        if isinstance(order, BatchOrder):
            title = _("Batch {name}").format(name=one_line(order.out.name))
            self.bench.jobs.start(Job(title, functions.batch, (order,)))
        elif isinstance(order, EvaluationOrder):
            title = _("Evaluation of {name}").format(name=one_line(order.dataset))
            self.bench.jobs.start(Job(title, functions.evaluation, (order,)))

    def _hear(self, job: Job, event: object) -> None:
        if isinstance(event, FolderMade):
            self._begun = self._folders[id(job)] = event.folder
        key = self._key(job)
        self._changed = True
        if key is None:
            return
        live = self._live.setdefault(key, Live())
        if event is not None:
            live.hear(event)
        elif job.state is State.RUNNING:
            live = self._live[key] = Live(running=True)
        live.running = job.state is State.RUNNING
        if job.state is State.FAILED and job.error is not None:
            live.notes = [str(job.error)]
        self._stale = self._stale or event is None or key not in self._lines

    def _key(self, job: Job) -> str | None:
        """The run of a job; None for other jobs, or if unknown yet."""
        order = job.arguments[0] if job.arguments else None
        if job.function not in (functions.batch, functions.evaluation):
            return None
        if isinstance(order, BatchOrder | EvaluationOrder):
            return order.key or self._folders.get(id(job))
        return None

    def _tick(self) -> None:
        """Read the files while a run is running, or after a change."""
        if not self.is_current:
            return
        running = any(
            line.state in (RunState.RUNNING, RunState.ELSEWHERE) for line in self._lines.values()
        )
        if not self._looking and (self._stale or (running and monotonic() - self._seen > _EVERY)):
            self._looking = True
            self.look()

    def on_resize(self) -> None:
        self._changed = True

    def _repaint(self) -> None:
        if not self._changed or not self.is_current:
            return
        self._changed = False
        self._show_under_way()
        line = self._chosen
        if line is not None:
            self.query_one(RunDetail).refresh_head(self._live.get(line.key, Live()))

    def _show_under_way(self) -> None:
        told = "\n".join(self._under_way())
        place = self.query_one("#under-way", Paragraph)
        place.show(Content(told))
        place.display = bool(told)
        self.query_one("#nothing").display = self._known and not (self._lines or told)

    def _under_way(self) -> Iterator[str]:
        for job in self.bench.jobs.running:
            if job.function in (functions.batch, functions.evaluation):
                key = self._key(job) or ""
                if key not in self._lines or self.has_class("-narrow"):
                    live = self._live.get(key) or Live(running=True)
                    yield one_line(f"{job.title}: {' · '.join(live.words())}")

    def _as_run_here(self, line: RunLine) -> RunLine:
        live = self._live.get(line.key)
        if live is not None and live.running:
            return replace(line, state=RunState.RUNNING, cause="", cure="")
        return line

    def _show(self) -> None:
        """Show the list; the cursor stays on its run, or goes to the started one."""
        table, chosen, colours = self._table, self._chosen, self.app.theme_variables
        begun, self._begun = self._begun, self._begun if self._begun not in self._lines else ""
        self._show_under_way()
        table.display = bool(self._lines)
        if self.focused is None and self._lines:
            # An empty list cannot have the focus.
            table.focus()
        if [key.value for key in table.rows] != list(self._lines):
            table.clear()
            for key, line in self._lines.items():
                table.add_row(*_cells(line, colours), key=key)
            if chosen is not None and chosen.key in self._lines:
                begun = begun or chosen.key
        else:
            for key, line in self._lines.items():
                for column, cell in zip(_COLUMNS, _cells(line, colours), strict=True):
                    table.update_cell(key, column, cell)
        if begun in self._lines:
            table.move_cursor(row=table.get_row_index(begun))
        self._show_chosen()

    def _show_chosen(self) -> None:
        line = self._chosen
        if line is None:
            self.query_one(RunDetail).add_class("-empty")
        else:
            self.query_one(RunDetail).show(line, self._live.get(line.key, Live()))


def _how_to_begin(app: App[object]) -> str:
    words = _("There is no run yet. {batch} begins a batch, {evaluation} an evaluation.")
    return words.format(
        batch=key_of(app, "runs.batch"),
        evaluation=key_of(app, "runs.evaluate"),
    )


def _cells(line: RunLine, colours: Mapping[str, str]) -> tuple[Text, ...]:
    words, style = state(line)
    total = f"{line.done:,} / {line.total:,}" if line.total else ""
    if len(total) > _COUNTED:
        total = f"{shortened(line.done)} / {shortened(line.total)}"
    failed = f"{line.failed:,}" if line.failed else ""
    return (
        Text(one_line(line.name), no_wrap=True, overflow="ellipsis"),
        Text(words, style=colours[style.removeprefix("$")]),
        Text(total, justify="right"),
        Text(failed, justify="right"),
        # Without the year.
        Text(when(line.started)[5:]),
    )
