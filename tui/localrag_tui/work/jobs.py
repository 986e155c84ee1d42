"""The jobs of one application."""

from asyncio import Task, create_task, gather
from collections.abc import Callable

from localrag_tui.work.job import Job, State

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
        """Those that have not ended."""
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
