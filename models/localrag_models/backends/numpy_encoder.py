"""Encoders of the BERT family in NumPy: a question is embedded without loading PyTorch.

Importing PyTorch takes ten seconds and a gigabyte, too much for one question. The results are the
same, to rounding: BERT (Devlin et al. 2019, section 3) and XLM-RoBERTa (Conneau et al. 2020), with
the layers of the Transformer (Vaswani et al. 2017, section 3). ONNX Runtime and llama.cpp need the
weights in another format, and load the whole vocabulary.
"""

import json
import os
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from localrag_models.embedding import nmt_nfkc
from localrag_models.files import PIECES
from localrag_models.manifest import pooling_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]
    Weights = Mapping[str, NDArray[np.floating]]

WEIGHTS = "model.safetensors"
_FLOATS = {"F32": "<f4", "F16": "<f2"}
_ARCHITECTURES = ("BertModel", "XLMRobertaModel", "RobertaModel")


class NumpyEncoder:
    """An embedder in the sentence-transformers format; see `of` for its limits.

    Attributes:
        dimension: length of a vector.
    """

    def __init__(
        self, folder: Path, config: Mapping[str, Any], weights: "Weights", *, mean: bool
    ) -> None:
        self.dimension = int(config["hidden_size"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        roberta = "roberta" in str(config["model_type"])
        self._first = int(config.get("pad_token_id") or 0) + 1 if roberta else 0
        self._mean = mean
        self._weights = weights
        self._tokenize = _tokenizer(folder)
        self._layers = [
            {name: self._read(f"encoder.layer.{n}.{name}") for name in _LAYER}
            for n in range(int(config["num_hidden_layers"]))
        ]

    @classmethod
    def of(cls, folder: Path, config: Mapping[str, Any]) -> Self | None:
        """Open a model, or return None if it cannot be computed here.

        It must be an encoder of the BERT family with all weights in one file of floats, pooled by
        mean or by first state. `config` are the settings of its transformer; its files are checked.
        """
        pooling = _pooling(folder)
        if not (
            (config.get("architectures") or [""])[0] in _ARCHITECTURES
            and config.get("hidden_act") == "gelu"
            and config.get("position_embedding_type", "absolute") == "absolute"
            and pooling in ("mean", "cls")
            and (folder / WEIGHTS).is_file()
        ):
            return None
        weights = _mapped(folder / WEIGHTS)
        layers = range(int(config["num_hidden_layers"]))
        if not all(f"encoder.layer.{n}.{name}" in weights for n in layers for name in _LAYER):
            return None
        return cls(folder, config, weights, mean=pooling == "mean")

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
        words, positions, (kind, *_) = (
            self._weights[f"embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        rows = words[list(tokens)] + positions[self._first : self._first + len(tokens)] + kind
        scale = self._read("embeddings.LayerNorm.weight")
        return self._normalised(rows, scale, self._read("embeddings.LayerNorm.bias"))

    def _after(self, states: "Array", layer: Mapping[str, "Array"]) -> "Array":
        """The states after a layer, shape ``(tokens, width)``."""
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

        return self._weights[name].astype(np.float32, copy=False)


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


def _mapped(path: Path) -> "Weights":
    """The tensors with single or half floats of a safetensors file, by name.

    They are views of the mapped file: its own library would copy them and double the memory.
    """
    import numpy as np

    data = np.memmap(path, np.uint8, "r")
    begin = 8 + int.from_bytes(data[:8].tobytes(), "little")
    tensors = {}
    for name, about in json.loads(data[8:begin].tobytes()).items():
        if about.get("dtype") in _FLOATS:
            start, end = (begin + offset for offset in about["data_offsets"])
            tensors[name] = data[start:end].view(_FLOATS[about["dtype"]]).reshape(about["shape"])
    return tensors


def _pooling(folder: Path) -> str:
    """How the states of the tokens become the vector of a text; "" for other parts."""
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    kinds = [str(module.get("type")).rpartition(".")[2] for module in modules]
    if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
        return ""
    return pooling_in(folder) if modules[1].get("path") == "1_Pooling" else ""


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
    """A function from a text to its tokens, those at begin and end included."""
    path = folder / "tokenizer.json"
    pieces = folder / PIECES
    if not (pieces.is_file() and pieces.stat().st_mtime_ns >= path.stat().st_mtime_ns):
        settings = json.loads(path.read_text(encoding="utf-8"))
        if not _is_unigram(settings):
            return _by_library(path)
        try:
            _write_pieces(settings["model"], pieces)
        except (OSError, sqlite3.Error):
            # A read-only folder costs a second at each start.
            return _by_library(path)
    return _Unigram(pieces, partial(_by_library, path))


def _by_library(path: Path) -> Callable[[str], list[int]]:
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # Text never acts as a control token.
    tokenizer.encode_special_tokens = True
    normalises = type(tokenizer.model).__name__ == "Unigram"
    return lambda text: list(tokenizer.encode(nmt_nfkc(text) if normalises else text).ids)


class _Unigram:
    """Cuts a text into its most likely pieces (Kudo 2018, section 3.2).

    Libraries read all 250,000 pieces of a multilingual vocabulary to cut a question of twenty: half
    a second and at least 50 MB. Here pieces are looked up one by one in the table `pieces`;
    `library` takes over after many texts.
    """

    def __init__(self, pieces: Path, library: Callable[[], Callable[[str], list[int]]]) -> None:
        self._table = sqlite3.connect(f"{pieces.as_uri()}?immutable=1", uri=True)
        (told,) = self._table.execute("SELECT json FROM about").fetchone()
        about = json.loads(told)
        self._begin, self._end, self._unknown = about["begin"], about["end"], about["unknown"]
        self._longest, self._worst = about["longest"], about["worst"]
        self._load = library
        self._characters = 0

    def __call__(self, text: str) -> list[int]:
        self._characters += len(text)
        if self._characters > _BY_TABLE:
            return self._library(text)
        words = nmt_nfkc(text).split()
        return [self._begin, *(one for word in words for one in self._cut(f"▁{word}")), self._end]

    @cached_property
    def _library(self) -> Callable[[str], list[int]]:
        return self._load()

    def _cut(self, word: str) -> list[int]:
        """The tokens of a word: by dynamic programming (Viterbi), unknown characters joined."""
        best: list[tuple[float, int, int]] = [(0.0, 0, 0)]
        for end in range(1, len(word) + 1):
            ways = [(best[end - 1][0] + self._worst, end - 1, self._unknown)]
            for start in range(max(0, end - self._longest), end):
                if found := self._piece(word[start:end]):
                    number, score = found
                    ways.append((best[start][0] + score, start, number))
            best.append(max(ways, key=lambda way: way[0]))
        tokens: list[int] = []
        at = len(word)
        while at:
            _, at, token = best[at]
            if not (token == self._unknown and tokens[-1:] == [token]):
                tokens.append(token)
        return tokens[::-1]

    def _piece(self, text: str) -> tuple[int, float] | None:
        found: tuple[int, float] | None = self._table.execute(
            "SELECT number, score FROM pieces WHERE piece = ?", (text,)
        ).fetchone()
        return found


# Characters that are cut before loading the library is worth a second.
_BY_TABLE = 20_000
# SentencePiece subtracts this from the least score for an unknown character.
_UNKNOWN_PENALTY = 10.0


def _is_unigram(settings: Mapping[str, Any]) -> bool:
    """Whether `_Unigram` can read the vocabulary in a ``tokenizer.json``."""
    model, frame = settings["model"], settings.get("post_processor") or {}
    parts = (part for part in frame.get("single", ()) if "SpecialToken" in part)
    around = [part["SpecialToken"]["id"] for part in parts]
    return (
        model.get("type") == "Unigram"
        and not model.get("byte_fallback")
        and around == ["<s>", "</s>"]
        and "Metaspace" in json.dumps(settings.get("pre_tokenizer"))
    )


def _write_pieces(model: Mapping[str, Any], path: Path) -> None:
    """Write the pieces of a vocabulary into a table."""
    numbers = {piece: number for number, (piece, _) in enumerate(model["vocab"])}
    about = {
        "begin": numbers["<s>"],
        "end": numbers["</s>"],
        "unknown": model["unk_id"],
        "longest": max(map(len, numbers)),
        "worst": min(score for _, score in model["vocab"]) - _UNKNOWN_PENALTY,
    }
    rows = (
        (piece, number, score)
        for number, (piece, score) in enumerate(model["vocab"])
        if number != model["unk_id"] and not _CONTROL.fullmatch(piece)
    )
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with closing(sqlite3.connect(unfinished)) as table:
            table.execute("CREATE TABLE about (json TEXT)")
            table.execute("INSERT INTO about VALUES (?)", (json.dumps(about),))
            table.execute(
                "CREATE TABLE pieces (piece TEXT PRIMARY KEY, number INTEGER, score REAL)"
                " WITHOUT ROWID"
            )
            table.executemany("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?)", sorted(rows))
            table.commit()
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


_CONTROL = re.compile(r"</?s>|<pad>|<mask>")
