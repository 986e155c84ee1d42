"""A server that speaks Ollama's protocol and answers with tiny models."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from localrag_models.chat import ChatModel, ChatRequest, Finish, Message
from localrag_models.embedding import Embedder
from localrag_models.errors import ModelError
from tiny_models.servers.http import Answer, Double, Json
from tiny_models.servers.streams import Piece, first_letters, messages_of, stream


class OllamaDouble(Double):
    """A server with Ollama's protocol.

    Args:
        chat: replies as the model ``tiny:latest``.
        embedder: replies as all other models, at first ``tiny-embedder:latest``, without prefixes.
        context: declared tokens of its models.
        old: whether it has neither ``truncate`` nor capabilities, as before version 0.6.4, nor
            probabilities of tokens.

    Attributes:
        digests: of each model; add one to add a model, change one to change its weights.
        pooling: number of the pooling of its embedders; 0 says none.
        loaded: bytes, and bytes in GPU memory, of each loaded model.
    """

    pooling = 0

    def __init__(
        self,
        chat: ChatModel | None = None,
        embedder: Embedder | None = None,
        *,
        context: int = 4096,
        old: bool = False,
    ) -> None:
        self._chat = chat
        self._embedder = embedder
        self._context = context
        self._old = old
        self.digests = {"tiny:latest": "a" * 64, "tiny-embedder:latest": "b" * 64}
        self.loaded: dict[str, tuple[int, int]] = {}
        super().__init__()

    def answer(self, path: str, body: Json) -> Answer:
        """What the server answers when it behaves."""
        if path == "/api/version":
            return Answer.json({"version": "0.34.2"})
        if path == "/api/tags":
            return Answer.json({"models": [self._listed(name) for name in self.digests]})
        if path == "/api/ps":
            running = [
                {"name": name, "model": name, "size": size, "size_vram": in_vram}
                for name, (size, in_vram) in self.loaded.items()
            ]
            return Answer.json({"models": running})
        if path == "/api/pull":
            return self._pull(str(body["model"]))
        name = _full(str(body.get("model", "")))
        if name not in self.digests:
            return Answer.error(f"model '{name}' not found", 404)
        if path == "/api/show":
            return self._show(name)
        if path == "/api/chat" and self._chat and name == "tiny:latest":
            return self._stream(self._chat, body)
        if path == "/api/embed" and self._embedder and name != "tiny:latest":
            return self._embed(self._embedder, body)
        return Answer.error(f'"{name}" does not support {path.rsplit("/", 1)[-1]}', 400)

    def _listed(self, name: str) -> Json:
        details = {"family": "qwen3", "parameter_size": "100K", "quantization_level": "F32"}
        digest = self.digests[name]
        return {"name": name, "model": name, "size": 452_000, "digest": digest, "details": details}

    def _show(self, name: str) -> Answer:
        capability = "completion" if name == "tiny:latest" else "embedding"
        info: Json = {"general.architecture": "tiny", "tiny.context_length": self._context}
        if self._embedder and capability == "embedding":
            info["tiny.embedding_length"] = self._embedder.dimension
        if self.pooling:
            info["tiny.pooling_type"] = self.pooling
        shown: Json = {"model_info": info, "details": {}}
        return Answer.json(shown if self._old else {**shown, "capabilities": [capability]})

    def _stream(self, model: ChatModel, body: Json) -> Answer:
        options = body.get("options", {})
        request = ChatRequest(
            messages=messages_of(body),
            schema=body.get("format"),
            max_tokens=options.get("num_predict", 128),
            temperature=options.get("temperature", 0.8),
            top_p=options.get("top_p", 0.9),
            seed=options.get("seed", 0),
            stop=tuple(options.get("stop") or ()),
        )
        room = options.get("num_ctx", 4096)
        if (tokens := model.count(request.messages)) > room:
            if not body.get("truncate", True) and not self._old:
                return Answer.error(
                    f"request ({tokens} tokens) exceeds the available context size ({room} tokens)",
                    400,
                )
            request = _cut(model, request, room)
        return Answer(chain(self._likely(model, body), stream(model, request, _line)))

    def _likely(self, model: ChatModel, body: Json) -> Iterator[bytes]:
        if body.get("logprobs") and not self._old:
            listed = first_letters(model, body)
            message = {"role": "assistant", "content": ""}
            yield _json_line({"message": message, "logprobs": listed, "done": False})

    def _embed(self, embedder: Embedder, body: Json) -> Answer:
        texts = body["input"]
        windows = [embedder.windows(text) for text in texts]
        if any(len(parts) > 1 for parts in windows) and not body.get("truncate", True):
            return Answer.error("the input length exceeds the context length", 400)
        vectors = embedder.embed_passages([parts[0] for parts in windows])
        return Answer.json({"model": body["model"], "embeddings": vectors.tolist()})

    def _pull(self, model: str) -> Answer:
        digest = f"sha256:{'c' * 64}"

        def lines() -> Iterator[bytes]:
            yield _json_line({"status": "pulling manifest"})
            if model == "nosuch":
                yield _json_line({"error": "pull model manifest: file does not exist"})
                return
            for completed in (0, 50, 100):
                progress = {"digest": digest, "total": 100, "completed": completed}
                yield _json_line({"status": f"pulling {'c' * 12}", **progress})
            self.digests[_full(model)] = "c" * 64
            yield _json_line({"status": "success"})

        return Answer(lines())


def _line(piece: Piece) -> bytes:
    if isinstance(piece, tuple):
        return b""
    if isinstance(piece, str):
        return _json_line({"message": {"role": "assistant", "content": piece}, "done": False})
    if isinstance(piece, ModelError):
        return _json_line({"error": piece.cause})
    end: Json = {
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "length" if piece.finish is Finish.LENGTH else "stop",
        "prompt_eval_count": piece.usage.prompt,
        "eval_count": piece.usage.completion,
    }
    if piece.usage.cached is not None:
        end["prompt_eval_cached_count"] = piece.usage.cached
    return _json_line(end)


def _json_line(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _cut(model: ChatModel, request: ChatRequest, room: int) -> ChatRequest:
    """Like old servers, cut the middle of a long prompt silently."""
    *others, last = request.messages
    text = last.content
    while model.count([*others, Message(last.role, text)]) > room:
        middle = len(text) // 2
        text = text[:middle] + text[middle + 1 :]
    shortened = Message(last.role, text)
    left = max(1, room - model.count([*others, shortened]))
    return replace(request, messages=(*others, shortened), max_tokens=left)


def _full(name: str) -> str:
    return name if ":" in name else f"{name}:latest"
