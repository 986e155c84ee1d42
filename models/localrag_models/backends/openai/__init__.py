"""Chat on a server with OpenAI's protocol: llama-server, vLLM, LM Studio.

Each server spells the binding of a reply to a JSON schema differently. An unknown spelling is
mostly ignored in silence. So the server is asked once for a value that no model would write by
itself, and the first spelling that brings it is used.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from localrag_models.backends.chat_reranker import ChatReranker
from localrag_models.backends.openai.embedder import OpenAIEmbedder
from localrag_models.backends.openai.reranker import OpenAIReranker
from localrag_models.backends.openai.server import THINKING_OFF, OpenAIServer
from localrag_models.backends.servers.chat import (
    Draft,
    Event,
    ServerChat,
    agreed_context,
    likely,
)
from localrag_models.backends.servers.http import (
    BadRequest,
    Json,
    Retry,
    text_of,
    tokens,
    warn,
)
from localrag_models.chat import ChatRequest, Finish, Message
from localrag_models.errors import (
    N_,
    ProbabilitiesMissing,
    SchemaUnsupported,
    ServerBroke,
    ServerBusy,
    ServerRefused,
    WrongKind,
)
from localrag_models.grammar import grammar_of
from localrag_models.runtimes import ModelSpec

if TYPE_CHECKING:
    from localrag_models.embedding import Reranker

_CONTEXT_IF_UNTOLD = 4096
_LESS = N_("The server gives {model!r} a context of {available:,} tokens, not of {needed:,}.")
_CHAT = "/chat/completions"

# A quotation repeats its source: the servers' penalty would change it. The last field makes
# llama-server report how much of the prompt it has read.
_EXTRAS: Json = {**THINKING_OFF, "repeat_penalty": 1.0, "return_progress": True}

T = TypeVar("T")


Schema = Mapping[str, Any]
Spelling = Callable[[Schema], Json]


def _grammar(schema: Schema) -> Json:
    return {"grammar": grammar_of(schema)}


def _json_schema(schema: Schema) -> Json:
    wrapped = {"name": "reply", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": wrapped}}


def _json_object(schema: Schema) -> Json:
    return {"response_format": {"type": "json_object", "schema": schema}}


def _structured_outputs(schema: Schema) -> Json:
    return {"structured_outputs": {"json": schema}}


def _guided_json(schema: Schema) -> Json:
    return {"guided_json": schema}


SPELLINGS: tuple[Spelling, ...] = (
    _grammar,  # llama-server, llama_cpp.server: exact, made by us
    _json_schema,  # OpenAI's own: vLLM, LM Studio, llama-server
    _json_object,  # llama_cpp.server, llama-server, some hosted ones
    _structured_outputs,  # vLLM since 0.11
    _guided_json,  # vLLM before
)

_ODD = "q7-zx"
_PROBE: Schema = {
    "type": "object",
    "properties": {"p": {"type": "string", "enum": [_ODD]}},
    "required": ["p"],
    "additionalProperties": False,
}
_PROBE_TOKENS = 48
_BINDING_SERVER = N_(
    "Use a server that binds replies to one: llama-server, vLLM, LM Studio, Ollama."
)


def binding_spelling(ask: Callable[[Json], str], server: str) -> Spelling:
    """The first spelling that a server obeys.

    `ask` sends a chat request with these fields and returns the reply. `server` is for the message.

    Raises:
        SchemaUnsupported: it obeys none.
        ServerRefused: it refused all of them; its words may be about something else.
        ModelError: it refuses the caller, does not answer, or has a transient failure.
    """
    refusals: list[BadRequest] = []
    trouble: ServerBusy | ServerBroke | None = None
    for spelling in SPELLINGS:
        fields = {
            "messages": [{"role": "user", "content": "Say hello."}],
            "max_tokens": _PROBE_TOKENS,
            "temperature": 0.0,
            **spelling(_PROBE),
        }
        try:
            if _obeyed(ask(fields)):
                return spelling
        except BadRequest as error:
            refusals.append(error)
        except (ServerBusy, ServerBroke) as error:
            trouble = error
    if trouble is not None:
        raise trouble
    if len(refusals) == len(SPELLINGS):
        # Its words about OpenAI's own spelling, which all know, are the most useful.
        refusal = refusals[SPELLINGS.index(_json_schema)]
        raise ServerRefused(
            refusal.args[0],
            N_(
                "If that is about the JSON schema, use a server that binds replies to one: "
                "llama-server, vLLM, LM Studio, Ollama."
            ),
            **refusal.fields,
        )
    raise SchemaUnsupported(
        N_("{server} binds no reply to a JSON schema in any known spelling."),
        _BINDING_SERVER,
        server=server,
    )


def _obeyed(text: str) -> bool:
    try:
        return bool(json.loads(text) == {"p": _ODD})
    except (ValueError, RecursionError):
        return False


class OpenAIChat(ServerChat):
    """A chat model behind llama-server, vLLM, LM Studio, ``llama_cpp.server`` or similar servers.

    The arguments are as in `OllamaChat`; an unknown context counts as 4,096 tokens.

    Raises:
        ServerUnreachable: no server answers.
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
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        self._openai = OpenAIServer(server, timeout=timeout)
        try:
            context = agreed_context(
                model, _LESS, context, self._openai.context_of(model), _CONTEXT_IF_UNTOLD
            )
            self._counter = self._openai.counter_of(model)
        except BaseException:
            self._openai.close()
            raise
        super().__init__(model, self._openai, context=context, parallel=parallel, on_retry=on_retry)
        self._extras = _EXTRAS
        self._spelling: Spelling | None = None
        self._finding_spelling = threading.Lock()

    def count(self, messages: Sequence[Message]) -> int:
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
            text=text_of(delta.get("content")),
            thinking=text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning")),
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
        """Leave out the extra fields from the first time that a server refuses them."""
        try:
            return call()
        except ServerRefused as error:
            if not any(name in str(error.fields.get("said")) for name in _EXTRAS):
                raise
            self._extras = {}
            return call()

    def _found_spelling(self) -> Spelling:
        with self._finding_spelling:
            if self._spelling is None:
                self._spelling = binding_spelling(self._asked, self._server.described)
            return self._spelling

    def _asked(self, fields: Json) -> str:
        told = self._with_or_without_extras(
            lambda: self._server.post(_CHAT, {"model": self._model, **self._extras, **fields})
        )
        message = _object(_object(_first(told.get("choices"))).get("message"))
        return text_of(message.get("content"))


def _finish(reason: object) -> Finish | None:
    if not reason:
        return None
    return Finish.LENGTH if reason == "length" else Finish.STOP


def _read(progress: object) -> tuple[int, int] | None:
    told = _object(progress)
    done, total = tokens(told.get("processed")), tokens(told.get("total"))
    return None if done is None or total is None else (min(done, total), total)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else None


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


__all__ = [
    "OpenAIChat",
    "OpenAIEmbedder",
    "OpenAIReranker",
    "embedder_id",
    "open_chat",
    "open_embedder",
    "open_reranker",
]


def open_chat(spec: ModelSpec) -> OpenAIChat:
    """Open a chat model of the server."""
    return OpenAIChat(
        spec.name,
        server=spec.server,
        context=spec.context,
        timeout=spec.timeout,
        parallel=spec.parallel,
    )


def open_embedder(spec: ModelSpec) -> OpenAIEmbedder:
    """Open an embedder of the server."""
    return OpenAIEmbedder(spec.name, server=spec.server, prefixes=spec.prefixes, id=spec.id)


def open_reranker(spec: ModelSpec) -> "Reranker":
    """Open a reranker of the server: its ``/rerank``, else its chat model."""
    try:
        return OpenAIReranker(spec.name, server=spec.server, id=spec.id)
    except WrongKind as refusal:
        reranker = ChatReranker(open_chat(spec), spec.id)
        try:
            reranker.scores("?", ["?"])
        except (ServerRefused, ProbabilitiesMissing) as error:
            reranker.close()
            raise refusal from error
        return reranker


def embedder_id(spec: ModelSpec) -> str:
    """The id of an embedder and its weights: "multilingual-e5-small@79076464 (Model server)"."""
    with open_embedder(spec) as embedder:
        return embedder.id
