"""One run: progress, entries, answers, failures, and the report of an evaluation.

Bars are drawn here: plotting libraries for terminals count characters, not cells, and use
several lines a bar. These take one line each and fit into 80 columns.
"""

from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import DataTable, ProgressBar, Static, TabbedContent, TabPane, Tabs

from localrag.answer.wording import FAILURES, STATUSES
from localrag.errors import LocalragError, StorageError
from localrag.language import N_, _
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import harmless, one_line
from localrag.text.progress import Progress
from localrag_tui.runs.rows import AnswerDialogue, RowCells, RowList, RowPlace
from localrag_tui.runs.work import (
    EntryHalted,
    EntryStep,
    RunLine,
    Runs,
    RunState,
    Warned,
    problem,
    state,
)
from localrag_tui.screen import bench_of
from localrag_tui.shell.base import finish
from localrag_tui.shown import called, content, duration, flat, note, when
from localrag_tui.spot import OpenSpot, Spot

if TYPE_CHECKING:
    from localrag.evaluation.report.document import ReportSection, Table
    from localrag.evaluation.statistics import Estimate
    from localrag.evaluation.types import Published
    from localrag.ops.batch.rows import WrittenRows
    from localrag_tui.app import Workbench

_NAME = 26
"""Most cells of a name."""
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Bar:
    """The score of an entry; None if nothing was asked."""

    name: str
    score: "Estimate | None"
    published: "Sequence[Published]" = ()


def plot(bars: Sequence[Bar], width: int) -> Content:
    """Draw bars from 0 to 100 %; published scores are below each, without interval."""
    names = [cell_len(one_line(bar.name)) for bar in bars]
    name = min(max(names, default=0), _NAME, width // 3)
    span = max(10, width - name - 24)
    lines: list[Content] = []
    for bar in bars:
        lines.append(_line(bar, name, span))
        lines += (_theirs(one, name, span) for one in bar.published)
    axis = "0 %".ljust(span // 2 - 1) + "50 %"
    lines.append(Content.styled(" " * (name + 1) + axis.ljust(span - 4) + "100 %", "$text-muted"))
    return Content("\n").join(lines)


def _line(bar: Bar, name: int, span: int) -> Content:
    label = set_cell_size(one_line(bar.name), name) + " "
    if bar.score is None:
        return Content.assemble(label, ("–", "$text-muted"))
    score = bar.score
    filled = score.value * span
    whole, eighths = int(filled), int(8 * (filled % 1))
    low, high = int(score.low * span), max(whole, min(span - 1, round(score.high * span)))
    solid = "█" * min(low, whole)
    shaded = "▓" * (whole - len(solid))
    # The whisker begins in the last cell of the bar.
    part = _EIGHTHS[eighths] if eighths and whole < span else ""
    rest = high - whole - len(part)
    whisker = ("─" * rest + "┤") if rest >= 0 and score.high > score.value else ""
    used = whole + len(part) + len(whisker)
    figures = f" {100 * score.value:.1f} %"
    if score.low != score.high:
        figures += f" [{100 * score.low:.0f}, {100 * score.high:.0f}]"
    return Content.assemble(
        label,
        (solid + shaded + part, "$primary"),
        (whisker, "$foreground-muted"),
        " " * max(0, span - used),
        (figures, "bold"),
    )


def _theirs(one: "Published", name: int, span: int) -> Content:
    place = min(span - 1, round(one.score * span))
    figure = f" {100 * one.score:.1f} %" + (f" (n = {one.n})" if one.n else "")
    label = set_cell_size("  " + _("published"), name) + " "
    return Content.assemble(
        (label, "$foreground-muted"),
        ("╌" * place + "│", "$text-accent"),
        " " * (span - place - 1),
        (figure, "$text-accent"),
    )


_LEAST_PLOT = 50
"""Least cells of a readable plot."""
_HEADING = 16
"""Most characters in a line of a heading; longer ones push columns off the screen."""


@dataclass(frozen=True, slots=True)
class ShownReport:
    """The contents of a report."""

    files: tuple[Path, ...]
    bars: tuple[Bar, ...]
    sections: "tuple[ReportSection, ...]"  # its text, in the language in use


def read(folder: Path) -> ShownReport:
    """Read the report of a finished evaluation; takes a second with many answers."""
    from localrag.evaluation import report

    found = report.read(folder)
    files = (folder / name for name in (report.MARKDOWN, report.JSON, report.PLOT))
    bars = (Bar(one.name, one.score, one.published) for one in found.figures.entries)
    return ShownReport(tuple(filter(Path.exists, files)), tuple(bars), tuple(found.sections()))


class ReportView(VerticalScroll):
    """Scrolls the report; wide tables scroll sideways, too."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - as every widget has it
        super().__init__(id=id)
        self._report: ShownReport | None = None

    async def show(self, report: ShownReport | LocalragError | None) -> None:
        await finish(self.remove_children())
        self._report = report if isinstance(report, ShownReport) else None
        if not isinstance(report, ShownReport):
            words = _("The report is written when the evaluation has finished.")
            await self.mount(Static(content(str(report or words)), classes="words"))
            return
        caption = Static(_("Scores with their 95 % intervals"), classes="words", markup=False)
        await self.mount(Static(classes="plot"), caption, *_widgets(report))
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if self._report is not None:
            width = max(_LEAST_PLOT, self.content_size.width)
            for place in self.query(".plot").results(Static):
                place.update(plot(self._report.bars, width))


def _widgets(report: ShownReport) -> Iterator[Widget]:
    from localrag.evaluation.report.document import ReportItems, ReportText, Table

    for section in report.sections:
        yield Static(content(section.title), classes="heading")
        for block in section.blocks:
            match block:
                case Table():
                    yield _table(block)
                case ReportText():
                    yield Static(content(block.text), classes="words")
                case ReportItems():
                    yield from (Static(content(text), classes="words") for text in block.texts)
                case _:
                    pass
    yield Static(content(_files(report)), classes="files")


def _files(report: ShownReport) -> str:
    return "\n".join(map(str, report.files))


def _table(found: "Table") -> DataTable[Text]:
    labels = ["\n".join(wrap(one_line(name), _HEADING)) for name in found.header]
    height = max((label.count("\n") + 1 for label in labels), default=1)
    table: DataTable[Text] = DataTable(cursor_type="none", header_height=height)
    for number, label in enumerate(labels):
        table.add_column(Text(label), key=str(number))
    for row in found.rows:
        table.add_row(
            *(
                Text(one_line(cell), justify="left" if number < found.left else "right")
                for number, cell in enumerate(row)
            )
        )
    return table


Places = tuple[list[RowPlace], list[RowPlace]]

_NOTES = 3
"""Most notes shown, the newest."""
_OUTCOMES = {**STATUSES, **FAILURES}
_QUESTIONS = N_("Reading and checking the questions …")
_AFTER = {
    FactKind.TABLE_CHECKED: N_("Reading earlier answers, opening models and indexes …"),
    FactKind.GOES_ON: N_("Opening models and indexes …"),
}
"""The next phase, by the last event."""


@dataclass
class Live:
    """The newest events of a run."""

    running: bool = False
    stopping: bool = False
    step: EntryStep | None = None  # the current part; None for a batch
    progress: Progress | None = None
    phase: str = _QUESTIONS
    notes: list[str] = field(default_factory=list)

    def hear(self, event: object) -> None:
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
        lines = []
        if self.running and self.stopping:
            lines.append(_("Stopping; answers are kept."))
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
    """The run chosen in the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Before the keys of the table, where no cursor moves.
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
        if self._line is not None:
            self.query_one(".head", Static).update(_head(self._line, live))
            self.query_one(ProgressBar).update(progress=_share(self._line, live))

    def focus_part(self) -> None:
        pane = self.query_one(TabbedContent).active_pane
        if pane is not None:
            pane.children[0].focus()

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """Leave the arrow keys to tabs and to a report wider than its place."""
        focused = self.screen.focused
        if action == "part" and focused is not None:
            return not isinstance(focused, Tabs) and not focused.max_scroll_x
        return True

    def action_part(self, step: int) -> None:
        """Go to the next or previous part: answers, failures, entries, report."""
        tabs = self.query_one(TabbedContent)
        shown = [pane.id or "" for pane in tabs.query(TabPane) if tabs.get_tab(pane).display]
        tabs.active = shown[(shown.index(tabs.active) + step) % len(shown)]
        self.call_after_refresh(self.focus_part)

    def on_row_list_opened(self, event: RowList.Opened) -> None:
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
            # After another tab is active: hiding a tab activates its neighbour.
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

        async def fetch(places: Sequence[RowPlace]) -> Mapping[RowPlace, RowCells]:
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
        report: ShownReport | LocalragError | None = None
        if wanted[1]:
            try:
                report = await to_thread(read, line.folder)
            except LocalragError as error:
                report = error
        await self.query_one(ReportView).show(report)
        self._report = wanted

    @work(exclusive=True, group="open")
    async def _open(self, line: RunLine, place: RowPlace) -> None:
        from localrag.ops.batch.rows import ROWS

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
    """The finished part, from 0 to 1; the process knows it before the files are read."""
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
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _places(runs: Runs, line: RunLine) -> Places:
    """The places of all answers of a run, and of the failed ones."""
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


def _cells(runs: Runs, line: RunLine, places: Sequence[RowPlace]) -> dict[RowPlace, RowCells]:
    return dict(_read_cells(runs, line, places))


def _read_cells(
    runs: Runs, line: RunLine, places: Sequence[RowPlace]
) -> Iterator[tuple[RowPlace, RowCells]]:
    several = len(line.parts) > 1
    books: dict[int, WrittenRows] = {}
    for place in places:
        part = line.parts[place.part]
        try:
            if place.part not in books:
                books[place.part] = runs.book(part.path)
            row = books[place.part].row(place.number)
        except (OSError, LookupError, ValueError):
            yield place, RowCells(str(place.number), "", "", _("cannot be read any more"))
            continue
        text = _text(row)
        if several:
            text = f"{part.name} {part.order}: {text}"
        status = str((row.get("error") or row).get("type" if row.get("error") else "status", ""))
        yield (
            place,
            RowCells(
                str(place.number),
                one_line(str(row.get("id") or "")),
                called(status, _OUTCOMES),
                flat(text),
            ),
        )


def _text(row: Mapping[str, Any]) -> str:
    if error := row.get("error"):
        return f"{error.get('cause', '')}  {error.get('cure', '')}".strip()
    answer = str(row.get("label") or row.get("answer") or "")
    return f"{row.get('question') or ''} → {answer}"


def _outcomes(tally: dict[str, int]) -> str:
    return " · ".join(f"{called(name, _OUTCOMES)} {n:,}" for name, n in tally.items())


def _pace(progress: Progress) -> str:
    """Rate and remaining time; "" if unknown."""
    if progress.seconds < 1 or progress.left is None or progress.done >= progress.total:
        return ""
    return _("{rate} a minute · about {left} left").format(
        rate=f"{60 * progress.rate:,.1f}", left=duration(progress.left)
    )
