"""What there is of models: installed, damaged, half pulled, to be pulled, named by the settings."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from localrag.config import Config
from localrag.inference.failures import as_ours
from localrag.inference.opening import models_in_use
from localrag.workspace import Workspace
from localrag_models.runtimes import named_runtime

if TYPE_CHECKING:
    from localrag_models.catalogue import CatalogueEntry
    from localrag_models.store import InstalledModel, ModelStore

CONTEXT = 8192
"""Tokens that the memory of a chat model is shown for: what localrag uses at most by itself."""


class State(StrEnum):
    """How a model is."""

    INSTALLED = "installed"
    DAMAGED = "damaged"
    UNFINISHED = "unfinished"
    AVAILABLE = "available"
    SERVED = "served"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model in the list.

    Attributes:
        kind: ``chat``, ``embedder`` or ``reranker``; "" where that is not known.
        size: bytes, of what is there or would be fetched; 0 where that is not known.
        context: tokens it was trained for; 0 where that is not known.
        licence: by its short name.
        used_as: the setting that names it; "" for none.
        fetched: bytes that a stopped pull has left.
        memory: bytes it takes, about; 0 where that is not known.
        source: the repository or file it comes from.
        lines: what else is to be said, in English: what it is good for, what is wrong.
    """

    name: str
    state: State
    kind: str = ""
    size: int = 0
    context: int = 0
    licence: str = ""
    used_as: str = ""
    fetched: int = 0
    memory: int = 0
    source: str = ""
    lines: tuple[str, ...] = ()


def take_stock(workspace: Workspace, config: Config) -> list[ModelRow]:
    """Look at everything: what is installed first, what can be pulled last.

    Raises:
        OSError: the folder of the models cannot be read.
    """
    from localrag_models.catalogue import catalogue
    from localrag_models.store import ModelStore

    store = ModelStore(workspace.models)
    used = models_in_use(workspace, config)
    rows = [_installed(model, used) for model in store.installed()]
    rows += _damaged(store)
    unfinished = store.unfinished()
    there = {row.name for row in rows}
    known = {name: entry for name, entry in catalogue().items() if name not in there}
    rows += [_named(name, used) for name in used if name not in there and name not in known]
    for name, fetched in unfinished.items():
        if name not in known and name not in there:
            rows.append(ModelRow(name, State.UNFINISHED, fetched=fetched))
    rows += [_available(entry, used, unfinished.get(name, 0)) for name, entry in known.items()]
    return rows


def _installed(model: "InstalledModel", used: dict[str, str]) -> ModelRow:
    from localrag_models.catalogue import catalogue

    known = catalogue().get(model.name)
    lines: list[str] = [model.format]
    if model.kind == "embedder" and (model.prefixes.query or model.prefixes.passage):
        lines.append(f"prefixes: {model.prefixes.query!r}, {model.prefixes.passage!r}")
    return ModelRow(
        model.name,
        State.INSTALLED,
        model.kind,
        model.size,
        model.context or 0,
        model.manifest.licence,
        used.get(model.name, ""),
        memory=known.memory(CONTEXT) if known else model.size,
        source=str(model.manifest.source),
        lines=tuple(lines),
    )


def _damaged(store: "ModelStore") -> list[ModelRow]:
    found = store.problems()
    return [
        ModelRow(name, State.DAMAGED, lines=(problem.cause, problem.cure))
        for name, problem in zip(found, map(as_ours, found.values()), strict=True)
    ]


def _named(name: str, used: dict[str, str]) -> ModelRow:
    """A model that the settings name and the store does not have."""
    kinds = {
        "chat.model": "chat",
        "embedding.model": "embedder",
        "reranking.model": "reranker",
    }
    state = State.SERVED if named_runtime(name) else State.ABSENT
    return ModelRow(name, state, kinds[used[name]], used_as=used[name])


def _available(entry: "CatalogueEntry", used: dict[str, str], fetched: int) -> ModelRow:
    return ModelRow(
        entry.name,
        State.UNFINISHED if fetched else State.AVAILABLE,
        entry.kind,
        entry.size,
        entry.context or 0,
        entry.licence,
        used.get(entry.name, ""),
        fetched,
        entry.memory(CONTEXT),
        entry.repository,
        (entry.good_for,),
    )
