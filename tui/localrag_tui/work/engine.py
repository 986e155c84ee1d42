"""What answers questions, as the event loop sees it: one process that keeps its model."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

from localrag import language
from localrag.config import Config
from localrag.errors import LocalragError
from localrag.reading.types import Answer, Cancelled
from localrag.retrieval.types import Query
from localrag.workspace import Workspace
from localrag_indexes.outcome import Failure
from localrag_tui.work.answering import (
    AnswerEnd,
    AnswerEvent,
    Ask,
    Cancel,
    Opened,
    Told,
    serve,
)
from localrag_tui.work.process import Process, ProcessDied, WorkFailed

_PATIENCE = 10.0
"""Seconds that what was cancelled is given to stop: a stuck process would hold up all questions."""


class TimedAnswer(NamedTuple):
    """An answer and the seconds it took, loading included."""

    answer: Answer
    seconds: float


class Engine(Protocol):
    """Answers one question after the other."""

    model: str
    """The model that is loaded, as the settings name it; "" for none."""

    @property
    def pid(self) -> int:
        """The process whose memory it takes; 0 where none runs."""
        ...

    @property
    def answering(self) -> bool:
        """Whether an answer is being made."""
        ...

    async def warm(self) -> None:
        """Make ready, so that the first question need not wait for it."""
        ...

    async def answer(
        self,
        workspace: Workspace,
        corpus: str,
        config: Config,
        query: Query,
        on_event: Callable[[AnswerEvent], None],
    ) -> TimedAnswer:
        """Answer a question; one at a time, further ones wait.

        Raises:
            Cancelled: `cancel` was called.
            LocalragError: it cannot be answered; cause and cure are in the language in use.
        """
        ...

    def cancel(self) -> None:
        """Give up the answer that is being made; nothing happens where there is none."""
        ...

    async def release(self) -> None:
        """Let go of the model and its memory; the next question loads it again."""
        ...

    async def close(self) -> None:
        """End; for good."""
        ...


class ProcessEngine:
    """The `Engine` of the application; a process that dies is started anew by the next question."""

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
        """The process whose memory it takes; 0 where none runs."""
        return self._process.pid if self._process is not None and self._process.running else 0

    @property
    def answering(self) -> bool:
        """Whether an answer is being made."""
        return bool(self._asked)

    async def warm(self) -> None:
        """Start the process; where that fails, the first question tells it."""
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
        """Answer a question, as `Engine.answer` says."""
        self._number += 1
        number = self._number
        # From here on it can be cancelled: the process may have to be started before it is sent.
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
        """Give up the answer that is being made."""
        self._unwanted |= self._asked
        if self._process is not None:
            for number in self._asked:
                self._process.send(Cancel(number))
            self._hurry(self._process, frozenset(self._asked))

    async def release(self) -> None:
        """Let go of the model: the process ends, and with it all of its memory."""
        if self._process is not None and self._asked <= self._unwanted:
            await self._process.kill()  # Nobody waits for what it may still be doing.
        async with self._turn:
            await self._stop()

    async def close(self) -> None:
        """End at once."""
        self._closed = True
        await self._stop()

    def _hurry(self, process: Process, cancelled: frozenset[int]) -> None:
        """End a process that does not stop what was cancelled; the next question starts another."""

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
        """Wait for the end of the question that was asked last."""
        try:
            async for message in process.messages():
                assert isinstance(message, Told)
                # What was cancelled may still tell of itself.
                if message.number == number:
                    if isinstance(message.event, AnswerEnd):
                        return message.event
                    if isinstance(message.event, Opened):
                        self.model = message.event.model
                    on_event(message.event)
        except LocalragError:
            # It is ending; the next question must not be sent to it.
            await self._stop()
            raise
        raise AssertionError("the process that answers does not end by itself")


def _reply(end: AnswerEnd) -> TimedAnswer:
    if end.answer is None:
        raise Cancelled
    if isinstance(end.answer, Failure):
        raise WorkFailed(end.answer)
    return TimedAnswer(end.answer, end.seconds)
