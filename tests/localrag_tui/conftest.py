"""The workbench under test: the application, an engine that does as it is told, what is shown."""

import asyncio
import json
import shutil
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual._compositor import Compositor
from textual.app import App, ScreenStackError
from textual.css import stylesheet
from textual.css.model import RuleSet
from textual.css.query import NoMatches
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, TextArea

from localrag import language
from localrag.answer.types import Answer, Cancelled
from localrag.corpus.config import Config
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.search.types import Query
from localrag_tui.app import Workbench
from localrag_tui.work.engine import AnswerEvent, TimedAnswer
from localrag_tui.work.jobs import Job, State

from ..patience import PATIENCE
from .screen_dump import Dump, dump, look

Step = AnswerEvent | asyncio.Event | Answer | Exception
Prepare = Callable[[Pilot[None]], Awaitable[None]]

SMALL, LARGE = (80, 24), (140, 40)
# The sizes and themes in which a look is compared or examined, by language.
LOOKS = {"en": ((SMALL, "dark"),), "ja": ((SMALL, "dark"), (LARGE, "light"))}
# Seconds to the next timer that count as rest: those of a screen that paints itself come sooner.
_REST = 0.03
# Seconds after which an application that never rests is no longer waited for.
_RESTLESS = 3.0
# What threads are doing for the loop of the running test.
_IN_THREADS: set[asyncio.Future[Any]] = set()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def parsed_once() -> Iterator[None]:
    """Every style sheet is parsed once; Textual parses all of them for every application anew."""
    tokens: dict[frozenset[tuple[str, str]], dict[str, Any]] = {}
    rules: dict[tuple[object, ...], list[RuleSet]] = {}
    tokenize, parse = stylesheet.tokenize_values, stylesheet.parse

    def tokenized(values: dict[str, str]) -> dict[str, Any]:
        key = frozenset(values.items())
        if key not in tokens:
            tokens[key] = tokenize(values)
        return tokens[key]

    def parsed(*what: Any, variable_tokens: dict[str, Any], **named: Any) -> list[RuleSet]:
        key = (id(variable_tokens), *what, *named.items())
        if key not in rules:
            rules[key] = list(parse(*what, variable_tokens=variable_tokens, **named))
        return rules[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stylesheet, "tokenize_values", tokenized)
        patch.setattr(stylesheet, "parse", parsed)
        yield


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing blinks or glides; a key has done its work; no language outlives its test.

    What another process works at may go on after a key: it is waited for with `until`.
    """
    for widget in (Input, TextArea):
        monkeypatch.setattr(widget.cursor_blink, "_default", False)
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    # No message is gone before a test has looked for it.
    monkeypatch.setattr(App, "NOTIFICATION_TIMEOUT", PATIENCE)
    monkeypatch.setattr("localrag_tui.shell.base._SECONDS", PATIENCE)
    # There is no terminal. All is painted after a change of layout, and where a test looks; what
    # is painted between would be thrown away, and took a quarter of the processor time.
    monkeypatch.setattr(Compositor, "render_partial_update", _unseen)
    # Textual asks how busy the processor is: on one that others keep busy all seems to rest.
    for module in ("app", "pilot"):
        monkeypatch.setattr(f"textual.{module}.wait_for_idle", _rest)
    _IN_THREADS.clear()
    run_in_thread = asyncio.BaseEventLoop.run_in_executor

    def noted(*arguments: Any) -> asyncio.Future[Any]:
        future = run_in_thread(*arguments)
        _IN_THREADS.add(future)
        future.add_done_callback(_IN_THREADS.discard)
        return future

    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", noted)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    yield
    language.use("en")


@dataclass
class ScriptedEngine:
    """An `Engine` that does what the script of each question says.

    Attributes:
        asked: corpus, settings and question, as they came.
        cancelled: how often `cancel` was called.
        closed: whether it was.
    """

    model: str = ""
    pid: int = 0
    asked: list[tuple[str, Config, Query]] = field(default_factory=list)
    cancelled: int = 0
    closed: bool = False
    answering: bool = False
    seconds: float = 1.5
    _scripts: deque[tuple[Step, ...]] = field(default_factory=deque)
    _unwanted: asyncio.Event = field(default_factory=asyncio.Event)

    def will(self, *steps: Step) -> "ScriptedEngine":
        """What becomes of the next question that has no script yet.

        Args:
            steps: an event is told, a gate (asyncio.Event) is waited at, an answer is given, an
                exception raised.
        """
        self._scripts.append(steps)
        return self

    async def warm(self) -> None: ...

    async def answer(
        self,
        workspace: Workspace,
        corpus: str,
        config: Config,
        query: Query,
        on_event: Callable[[AnswerEvent], None],
    ) -> TimedAnswer:
        self.asked.append((corpus, config, query))
        assert self._scripts, f"no script says what becomes of {query.text[:80]!r}"
        self._unwanted.clear()
        self.answering = True
        try:
            return await self._follow(self._scripts.popleft(), on_event)
        finally:
            self.answering = False

    async def _follow(
        self, script: tuple[Step, ...], on_event: Callable[[AnswerEvent], None]
    ) -> TimedAnswer:
        for step in script:
            await asyncio.sleep(0)
            if isinstance(step, asyncio.Event):
                await self._pass(step)
            if self._unwanted.is_set():
                raise Cancelled
            if isinstance(step, Answer):
                return TimedAnswer(step, self.seconds)
            if isinstance(step, Exception):
                raise step
            if not isinstance(step, asyncio.Event):
                on_event(step)
        raise AssertionError("the script of a question ends with an answer or an exception")

    def cancel(self) -> None:
        self.cancelled += 1
        self._unwanted.set()

    async def release(self) -> None:
        self.model = ""

    async def close(self) -> None:
        self.closed = True

    async def _pass(self, gate: asyncio.Event) -> None:
        ways = [asyncio.create_task(event.wait()) for event in (gate, self._unwanted)]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)


@pytest.fixture
def engine() -> ScriptedEngine:
    """The engine of `workbench`, unless it is given another; `engine.will(…)` is its script."""
    return ScriptedEngine()


@pytest.fixture
def scripted() -> type[ScriptedEngine]:
    """For a test that needs further engines."""
    return ScriptedEngine


@pytest.fixture
def bench_home(sample: Path) -> Path:
    """The workspace of this test: a copy of the sample corpus, indexed."""
    return sample


@pytest.fixture
def earlier_state(bench_home: Path, cli: Callable[..., Any]) -> str:
    """The sample's act as it was from 2020-04-01 on, in the corpus besides: its article 8 differs.

    Gives the words of that article which 「水位又は風速が政令で定める基準」 has replaced.
    """
    law_id, now, before = (
        "599AC0000000001",
        "水位又は風速が政令で定める基準",
        "水位が政令で定めた基準",
    )
    with CorpusStore.open(Workspace.locate(bench_home).corpus("main").store) as store:
        law = store.read(law_id)
        text, at = law.text.replace(now, before), law.text.index(now)
        shift = len(text) - len(law.text)
        passages = tuple(
            replace(
                passage,
                start=passage.start + shift * (passage.start > at),
                end=passage.end + shift * (passage.end > at),
                text=passage.text.replace(now, before),
            )
            for passage in law.passages
        )
        metadata = {**law.metadata, "date": "2020-04-01"}
        store.add(replace(law, text=text, passages=passages, sections=(), metadata=metadata))
    assert cli("index").code == 0
    return before


@pytest.fixture
def workbench(
    request: pytest.FixtureRequest, engine: ScriptedEngine
) -> Iterator[Callable[..., Workbench]]:
    """Makes the application: ``workbench(language="ja", theme="dark", mode="read")``.

    Further arguments: `engine` in the place of the scripted one, `home` in the place of
    `bench_home`, `overrides` as on the command line; all others are remembered choices.
    What nobody foresaw in a worker of it fails the test.
    """
    made: list[Workbench] = []

    def make(
        language: str = "en",
        theme: str = "dark",
        *,
        engine: Any = engine,
        home: Path | None = None,
        overrides: dict[str, object] | None = None,
        **choices: Any,
    ) -> Workbench:
        workspace = Workspace.locate(home or request.getfixturevalue("bench_home"))
        settings = {"language": language, "tui.theme": theme, **(overrides or {})}
        if choices:
            file = workspace.home / "tui.json"
            known = json.loads(file.read_text()) if file.exists() else {}
            file.write_text(json.dumps({**known, **choices}))
        made.append(Workbench(workspace, settings, engine=engine))
        return made[-1]

    yield make
    for app in made:
        if app.failure is not None:
            raise app.failure


@pytest.fixture
def alone(
    workbench: Callable[..., Workbench], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Workbench]:
    """Makes the application without its screens: a dialogue is looked at by itself."""
    monkeypatch.setattr(Workbench, "MODES", dict.fromkeys(Workbench.MODES, Screen))
    return workbench


@pytest.fixture
def in_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs run in a thread of this process, which starts at once."""

    async def run(self: Job, on_event: Callable[[object], None]) -> None:
        loop = asyncio.get_running_loop()

        def heard(event: object) -> None:
            self.last = event
            on_event(event)

        def tell(event: object) -> None:
            loop.call_soon_threadsafe(heard, event)

        try:
            self.value = await asyncio.to_thread(self.function, tell, *self.arguments)
            self.state = State.DONE
        except LocalragError as error:
            self.error, self.state = error, State.FAILED

    monkeypatch.setattr(Job, "run", run)


def _unseen(compositor: Compositor) -> None:
    """Paints nothing, in the place of what has changed."""
    compositor._dirty_regions.clear()


async def _rest(_least: float = 0.0) -> None:
    """Waits until the loop and its threads have nothing left to do, in the place of Textual's."""
    loop: Any = asyncio.get_running_loop()
    end = loop.time() + _RESTLESS
    while loop.time() < end:
        # Once more after the last was done: its answers come through the selector.
        for _ in range(3):
            await asyncio.sleep(0)
            if loop._ready:
                break
        else:
            due = loop._scheduled[0].when() - loop.time() if loop._scheduled else _RESTLESS
            if _IN_THREADS:
                await asyncio.wait(_IN_THREADS, timeout=_REST, return_when=asyncio.FIRST_COMPLETED)
            elif due > _REST:
                return
            else:
                await asyncio.sleep(max(due, 0.0))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test holds a thread: nothing rests before it lets go, so that it is not waited for."""
    monkeypatch.setitem(globals(), "_RESTLESS", 0.2)


@pytest.fixture
def until() -> Callable[..., Awaitable[None]]:
    """Waits until a condition holds: ``await until(pilot, lambda: …)``.

    A widget that it asks for may not be there yet. What follows from it without a thread or another
    process has come to pass, too.
    """
    return _until


async def _until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    clock = asyncio.get_running_loop().time
    deadline, pause = clock() + PATIENCE, 0.01
    while not _holds(condition):
        assert clock() < deadline, "it did not come to pass; shown is\n" + dump(pilot.app).text
        await pilot.pause(pause)
        # What takes long is the work of another process: whoever looks all the time slows it down.
        pause = min(1.5 * pause, 0.05)
    await _rest()


@pytest.fixture
def ended_by() -> Callable[[Workbench, Exception], Awaitable[None]]:
    """Runs an application until a worker of it fails with an error, which must end it."""

    async def run(app: Workbench, error: Exception) -> None:
        async def fail() -> None:
            raise error

        async with app.run_test() as pilot:
            app.run_worker(fail())
            await _until(pilot, lambda: not app.is_running)
        failure, app.failure = app.failure, None
        assert failure is error

    return run


def _holds(condition: Callable[[], object]) -> bool:
    try:
        return bool(condition())
    except (NoMatches, ScreenStackError):
        return False


@pytest.fixture
def shown() -> Callable[[App[Any]], str]:
    """What stands on the screen, row by row: ``assert "第八条" in shown(app)``."""
    return lambda app: dump(app).text


class _Screens(SingleFileSnapshotExtension):
    file_extension = "txt"
    _write_mode = WriteMode.TEXT


@pytest.fixture
def snapshots(
    snapshot: SnapshotAssertion, home: Path, tmp_path: Path
) -> Callable[..., Awaitable[None]]:
    """Compares a screen with what it was: small in both languages, large in Japanese.

    A dialogue is as large as what it shows, so that it is compared small. Of a screen all is
    compared but the bar of all screens, of a dialogue nothing but itself: what another screen
    changes is no change of this one. Colours are called what the theme calls them; the light theme
    is examined where the screen is large. In every look every row is as wide as the screen,
    nothing in it acts on a terminal, every text has contrast enough.

    ``await snapshots(lambda language: workbench(language), prepare)``: the first makes the
    application, the second, a coroutine function, brings it into the state to be compared (given
    the pilot, at 80x24); several of them by name are done one after another, and what one opened
    is closed before the next. ``ready`` is waited for before every look; ``of`` is the selector of
    widgets that are compared by themselves.
    """
    expected = snapshot.use_extension(_Screens)

    async def compare(
        make: Callable[[str], App[Any]],
        prepare: Prepare | Mapping[str, Prepare] = lambda pilot: pilot.pause(),
        *,
        ready: Callable[[], object] = lambda: True,
        of: str = "",
    ) -> None:
        kept = tmp_path / "kept"
        states = prepare if isinstance(prepare, Mapping) else {"": prepare}
        seen: dict[str, str] = {}
        faults: list[str] = []
        for spoken, looks in LOOKS.items():
            if kept.exists():
                shutil.rmtree(home)
                shutil.copytree(kept, home)
            app = make(spoken)
            if home.exists() and not kept.exists():
                shutil.copytree(home, kept)
            async with app.run_test(size=SMALL, notifications=True) as pilot:
                for name, bring in states.items():
                    depth = len(app.screen_stack)
                    await bring(pilot)
                    for size, theme in looks:
                        await pilot.resize_terminal(*size)
                        app.theme = f"localrag-{theme}"
                        await _until(pilot, ready)
                        title = f"{name}-{size[0]}x{size[1]}-{spoken}".lstrip("-")
                        shown = await _settled(pilot)
                        faults += [f"{title} {fault}" for fault in shown.faults]
                        if size == SMALL or not isinstance(app.screen, ModalScreen):
                            seen[title] = look(app, of)
                    for _ in app.screen_stack[depth:] if len(states) > 1 else ():
                        await app.pop_screen()
                    if len(states) > 1:
                        await pilot.resize_terminal(*SMALL)
                        app.theme = "localrag-dark"
        changed = [title for title, now in seen.items() if now != expected(name=title)]
        assert not changed, f"{changed} differ; shown is\n{seen[changed[0]]}"
        assert not faults, "\n".join(faults)

    return compare


async def _settled(pilot: Pilot[Any]) -> Dump:
    """What is shown once no thread is at work and nothing changes any more."""
    before, now = None, dump(pilot.app)
    while now != before:
        before = now
        await pilot.pause(0.02)
        await _until(pilot, lambda: not _IN_THREADS)
        now = dump(pilot.app)
    return now
