"""How far an answer has come that is still being made."""

from dataclasses import dataclass, field
from time import monotonic

from localrag.language import _
from localrag.retrieval.types import FOLLOW_UP, StageRecord
from localrag_tui.ask import wording
from localrag_tui.wording import duration
from localrag_tui.work.answering import AnswerEvent, Drafted, Opened, Opening, Read, StageEnded


@dataclass
class Progress:
    """What was told of an answer until now.

    Attributes:
        read_as: the question made whole, where it leans on those before it; else "".
        stages: of the retrieval, as they ended.
        claims: as far as they are written; nothing in them is checked.
        tokens: about so many are written.
        opening: the model that is being loaded; None where none is.
        read: the tokens a model has read of the prompt it is reading; None where none reads.
        changed: whether something was told that nobody has looked at.
    """

    read_as: str = ""
    stages: list[StageRecord] = field(default_factory=list)
    claims: tuple[str, ...] = ()
    tokens: int = 0
    opening: Opening | None = None
    read: Read | None = None
    changed: bool = False
    _began: float = field(default_factory=monotonic)
    _writing: float = 0.0

    def take(self, event: AnswerEvent) -> None:
        """Take what is told."""
        match event:
            case Opening():
                self.opening = event
            case Opened():
                self.opening = None
            case Read():
                self.read = event
            case StageEnded(record) if record.stage == FOLLOW_UP:
                self.read_as = record.query
            case StageEnded(record):
                self.stages.append(record)
            case Drafted(claims, tokens):
                self.read = None
                self._writing = self._writing or monotonic()
                self.claims, self.tokens = claims, tokens
        self.changed = True

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return monotonic() - self._began

    def __str__(self) -> str:
        """The tokens so far, and the clock."""
        parts = []
        if self.tokens:
            parts.append(_("{written:,} written").format(written=self.tokens))
            if (busy := monotonic() - self._writing) > 1:
                parts.append(_("{rate:.1f} tokens/s").format(rate=self.tokens / busy))
        return wording.SEPARATOR.join((*parts, duration(self.seconds)))
