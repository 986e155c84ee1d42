"""Encoders built as multilingual E5 (XLM-R) is, the same random weights in both formats."""

import base64
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from transformers import XLMRobertaModel, XLMRobertaTokenizer

_TEXTS = (
    "個人情報取扱事業者は、利用目的をできる限り特定しなければならない。",
    "第三条 この法律において「個人情報」とは、生存する個人に関する情報をいう。",
    "渡し守の資格は、別表に掲げる会社又は株式会社の使用人に限る。",
    "あいうえおかきくけこがぎぐげごアイウエオカキクケコガギグゲゴパピプペポ（）！？、。",
    "The controller shall process personal data lawfully. Who may ferry a fox across?",
    "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 <>/[]|.,:;!?",
    "query: 個人情報の定義は何ですか",
    "passage: 個人情報とは",
)
_POSITIONS = 512

NASTY_TEXTS = (
    "",
    " \t\n\u3000",
    "ＡＢＣ㍿　ｶﾞﾊﾟ か\u3099き\u0301 ﬁ ﷺ Ⅳ①㌔℡…‥",
    "第一項\n\n第二項 \t  第三項\r\n",
    "</s> <mask> ＜/s＞ <s> <pad><unk>",
    "～〜\u200b\ufeff\x00x\x07\u2028\u2581a\u2581",
    "渡\U000e0100し守 \ud800 👨\u200d👩\u200d👧 각",
    "a\u0307\u0323" * 200,
    "x" * 3_000,
    "。" * 2_000,
    " " * 10_000,
)
"""What makes tokenizers disagree, and programs fall over."""


@dataclass(frozen=True, slots=True)
class TinyEncoder:
    """Where the models lie.

    Attributes:
        sentence_transformers: folder of an embedder: mean pooling, normalised, prompts of E5.
        cross_encoder: folder of a reranker with one label.
    """

    sentence_transformers: Path
    gguf: Path
    cross_encoder: Path
    reranker_gguf: Path


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of an encoder; 0 tokens means those of its texts."""

    tokens: int = 0
    layers: int = 2
    width: int = 32
    heads: int = 4
    feed_forward: int = 64


E5_SMALL = Shape(tokens=250_037, layers=12, width=384, heads=12, feed_forward=1536)
"""Of intfloat/multilingual-e5-small."""


def write_encoder(folder: Path) -> TinyEncoder:
    """Write an embedder and a reranker into `folder`, each in both formats."""
    import torch
    from transformers import XLMRobertaForSequenceClassification

    tiny = TinyEncoder(
        folder / "tiny-e5", folder / "tiny-e5.gguf", folder / "tiny-rank", folder / "tiny-rank.gguf"
    )
    write_embedder(tiny.sentence_transformers)
    write_gguf(tiny.sentence_transformers, tiny.gguf, pooling="MEAN")
    tokenizer = _tokenizer(0)
    torch.manual_seed(0)
    config = _config(tokenizer, Shape(), num_labels=1)
    XLMRobertaForSequenceClassification(config).save_pretrained(tiny.cross_encoder)
    tokenizer.save_pretrained(tiny.cross_encoder)
    write_gguf(tiny.cross_encoder, tiny.reranker_gguf, pooling="RANK")
    return tiny


def write_embedder(folder: Path, shape: Shape = Shape()) -> None:
    """Write an embedder with random weights in the sentence-transformers format."""
    import torch
    from transformers import XLMRobertaModel

    tokenizer = _tokenizer(shape.tokens)
    torch.manual_seed(0)
    save_embedder(
        folder, XLMRobertaModel(_config(tokenizer, shape), add_pooling_layer=False), tokenizer
    )


def save_embedder(
    folder: Path, encoder: "XLMRobertaModel", tokenizer: "XLMRobertaTokenizer"
) -> None:
    """Write an embedder in the sentence-transformers format: mean pooling, the prompts of E5."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    encoder.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    transformer = Transformer(str(folder), max_seq_length=_POSITIONS)
    width = encoder.config.hidden_size
    SentenceTransformer(
        modules=[transformer, Pooling(width, pooling_mode="mean"), Normalize()],
        prompts={"query": "query: ", "document": "passage: "},
        device="cpu",
    ).save(str(folder))


def write_gguf(
    folder: Path,
    path: Path,
    *,
    pooling: str,
    charsmap: bool = True,
    weights: Literal["F32", "F16", "Q8_0"] = "F32",
    blocks: "Mapping[str, NDArray[np.uint8]]" = MappingProxyType({}),
) -> None:
    """Write the XLM-R model in `folder` as GGUF.

    Args:
        folder: what `save_pretrained` wrote.
        path: the file to write.
        pooling: name of a `gguf.PoolingType`; RANK for a reranker.
        charsmap: whether the file says how the tokenizer normalises text; old files do not.
        weights: how the matrices of the layers and the vectors of the tokens are stored.
        blocks: matrices to store instead, by their name in the folder: rows of Q4_0 as GGML has
            them, shape (rows, bytes).
    """
    import gguf
    from safetensors.numpy import load_file
    from transformers import XLMRobertaConfig, XLMRobertaTokenizer

    config: Any = XLMRobertaConfig.from_pretrained(folder)
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name(path.stem)
    writer.add_context_length(_POSITIONS)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType[pooling])
    writer.add_token_type_count(config.type_vocab_size)
    if pooling == "RANK":
        writer.add_classifier_output_labels(list(config.id2label.values()))
    _add_vocabulary(writer, XLMRobertaTokenizer.from_pretrained(folder), charsmap=charsmap)
    for name, tensor in load_file(folder / "model.safetensors").items():
        mapped = _gguf_name(name.removeprefix("roberta."))
        if mapped and name in blocks:
            writer.add_tensor(mapped, blocks[name], raw_dtype=gguf.GGMLQuantizationType.Q4_0)
        elif mapped:
            # XLM-R numbers positions from pad_token_id + 1 on, llama.cpp from 0.
            skipped = config.pad_token_id + 1 if mapped == "position_embd.weight" else 0
            kind = gguf.GGMLQuantizationType[weights if _is_large(mapped) else "F32"]
            stored = gguf.quants.quantize(tensor[skipped:], kind)
            writer.add_tensor(mapped, stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tokenizer(tokens: int) -> "XLMRobertaTokenizer":
    """A tokenizer built as XLM-R's is: its normalisation, special tokens and their numbers.

    Made-up tokens that no text holds bring it to at least so many `tokens`.
    """
    trained = _trained()
    pieces = [(piece.piece, piece.score) for piece in trained.pieces[3:]]
    special = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")]
    missing = tokens - len(special) - len(pieces) - 1
    pieces += [(f"\u2581\ue000{number}", -20.0) for number in range(missing)]
    return xlmr_tokenizer([*special, *pieces, ("<mask>", 0.0)])


def xlmr_tokenizer(pieces: Sequence[tuple[str, float]]) -> "XLMRobertaTokenizer":
    """The tokenizer of XLM-R with the vocabulary `pieces`: each with its score, in its order."""
    from transformers import XLMRobertaTokenizer

    return XLMRobertaTokenizer(
        vocab=list(pieces),
        # What every vocabulary with the rule ``nmt_nfkc`` carries, XLM-R's among them.
        _spm_precompiled_charsmap=_trained().normalizer_spec.precompiled_charsmap,
        model_max_length=_POSITIONS,
    )


@cache
def _trained() -> Any:
    """A SentencePiece model of a few sentences, with the normalisation of XLM-R."""
    from sentencepiece import SentencePieceTrainer
    from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(_TEXTS * 20),
        model_writer=written,
        model_type="unigram",
        vocab_size=500,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        num_threads=1,
        minloglevel=2,
    )
    return ModelProto.FromString(written.getvalue())


def _config(tokenizer: "XLMRobertaTokenizer", shape: Shape, **more: Any) -> Any:
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.feed_forward,
        max_position_embeddings=_POSITIONS + 2,
        type_vocab_size=1,
        # Five times the usual, so that different texts get clearly different vectors.
        initializer_range=0.1,
        **more,
    )


def _add_vocabulary(writer: Any, tokenizer: "XLMRobertaTokenizer", *, charsmap: bool) -> None:
    import gguf

    written = json.loads(tokenizer.backend_tokenizer.to_str())
    pieces = written["model"]["vocab"]
    kinds = dict.fromkeys(("<s>", "<pad>", "</s>", "<mask>"), gguf.TokenType.CONTROL)
    kinds["<unk>"] = gguf.TokenType.UNKNOWN
    writer.add_tokenizer_model("t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece for piece, _ in pieces])
    writer.add_token_scores([float(score) for _, score in pieces])
    writer.add_token_types([kinds.get(piece, gguf.TokenType.NORMAL) for piece, _ in pieces])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_sep_token_id(tokenizer.sep_token_id)
    writer.add_unk_token_id(tokenizer.unk_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_mask_token_id(tokenizer.mask_token_id)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    if charsmap:
        writer.add_precompiled_charsmap(
            base64.b64decode(written["normalizer"]["precompiled_charsmap"])
        )


_GGUF_NAMES = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
    "classifier.dense": "cls",
    "classifier.out_proj": "cls.output",
}


def _gguf_name(name: str) -> str | None:
    """The name llama.cpp has for a tensor of transformers; None for one it does not know."""
    module, _, kind = name.rpartition(".")
    layer = ""
    if module.startswith("encoder.layer."):
        number, _, module = module.removeprefix("encoder.layer.").partition(".")
        layer = f"blk.{number}."
    known = _GGUF_NAMES.get(module)
    return f"{layer}{known}.{kind}" if known else None


def _is_large(name: str) -> bool:
    """Whether quantisation shrinks a tensor."""
    matrix = name.startswith("blk.") and name.endswith(".weight") and "norm" not in name
    return matrix or name == "token_embd.weight"
