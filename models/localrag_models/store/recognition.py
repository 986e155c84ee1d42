"""What kind of model a file or a folder holds, told from its header or its configuration."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localrag_models.embedding import E5, Prefixes
from localrag_models.errors import N_, Cure, ModelDamaged, ModelMissing, WrongKind
from localrag_models.gguf import read_header
from localrag_models.store.manifest import Format, Kind, belongs, is_weights

_LARGEST_JSON = 1_000_000
_LARGEST_HEADER = 25_000_000
# Tokenizers that know no limit say so with a number of thirty digits.
_LONGEST_CONTEXT = 10_000_000
_E5 = re.compile(r"(?<![a-z])e5(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A model as it is found.

    Attributes:
        folder: what `files` are in.
        files: paths of what belongs to it, with ``/``.
        context: tokens it was trained for, where it says so.
        prefixes: of an embedder; none where it says nothing and is not of the E5 family.
    """

    kind: Kind
    format: Format
    folder: Path
    files: tuple[str, ...]
    context: int | None
    prefixes: Prefixes


def recognise(path: Path, kind: Kind | None = None) -> Recognised:
    """Recognise a GGUF file, or a folder of sentence-transformers.

    Args:
        path: the file or the folder.
        kind: what it has to be; None takes any.

    Raises:
        ModelMissing: there is nothing.
        WrongKind: it is no file or folder, no model that can be run, or not of the kind said.
        ModelDamaged: cut short, or its configuration cannot be read.
    """
    if not path.exists():
        raise ModelMissing(
            N_("There is no {path}."), N_("Name a .gguf file, or a folder of a model."), path=path
        )
    found = _folder(path) if path.is_dir() else _gguf(path)
    if kind and kind != found.kind:
        raise WrongKind(
            N_("{path} is of kind {found}, not {wanted}."),
            N_("Name a model of kind {wanted}."),
            path=path,
            found=found.kind,
            wanted=kind,
        )
    return found


def _gguf(path: Path) -> Recognised:
    header = read_header(path)
    if header.kind == "other" or not is_weights(path.name):
        raise WrongKind(
            N_("{path} is no chat model, embedder or reranker (architecture {architecture!r}).")
            if header.tensors
            else N_("{path} is no chat model, embedder or reranker: it holds no weights."),
            N_("Name the .gguf file of the model itself."),
            path=path,
            architecture=header.architecture,
        )
    if header.metadata.get("split.count", 1) != 1:
        raise WrongKind(
            N_("{path} is one of several parts of a model."),
            N_("Join them first: llama-gguf-split --merge FIRST-PART WHOLE.gguf"),
            path=path,
        )
    return Recognised(
        header.kind,
        "gguf",
        path.parent,
        (path.name,),
        header.context or None,
        _prefixes_by_name(f"{header.name} {path.stem}")
        if header.kind == "embedder"
        else Prefixes(),
    )


def _folder(path: Path) -> Recognised:
    paths = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    files = tuple(sorted(filter(belongs, paths)))
    weights = [path / file for file in files if is_weights(file)]
    if "config.json" not in files:
        raise WrongKind(
            N_("{path} is no folder of a model: it has no config.json."),
            N_("Name the folder that holds config.json and model.safetensors, or a .gguf file."),
            path=path,
        )
    if not weights:
        raise WrongKind(
            N_("{path} holds no weights as *.safetensors."),
            N_("Other forms (*.bin, *.pt) can run code when they are loaded; convert them first."),
            path=path,
        )
    if "tokenizer.json" not in files:
        raise WrongKind(
            N_("{path} has no tokenizer.json."),
            N_("Choose a model whose tokenizer needs no programs of its own."),
            path=path,
        )
    for file in weights:
        _check_whole(file)
    config = _json(path / "config.json")
    kind = _kind(path, config)
    return Recognised(
        kind,
        "sentence-transformers",
        path,
        files,
        _context(path, config),
        _prefixes(path) if kind == "embedder" else Prefixes(),
    )


def _check_whole(weights: Path) -> None:
    """Compare the size of a file with its header: its length, then JSON with the extents."""
    size = weights.stat().st_size
    with weights.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        try:
            header = json.loads(file.read(min(length, _LARGEST_HEADER)))
            extents = [v["data_offsets"][1] for k, v in header.items() if k != "__metadata__"]
            end = 8 + length + max(extents, default=0)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            end = -1
    if end != size:
        raise ModelDamaged(N_("{path} is cut short or damaged."), Cure.GET_AGAIN, path=weights)


def _kind(path: Path, config: Mapping[str, Any]) -> Kind:
    if _architecture(config).endswith("ForSequenceClassification"):
        return "reranker"
    if (path / "modules.json").is_file():
        return "embedder"
    raise WrongKind(
        N_("{path} is neither an embedder nor a reranker ({architecture}, no modules.json)."),
        N_("Get it in the format of sentence-transformers. Chat models are added as GGUF files."),
        path=path,
        architecture=_architecture(config),
    )


def _architecture(config: Mapping[str, Any]) -> str:
    architectures = config.get("architectures")
    return str(architectures[0]) if isinstance(architectures, list) and architectures else "unknown"


def _context(path: Path, config: Mapping[str, Any]) -> int | None:
    for found in (
        _json(path / "sentence_bert_config.json").get("max_seq_length"),
        _json(path / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    ):
        if isinstance(found, int) and 0 < found < _LONGEST_CONTEXT:
            return found
    return None


def _prefixes(path: Path) -> Prefixes:
    prompts = _json(path / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict):
        passage = prompts.get("document") or prompts.get("passage") or ""
        said = Prefixes(str(prompts.get("query") or ""), str(passage))
        if said != Prefixes():
            return said
    # Of a folder by any name, the configuration notes what it was made from.
    origin = _json(path / "config.json").get("_name_or_path", "")
    return _prefixes_by_name(f"{path.name} {origin}")


def _prefixes_by_name(name: str) -> Prefixes:
    return E5 if _E5.search(name) else Prefixes()


def _json(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(_LARGEST_JSON))
    except (ValueError, RecursionError) as error:
        raise ModelDamaged(
            N_("{path} is no JSON ({why})."), Cure.GET_AGAIN, path=path, why=error
        ) from error
    if not isinstance(content, dict):
        raise ModelDamaged(N_("{path} holds no JSON object."), Cure.GET_AGAIN, path=path)
    return content
