"""One question at a time, from the moment it is asked until its end is written down."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from localrag.config import Config
from localrag.conversations.types import Turn, TurnState
from localrag.errors import LocalragError
from localrag.reading.watching import Cancelled
from localrag.retrieval.types import Query
from localrag_tui.ask.progress import Progress
from localrag_tui.ask.record import Record
from localrag_tui.work.answering import AnswerEvent

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


class Asking:
    """A question on its way.

    Attributes:
        turn: as it is written down.
        progress: how far its answer has come.
        over: whether the user need not wait for it: it has ended, or was cancelled.
    """

    def __init__(
        self, bench: "Workbench", record: Record, turn: Turn, config: Config, on_end: "OnEnd"
    ) -> None:
        self.turn = turn
        self.progress = Progress()
        self.over = False
        self._bench = bench
        self._record = record
        self._config = config
        self._on_end = on_end
        self._ended = asyncio.Event()

    @classmethod
    async def begin(
        cls, bench: "Workbench", record: Record, query: Query, config: Config, on_end: "OnEnd"
    ) -> "Asking":
        """Write down a question that is going to be answered.

        Args:
            bench: whose engine answers it.
            record: where it is written.
            query: the question.
            config: the settings it is answered under.
            on_end: told once, as soon as `turn` has its end.
        """
        names = (bench.corpus, config.method.name, config.chat.model)
        return cls(bench, record, await record.begin(query, *names), config, on_end)

    @property
    def going_on(self) -> bool:
        """Whether `turn` has no end yet."""
        return self.turn.state is TurnState.ANSWERING

    async def run(self, before: "Asking | None") -> None:
        """Have it answered.

        Args:
            before: the question before it, which may have been cancelled and still be ending.
        """
        try:
            if before is not None:
                await before._ended.wait()
            if not self.over:
                await self._answer()
        finally:
            self._ended.set()

    async def cancel(self) -> None:
        """Give it up; what was written of its answer is kept."""
        if self.over:
            return
        self.over = True
        self._bench.engine.cancel()
        claims = self.progress.claims
        self._end(replace(self.turn, state=TurnState.CANCELLED, draft=claims))
        await self._record.cancel(self.turn, claims)

    async def keep_draft(self) -> None:
        """Write down what there is of the answer."""
        if not self.over:
            await self._record.draft(self.turn, self.progress.claims)

    async def _answer(self) -> None:
        turn = self.turn
        try:
            reply = await self._bench.engine.answer(
                self._bench.workspace, turn.corpus, self._config, turn.query, self._hear
            )
        except Cancelled:
            return
        except LocalragError as error:
            if self.over:
                return
            self.over = True
            turn = replace(turn, draft=self.progress.claims)
            turn = await self._record.fail(turn, error)
        else:
            if self.over:
                return
            self.over = True
            turn = await self._record.finish(turn, reply.answer, reply.seconds)
        self._end(turn)

    def _end(self, turn: Turn) -> None:
        self.turn = turn
        self._on_end(self)

    def _hear(self, event: AnswerEvent) -> None:
        if not self.over:
            self.progress.take(event)


OnEnd = Callable[[Asking], object]
"""Is told of a question that has its end."""
