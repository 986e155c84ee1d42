"""What is shown on a terminal while an answer is made: something moves, whatever takes long."""

import os
import pty
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from localrag.answer.types import UNWATCHED, Watch
from localrag.doors.cli import terminal as terminal_of_ours

from ....patience import wait_for

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@contextmanager
def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """Standard error is a terminal; gives what was written on it since the last look.

    No fixture, for pytest puts standard error back before the test.
    """
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setattr(terminal_of_ours, "_UNSEEN", 0.0)
        terminal_of_ours._console.cache_clear()

        def look() -> str:
            terminal.flush()
            try:
                return _ESCAPES.sub("", os.read(ours, 1 << 20).decode(errors="replace"))
            except BlockingIOError:
                return ""

        yield look
        terminal_of_ours._console.cache_clear()
    os.close(ours)


def until(look: Callable[[], str], words: str) -> str:
    """Look again and again until the words are there."""
    seen: list[str] = []

    def told() -> str:
        return "".join(seen)

    wait_for(lambda: seen.append(look()) or words in told(), told)
    return told()


def test_what_is_done_is_shown_with_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_terminal(monkeypatch) as screen, terminal_of_ours.shown_draft() as watch:
        until(screen, "searching, ")
        watch.loading("tiny", 0, 0)
        until(screen, "tiny is being loaded, ")
        watch.loading("tiny", 450_000_000, 1_800_000_000)
        until(screen, "tiny is being loaded: 25% of 1.80 GB, ")
        watch.reading(0, 0)
        until(screen, "tiny reads the passages, ")
        watch.reading(512, 2048)
        until(screen, "tiny reads: 512 of 2,048 tokens, ")
        watch.wrote("水")
        until(screen, "tiny writes: 1 tokens, ")
        watch.draft(["水位は[red]\x1b[31m…"])
        seen = until(screen, "水位は[red]")
        assert "\x1b" not in seen
        # The clock goes on while nothing is told.
        until(screen, "tiny writes: 1 tokens, 1.")


def test_a_second_prompt_starts_with_an_empty_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_terminal(monkeypatch) as screen, terminal_of_ours.shown_draft("tiny") as watch:
        watch.draft(["主張"])
        until(screen, "主張")
        watch.reading(0, 0)
        until(screen, "tiny reads the passages")
        screen()
        assert "主張" not in until(screen, "tiny reads the passages")


def test_nothing_is_shown_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal_of_ours.shown_draft("tiny") as watch:
        watch.reading(1, 2)
    assert isinstance(watch, Watch)
    assert watch is UNWATCHED
    assert capsys.readouterr() == ("", "")
