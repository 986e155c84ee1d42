"""Chat models of full size with random weights: as large as the real ones, and as slow."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tiny_models.chat import TEMPLATE, Vocabulary, byte_vocabulary, read_vocabulary

if TYPE_CHECKING:
    import gguf
    import numpy as np
    from numpy.typing import NDArray

_BLOCKS = 4096
"""How many random blocks a tensor repeats: enough that nothing is found in a cache."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a model of architecture qwen3."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_width: int
    feed_forward: int
    tokens: int
    context: int


QWEN3_8B = Shape(
    layers=36,
    width=4096,
    heads=32,
    kv_heads=8,
    head_width=128,
    feed_forward=12_288,
    tokens=151_936,
    context=40_960,
)
"""Of Qwen/Qwen3-8B, by its config.json; input and output embeddings are not tied."""


def write_q4_k_m(path: Path, shape: Shape, vocabulary: Path | None = None) -> None:
    """Write a model with the tensor types of llama.cpp's Q4_K_M.

    Args:
        path: the file to write; 5 GB for `QWEN3_8B`.
        shape: its sizes.
        vocabulary: a GGUF file with its tokens; None for bytes and made-up tokens.
    """
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(path, "qwen3")
    _add_metadata(writer, shape)
    _add_vocabulary(writer, _vocabulary(vocabulary, shape.tokens))
    tensors = list(_tensors(shape))
    for name, dimensions, kind in tensors:
        writer.add_tensor_info(
            name, dimensions, np.dtype(np.float32), _size(dimensions, kind), kind
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for _, dimensions, kind in tensors:
        pattern = _random_blocks(kind, dimensions[-1])
        writer.write_tensor_data(np.resize(pattern, _size(dimensions, kind)))
    writer.close()


def _add_metadata(writer: "gguf.GGUFWriter", shape: Shape) -> None:
    writer.add_name("random qwen3")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_width)
    writer.add_value_length(shape.head_width)
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_chat_template(TEMPLATE)


def _add_vocabulary(writer: "gguf.GGUFWriter", vocabulary: Vocabulary) -> None:
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types(vocabulary.types)
    writer.add_token_merges(vocabulary.merges)
    writer.add_bos_token_id(vocabulary.bos)
    writer.add_eos_token_id(vocabulary.eos)
    writer.add_pad_token_id(vocabulary.bos)
    writer.add_add_bos_token(False)


def _vocabulary(path: Path | None, tokens: int) -> Vocabulary:
    import gguf

    vocabulary = read_vocabulary(path) if path else byte_vocabulary()
    made_up = [f"法{number}" for number in range(tokens - len(vocabulary.tokens))]
    return replace(
        vocabulary,
        tokens=[*vocabulary.tokens, *made_up],
        types=[*vocabulary.types, *[gguf.TokenType.NORMAL] * len(made_up)],
    )


def _tensors(
    shape: Shape,
) -> Iterator[tuple[str, tuple[int, ...], "gguf.GGMLQuantizationType"]]:
    """Name, dimensions and type of each tensor."""
    from gguf import GGMLQuantizationType

    f32, q4, q6 = (GGMLQuantizationType[name] for name in ("F32", "Q4_K", "Q6_K"))
    width, queries = shape.width, shape.heads * shape.head_width
    keys, wide = shape.kv_heads * shape.head_width, shape.feed_forward
    yield "token_embd.weight", (shape.tokens, width), q4
    yield "output_norm.weight", (width,), f32
    yield "output.weight", (shape.tokens, width), q6
    for layer in range(shape.layers):
        block = f"blk.{layer}."
        finer = q6 if _gets_more_bits(layer, shape.layers) else q4
        yield block + "attn_norm.weight", (width,), f32
        yield block + "attn_q.weight", (queries, width), q4
        yield block + "attn_q_norm.weight", (shape.head_width,), f32
        yield block + "attn_k.weight", (keys, width), q4
        yield block + "attn_k_norm.weight", (shape.head_width,), f32
        yield block + "attn_v.weight", (keys, width), finer
        yield block + "attn_output.weight", (width, queries), q4
        yield block + "ffn_norm.weight", (width,), f32
        yield block + "ffn_gate.weight", (wide, width), q4
        yield block + "ffn_up.weight", (wide, width), q4
        yield block + "ffn_down.weight", (width, wide), finer


def _gets_more_bits(layer: int, layers: int) -> bool:
    """Which layers llama.cpp quantises less: the first and last eighth, and every third between."""
    eighth = layers // 8
    return layer < eighth or layer >= 7 * layers // 8 or (layer - eighth) % 3 == 2


def _size(dimensions: tuple[int, ...], kind: "gguf.GGMLQuantizationType") -> int:
    import math

    from gguf import GGML_QUANT_SIZES

    weights, size = GGML_QUANT_SIZES[kind]
    return math.prod(dimensions) // weights * size


def _random_blocks(kind: "gguf.GGMLQuantizationType", columns: int) -> "NDArray[np.uint8]":
    """Bytes of blocks whose weights have about the deviation ``columns ** -0.5``, ones for F32."""
    import numpy as np

    random = np.random.default_rng(0)
    if kind.name == "F32":
        return np.ones(columns, np.float32).view(np.uint8)
    if kind.name == "Q4_K":
        # A weight is d * scale * quant - dmin * minimum, all but d and dmin at random.
        layout = [("d", "<f2"), ("dmin", "<f2"), ("rest", "u1", 140)]
        scales = {"d": columns**-0.5 / 200, "dmin": columns**-0.5 / 200 * 7.5}
    else:
        # Q6_K: a weight is d * scale * quant.
        layout = [("rest", "u1", 208), ("d", "<f2")]
        scales = {"d": columns**-0.5 / 1400}
    blocks = np.zeros(_BLOCKS, layout)
    blocks["rest"] = random.integers(0, 256, blocks["rest"].shape, np.uint8)
    for name, value in scales.items():
        blocks[name] = value
    return blocks.view(np.uint8)
