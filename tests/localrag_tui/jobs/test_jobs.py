"""The jobs dialogue, what it says of jobs, and the words on how far they are."""

import pytest

from localrag.corpus.ingest.add import AddReport
from localrag.corpus.ingest.events import INDEXING, READING, FileFailed
from localrag.errors import InputError, StorageError
from localrag.language import _
from localrag.ops.batch.types import ANSWERING
from localrag.search.indexing.index import IndexReport
from localrag.text.progress import Phase, Progress, Stopwatch
from localrag_tui.app import Workbench
from localrag_tui.corpora.work import added as added_in_words
from localrag_tui.corpora.work import indexed as indexed_in_words
from localrag_tui.jobs import JobsDialogue, ReportDialogue
from localrag_tui.work.jobs import Job, State, Steps, described, details, share, told

from ...patience import PATIENCE
from ...rows import each

HOSTILE = "[red]\x1b[2J\u202eevil[/] 渡し舟" * 3


def ended(title: str, state: State, **more: object) -> Job:
    return Job(title, print, state=state, **more)  # type: ignore[arg-type]


def some_jobs() -> list[Job]:
    """One of each kind, with fixed figures."""
    full = StorageError("The disk is full.", "Free some space.")
    step = Progress(READING, 120_000_000, 480_000_000, 4.0)
    return [
        ended(HOSTILE, State.FAILED, error=full),
        ended("A batch", State.STOPPED),
        ended("Add the laws", State.RUNNING, last=step),
    ]


def test_a_step_says_how_far_how_fast_and_how_long():
    step = Progress(READING, 120_000_000, 480_000_000, 4.0)
    line = "reading: 120.0 MB of 480.0 MB · 30.0 MB/s · about 12 s left"
    assert (described(step), share(step)) == (line, 0.25)
    counted = Progress(Phase("indexing", "passages", "main"), 900, 1800, 0.2)
    assert described(counted) == "indexing: 900 of 1,800 passages · main"


def test_a_batch_is_shown_by_its_questions():
    assert described(Progress(ANSWERING, 81, 140, 0.9)) == "answering: 81 of 140 questions"
    assert share(Progress(ANSWERING, 70, 140)) == 0.5
    assert (described(object()), share(object())) == ("", None)
    assert share(Progress(READING, 0, 0)) is None


def test_steps_that_follow_too_soon_are_left_out_but_never_the_last():
    heard: list[object] = []
    tell = Stopwatch(Steps(heard.append))
    for done in range(1, 1001):
        tell(READING, done, 1000)
    tell(INDEXING, 1, 2)
    names = [(step.phase, step.done) for step in heard if isinstance(step, Progress)]
    assert names[0] == (READING, 1)
    assert names[-2:] == [(READING, 1000), (INDEXING, 1)]
    assert len(names) < 100


@each("state", [State.STOPPED, State.DONE, State.RUNNING])
def test_what_came_of_a_job_without_a_word(state: State):
    job = ended("a job", state)
    assert bool(told(job)) is (state is State.STOPPED)
    assert details(job) == ([told(job)] if told(job) else [])


@pytest.mark.anyio
async def test_a_failed_job_is_read_through(workbench, shown, until):
    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        app.jobs.all.extend(some_jobs()[:1])
        await pilot.press("ctrl+b")
        await until(pilot, lambda: "Free some space." in shown(app))
        await until(pilot, lambda: "[red]␛[2J<U+202E>evil[/]" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReportDialogue))
        await until(pilot, lambda: "The disk is full." in shown(app))
        await pilot.press("c")
        assert app.clipboard == "The disk is full.\nFree some space."
        await pilot.press("escape", "escape")
        assert not isinstance(app.screen, JobsDialogue)


@pytest.mark.anyio
async def test_one_that_runs_is_stopped_and_one_that_has_ended_is_not(
    workbench, shown, until, monkeypatch
):
    stopped: list[str] = []

    async def stop(self: Job) -> None:
        stopped.append(self.title)

    monkeypatch.setattr(Job, "stop", stop)
    # On a busy machine a notice would be gone before it is looked for.
    monkeypatch.setattr(Workbench, "NOTIFICATION_TIMEOUT", PATIENCE)
    app = workbench()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.jobs.all.extend(some_jobs())
        await pilot.press("ctrl+b")
        await until(pilot, lambda: "25%" in shown(app))
        await pilot.press("x", "enter")
        assert stopped == ["Add the laws"]
        assert isinstance(app.screen, JobsDialogue), "nothing has come of it yet"
        await until(pilot, lambda: "It ends after saving" in shown(app))
        await pilot.press("down", "x")
        assert stopped == ["Add the laws"]


@pytest.mark.anyio
async def test_without_jobs_it_says_so(workbench, shown):
    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+b", "enter", "x")
        assert "Nothing runs, and nothing has run." in shown(app)


@pytest.mark.anyio
async def test_look(alone, snapshots):
    async def prepare(pilot):
        pilot.app.jobs.all.extend(some_jobs())
        await pilot.press("ctrl+b")

    await snapshots(alone, prepare)


@pytest.mark.anyio
async def test_look_of_a_report(alone, snapshots):
    added = AddReport(
        added=326,
        files_unchanged=14,
        unsupported={".mp3": 2, "": 1},
        failures=1,
        failed=[FileFailed("[red]broken.xml", InputError("It is no XML: line 3.", "Mend it."))],
    )
    indexed = IndexReport(False, 55_798, 291_085, 16_330, 1, 64.0)

    async def prepare(pilot):
        outcome = added_in_words("main", added, indexed_in_words("main", indexed))
        title = _("Add {path} to {corpus}").format(path="/media/stick", corpus="main")
        job = ended(title, State.DONE, value=outcome)
        await pilot.app.push_screen(ReportDialogue(job))

    await snapshots(alone, prepare)
