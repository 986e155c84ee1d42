"""Work in other processes: it tells, it can be stopped, and nothing of it stays behind."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from localrag import language
from localrag.corpus.config import load
from localrag.corpus.workspace import Workspace
from localrag_tui.corpora.work import index_corpus
from localrag_tui.work import process as process_module
from localrag_tui.work.jobs import Job, Jobs, State
from localrag_tui.work.process import ProcessDied

from ...patience import comes, wait_for
from . import deeds


async def run(job):
    told = []
    await job.run(told.append)
    return told


def gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_it_tells_and_returns():
    job = Job("count", deeds.count, (2000,))
    assert await run(job) == list(range(2000))
    assert (job.state, job.value, job.last, job.error) == (State.DONE, 2000, 1999, None)


@pytest.mark.parametrize(
    ("kind", "cause", "cure"),
    [
        ("known", "The file is empty.", "Take another."),
        ("unforeseen", "ZeroDivisionError: by [red]nothing[/red]", ""),
        ("quits", "exit code 7", "try it again"),
    ],
)
async def test_a_failure_is_told(kind, cause, cure):
    job = Job("fail", deeds.fail, (kind,))
    await run(job)
    assert job.state is State.FAILED
    assert cause in job.error.cause
    assert cure in job.error.cure


async def test_a_failure_is_told_in_the_language_in_use(bench_home):
    language.use("ja")
    workspace = Workspace.locate(bench_home)
    job = Job("索引", index_corpus, (workspace, "nowhere", load(workspace)))
    await run(job)
    assert job.error.cause == "コーパス「nowhere」はありません。"


async def test_noise_of_libraries_reaches_neither_the_pipe_nor_the_terminal(capfd):
    job = Job("fail", deeds.fail, ("noisy",))
    assert await run(job) == ["said"]
    assert isinstance(job.error, ProcessDied)
    assert "SIGKILL" in job.error.cause
    assert "and on standard error" in job.error.cause
    assert "smaller model" in job.error.cure
    assert capfd.readouterr() == ("", "")


async def test_stopping_keeps_what_is_finished(tmp_path):
    job = Job("work", deeds.work, (str(tmp_path / "mark"),))
    running = asyncio.create_task(run(job))
    await comes(lambda: job.last)
    await job.stop()
    await running
    assert job.state is State.STOPPED
    assert (tmp_path / "mark").read_text() == "kept"


async def test_the_second_stop_does_not_wait():
    job = Job("deaf", deeds.deaf)
    running = asyncio.create_task(run(job))
    await comes(lambda: job.last)
    await job.stop()
    assert job.state is State.RUNNING
    await job.stop()
    await running
    assert (job.state, job.error) == (State.STOPPED, None)
    assert gone(job.last)


async def test_it_can_be_stopped_before_it_has_started():
    job = Job("deaf", deeds.deaf)
    running = asyncio.create_task(run(job))
    await asyncio.sleep(0)
    await job.stop()
    await running
    assert job.state is State.STOPPED


async def test_stopping_amid_large_messages_leaves_no_half_of_one():
    job = Job("talk", deeds.talk)
    told = []
    running = asyncio.create_task(job.run(told.append))
    await comes(lambda: len(told) > 3)
    await job.stop()
    await running
    assert (job.state, job.error) == (State.STOPPED, None)
    assert {len(message) for message in told} == {300_000}


async def test_killing_takes_what_it_has_started_along():
    job = Job("with child", deeds.with_child)
    running = asyncio.create_task(run(job))
    await comes(lambda: job.last)
    await job.kill()
    await running
    await comes(lambda: gone(job.last))
    assert job.state is State.STOPPED


async def test_no_process_can_be_started(monkeypatch):
    async def refuse(*_, **__):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(process_module.asyncio, "create_subprocess_exec", refuse)
    job = Job("count", deeds.count, (1,))
    await run(job)
    assert job.state is State.FAILED
    assert "Resource temporarily unavailable" in job.error.cause
    assert "try it again" in job.error.cure


async def test_whoever_listens_hears_of_every_job():
    jobs, heard = Jobs(), []
    leave = jobs.listen(lambda job, event: heard.append((job.title, event, job.state)))
    one = jobs.start(Job("count", deeds.count, (2,)))
    assert jobs.running == [one]
    await comes(lambda: not jobs.running)
    await comes(lambda: len(heard) == 4)
    running, done = State.RUNNING, State.DONE
    assert heard == [
        ("count", None, running),
        ("count", 0, running),
        ("count", 1, running),
        ("count", None, done),
    ]
    leave()
    two = jobs.start(Job("deaf", deeds.deaf))
    await jobs.close()
    assert two.state is State.STOPPED
    assert len(heard) == 4
    assert jobs.all == [one, two]


_PARENT = """
import asyncio
from tests.localrag_tui.work import deeds
from localrag_tui.work.jobs import Job

async def main():
    await Job("with child", deeds.{deed}).run(lambda pid: print(pid, flush=True))

asyncio.run(main())
"""


@pytest.mark.parametrize("deed", ["deaf", "with_child"])
def test_nothing_outlives_a_workbench_that_is_killed(deed):
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT.format(deed=deed)],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
    )
    started = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    wait_for(lambda: gone(started))
