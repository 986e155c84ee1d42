"""What the process of a run has told, as far as it is shown."""

from dataclasses import dataclass, field

from localrag.facts import Fact, FactKind
from localrag.language import N_, _
from localrag.progress import Progress
from localrag_tui.runs.events import Halted, Step, Warned
from localrag_tui.runs.wording import pace

_NOTES = 3
"""Notes shown at most, the newest of them."""
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
    step: Step | None = None
    progress: Progress | None = None
    phase: str = _QUESTIONS
    notes: list[str] = field(default_factory=list)

    def hear(self, event: object) -> None:
        """Take in an event."""
        match event:
            case Progress():
                self.progress = event
            case Step():
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
            lines.append(pace(one))
        if self.running and self.step is not None:
            lines.insert(0, _step(self.step))
        return [*filter(None, lines), *self.notes]


def _step(step: Step) -> str:
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
            return str(event)
        case Halted(name, cause, cure):
            return f"{name}: {cause} {cure}".rstrip()
        case Warned(message):
            return message
        case _:
            return ""
