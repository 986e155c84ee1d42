"""What embedders and rerankers in PyTorch share: loading without noise, tokens, batches, errors."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from localrag_models.errors import BackendMissing, ModelDamaged, ModelError, OutOfMemory
from localrag_models.normalisation import nmt_nfkc
from localrag_models.windows import LONGEST_WINDOW

# On a processor more fits no cache and is slower; an accelerator has to be kept busy.
_TOKENS_ON_PROCESSOR = 512
_TOKENS_ON_ACCELERATOR = 32_768


class Tokenizer:
    """The tokenizer of a model, for which text is nothing but text.

    Args:
        config: settings of the model.
        tokenizer: of transformers.

    Attributes:
        max_tokens: of one sequence, special tokens included.
    """

    def __init__(self, config: dict[str, Any], tokenizer: Any) -> None:
        tokenizer.split_special_tokens = True
        self._tokenizer = tokenizer
        self._normalises = type(tokenizer.backend_tokenizer.model).__name__ == "Unigram"
        self.max_tokens = min(
            LONGEST_WINDOW, tokenizer.model_max_length, _positions(config) or LONGEST_WINDOW
        )

    def normal(self, text: str) -> str:
        """`text` as it has to be given to the model."""
        return nmt_nfkc(text) if self._normalises else text

    def counts(self, texts: Sequence[str], *, special: bool) -> list[int]:
        """Tokens of each text; with `special`, those included that begin and end a sequence."""
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
        """Special tokens around and between two texts."""
        return int(self._tokenizer.num_special_tokens_to_add(pair=True))


def packs(tokens: Sequence[int], device: str) -> Iterator[list[int]]:
    """Numbers of the sequences to evaluate together, longest first.

    In one pack they are padded to the longest; what they take then depends on the kind of device.
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
def loading(folder: Path, device: str, threads: int) -> Iterator[dict[str, Any]]:
    """Around what loads the model in `folder`; gives the arguments of its class.

    Raises:
        BackendMissing: sentence-transformers is not installed.
        ModelDamaged: the libraries cannot make a model of the files.
        OutOfMemory: it does not fit.
        ModelError: there is no such device.
    """
    try:
        import sentence_transformers  # noqa: F401 - the slowest and the likeliest to be missing
        import torch
        from huggingface_hub import constants
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise BackendMissing(
            f"This model needs sentence-transformers, which does not load here: {error}.",
            "Install it: pip install 'localrag[sentence-transformers]'",
        ) from error
    # Said either way, the tokenizers keep quiet when this process starts another one.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    if threads:
        torch.set_num_threads(threads)
    logging: Any = transformers_logging
    with ExitStack() as stack:
        # Not in the environment, where it would bind `models pull` of this process as well.
        stack.enter_context(mock.patch.object(constants, "HF_HUB_OFFLINE", True))
        stack.callback(logging.set_verbosity, logging.get_verbosity())
        logging.set_verbosity_error()
        if logging.is_progress_bar_enabled():
            stack.callback(logging.enable_progress_bar)
            logging.disable_progress_bar()
        stack.enter_context(typed_errors(folder, ModelDamaged, "cannot be loaded"))
        yield {
            "device": _device(device, torch),
            "local_files_only": True,
            "trust_remote_code": False,
            # Half precision would make vectors depend on the other texts of a batch.
            "model_kwargs": {"use_safetensors": True, "dtype": torch.float32},
        }


@contextmanager
def typed_errors(folder: Path, kind: type[ModelError], what: str) -> Iterator[None]:
    """Make whatever PyTorch and its company raise one of our own errors."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        said = str(error).strip().rstrip(".")
        if isinstance(error, MemoryError) or "memory" in said:
            raise OutOfMemory(f"There is no memory left for {folder}: {said}.") from error
        raise kind(f"The model in {folder} {what}: {said}.") from error


def _positions(config: dict[str, Any]) -> int:
    """Tokens that have a position; 0 where the settings do not say."""
    positions = int(config.get("max_position_embeddings") or 0)
    # RoBERTa and its kin count positions from behind that of the padding token.
    padding = int(config.get("pad_token_id") or 0) + 1
    return positions - padding if "roberta" in str(config.get("model_type")) else positions


def _device(device: str, torch: Any) -> str:
    if device == "auto":
        accelerator = torch.accelerator.current_accelerator()
        return str(accelerator.type) if accelerator else "cpu"
    try:
        torch.zeros(1, device=device)
    except Exception as error:
        cause = f"PyTorch cannot compute on the device {device!r} here."
        raise ModelError(cause, "Set the device to cpu or auto.") from error
    return device
