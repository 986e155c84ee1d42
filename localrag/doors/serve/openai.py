"""The OpenAI protocol: answers as chat completions, embeddings, models.

A corpus is a model, ``localrag/main``. The last message is the question; earlier messages of the
user are its context. Messages of tools are skipped. The reply is the answer in Markdown, with the
JSON of ``localrag ask`` in the field ``localrag``. Filters come in the field ``localrag`` of the
request. A reply is streamed after code has checked it.
"""

import asyncio
import base64
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

# Before Python 3.12 Pydantic makes schemas of this one alone.
from typing_extensions import TypedDict

from localrag.doors.as_json.found import AnswerJson
from localrag.doors.calls import (
    MOST_BEFORE,
    OR_NULL,
    WHOLE,
    AskCall,
    Filtered,
)
from localrag.doors.serve.desk import Refused
from localrag.doors.serve.entrance import note_of, sent
from localrag.doors.serve.guarding import Gone, GuardedDesk, begun, noting
from localrag.doors.serve.work import Refusal, ToldJson
from localrag.errors import NotFoundError, UsageError
from localrag.language import N_
from localrag.search import MAX_CHARACTERS
from localrag.text.harmless import json_text

_OURS = "localrag"
# Characters in a piece of a stream.
_PIECE = 80
# Clients and proxies give up after this silence, in seconds.
_SILENCE = 10.0


_Whole = Annotated[int, WHOLE]


class _Taken(BaseModel):
    """A request. Unknown fields have no effect and are named in the reply."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    @property
    def unknown(self) -> list[str]:
        """Names of fields without effect."""
        return list(self.model_extra or ())


_Objects = tuple[dict[str, Any], ...]


class _Part(_Taken):
    type: Literal["text"]
    text: str


class _RefusedPart(_Taken):
    type: Literal["refusal"]
    refusal: str


class _Message(_Taken):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | tuple[_Part | _RefusedPart, ...] | None = None
    name: str | None = None
    # Fields of a reply; clients send them back.
    refusal: str | None = None
    annotations: _Objects | None = None
    audio: dict[str, Any] | None = None
    # Calls of tools by another model, and their results.
    function_call: dict[str, Any] | None = None
    tool_calls: _Objects | None = None
    tool_call_id: str | None = None

    @property
    def all_unknown(self) -> list[str]:
        parts = self.content if isinstance(self.content, tuple) else ()
        return [*self.unknown, *(name for part in parts for name in part.unknown)]

    @property
    def text(self) -> str:
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content if isinstance(part, _Part))

    @property
    def of_tools(self) -> bool:
        """Whether the message calls a tool, or is its result."""
        called = self.tool_calls or self.function_call
        return self.role in ("tool", "function") or (self.role == "assistant" and bool(called))


class _StreamOptions(_Taken):
    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class _AsText(_Taken):
    type: Literal["text"]


_NotCalled = Literal["none", "auto"]


class ChatRequest(_Taken):
    """Answer the last message, with verbatim quotations that code has checked.

    Settings of the model have no effect. Messages of tools are skipped. Requests for several
    replies, JSON, sound or the call of a tool are refused.
    """

    model: str = Field(max_length=200, description="localrag/CORPUS, or localrag for the usual.")
    messages: Annotated[tuple[_Message, ...], Field(min_length=1, max_length=1_000)]
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=1), WHOLE] | None = None
    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    max_tokens: _Whole | None = None
    max_completion_tokens: _Whole | None = None
    seed: _Whole | None = None
    stop: str | tuple[str, ...] | None = None
    logit_bias: dict[str, float] | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    prediction: dict[str, Any] | None = None
    tools: _Objects | None = Field(None, description="None of them is called.")
    tool_choice: _NotCalled | None = None
    parallel_tool_calls: bool | None = None
    functions: _Objects | None = Field(None, description="None of them is called.")
    function_call: _NotCalled | None = None
    response_format: _AsText | None = Field(None, description="Every answer is Markdown.")
    modalities: tuple[Literal["text"], ...] | None = None
    logprobs: Literal[False] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = Field(None, description="Nothing is kept for later calls.")
    service_tier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: dict[str, Any] | None = None
    prompt_cache_retention: str | None = None
    localrag: Filtered | None = Field(
        None, description="Filters and the day, as the route /ask takes them."
    )

    @property
    def ignored(self) -> list[str]:
        """Fields without effect: the settings of localrag decide."""
        known = {"model", "messages", "stream", "stream_options", "n", "user", "localrag"}
        # These ask for the usual reply.
        known |= {"tool_choice", "function_call", "response_format", "modalities", "logprobs"}
        of_system = any(one.role in ("system", "developer") for one in self.messages)
        of_tools = any(one.of_tools for one in self.messages)
        fields = self.model_fields_set & type(self).model_fields.keys() - known
        given = [name for name in fields if getattr(self, name)]
        within = [name for one in self.messages for name in one.all_unknown]
        for part in (self.stream_options, self.response_format):
            within += part.unknown if part else []
        return [
            *sorted({*given, *self.unknown, *within}),
            *(["system"] if of_system else []),
            *(["tool_calls"] if of_tools else []),
        ]


class EmbeddingRequest(_Taken):
    """Embed texts with the model behind the search by meaning."""

    model: str = Field(max_length=200, description="The id of the embedder, or localrag for it.")
    input: (
        Annotated[str, Field(min_length=1, max_length=100_000)]
        | Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=100_000)], ...],
            Field(min_length=1, max_length=2_048),
        ]
    )
    encoding_format: Annotated[Literal["float", "base64"], OR_NULL] = "float"
    dimensions: _Whole | None = Field(None, description="Those of the model: no vector is cut.")
    input_type: Annotated[Literal["query", "passage"], OR_NULL] = Field(
        "passage", description="What the texts are: models are trained to tell the two apart."
    )
    user: str | None = None


class _Usage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class _Said(TypedDict):
    role: str
    content: str
    refusal: None


class _Choice(TypedDict):
    index: int
    message: _Said
    logprobs: None
    finish_reason: str


class _Localrag(TypedDict):
    answer: AnswerJson
    ignored: list[str]


class Completion(TypedDict):
    """A reply; `localrag.ignored` names the fields without effect."""

    id: str
    object: str
    created: int
    model: str
    choices: list[_Choice]
    usage: _Usage
    localrag: _Localrag


class _Embedding(TypedDict):
    object: str
    index: int
    embedding: list[float] | str


class _EmbeddingUsage(TypedDict):
    prompt_tokens: int
    total_tokens: int


class _Ignored(TypedDict):
    ignored: list[str]


class Embeddings(TypedDict):
    """The vectors of texts, in their order; tokens are not counted: 0."""

    object: str
    model: str
    data: list[_Embedding]
    usage: _EmbeddingUsage
    localrag: _Ignored


class _Model(TypedDict):
    id: str
    object: str
    created: int
    owned_by: str


class Models(TypedDict):
    """The corpora of a client, and the embedder."""

    object: str
    data: list[_Model]


TAKES: Mapping[str, type[BaseModel]] = {
    "/v1/chat/completions": ChatRequest,
    "/v1/embeddings": EmbeddingRequest,
}
"""What the routes take."""
GIVES: Mapping[str, Any] = {
    "/v1/chat/completions": Completion,
    "/v1/embeddings": Embeddings,
    "/v1/models": Models,
    "/v1/models/{id}": _Model,
}
"""What they give."""
STREAMED = ("/v1/chat/completions",)
"""Those that can give it piece by piece."""


async def _complete(request: Request) -> Response:
    asked = await sent(request, ChatRequest)
    call = _question(asked)
    desk: GuardedDesk = request.app.state.desk
    if not asked.stream:
        told = await desk.ask(request, call)
        return JSONResponse(_completion(asked, told))
    # An early failure has its own status.
    answering = await begun(desk.ask(request, call), _SILENCE)
    return StreamingResponse(_stream(request, asked, answering), media_type="text/event-stream")


def _question(asked: ChatRequest) -> AskCall:
    """The question of the messages; raises Refused, ValidationError."""
    prefix, _slash, corpus = asked.model.partition("/")
    if prefix != _OURS:
        raise _no_model(asked.model)
    *before, last = [one for one in asked.messages if not one.of_tools] or asked.messages
    if last.role != "user":
        raise Refused(
            Refusal.of(
                UsageError(N_("The last message is not of the user."), N_("End with the question."))
            )
        )
    after = [one.text for one in before if one.role == "user" and one.text]
    fitting = [text for text in after if len(text) <= MAX_CHARACTERS]
    wanted = {**vars(asked.localrag or Filtered()), "corpus": corpus}
    return AskCall.of(question=last.text, after=tuple(fitting[-MOST_BEFORE:]), **wanted)


def _no_model(name: str) -> Refused:
    cure = N_("GET /v1/models names those there are.")
    return Refused(Refusal.of(NotFoundError(N_("There is no model {name!r}."), cure, name=name)))


def _completion(asked: ChatRequest, told: ToldJson) -> Completion:
    said: _Said = {"role": "assistant", "content": told["markdown"], "refusal": None}
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": "stop"}],
        "usage": _usage(told["answer"]),
        "localrag": {"answer": told["answer"], "ignored": asked.ignored},
    }


def _usage(answer: AnswerJson) -> _Usage:
    prompt = sum(call["prompt"] for call in answer["calls"])
    written = sum(call["completion"] for call in answer["calls"])
    return {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "total_tokens": prompt + written,
    }


async def _stream(
    request: Request, asked: ChatRequest, answering: "asyncio.Future[ToldJson]"
) -> AsyncIterator[str]:
    """The events of a reply: signs of life at first, its pieces after the check."""
    head = {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": asked.model,
    }

    def event(delta: Mapping[str, Any], **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": more.pop("finish_reason", None)}
        return _event({**head, "choices": [choice], **more})

    try:
        yield event({"role": "assistant", "content": ""})
        while not answering.done():
            await asyncio.wait({answering}, timeout=_SILENCE)
            if not answering.done():
                yield ": answering\n\n"
        try:
            told = answering.result()
        except (Refused, Gone) as error:
            refusal = getattr(error, "refusal", None)
            kind = refusal.kind if refusal else type(error).__name__
            failure = {"message": str(error), "type": kind, "request_id": note_of(request).id}
            yield _event({"error": failure})
            return
        text = told["markdown"]
        for start in range(0, len(text), _PIECE):
            yield event({"content": text[start : start + _PIECE]})
        localrag: _Localrag = {"answer": told["answer"], "ignored": asked.ignored}
        yield event({}, finish_reason="stop", localrag=localrag)
        if asked.stream_options and asked.stream_options.include_usage:
            yield _event({**head, "choices": [], "usage": _usage(told["answer"])})
        yield "data: [DONE]\n\n"
    finally:
        answering.cancel()


def _event(value: Mapping[str, Any]) -> str:
    return f"data: {json_text(value)}\n\n"


async def _embed(request: Request) -> Response:
    asked = await sent(request, EmbeddingRequest)
    desk: GuardedDesk = request.app.state.desk
    if asked.model not in (_OURS, desk.embedder):
        raise _no_model(asked.model)
    texts = [asked.input] if isinstance(asked.input, str) else list(asked.input)
    with noting(request):
        async with desk.asking.passed():
            vectors = await desk.desk.embed(texts, queries=asked.input_type == "query")
    if asked.dimensions not in (None, vectors.shape[1]):
        raise Refused(
            Refusal.of(
                UsageError(
                    N_("The vectors of {model} have {n:,} dimensions."),
                    N_("Leave dimensions out."),
                    model=desk.embedder,
                    n=vectors.shape[1],
                )
            )
        )
    rows: list[list[float] | str] = (
        [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
        if asked.encoding_format == "base64"
        else vectors.tolist()
    )
    reply: Embeddings = {
        "object": "list",
        "model": desk.embedder,
        "data": [
            {"object": "embedding", "index": place, "embedding": row}
            for place, row in enumerate(rows)
        ],
        "usage": {"prompt_tokens": 0, "total_tokens": 0},
        "localrag": {"ignored": sorted(asked.unknown)},
    }
    return JSONResponse(reply)


async def _models(request: Request) -> Response:
    reply: Models = {"object": "list", "data": [_model(name) for name in _names(request)]}
    return JSONResponse(reply)


async def _one_model(request: Request) -> Response:
    name = request.path_params["id"]
    names = _names(request)
    # Without a name it is the usual corpus, if there is one.
    if name not in names and not (name == _OURS and names):
        raise _no_model(name)
    return JSONResponse(_model(name))


def _names(request: Request) -> list[str]:
    desk: GuardedDesk = request.app.state.desk
    names = [f"{_OURS}/{name}" for name in desk.corpora(note_of(request).holder)]
    return [*names, desk.embedder] if names and desk.embedder else names


def _model(name: str) -> _Model:
    return {"id": name, "object": "model", "created": 0, "owned_by": _OURS}


ROUTES = (
    Route("/v1/chat/completions", _complete, methods=["POST"]),
    Route("/v1/embeddings", _embed, methods=["POST"]),
    Route("/v1/models", _models),
    Route("/v1/models/{id:path}", _one_model),
)
