"""All models: installed, damaged, half pulled, to be pulled, named by the settings."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from localrag.corpus.config import Config
from localrag.corpus.inference.opening import as_ours, models_in_use
from localrag.corpus.workspace import Workspace
from localrag.language import N_, _
from localrag.text.harmless import one_line
from localrag_models.runtimes import named_runtime
from localrag_tui.shown import content, size

if TYPE_CHECKING:
    from localrag_models.catalogue import CatalogueEntry
    from localrag_models.store import InstalledModel, ModelStore


class MemoryUsage(NamedTuple):
    """Bytes of memory."""

    loaded: int  # used by the answering process and its children; 0 for none
    total: int
    free: int


def measure(pid: int) -> MemoryUsage:
    """Measure memory; takes a few milliseconds. `pid`: the answering process; 0 for none."""
    import psutil

    machine = psutil.virtual_memory()
    loaded = 0
    if pid:
        try:
            process = psutil.Process(pid)
            for one in (process, *process.children(recursive=True)):
                loaded += one.memory_info().rss
        except psutil.Error:  # It ended meanwhile.
            loaded = 0
    return MemoryUsage(loaded, machine.total, machine.available)


CONTEXT = 8192
"""Tokens of context for the memory estimate of a chat model: the most localrag uses by itself."""


class ModelState(StrEnum):
    """The state of a model."""

    INSTALLED = "installed"
    DAMAGED = "damaged"
    UNFINISHED = "unfinished"
    AVAILABLE = "available"
    SERVED = "served"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model in the list."""

    name: str
    state: ModelState
    kind: str = ""  # ``chat``, ``embedder`` or ``reranker``; "" if unknown
    size: int = 0  # bytes on disk or to fetch; 0 if unknown
    context: int = 0  # tokens it was trained for; 0 if unknown
    licence: str = ""
    used_as: str = ""  # the setting with its name; "" for none
    fetched: int = 0
    memory: int = 0  # approximate bytes in memory; 0 if unknown
    source: str = ""
    lines: tuple[str, ...] = ()  # further remarks: its use, or its problem


def take_stock(workspace: Workspace, config: Config) -> list[ModelRow]:
    """List all models, installed ones first, models to pull last. Raises `OSError`."""
    from localrag_models.catalogue import catalogue
    from localrag_models.store import ModelStore

    store = ModelStore(workspace.models)
    used = models_in_use(workspace, config)
    rows = [_installed(model, used) for model in store.installed()]
    rows += _damaged(store)
    unfinished = store.unfinished()
    there = {row.name for row in rows}
    entries = catalogue(store.own_catalogue)
    known = {name: entry for name, entry in entries.items() if name not in there}
    rows += [_named(name, used) for name in used if name not in there and name not in known]
    for name, fetched in unfinished.items():
        if name not in known and name not in there:
            rows.append(ModelRow(name, ModelState.UNFINISHED, fetched=fetched))
    rows += [_available(entry, used, unfinished.get(name, 0)) for name, entry in known.items()]
    return [_placed(row, workspace, config) if row.used_as else row for row in rows]


def _placed(row: ModelRow, workspace: Workspace, config: Config) -> ModelRow:
    """The row of a model in use, with its place and the graphics processors."""
    from localrag.corpus.inference import placement

    facts = [
        told
        for _setting, model, told in placement.placement_facts(workspace, config)
        if model == row.name
    ]
    if facts and row.kind == "chat":
        facts += placement.speed_facts(workspace, config)
    if facts:
        facts += placement.gpu_facts()
    return replace(row, lines=(*row.lines, *map(str, facts)))


def _installed(model: "InstalledModel", used: dict[str, str]) -> ModelRow:
    from localrag_models.catalogue import catalogue

    known = catalogue().get(model.name)
    lines: list[str] = [model.format]
    if model.kind == "embedder" and (model.prefixes.query or model.prefixes.passage):
        lines.append(f"prefixes: {model.prefixes.query!r}, {model.prefixes.passage!r}")
    return ModelRow(
        model.name,
        ModelState.INSTALLED,
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
        ModelRow(name, ModelState.DAMAGED, lines=(problem.cause, problem.cure))
        for name, problem in zip(found, map(as_ours, found.values()), strict=True)
    ]


def _named(name: str, used: dict[str, str]) -> ModelRow:
    """A model named by the settings, but not in the store."""
    kinds = {
        "chat.model": "chat",
        "embedding.model": "embedder",
        "reranking.model": "reranker",
    }
    state = ModelState.SERVED if named_runtime(name) else ModelState.ABSENT
    return ModelRow(name, state, kinds[used[name]], used_as=used[name])


def _available(entry: "CatalogueEntry", used: dict[str, str], fetched: int) -> ModelRow:
    return ModelRow(
        entry.name,
        ModelState.UNFINISHED if fetched else ModelState.AVAILABLE,
        entry.kind,
        entry.size,
        entry.context or 0,
        entry.licence,
        used.get(entry.name, ""),
        fetched,
        entry.memory(CONTEXT),
        entry.repository,
        (_(entry.good_for),),
    )


KINDS = {
    "": "",
    "chat": N_("chat"),
    "embedder": N_("embedder"),
    "reranker": N_("reranker"),
}
"""The kinds of models, as messages."""
_STATES = {
    ModelState.INSTALLED: (N_("installed"), "$text-success"),
    ModelState.DAMAGED: (N_("damaged"), "$text-error"),
    ModelState.UNFINISHED: (N_("half pulled"), "$text-warning"),
    ModelState.AVAILABLE: (N_("can be pulled"), "$foreground-muted"),
    ModelState.SERVED: (N_("on a server"), "$text-success"),
    ModelState.ABSENT: (N_("not installed"), "$text-error"),
}


def state(row: ModelRow, usage: MemoryUsage | None = None) -> Content:
    """The state of a model; for one to be pulled, whether it fits into memory."""
    if row.state is ModelState.AVAILABLE and usage is not None:
        return Content.styled(*_fit(row, usage))
    words, style = _STATES[row.state]
    if row.used_as and row.state in (ModelState.INSTALLED, ModelState.SERVED):
        return Content.styled(_("in use"), "bold $text-accent")
    return Content.styled(_(words), style)


def fit(row: ModelRow, usage: MemoryUsage | None) -> Content:
    """Whether a model fits into the memory of this machine; empty if unknown."""
    if not row.memory or usage is None:
        return Content("")
    words, style = _fit(row, usage)
    line = _("takes about {about} of memory: {fits}")
    return Content.styled(line.format(about=size(row.memory), fits=words), style)


def _fit(row: ModelRow, usage: MemoryUsage) -> tuple[str, str]:
    if row.memory > usage.total:
        return _("too large"), "$text-error"
    if row.memory > usage.free + usage.loaded:
        return _("not free now"), "$text-warning"
    return _("fits"), "$text-success"


def advice(name: str, kind: str) -> str:
    """How to put a model to use."""
    if kind == "chat":
        return _("u uses it for answers; t tests it.")
    section = "embedding" if kind == "embedder" else "reranking"
    line = _('To use it: localrag.toml, [{section}] model = "{name}"')
    return line.format(section=section, name=name)


def details(row: ModelRow, usage: MemoryUsage | None) -> Content:
    """Everything known about a model."""
    facts = [
        _(KINDS[row.kind]),
        size(row.size) if row.size else "",
        _("context {n}").format(n=f"{row.context:,}") if row.context else "",
        one_line(row.licence),
    ]
    lines = [
        content(one_line(row.name), "bold $text-primary"),
        Content(" · ".join(filter(None, facts))),
        state(row),
    ]
    if row.fetched:
        left = _("{fetched} have come; p goes on, Del drops them").format(fetched=size(row.fetched))
        lines.append(Content(left))
    if row.used_as:
        lines.append(Content(_("named by {setting}").format(setting=row.used_as)))
    elif row.state is ModelState.INSTALLED:
        lines.append(Content(advice(row.name, row.kind)))
    lines.append(fit(row, usage))
    if row.source:
        source = _("from {source}").format(source=one_line(row.source))
        lines.append(Content.styled(source, "$foreground-muted"))
    style = "$text-error" if row.state is ModelState.DAMAGED else "$foreground-muted"
    lines += [content(line, style) for line in row.lines]
    return Content("\n").join(line for line in lines if line.plain)


def memory(usage: MemoryUsage, model: str) -> Content:
    """The loaded model, its memory, and the free memory."""
    if usage.loaded and model:
        loaded = _("loaded: {model}, {taken}").format(
            model=one_line(model), taken=size(usage.loaded)
        )
    elif usage.loaded:
        loaded = _("no model loaded (answering takes {taken})").format(taken=size(usage.loaded))
    else:
        loaded = _("no model loaded")
    free = _("{free} of {total} of memory free")
    return Content.assemble(
        loaded,
        "\n",
        (free.format(free=size(usage.free), total=size(usage.total)), "$foreground-muted"),
    )
