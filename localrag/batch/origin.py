"""What answers were made with: resuming with anything else would mix answers unnoticed."""

import json
from collections.abc import Mapping
from pathlib import Path

from localrag import __version__
from localrag.config import Config
from localrag.corpus.store import CorpusStore
from localrag.durable import replace_text
from localrag.errors import StorageError, UsageError
from localrag.inference.failures import named
from localrag.inference.opening import OLLAMA, OPENAI
from localrag.workspace import CorpusPaths, Workspace
from localrag_indexes.errors import IndexingError
from localrag_indexes.generations import current
from localrag_indexes.manifest import Manifest
from localrag_models.store import ModelStore

Origin = Mapping[str, object]
"""By dotted name, what answers depend on; JSON values without structure."""

_MODELS = ("chat", "embedding", "reranking")
_SECTIONS = ("retrieval", *_MODELS)
# Where a model runs and how patiently it is waited for changes no answer. How much it may read and
# write bounds an answer, it does not steer it: a row that meets the bound fails or says so in its
# trace, and the cure is to widen it and go on.
_IRRELEVANT = {
    "chat.server",
    "chat.timeout",
    "chat.parallel",
    "chat.context",
    "chat.max_tokens",
    "embedding.server",
}


def origin_of(workspace: Workspace, corpus: str, config: Config) -> Origin:
    """Describe what answers would be made with now.

    Raises:
        NotFoundError: there is no such corpus.
        StoreError: its store cannot be used.
        ModelUnusable: a model of the settings is not installed.
    """
    place = workspace.corpus(corpus)
    place.require()
    with CorpusStore.open(place.store, read_only=True) as store:
        content = {"corpus.stamp": store.stamp, "corpus.generation": store.generation}
    return {
        "localrag": __version__,
        "corpus": corpus,
        **content,
        **_indexes(place),
        **_settings(config),
        **_weights(workspace, config),
    }


def require_same(then: Origin, now: Origin, out: Path) -> None:
    """Make sure that a batch goes on with what it was begun with.

    Raises:
        UsageError: it would not; names what differs.
    """
    differing = [
        f"{name} was {_in_words(then.get(name))} and is {_in_words(now.get(name))}"
        for name in {**then, **now}
        if then.get(name) != now.get(name)
    ]
    if differing:
        raise UsageError(
            f"The answers in {out} were made with something else: {'; '.join(differing)}.",
            "Name another file with --out, or drop these answers with --restart.",
        )


def read(path: Path) -> Origin | None:
    """Read what answers were made with; None where it cannot be told."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write(path: Path, origin: Origin) -> None:
    """Write it down, all or nothing, flushed to the disk.

    Raises:
        StorageError: the disk is full or the folder cannot be written.
    """
    try:
        replace_text(path, json.dumps(origin, ensure_ascii=False, indent=1))
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror}).",
            "Free some space, or choose another folder with --out.",
        ) from error


def _in_words(value: object) -> str:
    return "not set" if value in (None, "") else repr(value)


def _indexes(place: CorpusPaths) -> dict[str, object]:
    """What each index was built from; one that is damaged is refused when it is opened."""
    found: dict[str, object] = {}
    for root in sorted(place.indexes.glob("*/")):
        folder = current(root)
        if folder is None:
            continue
        try:
            manifest = Manifest.read(folder)
        except IndexingError:
            continue
        for name, value in {"count": manifest.count, **manifest.extra}.items():
            if isinstance(value, str | int | float):
                found[f"index.{root.name}.{name}"] = value
    return found


def _settings(config: Config) -> dict[str, object]:
    settings = {
        f"{section}.{name}": value
        for section in _SECTIONS
        for name, value in getattr(config, section).model_dump(mode="json").items()
    }
    return {
        name: value
        for name, value in settings.items()
        if name not in _IRRELEVANT and (config.chat.model or not name.startswith("chat."))
    }


def _weights(workspace: Workspace, config: Config) -> dict[str, object]:
    """Which weights stand behind the names of the installed models."""
    names = {section: getattr(config, section).model for section in _MODELS}
    with named():
        return {
            f"{section}.weights": ModelStore(workspace.models).find(name).id
            for section, name in names.items()
            if name and not name.startswith((f"{OLLAMA}:", f"{OPENAI}:"))
        }
