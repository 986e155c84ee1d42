"""What is done with models, away from the event loop; `pull_model` alone uses the network.

`remove_model` runs in a thread, all others in a process of their own.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.language import _
from localrag.progress import BYTES, Phase, Stopwatch
from localrag.workspace import Workspace
from localrag_tui.jobs.step import Steps
from localrag_tui.models.wording import advice
from localrag_tui.wording import size

if TYPE_CHECKING:
    from localrag_models.store import Progress

Tell = Callable[[object], None]


@dataclass(frozen=True, slots=True)
class Installed:
    """A model was installed; an `Outcome`."""

    name: str
    kind: str
    bytes: int

    def told(self) -> str:
        """What was installed."""
        return _("{name} is installed ({size})").format(name=self.name, size=size(self.bytes))

    def details(self) -> list[str]:
        """The same, and what to do next."""
        return [self.told(), advice(self.name, self.kind)]


@dataclass(frozen=True, slots=True)
class Exported:
    """A model was written to a file; an `Outcome`."""

    archive: Path

    def told(self) -> str:
        """Where it is."""
        return _("Written to {path}").format(path=self.archive)

    def details(self) -> list[str]:
        """The same, and what to do on the other machine."""
        return [self.told(), _("On the other machine: F6, i, and the path of this file.")]


@dataclass(frozen=True, slots=True)
class Verified:
    """Models were compared with their hashes; an `Outcome`.

    Attributes:
        sound: names of those that have not changed.
        damaged: cause and cure of the others.
    """

    sound: tuple[str, ...]
    damaged: tuple[tuple[str, str], ...]

    def told(self) -> str:
        """How many are damaged."""
        if self.damaged:
            return _("{n} damaged: {cause}").format(n=len(self.damaged), cause=self.damaged[0][0])
        return _("Nothing has changed: {names}").format(names=", ".join(self.sound))

    def details(self) -> list[str]:
        """What is wrong with each, and its cure."""
        lines = [line for problem in self.damaged for line in problem]
        if self.sound:
            lines.append(_("Nothing has changed: {names}").format(names=", ".join(self.sound)))
        return lines


def pull_model(tell: Tell, workspace: Workspace, wanted: str, endpoint: str) -> Installed:
    """Fetch a model, as ``localrag models pull``; what a stopped one has left is gone on with."""
    from localrag.inference.failures import named
    from localrag_models.hub import Hub
    from localrag_models.pull import pull
    from localrag_models.store import ModelStore

    with named():
        hub = Hub(endpoint, os.environ.get("HF_TOKEN", "").strip())
        model = pull(ModelStore(workspace.models), wanted, hub, on_progress=_following(tell))
    return Installed(model.name, model.kind, model.size)


def add_model(tell: Tell, workspace: Workspace, path: Path, name: str) -> Installed:
    """Install a model from a file or folder, as ``localrag models add``."""
    from localrag.inference.failures import named
    from localrag_models.store import ModelStore

    with named():
        model = ModelStore(workspace.models).add(path, name=name, on_progress=_following(tell))
    return Installed(model.name, model.kind, model.size)


def import_model(tell: Tell, workspace: Workspace, archive: Path, name: str) -> Installed:
    """Install a model that was exported elsewhere, as ``localrag models import``."""
    from localrag.inference.failures import named
    from localrag_models.store import ModelStore

    with named():
        store = ModelStore(workspace.models)
        model = store.import_(archive, name=name, on_progress=_following(tell))
    return Installed(model.name, model.kind, model.size)


def export_model(tell: Tell, workspace: Workspace, name: str, archive: Path) -> Exported:
    """Write a model to one file, as ``localrag models export``."""
    from localrag.inference.failures import named
    from localrag_models.store import ModelStore

    with named():
        store = ModelStore(workspace.models)
        return Exported(store.export(name, archive, on_progress=_following(tell)))


def verify_models(tell: Tell, workspace: Workspace, names: Sequence[str]) -> Verified:
    """Read models through and compare them with their hashes."""
    from localrag.inference.failures import as_ours
    from localrag_models.errors import ModelError
    from localrag_models.store import ModelStore

    store, follow = ModelStore(workspace.models), _following(tell)
    sound: list[str] = []
    damaged: list[tuple[str, str]] = []
    for name in names:
        try:
            sound.append(store.verify(name, follow).name)
        except ModelError as error:
            problem = as_ours(error)
            damaged.append((problem.cause, problem.cure))
    return Verified(tuple(sound), tuple(damaged))


def remove_model(workspace: Workspace, name: str) -> None:
    """Remove a model, or what a stopped pull has left; raises as `named` says."""
    from localrag.inference.failures import named
    from localrag_models.store import ModelStore

    with named():
        ModelStore(workspace.models).remove(name)


def _following(tell: Tell) -> "Progress":
    watch = Stopwatch(Steps(tell))

    return lambda step, about, done, total: watch(Phase(step, BYTES, about), done, total)
