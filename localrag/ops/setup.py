"""Setup: the parts of this machine, models and laws proposed for it, and the steps to an answer.

Only `bring_model` and `bring_laws` open connections, and only for a choice from outside.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from localrag import sample
from localrag.corpus.config import OFF, Config
from localrag.corpus.durable import replace_text, storing
from localrag.corpus.inference.opening import SETTINGS, named
from localrag.corpus.inference.placement import speed_of
from localrag.corpus.ingest.events import Listener
from localrag.corpus.workspace import Workspace, change_setting, collect
from localrag.ops.laws.getting import Fetched, fetch, record_of, take, to_take
from localrag.ops.laws.shelf import LIST, Shelf, carried
from localrag.ops.laws.types import ALL, Archive
from localrag.text.progress import Stopwatch, ignore
from localrag_models.catalogue import CatalogueEntry, catalogue
from localrag_models.errors import ModelDamaged, WrongKind
from localrag_models.families import family_of
from localrag_models.files import Progress, silent
from localrag_models.hardware import Gpu, gpus, llama_cpp_build
from localrag_models.landing import read_archive
from localrag_models.manifest import Kind, recognise
from localrag_models.runtimes import BY_FORMAT
from localrag_models.store import ModelStore, name_for

if TYPE_CHECKING:
    from localrag.corpus.ingest.add import AddReport
    from localrag.corpus.ingest.update import UpdateReport

KINDS: tuple[Kind, ...] = get_args(Kind)


class Step(StrEnum):
    """The steps, in their order."""

    WORKSPACE = "workspace"
    CHAT = "chat"
    EMBEDDER = "embedder"
    RERANKER = "reranker"
    SETTINGS = "settings"
    LAWS = "laws"
    INDEX = "index"
    QUESTION = "question"


class Origin(StrEnum):
    """Where a model or the laws come from."""

    SET = "set"
    INSTALLED = "installed"
    SERVED = "served"
    FOLDER = "folder"
    CATALOGUE = "catalogue"
    PRESENT = "present"
    DOWNLOAD = "download"
    SAMPLE = "sample"


FETCHED = frozenset({Origin.CATALOGUE, Origin.DOWNLOAD})
"""These come over the network."""

SERVERS: tuple[tuple[str, str, str], ...] = (
    ("Ollama", "ollama", "http://127.0.0.1:11434"),
    ("llama-server", "openai", "http://127.0.0.1:8080"),
    ("LM Studio", "openai", "http://127.0.0.1:1234"),
    ("vLLM", "openai", "http://127.0.0.1:8000"),
)
"""Servers with their runtime and usual address, on loopback only."""

LAWS_SIZE = 324_000_000
"""Bytes of e-Gov's archive of all laws, as others measured it (docs/laws.md)."""

_PATIENCE = 0.5
_LARGEST_LIST = 1_000_000
_CONTEXT = 8192
_LONGEST = 120.0
"""Seconds; slower chat models are proposed only if none is faster."""
_PROMPT, _REPLY = 2_000, 200
"""Tokens of a usual question with its evidence, and of its reply."""
_UNFINISHED = "setup.json"
_FOLDER = "laws"
_SMALL: Mapping[Kind, tuple[str, ...]] = {
    "embedder": ("multilingual-e5-small", "embeddinggemma-300m"),
    "reranker": ("japanese-reranker-xsmall-v2",),
}
_LARGE: Mapping[Kind, tuple[str, ...]] = {
    "embedder": ("ruri-v3-310m", "bge-m3"),
    "reranker": ("ruri-v3-reranker-310m",),
}


# The machine


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server on this machine, and its models."""

    name: str
    runtime: str
    address: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """Memory, processors and model servers.

    Attributes:
        memory: bytes.
        offloads: llama.cpp is built for its GPU.
    """

    memory: int
    cores: int
    gpus: tuple[Gpu, ...]
    offloads: bool
    servers: tuple[FoundServer, ...]

    @property
    def video_memory(self) -> int:
        """Bytes for a model on the largest GPU; 0 if it is not used."""
        if not self.offloads:
            return 0
        shares = {"Apple": 0.6}
        return max((int(gpu.total * shares.get(gpu.vendor, 0.85)) for gpu in self.gpus), default=0)

    @property
    def room(self) -> int:
        """Bytes for a chat model."""
        return max(self.video_memory, self.memory // 2)

    def seconds(self, size: int) -> float:
        """Estimate the time of a reply by weights of `size` bytes: no measured figure."""
        share = size / 5e9
        if size <= self.video_memory:
            return share * (_PROMPT / 2_000 + _REPLY / 60)
        return share * (_PROMPT / (5 * self.cores) + _REPLY / 4)


def look() -> Machine:
    """Look at this machine; asks the usual ports of model servers on loopback."""
    import psutil

    build = llama_cpp_build()
    return Machine(
        psutil.virtual_memory().total,
        os.cpu_count() or 1,
        gpus(),
        build is not None and build.backend is not None,
        tuple(_servers()),
    )


def _servers() -> Iterator[FoundServer]:
    import httpx

    # A proxy of the environment would lead away from this machine.
    with httpx.Client(timeout=_PATIENCE, trust_env=False, verify=False) as client:  # noqa: S501
        for name, runtime, address in SERVERS:
            with suppress(httpx.HTTPError, ValueError, TypeError, KeyError, RecursionError):
                told = client.get(f"{address}/v1/models")
                listed = json.loads(told.content[:_LARGEST_LIST])["data"]
                models = tuple(str(one["id"]) for one in listed)
                base = address if runtime == "ollama" else f"{address}/v1"
                yield FoundServer(name, runtime, base, models)


# The plan


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A proposed model.

    Attributes:
        name: for the settings.
        origin: its source.
        size: bytes; 0 if unknown.
        where: server or path.
        good_for: of the catalogue.
        seconds: expected for a reply of a chat model; None if unknown.
        measured: `seconds` were measured here.
    """

    name: str
    origin: Origin
    size: int = 0
    where: str = ""
    good_for: str = ""
    seconds: float | None = None
    measured: bool = False


@dataclass(frozen=True, slots=True)
class LawsChoice:
    """The laws; `paths` if they come from a folder."""

    origin: Origin
    paths: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The proposal.

    Attributes:
        models: by kind; kinds without a usable model are missing.
        laws: their source.
        settings: to be written, by key.
        skipped: steps the user does not want.
    """

    models: Mapping[Kind, ModelChoice]
    laws: LawsChoice
    settings: Mapping[str, str]
    skipped: frozenset[Step]

    @property
    def fetched(self) -> int:
        """Bytes to fetch over the network."""
        wanted = [model for kind, model in self.models.items() if Step(kind) not in self.skipped]
        size = sum(model.size for model in wanted if model.origin in FETCHED)
        laws = self.laws.origin in FETCHED and Step.LAWS not in self.skipped
        return size + LAWS_SIZE * laws


def plan(
    workspace: Workspace,
    config: Config,
    overrides: Mapping[str, object],
    machine: Machine,
    *,
    folder: Path | None = None,
    with_sample: bool = False,
    skipped: frozenset[Step] = frozenset(),
) -> Plan:
    """Propose models and laws; with a `folder` nothing is proposed from the network.

    Raises:
        ModelUnusable: a model file of the folder or the user's catalogue cannot be read.
        ConfigError: the settings cannot be read.
    """
    given = collect(workspace, overrides)
    with named():
        models = {
            kind: chosen
            for kind in KINDS
            if Step(kind) not in skipped
            and (chosen := _Choosing(workspace, config, machine, folder, kind).chosen())
        }
    settings: dict[str, str] = {}
    for kind, model in models.items():
        key = SETTINGS[kind]
        if not given.get(key, ("",))[0]:
            settings[key] = model.name
            server = key.replace(".model", ".server")
            if model.origin is Origin.SERVED and server not in given:
                settings = {server: model.where, **settings}
    return Plan(models, _laws(workspace, config, folder, with_sample), settings, skipped)


@dataclass(frozen=True, slots=True)
class _Choosing:
    """The choice of a model of one kind."""

    workspace: Workspace
    config: Config
    machine: Machine
    folder: Path | None
    kind: Kind

    def chosen(self) -> ModelChoice | None:
        """The model, with its expected time; None if none is usable."""
        found = self._of_settings() if self._set else self._any()
        if found is None or self.kind != "chat":
            return found
        if speed := speed_of(self.workspace, found.name):
            return replace(found, seconds=speed.seconds / speed.replies, measured=True)
        return replace(found, seconds=self.machine.seconds(found.size) if found.size else None)

    @property
    def _set(self) -> str:
        section = {"chat": "chat", "embedder": "embedding", "reranker": "reranking"}[self.kind]
        return str(getattr(self.config, section).model)

    def _of_settings(self) -> ModelChoice | None:
        """The model of the settings, fetched if only its name is here."""
        if self._set == OFF:
            return None
        sources = (self._installed(), self._carried(), self._catalogue())
        same = (one for source in sources for one in source if one.name == self._set)
        return next(same, ModelChoice(self._set, Origin.SET))

    def _any(self) -> ModelChoice | None:
        for find in (self._installed, self._carried, self._served):
            if found := list(find()):
                return self._fitting(found)
        if self.folder is not None:
            return None
        if self.kind == "chat":
            return self._fitting(list(self._catalogue(self.machine.room)))
        entries = list(self._catalogue())
        wanted = (*(_LARGE[self.kind] if self.machine.video_memory else ()), *_SMALL[self.kind])
        by_name = {one.name: one for one in entries}
        return next((by_name[name] for name in wanted if name in by_name), None)

    def _installed(self) -> Iterator[ModelChoice]:
        for model in ModelStore(self.workspace.models).installed():
            if model.kind == self.kind and BY_FORMAT[model.format].installed:
                yield ModelChoice(model.name, Origin.INSTALLED, model.size)

    def _served(self) -> Iterator[ModelChoice]:
        known = self._entries()
        for server in self.machine.servers:
            # Models of the catalogue come first.
            for name in sorted(server.models, key=lambda name: _entry_of(name, known) is None):
                if _kind_of(name, known) == self.kind:
                    entry = _entry_of(name, known)
                    size = entry.size if entry else 0
                    full = f"{server.runtime}:{name}"
                    yield ModelChoice(full, Origin.SERVED, size, server.address)

    def _carried(self) -> Iterator[ModelChoice]:
        for path in _models_in(self.folder) if self.folder else ():
            with suppress(WrongKind):
                if path.suffix == ".tar":
                    with suppress(ModelDamaged), read_archive(path) as (manifest, _extract):
                        if manifest.kind == self.kind and BY_FORMAT[manifest.format].installed:
                            name, size = manifest.name, manifest.size
                            yield ModelChoice(name, Origin.FOLDER, size, str(path))
                    continue
                found = recognise(path, self.kind)
                if BY_FORMAT[found.format].installed:
                    size = sum((found.folder / file).stat().st_size for file in found.files)
                    name = name_for(path.stem if path.is_file() else path.name)
                    yield ModelChoice(name, Origin.FOLDER, size, str(path))

    def _catalogue(self, room: float = math.inf) -> Iterator[ModelChoice]:
        for entry in self._entries() if self.folder is None else ():
            fits = entry.memory(_CONTEXT) <= room
            if fits and entry.kind == self.kind and BY_FORMAT[entry.format].installed:
                yield ModelChoice(entry.name, Origin.CATALOGUE, entry.size, good_for=entry.good_for)

    def _entries(self) -> tuple[CatalogueEntry, ...]:
        return tuple(catalogue(ModelStore(self.workspace.models).own_catalogue).values())

    def _fitting(self, found: Sequence[ModelChoice]) -> ModelChoice | None:
        """The largest fast one, else the smallest; the first if sizes are unknown."""
        if not found or not all(one.size for one in found):
            return next(iter(found), None)
        if self.kind != "chat":
            best = max if self.machine.video_memory else min
            return best(found, key=lambda one: one.size)
        fast = [one for one in found if self.machine.seconds(one.size) <= _LONGEST]
        if fast:
            return max(fast, key=lambda one: one.size)
        return min(found, key=lambda one: one.size)


def _entry_of(name: str, known: Iterable[CatalogueEntry]) -> CatalogueEntry | None:
    plain = name.removesuffix(":latest")
    return next((entry for entry in known if plain in (entry.name, *entry.served)), None)


def _kind_of(name: str, known: Iterable[CatalogueEntry]) -> Kind:
    """The kind of a served model: by the catalogue, else by its name."""
    if entry := _entry_of(name, known):
        return entry.kind
    lowered = name.lower()
    if "rerank" in lowered:
        return "reranker"
    return "embedder" if "embed" in lowered or family_of(name) else "chat"


def _models_in(folder: Path) -> Iterator[Path]:
    """Files and folders that can be models, here or in ``models``."""
    for place in (folder, folder / "models"):
        for path in sorted(place.glob("*")):
            described = any((path / name).is_file() for name in ("modules.json", "config.json"))
            if path.suffix in (".gguf", ".tar") or described:
                yield path
            elif path.is_dir():
                yield from sorted(path.glob("*.gguf"))


def _laws(
    workspace: Workspace, config: Config, folder: Path | None, with_sample: bool
) -> LawsChoice:
    begun = _begun(workspace)
    if with_sample:
        return LawsChoice(Origin.SAMPLE)
    if paths := tuple(_laws_in(folder)) if folder else ():
        return LawsChoice(Origin.FOLDER, paths)
    if begun and not (folder and begun.origin in FETCHED):
        return begun
    if workspace.corpus(config.corpus).store.exists():
        return LawsChoice(Origin.PRESENT)
    return LawsChoice(Origin.SAMPLE if folder else Origin.DOWNLOAD)


def _laws_in(folder: Path) -> Iterator[Path]:
    """A folder of ``laws download --to``, else zips, XML files, and folders of them."""
    for place in (folder / _FOLDER, folder):
        if (place / LIST).is_file():
            yield place
            return
    for path in sorted(folder.glob("*")):
        holds = any(any(path.glob(inside)) for inside in ("*.xml", "*.zip", "*/*.xml"))
        if path.suffix.lower() in (".zip", ".xml") or (path.is_dir() and holds):
            yield path


def _begun(workspace: Workspace) -> LawsChoice | None:
    """The laws of an interrupted call."""
    try:
        kept = json.loads((workspace.home / _UNFINISHED).read_text("utf-8"))
        return LawsChoice(Origin(kept["origin"]), tuple(map(Path, kept["paths"])))
    except (OSError, ValueError, TypeError, KeyError):
        return None


# The steps


def bring_model(workspace: Workspace, choice: ModelChoice, on_progress: Progress = silent) -> None:
    """Install a model from its folder or the hub, with every hash checked.

    An interrupted pull continues. Raises ModelUnusable, BusyError, StorageError.
    """
    store = ModelStore(workspace.models)
    path = Path(choice.where)
    with named():
        if choice.origin is Origin.CATALOGUE:
            from localrag_models.hub import PUBLIC_HUB, Hub, pull

            address = os.environ.get("HF_ENDPOINT") or PUBLIC_HUB
            token = os.environ.get("HF_TOKEN", "").strip()
            pull(store, choice.name, Hub(address, token), on_progress=on_progress)
        elif path.suffix == ".tar":
            store.import_(path, on_progress=on_progress)
        else:
            store.add(path, name=choice.name, on_progress=on_progress)


def write_settings(workspace: Workspace, settings: Mapping[str, str]) -> None:
    """Write the settings, one by one; raises ConfigError."""
    for key, value in settings.items():
        change_setting(workspace, key, value)


def bring_laws(
    workspace: Workspace, config: Config, choice: LawsChoice, on_event: Listener = ignore
) -> "AddReport | UpdateReport | None":
    """Take the laws into the corpus; None if all are there. An interrupted call continues.

    Raises:
        InputError, NotFoundError: e-Gov fails, or a file is damaged.
        StorageError, BusyError: the disk is full, or another process is at work.
    """
    kept = {"origin": choice.origin, "paths": [str(path.absolute()) for path in choice.paths]}
    unfinished = workspace.home / _UNFINISHED
    with storing(unfinished):
        replace_text(unfinished, json.dumps(kept, ensure_ascii=False))
    report = _taken(workspace, config, choice, on_event)
    with storing(unfinished):
        unfinished.unlink(missing_ok=True)
    return report


def _taken(
    workspace: Workspace, config: Config, choice: LawsChoice, on_event: Listener
) -> "AddReport | UpdateReport | None":
    from localrag.corpus.ingest.add import add
    from localrag.corpus.ingest.reading import limits_of

    fetched = Fetched()
    if choice.origin is Origin.DOWNLOAD:
        shelf = _fetched(workspace, config, fetched, on_event)
    elif choice.origin is Origin.FOLDER and (choice.paths[0] / LIST).is_file():
        shelf, fetched.unchanged = carried(choice.paths[0], Stopwatch(on_event))
    else:
        report = add(
            workspace,
            config.corpus,
            list(choice.paths or (sample.FOLDER,)),
            workers=config.ingest.processes,
            limits=limits_of(config),
            on_event=on_event,
        )
        return report if report.added or report.replaced or report.failures else None
    place = workspace.corpus(config.corpus)
    files = to_take(fetched.taken, record_of(place))
    if not files:
        return None
    return take(workspace, config.corpus, config, shelf, files, on_event=on_event)


def _fetched(workspace: Workspace, config: Config, fetched: Fetched, on_event: Listener) -> Shelf:
    from localrag.ops.laws.egov import EGov

    shelf = Shelf(workspace.home / _FOLDER)
    with EGov(config.laws) as egov:
        fetch(egov, shelf, [Archive(ALL)], fetched, on_event)
    for _name, error in fetched.failed:
        raise error
    return shelf
