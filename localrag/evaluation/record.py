"""The record of a run, ``run.json``: questions, methods, settings, machine, dates."""

import os
import platform
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from localrag.corpus.durable import listed, replace_text, storing
from localrag.corpus.workspace import Workspace
from localrag.errors import NotFoundError, UsageError
from localrag.evaluation import places, report
from localrag.evaluation.planning import Plan
from localrag.evaluation.types import Evaluation
from localrag.language import N_
from localrag.text.facts import Fact, FactKind

FILE = "run.json"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One entry of a run."""

    name: str
    method: str
    made_with: dict[str, Any]
    answers: tuple[str, ...]  # files of its results in the order asked, relative to the workspace
    stopped: str = ""  # why it has no results; "" if nothing stopped it


@dataclass(frozen=True, slots=True)
class Run:
    """A run and its state."""

    dataset: str
    split: str
    sha256: str
    n: int
    orders: int
    corpus: str
    machine: str
    # started, finished: ISO date and time (UTC). `finished` is "" until the run is complete
    started: str
    entries: tuple[Recorded, ...]
    finished: str = ""
    # everything the verdicts depend on, by dotted name; empty without a judge
    judge: dict[str, Any] = field(default_factory=dict)

    def asks_as(self, other: "Run") -> bool:
        """Whether both ask the same questions with the same settings."""
        return _asked(self) == _asked(other)


_adapter = TypeAdapter(Run)


def planned(plan: Plan) -> Run:
    """The record of a new run."""
    questions = plan.questions
    return Run(
        dataset=questions.dataset.name,
        split=questions.split,
        sha256=questions.sha256,
        n=plan.n,
        orders=plan.orders,
        corpus=plan.corpus,
        machine=machine(),
        started=now(),
        entries=tuple(
            Recorded(
                setup.name,
                setup.method.name,
                dict(setup.made_with),
                tuple(
                    places.order_file(setup.folder, order)
                    .relative_to(plan.workspace.home)
                    .as_posix()
                    for order in range(plan.orders)
                ),
            )
            for setup in plan.setups
        ),
        judge=dict(plan.judge.made_with) if plan.judge else {},
    )


def begin(workspace: Workspace, run: Run, name: str, *, asks: bool) -> tuple[Path, Run]:
    """Find the folder of a run, and write its record.

    A run asking the same is continued, and keeps its start. A new run without a `name` has the
    name of its start time. A `UsageError` if the run of this name asks something else.
    """
    if name:
        folder = places.run(workspace, run.dataset, name)
        same = read(folder)
        if any(folder.glob("*")) and (same is None or not same.asks_as(run)):
            raise _taken(folder, same, run)
    else:
        found = (one for one in recorded(workspace) if one[1].asks_as(run))
        folder, same = next(found, (_fresh(workspace, run), None))
    if same is not None:
        run = replace(run, started=same.started, finished="" if asks else same.finished)
    places.make(folder)
    write(folder, run)
    return folder, run


def evaluation_of(folder: Path) -> Evaluation:
    """Read the result of a finished run. A `UsageError` if it is not finished."""
    run = read(folder)
    if run is not None and not run.finished:
        raise UsageError(
            N_("The run {folder} is not finished."),
            N_("Give the command of the evaluation again: it goes on where it stopped."),
            folder=folder.name,
        )
    return report.load(folder)


def recorded(workspace: Workspace) -> Iterator[tuple[Path, Run]]:
    """All runs, finished or not, with their folders. Raises `StorageError`."""
    for folder in _folders(workspace):
        run = read(folder)
        if run is not None:
            yield folder, run


def damaged(workspace: Workspace) -> list[Path]:
    """Folders whose record cannot be read."""
    return [folder for folder in _folders(workspace) if read(folder) is None]


def find(workspace: Workspace, name: str) -> Path:
    """The folder of a run, by its name ("before", "lawqa/before") or path.

    A `UsageError` if several have the name.
    """
    folders = [folder for folder, _ in recorded(workspace)]
    named = [
        folder for folder in folders if name in (folder.name, f"{folder.parent.name}/{folder.name}")
    ]
    if not named and Path(name).is_dir():
        return Path(name)
    if len(named) > 1:
        known = ", ".join(f"{folder.parent.name}/{folder.name}" for folder in named)
        raise UsageError(
            N_("Several runs are called {name!r}."), N_("Name one: {known}"), name=name, known=known
        )
    if not named:
        raise NotFoundError(
            N_("There is no run {name!r}."), N_("List the runs: localrag eval list"), name=name
        )
    return named[0]


def read(folder: Path) -> Run | None:
    """Read a record; None if it is missing or damaged."""
    try:
        return _adapter.validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def write(folder: Path, run: Run) -> None:
    """Write a record, all or nothing. Raises `StorageError` if it cannot be written."""
    goes_on = N_("Free some space: the answers are kept, and the same command goes on.")
    with storing(folder / FILE, goes_on):
        replace_text(folder / FILE, _adapter.dump_json(run, indent=1).decode())


def now() -> str:
    """ISO date and time (UTC), in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _folders(workspace: Workspace) -> list[Path]:
    return [path.parent for path in listed(places.runs(workspace), f"*/*/{FILE}")]


def _taken(folder: Path, there: Run | None, asked: Run) -> UsageError:
    free = Fact(FactKind.TO_NAME_RUN, folder=str(folder))
    if there is None:
        return UsageError(N_("{folder} holds something else than a run."), free, folder=folder)
    differing = [
        name
        for name in ("split", "sha256", "n", "orders")
        if getattr(there, name) != getattr(asked, name)
    ]
    before, now = ({one.name: one.made_with for one in run.entries} for run in (there, asked))
    if list(before) != list(now):
        differing.append("methods")
    before["the judge"], now["the judge"] = there.judge, asked.judge
    differing += sorted(
        {
            setting
            for name in before.keys() & now.keys()
            for setting in {**before[name], **now[name]}
            if before[name].get(setting) != now[name].get(setting)
        }
    )
    return UsageError(
        N_("The run {name} is there already and asks something else; it differs in {what}."),
        free,
        name=folder.name,
        what=", ".join(differing),
        folder=folder,
    )


def _asked(run: Run) -> tuple[object, ...]:
    # The paths of the answers contain the fingerprints of their settings.
    entries = tuple((entry.name, entry.answers) for entry in run.entries)
    return run.sha256, run.split, run.n, run.orders, entries, run.judge


def _fresh(workspace: Workspace, run: Run) -> Path:
    stamp = run.started[:19].replace(":", "-")
    taken = {path.name for path in places.run(workspace, run.dataset, stamp).parent.glob("*")}
    names = (stamp, *(f"{stamp}-{number}" for number in range(2, len(taken) + 3)))
    return places.run(workspace, run.dataset, next(name for name in names if name not in taken))


def machine() -> str:
    """Processor, cores, memory and system ("AMD EPYC 9654, 16 cores, 126 GB; Linux 6.8 x86_64")."""
    cores = os.cpu_count() or 1
    parts = [_processor(), f"{cores} core{'s' if cores > 1 else ''}"]
    with suppress(ValueError, OSError, AttributeError):  # Windows has no sysconf
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        parts.append(f"{total / 1e9:.0f} GB")
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"{', '.join(parts)}; {system}; Python {platform.python_version()}"


def _processor() -> str:
    with suppress(OSError):
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if model := re.search(r"^model name\s*:\s*(.+)$", told, re.MULTILINE):
            return model[1].strip()
    return platform.processor() or "processor unknown"
