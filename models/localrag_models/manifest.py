"""The description of a model: recognised from its files, and kept beside them as ``model.toml``."""

import fnmatch
import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from localrag_models.embedding import Prefixes
from localrag_models.errors import N_, Cure, ModelDamaged, ModelMissing, TransferFailed, WrongKind
from localrag_models.families import Pooling, is_reranker, pooling_called, prefixes_of
from localrag_models.gguf import read_header

MANIFEST = "model.toml"
LARGEST_MANIFEST = 1_000_000
"""Bytes; a manifest of ten files takes two thousand."""

Kind = Literal["chat", "embedder", "reranker"]
Format = Literal["gguf", "sentence-transformers"]

WEIGHTS = ("*.gguf", "*.safetensors")
# None of these runs as code when it is loaded (pickled weights, Python files).
CONTENTS = (*WEIGHTS, "*.json", "*.jinja", "*.txt", "*.model")
# Licences of open models require that their text comes with the weights.
TERMS = ("LICEN[CS]E*", "NOTICE*", "Notice*", "USE_POLICY*")


def belongs(path: str) -> bool:
    """Whether a file of a folder or repository belongs to the model in it."""
    *folders, name = path.split("/")
    # Weights for other runtimes in such folders are larger than the model itself.
    elsewhere = {"onnx", "openvino"}.intersection(folders)
    hidden = any(part.startswith(".") for part in (*folders, name))
    return not elsewhere and not hidden and _matches(name, (*CONTENTS, *TERMS))


def is_weights(path: str) -> bool:
    """Whether a file of this name holds weights."""
    return _matches(path.split("/")[-1], WEIGHTS)


def is_terms(path: str) -> bool:
    """Whether a file of this name holds the licence."""
    return _matches(path, TERMS)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _plain(name: str) -> bool:
    return (
        bool(name)
        and name[0] != "."
        and name[-1] not in " ."
        and name.isprintable()
        and not set(name) & set('\\:*?"<>|')
    )


def _inside_its_folder(path: str) -> str:
    if not all(map(_plain, path.split("/"))):
        raise ValueError("not a plain path inside the folder of the model")
    # The limit of a header in a tar archive.
    if len(path.encode()) > 100:
        raise ValueError("longer than 100 bytes")
    if path == MANIFEST or not belongs(path):
        raise ValueError("no file that a model consists of")
    return path


def has_manifest(folder: Path) -> bool:
    """Whether a folder has a manifest; false if it cannot be looked at."""
    try:
        return (folder / MANIFEST).is_file()
    except OSError:
        return False


ModelPath = Annotated[str, AfterValidator(_inside_its_folder)]
"""A path inside the folder of a model, with ``/``; it cannot lead out of it."""

ModelName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$", max_length=64)
]
"""A name that can be a folder on every system; without a colon, which names servers."""


_name = TypeAdapter(ModelName)
_path = TypeAdapter(ModelPath)


def checked_name(name: str) -> str:
    """Return a valid name of a model.

    Raises:
        TransferFailed: it is not valid.
    """
    try:
        return _name.validate_python(name)
    except ValidationError:
        raise TransferFailed(
            N_("{name!r} cannot be the name of a model."), Cure.NAME_LETTERS, name=name
        ) from None


def checked_path(path: str) -> str:
    """Return a valid path of a file of a model.

    Raises:
        TransferFailed: it is not valid.
    """
    try:
        return _path.validate_python(path)
    except ValidationError as error:
        raise TransferFailed(
            N_("The file {path!r} cannot be kept in a model ({why})."),
            N_("Give it a plain name of letters and digits."),
            path=path,
            why=error.errors()[0]["msg"],
        ) from None


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelFile(_Part):
    """A file of a model; `size` in bytes."""

    path: ModelPath
    size: int = Field(ge=0, le=2**43)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Source(_Part):
    """The origin of a model: a repository of a hub at a revision, or a file of this name."""

    repository: str = Field("", max_length=300)
    revision: str = Field("", max_length=100)
    file: str = Field("", max_length=1000)

    def __str__(self) -> str:
        return f"{self.repository}@{self.revision[:12]}" if self.repository else self.file


class Sampling(_Part):
    """The makers' recommendation for answers without thinking."""

    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)


class ModelManifest(_Part):
    """The content of ``model.toml``."""

    format_version: Literal[1] = 1
    name: ModelName
    kind: Kind
    format: Format
    licence: str = Field("", max_length=200)
    context: int | None = Field(None, gt=0)
    added: AwareDatetime
    source: Source
    prefixes: Prefixes = Prefixes()
    pooling: Pooling | None = None
    sampling: Sampling = Sampling()
    files: tuple[ModelFile, ...] = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _can_be_opened(self) -> Self:
        paths = [file.path for file in self.files]
        if len(set(paths)) < len(paths):
            raise ValueError("two files of one name")
        if self.format == "gguf" and len(self.weights) != 1:
            raise ValueError("a model of format gguf has one file of weights")
        if self.format == "sentence-transformers" and not (self.weights and "config.json" in paths):
            raise ValueError("weights (*.safetensors) or config.json are missing")
        return self

    @classmethod
    def parse(cls, text: bytes, origin: Path) -> Self:
        """Read a manifest; `origin` is the file that holds it.

        Raises:
            ModelDamaged: it is no manifest, or of a later version.
        """
        try:
            return cls.model_validate(tomllib.loads(text.decode()))
        except (ValueError, RecursionError) as error:
            reason = error.errors()[0] if isinstance(error, ValidationError) else None
            told = f"{'.'.join(map(str, reason['loc']))}: {reason['msg']}" if reason else str(error)
            raise ModelDamaged(
                N_("The manifest in {path} cannot be read ({why})."),
                N_("If a later version has written it, use that one; else get the model again."),
                path=origin,
                why=told,
            ) from error

    def dump(self) -> bytes:
        import tomli_w

        return tomli_w.dumps(self.model_dump(exclude_none=True)).encode()

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def weights(self) -> tuple[ModelFile, ...]:
        """The files that hold the weights, by path."""
        return tuple(file for file in self.files if is_weights(file.path))

    @property
    def digest(self) -> str:
        """SHA-256 of the weights: of the file, or of the list of hashes of several."""
        hashes = [file.sha256 for file in sorted(self.weights, key=lambda file: file.path)]
        if len(hashes) == 1:
            return hashes[0]
        return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model of the store.

    Attributes:
        folder: of its files and its manifest.
        manifest: its description.
    """

    folder: Path
    manifest: ModelManifest

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def kind(self) -> Kind:
        return self.manifest.kind

    @property
    def format(self) -> Format:
        """The format of its files, which decides the back end."""
        return self.manifest.format

    @property
    def path(self) -> Path:
        """The path for the back end: the GGUF file, or the folder."""
        if self.manifest.format == "gguf":
            return self.folder / self.manifest.weights[0].path
        return self.folder

    @property
    def id(self) -> str:
        """Names the weights: its name, ``@`` and the first 12 hexadecimal digits of their hash.

        The prefixes and the pooling of an embedder count as weights: they change its vectors.
        """
        digest = self.manifest.digest
        if self.kind == "embedder":
            parts = [digest, self.prefixes.query, self.prefixes.passage]
            if self.manifest.pooling:
                parts.append(self.manifest.pooling)
            digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        return f"{self.name}@{digest[:12]}"

    @property
    def size(self) -> int:
        return self.manifest.size

    @property
    def context(self) -> int | None:
        """Tokens it was trained for, if known."""
        return self.manifest.context

    @property
    def prefixes(self) -> Prefixes:
        return self.manifest.prefixes

    @property
    def recommended(self) -> Sampling:
        return self.manifest.sampling


_LARGEST_JSON = 1_000_000
_LARGEST_HEADER = 25_000_000
_POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "lasttoken",
}
# Tokenizers without a limit give a number of thirty digits.
_LONGEST_CONTEXT = 10_000_000


@dataclass(frozen=True, slots=True)
class Recognised:
    """A recognised model.

    Attributes:
        folder: of `files`.
        files: paths of the files that belong to it, with ``/``.
        context: tokens it was trained for, if it says so.
        prefixes: of an embedder; empty if unknown and not of a known family.
        pooling: of an embedder; None for the mean, or if unknown.
    """

    kind: Kind
    format: Format
    folder: Path
    files: tuple[str, ...]
    context: int | None
    prefixes: Prefixes
    pooling: Pooling | None


def recognise(path: Path, kind: Kind | None = None) -> Recognised:
    """Recognise a GGUF file, or a folder of sentence-transformers, of any or a certain `kind`.

    Raises:
        ModelMissing: there is nothing at `path`.
        WrongKind: it is no file or folder, no model that can be run, or of another kind.
        ModelDamaged: it is cut short, or its configuration cannot be read.
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
            N_("{path} is not a chat model, embedder or reranker (architecture {architecture!r}).")
            if header.tensors
            else N_("{path} is not a chat model, embedder or reranker: it holds no weights."),
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
    embeds = header.kind == "embedder"
    answers = header.kind == "chat" and is_reranker(header.name, path.stem)
    return Recognised(
        "reranker" if answers else header.kind,
        "gguf",
        path.parent,
        (path.name,),
        header.context or None,
        prefixes_of(header.name, path.stem) if embeds else Prefixes(),
        _noted(header.number("pooling_type")) if embeds else None,
    )


def _folder(path: Path) -> Recognised:
    paths = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    files = tuple(sorted(filter(belongs, paths)))
    weights = [path / file for file in files if is_weights(file)]
    if "config.json" not in files:
        raise WrongKind(
            N_("{path} is not a folder of a model: it has no config.json."),
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
    config = json_object(path / "config.json")
    kind = _kind(path, config)
    return Recognised(
        kind,
        "sentence-transformers",
        path,
        files,
        _context(path, config),
        _prefixes(path) if kind == "embedder" else Prefixes(),
        _noted(pooling_in(path)) if kind == "embedder" else None,
    )


def _check_whole(weights: Path) -> None:
    """Compare the size of a file with its header: the length, then JSON with the extents."""
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
    if is_cross_encoder(config):
        return "reranker"
    if (path / "modules.json").is_file():
        return "embedder"
    raise WrongKind(
        N_("{path} is neither an embedder nor a reranker ({architecture}, no modules.json)."),
        N_("Get it in the format of sentence-transformers. Chat models are added as GGUF files."),
        path=path,
        architecture=_architecture(config),
    )


def is_cross_encoder(config: Mapping[str, Any]) -> bool:
    """Whether the settings describe a cross-encoder."""
    return _architecture(config).endswith("ForSequenceClassification")


def _architecture(config: Mapping[str, Any]) -> str:
    architectures = config.get("architectures")
    return str(architectures[0]) if isinstance(architectures, list) and architectures else "unknown"


def _context(path: Path, config: Mapping[str, Any]) -> int | None:
    for found in (
        json_object(path / "sentence_bert_config.json").get("max_seq_length"),
        json_object(path / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    ):
        if isinstance(found, int) and 0 < found < _LONGEST_CONTEXT:
            return found
    return None


def prompts_of(folder: Path) -> Prefixes:
    """The prefixes in the settings of sentence-transformers; or empty ones."""
    prompts = json_object(folder / "config_sentence_transformers.json").get("prompts")
    if not isinstance(prompts, dict):
        return Prefixes()
    passage = prompts.get("document") or prompts.get("passage") or ""
    return Prefixes(str(prompts.get("query") or ""), str(passage))


def _prefixes(path: Path) -> Prefixes:
    if (said := prompts_of(path)) != Prefixes():
        return said
    # The configuration notes the origin, even if the folder has another name.
    origin = json_object(path / "config.json").get("_name_or_path", "")
    return prefixes_of(path.name, str(origin))


def pooling_in(folder: Path) -> str:
    """The pooling in the settings of sentence-transformers: ``mean``, ``cls`` …; "" if unclear."""
    settings = json_object(folder / "1_Pooling" / "config.json")
    if "pooling_mode" in settings:
        return str(settings["pooling_mode"])
    chosen = [name for name, value in settings.items() if value is True and "_mode_" in name]
    return _POOLINGS.get(chosen[0], "") if len(chosen) == 1 else ""


def _noted(pooling: object) -> Pooling | None:
    """A pooling for the manifest; None means the mean."""
    found = pooling_called(pooling)
    return None if found == "mean" else found


def json_object(path: Path) -> Mapping[str, Any]:
    """Read the JSON object in a file; empty if there is no file.

    Raises:
        ModelDamaged: it cannot be read, or is no object.
    """
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(_LARGEST_JSON))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelDamaged(
            N_("{path} is not JSON ({why})."), Cure.GET_AGAIN, path=path, why=error
        ) from error
    if not isinstance(content, dict):
        raise ModelDamaged(N_("{path} holds no JSON object."), Cure.GET_AGAIN, path=path)
    return content
