"""Servers that speak OpenAI's protocol: a double in several dialects, and a real one."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Literal
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from localrag_models.chat import ChatModel, ChatRequest, Finish
from localrag_models.embedding import Embedder
from localrag_models.errors import ModelError
from tiny_models.servers.http import Answer, Double, Json
from tiny_models.servers.streams import Piece, first_letters, messages_of, stream

Dialect = Literal["llama-server", "vllm", "lm-studio", "strict", "tei", "infinity"]
Spelling = Literal["json_schema", "json_object", "structured_outputs", "guided_json", "none"]

_FOREIGN = {"chat_template_kwargs", "repeat_penalty", "return_progress", "grammar"}
"""Fields of a request that OpenAI does not know."""
_START_SECONDS = 60.0


class OpenAIDouble(Double):
    """A server with OpenAI's protocol, and the model ``tiny``.

    Args:
        chat: replies.
        dialect: the server it imitates. ``llama-server`` has its context in ``/props``, counts
            tokens and applies templates; ``vllm`` has its context with the model and counts;
            ``lm-studio`` has its context in its own API and counts nothing; ``strict`` has neither
            and refuses fields unknown to OpenAI. ``tei`` has its context in ``/info``.
            ``infinity`` serves at the root.
        binds: the only spelling of a schema that it obeys.
        context: its declared tokens.
        probabilities: whether it returns those of tokens; else it ignores the request.
        embedder: embeds texts; with prefixes it gets ``input_type``, without them the text only.
        name: of its model.
        weights: their name, said by ``vllm``, ``llama-server`` and ``tei``.
        pooling: said by ``tei``.
    """

    def __init__(
        self,
        chat: ChatModel | None = None,
        dialect: Dialect = "llama-server",
        *,
        binds: Spelling = "json_schema",
        context: int = 4096,
        probabilities: bool = True,
        embedder: Embedder | None = None,
        name: str = "tiny",
        weights: str = "",
        pooling: str = "mean",
    ) -> None:
        self._name = name
        self._weights = weights
        self._pooling = pooling
        self._embedder = embedder
        self._chat = chat
        self._probabilities = probabilities
        self.dialect = dialect
        self._binds = binds
        self._context = context
        super().__init__()

    def answer(self, path: str, body: Json) -> Answer:
        """What the server answers when it behaves."""
        if self.dialect == "infinity":
            path = f"/v1{path}" if path in ("/models", "/embeddings") else "elsewhere"
        if path == "/v1/models" and self.dialect != "tei":
            more: Json = {}
            if self.dialect == "vllm":
                more = {"max_model_len": self._context, "root": self._weights}
            return Answer.json({"data": [{"id": self._name, "object": "model", **more}]})
        if path == "/v1/chat/completions" and self._chat:
            return self._complete(self._chat, body)
        if path == "/v1/embeddings" and self._embedder:
            return self._embed(self._embedder, body)
        told = self._tell(path, body)
        return Answer.error("Not Found", 404) if told is None else Answer.json(told)

    def _tell(self, path: str, body: Json) -> Json | None:
        match self.dialect:
            case "llama-server":
                return self._llama_server(path, body)
            case "vllm" if self._chat and path == "/tokenize" and "messages" in body:
                return {"count": self._chat.count(messages_of(body))}
            case "lm-studio" if path == f"/api/v0/models/{self._name}":
                return {"loaded_context_length": self._context}
            case "tei" if path == "/info":
                kind = {"embedding": {"pooling": self._pooling}}
                told: Json = {"model_id": self._weights, "max_input_length": self._context}
                return {**told, "model_type": kind}
        return None

    def _llama_server(self, path: str, body: Json) -> Json | None:
        if path == "/props":
            settings = {"n_ctx": self._context}
            return {"default_generation_settings": settings, "model_path": self._weights}
        if path == "/apply-template":
            return {"prompt": json.dumps(body["messages"])}
        if path == "/tokenize" and self._chat:
            messages = messages_of({"messages": json.loads(body["content"])})
            return {"tokens": [0] * self._chat.count(messages)}
        return None

    def _complete(self, chat: ChatModel, body: Json) -> Answer:
        foreign = sorted(_FOREIGN & body.keys())
        if self.dialect == "strict" and foreign:
            message = f"Unrecognized request argument supplied: {foreign[0]}"
            return Answer.json({"error": {"message": message, "type": "invalid_request"}}, 400)
        request = ChatRequest(
            messages=messages_of(body),
            schema=_schema(self._binds, body),
            max_tokens=body["max_tokens"],
            temperature=body["temperature"],
            top_p=body.get("top_p", 1.0),
            seed=body.get("seed", 0),
            stop=tuple(body.get("stop", ())),
        )
        if body.get("stream"):
            write = _event if body.get("return_progress") else _event_of_reply
            return Answer(chain(self._likely(chat, body), stream(chat, request, write)))
        try:
            reply = chat.chat(request)
        except ModelError as error:
            return Answer.error(error.cause, 500)
        return Answer.json({"choices": [{"message": {"content": reply.text}}]})

    def _embed(self, embedder: Embedder, body: Json) -> Answer:
        if self.dialect == "strict" and "input_type" in body:
            return Answer.error("Unrecognized request argument supplied: input_type", 400)
        texts = body["input"]
        if any(len(embedder.windows(text)) > 1 for text in texts):
            return Answer.error("input is too large to process. increase the batch size", 500)
        query = body.get("input_type") == "query"
        vectors = embedder.embed_queries(texts) if query else embedder.embed_passages(texts)
        listed = [{"index": n, "embedding": row} for n, row in enumerate(vectors.tolist())]
        # A client that ignores the index gets them in the wrong order.
        return Answer.json({"data": listed[::-1], "usage": {"prompt_tokens": 0}})

    def _likely(self, chat: ChatModel, body: Json) -> Iterator[bytes]:
        """What the first token may be; with an empty text, as if it were part of a character."""
        if self._probabilities and body.get("logprobs"):
            content = first_letters(chat, body)
            yield _data({"choices": [{"delta": {"content": ""}, "logprobs": {"content": content}}]})


@contextmanager
def llama_cpp_server(
    model: Path, *, name: str = "tiny", context: int = 4096, embeds: bool = False
) -> Iterator[str]:
    """The server of llama-cpp-python in a process of its own; gives the address of its API.

    Args:
        model: the GGUF file.
        name: what the model is called.
        context: tokens of it.
        embeds: whether it embeds, in one batch of as many tokens.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "llama_cpp.server", "--model", str(model)),
        *("--model_alias", name, "--host", "127.0.0.1", "--port", str(port)),
        *("--n_ctx", str(context), "--n_threads", "1", "--n_threads_batch", "1"),
        # Otherwise a request would end the running one.
        *("--interrupt_requests", "false", "--verbose", "false"),
    ]
    if embeds:
        batch = ("--n_batch", str(context), "--n_ubatch", str(context))
        command += ["--embedding", "true", *batch]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/v1/models", server)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(10)


def _wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with build_opener(ProxyHandler({})).open(url):
                return
        except (URLError, ConnectionError):
            time.sleep(0.05)
    raise RuntimeError(f"llama_cpp.server did not start (it ended with {server.poll()})")


def _schema(binds: Spelling, body: Json) -> Any:
    """The schema of a request, if it is spelled as the server understands it."""
    wrapped = body.get("response_format", {})
    match binds:
        case "json_schema" | "json_object" if wrapped.get("type") == binds:
            return wrapped.get("schema") or wrapped["json_schema"]["schema"]
        case "structured_outputs":
            return body.get(binds, {}).get("json")
        case "guided_json":
            return body.get(binds)
    return None


def _event_of_reply(piece: Piece) -> bytes:
    return b"" if isinstance(piece, tuple) else _event(piece)


def _event(piece: Piece) -> bytes:
    if isinstance(piece, ModelError):
        return _data({"error": {"message": piece.cause, "code": 500}})
    if isinstance(piece, tuple):
        done, total = piece
        progress = {"total": total, "cache": 0, "processed": done, "time_ms": 1}
        return _data({"choices": [], "prompt_progress": progress})
    if isinstance(piece, str):
        return _data({"choices": [{"delta": {"content": piece}, "finish_reason": None}]})
    reason = "length" if piece.finish is Finish.LENGTH else "stop"
    usage: Json = {
        "prompt_tokens": piece.usage.prompt,
        "completion_tokens": piece.usage.completion,
        "prompt_tokens_details": {"cached_tokens": piece.usage.cached},
    }
    return (
        _data({"choices": [{"delta": {}, "finish_reason": reason}]})
        + _data({"choices": [], "usage": usage})
        + b"data: [DONE]\n\n"
    )


def _data(value: Json) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"
