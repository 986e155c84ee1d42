"""What can be wrong with an installation: the Python twin of ``localrag doctor``."""

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from importlib.util import find_spec

from localrag.config import load
from localrag.corpus.store import CorpusStore
from localrag.errors import LocalragError
from localrag.workspace import Workspace

_EXTRAS = {
    "docs": ("pypdf", "docx"),
    "dense": ("hnswlib", "sentence_transformers"),
    "llama-cpp": ("llama_cpp",),
}
_LITTLE_SPACE = 2 * 1024**3
"""Bytes below which indexing a large corpus may fill the disk."""


class Health(StrEnum):
    """How a check ended; `ABSENT` is something optional that is not there."""

    GOOD = "good"
    ABSENT = "absent"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found, and the command that mends it."""

    check: str
    health: Health
    detail: str
    cure: str = ""


def examine(workspace: Workspace, overrides: Mapping[str, str]) -> Iterator[Finding]:
    """Check everything, one finding at a time; reads every byte of stores and indexes."""
    yield Finding("python", Health.GOOD, sys.version.split()[0])
    yield _try("sqlite", _sqlite)
    yield _try("dictionary", _dictionary, "pip install --force-reinstall fugashi unidic-lite")
    yield _try("tantivy", _tantivy, "pip install --force-reinstall tantivy")
    yield from _extras()
    home = _try("workspace", lambda: _workspace(workspace), "localrag init")
    yield home
    yield _try("config", lambda: _config(workspace, overrides), "localrag config")
    if home.health is Health.BROKEN:
        return
    yield _disk(workspace)
    for name in workspace.corpora():
        yield _try(f"store {name}", lambda name=name: _store(workspace, name))  # type: ignore[misc]
        yield _index(workspace, name)


def _try(check: str, look: Callable[[], str], cure: str = "") -> Finding:
    try:
        return Finding(check, Health.GOOD, look())
    except LocalragError as error:
        return Finding(check, Health.BROKEN, error.cause, error.cure or cure)
    except Exception as error:  # noqa: BLE001 - a broken library may raise anything
        return Finding(check, Health.BROKEN, f"{type(error).__name__}: {error}", cure)


def _sqlite() -> str:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("SELECT 1")
    connection.close()
    return sqlite3.sqlite_version


def _dictionary() -> str:
    from localrag_indexes.analysis import Analyzer

    analyzer = Analyzer()
    terms = analyzer.terms("渡し舟の登録")
    if not terms:
        raise ValueError("the dictionary finds no words")
    return f"{analyzer.id}: {' '.join(terms)}"


def _tantivy() -> str:
    import tantivy

    tantivy.SchemaBuilder().build()
    return version("tantivy")


def _extras() -> Iterator[Finding]:
    for extra, modules in _EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            detail = f"not installed (optional): {', '.join(missing)}"
            cure = f"pip install 'localrag[{extra}]'"
            yield Finding(f"extra {extra}", Health.ABSENT, detail, cure)
        else:
            yield Finding(f"extra {extra}", Health.GOOD, "installed")


def _workspace(workspace: Workspace) -> str:
    workspace.require()
    return str(workspace.home)


def _config(workspace: Workspace, overrides: Mapping[str, str]) -> str:
    load(workspace, overrides)
    return "valid"


def _disk(workspace: Workspace) -> Finding:
    free = shutil.disk_usage(workspace.home).free
    detail = f"{free / 1024**3:.1f} GB free"
    if free < _LITTLE_SPACE:
        cure = "Free some space, or move the workspace and name it with --home."
        return Finding("disk", Health.WARNING, detail, cure)
    return Finding("disk", Health.GOOD, detail)


def _store(workspace: Workspace, name: str) -> str:
    with CorpusStore.open(workspace.corpus(name).store, read_only=True) as store:
        problems = store.check()
        if problems:
            raise LocalragError(
                " ".join(problems), "Put back a copy of it, or add the documents to a new corpus."
            )
        return f"sound, {sum(1 for _ in store.documents()):,} documents"


def _index(workspace: Workspace, name: str) -> Finding:
    from localrag.ingest.state import IndexState, index_state

    check = f"index {name}"
    cure = f"localrag index --corpus {name}"
    try:
        state = index_state(workspace, name, deep=True)
    except LocalragError as error:
        return Finding(check, Health.BROKEN, error.cause, error.cure)
    if state is IndexState.FRESH:
        return Finding(check, Health.GOOD, "up to date, every byte as it was written")
    if state is IndexState.BEHIND:
        return Finding(check, Health.WARNING, "older than the documents of the corpus", cure)
    if state is IndexState.DAMAGED:
        # Without --rebuild only sizes are compared, which finds nothing wrong with changed bytes.
        cure = f"{cure} --rebuild"
    return Finding(check, Health.BROKEN, f"the index is {state.value}", cure)
