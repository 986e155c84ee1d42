"""Evaluates tokens, and keeps what a prompt has in common with the one before."""

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from localrag_models.backends.llama_cpp.native import Model, runtime
from localrag_models.chat import never
from localrag_models.errors import N_, Cure, ModelError, OutOfMemory

if TYPE_CHECKING:
    from localrag_models.backends.llama_cpp.sampling import Logits

_BATCH = 512
"""Tokens evaluated together on a graphics processor; llama.cpp's own."""
_BATCH_ON_PROCESSOR = 64
"""Without one: after each batch it is told how far the reading has come. Batches of 32 to 512 are
equally fast there (`scripts/bench/prompt_batches.py`), and 100 tokens a second is a slow machine.
"""
_ABORTED = 2
_ALLOCATION_FAILED = -2


def _overlook(read: int) -> None:
    del read


class EvaluatedTokens:
    """The tokens a model has in mind.

    Args:
        model: what evaluates.
        tokens: that it can have in mind.
        threads: 0 for as many as there are physical cores.
    """

    def __init__(self, model: Model, tokens: int, *, threads: int = 0) -> None:
        self._llama = runtime()
        self._row = ctypes.c_float * model.tokens
        self._batch = size = _BATCH if model.offloads else _BATCH_ON_PROCESSOR
        self._context = model.context(tokens, threads=threads, n_batch=size, n_ubatch=size)
        self._memory = self._llama.llama_get_memory(self._context.handle)
        self._tokens: list[int] = []

    def keep(self, prompt: Sequence[int]) -> int:
        """Forget what `prompt` does not begin with; its last token is always left to evaluate.

        Returns:
            How many tokens of the prompt are there already.
        """
        shared = 0
        for known, wanted in zip(self._tokens, prompt[:-1], strict=False):
            if known != wanted:
                break
            shared += 1
        self._cut(shared)
        return len(self._tokens)

    def extend(
        self,
        tokens: Sequence[int],
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int], None] = _overlook,
    ) -> bool:
        """Evaluate tokens after those that are there.

        Args:
            tokens: at least one.
            cancelled: asked many times in the course of a batch on the CPU, and between batches.
            on_read: told after each batch how many of the tokens are evaluated.

        Returns:
            False where it was cancelled; whole batches evaluated before stay.

        Raises:
            OutOfMemory, ModelError: llama.cpp failed; all tokens are forgotten.
        """
        for start in range(0, len(tokens), self._batch):
            batch = tokens[start : start + self._batch]
            if cancelled():
                return False
            code = self._decode(batch, cancelled)
            if code == _ABORTED:
                self._cut(len(self._tokens))
                return False
            if code:
                self._cut(0)
                raise _failure(code)
            self._tokens += batch
            on_read(start + len(batch))
        return True

    def logits(self) -> "Logits":
        """Of the token after the last, shape ``(vocabulary,)``; valid until the next `extend`."""
        import numpy as np

        pointer = self._llama.llama_get_logits_ith(self._context.handle, -1)
        row = memoryview(self._row.from_address(ctypes.addressof(pointer.contents)))
        return np.frombuffer(row, np.float32)

    def close(self) -> None:
        """Free the memory."""
        self._context.close()

    def _decode(self, batch: Sequence[int], cancelled: Callable[[], bool]) -> int:
        llama, handle = self._llama, self._context.handle
        data = (ctypes.c_int32 * len(batch))(*batch)
        if cancelled is never:
            return int(llama.llama_decode(handle, llama.llama_batch_get_one(data, len(batch))))
        raised: list[BaseException] = []

        def abort(_: object) -> bool:
            try:
                return cancelled()
            except BaseException as error:  # noqa: BLE001 - raised again below
                raised.append(error)
                return True

        callback = llama.ggml_abort_callback(abort)
        llama.llama_set_abort_callback(handle, callback, None)
        try:
            code = int(llama.llama_decode(handle, llama.llama_batch_get_one(data, len(batch))))
        finally:
            llama.llama_set_abort_callback(handle, llama.ggml_abort_callback(0), None)
        if raised:
            self._cut(len(self._tokens))
            raise raised[0]
        return code

    def _cut(self, length: int) -> None:
        """Keep only so many tokens, or none where the architecture cannot forget a part."""
        if not self._llama.llama_memory_seq_rm(self._memory, 0, length, -1):
            self._llama.llama_memory_clear(self._memory, True)
            length = 0
        del self._tokens[length:]


def _failure(code: int) -> ModelError:
    if code == _ALLOCATION_FAILED:
        return OutOfMemory(
            N_("There was no memory left to evaluate the prompt."),
            N_("Set a smaller context, or close other programs."),
        )
    return ModelError(
        N_("llama.cpp failed to evaluate the prompt (code {code})."), Cure.CHECK_FILES, code=code
    )
