"""Records the origin of answers: a batch must not mix answers of different settings."""

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from localrag import __version__
from localrag.answer import prompts
from localrag.answer.prompts import OptimisedPrompt
from localrag.corpus.config import OFF, Config
from localrag.corpus.durable import replace_text, storing
from localrag.corpus.inference.opening import named
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import UsageError
from localrag.language import N_, _
from localrag.methods.answering import named_method
from localrag.methods.catalogue import method
from localrag.prepare.index import layers_embedder, layers_stamp, require_layers
from localrag.text.facts import Fact, FactKind
from localrag_indexes.errors import IndexingError
from localrag_indexes.manifest import IndexManifest, current
from localrag_models.gguf import read_header
from localrag_models.runtimes import named_runtime
from localrag_models.store import ModelStore

Origin = Mapping[str, object]
"""Everything answers depend on, by dotted name; plain JSON values."""

_OF_SEARCH = ("retrieval", "embedding", "reranking")
# Place and patience change no answer. Limits on reading and writing do not steer it: a row at the
# limit fails or says so in its trace, and can be asked again with a wider one.
_IRRELEVANT = {
    "chat.server",
    "chat.timeout",
    "chat.parallel",
    "chat.context",
    "chat.max_tokens",
    "embedding.server",
    "reranking.server",
}

# Values of `general.file_type` in GGUF files: the enumeration llama_ftype of llama.cpp.
_FILE_TYPES = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    30: "IQ4_XS",
    32: "BF16",
}

_IN_A_NAME = re.compile(
    r"(?<![A-Z0-9])(?:I?Q[1-8](?:_[0-9A-Z]+)*|BF16|F16|F32)(?![A-Z0-9])", re.IGNORECASE
)


def origin_of(workspace: Workspace, corpus: str, config: Config) -> Origin:
    """Describe the origin of answers made now, without unused parts.

    Unused are the corpus without a search, and the chat model without writing. Raises
    NotFoundError, StoreError, ModelUnusable, UsageError, IndexUnusable: as the method itself.
    """
    origin: dict[str, object] = {"localrag": __version__}
    if searches(config):
        place = workspace.corpus(corpus)
        origin |= _corpus(place)
        if layers := named_method(config).layers:
            require_layers(place, layers)
            origin["corpus.layers"] = layers_stamp(place, layers)
            origin["corpus.layers.embedder"] = layers_embedder(place)
        for section in _OF_SEARCH:
            origin |= _settings(config, section) | weights(workspace, config, section)
    if writes(config):
        origin |= _settings(config, "chat") | weights(workspace, config, "chat")
        origin["prompts"] = prompts_digest()
    return origin | _method(workspace, config)


def settings_of(origin: Origin) -> dict[str, object]:
    """Return the settings of an origin by dotted key, to make more answers alike.

    Settings without influence on answers are omitted. If no chat model took part, the result
    excludes one.
    """
    settings = {"method.name": origin.get("method", ""), "chat.model": ""}
    for section in ("method", "chat", *_OF_SEARCH):
        fields = [*type(getattr(Config(), section)).model_fields]
        if section == "method" and "method" in origin:
            fields += method(str(origin["method"])).settings
        settings |= {key: origin[key] for name in fields if (key := f"{section}.{name}") in origin}
    return settings


def searches(config: Config) -> bool:
    """Whether answers under these settings use the corpus."""
    return named_method(config).searches


def writes(config: Config) -> bool:
    """Whether answers under these settings use the chat model."""
    return named_method(config).needs_model


def weights(workspace: Workspace, config: Config, section: str) -> dict[str, object]:
    """Describe the model of a section, as ``chat.weights``, unless a server has it."""
    name = getattr(getattr(config, section), "model", "")
    with named():
        if name in ("", OFF) or named_runtime(name):
            return {}
        model = ModelStore(workspace.models).find(name)
        found: dict[str, object] = {f"{section}.weights": model.id}
        if model.format == "gguf" and (packed := _quantisation(model.path)):
            found[f"{section}.quantisation"] = packed
    return found


@cache
def prompts_digest() -> str:
    """Return a digest of the built-in prompts."""
    digest = sha256()
    for path in sorted(Path(prompts.__file__).parent.glob("*.jinja")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def require_same(then: Origin, now: Origin, out: Path) -> None:
    """Require equal origins; raises `UsageError` with the differences."""
    if changes := changed(then, now):
        raise UsageError(
            N_("The answers in {out} were made with something else: {changes}."),
            Fact(FactKind.TO_BEGIN_ANEW),
            out=out,
            changes=changes,
        )


def changed(then: Origin, now: Origin) -> str:
    """Return the differences between two origins in words; "" for none."""
    return "; ".join(
        _("{name} was {then} and is {now}").format(
            name=name, then=_in_words(then.get(name)), now=_in_words(now.get(name))
        )
        for name in {**then, **now}
        # Earlier versions did not write unset values.
        if _in_words(then.get(name)) != _in_words(now.get(name))
    )


def read(path: Path) -> Origin | None:
    """Read an origin; None if it is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write(path: Path, origin: Origin) -> None:
    """Write an origin to the disk, all or nothing; raises `StorageError`."""
    with storing(path, N_("Free some space, or choose another folder with --out.")):
        replace_text(path, json.dumps(origin, ensure_ascii=False, indent=1), private=True)


def _in_words(value: object) -> str:
    return _("not set") if value in (None, "") else repr(value)


def _method(workspace: Workspace, config: Config) -> dict[str, object]:
    if not config.method.name:
        return {}
    one = method(config.method.name)
    found: dict[str, object] = {"method": one.name}
    values = one.settings_in(config.method)
    found |= {f"method.{name}": value for name, value in values.items()}
    name = config.method.query_prompt
    if name and one.writes_queries:
        prompt = OptimisedPrompt.load(workspace.prompts, name)
        found |= {"method.query_prompt": name, "method.query_prompt.digest": prompt.digest}
    return found


def _corpus(place: CorpusPaths) -> dict[str, object]:
    place.require()
    with CorpusStore.open(place.store, read_only=True) as store:
        content = {"corpus.stamp": store.stamp, "corpus.generation": store.generation}
    return {"corpus": place.name, **content, **_indexes(place)}


def _indexes(place: CorpusPaths) -> dict[str, object]:
    found: dict[str, object] = {}
    for root in sorted(place.indexes.glob("*/")):
        folder = current(root)
        if folder is None:
            continue
        try:
            manifest = IndexManifest.read(folder)
        except IndexingError:
            continue
        for name, value in {"count": manifest.count, **manifest.extra}.items():
            if isinstance(value, str | int | float):
                found[f"index.{root.name}.{name}"] = value
    return found


def _settings(config: Config, section: str) -> dict[str, object]:
    settings = {
        f"{section}.{name}": value
        for name, value in getattr(config, section).model_dump(mode="json").items()
    }
    return {name: value for name, value in settings.items() if name not in _IRRELEVANT}


@cache
def _quantisation(path: Path) -> str:
    """Return the quantisation of a GGUF file; "" if unknown."""
    # Reading a large header takes a second; most file names contain the quantisation.
    if told := _IN_A_NAME.search(path.stem):
        return told[0].upper()
    file_type = read_header(path).metadata.get("general.file_type")
    return _FILE_TYPES.get(file_type, "") if isinstance(file_type, int) else ""
