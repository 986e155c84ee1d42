"""The application as a whole: where it opens, how it survives, how it is left."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from localrag.errors import InputError
from localrag_tui import app as app_module
from localrag_tui.app import Workbench
from localrag_tui.shell.bars import SCREENS

from ..patience import PATIENCE

KEYS = {mode: entry.key for mode, entry in SCREENS.items()}


async def test_every_screen_has_a_key_and_a_click_and_is_there_again(workbench, engine, until):
    app = workbench()
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.current_mode == "ask")
        for mode, key in KEYS.items():
            await pilot.press(key)
            await until(pilot, lambda mode=mode: app.current_mode == mode)
        await until(pilot, lambda: app.screen.query("#tab-read"))
        await pilot.click("#tab-read")
        await until(pilot, lambda: app.current_mode == "read")
    assert engine.closed
    assert workbench().memory.choices.mode == "read"


async def test_a_dialogue_is_left_before_one_goes_on(workbench, until):
    app = workbench(mode="models")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.current_mode == "models")
        await pilot.press("ctrl+b", "f2", "ctrl+g", "f3")
        assert app.current_mode == "models"
        await pilot.press("escape", "f2")
        await until(pilot, lambda: app.current_mode == "ask")
        await pilot.press(*"why", "f6")
        await until(pilot, lambda: app.current_mode == "models")


@pytest.mark.parametrize("mode", SCREENS)
async def test_a_tiny_terminal_breaks_nothing(workbench, until, shown, mode):
    app = workbench(mode=mode)
    async with app.run_test(size=(40, 10)) as pilot:
        await until(pilot, lambda: app.current_mode == mode)
        for size in ((10, 3), (1, 1), (200, 60), (40, 10)):
            await pilot.resize_terminal(*size)
        await pilot.press("f1")
        await pilot.press("escape", "ctrl+p", "escape")
        await until(pilot, lambda: "Ask" in shown(app))


async def test_a_known_error_of_a_worker_is_told_and_nothing_ends(workbench, shown, until):
    async def fail():
        raise InputError("[red]no[/red] \x1b[2J file" + "あ" * 5000, "Take another.")

    app = workbench(mode="models")
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        app.run_worker(fail())
        await until(pilot, lambda: "Take another." in shown(app))
        await until(pilot, lambda: "[red]no[/red] ␛[2J" in shown(app))
        assert app.failure is None


async def test_an_unforeseen_error_ends_it_with_nothing_left_open(workbench, engine, ended_by):
    app = workbench(mode="models")
    await ended_by(app, ZeroDivisionError("nobody thought of it"))
    assert app.return_code == 1
    assert engine.closed


async def test_what_is_copied_is_shown_as_it_is(workbench, shown, until):
    app = workbench(mode="models")
    async with app.run_test(notifications=True) as pilot:
        app.copy("[b]第八条[/b]\x07" + "条" * 5000)
        await until(pilot, lambda: "[b]第八条[/b]␇" in shown(app))
        assert app.clipboard.startswith("[b]第八条[/b]\x07")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "Ctrl+Q leaves." in shown(app))


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"app.halp": "f9"}, "Did you mean app.help?"),
        ({"app.help": "strg+x"}, '"strg+x" is no key'),
        ({"app.jump": "f1"}, "F1 is assigned to both app.jump and app.help"),
    ],
)
async def test_wrong_keys_are_told(workbench, shown, until, keys, told):
    app = workbench(mode="models", overrides={"tui.keys": keys})
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: told in shown(app))
        await until(pilot, lambda: "localrag.toml" in shown(app))


async def test_other_keys_do_the_same(workbench, until):
    app = workbench(mode="models", overrides={"tui.keys": {"app.read": "F12, ctrl+t"}})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.current_mode == "models")
        await pilot.press("f3")
        assert app.current_mode == "models"
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.current_mode == "read")


def test_what_ended_it_reaches_whoever_ran_it(workbench, monkeypatch):
    def run(self):
        self.failure = ZeroDivisionError("nobody thought of it")

    def run_into_a_handler(self):
        self.error_console.print("Traceback\n…\nKeyError: 'nobody'")

    monkeypatch.setattr(Workbench, "run", run)
    made = workbench()
    with pytest.raises(ZeroDivisionError):
        app_module.run(made.workspace, {})
    monkeypatch.setattr(Workbench, "run", run_into_a_handler)
    with pytest.raises(RuntimeError, match="KeyError: 'nobody'") as broken:
        app_module.run(made.workspace, {})
    assert "Traceback" in broken.value.__notes__[0]
    made.memory.close()


class Terminal:
    """The real program on a terminal of its own."""

    def __init__(self, home, *, arguments=(), program=(), **environment):
        master, slave = pty.openpty()
        given = program or ["-m", "localrag", "--home", str(home), *arguments, "tui"]
        self.process = subprocess.Popen(
            [sys.executable, *given],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm-256color", **environment},
        )
        os.close(slave)
        self.master, self.said = master, ""

    def wait_for(self, pattern):
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, self.said):
            if time.monotonic() > deadline:
                raise AssertionError(self.said[-2000:])
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self.master, 65536).decode(errors="replace")
                except OSError:
                    break
        return self.said

    def end(self):
        self.wait_for(r"\Z.^")
        os.close(self.master)
        return self.process.wait(PATIENCE)


# What puts a terminal back: the normal screen, no mouse, a cursor.
RESTORED = ("\x1b[?1049l", "\x1b[?1000l", "\x1b[?25h")


def test_the_terminal_is_as_it_was_whoever_ends_it(bench_home):
    by_key, by_system = (Terminal(bench_home, LANG="C.UTF-8") for _ in range(2))
    for terminal in (by_key, by_system):
        terminal.wait_for("Models")
    os.write(by_key.master, b"\x11")
    by_system.process.send_signal(signal.SIGTERM)
    for terminal in (by_key, by_system):
        assert terminal.end() == 0
        assert all(code in terminal.said for code in RESTORED)
        assert "Traceback" not in terminal.said


def test_it_ends_with_its_terminal_though_that_takes_nothing_more(bench_home):
    hang = (
        "import sys, threading\n"
        "from textual.drivers._writer_thread import WriterThread\n"
        "from localrag_tui.shell import base\n"
        "base._FAREWELL = 0.5\n"
        "WriterThread.stop = lambda self: threading.Event().wait()\n"
        "from localrag.doors.cli.start import run\n"
        "sys.exit(run(['--home', sys.argv[1], 'tui']))\n"
    )
    terminal = Terminal(bench_home, program=["-c", hang, str(bench_home)], LANG="C.UTF-8")
    terminal.wait_for("Models")
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.end() == 128 + signal.SIGHUP


def test_settings_that_are_not_valid_are_told_once_the_terminal_is_as_it_was(bench_home):
    settings = bench_home / "localrag.toml"
    before = settings.read_text(encoding="utf-8") if settings.exists() else ""
    settings.write_text(f'language = "fr"\n{before}', encoding="utf-8")
    terminal = Terminal(bench_home, LANG="C.UTF-8")
    assert terminal.end() == 5
    after = terminal.said.rpartition(RESTORED[0])[2]
    assert "language = 'fr' is not valid" in after
    assert "localrag config" in after


def test_the_first_paint_needs_no_library_that_validates():
    code = "import sys, localrag_tui.app, localrag_tui.ask.screen; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pydantic", "localrag.corpus.config", "apsw"} & set(found.stdout.split())
