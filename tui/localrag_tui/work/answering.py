"""The process that answers: corpus and model stay open between the questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from localrag import language
from localrag.config import Config, MethodConfig
from localrag.errors import LocalragError
from localrag.reading.types import Answer, Cancelled, Nearest, Watch
from localrag.retrieval.types import Query, StageRecord
from localrag.workspace import Workspace
from localrag_indexes.outcome import Failure
from localrag_tui.work.child import Channel

if TYPE_CHECKING:
    # Imported by the process that answers; the one that asks has no use for them.
    from localrag.methods.answering import Answerer, MethodResources

# Seconds between two drafts: nobody reads faster, and the interface has other things to paint.
_PACE = 0.05


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, with the settings it is to be answered under, and the language of errors."""

    number: int
    language: str
    workspace: Workspace
    corpus: str
    config: Config
    query: Query


@dataclass(frozen=True, slots=True)
class Cancel:
    """The answer to this question is no longer wanted."""

    number: int


@dataclass(frozen=True, slots=True)
class Opening:
    """A model is being loaded, which may take long.

    Attributes:
        model: as the settings name it.
        done: bytes that are loaded.
        total: bytes that it has; 0 where nobody says.
    """

    model: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Opened:
    """The model that is loaded now.

    Attributes:
        model: as the settings name it; "" for none.
        seconds: that it took.
    """

    model: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage of the retrieval has ended."""

    record: StageRecord


@dataclass(frozen=True, slots=True)
class Found:
    """The passages that come nearest to the question by now, best first."""

    nearest: tuple[Nearest, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What a model has read of a prompt.

    Attributes:
        done: tokens.
        total: tokens there are to read; 0 where the model has only just been asked. Most servers
            tell no more.
    """

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Drafted:
    """What a model has written so far.

    Attributes:
        claims: unchecked, as far as they can be read; methods show none.
        tokens: about so many, of the reply that is being written.
    """

    claims: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The end of a question: its answer, the error in its place, or None where it was cancelled."""

    answer: Answer | Failure | None
    seconds: float


AnswerEvent = Opening | Opened | StageEnded | Found | Read | Drafted
"""What is told between a question and its end."""


@dataclass(frozen=True, slots=True)
class Told:
    """What concerns the question of this number."""

    number: int
    event: AnswerEvent | AnswerEnd


def serve(channel: Channel) -> None:
    """Answer questions until the process is ended."""
    _Service(channel).run()


class _Service:
    """What is open, and what of it is wanted."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._cancelled: set[int] = set()
        self._resources: MethodResources | None = None
        self._made_with: object = None
        channel.on_message = self._hear

    def run(self) -> None:
        while True:
            message = self._channel.inbox.get()
            if isinstance(message, Ask):
                if message.language != language.in_use():
                    language.use(message.language)
                self._answer(message)

    def _hear(self, message: object) -> None:
        if isinstance(message, Cancel):
            self._cancelled.add(message.number)

    def _answer(self, ask: Ask) -> None:
        started = perf_counter()

        def tell(event: AnswerEvent | AnswerEnd) -> None:
            self._channel.tell(Told(ask.number, event))

        watch = _Telling(tell, lambda: ask.number in self._cancelled)
        end: Answer | Failure | None
        try:
            watch.require()
            end = self._answerer(ask, tell, watch).answer(ask.query, watch)
        except Cancelled:
            end = None
        except LocalragError as error:
            end = Failure.of(error)
        tell(AnswerEnd(end, perf_counter() - started))

    def _answerer(self, ask: Ask, tell: Callable[[AnswerEvent], None], watch: Watch) -> "Answerer":
        from localrag.methods.answering import Answerer, answering_method

        config = ask.config
        method = answering_method(config)
        resources = self._open(ask, tell)
        if method.layers:
            resources.open(model=False, layers=method.layers)
        if method.needs_model and not resources.has_model:
            started = perf_counter()
            resources.open(model=True, on_load=watch.loading)
            tell(Opened(config.chat.model, perf_counter() - started))
        return Answerer(method, resources, settings=config.method)

    def _open(self, ask: Ask, tell: Callable[[AnswerEvent], None]) -> "MethodResources":
        """The resources for a question; those of the last one where nothing has changed."""
        from localrag.ingest.state import opened_from
        from localrag.methods.answering import MethodResources

        method = MethodConfig(query_prompt=ask.config.method.query_prompt)
        config = ask.config.model_copy(update={"method": method})
        place = ask.workspace.corpus(ask.corpus)
        made_with = (ask.workspace, ask.corpus, config, opened_from(place))
        if self._resources is None or self._made_with != made_with:
            if self._resources is not None:
                self._resources.close()
                self._resources = None
                tell(Opened(""))
            self._resources = MethodResources(ask.workspace, ask.corpus, config)
            self._made_with = made_with
        return self._resources


class _Telling(Watch):
    """Tells the other process how an answer is made, and hears whether it is still wanted."""

    def __init__(self, tell: Callable[[AnswerEvent], None], cancelled: Callable[[], bool]) -> None:
        self._tell = tell
        self._cancelled = cancelled
        self._claims: tuple[str, ...] = ()
        self._tokens = 0
        self._told = 0.0

    def stage(self, record: StageRecord) -> None:
        self._tell(StageEnded(record))
        self.require()

    def near(self, nearest: Sequence[Nearest]) -> None:
        self._tell(Found(tuple(nearest)))

    def loading(self, model: str, done: int, total: int) -> None:
        if not done or self._due():
            self._tell(Opening(model, done, total))
        self.require()

    def reading(self, done: int, total: int) -> None:
        self._tokens = 0
        if done == total or self._due():
            self._tell(Read(done, total))

    def wrote(self, piece: str) -> None:
        del piece
        self._tokens += 1
        if self._due():
            self._tell(Drafted(self._claims, self._tokens))

    def draft(self, claims: Sequence[str]) -> None:
        self._claims = tuple(claims)

    def cancelled(self) -> bool:
        return self._cancelled()

    def _due(self) -> bool:
        """Whether something new would be seen."""
        if monotonic() - self._told < _PACE:
            return False
        self._told = monotonic()
        return True
