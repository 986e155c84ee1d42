"""Proof of silence: a process without a network does the main job.

On Linux the process gets an empty network (``unshare``) if the system allows it. On every system
its internet sockets are refused and named.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from localrag.language import N_, in_use

_PATIENCE = 300
NAMESPACE = ("unshare", "--user", "--map-root-user", "--net", "--")
STEPS = {
    "add": N_("add documents"),
    "index": N_("index them"),
    "search": N_("search"),
    "ask": N_("ask a question"),
    "workbench": N_("open the workbench"),
}
"""What is tried, in order."""


@dataclass(frozen=True, slots=True)
class OfflineStep:
    """The result of a step of `STEPS`.

    Attributes:
        problem: reason of a failure, or "".
        sockets: addresses it tried to reach.
    """

    name: str
    seconds: float
    problem: str = ""
    sockets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfflineProof:
    """The result of all steps, in order.

    Attributes:
        isolated: the process had an empty network; otherwise only its sockets were refused.
    """

    isolated: bool
    steps: tuple[OfflineStep, ...]

    @property
    def holds(self) -> bool:
        """Whether every step succeeded, without a socket."""
        return not any(step.problem or step.sockets for step in self.steps)


def prove() -> OfflineProof:
    """Do the main job on the sample corpus, in a temporary workspace."""
    child = [sys.executable, "-m", "localrag.ops.offline"]
    isolated = _can_isolate()
    command = [*NAMESPACE, *child] if isolated else child
    # It holds only the invented laws of the sample.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603 - ourselves
            [*command, folder, in_use()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    told = {}
    for line in done.stdout.splitlines():
        values = json.loads(line)
        told[values["name"]] = OfflineStep(**{**values, "sockets": tuple(values["sockets"])})
    ended = done.stderr.decode(errors="replace").strip()[-400:] or f"exit code {done.returncode}"
    return OfflineProof(
        isolated, tuple(told.get(name) or OfflineStep(name, 0.0, ended) for name in STEPS)
    )


def _can_isolate() -> bool:
    if sys.platform != "linux" or shutil.which(NAMESPACE[0]) is None:
        return False
    tried = subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False)  # noqa: S603
    return tried.returncode == 0


def _main(folder: Path, language: str) -> None:
    """Run in the process without a network: print a line of JSON for every step."""
    tried: list[str] = []

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.bind") and isinstance(
            args[1], tuple
        ):
            tried.append(str(args[1]))
            raise OSError("no network")
        if event == "socket.getaddrinfo":
            tried.append(f"{args[0]}:{args[1]}")
            raise OSError("no network")

    # This sees the sockets of Python; the empty network stops native code.
    sys.addaudithook(refuse)
    for name, step in _steps(folder, language):
        started, problem = perf_counter(), ""
        try:
            step()
        except Exception as error:  # noqa: BLE001 - any error is reported
            problem = f"{type(error).__name__}: {error}"
        values = OfflineStep(name, perf_counter() - started, problem, tuple(tried))
        sys.stdout.write(
            json.dumps({n: getattr(values, n) for n in ("name", "seconds", "problem", "sockets")})
            + "\n"
        )
        sys.stdout.flush()
        tried.clear()


def _steps(folder: Path, language: str) -> Iterator[tuple[str, Callable[[], object]]]:
    import localrag

    settings = {"language": language, "ingest.workers": 1}
    corpus = localrag.open(folder / "home", settings).corpus("main")
    question = "渡し舟を運航してはならない水位の基準は何か。"
    yield "add", lambda: corpus.add(localrag.SAMPLE)
    yield "index", corpus.index
    yield "search", lambda: _found(corpus.search(question).hits)
    yield "ask", lambda: _found(corpus.ask(question).citations)
    yield "workbench", lambda: _open_workbench(folder / "home", settings)


def _found(what: object) -> None:
    if not what:
        raise LookupError("nothing was found")


def _open_workbench(home: Path, settings: dict[str, object]) -> None:
    """Open the workbench without a terminal, and close it after the first paint."""
    import asyncio

    from localrag.corpus.workspace import Workspace

    # The application is above localrag, as for `localrag tui`.
    workbench = import_module("localrag_tui.app").Workbench(Workspace.locate(home), settings)

    async def look() -> None:
        async with workbench.run_test() as pilot:
            await pilot.pause()

    asyncio.run(look())


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2])
