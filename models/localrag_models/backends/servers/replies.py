"""Putting a reply together from what a server streams."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from localrag_models.chat import Finish, overlook
from localrag_models.choosing import Candidate
from localrag_models.control_tokens import Restorer, restore
from localrag_models.thinking import ThinkingSplitter


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One message of a stream.

    Attributes:
        text: a piece of the answer, perhaps with reasoning at its head.
        thinking: a piece of reasoning that the server itself kept apart.
        finish: why the reply ended, in the message that says so.
        prompt: tokens of the prompt, where the message tells.
        cached: of these, not evaluated again, where the message tells.
        completion: tokens generated, where the message tells.
        read: tokens of the prompt that have been read, and all of them, where the message tells.
        candidates: what the token of this message might have been, likeliest first, where asked.
    """

    text: str = ""
    thinking: str = ""
    finish: Finish | None = None
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    read: tuple[int, int] | None = None
    candidates: Sequence[Candidate] = ()


class Draft:
    """A reply that is coming in: reasoning kept apart, broken control tokens made whole again.

    Attributes:
        finish: why it ended; None as long as the server has not said.
        prompt: tokens, as in `Event`; so are `cached` and `completion`.
        pieces: messages that brought text.
        first: what the first token might have been; empty where the server does not say.
    """

    def __init__(
        self, on_text: Callable[[str], None], on_read: Callable[[int, int], None] = overlook
    ) -> None:
        self.finish: Finish | None = None
        self.prompt: int | None = None
        self.cached: int | None = None
        self.completion: int | None = None
        self.pieces = 0
        self.first: Sequence[Candidate] = ()
        self._on_text = on_text
        self._on_read = on_read
        self._answer = ThinkingSplitter()
        self._restored = Restorer()
        self._said: list[str] = []
        self._thought: list[str] = []

    @property
    def text(self) -> str:
        """The answer: the pieces that `on_text` has heard, joined."""
        return "".join(self._said)

    @property
    def thinking(self) -> str:
        """Reasoning, wherever the server put it."""
        return restore("".join(self._thought) + self._answer.thinking).strip()

    def take(self, event: Event) -> None:
        """Add what a message of the stream brought."""
        self.finish = event.finish or self.finish
        self.prompt = self.prompt if event.prompt is None else event.prompt
        self.cached = self.cached if event.cached is None else event.cached
        self.completion = self.completion if event.completion is None else event.completion
        self.pieces += bool(event.text or event.thinking)
        self.first = self.first or event.candidates
        if event.read is not None:
            self._on_read(*event.read)
        self._thought.append(event.thinking)
        self._say(self._answer(event.text))

    def end(self, finish: Finish) -> None:
        """Say what was held back; nothing more comes."""
        self.finish = finish
        self._say(self._answer.end())

    def _say(self, answer: str) -> None:
        if piece := self._restored(answer):
            self._said.append(piece)
            self._on_text(piece)
