"""Chat with a GGUF model in this process."""

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from localrag_models.backends.llama_cpp.native import Model, runtime
from localrag_models.backends.llama_cpp.sampling import (
    GrammarConstraint,
    Sampler,
    Vocabulary,
    demand_numbers,
    likeliest,
)
from localrag_models.backends.llama_cpp.template import ChatTemplate
from localrag_models.chat import (
    AnswerStream,
    ChatRequest,
    Choice,
    Finish,
    LikelyToken,
    Message,
    OfferedWords,
    Remark,
    Reply,
    Usage,
    ignore,
    never,
    overlook,
)
from localrag_models.embedding import Closing
from localrag_models.errors import N_, ContextExceeded, Cure, ModelError, OutOfMemory
from localrag_models.grammar import grammar_of
from localrag_models.thinking import HARMONY, Effort, Thinking, room_for

if TYPE_CHECKING:
    from localrag_models.backends.llama_cpp.sampling import Logits


_BATCH = 512
"""Tokens evaluated together on a graphics processor; llama.cpp's own."""
_BATCH_ON_PROCESSOR = 64
"""On a CPU: progress is reported after each batch. Batches of 32 to 512 are equally fast
(`scripts/bench/prompt_batches.py`); a slow machine reads 100 tokens a second."""
_ABORTED = 2
_ALLOCATION_FAILED = -2


def _overlook(read: int) -> None:
    del read


class EvaluatedTokens:
    """The tokens in the memory of a model."""

    def __init__(self, model: Model, tokens: int, *, threads: int = 0) -> None:
        self._llama = runtime()
        self._row = ctypes.c_float * model.tokens
        self._batch = size = _BATCH if model.offloads else _BATCH_ON_PROCESSOR
        self._context = model.context(tokens, threads=threads, n_batch=size, n_ubatch=size)
        self._memory = self._llama.llama_get_memory(self._context.handle)
        self._tokens: list[int] = []

    def keep(self, prompt: Sequence[int]) -> int:
        """Forget everything after the common start with `prompt`, and return its number of tokens.

        The last token of the prompt is always left to evaluate.
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
        """Evaluate tokens after those in memory.

        `cancelled` is asked many times during a batch on the CPU, and between batches.

        Returns:
            False if cancelled; complete batches stay.
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
        """Of the next token, shape ``(vocabulary,)``; valid until the next `extend`."""
        import numpy as np

        pointer = self._llama.llama_get_logits_ith(self._context.handle, -1)
        row = memoryview(self._row.from_address(ctypes.addressof(pointer.contents)))
        return np.frombuffer(row, np.float32)

    def close(self) -> None:
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
        """Keep only so many tokens, or none if the architecture cannot forget a part."""
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


_DEFAULT_CONTEXT = 8192
_CANDIDATES = 1024
"""Likely tokens for a choice; the rest has no weight to speak of."""
_PATIENCE = 0.02
"""Seconds between two looks at `cancelled` during another call."""


@dataclass(frozen=True, slots=True)
class Thought:
    """A thought before an answer.

    Attributes:
        text: without marks.
        tokens: generated.
        cut: it filled its room.
        whole: false if the call was cancelled in it.
    """

    text: str = ""
    tokens: int = 0
    cut: bool = False
    whole: bool = True


class LlamaCppChat(Closing):
    """A `ChatModel` on llama.cpp. The common start with the last prompt is not evaluated again.

    A thought is generated freely up to its closing mark, or until its room is full; then it is
    closed. A grammar binds the answer only, so thought and schema go together. Every model
    can be kept from thinking: the prompt then holds an empty thought.

    The arguments are fields of `ModelSpec`.

    Raises:
        ModelError: as in `Model`, `Model.context` and `ChatTemplate`.
    """

    parallel = 1

    def __init__(
        self,
        path: Path,
        *,
        id: str = "",  # noqa: A002 - the name of the contract
        context: int = 0,
        threads: int = 0,
        gpu_layers: int = -1,
        thinking: Thinking = "off",
        effort: Effort = "medium",
        on_load: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(id or f"{path.stem} (llama.cpp)")
        self._model = Model(path, "chat", gpu_layers=gpu_layers, on_load=on_load)
        header = self._model.header
        whole = context or min(header.context or _DEFAULT_CONTEXT, _DEFAULT_CONTEXT)
        self._vocabulary = Vocabulary(self._model)
        self._template = ChatTemplate(
            header.chat_template,
            name=header.name,
            begin=self._vocabulary.begin_text,
            end=self._vocabulary.end_text,
            control=self._vocabulary.control,
        )
        self._effort = effort
        self._thinks = self._template.thinks(thinking)
        self._room = room_for(effort, whole) if self._thinks else 0
        self.context = whole - self._room
        self._evaluation = EvaluatedTokens(self._model, whole, threads=threads)
        self._busy = Lock()

    def count(self, messages: Sequence[Message]) -> int:
        self._demand_open()
        return len(self._prompt(messages))

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        started = time.perf_counter()
        grammar = None if request.schema is None else grammar_of(request.schema)
        stop = request.stop
        if grammar is None and self._template.marks is HARMONY:
            stop = (*stop, HARMONY.closing)
        answer = AnswerStream(on_text, stop, thinks=grammar is None and not self._thinks)
        thought = Thought()
        with self._turn(cancelled) as mine:
            if mine:
                finish, usage, thought = self._reply(request, grammar, answer, cancelled, on_read)
            else:
                finish, usage = Finish.CANCELLED, Usage(0, 0, 0)
        return Reply(
            text=answer.text,
            usage=usage,
            finish=finish,
            seconds=time.perf_counter() - started,
            thinking=thought.text or answer.thinking,
            remarks=(Remark.THOUGHT_CUT,) if thought.cut else (),
        )

    def choose(
        self,
        messages: Sequence[Message],
        options: Sequence[str],
        cancelled: Callable[[], bool] = never,
    ) -> Choice | None:
        started = time.perf_counter()
        offered = OfferedWords(options)
        with self._turn(cancelled) as mine:
            if not mine:
                return None
            prompt = self._fitting(messages, 1)
            if self._thinks:
                # Other calls begin alike: their evaluation is reused.
                prompt += self._model.tokenize(self._template.closing(), control=True)
            cached, whole = self._read(prompt, cancelled, overlook)
            if not whole:
                return None
            candidates = self._candidates()
        usage = Usage(len(prompt), cached, 0)
        return offered.weighed(candidates, self.id, usage, time.perf_counter() - started)

    def _release(self) -> None:
        with self._busy:
            self._evaluation.close()
            self._model.close()

    @contextmanager
    def _turn(self, cancelled: Callable[[], bool]) -> Iterator[bool]:
        """Wait for earlier calls; yield false if cancelled meanwhile."""
        while not (mine := self._busy.acquire(timeout=_PATIENCE)) and not cancelled():
            pass
        try:
            yield mine
        finally:
            if mine:
                self._busy.release()

    def _reply(
        self,
        request: ChatRequest,
        grammar: str | None,
        answer: AnswerStream,
        cancelled: Callable[[], bool],
        on_read: Callable[[int, int], None],
    ) -> tuple[Finish, Usage, Thought]:
        prompt = self._fitting(request.messages, request.max_tokens)
        sampler = Sampler(request.temperature, request.top_p, request.seed)
        thought = Thought()
        with self._constraint(grammar) as constraint:
            finish, completion = Finish.CANCELLED, 0
            cached, whole = self._read(prompt, cancelled, on_read)
            if whole and self._thinks:
                thought = self._think(sampler, cancelled)
            if whole and thought.whole:
                finish, completion = self._generate(request, sampler, constraint, answer, cancelled)
        answer.end()
        if answer.stopped:
            finish = Finish.STOP
        usage = Usage(len(prompt), cached, thought.tokens + completion, thought.tokens)
        return finish, usage, thought

    def _think(self, sampler: Sampler, cancelled: Callable[[], bool]) -> Thought:
        """Let the model think; close the thought if the model does not."""
        marks = self._template.marks
        assert marks is not None
        closing, written, tokens = marks.closing.encode(), bytearray(), 0
        end = self._model.tokenize(self._template.closing(), control=True)
        closed = ended = False
        while tokens + len(end) < self._room and not (closed or ended):
            if cancelled():
                return Thought(written.decode(errors="replace"), tokens, whole=False)
            token = sampler.next(self._evaluation.logits())
            ended = self._vocabulary.ends(token)
            if not ended:
                tokens += 1
                written += self._model.piece(token, control=True)
                closed = closing in written[-len(closing) - 64 :]
                self._evaluation.extend([token])
        rest = self._model.tokenize(marks.answer, control=True) if closed else end
        if rest:
            self._evaluation.extend(rest)
        text = written.partition(closing)[0].decode(errors="replace").strip()
        return Thought(text, tokens, cut=not (closed or ended))

    def _read(
        self,
        prompt: Sequence[int],
        cancelled: Callable[[], bool],
        on_read: Callable[[int, int], None],
    ) -> tuple[int, bool]:
        """Read a prompt; return its cached tokens, and whether all of it has been read."""
        cached = self._evaluation.keep(prompt)

        def told(read: int) -> None:
            on_read(cached + read, len(prompt))

        return cached, self._evaluation.extend(prompt[cached:], cancelled, told)

    def _candidates(self) -> list[LikelyToken]:
        """The tokens that the reply may begin with, likeliest first."""
        import numpy as np

        logits = self._evaluation.logits()
        demand_numbers(logits)
        top = logits.max()
        whole = top + np.log(np.exp(logits - top).sum())
        return [
            LikelyToken(self._model.piece(int(token)), float(logits[token] - whole))
            for token in likeliest(logits, _CANDIDATES)
        ]

    def _generate(
        self,
        request: ChatRequest,
        sampler: Sampler,
        constraint: GrammarConstraint | None,
        answer: AnswerStream,
        cancelled: Callable[[], bool],
    ) -> tuple[Finish, int]:
        """Why the reply ended, and the number of its tokens."""
        for completion in range(request.max_tokens):
            if cancelled():
                return Finish.CANCELLED, completion
            token = sampler.next(self._evaluation.logits(), constraint)
            if self._vocabulary.ends(token):
                return Finish.STOP, completion
            if constraint:
                constraint.accept(token)
            answer.take(self._model.piece(token, control=token in self._vocabulary.marks))
            if answer.stopped:
                return Finish.STOP, completion + 1
            if completion + 1 < request.max_tokens:
                self._evaluation.extend([token])
        whole = constraint is not None and constraint.complete
        return Finish.STOP if whole else Finish.LENGTH, request.max_tokens

    @contextmanager
    def _constraint(self, grammar: str | None) -> Iterator[GrammarConstraint | None]:
        if grammar is None:
            yield None
            return
        constraint = GrammarConstraint(self._model, grammar, self._vocabulary)
        try:
            yield constraint
        finally:
            constraint.close()

    def _fitting(self, messages: Sequence[Message], reply: int) -> list[int]:
        """The tokens of a prompt that leaves room for a reply."""
        self._demand_open()
        prompt = self._prompt(messages)
        self._check_room(len(prompt), reply)
        return prompt

    def _prompt(self, messages: Sequence[Message]) -> list[int]:
        text = self._template.render(messages, thinks=self._thinks, effort=self._effort)
        tokens = self._model.tokenize(text, control=True)
        begin = self._vocabulary.begin
        # Some templates write the first token themselves.
        return tokens if begin is None or tokens[:1] == [begin] else [begin, *tokens]

    def _check_room(self, prompt: int, reply: int) -> None:
        if prompt + reply > self.context:
            raise ContextExceeded(
                N_(
                    "The prompt has {prompt:,} tokens and the reply may have {reply:,}; {model} "
                    "has a context of {available:,}."
                ),
                Cure.LESS_TEXT,
                needed=prompt + reply,
                available=self.context,
                prompt=prompt,
                reply=reply,
                model=self.id,
            )
