"""Checks of an installation: the Python twin of ``localrag doctor``."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from localrag.corpus import durable
from localrag.corpus.asked_journal import checked, journal_of
from localrag.corpus.config import Config, load
from localrag.corpus.database import checking_layer
from localrag.corpus.states import is_old
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths, Workspace, writing
from localrag.errors import LocalragError, to_install
from localrag.language import N_, _
from localrag.ops.conversations.store import Conversations
from localrag.text.facts import Fact, FactKind

if TYPE_CHECKING:
    from localrag.search.units import IndexState

_EXTRAS = {
    "docs": ("pypdf", "pypdfium2", "docx"),
    "dense": ("hnswlib", "numpy"),
    "eval": ("matplotlib", "scipy"),
    "hub": ("huggingface_hub",),
    "llama-cpp": ("llama_cpp",),
    "mcp": ("mcp",),
    "optimize": ("gepa",),
    "sentence-transformers": ("sentence_transformers",),
    "serve": ("prometheus_client", "python_multipart", "starlette", "uvicorn"),
}
_KINDS = {
    "dictionary": N_("dictionary"),
    "extra": N_("extra"),
    "workspace": N_("workspace"),
    "access": N_("access"),
    "journal": N_("journal of questions"),
    "conversations": N_("conversations"),
    "config": N_("config"),
    "disk": N_("disk"),
    "gpu": N_("GPU"),
    "model": N_("model"),
    "place": N_("place of"),
    "speed": N_("speed of"),
    "store": N_("store"),
    "index": N_("index"),
    "vectors": N_("vectors"),
    "layers": N_("layers"),
}
"""Names of the checks; programs and settings keep their own names."""
_NAMED = 3
"""Files and folders to name, of more."""
_LITTLE_SPACE = 2 * 1024**3
"""Bytes below which indexing a large corpus may fill the disk."""


class Health(StrEnum):
    """How a check ended; `ABSENT`: something optional is not installed."""

    GOOD = "good"
    ABSENT = "absent"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """The result of one check, named as in JSON, and its cure, mostly a command."""

    check: str
    health: Health
    detail: Fact
    cure: str | Fact = ""

    @property
    def title(self) -> str:
        """The name of the check in the language in use."""
        kind, blank, name = self.check.partition(" ")
        return f"{_(_KINDS.get(kind, kind))}{blank}{name}"


def examine(workspace: Workspace, overrides: Mapping[str, object]) -> Iterator[HealthFinding]:
    """Check everything, one finding at a time; reads every byte of databases and indexes.

    Of models only sizes are compared: ``localrag models verify`` reads their bytes.
    """
    yield HealthFinding("python", Health.GOOD, _said(sys.version.split()[0]))
    yield _try("sqlite", _sqlite)
    yield _try(
        "dictionary", _dictionary, Fact(FactKind.TO_INSTALL_AGAIN, packages="fugashi unidic-lite")
    )
    yield _try("tantivy", _tantivy, Fact(FactKind.TO_INSTALL_AGAIN, packages="tantivy"))
    yield from _extras()
    yield from _hardware()
    home = _try("workspace", lambda: _workspace(workspace), "localrag init")
    yield home
    settings = _try("config", lambda: _config(workspace, overrides), "localrag config")
    yield settings
    if home.health is Health.BROKEN:
        return
    yield _access(workspace)
    if journal_of(workspace).exists():
        yield _try("journal", lambda: _journal(workspace))
    if workspace.conversations.exists():
        yield _try("conversations", lambda: _conversations(workspace))
    yield _disk(workspace)
    yield from _models(workspace)
    config = load(workspace, overrides) if settings.health is Health.GOOD else Config()
    yield from _models_of_settings(workspace, config)
    yield from _places(workspace, config)
    for name in workspace.corpora():
        yield _try(f"store {name}", lambda name=name: _store(workspace, name))  # type: ignore[misc]
        yield from _laws(workspace, name)
        yield _index(workspace, name)
        yield from _vectors(workspace, name, config)
        yield from _layers(workspace, name, config)


def mend(workspace: Workspace) -> Iterator[HealthFinding]:
    """Write missing checksums of databases again, if marks prove their content whole.

    Another program that opens a database after its writer was killed moves the log into the file.
    Only localrag's SQLite gives these pages a checksum.
    """
    for name in workspace.corpora():
        place = workspace.corpus(name)
        if _try("store", lambda name=name: _store(workspace, name)).health is Health.BROKEN:  # type: ignore[misc]
            yield _mended(f"store {name}", partial(_mend_store, place))
    if workspace.conversations.exists():
        found = _try("conversations", lambda: _conversations(workspace))
        if found.health is Health.BROKEN:
            yield _mended(found.check, partial(Conversations.mend, workspace))


def _mend_store(place: CorpusPaths) -> None:
    with writing(place):
        CorpusStore.mend(place.store)


def _mended(check: str, attempt: Callable[[], None]) -> HealthFinding:
    def tried() -> Fact:
        attempt()
        return Fact(FactKind.CHECKSUMS_ANEW)

    return _try(check, tried)


def _said(words: object) -> Fact:
    return Fact(FactKind.SAID, words=str(words))


def _try(check: str, look: Callable[[], Fact], cure: str | Fact = "") -> HealthFinding:
    try:
        return HealthFinding(check, Health.GOOD, look())
    except LocalragError as error:
        return HealthFinding(check, Health.BROKEN, _said(error.cause), error.remedy or cure)
    except Exception as error:  # noqa: BLE001 - a broken library may raise anything
        return HealthFinding(check, Health.BROKEN, _said(f"{type(error).__name__}: {error}"), cure)


def _sqlite() -> Fact:
    checking_layer()
    return _said(apsw.sqlite_lib_version())


def _dictionary() -> Fact:
    from localrag_indexes.analysis import Analyzer

    analyzer = Analyzer()
    terms = analyzer.terms("渡し舟の登録")
    if not terms:
        raise ValueError("the dictionary finds no words")
    return _said(f"{analyzer.id}: {' '.join(terms)}")


def _tantivy() -> Fact:
    import tantivy

    tantivy.SchemaBuilder().build()
    return _said(version("tantivy"))


def _extras() -> Iterator[HealthFinding]:
    for extra, modules in _EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            detail = Fact(FactKind.NOT_INSTALLED, packages=tuple(missing))
            yield HealthFinding(f"extra {extra}", Health.ABSENT, detail, to_install(extra))
        else:
            yield HealthFinding(f"extra {extra}", Health.GOOD, Fact(FactKind.INSTALLED))


def _hardware() -> Iterator[HealthFinding]:
    from localrag.corpus.inference.placement import build_facts, gpu_facts

    for told in gpu_facts():
        health = Health.ABSENT if told.kind is FactKind.NO_GPU else Health.GOOD
        yield HealthFinding("gpu", health, told)
    for name, told, cure in build_facts():
        yield HealthFinding(name, Health.WARNING if cure else Health.GOOD, told, cure or "")


def _places(workspace: Workspace, config: Config) -> Iterator[HealthFinding]:
    from localrag.corpus.inference.placement import placement_facts, speed_facts

    for setting, _model, told in placement_facts(workspace, config):
        yield HealthFinding(f"place {setting}", Health.GOOD, told)
    for told in speed_facts(workspace, config):
        yield HealthFinding("speed chat.model", Health.GOOD, told)


def _workspace(workspace: Workspace) -> Fact:
    workspace.require()
    return _said(workspace.home)


def _config(workspace: Workspace, overrides: Mapping[str, object]) -> Fact:
    load(workspace, overrides)
    return Fact(FactKind.VALID)


def _access(workspace: Workspace) -> HealthFinding:
    """Whether only the readers named by the settings can read the workspace."""
    readers = durable.readers(workspace.settings)
    exposed = durable.exposed(workspace.home, readers)
    if exposed:
        names = tuple(str(path) for path in exposed[:_NAMED])
        detail = Fact(FactKind.EXPOSED, n=len(exposed), first=names)
        return HealthFinding("access", Health.WARNING, detail, "localrag init")
    kind = {
        "owner": FactKind.READ_BY_OWNER,
        "group": FactKind.READ_BY_GROUP,
        "everyone": FactKind.READ_BY_EVERYONE,
    }[readers]
    return HealthFinding("access", Health.GOOD, Fact(kind))


def _journal(workspace: Workspace) -> Fact:
    chain = checked(workspace)
    return Fact(FactKind.JOURNAL_WHOLE, n=chain.questions, last=chain.last)


def _conversations(workspace: Workspace) -> Fact:
    with Conversations.open(workspace, read_only=True) as kept:
        if problems := kept.check():
            raise LocalragError(
                " ".join(problems),
                N_(
                    "Try localrag doctor --mend. Else put back a copy of it, or move it away and "
                    "begin with none."
                ),
            )
        return Fact(FactKind.CONVERSATIONS_SOUND, n=len(kept.list()))


def _disk(workspace: Workspace) -> HealthFinding:
    free = shutil.disk_usage(workspace.home).free
    detail = Fact(FactKind.DISK_FREE, gigabytes=free / 1024**3)
    if free < _LITTLE_SPACE:
        cure = _("Free some space, or move the workspace and name it with --home.")
        return HealthFinding("disk", Health.WARNING, detail, cure)
    return HealthFinding("disk", Health.GOOD, detail)


def _store(workspace: Workspace, name: str) -> Fact:
    with CorpusStore.open(workspace.corpus(name).store, read_only=True) as store:
        problems = store.check()
        if problems:
            raise LocalragError(
                " ".join(problems),
                N_(
                    "Try localrag doctor --mend. Else put back a copy of it, or add the documents "
                    "to a new corpus."
                ),
            )
        if altered := list(store.altered()):
            raise LocalragError(
                N_("{n:,} documents are not as they were stored: {first}."),
                N_(
                    "Put back a copy of the store, or remove them and add their files again: {verb}"
                ),
                n=len(altered),
                first=", ".join(altered[:_NAMED]),
                verb=f"localrag remove --corpus {name} {' '.join(altered[:_NAMED])}",
            )
        return Fact(FactKind.STORE_SOUND, n=store.extent().documents)


def _models(workspace: Workspace) -> Iterator[HealthFinding]:
    from localrag.corpus.inference.opening import as_ours
    from localrag_models.files import gigabytes
    from localrag_models.store import ModelStore

    store = ModelStore(workspace.models)
    for model in store.installed():
        yield HealthFinding(
            f"model {model.name}",
            Health.GOOD,
            _said(f"{_(model.kind)}{_(', ')}{gigabytes(model.size)}"),
        )
    for problem in map(as_ours, store.problems().values()):
        yield HealthFinding("model", Health.BROKEN, _said(problem.cause), problem.cure)


def _models_of_settings(workspace: Workspace, config: Config) -> Iterator[HealthFinding]:
    from localrag.corpus.inference.opening import check_models

    for setting, model, cause, cure in check_models(workspace, config):
        health = Health.BROKEN if cause else Health.GOOD
        yield HealthFinding(setting, health, _said(cause or model), cure)


def _laws(workspace: Workspace, name: str) -> Iterator[HealthFinding]:
    """How old the texts of laws are; no finding for a corpus without laws.

    The text of a law that is never amended is old and right. So a warning needs old texts only.
    """
    try:
        with CorpusStore.open(workspace.corpus(name).store, read_only=True) as store:
            ages, today = store.ages(), store.as_of
    except LocalragError:
        return  # The store says why.
    if not ages.newest:
        return
    told = ages.told(today) or Fact(FactKind.LAWS_RECENT, laws=ages.laws, date=ages.newest)
    if is_old(ages.newest, today):
        yield HealthFinding(
            f"laws {name}", Health.WARNING, told, Fact(FactKind.TO_UPDATE, corpus=name)
        )
    else:
        yield HealthFinding(f"laws {name}", Health.GOOD, told)


def _index(workspace: Workspace, name: str) -> HealthFinding:
    from localrag.search.units import index_state

    root = workspace.corpus(name).bm25
    look = lambda: index_state(workspace, name, deep=True)  # noqa: E731
    return _state(f"index {name}", root, look, *_to_index(name))


def _vectors(workspace: Workspace, name: str, config: Config) -> Iterator[HealthFinding]:
    """The state of the vectors of a corpus; no finding if it has and needs none."""
    from localrag.corpus.config import embedder_name
    from localrag.corpus.inference.opening import embedder_id
    from localrag.search.units import vector_state
    from localrag_indexes.manifest import current

    place = workspace.corpus(name)
    if current(place.vectors) is None and not embedder_name(workspace, config):
        return

    def look() -> "IndexState":
        with CorpusStore.open(place.store, read_only=True) as store:
            return vector_state(
                place,
                store,
                embedder_id(workspace, config),
                config.embedding.provisions,
                deep=True,
            )

    yield _state(f"vectors {name}", place.vectors, look, *_to_index(name))


def _to_index(corpus: str) -> tuple[Fact, Fact]:
    # A damaged index is rebuilt, without a comparison.
    return Fact(FactKind.TO_INDEX, corpus=corpus), Fact(FactKind.TO_REBUILD, corpus=corpus)


def _layers(workspace: Workspace, name: str, config: Config) -> Iterator[HealthFinding]:
    """The state of the index of the derived layers; no finding if there are none."""
    from localrag.corpus.inference.opening import embedder_id
    from localrag.prepare.index import layers_begun, layers_state

    place = workspace.corpus(name)
    begun = layers_begun(place)
    if not begun:
        return

    def look() -> "IndexState":
        model = "" if config.retrieval.dense == "off" else embedder_id(workspace, config)
        with CorpusStore.open(place.store, read_only=True) as store:
            return layers_state(place, store, model)

    cure = Fact(FactKind.TO_PREPARE, corpus=name, layers=",".join(begun))
    yield _state(f"layers {name}", place.layer_words, look, cure, cure)


def _state(
    check: str,
    root: Path,
    look: "Callable[[], IndexState]",
    cure: Fact,
    cure_of_damage: Fact,
) -> HealthFinding:
    """A finding on an index, from its state."""
    from localrag.search.units import IndexState
    from localrag_indexes.manifest import was_built

    broken = {
        IndexState.MISSING: FactKind.INDEX_LOST,
        IndexState.OUTDATED: FactKind.INDEX_OUTDATED,
        IndexState.DAMAGED: FactKind.INDEX_DAMAGED,
    }
    try:
        state = look()
    except LocalragError as error:
        return HealthFinding(check, Health.BROKEN, _said(error.cause), error.remedy)
    if state is IndexState.FRESH:
        return HealthFinding(check, Health.GOOD, Fact(FactKind.UP_TO_DATE))
    if state is IndexState.MISSING and not was_built(root):
        return HealthFinding(check, Health.WARNING, Fact(FactKind.NOT_INDEXED), cure)
    if state is IndexState.BEHIND:
        return HealthFinding(check, Health.WARNING, Fact(FactKind.INDEX_OLDER), cure)
    if state is IndexState.DAMAGED:
        cure = cure_of_damage
    return HealthFinding(check, Health.BROKEN, Fact(broken[state]), cure)
