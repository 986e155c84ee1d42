"""The doctor: problems, worst first, each with its cure."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag.text.facts import Fact, FactKind
from localrag_tui.corpora.actions import index
from localrag_tui.jobs import JobView
from localrag_tui.screen import Dialogue
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.listing import Listing, Valued
from localrag_tui.shell.paragraph import BrokenText, Paragraph
from localrag_tui.shown import content, remedy
from localrag_tui.work.jobs import Job, JobOutcome, State

if TYPE_CHECKING:
    from localrag.ops.doctor import HealthFinding

_GROUPS = {
    "broken": (N_("broken"), "$text-error"),
    "warning": (N_("to be looked at"), "$text-warning"),
    "good": (N_("in order"), "$text-success"),
    "absent": (N_("not installed (optional)"), "$foreground-muted"),
}
"""By `localrag.ops.doctor.Health`, in the order shown."""

_INDEXING = (FactKind.TO_INDEX, FactKind.TO_REBUILD)
"""Cures that run from here."""

_READING = N_("Every byte of stores and indexes is read; {key} stops.")
_READ = N_("Every byte of stores and indexes was read.")


def examine(
    tell: Callable[[object], None], workspace: Workspace, overrides: dict[str, object]
) -> JobOutcome:
    """Examine everything, as ``localrag doctor``; every `HealthFinding` is an event."""
    from localrag.ops.doctor import examine as findings

    wrong = 0
    for finding in findings(workspace, overrides):
        tell(finding)
        wrong += finding.health.value in ("broken", "warning")
    return examined(wrong)


def examined(wrong: int) -> JobOutcome:
    """The number of problems, in words."""
    if not wrong:
        return JobOutcome(_("Everything is in order."))
    words = ngettext("{n} thing to be looked at", "{n} things to be looked at", wrong)
    return JobOutcome(words.format(n=wrong))


class Findings(Listing):
    """The list of findings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Run the cure"), id="doctor.mend"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "select":
            option = self.highlighted_option
            return isinstance(option, Valued) and bool(option.value.cure)
        return super().check_action(action, parameters)

    def on_option_list_option_highlighted(self) -> None:
        self.refresh_bindings()


class DoctorDialogue(Dialogue):
    """The findings as they come; closing the dialogue stops the doctor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy it"), id="doctor.copy"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._findings: list[HealthFinding] = []
        self._job: Job | None = None

    def body(self) -> ComposeResult:
        key = key_of(self.app, "dialogue.leave")
        yield Paragraph(Content(_(_READING).format(key=key)), classes="about")
        yield Findings()

    def on_mount(self) -> None:
        self.query_one(Findings).focus()
        self._unlisten = self.bench.jobs.listen(self._on_job)
        arguments = (self.bench.workspace, dict(self.bench.overrides))
        self._job = self.bench.jobs.start(Job(_("Doctor"), examine, arguments))
        self.query_one(".box").mount(JobView(self._job), before=0)

    async def on_unmount(self) -> None:
        self._unlisten()
        if self._job is not None:
            await self._job.stop()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "copy":
            finding = self._chosen()
            return finding is not None and bool(finding.cure)
        return super().check_action(action, parameters)

    def action_copy(self) -> None:
        finding = self._chosen()
        if finding is not None and finding.cure:
            self.bench.copy(str(finding.cure))

    def on_option_list_option_selected(self) -> None:
        """Index a corpus if this is the cure; other cures are for a shell."""
        finding = self._chosen()
        if finding is None or not finding.cure:
            return
        cure = finding.cure
        if not isinstance(cure, Fact) or cure.kind not in _INDEXING:
            key = key_of(self.app, "doctor.copy")
            words = _("This is mended outside the workbench; {key} copies the cure.")
            self.notify(words.format(key=key))
            return
        try:
            rebuild = cure.kind is FactKind.TO_REBUILD
            index(self.bench, str(cure.fields["corpus"]), rebuild=rebuild)
        except LocalragError as error:
            self.bench.tell(error)

    def _on_job(self, job: Job, event: object) -> None:
        if job is not self._job:
            return
        if event is None and job.state is not State.RUNNING:
            self.query_one(".about", Paragraph).show(Content(_(_READ)))
        elif event is not None:
            self._findings.append(event)  # type: ignore[arg-type]  # examine tells nothing else
            self._show_findings()

    def _show_findings(self) -> None:
        listing = self.query_one(Findings)
        before = self._chosen()
        self._findings.sort(key=lambda finding: list(_GROUPS).index(finding.health.value))
        listing.clear_options()
        shown = ""
        for finding in self._findings:
            if finding.health.value != shown:
                shown = finding.health.value
                title, style = _GROUPS[shown]
                listing.add_option(Option(Content.styled(_(title), f"bold {style}"), disabled=True))
            listing.add_option(Valued(BrokenText(_shown(finding)), finding))
            if finding is before:
                listing.highlighted = listing.option_count - 1

    def _chosen(self) -> "HealthFinding | None":
        option = self.query_one(Findings).highlighted_option
        return option.value if isinstance(option, Valued) else None


def _shown(finding: "HealthFinding") -> Content:
    line = Content.assemble(
        "  ", content(finding.title, "bold"), "  ", content(str(finding.detail))
    )
    if not finding.cure:
        return line
    return Content.assemble(line, "\n    ", content(remedy(finding.cure), "$text-accent"))
