"""The folder of one optimisation: its journal, what it was begun with, its lock, its report."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from localrag.batch.origin import Origin, changed
from localrag.durable import replace_text
from localrag.errors import BusyError, StorageError, UsageError, WorkspaceError
from localrag.locking import locked
from localrag.optimize.types import Candidate, Outcome, Refused
from localrag.prompts.optimised import OptimisedPrompt, path_of
from localrag.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one optimisation, which need not exist."""

    name: str
    path: Path
    prompt: Path

    @classmethod
    def of(cls, workspace: Workspace, name: str) -> "RunFolder":
        """The folder of the run of this name.

        Raises:
            UsageError: the name could not be that of a file.
        """
        prompt = path_of(workspace.prompts, name)
        return cls(name, workspace.runs / "optimize" / name, prompt)

    @property
    def journal(self) -> Path:
        """The file of outcomes."""
        return self.path / "journal.jsonl"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the right to write here; the system frees it when the process ends.

        Raises:
            BusyError: another process holds it.
            StorageError: the folder cannot be written.
        """
        busy = BusyError(
            f"Another process is optimising {self.name!r}.", "Wait until it has finished."
        )
        with ExitStack() as held:
            try:
                held.enter_context(locked(self.path / "lock", busy))
            except OSError as error:
                raise _unwritable(self.path, error) from error
            yield

    def begin(self, origin: Origin, *, restart: bool) -> None:
        """Make ready for outcomes that depend on `origin`, beside earlier ones or in their place.

        Raises:
            UsageError: what is there depends on something else, or the prompt is not what the run
                made of it.
            WorkspaceError: what is there does not say what it depends on, or cannot be read.
            StorageError: the folder cannot be written.
        """
        try:
            if restart:
                self.journal.unlink(missing_ok=True)
                self._report.unlink(missing_ok=True)
            elif self._begun:
                self._require_same(origin)
                if self.prompt_is_foreign:
                    raise UsageError(
                        f"The prompt {self.name!r} was edited by hand after this run had made it.",
                        "Choose another --name, or begin anew in its place with --restart.",
                    )
                return
            elif self.prompt.exists():
                raise UsageError(
                    f"There is a prompt {self.name!r} already, and no run that goes on with it.",
                    "Choose another --name, or replace it with --restart.",
                )
            replace_text(self._origin, json.dumps(origin, ensure_ascii=False, indent=1))
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def write(self, outcome: Outcome) -> None:
        """Write down what it came to.

        Raises:
            StorageError: the folder cannot be written.
        """
        try:
            replace_text(self._report, json.dumps(asdict(outcome), ensure_ascii=False, indent=1))
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def outcome(self) -> Outcome | None:
        """What it came to when it was last left; None where it was not left in good order yet.

        Raises:
            WorkspaceError: the report is damaged.
        """
        value = _read(self._report)
        if value is None:
            return None
        try:
            value["candidates"] = [Candidate(**one) for one in value["candidates"]]
            value["refused"] = Refused(**value["refused"])
            return Outcome(**value)
        except (LookupError, TypeError) as error:
            raise _damaged(self._report) from error

    def begun_with(self) -> Origin | None:
        """What it was begun with; None where there is no such run.

        Raises:
            WorkspaceError: that is damaged.
        """
        return _read(self._origin)

    @property
    def prompt_is_foreign(self) -> bool:
        """Whether there is a prompt of this name that no optimisation wrote as it is.

        Raises:
            WorkspaceError: it is damaged.
        """
        if not self.prompt.exists():
            return False
        return not OptimisedPrompt.load(self.prompt.parent, self.name).is_made

    @property
    def _begun(self) -> bool:
        """Whether there is an outcome already, or the beginning of one."""
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
                f"The run {self.name!r} was begun with something else: {changes}.",
                "Choose another --name, or begin anew with --restart.",
            )


def runs(workspace: Workspace) -> list[str]:
    """The names of the runs there are, sorted."""
    folder = workspace.runs / "optimize"
    return sorted(path.parent.name for path in folder.glob("*/made_with.json"))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _damaged(path) from error
    if not isinstance(value, dict):
        raise _damaged(path)
    return value


def _damaged(path: Path) -> WorkspaceError:
    return WorkspaceError(
        f"{path} cannot be read.", "Restore it from a copy, or begin anew with --restart."
    )


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The folder {path} cannot be written ({error.strerror}).",
        "Free space on the disk, or mend the permissions of the folder.",
    )
