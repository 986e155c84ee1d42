"""Jobs: long work started and stopped by the user, its progress and outcome in words."""

from asyncio import Task, create_task, gather
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from time import monotonic, time

from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag.text.harmless import one_line
from localrag.text.progress import BYTES, Phase, Progress
from localrag_tui.shown import cure_of, duration, size
from localrag_tui.work.process import Channel, Process, Stopped


class State(StrEnum):
    """The states of a job."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(eq=False)
class Job:
    """A function in a process of its own."""

    title: str  # for the user, in the language of the interface
    function: Callable[..., object]  # of a module; its first argument takes events
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
        """Run it to its end; `on_event` takes every event."""
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
        """Ask it to end and keep its results; a second call kills it."""
        if self._stopping:
            await self.kill()
        elif self._process is not None:
            self._process.interrupt()
        self._stopping = True

    async def kill(self) -> None:
        self._stopping = True
        if self._process is not None:
            await self._process.kill()


def _telling(
    channel: Channel, function: Callable[..., object], arguments: tuple[object, ...]
) -> object:
    return function(channel.tell, *arguments)


Listener = Callable[[Job, object], None]
"""Takes a job and its event, or None after a change of state."""


class Jobs:
    """Starts jobs, and informs listeners; used from the event loop."""

    def __init__(self) -> None:
        self.all: list[Job] = []
        self._tasks: set[Task[None]] = set()
        self._listeners: list[Listener] = []

    @property
    def running(self) -> list[Job]:
        return [job for job in self.all if job.state is State.RUNNING]

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Inform a listener about every job; returns a function to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def start(self, job: Job) -> Job:
        self.all.append(job)
        task = create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._tell(job, None)
        return job

    async def close(self) -> None:
        await gather(*(job.kill() for job in self.running))
        await gather(*self._tasks)

    async def _run(self, job: Job) -> None:
        await job.run(lambda event: self._tell(job, event))
        self._tell(job, None)

    def _tell(self, job: Job, event: object) -> None:
        for listener in tuple(self._listeners):
            listener(job, event)


_EVERY = 0.1
"""Seconds between two events of a phase."""
_SOON = 1.0
"""Seconds before a rate is meaningful."""


class Steps:
    """Sends progress from the working process, a few times a second."""

    def __init__(self, tell: Callable[[object], None]) -> None:
        self._tell = tell
        self._phase: Phase | None = None
        self._told = 0.0

    def __call__(self, progress: Progress) -> None:
        now = monotonic()
        last = progress.done >= progress.total
        if progress.phase != self._phase or now - self._told >= _EVERY or last:
            self._phase, self._told = progress.phase, now
            self._tell(progress)


def described(event: object) -> str:
    """An event in one line; "" for other events."""
    match event:
        case Progress():
            return " · ".join(filter(None, (_count(event), event.phase.about, _pace(event))))
        case str():
            return one_line(event)
        case _:
            return ""


def share(event: object) -> float | None:
    """The finished part of a phase, from 0 to 1; None if unknown."""
    if isinstance(event, Progress) and event.total > 0:
        return min(1.0, event.done / event.total)
    return None


def _count(step: Progress) -> str:
    if step.phase.unit == BYTES:
        done, total = size(step.done), size(step.total)
    else:
        done, total = f"{step.done:,}", f"{step.total:,} {_(step.phase.unit)}"
    return _("{step}: {done} of {total}").format(step=_(step.phase.name), done=done, total=total)


def _pace(step: Progress) -> str:
    if step.seconds < _SOON or not 0 < step.done < step.total or step.left is None:
        return ""
    bytes_ = step.phase.unit == BYTES
    speed = f"{size(int(step.rate))}/s" if bytes_ else f"{step.rate:,.0f}/s"
    return _("{speed} · about {left} left").format(speed=speed, left=duration(step.left))


STATES = {
    State.RUNNING: N_("running"),
    State.DONE: N_("done"),
    State.STOPPED: N_("stopped"),
    State.FAILED: N_("failed"),
}
"""The states of a job, as messages."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The outcome of a job, in the language of the interface."""

    told: str
    details: tuple[str, ...] = ()
    made: str = ""  # the name of an installed model; "" for none


def told(job: Job) -> str:
    """The outcome of a job in a line; "" while it runs."""
    if job.error is not None and job.state is not State.STOPPED:
        return job.error.cause
    if job.state is State.STOPPED:
        return _("Stopped; finished work is kept.") if job.keeps else _("Stopped.")
    if isinstance(job.value, JobOutcome):
        return "\n".join(map(one_line, job.value.told.split("\n")))
    return ""


def details(job: Job) -> list[str]:
    """The outcome of a job, line by line."""
    if job.error is not None and job.state is not State.STOPPED:
        return [job.error.cause, *filter(None, [cure_of(job.error)])]
    if isinstance(job.value, JobOutcome):
        return list(map(one_line, job.value.details or (job.value.told,)))
    return [line for line in (told(job),) if line]
