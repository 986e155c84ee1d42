"""Encoders of the BERT family computed by NumPy: a question is embedded without loading PyTorch.

Importing PyTorch and its company takes ten seconds and a gigabyte, which pays for a corpus and
not for one question. What is computed is the same, to rounding: BERT (Devlin et al. 2019,
section 3) and XLM-RoBERTa (Conneau et al. 2020), whose layers are those of the Transformer
(Vaswani et al. 2017, section 3). ONNX Runtime and llama.cpp would need the weights in another
format, and load the whole vocabulary of a multilingual model with them.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localrag_models.files import PIECES
from localrag_models.windows import nmt_nfkc

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

_ARCHITECTURES = ("BertModel", "XLMRobertaModel", "RobertaModel")


class NumpyEncoder:
    """An embedder in the sentence-transformers format; see `covers` for which.

    Args:
        folder: the model, whose files have been checked.
        config: settings of its transformer.

    Attributes:
        dimension: length of a vector.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        from safetensors import safe_open

        self.dimension = int(config["hidden_size"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        roberta = "roberta" in str(config["model_type"])
        self._first = int(config.get("pad_token_id") or 0) + 1 if roberta else 0
        self._mean = _pooling(folder) == "mean"
        self._weights: Any = safe_open(folder / "model.safetensors", "numpy")
        self._tokenize = _tokenizer(folder)
        self._layers = [
            {name: self._read(f"encoder.layer.{n}.{name}") for name in _LAYER}
            for n in range(int(config["num_hidden_layers"]))
        ]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included."""
        return [len(self._tokenize(text)) for text in texts]

    def encode(self, texts: Sequence[str]) -> "Array":
        """One vector a text, shape ``(n, dimension)``."""
        import numpy as np

        return np.stack([self._vector(self._tokenize(text)) for text in texts])

    def _vector(self, tokens: Sequence[int]) -> "Array":
        """The vector of a sequence: the mean of its last states, or the first of them."""
        states = self._embedded(tokens)
        for layer in self._layers:
            states = self._after(states, layer)
        vector: Array = states.mean(axis=0) if self._mean else states[0]
        return vector

    def _embedded(self, tokens: Sequence[int]) -> "Array":
        import numpy as np

        words = self._weights.get_slice("embeddings.word_embeddings.weight")
        rows = np.concatenate([words[token : token + 1] for token in tokens], dtype=np.float32)
        positions = self._weights.get_slice("embeddings.position_embeddings.weight")
        rows += positions[self._first : self._first + len(tokens)]
        rows += self._weights.get_slice("embeddings.token_type_embeddings.weight")[:1]
        scale = self._read("embeddings.LayerNorm.weight")
        return self._normalised(rows, scale, self._read("embeddings.LayerNorm.bias"))

    def _after(self, states: "Array", layer: Mapping[str, "Array"]) -> "Array":
        """The states behind a layer, shape ``(tokens, width)`` like those before it."""
        import numpy as np

        def linear(name: str, inputs: "Array") -> "Array":
            result: Array = inputs @ layer[f"{name}.weight"].T + layer[f"{name}.bias"]
            return result

        def added(name: str, states: "Array", outputs: "Array") -> "Array":
            scale, shift = layer[f"{name}.LayerNorm.weight"], layer[f"{name}.LayerNorm.bias"]
            return self._normalised(states + outputs, scale, shift)

        def by_head(name: str) -> "Array":
            flat = linear(f"attention.self.{name}", states)
            return flat.reshape(len(states), self._heads, -1).swapaxes(0, 1)

        query, key, value = map(by_head, ("query", "key", "value"))
        scores = query @ key.swapaxes(1, 2) / np.float32(np.sqrt(query.shape[-1]))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        attended = (weights @ value).swapaxes(0, 1).reshape(states.shape)
        states = added("attention.output", states, linear("attention.output.dense", attended))
        hidden = _gelu(linear("intermediate.dense", states))
        return added("output", states, linear("output.dense", hidden))

    def _normalised(self, rows: "Array", scale: "Array", shift: "Array") -> "Array":
        centred = rows - rows.mean(axis=-1, keepdims=True)
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        result: Array = centred / (variance + self._epsilon) ** 0.5 * scale + shift
        return result

    def _read(self, name: str) -> "Array":
        import numpy as np

        weights: Array = self._weights.get_tensor(name).astype(np.float32, copy=False)
        return weights


_LAYER = tuple(
    f"{name}.{part}"
    for name in (
        *(f"attention.self.{name}" for name in ("query", "key", "value")),
        "attention.output.dense",
        "attention.output.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    )
    for part in ("weight", "bias")
)


def covers(folder: Path, config: Mapping[str, Any]) -> bool:
    """Whether a model is one of those computed here, with all weights in one file of floats."""
    from safetensors import safe_open

    if not (
        (config.get("architectures") or [""])[0] in _ARCHITECTURES
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and _pooling(folder) in ("mean", "cls")
        and (folder / "model.safetensors").is_file()
    ):
        return False
    opened: Any = safe_open(folder / "model.safetensors", "numpy")
    with opened as weights:
        named = set(weights.keys())
        wanted = {
            f"encoder.layer.{n}.{name}"
            for n in range(int(config["num_hidden_layers"]))
            for name in _LAYER
        }
        return wanted <= named and all(
            weights.get_slice(name).get_dtype() in ("F32", "F16") for name in wanted
        )


def _pooling(folder: Path) -> str:
    """How the states of the tokens make up the vector of a text; "" where parts follow."""
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    kinds = [str(module.get("type")).rpartition(".")[2] for module in modules]
    if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
        return ""
    path = folder / str(modules[1].get("path", "")) / "config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    if "pooling_mode" in settings:
        return str(settings["pooling_mode"])
    chosen = [name for name, value in settings.items() if value is True and "_mode_" in name]
    return {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}.get(
        chosen[0] if len(chosen) == 1 else "", ""
    )


def _gelu(values: "Array") -> "Array":
    """Hendrycks and Gimpel 2016; erf by Abramowitz and Stegun, formula 7.1.26, to 1.5e-7."""
    import numpy as np

    size = np.abs(values) * np.float32(2**-0.5)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    erf = np.copysign(1 - series * np.exp(-size * size), values)
    result: Array = values * (1 + erf) / 2
    return result


def _tokenizer(folder: Path) -> Callable[[str], list[int]]:
    """What turns a text into tokens, those included that begin and end a sequence."""
    path, pieces = folder / "tokenizer.json", folder / PIECES
    if pieces.is_file() and pieces.stat().st_mtime_ns >= path.stat().st_mtime_ns:
        return _sentence_pieces(pieces.read_bytes())
    model = _as_sentence_pieces(json.loads(path.read_text(encoding="utf-8")))
    if model:
        # A folder that cannot be written costs a second with each start.
        with (
            suppress(OSError),
            tempfile.NamedTemporaryFile(dir=folder, prefix=PIECES, delete=False) as file,
        ):
            file.write(model)
            file.close()
            Path(file.name).replace(pieces)
        return _sentence_pieces(model)
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # Nothing in a text acts as a control token.
    tokenizer.encode_special_tokens = True
    return lambda text: list(tokenizer.encode(text).ids)


def _sentence_pieces(model: bytes) -> Callable[[str], list[int]]:
    from sentencepiece import SentencePieceProcessor

    pieces: Any = SentencePieceProcessor(model_proto=model)
    begin, end = pieces.bos_id(), pieces.eos_id()
    return lambda text: [begin, *pieces.encode(nmt_nfkc(text)), end]


def _as_sentence_pieces(settings: Mapping[str, Any]) -> bytes:
    """A unigram vocabulary (Kudo 2018) as SentencePiece stores it, which loads in half the time.

    Args:
        settings: those in ``tokenizer.json``.

    Returns:
        A serialised ``ModelProto``; empty for other vocabularies.
    """
    model, frame = settings["model"], settings.get("post_processor") or {}
    around = [
        part["SpecialToken"]["id"] for part in frame.get("single", ()) if "SpecialToken" in part
    ]
    if model.get("type") != "Unigram" or model.get("byte_fallback") or around != ["<s>", "</s>"]:
        return b""
    from sentencepiece import sentencepiece_model_pb2

    protocol: Any = sentencepiece_model_pb2
    proto = protocol.ModelProto()
    kinds = proto.SentencePiece
    control = {one["content"] for one in settings["added_tokens"] if one["special"]}
    for number, (piece, score) in enumerate(model["vocab"]):
        kind = kinds.CONTROL if piece in control else kinds.NORMAL
        kind = kinds.UNKNOWN if number == model["unk_id"] else kind
        proto.pieces.add(piece=piece, score=score, type=kind)
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    trainer.model_type = trainer.UNIGRAM
    numbers = {piece: number for number, (piece, _) in enumerate(model["vocab"])}
    trainer.unk_id, trainer.pad_id = model["unk_id"], -1
    trainer.bos_id, trainer.eos_id = numbers["<s>"], numbers["</s>"]
    # `nmt_nfkc` comes before; what is left is one blank before each word, as part of it.
    normalizer.add_dummy_prefix = normalizer.remove_extra_whitespaces = True
    normalizer.escape_whitespaces = True
    serialised: bytes = proto.SerializeToString()
    return serialised
