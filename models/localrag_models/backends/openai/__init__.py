"""Chat on a server with OpenAI's protocol: llama-server, vLLM, LM Studio."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from localrag_models.backends.chat_reranker import ChatReranker
from localrag_models.backends.openai.embedder import OpenAIEmbedder
from localrag_models.backends.openai.reranker import OpenAIReranker
from localrag_models.backends.openai.server import OpenAIServer
from localrag_models.backends.servers.binding import Binds, Schema, Way, said_in
from localrag_models.backends.servers.chat import ServerChat, agreed_context
from localrag_models.backends.servers.draft import Asked, Draft, Event, likely
from localrag_models.backends.servers.http import Json, Retry, text_of, tokens, warn
from localrag_models.chat import Finish, Message, overlook
from localrag_models.errors import N_, ProbabilitiesMissing, ServerRefused, WrongKind
from localrag_models.grammar import grammar_of
from localrag_models.runtimes import ModelSpec
from localrag_models.thinking import Effort, Thinking, speaks_harmony

if TYPE_CHECKING:
    from localrag_models.embedding import Reranker

_CONTEXT_IF_UNTOLD = 4096
_LESS = N_("The server gives {model!r} a context of {available:,} tokens, not of {needed:,}.")
_CHAT = "/chat/completions"

# A quotation repeats its source: the servers' penalty would change it. The last field makes
# llama-server report how much of the prompt it has read.
_EXTRAS: Json = {"repeat_penalty": 1.0, "return_progress": True}
_SWITCHES = ("chat_template_kwargs", "reasoning_effort")

T = TypeVar("T")

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


def _tool(schema: Schema) -> Json:
    function = {"name": "reply", "strict": True, "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "reply"}},
    }


def _json_mode(schema: Schema) -> Json:
    del schema
    return {"response_format": {"type": "json_object"}}


# A grammar of our own is exact, but binds a thought, too. So it comes last if the model thinks.
_GRAMMAR = ("grammar", _grammar)  # llama-server, llama_cpp.server
_SPELLINGS: tuple[tuple[str, Spelling], ...] = (
    ("json_schema", _json_schema),  # OpenAI's own: vLLM, LM Studio, llama-server
    ("json_object", _json_object),  # llama_cpp.server, llama-server, some hosted ones
    ("structured_outputs", _structured_outputs),  # vLLM since 0.11
    ("guided_json", _guided_json),  # vLLM before
)


def ways_to_bind(thinking: Thinking) -> list[Way]:
    """The ways to bind replies on servers with OpenAI's protocol, best first."""
    spelled: list[tuple[Thinking, tuple[str, Spelling]]]
    if thinking == "off":
        spelled = [(thinking, each) for each in (_GRAMMAR, *_SPELLINGS)]
    else:
        spelled = [(thinking, each) for each in _SPELLINGS]
        spelled += [("off", each) for each in (_GRAMMAR, *_SPELLINGS)]
    ways = [
        Way(name=f"{name}, thinking {how}", thinking=how, binds=Binds.SCHEMA, spelled=fields)
        for how, (name, fields) in spelled
    ]
    tool = Way(name="tool", thinking="off", binds=Binds.TOOL, spelled=_tool)
    return [*ways, tool, Way(name="JSON", thinking="off", binds=Binds.JSON, spelled=_json_mode)]


def switches(thinking: Thinking, effort: Effort, *, harmony: bool) -> Json:
    """The fields for thought; llama-server and vLLM pass them on to the template."""
    if harmony:
        level = "low" if thinking == "off" else effort
        return {"reasoning_effort": level, "chat_template_kwargs": {"reasoning_effort": level}}
    if thinking == "auto":
        return {}
    on = thinking == "on"
    # The names of Qwen's and others' templates, and of DeepSeek's and Granite's.
    return {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}}


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
        thinking: Thinking = "off",
        effort: Effort = "medium",
        remembered: Path | None = None,
        on_retry: Callable[[Retry], None] = warn,
    ) -> None:
        self._openai = OpenAIServer(server, timeout=timeout)
        try:
            context = agreed_context(
                model, _LESS, context, self._openai.card_of(model).context, _CONTEXT_IF_UNTOLD
            )
            harmony = speaks_harmony(model, self._openai.template)
            told = switches(thinking, effort, harmony=harmony)
            self._counter = self._openai.counter_of(model, told)
        except BaseException:
            self._openai.close()
            raise
        super().__init__(
            model,
            self._openai,
            context=context,
            parallel=parallel,
            on_retry=on_retry,
            thinking=thinking,
            effort=effort,
            remembered=remembered,
            thinks=thinking == "on",
            harmony=harmony,
        )
        self._takes_extras = True

    def count(self, messages: Sequence[Message]) -> int:
        counted = self._counter(self._sent(messages)) if self._counter else None
        return super().count(messages) if counted is None else counted

    def _exchange(self, asked: Asked) -> tuple[str, Json]:
        request = asked.request
        body: Json = {
            "model": self._model,
            "messages": self._sent(request.messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": asked.limit,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
        }
        if self._takes_extras:
            told = switches(asked.way.thinking, self._effort, harmony=self._harmony)
            body |= _EXTRAS | told
        if request.schema is not None:
            body |= asked.way.spelled(request.schema)
        if request.stop:
            body["stop"] = list(request.stop)
        if asked.candidates:
            body |= {"logprobs": True, "top_logprobs": asked.candidates}
        return _CHAT, body

    def _ways(self) -> Sequence[Way]:
        return ways_to_bind(self._thinking)

    def _version(self) -> str:
        return self._openai.version()

    def _attempt(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        cancelled: Callable[[], bool],
        on_read: Callable[[int, int], None] = overlook,
    ) -> Draft:
        attempt = super()._attempt
        return self._with_or_without_extras(lambda: attempt(asked, on_text, cancelled, on_read))

    def _event(self, line: str) -> Event | None:
        kind, _, content = line.partition(":")
        if kind != "data" or content.strip() == "[DONE]":
            return None
        told = self._server.parsed(content)
        return self._told(told)

    def _late(self, lines: Sequence[str]) -> Event | None:
        """A server may ignore ``stream``, and send the reply or an error as one JSON value."""
        text = "\n".join(lines).strip()
        return self._told(self._server.parsed(text)) if text else None

    def _told(self, told: Json) -> Event:
        if error := told.get("error"):
            raise self._server.refusal(*said_in(error))
        choice = _object(_first(told.get("choices")))
        delta = _object(choice.get("delta")) or _object(choice.get("message"))
        call = _object(_object(_first(delta.get("tool_calls"))).get("function"))
        usage = _object(told.get("usage"))
        cached = _object(usage.get("prompt_tokens_details")).get("cached_tokens")
        thought = _object(usage.get("completion_tokens_details")).get("reasoning_tokens")
        return Event(
            text=text_of(delta.get("content")) or text_of(call.get("arguments")),
            thinking=text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning")),
            finish=_finish(choice.get("finish_reason")),
            prompt=tokens(usage.get("prompt_tokens")),
            cached=tokens(cached),
            completion=tokens(usage.get("completion_tokens")),
            thought=tokens(thought),
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
            said = str(error.fields.get("said"))
            if not self._takes_extras or not any(name in said for name in (*_EXTRAS, *_SWITCHES)):
                raise
            self._takes_extras = False
            return call()


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
        thinking=spec.thinking,
        effort=spec.effort,
        remembered=spec.remembered,
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
