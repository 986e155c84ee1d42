"""The Check screen: a file or a pasted text, and its findings beside it."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Paste
from textual.message import Message
from textual.widgets import Input, OptionList, Static

from localrag.check import wording
from localrag.check.types import Finding, Verdict
from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag.text.harmless import cut
from localrag_tui.check.findings import (
    Checked,
    FindingsList,
    as_sheet,
    check_text,
    in_full,
    spot_of,
)
from localrag_tui.jobs import JobView
from localrag_tui.screen import KeptState, WorkbenchScreen
from localrag_tui.shell.base import Latest
from localrag_tui.shell.form import PathInput, save, working_folder
from localrag_tui.shell.look import sheets
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import content, cure_of, flat
from localrag_tui.source.page import DocumentPage
from localrag_tui.source.pane import SourcePane
from localrag_tui.spot import OpenSpot
from localrag_tui.work.jobs import Job, State

# Cells of a text in the title of its job, and least cells of a file name.
_TITLE, _NAME = 40, 8


class CheckField(PathInput):
    """A file, or the text itself; several pasted lines are checked at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", N_("Check it"), id="check.start"),
        Binding(
            "down", "screen.to_findings", N_("To the findings"), id="check.findings", show=False
        ),
    ]

    @dataclass
    class Pasted(Message):
        """Several lines were pasted."""

        text: str

    def __init__(self) -> None:
        super().__init__(placeholder=_("A file or a text: type or paste it"), id="check-field")

    def action_paste(self) -> None:
        self.post_message(Paste(self.app.clipboard))

    def on_paste(self, event: Paste) -> None:
        """Insert one line; several lines are checked at once."""
        # Terminals paste carriage returns.
        text = event.text.replace("\r\n", "\n").replace("\r", "\n").strip()
        if "\n" in text or len(text) > (self.max_length or 0):
            event.prevent_default()
            event.stop()
            self.post_message(self.Pasted(text))


class CheckedPage(DocumentPage):
    """The checked text, with its findings as links."""

    async def show(self, checked: Checked) -> None:
        await self.open(as_sheet(checked.report), (0, 0), (0, 0), around=0)

    def mark(self, findings: tuple[Finding, ...]) -> None:
        """Underline findings; failing ones have their own colour."""
        spans = sorted({finding.place[:2] for finding in findings})
        wrong = {finding.place[:2] for finding in findings if finding.verdict is Verdict.FAILS}
        self.mark_links(spans)
        self.mark_found(sorted(wrong), None)

    async def look_at(self, finding: Finding) -> None:
        """Scroll to a finding, and put a bar beside it."""
        if self.sheet is not None:
            span = finding.place[:2]
            await self.open(self.sheet, span, span, around=span[0])


class _Held(NamedTuple):
    """The state of the screen, apart from typed text.

    Attributes:
        text: the text checked last or now; "" for none.
    """

    text: str = ""
    job: Job | None = None
    checked: Checked | None = None
    shows_all: bool = False


class CheckScreen(WorkbenchScreen):
    """A field, the text, the findings; the provision beside the text or over it.

    Classes: ``-checking`` during a check, ``-checked`` with findings, ``-reading`` with the source.
    """

    CSS_PATH = sheets("parts", "source", "check")
    MODE: ClassVar[str] = "check"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f7", "field", N_("Field"), id="check.field", show=False),
        Binding("a", "toggle_all", N_("All / problems only"), id="check.all"),
        Binding("e", "export", N_("Write a report"), id="check.export"),
        Binding("escape", "stop", N_("Stop"), id="check.stop"),
        Binding("escape", "leave", N_("Back"), id="check.leave", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._held = _Held()
        self._field = CheckField()
        self._summary = Static(id="check-summary")
        self._guidance = Paragraph(id="check-guidance")
        self._progress = Vertical(id="check-progress")
        self._page = CheckedPage()
        self._findings = FindingsList(id="check-findings")
        self._finding = Paragraph()
        self._source = SourcePane()
        self._looked_at = Latest(self._page.look_at)

    @property
    def job(self) -> Job | None:
        return self._held.job

    def body(self) -> ComposeResult:
        yield self._field
        yield self._summary
        yield self._guidance
        yield self._progress
        with Horizontal(id="check-body"):
            yield self._page
            with Vertical(id="check-found"):
                yield self._findings
                with VerticalScroll(id="check-finding", can_focus=False):
                    yield self._finding
            yield self._source

    def on_mount(self) -> None:
        self._field.focus()
        self._invite()
        self._stop_listening = self.bench.jobs.listen(self._job_told)

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_screen_resume(self) -> None:
        self._keep_up()

    def kept(self) -> KeptState:
        kept = super().kept()
        kept.more = kept.more or self._held
        return kept

    async def regain(self, more: object) -> None:
        if isinstance(more, _Held):
            self._held = more
            if more.checked is not None:
                await self._show(more.checked)
            if more.job is not None and more.job.state is State.RUNNING:
                await self._follow(more.job)
            elif more.job is not None and more.checked is None:
                await self._ended(more.job)

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        if action in ("toggle_all", "export"):
            return self.has_class("-checked")
        if action == "copy":
            return self._findings.chosen is not None
        if action in ("stop", "leave"):
            return self.has_class("-checking") is (action == "stop")
        return True

    def action_field(self) -> None:
        self.remove_class("-reading")
        self._field.focus()
        self._field.select_all()

    def action_leave(self) -> None:
        """Close what was opened last: provision, findings; then clear the field."""
        if self.has_class("-reading"):
            self.remove_class("-reading")
            self._findings.focus()
        elif not self._field.has_focus:
            self._field.focus()
        else:
            self._field.clear()

    async def action_stop(self) -> None:
        if self.job is not None:
            await self.job.kill()

    def action_toggle_all(self) -> None:
        self._held = self._held._replace(shows_all=not self._held.shows_all)
        self._list()

    @work(exclusive=True, group="export")
    async def action_export(self) -> None:
        checked = self._held.checked
        if checked is not None:
            title = _("Export the report: .html, .md, or .docx with comments")
            await save(
                self.bench,
                title,
                lambda: checked.proposed(working_folder()),
                lambda path, replace: _write(checked, path, replace=replace),
            )

    @on(Input.Submitted, "#check-field")
    def _submitted(self) -> None:
        if self._field.value.strip():
            self._check(self._field.value)

    @on(CheckField.Pasted)
    def _pasted(self, event: CheckField.Pasted) -> None:
        self._field.clear()
        self._check(event.text)

    def action_to_findings(self) -> None:
        if self.has_class("-checked"):
            self._findings.focus()

    @work(exclusive=True, group="check")
    async def _check(self, text: str) -> None:
        """Check a text, or the file it names; a running check stops."""
        try:
            library = self.bench.library
            await library.require_documents()
        except LocalragError as error:
            self._fail(error)
            return
        await self.action_stop()
        title = _("Check {text}").format(text=cut(flat(text), _TITLE))
        corpus = library.corpus
        arguments = (self.bench.workspace, corpus, self.bench.settings.of(corpus), text)
        job = self.bench.jobs.start(Job(title, check_text, arguments, keeps=False))
        self._held = self._held._replace(text=text, job=job)
        await self._follow(job)

    async def _follow(self, job: Job) -> None:
        await self._progress.remove_children()
        if job is self.job and job.state is State.RUNNING:
            self.remove_class("-checked", "-reading")
            self.add_class("-checking")
            await self._progress.mount(JobView(job))
            self.refresh_bindings()

    @work(exclusive=True, group="keep_up")
    async def _keep_up(self) -> None:
        checked, job = self._held.checked, self.job
        if checked is None or job is None or job.state is State.RUNNING:
            return
        try:
            library = self.bench.library
            day = await library.read(lambda store: store.as_of)
        except LocalragError as error:
            self._fail(error)
            return
        if (library.corpus, day.isoformat()) != (job.arguments[1], checked.report.as_of):
            self._check(self._held.text)
        await self._source.keep_up()

    def _job_told(self, job: Job, event: object) -> None:
        if job is self.job and event is None and job.state is not State.RUNNING:
            self.run_worker(self._ended(job), group="ended", exclusive=True)

    async def _ended(self, job: Job) -> None:
        self.remove_class("-checking")
        await self._progress.remove_children()
        if job.state is State.FAILED and job.error is not None:
            self._fail(job.error)
        elif isinstance(job.value, Checked):
            self._held = self._held._replace(checked=job.value)
            await self._show(job.value)
        elif self._held.checked is not None:
            self.add_class("-checked")
        else:
            self._invite()
        self.refresh_bindings()

    async def _show(self, checked: Checked) -> None:
        self.add_class("-checked")
        self._findings.show((), checked.report.kind)
        await self._page.show(checked)
        self._list()
        if self._findings.findings and self.focused in (self._field, None):
            self._findings.focus()
        self.refresh_bindings()

    def _list(self) -> None:
        checked = self._held.checked
        if checked is None:
            return
        report = checked.report
        found = [
            finding
            for finding in report.findings
            if self._held.shows_all or finding.verdict is not Verdict.HOLDS
        ]
        self._findings.show(found, report.kind)
        self._page.mark(self._findings.findings)
        self._summarize(checked)
        if not found:
            self._finding.show(content(checked.told))

    def _summarize(self, checked: Checked) -> None:
        report = checked.report
        counts = wording.counts(report)
        day = _("as of {date}").format(date=report.as_of)
        room = self.size.width - 2 - cell_len(f" · {day}  {counts}")
        name = cut(flat(report.name or _("text")), max(room, _NAME))
        head = Content.assemble((f"{name} · {day}  ", "$foreground-muted"), (counts, "bold"))
        notes = (content(flat(note), "$text-warning") for note in wording.notes(report))
        self._summary.update(Content("\n").join([head, *notes]))

    def on_resize(self) -> None:
        if self._held.checked is not None:
            self._summarize(self._held.checked)

    def _invite(self) -> None:
        lines = [
            _("Statements about laws are checked against the laws of the corpus, without a model."),
            "",
            _("Type the path of a file (text, Markdown, HTML, DOCX, PDF) and press Enter."),
            _("Or paste the text itself: one of several lines is checked at once."),
        ]
        self._guidance.show(Content("\n".join(lines)))

    def _fail(self, error: LocalragError) -> None:
        """Show why the check failed, and the cure."""
        self._held = self._held._replace(checked=None)
        self.remove_class("-checked", "-reading")
        cause = content(error.cause, "bold $text-error")
        self._guidance.show(Content("\n").join([cause, content(cure_of(error))]))
        self._field.focus()
        self.refresh_bindings()

    @on(OptionList.OptionHighlighted, "#check-findings")
    def _looked(self) -> None:
        finding = self._findings.chosen
        if finding is not None:
            self._finding.show(in_full(finding))
            self.run_worker(self._looked_at.want(finding), group="look")

    @on(OptionList.OptionSelected, "#check-findings")
    @work(exclusive=True, group="open")
    async def _open(self) -> None:
        """Open the provision of a finding."""
        finding = self._findings.chosen
        if finding is None or not finding.provision:
            return
        spot = await self.bench.library.read_names(
            lambda store, names: spot_of(store, names, finding)
        )
        self.post_message(OpenSpot(spot))

    @on(DocumentPage.Followed)
    def _followed(self, event: DocumentPage.Followed) -> None:
        if self._findings.look_at(event.span):
            self._open()

    def action_copy(self) -> None:
        if self._findings.chosen is not None:
            self.bench.copy(in_full(self._findings.chosen).plain)

    @on(OpenSpot)
    def _read(self, event: OpenSpot) -> None:
        if not self.has_class("-checked"):
            return  # Beside nothing it is read on the Read screen.
        event.stop()
        self.add_class("-reading")
        self.run_worker(self._source.open(event.spot), group="source")
        self._source.page.focus()


def _write(checked: Checked, path: Path, *, replace: bool) -> None:
    from localrag.page.report import write_report

    write_report(checked.report, path, checked.original, replace=replace)
