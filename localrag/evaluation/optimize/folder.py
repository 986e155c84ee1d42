"""The folder of an optimisation: journal, origin, lock and report."""

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from localrag.answer.prompts import OptimisedPrompt, optimised_path
from localrag.corpus.durable import locked, replace_text, storing
from localrag.corpus.workspace import Workspace
from localrag.errors import BusyError, UsageError, WorkspaceError
from localrag.evaluation.optimize.types import Outcome
from localrag.language import N_
from localrag.ops.batch.origin import Origin, changed

_Value = TypeVar("_Value")

_OUTCOME = TypeAdapter(Outcome)
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

    def write(self, outcome: Outcome) -> None:
        """Write the report. Raises `StorageError` if the folder cannot be written."""
        with storing(self.path):
            replace_text(self._report, _OUTCOME.dump_json(outcome, indent=1).decode())

    def outcome(self) -> Outcome | None:
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
