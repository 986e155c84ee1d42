"""The folder of an optimisation: origin, lock, report, and the journal of paid calls.

GEPA's own state leaves out its random numbers, so a run continued from it would differ. Here a run
always starts again with the same seed, and the journal answers earlier requests. It reaches the
same candidates after any number of stops, and pays for each call once.
"""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, TypeAdapter

from localrag.answer.prompts import OptimisedPrompt, optimised_path
from localrag.corpus.durable import locked, replace_text, storing
from localrag.corpus.journal import Journal
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, UsageError, WorkspaceError
from localrag.evaluation.optimize.types import (
    OptimisationOutcome,
    OptimisationPlan,
    Proposal,
    Rollout,
)
from localrag.language import N_
from localrag.ops.batch.origin import Origin, changed

_Value = TypeVar("_Value")

_OUTCOME = TypeAdapter(OptimisationOutcome)
_ORIGIN: TypeAdapter[Origin] = TypeAdapter(Origin)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Paths of one optimisation. They may be missing."""

    name: str
    path: Path
    prompt: Path

    @classmethod
    def of(cls, workspace: Workspace, name: str) -> "RunFolder":
        """The folder of a run by name. Raises `UsageError` if the name is not valid for a file."""
        prompt = optimised_path(workspace.prompts, name)
        return cls(name, workspace.runs / "optimize" / name, prompt)

    @property
    def journal(self) -> Path:
        """The file of outcomes."""
        return self.path / "journal.jsonl"

    def held(self) -> AbstractContextManager[None]:
        """Hold the right to write here; the system frees it when the process ends."""
        busy = BusyError(
            N_("Another process is optimising {name!r}."),
            N_("Wait until it has finished."),
            name=self.name,
        )
        return locked(self.path / "lock", busy)

    def begin(self, origin: Origin, *, restart: bool) -> None:
        """Keep or replace earlier outcomes; a `UsageError` if kept ones have another `origin`."""
        with storing(self.path):
            if restart:
                self.journal.unlink(missing_ok=True)
                self._report.unlink(missing_ok=True)
            elif self._begun:
                self._require_same(origin)
                if self.prompt_is_foreign:
                    raise UsageError(
                        N_("The prompt {name!r} was edited by hand after this run had made it."),
                        N_("Choose another --name, or replace it with --restart."),
                        name=self.name,
                    )
                return
            elif self.prompt.exists():
                raise UsageError(
                    N_("There is a prompt {name!r} already, and no run that goes on with it."),
                    N_("Choose another --name, or replace it with --restart."),
                    name=self.name,
                )
            replace_text(self._origin, json.dumps(origin, ensure_ascii=False, indent=1))

    def write(self, outcome: OptimisationOutcome) -> None:
        """Write the report. Raises `StorageError` if the folder cannot be written."""
        with storing(self.path):
            replace_text(self._report, _OUTCOME.dump_json(outcome, indent=1).decode())

    def outcome(self) -> OptimisationOutcome | None:
        """The last report; None if there is none. Raises `WorkspaceError`."""
        return _read(self._report, _OUTCOME)

    def begun_with(self) -> Origin | None:
        """The origin of the run; None if there is no run. Raises `WorkspaceError`."""
        return _read(self._origin, _ORIGIN)

    @property
    def prompt_is_foreign(self) -> bool:
        """Whether the prompt of this name was not written by an optimisation."""
        if not self.prompt.exists():
            return False
        return not OptimisedPrompt.load(self.prompt.parent, self.name).is_made

    @property
    def _begun(self) -> bool:
        return self.journal.exists() and self.journal.stat().st_size > 0

    @property
    def _origin(self) -> Path:
        return self.path / "made_with.json"

    @property
    def _report(self) -> Path:
        return self.path / "report.json"

    def _require_same(self, now: Origin) -> None:
        if changes := changed(self.begun_with() or {}, now):
            raise UsageError(
                N_("The run {name!r} was begun with something else: {changes}."),
                N_("Choose another --name, or start again with --restart."),
                name=self.name,
                changes=changes,
            )


def runs(workspace: Workspace) -> list[str]:
    """Names of all runs, sorted."""
    folder = workspace.runs / "optimize"
    return sorted(path.parent.name for path in folder.glob("*/made_with.json"))


def _read(path: Path, kind: TypeAdapter[_Value]) -> _Value | None:
    try:
        return kind.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise WorkspaceError(
            N_("{path} cannot be read."),
            N_("Restore it from a copy, or start again with --restart."),
            path=path,
        ) from error


_Made = TypeVar("_Made", Rollout, Proposal)


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptRollout(Rollout):
    key: str
    kind: Literal["rollout"] = "rollout"


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptProposal(Proposal):
    key: str
    kind: Literal["proposal"] = "proposal"


_Kept = Annotated[_KeptRollout | _KeptProposal, Field(discriminator="kind")]
_KEPT: TypeAdapter[_Kept] = TypeAdapter(_Kept)
_MADE: TypeAdapter[Rollout | Proposal] = TypeAdapter(Rollout | Proposal)


class Outcomes:
    """Results of all model calls, by key; opened by ``with``.

    `torn`: a cut off line was dropped.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._journal: Journal[_Kept] = Journal(path, _KEPT, self._damaged)
        self._kept: dict[str, _Kept] = {}

    def __enter__(self) -> Self:
        self._kept = {line.row.key: line.row for line in self._journal.lines()}
        self._journal.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._journal.__exit__(*raised)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def torn(self) -> bool:
        """Whether a cut off line was dropped."""
        return self._journal.torn

    def get(self, key: str) -> Rollout | Proposal | None:
        """The outcome of a key."""
        return self._kept.get(key)

    def put(self, key: str, made: Rollout | Proposal) -> None:
        """Keep an outcome, safe from kills on return; for several threads."""
        kind = type(made).__name__.lower()
        kept = _KEPT.validate_python({"key": key, "kind": kind, **_MADE.dump_python(made)})
        self._journal.append(kept)
        self._kept[key] = kept

    def _damaged(self, number: int) -> WorkspaceError:
        return WorkspaceError(
            N_("{path}, line {n} is no outcome of an optimisation."),
            N_("Delete that line (it is asked again), or start again with --restart."),
            path=self._path,
            n=number,
        )


def key_of(*parts: str) -> str:
    """The key of a request, from its parts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class Ended(BaseException):
    """The budget is spent; not an `Exception`, because GEPA catches those and continues."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Spending:
    """Pays for each outcome once, over all starts of a run.

    Outcomes of an earlier start count when they come up again. So a run ends at the same place with
    or without stops.
    """

    def __init__(
        self,
        journal: Outcomes,
        plan: OptimisationPlan,
        on_spent: Callable[[Rollout | Proposal, bool], None],
    ) -> None:
        """Begin with nothing spent."""
        self.calls = 0
        self.seconds = 0.0
        self.outcomes = 0
        self._journal = journal
        self._plan = plan
        self._on_spent = on_spent
        self._met: set[str] = set()

    def ahead(self, wanted: Mapping[str, Callable[[], Rollout]], parallel: int) -> None:
        """Make several outcomes in parallel, within the calls left; `once` pays for them.

        Outcomes are kept if one fails or the run is stopped.
        """
        unknown = [key for key in wanted if self._journal.get(key) is None]
        if parallel < 2 or len(unknown) < 2:
            return

        def make(key: str) -> None:
            made = wanted[key]()
            # Parallel calls share the minutes.
            self._journal.put(key, replace(made, seconds=made.seconds / parallel))

        pool = ThreadPoolExecutor(parallel)
        try:
            left = max(0, self._plan.calls - self.calls)
            for future in [pool.submit(make, key) for key in islice(unknown, left)]:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def once(self, key: str, kind: type[_Made], make: Callable[[], _Made]) -> _Made:
        """The outcome of a key; made only if it is unknown. Raises `Ended` or `StorageError`."""
        kept = self._journal.get(key)
        if key in self._met:
            assert isinstance(kept, kind)
            return kept
        if self.calls >= self._plan.calls:
            raise Ended("calls")
        if self.seconds >= 60 * self._plan.minutes:
            raise Ended("minutes")
        known = isinstance(kept, kind)
        if not isinstance(kept, kind):
            kept = make()
            self._journal.put(key, kept)
        self._met.add(key)
        self.calls += kept.calls
        self.seconds += kept.seconds
        self.outcomes += 1
        self._on_spent(kept, known)
        return kept
