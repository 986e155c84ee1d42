"""Chat models with random weights, written as GGUF in a fraction of a second."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from localrag_models.gguf import read_header

if TYPE_CHECKING:
    import gguf

Architecture = Literal["qwen3", "llama"]

TEMPLATE = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}"
)
"""The format of Qwen3 without its tools."""

RERANKING = (
    "<|im_start|>system\nyes or no?<|im_end|>\n<|im_start|>user\n<Query>: {query}\n"
    "<Document>: {document}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
)
"""The form of the template of Qwen3-Reranker, in short."""

_WORDS = (
    "the", " the", "法", "条", "第", "の", "は", "に", "を", "が", "。", "、", "です", "ます",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a transformer."""

    layers: int = 2
    width: int = 64
    heads: int = 4
    kv_heads: int = 2
    head_width: int = 16
    feed_forward: int = 128


@dataclass(frozen=True, slots=True)
class Markers:
    """The control tokens of a vocabulary.

    Attributes:
        control: control tokens.
        bos: the one before a text.
        eos: the one at the end of a turn.
        words: markers within a text.
    """

    control: tuple[str, ...]
    bos: str
    eos: str
    words: tuple[str, ...] = ("<think>", "</think>")


CHATML = Markers(
    ("<|endoftext|>", "<|im_start|>", "<|im_end|>"), bos="<|endoftext|>", eos="<|im_end|>"
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Tokens, their kinds, the merges of byte-pair encoding, and the two that matter."""

    tokens: list[str]
    types: list[int]
    merges: list[str]
    bos: int
    eos: int


def write_chat_gguf(
    path: Path,
    *,
    architecture: Architecture = "qwen3",
    context: int = 4096,
    seed: int = 0,
    template: str | None = TEMPLATE,
    add_bos: bool = False,
    shape: Shape = Shape(),
    markers: Markers = CHATML,
    pooling: Literal["", "LAST", "RANK"] = "",
) -> None:
    """Write a model with a vocabulary of 256 bytes, a few words and control tokens.

    Args:
        path: the file to write, 450 kB.
        architecture: one of llama.cpp's.
        context: declared length of the training context, in tokens.
        seed: of its weights.
        template: chat template; None for none.
        add_bos: whether its tokenizer puts its first token before a text.
        shape: its sizes.
        markers: its control tokens.
        pooling: ``LAST`` for an embedder with the vector of the last token, ``RANK`` for a reranker
            with the labels yes and no and a template.
    """
    vocabulary = byte_vocabulary(markers)
    _write(path, architecture, vocabulary, context, seed, template, add_bos, shape, pooling)


def write_chat_gguf_with_vocabulary(path: Path, vocabulary: Path, template: Path) -> None:
    """Write a qwen3 model of one narrow layer with a real vocabulary (40 MB for Qwen2's).

    Args:
        path: the file to write.
        vocabulary: a GGUF file without tensors, from the sources of llama.cpp.
        template: a Jinja chat template.
    """
    shape = Shape(layers=1, width=64, heads=2, kv_heads=1, head_width=32, feed_forward=64)
    _write(
        path, "qwen3", read_vocabulary(vocabulary), 8192, 0, template.read_text("utf-8"), False,
        shape,
    )  # fmt: skip


def byte_vocabulary(markers: Markers = CHATML) -> Vocabulary:
    """A byte-level BPE of a few hundred tokens."""
    import gguf

    alphabet = _byte_alphabet()
    tokens = [alphabet[byte] for byte in range(256)]
    merges: list[str] = []
    for word in _WORDS:
        pieces = [alphabet[byte] for byte in word.encode()]
        while len(pieces) > 1:
            merge = f"{pieces[0]} {pieces[1]}"
            if merge not in merges:
                merges.append(merge)
                tokens.append(pieces[0] + pieces[1])
            pieces[:2] = [pieces[0] + pieces[1]]
    normal = len(tokens)
    return Vocabulary(
        tokens=[*tokens, *markers.control, *markers.words],
        types=[
            *[gguf.TokenType.NORMAL] * normal,
            *[gguf.TokenType.CONTROL] * len(markers.control),
            *[gguf.TokenType.USER_DEFINED] * len(markers.words),
        ],
        merges=merges,
        bos=normal + markers.control.index(markers.bos),
        eos=normal + markers.control.index(markers.eos),
    )


def _byte_alphabet() -> dict[int, str]:
    """How byte-level encodings write bytes as characters (Radford et al. 2019, section 2.2)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {
        **{byte: chr(byte) for byte in printable},
        **{byte: chr(256 + place) for place, byte in enumerate(others)},
    }


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary of a GGUF file."""
    # gguf.GGUFReader takes eight seconds for the 300,000 strings of a real vocabulary.
    metadata: Mapping[str, Any] = read_header(path).metadata
    tokens = list(metadata["tokenizer.ggml.tokens"])
    return Vocabulary(
        tokens=tokens,
        types=list(metadata["tokenizer.ggml.token_type"]),
        merges=list(metadata["tokenizer.ggml.merges"]),
        bos=tokens.index("<|endoftext|>"),
        eos=tokens.index("<|im_end|>"),
    )


def _write(
    path: Path,
    architecture: Architecture,
    vocabulary: Vocabulary,
    context: int,
    seed: int,
    template: str | None,
    add_bos: bool,
    shape: Shape,
    pooling: Literal["", "LAST", "RANK"] = "",
) -> None:
    import gguf
    import numpy as np

    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(f"tiny {architecture}")
    writer.add_context_length(context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_key_length(shape.head_width)
    writer.add_value_length(shape.head_width)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(vocabulary.tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2" if architecture == "qwen3" else "llama-bpe")
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types(vocabulary.types)
    writer.add_token_merges(vocabulary.merges)
    writer.add_bos_token_id(vocabulary.bos)
    writer.add_eos_token_id(vocabulary.eos)
    writer.add_pad_token_id(vocabulary.bos)
    writer.add_add_bos_token(add_bos)
    if template is not None:
        writer.add_chat_template(template)
    if pooling:
        writer.add_pooling_type(gguf.PoolingType[pooling])
    _add_tensors(writer, architecture, len(vocabulary.tokens), seed, shape)
    if pooling == "RANK":
        writer.add_classifier_output_labels(["yes", "no"])
        writer.add_string("tokenizer.chat_template.rerank", RERANKING)
        head = np.random.default_rng(seed + 1).standard_normal((2, shape.width), dtype=np.float32)
        writer.add_tensor("cls.output.weight", head * np.float32(0.1))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tensors(
    writer: "gguf.GGUFWriter", architecture: Architecture, tokens: int, seed: int, shape: Shape
) -> None:
    import numpy as np

    random = np.random.default_rng(seed)
    queries, keys = shape.heads * shape.head_width, shape.kv_heads * shape.head_width

    def matrix(name: str, rows: int, columns: int, deviation: float | None = None) -> None:
        weights = random.standard_normal((rows, columns), dtype=np.float32)
        writer.add_tensor(f"{name}.weight", weights * np.float32(deviation or columns**-0.5))

    def ones(name: str, length: int) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(length, np.float32))

    matrix("token_embd", tokens, shape.width, deviation=1.0)
    matrix("output", tokens, shape.width, deviation=0.5)
    ones("output_norm", shape.width)
    for layer in range(shape.layers):
        block = f"blk.{layer}."
        ones(block + "attn_norm", shape.width)
        ones(block + "ffn_norm", shape.width)
        matrix(block + "attn_q", queries, shape.width)
        matrix(block + "attn_k", keys, shape.width)
        matrix(block + "attn_v", keys, shape.width)
        matrix(block + "attn_output", shape.width, queries)
        if architecture == "qwen3":
            ones(block + "attn_q_norm", shape.head_width)
            ones(block + "attn_k_norm", shape.head_width)
        matrix(block + "ffn_gate", shape.feed_forward, shape.width)
        matrix(block + "ffn_up", shape.feed_forward, shape.width)
        matrix(block + "ffn_down", shape.width, shape.feed_forward)


_IN_TRANSFORMERS = {
    "token_embd": "embed_tokens", "output_norm": "norm", "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    **{f"attn_{one}": f"self_attn.{one}_proj" for one in "qkv"},
    **{f"attn_{one}_norm": f"self_attn.{one}_norm" for one in "qk"},
}  # fmt: skip
"""Parts of a layer in GGUF files, and their names in transformers."""


def qwen3_model(path: Path) -> Any:
    """The transformer in a GGUF file of `write_chat_gguf`, as `transformers.Qwen3Model`."""
    import gguf
    import numpy as np
    import torch
    from transformers import Qwen3Config, Qwen3Model

    header = read_header(path)
    # Its arguments are not typed.
    make: Any = Qwen3Config
    config = make(
        vocab_size=header.number("vocab_size"),
        hidden_size=header.number("embedding_length"),
        intermediate_size=header.number("feed_forward_length"),
        num_hidden_layers=header.number("block_count"),
        num_attention_heads=header.number("attention.head_count"),
        num_key_value_heads=header.number("attention.head_count_kv"),
        head_dim=header.number("attention.key_length"),
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        rms_norm_eps=1e-6,
    )
    weights = {}
    for tensor in gguf.GGUFReader(path).tensors:
        *place, part, kind = tensor.name.replace("blk.", "layers.").split(".")
        if part in _IN_TRANSFORMERS:
            name = ".".join((*place, _IN_TRANSFORMERS[part], kind))
            weights[name] = torch.from_numpy(np.array(tensor.data))
    model: Any = Qwen3Model(config)
    model.load_state_dict(weights)
    return model.eval()
