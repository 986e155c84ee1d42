"""Long work that a user starts and stops: a batch, an evaluation, an index, a download."""

from asyncio import Task, create_task, gather
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from time import time

from localrag.errors import LocalragError
from localrag_tui.work.child import Channel
from localrag_tui.work.process import Process, Stopped


class State(StrEnum):
    """How a job is."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(eq=False)
class Job:
    """A function in a process of its own.

    Attributes:
        title: what it does, for the user, in the language of the interface.
        function: of a module; its first argument is the channel on which it tells its events.
        arguments: the further ones; all are pickled.
        keeps: whether what it has finished is kept when it is stopped.
        state: how it is.
        value: what it returned.
        error: why it failed.
        last: the newest event.
    """

    title: str
    function: Callable[..., object]
    arguments: tuple[object, ...] = ()
    keeps: bool = True
    started: float = field(default_factory=time)
    state: State = State.RUNNING
    value: object = None
    error: LocalragError | None = None
    last: object = None
    _process: Process | None = None
    _stopping: bool = False

    async def run(self, on_event: Callable[[object], None]) -> None:
        """Run it to its end, whatever that is; `on_event` is called with every event."""
        try:
            self._process = await Process.start(_telling, self.function, self.arguments)
            if self._stopping:
                raise Stopped
            async for event in self._process.messages():
                self.last = event
                on_event(event)
            self.value, self.state = self._process.value, State.DONE
        except Stopped:
            self.state = State.STOPPED
        except LocalragError as error:
            if self._stopping:
                self.state = State.STOPPED
            else:
                self.error, self.state = error, State.FAILED
        finally:
            await self.kill()

    async def stop(self) -> None:
        """Have it end; what it has finished is kept. A second call does not wait for it."""
        if self._stopping:
            await self.kill()
        elif self._process is not None:
            self._process.interrupt()
        self._stopping = True

    async def kill(self) -> None:
        """End it at once."""
        self._stopping = True
        if self._process is not None:
            await self._process.kill()


def _telling(
    channel: Channel, function: Callable[..., object], arguments: tuple[object, ...]
) -> object:
    return function(channel.tell, *arguments)


Listener = Callable[[Job, object], None]
"""Called with a job and its event; with None as the event where its state has changed."""


class Jobs:
    """Starts jobs, and tells whoever listens about them; used from the event loop.

    Attributes:
        all: every job of this application, oldest first.
    """

    def __init__(self) -> None:
        self.all: list[Job] = []
        self._tasks: set[Task[None]] = set()
        self._listeners: list[Listener] = []

    @property
    def running(self) -> list[Job]:
        """The jobs that have not ended."""
        return [job for job in self.all if job.state is State.RUNNING]

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell of every job from now on; gives back what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def start(self, job: Job) -> Job:
        """Start a job."""
        self.all.append(job)
        task = create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._tell(job, None)
        return job

    async def close(self) -> None:
        """Kill what still runs; all of it can be resumed."""
        await gather(*(job.kill() for job in self.running))
        await gather(*self._tasks)

    async def _run(self, job: Job) -> None:
        await job.run(lambda event: self._tell(job, event))
        self._tell(job, None)

    def _tell(self, job: Job, event: object) -> None:
        for listener in tuple(self._listeners):
            listener(job, event)
