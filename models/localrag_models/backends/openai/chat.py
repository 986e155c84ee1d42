"""Chat through a server that speaks OpenAI's protocol."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from localrag_models.backends.openai.schemas import Spelling, binding_spelling
from localrag_models.backends.openai.server import THINKING_OFF, OpenAIServer
from localrag_models.backends.servers.chat import ServerChat
from localrag_models.backends.servers.counts import likely, tokens
from localrag_models.backends.servers.http import Json
from localrag_models.backends.servers.replies import Draft, Event
from localrag_models.chat import ChatRequest, Finish, Message
from localrag_models.errors import ContextExceeded, ServerRefused
from localrag_models.retrying import Retry, warn

_CONTEXT_IF_UNTOLD = 4096
_LARGEST_DEFAULT = 8192
_CHAT = "/chat/completions"

# A quotation repeats its source: the penalty that servers may apply would bend it.
# llama-server then tells how much of the prompt it has read.
_EXTRAS: Json = {**THINKING_OFF, "repeat_penalty": 1.0, "return_progress": True}

T = TypeVar("T")


class OpenAIChat(ServerChat):
    """A chat model behind llama-server, vLLM, LM Studio, ``llama_cpp.server`` or their like.

    Args:
        model: its name there.
        server: address of the API, ``http://127.0.0.1:8080/v1``.
        context: tokens of prompt and reply; 0 for what the server says, at most 8,192, or 4,096
            where it says nothing.
        timeout: seconds without a byte after which the server counts as stuck.
        parallel: calls sent at the same time.
        api_key: sent as bearer token, unless empty.
        on_retry: told of each failure that is followed by another attempt.

    Raises:
        ServerUnreachable: nobody answers.
        ModelMissing: the server has no such model.
        ContextExceeded: `context` is more than the server has.
    """

    def __init__(
        self,
        model: str,
        *,
        server: str,
        context: int = 0,
        timeout: float = 300.0,
        parallel: int = 1,
        api_key: str = "",
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        self._openai = OpenAIServer(server, timeout=timeout, api_key=api_key)
        try:
            context = _agreed(model, self._openai.context_of(model), context)
            self._counter = self._openai.counter_of(model)
        except BaseException:
            self._openai.close()
            raise
        super().__init__(model, self._openai, context=context, parallel=parallel, on_retry=on_retry)
        self._extras = _EXTRAS
        self._spelling: Spelling | None = None
        self._finding_spelling = threading.Lock()

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt: counted where the server can, else estimated on the high side."""
        counted = self._counter(self._sent(messages)) if self._counter else None
        return super().count(messages) if counted is None else counted

    def _exchange(self, request: ChatRequest, candidates: int) -> tuple[str, Json]:
        bound = {} if request.schema is None else self._found_spelling()(request.schema)
        body: Json = {
            "model": self._model,
            "messages": self._sent(request.messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
            **self._extras,
            **bound,
        }
        if request.stop:
            body["stop"] = list(request.stop)
        if candidates:
            body |= {"logprobs": True, "top_logprobs": candidates}
        return _CHAT, body

    def _attempt(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None],
        cancelled: Callable[[], bool],
        on_read: Callable[[int, int], None],
        candidates: int,
    ) -> Draft:
        attempt = super()._attempt
        return self._with_or_without_extras(
            lambda: attempt(request, on_text, cancelled, on_read, candidates)
        )

    def _event(self, line: str) -> Event | None:
        kind, _, content = line.partition(":")
        if kind != "data" or content.strip() == "[DONE]":
            return None
        told = self._server.parsed(content)
        if error := told.get("error"):
            raise self._server.refusal(500, str(error))
        choice = _object(_first(told.get("choices")))
        delta = _object(choice.get("delta"))
        usage = _object(told.get("usage"))
        cached = _object(usage.get("prompt_tokens_details")).get("cached_tokens")
        return Event(
            text=_text(delta.get("content")),
            thinking=_text(delta.get("reasoning_content")) or _text(delta.get("reasoning")),
            finish=_finish(choice.get("finish_reason")),
            prompt=tokens(usage.get("prompt_tokens")),
            cached=tokens(cached),
            completion=tokens(usage.get("completion_tokens")),
            read=_read(told.get("prompt_progress")),
            candidates=likely(_object(choice.get("logprobs")).get("content")),
        )

    def _calibrate(self, cancelled: Callable[[], bool]) -> None:
        if self._counter is None:
            super()._calibrate(cancelled)

    def _with_or_without_extras(self, call: Callable[[], T]) -> T:
        """Some servers refuse fields they do not know: from then on they are left out."""
        try:
            return call()
        except ServerRefused as error:
            if not any(name in error.cause for name in _EXTRAS):
                raise
            self._extras = {}
            return call()

    def _found_spelling(self) -> Spelling:
        with self._finding_spelling:
            if self._spelling is None:
                self._spelling = binding_spelling(self._asked, self._server.address)
            return self._spelling

    def _asked(self, fields: Json) -> str:
        told = self._with_or_without_extras(
            lambda: self._server.post(_CHAT, {"model": self._model, **self._extras, **fields})
        )
        message = _object(_object(_first(told.get("choices"))).get("message"))
        return _text(message.get("content"))


def _agreed(model: str, told: int, wanted: int) -> int:
    if told and wanted > told:
        raise ContextExceeded(
            f"The server gives {model!r} a context of {told:,} tokens, not of {wanted:,}.",
            f"Set chat.context to {told} or less, or start the server with a larger one.",
            needed=wanted,
            available=told,
        )
    return wanted or min(told or _CONTEXT_IF_UNTOLD, _LARGEST_DEFAULT)


def _finish(reason: object) -> Finish | None:
    if not reason:
        return None
    return Finish.LENGTH if reason == "length" else Finish.STOP


def _read(progress: object) -> tuple[int, int] | None:
    """Tokens that llama-server has read, those it knew before included, and all of the prompt."""
    told = _object(progress)
    done, total = tokens(told.get("processed")), tokens(told.get("total"))
    return None if done is None or total is None else (min(done, total), total)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
