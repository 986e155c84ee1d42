"""A workbench that is killed while it answers, in a terminal of its own."""

import os
import pty
import signal
import subprocess
import sys
from threading import Thread

from localrag.ops.conversations.types import TurnState

from ...patience import wait_for

# Types nothing itself: the keys come through the terminal.
_APPLICATION = """
import asyncio, sys
from pathlib import Path
from localrag.corpus.workspace import Workspace
from localrag_tui.app import Workbench
from localrag_tui.work.engine import Drafted

class Endless:
    model, pid = "", 0
    async def warm(self): ...
    def cancel(self): ...
    async def release(self): ...
    async def close(self): ...
    async def answer(self, workspace, corpus, config, query, on_event):
        on_event(Drafted(("half a claim",), 1))
        await asyncio.Event().wait()

Workbench(Workspace.locate(Path(sys.argv[1])), {"language": "en"}, engine=Endless()).run()
"""


async def test_the_unfinished_answer_is_there_and_marked(bench_home, kept, workbench, until, shown):
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", _APPLICATION, str(bench_home)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
        start_new_session=True,
    )
    os.close(theirs)
    painted = bytearray()
    unsent = bench_home / "tui-unsent" / "1.json"

    def told():
        return bytes(painted[-2000:])

    reader = Thread(target=_read, args=(ours, painted), daemon=True)
    reader.start()
    try:
        wait_for(lambda: b"Ask about the 12 documents" in painted, told)
        os.write(ours, b"how high?\r")
        wait_for(lambda: any(turn.draft for turn in _turns(kept)), told)
        os.write(ours, b"not sent")
        wait_for(lambda: b"not sent" in unsent.read_bytes(), told)
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        reader.join()
        os.close(ours)
    [turn] = _turns(kept)
    assert (turn.state, turn.draft) == (TurnState.INTERRUPTED, ("half a claim",))
    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "interrupted  the application ended" in shown(app))
        await until(pilot, lambda: "how high?" in shown(app))
        await until(pilot, lambda: "half a claim" in shown(app))
        await until(pilot, lambda: "not sent" in shown(app))


def _turns(kept):
    return [turn for conversation in kept.list() for turn in kept.turns(conversation.id)]


def _read(terminal, painted):
    try:
        while data := os.read(terminal, 65536):
            painted.extend(data)
    except OSError:
        return
