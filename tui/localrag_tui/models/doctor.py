"""The doctor: what is wrong, worst first, each with its cure; found while one watches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from localrag.errors import LocalragError
from localrag.facts import Fact, FactKind
from localrag.language import N_, _, ngettext
from localrag.workspace import Workspace
from localrag_tui.corpora.actions import index
from localrag_tui.jobs.view import JobView
from localrag_tui.screen import Dialogue
from localrag_tui.shell.keys import key_of
from localrag_tui.shown import content
from localrag_tui.widgets.listing import Listing, Valued
from localrag_tui.widgets.paragraph import BrokenText, Paragraph
from localrag_tui.wording import remedy
from localrag_tui.work.jobs import Job, State

if TYPE_CHECKING:
    from localrag.doctor import Finding

_GROUPS = {
    "broken": (N_("broken"), "$text-error"),
    "warning": (N_("to be looked at"), "$text-warning"),
    "good": (N_("in order"), "$text-success"),
    "absent": (N_("not installed (optional)"), "$foreground-muted"),
}
"""By `localrag.doctor.Health`, in the order in which they are shown."""

_INDEXING = (FactKind.TO_INDEX, FactKind.TO_REBUILD)
"""Cures that are run from here."""

_READING = N_("Every byte of stores and indexes is read; {key} stops.")
_READ = N_("Every byte of stores and indexes was read.")


def examine(
    tell: Callable[[object], None], workspace: Workspace, overrides: dict[str, object]
) -> "Examined":
    """Look at everything, as ``localrag doctor``; tells every `Finding`."""
    from localrag.doctor import examine as findings

    wrong = 0
    for finding in findings(workspace, overrides):
        tell(finding)
        wrong += finding.health.value in ("broken", "warning")
    return Examined(wrong)


@dataclass(frozen=True, slots=True)
class Examined:
    """The doctor has seen everything; an `Outcome`.

    Attributes:
        wrong: findings that ask for something to be done.
    """

    wrong: int

    def told(self) -> str:
        """How many things ask for something to be done."""
        if not self.wrong:
            return _("Everything is in order.")
        words = ngettext("{n} thing to be looked at", "{n} things to be looked at", self.wrong)
        return words.format(n=self.wrong)

    def details(self) -> list[str]:
        """How many things ask for something to be done; what they are is a list of its own."""
        return [self.told()]


class Findings(Listing):
    """The findings, to go through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Run the cure"), id="doctor.mend"),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A cure is run where there is one."""
        if action == "select":
            option = self.highlighted_option
            return isinstance(option, Valued) and bool(option.value.cure)
        return super().check_action(action, parameters)

    def on_option_list_option_highlighted(self) -> None:
        """Name the keys of the finding under the cursor."""
        self.refresh_bindings()


class DoctorDialogue(Dialogue):
    """The doctor's findings as they come; left early, the doctor stops."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy it"), id="doctor.copy"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._findings: list[Finding] = []
        self._job: Job | None = None

    def body(self) -> ComposeResult:
        key = key_of(self.app, Dialogue, "dialogue.leave")
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
        """A cure is copied where there is one."""
        if action == "copy":
            finding = self._chosen()
            return finding is not None and bool(finding.cure)
        return super().check_action(action, parameters)

    def action_copy(self) -> None:
        finding = self._chosen()
        if finding is not None and finding.cure:
            self.bench.copy(str(finding.cure))

    def on_option_list_option_selected(self) -> None:
        """Run the cure where it is to index a corpus; else say that it is for a shell."""
        finding = self._chosen()
        if finding is None or not finding.cure:
            return
        cure = finding.cure
        if not isinstance(cure, Fact) or cure.kind not in _INDEXING:
            key = key_of(self.app, DoctorDialogue, "doctor.copy")
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

    def _chosen(self) -> "Finding | None":
        option = self.query_one(Findings).highlighted_option
        return option.value if isinstance(option, Valued) else None


def _shown(finding: "Finding") -> Content:
    line = Content.assemble(
        "  ", content(finding.title, "bold"), "  ", content(str(finding.detail))
    )
    if not finding.cure:
        return line
    return Content.assemble(line, "\n    ", content(remedy(finding.cure), "$text-accent"))
