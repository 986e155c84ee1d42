"""A dialogue of fields that begins a run, and says what it would take."""

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag_tui.screen import Dialogue
from localrag_tui.shell.footer import KeyBar
from localrag_tui.shown import content, harmless
from localrag_tui.widgets.form import Field
from localrag_tui.work.job import Job, State


class RunForm(Dialogue):
    """Gives back an order that was checked; see `BatchDialogue` and `EvaluationDialogue`.

    Attributes:
        job: the estimate that is shown; its end is told here and nowhere else.
    """

    DEFAULT_CSS: ClassVar[str] = """
    RunForm > .box {
        width: 100; max-width: 98%; height: auto; max-height: 96%;
        background: $surface; padding: 1 1 0 1;
        .heading { padding: 0 1; height: 1; }
        VerticalScroll { height: auto; max-height: 1fr; padding: 0 1; }
        SelectionList { max-height: 8; }
        #expected { height: auto; padding: 0 1; color: $text-accent; }
        .buttons { height: auto; align-horizontal: right; }
        Button { margin: 0 0 0 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "estimate", N_("Estimate"), id="form.estimate"),
        Binding("ctrl+s", "start", N_("Start"), id="form.start"),
        Binding("tab", "app.focus_next", N_("Next field"), id="form.next"),
    ]
    HEADING: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self.job: Job | None = None

    def compose(self) -> ComposeResult:
        """The fields, what it would take, the ways to begin."""
        with Vertical(classes="box"):
            yield Static(Content(_(self.HEADING)), classes="heading")
            with VerticalScroll(can_focus=False):
                for field in self.fields():
                    field.add_class("-beside")
                    yield field
            yield Static(id="expected")
            with Horizontal(classes="buttons"):
                yield Button(_("Estimate"), id="estimate", compact=True)
                yield Button(_("Start"), id="start", variant="primary", compact=True)
                yield Button(_("Leave"), id="leave", compact=True)
        yield KeyBar()

    def fields(self) -> Iterable[Field]:
        """The fields."""
        return ()

    def on_mount(self) -> None:
        """Begin at the first field; an estimate is told when it is there."""
        self.query(Field).first().widget.focus()
        self._unlisten = self.bench.jobs.listen(self._hear)

    def on_unmount(self) -> None:
        """Nobody listens any more."""
        self._unlisten()

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        """Do what the button says."""
        await self.run_action(
            {"estimate": "estimate", "start": "start"}.get(event.button.id or "", "leave")
        )

    def told(self, name: str, error: LocalragError) -> None:
        """Say what is wrong beside a field, and go there."""
        field = self.field(name)
        field.tell(error)
        field.widget.focus()

    def field(self, name: str) -> Field:
        """A field by its name."""
        return next(field for field in self.query(Field) if field.name == name)

    def clear(self) -> None:
        """Nothing is wrong, nothing expected."""
        for field in self.query(Field):
            field.tell(None)
        self.say("")

    def say(self, text: str, style: str = "") -> None:
        """Say what it would take, or what is done about that."""
        self.query_one("#expected", Static).update(content(text, style))

    def expect(self, job: Job) -> None:
        """Have a job tell what it would take."""
        self.say(_("Estimating: some questions are tried, nothing is written."))
        self.job = self.bench.jobs.start(job)

    def expected(self, value: object) -> str:
        """What a job found, in words."""
        raise NotImplementedError

    async def action_leave(self) -> None:  # type: ignore[override]
        """Close; an estimate under way is given up."""
        if self.job is not None and self.job.state is State.RUNNING:
            await self.job.kill()
        self.dismiss(None)

    def _hear(self, job: Job, event: object) -> None:
        if job is not self.job or event is not None or job.state is State.RUNNING:
            return
        if job.state is State.DONE:
            self.say(self.expected(job.value))
        elif job.error is not None:
            self.say(harmless(str(job.error)), "$text-error")
