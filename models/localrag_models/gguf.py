"""Reads the header of a GGUF file: the kind of the model, and whether the file is complete.

A native loader may crash on a damaged file. Here every length is checked against the size of the
file before anything is read. Layout of the GGUF specification, versions 2 and 3: magic, version,
counts, metadata, tensor table, tensor data.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Literal

from localrag_models.errors import N_, Cure, ModelDamaged, ModelMissing, WrongKind
from localrag_models.files import require_regular

Kind = Literal["chat", "embedder", "reranker", "other"]
Scalar = int | float | bool | str
Value = Scalar | tuple[Scalar, ...]

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}

_BLOCKS = {
    # ggml type: weights in a block, bytes of a block
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18),
    21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8),
    28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip

_ENCODERS = frozenset(
    {
        "bert", "eurobert", "gemma-embedding", "jina-bert-v2", "jina-bert-v3", "modern-bert",
        "neo-bert", "nomic-bert", "nomic-bert-moe", "t5encoder",
    }
)  # fmt: skip
_POOLING_NONE, _POOLING_RANK = 0, 4

_MAX_STRING = 16 * 2**20
_MAX_DIMENSIONS = 4
# The most values of lists, entries and tensors in a header: several times the largest vocabularies.
_MAX_VALUES = 2**23


@dataclass(frozen=True, slots=True)
class Tensor:
    """One row of the tensor table.

    Attributes:
        shape: number of elements, fastest running dimension first.
        type: number of its ggml type.
        offset: of its first byte, from the start of the tensor data.
    """

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int

    @property
    def size(self) -> int:
        """Size in bytes; 0 for an unknown type."""
        elements = 1
        for length in self.shape:
            elements *= length
        weights, size = _BLOCKS.get(self.type, (1, 0))
        return elements // weights * size


@dataclass(frozen=True)
class Header:
    """The header of a GGUF file."""

    path: Path
    metadata: Mapping[str, Value]
    tensors: tuple[Tensor, ...]
    size: int

    @property
    def architecture(self) -> str:
        """``qwen3``, ``llama``, ``bert`` …; empty if unknown."""
        return str(self.metadata.get("general.architecture", ""))

    @property
    def name(self) -> str:
        """The name given by its maker, else the name of the file."""
        return str(self.metadata.get("general.name") or self.path.stem)

    def number(self, key: str, default: int = 0) -> int:
        """An integer of this architecture: ``number("block_count")``."""
        value = self.metadata.get(f"{self.architecture}.{key}", default)
        return value if isinstance(value, int) else default

    @property
    def context(self) -> int:
        """Tokens of context it was trained with; 0 if unknown."""
        return self.number("context_length")

    @property
    def chat_template(self) -> str:
        """The Jinja template of its conversations; empty if it has none."""
        return str(self.metadata.get("tokenizer.chat_template", ""))

    @cached_property
    def kind(self) -> Kind:
        """What the model is for."""
        pooling = self.number("pooling_type", -1)
        if not self.tensors or self.metadata.get("general.type", "model") != "model":
            return "other"
        if pooling == _POOLING_RANK:
            return "reranker"
        if self.architecture in _ENCODERS or pooling > _POOLING_NONE:
            return "embedder"
        if not self.architecture or self.architecture in ("clip", "t5"):
            return "other"
        return "chat"


def read_header(path: Path) -> Header:
    """Read and check the header of a GGUF file; no weights are read.

    Raises:
        ModelMissing: there is no such file, or it cannot be read.
        WrongKind: a file of another kind.
        ModelDamaged: the file is cut short, or its header contradicts itself.
    """
    try:
        require_regular(path, N_("Name a .gguf file."))
        with path.open("rb") as file:
            return _Reader(path, file).header()
    except FileNotFoundError:
        raise ModelMissing(
            N_("There is no model file {path}."), Cure.SEE_INSTALLED, path=path
        ) from None
    except OSError as error:
        raise ModelMissing(N_("{path} cannot be read ({why})."), path=path, why=error) from error


class _Reader:
    """Reads a header from its first byte to its last."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._size = path.stat().st_size
        self._values = 0

    def header(self) -> Header:
        if self._size == 0:
            raise self._damaged(N_("The model file {path} is empty."))
        if self._file.read(4) != _MAGIC:
            raise WrongKind(
                N_("{path} is not a GGUF file."),
                N_("Name a file that ends in .gguf."),
                path=self._path,
            )
        version = self._number("I")
        if version not in (2, 3):
            raise WrongKind(
                N_("{path} has version {version} of the GGUF format; 2 and 3 are known."),
                N_("Get a newer conversion of the model."),
                path=self._path,
                version=version,
            )
        n_tensors, n_entries = self._number("Q"), self._number("Q")
        metadata = {self._string(): self._value(self._number("I")) for _ in self._each(n_entries)}
        tensors = tuple(self._tensor() for _ in self._each(n_tensors))
        header = Header(self._path, metadata, tensors, self._size)
        self._check_extents(header)
        return header

    def _check_extents(self, header: Header) -> None:
        alignment = header.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise self._damaged(
                N_("The model file {path} has the alignment {found}."), found=alignment
            )
        start = -(-self._file.tell() // alignment) * alignment
        end = max((start + tensor.offset + tensor.size for tensor in header.tensors), default=0)
        if end > self._size:
            raise self._damaged(
                N_(
                    "The model file {path} is cut short: {there:,} of at least {whole:,} bytes are "
                    "there."
                ),
                there=self._size,
                whole=end,
            )

    def _tensor(self) -> Tensor:
        name, dimensions = self._string(), self._number("I")
        if dimensions > _MAX_DIMENSIONS:
            raise self._damaged(
                N_("The model file {path} says that a tensor has {found} dimensions."),
                found=dimensions,
            )
        shape = tuple(self._number("Q") for _ in range(dimensions))
        return Tensor(name, shape, self._number("I"), self._number("Q"))

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array()
        return self._scalars(kind, 1)[0]

    def _array(self) -> Value:
        kind, count = self._number("I"), self._number("Q")
        if kind != _STRING:
            return self._scalars(kind, count)
        return tuple(self._string() for _ in self._each(count))

    def _scalars(self, kind: int, count: int) -> tuple[Scalar, ...]:
        if kind not in _SCALARS:
            raise self._damaged(
                N_("The model file {path} holds a metadata entry of the unknown type {found}."),
                found=kind,
            )
        width = struct.calcsize(f"<{_SCALARS[kind]}")
        if count > self._size // width:
            raise self._damaged(
                N_("The model file {path} says that it holds a list of {found:,} numbers."),
                found=count,
            )
        self._each(count)
        return struct.unpack(f"<{count}{_SCALARS[kind]}", self._take(count * width))

    def _each(self, count: int) -> range:
        """A range over so many values, unless no real header has as many."""
        self._values += count
        if self._values > _MAX_VALUES:
            raise self._damaged(
                N_("The model file {path} says that its header holds {found:,} values."),
                found=self._values,
            )
        return range(count)

    def _number(self, code: Literal["I", "Q"]) -> int:
        number: int = struct.unpack("<" + code, self._take(4 if code == "I" else 8))[0]
        return number

    def _string(self) -> str:
        return self._take(self._number("Q")).decode("utf-8", "replace")

    def _take(self, length: int) -> bytes:
        if length > max(_MAX_STRING, self._size // 8):
            raise self._damaged(
                N_("The model file {path} says that it holds a text of {found:,} bytes."),
                found=length,
            )
        taken = self._file.read(length)
        if len(taken) < length:
            raise self._damaged(N_("The model file {path} is cut short in its header."))
        return taken

    def _damaged(self, cause: str, **fields: object) -> ModelDamaged:
        return ModelDamaged(cause, Cure.GET_AGAIN, path=self._path, **fields)
