"""What is printed: control characters are harmless, JSON keeps every value."""

import io
import json
import os
import re
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from localrag.doors.cli.terminal import Meter, emit, failure, say, table
from localrag.errors import InputError
from localrag.text.harmless import harmless
from localrag.text.progress import BYTES, Phase, Progress, Stopwatch

from ....patience import PATIENCE

HOSTILE = "\x1b[31m赤\x1b[0m \x9b2J [bold red]太字[/] [/] \x07\x08 \u202eabc \udcff"


def test_control_characters_become_visible() -> None:
    assert harmless("\x1b[2J") == "␛[2J"
    assert harmless("行一\u2028行二\u2029") == "行一\ufffd行二\ufffd"
    assert harmless("行一\n\t行二") == "行一\n\t行二"
    shown = harmless(HOSTILE)
    assert not any(ord(c) < 32 or 0x7F <= ord(c) <= 0x9F for c in shown)
    shown.encode("utf-8")


def test_markup_and_escapes_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    say((HOSTILE, "bold"), HOSTILE, indent=2)
    table(["見出し"], [[HOSTILE]])
    failure(HOSTILE, HOSTILE)
    out, err = capsys.readouterr()
    for text in (out, err):
        assert "[bold red]太字[/] [/]" in text
        assert "\x1b" not in text
        assert "\x9b" not in text


DEFECTS = InputError("q.jsonl cannot be used:\nline 2: \x1b[2J\nline 3: 答え", "Mend\nthem.")


def test_an_error_of_several_lines_is_shown_as_lines(capsys: pytest.CaptureFixture[str]) -> None:
    failure(DEFECTS.cause, DEFECTS.cure)
    assert capsys.readouterr().err.splitlines() == [
        "error: q.jsonl cannot be used:",
        "    line 2: ␛[2J",
        "    line 3: 答え",
        "  Mend␊them.",
    ]


def test_on_a_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from localrag.doors.cli import terminal

    written = io.StringIO()
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", written)
    terminal._console.cache_clear()
    try:
        assert terminal.on_terminal()
        failure(DEFECTS.cause)
    finally:
        terminal._console.cache_clear()
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in written.getvalue().splitlines()]
    assert lines[1:] == ["    line 2: ␛[2J", "    line 3: 答え"]
    assert "\x1b[2J" not in written.getvalue()


def test_no_value_begins_a_line_that_passes_for_ours(capsys: pytest.CaptureFixture[str]) -> None:
    failure("no file x\nerror: y\n  Run this.", "Check the spelling.")
    first, *more, cure = capsys.readouterr().err.splitlines()
    assert (first, cure) == ("error: no file x", "  Check the spelling.")
    assert all(line.startswith("    ") for line in more)


def test_long_lines_are_not_broken_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("長い" * 500, indent=4)
    assert capsys.readouterr().out == "    " + "長い" * 500 + "\n"


def test_table_columns_align_on_screen(capsys: pytest.CaptureFixture[str]) -> None:
    table(["a", "b"], [["法", "x"], ["law!", "y"]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("法    x")
    assert lines[2].startswith("law!  y")


def test_json_keeps_hostile_values_without_raw_controls(
    capsys: pytest.CaptureFixture[str],
) -> None:
    emit({"text": HOSTILE})
    out = capsys.readouterr().out
    assert json.loads(out) == {"text": HOSTILE}
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) <= 0x9F for c in out)


def test_meter_is_silent_for_two_seconds_then_speaks_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 6.0, 6.0, 7.0, 12.0, 12.0, 20.0, 20.0, 30.0, 30.0])
    monkeypatch.setattr("localrag.doors.cli.terminal.monotonic", lambda: next(clock))
    files, size = Phase("reading", "files"), Phase("fetching", BYTES, "x.json")
    with Meter() as meter:
        for done in (1, 60, 70, 120):
            meter.update(Progress(files, done, 240, done / 10))
        meter.update(Progress(files, 130, 140, 10.0, earlier=120, failed=2, limit=15.0))
        meter.update(Progress(size, 20_000_000, 80_000_000, 8.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "reading: 60 of 240 files, 10/s, about 18 s left",
        "reading: 120 of 240 files, 10/s, about 12 s left",
        "reading: 130 of 140 files, 60.0 a minute, 2 failed, about 5.0 s left",
        "fetching x.json: 20 of 80 MB, 2.5 MB/s, about 24 s left",
    ]


def test_a_stopwatch_begins_again_with_every_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(100.0)
    monkeypatch.setattr("localrag.text.progress.monotonic", lambda: next(clock))
    told: list[Progress] = []
    watch = Stopwatch(told.append)
    for stage, done in (("one", 1), ("one", 2), ("two", 1)):
        watch(Phase(stage, "files"), done, 2)
    first, _second, other = told
    assert [one.seconds for one in told] == [1.0, 2.0, 1.0]
    assert (first.left is not None, Progress(other.phase, 0, 2, 9.0).left) == (True, None)


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_closed_pipe_is_quiet(shell: Callable[..., object], home: Path) -> None:
    import subprocess

    reading, writing = os.pipe()
    os.close(reading)
    finished = subprocess.run(
        [sys.executable, "-m", "localrag", "config"],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        timeout=PATIENCE,
    )
    os.close(writing)
    assert finished.returncode == 141
    assert finished.stderr == b""


def test_a_terminal_of_another_encoding_gets_question_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from localrag.doors.cli.main import run

    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="cp1252"))
    assert run(["--help"]) == 0
    sys.stdout.flush()
    assert b"localrag ask ?" in buffer.getvalue()
