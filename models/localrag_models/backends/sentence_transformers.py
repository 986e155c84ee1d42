"""Embedders and rerankers in the sentence-transformers format, run in this process by PyTorch."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from localrag_models.backends.numpy_encoder import NumpyEncoder
from localrag_models.embedding import (
    E5,
    LONGEST_WINDOW,
    Prefixes,
    WindowedEmbedder,
    WindowedReranker,
    nmt_nfkc,
)
from localrag_models.errors import (
    N_,
    BackendMissing,
    Cure,
    ModelDamaged,
    ModelError,
    ModelMissing,
    OutOfMemory,
    WrongKind,
)
from localrag_models.files import fingerprint
from localrag_models.hardware import Placement, in_process, pytorch_build
from localrag_models.manifest import is_cross_encoder, json_object, prompts_of
from localrag_models.runtimes import ModelSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localrag_models.embedding import Vectors

_PICKLES = frozenset({".bin", ".pt", ".pth", ".pkl", ".ckpt"})
_TRUSTED = "sentence_transformers."
# On a processor more does not fit into the cache and is slower; an accelerator needs more.
_TOKENS_ON_PROCESSOR = 512
_TOKENS_ON_ACCELERATOR = 32_768
# Loading PyTorch takes as long as computing this many by NumPy.
_FEW_TOKENS = 2_048
_NOT_LOADED = N_("The model in {path} cannot be loaded ({why}).")


class SentenceTransformersEmbedder(WindowedEmbedder):
    """An embedder run by PyTorch, or by NumPy for a few texts.

    `device` is ``cpu``, ``auto``, or a name of PyTorch (``cuda:0``); the other arguments are fields
    of `ModelSpec`. `prefixes` None takes the prompts in its settings, else the ones of E5.

    Raises:
        ModelMissing: there is no such folder.
        ModelDamaged: a file is missing, cut short, or could run a program when loaded.
        WrongKind: it holds no embedder.
        BackendMissing: sentence-transformers is not installed.
        OutOfMemory: it does not fit.
        ModelError: there is no such device. PyTorch is loaded by the first call that needs it; that
            call may raise the last four.
    """

    def __init__(
        self,
        folder: Path,
        *,
        id: str = "",  # noqa: A002
        prefixes: Prefixes | None = None,
        device: str = "cpu",
        threads: int = 0,
    ) -> None:
        config = _read_config(folder)
        if is_cross_encoder(config):
            raise WrongKind(N_("{path} holds a reranker, not an embedder."), path=folder)
        _check_modules(folder)
        self._folder, self._device, self._threads = folder, device, threads
        with _failing_as(ModelDamaged, _NOT_LOADED, folder):
            self._few = NumpyEncoder.of(folder, config)
        if prefixes is None:
            said = prompts_of(folder)
            prefixes = E5 if said == Prefixes() else said
        named = id or f"{folder.name}@{fingerprint(_deciding_files(folder), also=repr(prefixes))}"
        dimension = self._few.dimension if self._few else self._many.dimension
        super().__init__(named, dimension, _max_tokens(folder, config), prefixes)

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return (self._few or self._many).counts(texts)

    def _encode(self, windows: Sequence[str], tokens: Sequence[int]) -> "Vectors":
        if self._few and "_many" not in self.__dict__ and sum(tokens) <= _FEW_TOKENS:
            with _running(self._folder):
                return self._few.encode(windows)
        return self._many.encode(windows, tokens)

    @cached_property
    def _many(self) -> "_PyTorch":
        return _PyTorch(self._folder, self._device, self._threads)

    def _release(self) -> None:
        self._few = None
        self.__dict__.pop("_many", None)


class _PyTorch:
    """An embedder loaded by PyTorch.

    Attributes:
        dimension: length of a vector.
    """

    def __init__(self, folder: Path, device: str, threads: int) -> None:
        with _loading(folder, device, threads) as arguments:
            from sentence_transformers import SentenceTransformer

            self._model = SentenceTransformer(str(folder), **arguments)
            _check_complete(folder, self._model[0].auto_model)
            self._tokenizer = _Tokenizer(self._model.tokenizer)
            self.dimension = self._model.get_embedding_dimension() or 0
        # `WindowedEmbedder` adds the prefixes and counts their tokens.
        self._model.default_prompt_name = None
        self._folder = folder

    def counts(self, texts: Sequence[str]) -> list[int]:
        return self._tokenizer.counts(texts, special=True)

    def encode(self, windows: Sequence[str], tokens: Sequence[int]) -> "Vectors":
        """One vector a window, shape ``(n, dimension)``."""
        import numpy as np

        vectors = np.empty((len(windows), self.dimension), np.float32)
        for pack in _packs(tokens, self._model.device.type):
            texts = [self._tokenizer.normal(windows[number]) for number in pack]
            with _running(self._folder):
                vectors[pack] = self._model.encode(
                    texts, batch_size=len(pack), show_progress_bar=False
                )
        return vectors


class CrossEncoderReranker(WindowedReranker):
    """A cross-encoder with one label, run by PyTorch.

    The arguments are as in `SentenceTransformersEmbedder`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        id: str = "",  # noqa: A002
        device: str = "cpu",
        threads: int = 0,
    ) -> None:
        config = _read_config(folder)
        if not is_cross_encoder(config):
            raise WrongKind(N_("{path} holds no reranker."), path=folder)
        with _loading(folder, device, threads) as arguments:
            from sentence_transformers import CrossEncoder

            self._model = CrossEncoder(str(folder), **arguments)
            _check_complete(folder, self._model.model)
            self._tokenizer = _Tokenizer(self._model.tokenizer)
            labels = self._model.config.num_labels
        if labels != 1:
            raise WrongKind(
                N_("{path} gives a pair {labels} labels, not one score."),
                path=folder,
                labels=labels,
            )
        self._folder = folder
        named = id or f"{folder.name}@{fingerprint(_deciding_files(folder))}"
        super().__init__(named, _max_tokens(folder, config), self._tokenizer.special_in_pair)

    def _counts(self, texts: Sequence[str]) -> Sequence[int]:
        return self._tokenizer.counts(texts, special=False)

    def _logits(
        self, query: str, windows: Sequence[str], tokens: Sequence[int]
    ) -> "NDArray[np.float32]":
        import numpy as np
        from torch.nn import Identity

        logits = np.empty(len(windows), np.float32)
        asked = self._tokenizer.normal(query)
        for pack in _packs(tokens, self._model.device.type):
            pairs = [(asked, self._tokenizer.normal(windows[number])) for number in pack]
            with _running(self._folder):
                logits[pack] = self._model.predict(
                    pairs,
                    batch_size=len(pack),
                    show_progress_bar=False,
                    activation_fn=Identity(),
                )
        return logits

    def _release(self) -> None:
        del self._model


class _Tokenizer:
    """The tokenizer of a model; text never acts as a control token."""

    def __init__(self, tokenizer: Any) -> None:
        tokenizer.split_special_tokens = True
        self._tokenizer = tokenizer
        self._normalises = type(tokenizer.backend_tokenizer.model).__name__ == "Unigram"

    def normal(self, text: str) -> str:
        return nmt_nfkc(text) if self._normalises else text

    def counts(self, texts: Sequence[str], *, special: bool) -> list[int]:
        """Tokens of each text; `special` includes those at begin and end."""
        if not texts:
            return []
        encoded = self._tokenizer(
            [self.normal(text) for text in texts],
            add_special_tokens=special,
            return_attention_mask=False,
            verbose=False,
        )
        return [len(tokens) for tokens in encoded["input_ids"]]

    @property
    def special_in_pair(self) -> int:
        return int(self._tokenizer.num_special_tokens_to_add(pair=True))


def _packs(tokens: Sequence[int], device: str) -> Iterator[list[int]]:
    """Numbers of the sequences to evaluate together, longest first.

    A pack is padded to its longest sequence, and its best size depends on the device.
    """
    capacity = _TOKENS_ON_PROCESSOR if device == "cpu" else _TOKENS_ON_ACCELERATOR
    pack: list[int] = []
    longest = 0
    for number in sorted(range(len(tokens)), key=tokens.__getitem__, reverse=True):
        if pack and longest * (len(pack) + 1) > capacity:
            yield pack
            pack = []
        longest = longest if pack else tokens[number]
        pack.append(number)
    if pack:
        yield pack


@contextmanager
def _loading(folder: Path, device: str, threads: int) -> Iterator[dict[str, Any]]:
    """Wrap the loading of the model in `folder`; yield the arguments of its class."""
    try:
        import sentence_transformers  # noqa: F401 - the slowest and the likeliest to be missing
        import torch
        from huggingface_hub import constants
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise BackendMissing(
            N_("This model needs {package}; it does not load here ({why})."),
            Cure.INSTALL_PACKAGE,
            package="sentence-transformers",
            why=error,
        ) from error
    # Either value keeps the tokenizers quiet when this process starts another one.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    if threads:
        torch.set_num_threads(threads)
    logging: Any = transformers_logging
    with ExitStack() as stack:
        # Not in the environment: that would affect `models pull` in this process.
        stack.enter_context(mock.patch.object(constants, "HF_HUB_OFFLINE", True))
        stack.callback(logging.set_verbosity, logging.get_verbosity())
        logging.set_verbosity_error()
        if logging.is_progress_bar_enabled():
            stack.callback(logging.enable_progress_bar)
            logging.disable_progress_bar()
        stack.enter_context(_failing_as(ModelDamaged, _NOT_LOADED, folder))
        yield {
            "device": _device(device, torch),
            "local_files_only": True,
            "trust_remote_code": False,
            # With half precision, vectors would depend on the other texts of a batch.
            "model_kwargs": {"use_safetensors": True, "dtype": torch.float32},
        }


def _running(folder: Path) -> AbstractContextManager[None]:
    return _failing_as(ModelError, N_("The model in {path} does not run ({why})."), folder)


@contextmanager
def _failing_as(kind: type[ModelError], cause: str, folder: Path) -> Iterator[None]:
    """Turn any error of PyTorch and its libraries into a `ModelError`."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        why = str(error).strip().rstrip(".")
        if isinstance(error, MemoryError) or "memory" in why:
            cause = N_("There is no memory left for {path} ({why}).")
            raise OutOfMemory(cause, path=folder, why=why) from error
        raise kind(cause, path=folder, why=why) from error


def _max_tokens(folder: Path, config: Mapping[str, Any]) -> int:
    """The most tokens of a sequence, special tokens included."""
    said = json_object(folder / "tokenizer_config.json").get("model_max_length")
    limits = (LONGEST_WINDOW, said, _positions(config))
    return min(int(limit) for limit in limits if limit)


def _positions(config: Mapping[str, Any]) -> int:
    """Tokens with a position; 0 if the settings do not say."""
    positions = int(config.get("max_position_embeddings") or 0)
    # RoBERTa and its kin count positions from behind the padding token.
    padding = int(config.get("pad_token_id") or 0) + 1
    return positions - padding if "roberta" in str(config.get("model_type")) else positions


def _device(device: str, torch: Any) -> str:
    if device == "auto":
        # A build for CUDA names CUDA even without such a device.
        accelerator = torch.accelerator.current_accelerator(check_available=True)
        return str(accelerator.type) if accelerator else "cpu"
    try:
        torch.zeros(1, device=device)
    except Exception as error:
        raise ModelError(
            N_("PyTorch cannot compute on the device {device!r} here."),
            N_("Set the device to cpu or auto."),
            device=device,
        ) from error
    return device


def _read_config(folder: Path) -> Mapping[str, Any]:
    """The settings in ``config.json``; tokenizer and weights are checked to be there."""
    if not folder.is_dir():
        raise ModelMissing(N_("There is no model folder {path}."), Cure.SEE_INSTALLED, path=folder)
    if not (folder / "config.json").is_file():
        raise WrongKind(
            N_("{path} holds no model in the sentence-transformers format: no config.json."),
            N_("Name the folder with the files of the model."),
            path=folder,
        )
    config = json_object(folder / "config.json")
    if not (folder / "tokenizer.json").is_file():
        raise ModelDamaged(N_("{path} has no tokenizer.json."), Cure.GET_AGAIN, path=folder)
    if not any(folder.glob("*.safetensors")):
        _refuse_pickles(folder)
        raise ModelDamaged(
            N_("{path} has no weights: no file ends in .safetensors."),
            Cure.GET_AGAIN,
            path=folder,
        )
    return config


def _check_modules(folder: Path) -> None:
    """Make sure that the parts of an embedder are known and hold no pickles."""
    if not (folder / "modules.json").is_file():
        raise WrongKind(
            N_("{path} does not say how to pool the vectors of tokens: it has no modules.json."),
            N_("Get the model in the sentence-transformers format, with all its files."),
            path=folder,
        )
    for module in _modules(folder / "modules.json"):
        if not str(module.get("type")).startswith(_TRUSTED):
            raise ModelDamaged(
                N_("{path} brings along a program of its own: {type}."),
                N_("Choose a model that needs none."),
                path=folder,
                type=module.get("type"),
            )
        part = folder / str(module.get("path", ""))
        if part.is_dir() and not any(part.glob("*.safetensors")):
            _refuse_pickles(part)


def _deciding_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".json", ".safetensors")]


def _check_complete(folder: Path, model: Any) -> None:
    """Make sure that every weight of a loaded transformer came from its files.

    transformers fills in missing ones at random, and says so only in its log.
    """
    from safetensors import safe_open

    stored: set[str] = set()
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as weights:
            stored.update(weights.keys())
    # Either side may put the name of the model in front: "roberta.embeddings.…".
    stored |= {name.partition(".")[2] for name in stored}
    missing = [
        name
        for name in model.state_dict()
        if stored.isdisjoint((name, name.partition(".")[2])) and not name.startswith("pooler.")
    ]
    if missing:
        raise ModelDamaged(
            N_("{n} weights of the model are missing in {path}, for example {first}."),
            Cure.GET_AGAIN,
            path=folder,
            n=len(missing),
            first=missing[0],
        )


def _modules(path: Path) -> list[dict[str, Any]]:
    try:
        modules = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelDamaged(
            N_("{path} cannot be read ({why})."), Cure.GET_AGAIN, path=path, why=error
        ) from error
    if not isinstance(modules, list):
        raise ModelDamaged(N_("{path} has unexpected content."), Cure.GET_AGAIN, path=path)
    return modules


def _refuse_pickles(folder: Path) -> None:
    if any(path.suffix in _PICKLES for path in folder.iterdir()):
        cause = f"The weights in {folder} are pickled Python objects, which can run any program."
        raise ModelDamaged(cause, "Get the model with weights in the safetensors format.")


def open_embedder(spec: ModelSpec) -> SentenceTransformersEmbedder:
    """Load an embedder."""
    return SentenceTransformersEmbedder(
        spec.path,
        id=spec.id,
        prefixes=spec.prefixes,
        device=_chosen(spec),
        threads=spec.threads,
    )


def open_reranker(spec: ModelSpec) -> CrossEncoderReranker:
    """Load a reranker."""
    return CrossEncoderReranker(spec.path, id=spec.id, device=_chosen(spec), threads=spec.threads)


def placement(spec: ModelSpec) -> Placement:
    """The place of a model under PyTorch."""
    return in_process(pytorch_build(), spec.gpu_layers)


def _chosen(spec: ModelSpec) -> str:
    return "auto" if spec.gpu_layers else "cpu"
