"""The answering engine: its process, with corpus and model open, and its control."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, NamedTuple

from localrag import language
from localrag.answer.types import Answer, Cancelled, Nearest, Watch
from localrag.corpus.config import Config, MethodConfig
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.search.types import Query, StageRecord
from localrag_indexes.parallel import CarriedError
from localrag_tui.work.process import Channel, FunctionFailed, Process, ProcessDied

if TYPE_CHECKING:
    from localrag.methods.answering import Answerer, MethodResources

# Seconds between two drafts: nobody reads faster.
_PACE = 0.05


@dataclass(frozen=True, slots=True)
class Ask:
    """A question with its settings and the language of errors."""

    number: int
    language: str
    workspace: Workspace
    corpus: str
    config: Config
    query: Query


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop answering this question."""

    number: int


@dataclass(frozen=True, slots=True)
class Opening:
    """A model is being loaded."""

    model: str
    done: int = 0
    total: int = 0  # its bytes; 0 if unknown


@dataclass(frozen=True, slots=True)
class ModelOpened:
    """A model is loaded."""

    model: str  # as in the settings; "" for none
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage of the retrieval has ended."""

    record: StageRecord


@dataclass(frozen=True, slots=True)
class NearestFound:
    """The nearest passages so far, best first."""

    nearest: tuple[Nearest, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """How far a model has read its prompt."""

    done: int
    total: int  # tokens to read; 0 if unknown, as with most servers


@dataclass(frozen=True, slots=True)
class Drafted:
    """The text of a model so far."""

    claims: tuple[str, ...]  # unchecked, as far as readable; methods show none
    tokens: int


@dataclass(frozen=True, slots=True)
class AnswerEnd:
    """The end of a question: its answer, its error, or None if it was cancelled."""

    answer: Answer | CarriedError | None
    seconds: float


AnswerEvent = Opening | ModelOpened | StageEnded | NearestFound | Read | Drafted
"""The events between a question and its end."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event of the question with this number."""

    number: int
    event: AnswerEvent | AnswerEnd


def serve(channel: Channel) -> None:
    """Answer questions until the process is killed."""
    _Service(channel).run()


class _Service:
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
        end: Answer | CarriedError | None
        try:
            watch.require()
            end = self._answerer(ask, tell, watch).answer(ask.query, watch)
        except Cancelled:
            end = None
        except LocalragError as error:
            end = CarriedError.of(error)
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
            tell(ModelOpened(config.chat.model, perf_counter() - started))
        return Answerer(method, resources, settings=config.method)

    def _open(self, ask: Ask, tell: Callable[[AnswerEvent], None]) -> "MethodResources":
        """The resources for a question; the last ones if nothing has changed."""
        from localrag.methods.answering import MethodResources
        from localrag.search.units import opened_from

        method = MethodConfig(query_prompt=ask.config.method.query_prompt)
        config = ask.config.model_copy(update={"method": method})
        place = ask.workspace.corpus(ask.corpus)
        made_with = (ask.workspace, ask.corpus, config, opened_from(place))
        if self._resources is None or self._made_with != made_with:
            if self._resources is not None:
                self._resources.close()
                self._resources = None
                tell(ModelOpened(""))
            self._resources = MethodResources(ask.workspace, ask.corpus, config)
            self._made_with = made_with
        return self._resources


class _Telling(Watch):
    """Sends the progress of an answer, and checks whether it was cancelled."""

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
        self._tell(NearestFound(tuple(nearest)))

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
        """Whether a new event would be seen."""
        if monotonic() - self._told < _PACE:
            return False
        self._told = monotonic()
        return True


_PATIENCE = 10.0
"""Seconds for a cancelled answer to stop: a stuck process would block all questions."""


class TimedAnswer(NamedTuple):
    """An answer, and its seconds with loading."""

    answer: Answer
    seconds: float


class Engine:
    """Answers one question at a time, in a process that keeps its model.

    A dead process is restarted by the next question.
    """

    def __init__(self) -> None:
        self.model = ""
        self._process: Process | None = None
        self._number = 0
        self._asked: set[int] = set()
        self._unwanted: set[int] = set()
        self._closed = False
        self._turn = asyncio.Lock()
        self._ending: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None and self._process.running else 0

    @property
    def answering(self) -> bool:
        return bool(self._asked)

    async def warm(self) -> None:
        """Start the process; the first question shows a failure."""
        async with self._turn:
            with suppress(LocalragError):
                await self._started()

    async def answer(
        self,
        workspace: Workspace,
        corpus: str,
        config: Config,
        query: Query,
        on_event: Callable[[AnswerEvent], None],
    ) -> TimedAnswer:
        """Answer a question; further ones wait. Raises `Cancelled` or `LocalragError`."""
        self._number += 1
        number = self._number
        # Now it can be cancelled: starting the process may take a while.
        self._asked.add(number)
        try:
            async with self._turn:
                process = await self._started()
                if number in self._unwanted:
                    raise Cancelled
                process.send(Ask(number, language.in_use(), workspace, corpus, config, query))
                try:
                    end = await self._end(process, number, on_event)
                except asyncio.CancelledError:
                    process.send(Cancel(number))
                    raise
                except ProcessDied:
                    if number in self._unwanted:
                        raise Cancelled from None
                    raise
            return _reply(end)
        finally:
            self._asked.discard(number)
            self._unwanted.discard(number)

    def cancel(self) -> None:
        self._unwanted |= self._asked
        if self._process is not None:
            for number in self._asked:
                self._process.send(Cancel(number))
            self._hurry(self._process, frozenset(self._asked))

    async def release(self) -> None:
        """Free the memory of the model: end the process."""
        if self._process is not None and self._asked <= self._unwanted:
            await self._process.kill()  # Nobody waits for what it may still be doing.
        async with self._turn:
            await self._stop()

    async def close(self) -> None:
        self._closed = True
        await self._stop()

    def _hurry(self, process: Process, cancelled: frozenset[int]) -> None:
        """End a process that does not stop; the next question starts another."""

        def end() -> None:
            if self._process is process and cancelled & self._asked:
                self._ending = asyncio.create_task(process.kill())

        asyncio.get_running_loop().call_later(_PATIENCE, end)

    async def _started(self) -> Process:
        if self._process is None or not self._process.running:
            process = await Process.start(serve)
            if self._closed:
                await process.kill()
            self._process = process
        return self._process

    async def _stop(self) -> None:
        if self._process is not None:
            await self._process.kill()
        self._process, self.model = None, ""

    async def _end(
        self, process: Process, number: int, on_event: Callable[[AnswerEvent], None]
    ) -> AnswerEnd:
        try:
            async for message in process.messages():
                assert isinstance(message, Told)
                # A cancelled question may still send events.
                if message.number == number:
                    if isinstance(message.event, AnswerEnd):
                        return message.event
                    if isinstance(message.event, ModelOpened):
                        self.model = message.event.model
                    on_event(message.event)
        except LocalragError:
            # It is ending: no more questions for it.
            await self._stop()
            raise
        raise AssertionError("the process that answers does not end by itself")


def _reply(end: AnswerEnd) -> TimedAnswer:
    if end.answer is None:
        raise Cancelled
    if isinstance(end.answer, CarriedError):
        raise FunctionFailed(end.answer)
    return TimedAnswer(end.answer, end.seconds)
