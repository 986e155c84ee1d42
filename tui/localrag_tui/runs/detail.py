"""One run: how far it is, its entries, its answers, what failed, its report."""

from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import DataTable, ProgressBar, Static, TabbedContent, TabPane, Tabs

from localrag.errors import LocalragError, StorageError
from localrag.facts import Fact, FactKind
from localrag.language import N_, _
from localrag.progress import Progress
from localrag.reading.wording import FAILURES, STATUSES
from localrag_tui.runs.answer import AnswerDialogue
from localrag_tui.runs.lines import RunLine, Runs, RunState, problem, state
from localrag_tui.runs.report import ReportView, Shown, read
from localrag_tui.runs.rows import Cells, RowList, RowPlace
from localrag_tui.runs.work import EntryHalted, EntryStep, Warned
from localrag_tui.screen import bench_of
from localrag_tui.shown import flat, harmless, one_line
from localrag_tui.spot import OpenSpot, Spot
from localrag_tui.wording import called, duration, note, when

if TYPE_CHECKING:
    from localrag.batch.rows import WrittenRows
    from localrag_tui.app import Workbench

Places = tuple[list[RowPlace], list[RowPlace]]

_NOTES = 3
"""Notes shown at most, the newest of them."""
_OUTCOMES = {**STATUSES, **FAILURES}
_QUESTIONS = N_("Reading and checking the questions …")
_AFTER = {
    FactKind.TABLE_CHECKED: N_("Reading earlier answers, opening models and indexes …"),
    FactKind.GOES_ON: N_("Opening models and indexes …"),
}
"""What is done next, by what was told last."""


@dataclass
class Live:
    """The newest of what was told.

    Attributes:
        running: whether this application runs it now.
        stopping: whether it was asked to end.
        step: which part is under way; None of a batch.
        progress: how far that is.
        phase: what is done before the first question is asked.
        notes: what has to be known besides.
    """

    running: bool = False
    stopping: bool = False
    step: EntryStep | None = None
    progress: Progress | None = None
    phase: str = _QUESTIONS
    notes: list[str] = field(default_factory=list)

    def hear(self, event: object) -> None:
        """Take in an event."""
        match event:
            case Progress():
                self.progress = event
            case EntryStep():
                self.step, self.progress, self.phase = event, None, _QUESTIONS
            case _:
                if isinstance(event, Fact):
                    self.phase = _AFTER.get(event.kind, self.phase)
                if (note := _note(event)) and note not in self.notes:
                    self.notes = [*self.notes, note][-_NOTES:]

    def words(self) -> list[str]:
        """What is shown of it, line by line."""
        lines = []
        if self.running and self.stopping:
            lines.append(_("Stopping; what is answered is kept."))
        elif self.running and self.progress is None:
            lines.append(_(self.phase))
        elif self.running and (one := self.progress) is not None:
            lines.append(_pace(one))
        if self.running and self.step is not None:
            lines.insert(0, _step(self.step))
        return [*filter(None, lines), *self.notes]


def _step(step: EntryStep) -> str:
    if step.judge:
        return _("{judge} judges {name}, {place} of {of}").format(
            judge=step.judge, name=step.name, place=step.place, of=step.of
        )
    return _("{name}, order {order}; part {place} of {of}").format(
        name=step.name, order=step.order, place=step.place, of=step.of
    )


def _note(event: object) -> str:
    match event:
        case Fact(kind=FactKind.TABLE_CHECKED | FactKind.GOES_ON):
            return str(event) if event.fields.get("unreadable", event.fields.get("rows")) else ""
        case Fact():
            return note(event)
        case EntryHalted(name, cause, cure):
            return f"{name}: {cause} {cure}".rstrip()
        case Warned(message):
            return message
        case _:
            return ""


class RunDetail(Vertical):
    """Shows the run that is chosen in the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Before the keys of the table, which has no cursor to move.
        Binding("right", "part(1)", N_("Parts"), key_display="← →", id="runs.part", priority=True),
        Binding(
            "left", "part(-1)", N_("Part before"), id="runs.part_before", show=False, priority=True
        ),
    ]

    def __init__(self, runs: Runs, *, id: str) -> None:  # noqa: A002 - as every widget has it
        super().__init__(id=id, classes="-empty")
        self._runs = runs
        self._line: RunLine | None = None
        self._report = ("", "")

    def compose(self) -> ComposeResult:
        yield Static(classes="head")
        yield ProgressBar(total=1.0, show_eta=False, show_percentage=True)
        with TabbedContent():
            with TabPane(_("Answers"), id="pane-answers"):
                yield RowList(N_("Nothing is answered yet."), id="answers")
            with TabPane(_("Failures"), id="pane-failures"):
                yield RowList(N_("Nothing has failed."), id="failures")
            with TabPane(_("Entries"), id="pane-entries"):
                yield DataTable(id="entries", cursor_type="none")
            with TabPane(_("Report"), id="pane-report"):
                yield ReportView(id="report")

    def on_mount(self) -> None:
        table = self.query_one("#entries", DataTable)
        table.add_columns(_("entry"), _("order"), _("answered"), _("failed"), _("outcomes"))

    def show(self, line: RunLine, live: Live) -> None:
        """Show a run as it is now.

        Args:
            line: as its files say.
            live: as the process that runs it says.
        """
        anew = self._line is None or self._line.key != line.key
        self._line = line
        self.remove_class("-empty")
        self.query_one(".head", Static).update(_head(line, live))
        bar = self.query_one(ProgressBar)
        bar.display = line.state is not RunState.DAMAGED and line.total > 0
        bar.update(progress=_share(line, live))
        self._show_tabs(line, anew=anew)
        self._show_entries(line)
        self._show_rows(line, anew=anew)
        self._show_report(line)

    def refresh_head(self, live: Live) -> None:
        """Show how far it is, of which the process told."""
        if self._line is not None:
            self.query_one(".head", Static).update(_head(self._line, live))
            self.query_one(ProgressBar).update(progress=_share(self._line, live))

    def focus_part(self) -> None:
        """Go to the part that is in view."""
        pane = self.query_one(TabbedContent).active_pane
        if pane is not None:
            pane.children[0].focus()

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys to a report that is wider than its place, and to the tabs themselves."""
        focused = self.screen.focused
        if action == "part" and focused is not None:
            return not isinstance(focused, Tabs) and not focused.max_scroll_x
        return True

    def action_part(self, step: int) -> None:
        """Go to the next part, or the one before: answers, failures, entries, report."""
        tabs = self.query_one(TabbedContent)
        shown = [pane.id or "" for pane in tabs.query(TabPane) if tabs.get_tab(pane).display]
        tabs.active = shown[(shown.index(tabs.active) + step) % len(shown)]
        self.call_after_refresh(self.focus_part)

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Show a question with what became of it."""
        event.stop()
        if self._line is not None:
            self._open(self._line, event.place)

    def _show_tabs(self, line: RunLine, *, anew: bool) -> None:
        tabs = self.query_one(TabbedContent)
        if line.folder:
            tabs.show_tab("pane-entries")
            tabs.show_tab("pane-report")
        if anew:
            finished = line.folder and line.state is RunState.FINISHED
            first = "pane-report" if finished else "pane-entries"
            tabs.active = first if line.folder else "pane-answers"
        if not line.folder:
            # Only once another is active: a tab that is hidden makes its neighbour the active one.
            tabs.hide_tab("pane-entries")
            tabs.hide_tab("pane-report")

    def _show_entries(self, line: RunLine) -> None:
        table: DataTable[Text] = self.query_one("#entries", DataTable)
        table.clear()
        for part in line.parts if line.folder else ():
            words = part.stopped or _outcomes(dict(part.tally))
            cells = (
                one_line(part.name),
                str(part.order),
                f"{part.done:,} / {part.total:,}",
                f"{part.failed:,}",
                one_line(words),
            )
            table.add_row(*map(Text, cells))

    @work(exclusive=True, group="rows")
    async def _show_rows(self, line: RunLine, *, anew: bool) -> None:
        answered, failed = await to_thread(_places, self._runs, line)
        if not self.is_attached:
            return

        async def fetch(places: Sequence[RowPlace]) -> Mapping[RowPlace, Cells]:
            return await to_thread(_cells, self._runs, line, places)

        self.query_one("#answers", RowList).show(answered, fetch, anew=anew)
        self.query_one("#failures", RowList).show(failed, fetch, anew=anew)
        label = f"{_('Failures')} {len(failed):,}" if failed else _("Failures")
        self.query_one(TabbedContent).get_tab("pane-failures").label = Content(label)

    @work(exclusive=True, group="report")
    async def _show_report(self, line: RunLine) -> None:
        wanted = (line.key, line.finished if line.state is RunState.FINISHED else "")
        if line.folder is None or wanted == self._report:
            return
        report: Shown | LocalragError | None = None
        if wanted[1]:
            try:
                report = await to_thread(read, line.folder)
            except LocalragError as error:
                report = error
        await self.query_one(ReportView).show(report)
        self._report = wanted

    @work(exclusive=True, group="open")
    async def _open(self, line: RunLine, place: RowPlace) -> None:
        from localrag.batch.rows import ROWS

        path = line.parts[place.part].path
        try:
            row = ROWS.validate_python(
                await to_thread(lambda: self._runs.book(path).row(place.number))
            )
        except (OSError, LookupError, ValueError):
            self._bench.tell(
                StorageError(
                    _("Row {n} of {file} cannot be read any more.").format(
                        n=place.number, file=path
                    ),
                    _("The file has changed; look at it again in a moment."),
                )
            )
            return
        corpus = line.order.corpus if line.order else self._bench.corpus
        chosen = await self.app.push_screen_wait(AnswerDialogue(row, corpus))
        if isinstance(chosen, Spot):
            if corpus != self._bench.corpus:
                self._bench.memory.remember(corpus=corpus)
                words = _("The corpus in use is now {corpus}.").format(corpus=corpus)
                self.app.notify(harmless(words), markup=False)
            self.post_message(OpenSpot(chosen))

    @property
    def _bench(self) -> "Workbench":
        return bench_of(self)


def _share(line: RunLine, live: Live) -> float:
    """The part that is done, from 0 to 1; the process knows it sooner than the files were read."""
    done = line.done
    if live.progress is not None and line.folder is None:
        done = max(done, live.progress.done)
    return min(1.0, done / line.total) if line.total else 0.0


def _head(line: RunLine, live: Live) -> Content:
    cause, cure = problem(line)
    words, style = state(line)
    dates = [when(line.started)]
    if line.finished:
        dates.append(when(line.finished))
    rows = [
        Content.assemble((one_line(line.name), "bold"), "  ", (words, style)),
        Content.styled(one_line(line.about), "$foreground-muted"),
        Content.styled(" – ".join(filter(None, dates)), "$foreground-muted"),
    ]
    if line.known is not None:
        rows.append(Content.styled(one_line(_path(line.known.out)), "$foreground-muted"))
    if line.total:
        counted = _("{done} of {total}").format(done=f"{line.done:,}", total=f"{line.total:,}")
        rows.append(Content(one_line(" · ".join(filter(None, (counted, _outcomes(line.tally)))))))
    rows += (Content.styled(one_line(text), "$text-accent") for text in live.words())
    if cause:
        rows.append(Content.styled(harmless(cause), "$text-error"))
    if cure:
        rows.append(Content.styled(harmless(cure), "$foreground-muted"))
    return Content("\n").join(row for row in rows if row.plain)


def _path(path: Path) -> str:
    """A path as its owner writes it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _places(runs: Runs, line: RunLine) -> Places:
    """Where the answers of a run stand, and those of them that failed."""
    answered: list[RowPlace] = []
    failed: list[RowPlace] = []
    for index, part in enumerate(line.parts):
        with suppress(OSError):
            book = runs.book(part.path)
            answered += (RowPlace(index, number) for number in book.numbers(up_to=part.total))
            failed += (
                RowPlace(index, number) for number in book.numbers(failed=True, up_to=part.total)
            )
    return answered, failed


def _cells(runs: Runs, line: RunLine, places: Sequence[RowPlace]) -> dict[RowPlace, Cells]:
    return dict(_read_cells(runs, line, places))


def _read_cells(
    runs: Runs, line: RunLine, places: Sequence[RowPlace]
) -> Iterator[tuple[RowPlace, Cells]]:
    several = len(line.parts) > 1
    books: dict[int, WrittenRows] = {}
    for place in places:
        part = line.parts[place.part]
        try:
            if place.part not in books:
                books[place.part] = runs.book(part.path)
            row = books[place.part].row(place.number)
        except (OSError, LookupError, ValueError):
            yield place, Cells(str(place.number), "", "", _("cannot be read any more"))
            continue
        text = _text(row)
        if several:
            text = f"{part.name} {part.order}: {text}"
        status = str((row.get("error") or row).get("type" if row.get("error") else "status", ""))
        yield (
            place,
            Cells(
                str(place.number),
                one_line(str(row.get("id") or "")),
                called(status, _OUTCOMES),
                flat(text),
            ),
        )


def _text(row: Mapping[str, Any]) -> str:
    """What a row says in one line."""
    if error := row.get("error"):
        return f"{error.get('cause', '')}  {error.get('cure', '')}".strip()
    answer = str(row.get("label") or row.get("answer") or "")
    return f"{row.get('question') or ''} → {answer}"


def _outcomes(tally: dict[str, int]) -> str:
    """How many rows of each outcome."""
    return " · ".join(f"{called(name, _OUTCOMES)} {n:,}" for name, n in tally.items())


def _pace(progress: Progress) -> str:
    """How fast it goes and how long it will take; "" before that can be told."""
    if progress.seconds < 1 or progress.left is None or progress.done >= progress.total:
        return ""
    return _("{rate} a minute · about {left} left").format(
        rate=f"{60 * progress.rate:,.1f}", left=duration(progress.left)
    )
