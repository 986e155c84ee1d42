"""The native side of llama.cpp: the library, models and contexts in memory.

Anything that could crash the process is checked first: the header of the file
(`localrag_models.gguf`), the kind of the model, the memory of its context, and the table for
normalising text.
"""

import ctypes
import os
import weakref
from collections import deque
from collections.abc import Callable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import psutil

from localrag_models.errors import (
    N_,
    BackendMissing,
    ContextExceeded,
    Cure,
    ModelDamaged,
    ModelError,
    OutOfMemory,
    WrongKind,
)
from localrag_models.gguf import Header, Kind, read_header

_ALL_LAYERS = 2**31 - 1
_ERROR = 4
_BATCH = 512
"""Tokens evaluated together; llama.cpp's own."""


class Model:
    """A model whose weights are mapped into memory.

    Attributes:
        header: of the file.
        handle: ``llama_model *``.
        vocabulary: ``llama_vocab *``.
        offloads: whether layers of it are on a graphics processor.

    Raises:
        BackendMissing: llama-cpp-python is not installed.
        ModelMissing, ModelDamaged: as in `read_header`, or llama.cpp refuses the file.
        WrongKind: a model of another kind.
        OutOfMemory: its weights do not fit.
    """

    def __init__(
        self,
        path: Path,
        kind: Kind,
        *,
        gpu_layers: int = -1,
        on_load: Callable[[float], None] | None = None,
    ) -> None:
        self.header = require(path, kind)
        check_normalisation(self.header)
        self._llama = llama = runtime()
        parameters = llama.llama_model_default_params()
        self.offloads = gpu_layers != 0 and bool(llama.llama_supports_gpu_offload())
        parameters.n_gpu_layers = _ALL_LAYERS if gpu_layers < 0 else gpu_layers
        raised: list[BaseException] = []

        def go_on(share: float, _: object) -> bool:
            try:
                if on_load is not None:
                    on_load(share)
            except BaseException as error:  # noqa: BLE001 - raised again below
                raised.append(error)
            return not raised

        listener = llama.llama_progress_callback(go_on)
        parameters.progress_callback = listener
        _errors.clear()
        self.handle = llama.llama_model_load_from_file(os.fsencode(path), parameters)
        if raised:
            llama.llama_model_free(self.handle)  # of nothing where the loading was given up
            raise raised[0]
        if not self.handle:
            raise _refused(self.header)
        self.vocabulary = llama.llama_model_get_vocab(self.handle)
        self._free = weakref.finalize(self, llama.llama_model_free, self.handle)

    @property
    def tokens(self) -> int:
        return int(self._llama.llama_vocab_n_tokens(self.vocabulary))

    def tokenize(self, text: str, *, control: bool = False) -> list[int]:
        """Tokens of a text, none added; lone surrogates become question marks.

        With `control`, spellings of control tokens become control tokens.
        """
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        buffer = (ctypes.c_int32 * room)()
        count = self._llama.llama_tokenize(
            self.vocabulary, data, len(data), buffer, room, False, control
        )
        return list(buffer[:count])

    def piece(self, token: int, *, control: bool = False) -> bytes:
        """Bytes of a token, perhaps a part of a character.

        Control tokens are empty, or their spelling with `control`.
        """
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self._llama.llama_token_to_piece(
                self.vocabulary, token, buffer, size, 0, control
            )
            if length >= 0:
                return buffer.raw[:length]
            size = -length

    def context(self, tokens: int, *, threads: int = 0, **parameters: Any) -> "Context":
        """Reserve memory to evaluate tokens.

        Raises:
            ContextExceeded: more than the model was trained with.
            OutOfMemory: it does not fit.
        """
        return Context(self, tokens, threads or physical_cores(), parameters)

    def close(self) -> None:
        """Free the weights; its contexts must be closed first."""
        self._free()


class Context:
    """Working memory of a model: the keys and values of the evaluated tokens.

    Attributes:
        handle: ``llama_context *``.
    """

    def __init__(self, model: Model, tokens: int, threads: int, parameters: dict[str, Any]) -> None:
        llama, header = runtime(), model.header
        if header.context and tokens > header.context:
            raise ContextExceeded(
                N_(
                    "{name} was trained with a context of {available:,} tokens; {needed:,} are "
                    "asked for."
                ),
                Cure.SMALLER_CONTEXT,
                needed=tokens,
                available=header.context,
                name=header.name,
            )
        settings = llama.llama_context_default_params()
        if not llama.llama_supports_gpu_offload():
            _check_memory(header, tokens)
            # On a CPU it takes 1.4 times as long for a prompt, and more than twice for a reply.
            settings.flash_attn_type = llama.LLAMA_FLASH_ATTN_TYPE_DISABLED
        settings.n_ctx = tokens
        settings.n_threads = settings.n_threads_batch = threads
        for name, value in parameters.items():
            setattr(settings, name, value)
        _errors.clear()
        self.handle = llama.llama_init_from_model(model.handle, settings)
        if not self.handle:
            raise OutOfMemory(
                N_("There is no memory for a context of {tokens:,} tokens of {name} ({why})."),
                Cure.LESS_MEMORY,
                tokens=tokens,
                name=header.name,
                why=_reason(),
            )
        self._model = model
        self._free = weakref.finalize(self, llama.llama_free, self.handle)

    def close(self) -> None:
        self._free()


def require(path: Path, kind: Kind) -> Header:
    """Read the header of a model file, and check the kind of the model.

    Raises:
        ModelMissing, ModelDamaged: as in `read_header`.
        WrongKind: a model of another kind.
    """
    header = read_header(path)
    if header.kind != kind:
        raise WrongKind(
            N_("{name} ({path}) is of kind {found}, not {wanted}."),
            Cure.SEE_INSTALLED,
            name=header.name,
            path=path,
            found=header.kind,
            wanted=kind,
        )
    return header


@cache
def runtime() -> Any:
    """The module ``llama_cpp``, with its log kept off the terminal.

    Raises:
        BackendMissing: it is not installed, or does not load here.
    """
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise BackendMissing(
            N_("GGUF models need {package}; it does not load here ({why})."),
            Cure.INSTALL_PACKAGE,
            package="llama-cpp-python",
            why=error,
        ) from error
    llama_cpp.llama_log_set(_listener(llama_cpp.llama_log_callback), ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    return llama_cpp


_errors: deque[str] = deque(maxlen=3)


@cache
def _listener(callback: Callable[..., Any]) -> Any:
    """Keep the errors in the log of the native library, for the causes of our own.

    It is cached because the native side calls it as long as the process lives.
    """

    def listen(level: int, text: bytes, _: object) -> None:
        if level == _ERROR:
            _errors.append(text.decode("utf-8", "replace").strip())

    return callback(listen)


def _reason() -> str:
    return f"llama.cpp: {_errors[0].rstrip('.')}" if _errors else "llama.cpp"


def _refused(header: Header) -> ModelError:
    said = " ".join(_errors)
    cause = N_("{path} cannot be loaded ({why}).")
    fields = {"path": header.path, "why": _reason()}
    if "alloc" in said:
        cure = N_("Choose a smaller model, or put fewer layers on the GPU.")
        return OutOfMemory(cause, cure, **fields)
    if "unknown model architecture" in said:
        cure = N_("Update llama-cpp-python, or choose another model.")
        return WrongKind(cause, cure, **fields)
    return ModelDamaged(cause, Cure.GET_AGAIN, **fields)


def _check_memory(header: Header, tokens: int) -> None:
    """Refuse a context that takes more memory than is free.

    The kernel grants memory that it does not have, and kills the process on use.
    """
    needed, free = _bytes_per_token(header) * tokens, psutil.virtual_memory().available
    if needed > free:
        raise OutOfMemory(
            N_(
                "A context of {tokens:,} tokens of {name} needs {needed:.1f} GiB of memory; "
                "{free:.1f} GiB are free."
            ),
            Cure.LESS_MEMORY,
            tokens=tokens,
            name=header.name,
            needed=needed / 2**30,
            free=free / 2**30,
        )


def _bytes_per_token(header: Header) -> int:
    """Bytes of a token of context: 16-bit keys and values of every layer, and its scores.

    Scores are 32-bit numbers, one for each head and each token of a batch.
    """
    heads, width = header.number("attention.head_count", 1), header.number("embedding_length")
    head_width = width // heads if heads else 0
    keys = header.number("attention.key_length", head_width)
    values = header.number("attention.value_length", head_width)
    kv_heads = header.number("attention.head_count_kv", heads)
    kept = 2 * header.number("block_count") * kv_heads * (keys + values)
    return kept + 4 * heads * _BATCH


@cache
def physical_cores() -> int:
    """Cores this process may run on, a core with two hardware threads counted once."""
    allowed = sorted(os.sched_getaffinity(0))
    siblings = sorted(_siblings(cpu) for cpu in allowed)
    return max(1, sum(1 for _ in groupby(siblings)))


def _siblings(cpu: int) -> str:
    topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return topology.read_text("ascii").strip()
    except OSError:
        return str(cpu)


_TABLE = "tokenizer.ggml.precompiled_charsmap"
_LEAF = 1 << 8
_NO_LABEL = 1 << 31


def check_normalisation(header: Header) -> None:
    """Make sure that no text leads out of the table that normalises texts; most models have none.

    SentencePiece tokenizers (XLM-RoBERTa, T5) have it in ``tokenizer.ggml.precompiled_charsmap``.
    llama.cpp walks it byte by byte of a text, and a damaged entry would end the process. So all
    reachable entries are checked here, in some milliseconds.

    Layout: the size of the array in bytes (32 bits, little-endian), the 32-bit units of a
    double-array trie (darts-clone by S. Yata), then the replacements as texts with a zero byte at
    the end.

    Raises:
        ModelDamaged: some text leads out of it.
    """
    values = header.metadata.get(_TABLE)
    if isinstance(values, tuple) and values and not _is_closed(values):
        raise ModelDamaged(
            N_("The table by which {path} normalises text is damaged."),
            Cure.GET_AGAIN,
            path=header.path,
        )


def _is_closed(values: tuple[object, ...]) -> bool:
    import numpy as np

    table = np.array(values, np.int64).astype(np.uint8).tobytes()
    size = int.from_bytes(table[:4], "little")
    if size % 4 or size + 4 >= len(table):
        return False
    units = np.frombuffer(table, "<u4", size // 4, 4).astype(np.int64)
    replacements = len(table) - 4 - size
    # From the state of a unit, the next byte is looked up among 256 units around it.
    leads_to = np.arange(len(units)) ^ ((units >> 10) << ((units & 0x200) >> 6))
    comes_from = np.arange(len(units)) ^ (units & 0xFF)
    by_byte = (units & _NO_LABEL) == 0
    inside = (leads_to | 0xFF) < len(units)
    # The walk begins at the root; its label is never read.
    new = np.zeros(len(units), np.bool_)
    new[:1] = True
    reached = new.copy()
    states = np.zeros(len(units), np.bool_)
    while new.any():
        if not inside[new].all():
            return False
        states[leads_to[new]] = True
        ends = leads_to[new & ((units & _LEAF) != 0)]
        if (units[ends] & (_NO_LABEL - 1) >= replacements).any():
            return False
        new = by_byte & (comes_from < len(units)) & ~reached
        new[new] = states[comes_from[new]]
        reached |= new
    return len(units) > 0
