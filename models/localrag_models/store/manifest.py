"""What is known of an installed model, kept beside its files as ``model.toml``."""

import fnmatch
import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

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
from localrag_models.errors import N_, Cure, ModelDamaged, TransferFailed

MANIFEST = "model.toml"
LARGEST_MANIFEST = 1_000_000
"""Bytes; a manifest of ten files takes two thousand."""

Kind = Literal["chat", "embedder", "reranker"]
Format = Literal["gguf", "sentence-transformers"]

WEIGHTS = ("*.gguf", "*.safetensors")
# Nothing that runs as code when it is loaded (pickled weights, Python files) is among them.
CONTENTS = (*WEIGHTS, "*.json", "*.jinja", "*.txt", "*.model")
# The licences of open models ask that their text goes where the weights go.
TERMS = ("LICEN[CS]E*", "NOTICE*", "Notice*", "USE_POLICY*")


def belongs(path: str) -> bool:
    """Whether the file at `path` of a folder or repository belongs to the model in it."""
    *folders, name = path.split("/")
    # Weights for other runtimes lie in such folders, and are larger than the model itself.
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
    # What fits into a header of a tar archive.
    if len(path.encode()) > 100:
        raise ValueError("longer than 100 bytes")
    if path == MANIFEST or not belongs(path):
        raise ValueError("no file that a model consists of")
    return path


def has_manifest(folder: Path) -> bool:
    """Whether there is a manifest in a folder; none where it may not be looked at."""
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
    """Give back a name that a model can have.

    Raises:
        TransferFailed: it cannot.
    """
    try:
        return _name.validate_python(name)
    except ValidationError:
        raise TransferFailed(
            N_("{name!r} cannot be the name of a model."), Cure.NAME_LETTERS, name=name
        ) from None


def checked_path(path: str) -> str:
    """Give back a path that a file of a model can have.

    Raises:
        TransferFailed: it cannot.
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
    """Where a model came from: a repository of a hub at a revision, or a file of this name."""

    repository: str = Field("", max_length=300)
    revision: str = Field("", max_length=100)
    file: str = Field("", max_length=1000)

    def __str__(self) -> str:
        return f"{self.repository}@{self.revision[:12]}" if self.repository else self.file


class Sampling(_Part):
    """What the makers of a chat model recommend for answers without thinking."""

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
        """Give the text of ``model.toml``."""
        import tomli_w

        return tomli_w.dumps(self.model_dump(exclude_none=True)).encode()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def weights(self) -> tuple[ModelFile, ...]:
        """The files that hold the weights, by path."""
        return tuple(file for file in self.files if is_weights(file.path))

    @property
    def digest(self) -> str:
        """SHA-256 of the weights: of the file, or of the list of hashes where there are several."""
        hashes = [file.sha256 for file in sorted(self.weights, key=lambda file: file.path)]
        if len(hashes) == 1:
            return hashes[0]
        return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model of the store.

    Attributes:
        folder: where its files and its manifest lie.
        manifest: what is known of it.
    """

    folder: Path
    manifest: ModelManifest

    @property
    def name(self) -> str:
        """What it is installed as, and what the settings call it."""
        return self.manifest.name

    @property
    def kind(self) -> Kind:
        """What it does: ``chat``, ``embedder`` or ``reranker``."""
        return self.manifest.kind

    @property
    def format(self) -> Format:
        """How it is kept, and with that, which back end runs it."""
        return self.manifest.format

    @property
    def path(self) -> Path:
        """What a back end opens: the GGUF file, or the folder."""
        if self.manifest.format == "gguf":
            return self.folder / self.manifest.weights[0].path
        return self.folder

    @property
    def id(self) -> str:
        """Names the weights: its name, ``@`` and the first 12 hexadecimal digits of their hash.

        The prefixes of an embedder count as weights: with others, it makes other vectors.
        """
        digest = self.manifest.digest
        if self.kind == "embedder":
            told = "\n".join((digest, self.prefixes.query, self.prefixes.passage))
            digest = hashlib.sha256(told.encode()).hexdigest()
        return f"{self.name}@{digest[:12]}"

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return self.manifest.size

    @property
    def context(self) -> int | None:
        """Tokens it was trained for, where that is known."""
        return self.manifest.context

    @property
    def prefixes(self) -> Prefixes:
        """What it wants before a query and before a passage."""
        return self.manifest.prefixes

    @property
    def recommended(self) -> Sampling:
        """The sampling its makers recommend."""
        return self.manifest.sampling
