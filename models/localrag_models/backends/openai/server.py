"""A server with OpenAI's protocol, and the extensions of the different ones."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from localrag_models.backends.servers.http import (
    Json,
    Server,
    Unserved,
    checked,
    text_of,
    tokens,
)
from localrag_models.errors import (
    N_,
    Cure,
    ModelError,
    ModelMissing,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
    WrongKind,
)
from localrag_models.families import Pooling, pooling_called

_BINDING = {
    "llama-server": N_("Update llama-server, and start it with --jinja."),
    "vLLM": N_(
        "Start vLLM with the --reasoning-parser of the model: without it, a thought and a schema "
        "exclude each other."
    ),
    "LM Studio": N_(
        "Update LM Studio, and switch thinking off in the settings of the model there; or load the "
        "model as GGUF."
    ),
}
_BINDING_OF_OTHERS = N_(
    "Use a server that binds replies to a schema: llama-server, vLLM, LM Studio, Ollama."
)

NO_EMBEDDER = N_(
    "Start it with an embedding model: llama-server --embeddings, or llama_cpp.server "
    "--embedding true."
)
_NO_EMBEDDER = re.compile(r"embedding=True|not support embeddings", re.I)
_COUNTERS = (
    ("/tokenize", "content"),  # llama-server
    ("/tokenize", "prompt"),  # vLLM
    ("/extras/tokenize/count", "input"),  # llama_cpp.server
)

Counter = Callable[[list[Json]], int | None]
"""Tokens of the prompt that a server makes of messages; None if it does not say."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The card of a model on a server.

    Attributes:
        context: tokens of prompt and reply together; 0 if unknown.
        names: its own, and the names of its weights.
        pooling: of an embedder; None if unknown.
    """

    context: int
    names: tuple[str, ...]
    pooling: Pooling | None


class OpenAIServer(Server):
    """A server with OpenAI's protocol.

    Attributes:
        kind: llama-server, vLLM or LM Studio; empty for others.

    `address` is ``http://HOST:PORT/v1``; without a path, ``/v1`` is added. `timeout` is in seconds
    without a byte.
    """

    def __init__(self, address: str, *, timeout: float) -> None:
        address = checked(address)
        if not urlsplit(address).path:
            address += "/v1"
        super().__init__(
            address,
            name="Model server",
            cure=Cure.START_SERVER,
            probabilities=N_(
                "Use a server that gives them (logprobs): llama-server, vLLM, or "
                "llama_cpp.server with logits_all."
            ),
            binding=_BINDING_OF_OTHERS,
            timeout=timeout,
        )
        self.root = address.removesuffix("/v1")
        self.kind = ""
        self._props: Json = {}
        self._places: dict[str, str] = {}

    def refusal(self, status: int, message: str) -> ModelError:
        fields = {"server": self.described, "said": message}
        if status in (401, 403):
            return ServerRefused(
                N_("{server} wants another key: {said}"),
                N_("Give the key the server was started with, or start it without one."),
                **fields,
            )
        if status == 404 and "model" in message.lower():
            return ModelMissing(N_("{server} answered: {said}"), Cure.KNOWN_NAME, **fields)
        if _NO_EMBEDDER.search(message):
            return WrongKind(N_("{server} does not embed: {said}"), NO_EMBEDDER, **fields)
        return super().refusal(status, message)

    def card_of(self, model: str) -> ServedModel:
        """The server's card of a model.

        Raises:
            ModelMissing: the server lists its models, and this one is not among them.
            ServerUnreachable: no server answers.
        """
        listed = self._asked("/models").get("data")
        cards = (
            [card for card in listed if isinstance(card, dict)] if isinstance(listed, list) else []
        )
        card = next((card for card in cards if card.get("id") == model), None)
        if card is None and cards:
            raise ModelMissing(
                N_("{server} has no model {model!r}; it has: {names}."),
                Cure.SERVED_NAME,
                server=self.described,
                model=model,
                first=cards[0].get("id"),
                names=", ".join(str(card.get("id")) for card in cards[:20]),
            )
        self._props = self._asked(f"{self.root}/props")
        info = self._asked(f"{self.root}/info")
        names = (
            model,
            (card or {}).get("root"),  # vLLM
            self._props.get("model_path"),  # llama-server
            info.get("model_id"),  # Text Embeddings Inference
        )
        kinds = info.get("model_type")
        embeds = kinds.get("embedding") if isinstance(kinds, dict) else None
        return ServedModel(
            self._context_of(model, card or {}, info),
            tuple(filter(None, map(text_of, names))),
            pooling_called(embeds.get("pooling")) if isinstance(embeds, dict) else None,
        )

    def _context_of(self, model: str, card: Json, info: Json) -> int:
        """The context of a model; the place of its number tells the kind of the server."""
        settings = self._props.get("default_generation_settings")
        lm_studio = self._asked(f"{self.root}/api/v0/models/{model}")
        told = {
            "vLLM": card.get("max_model_len"),
            "llama-server": settings.get("n_ctx") if isinstance(settings, dict) else None,
            "LM Studio": lm_studio.get("loaded_context_length"),
            "Text Embeddings Inference": info.get("max_input_length"),
        }
        known = {kind: size for kind, one in told.items() if (size := tokens(one))}
        self.kind = next(iter(known), "")
        self.binding = _BINDING.get(self.kind, _BINDING_OF_OTHERS)
        return known.get(self.kind, 0)

    def post_anywhere(self, path: str, body: Json) -> Json | list[Any]:
        """Answer of a POST request below ``/v1``, else at the root (Infinity).

        The next request goes to the same place.

        Raises:
            Unserved: the server has nothing at either place.
            ModelError: as in `post`.
        """
        if path not in self._places:
            self._places[path] = self.address
            try:
                return self.post_any(path, body)
            except Unserved:
                self._places[path] = self.root
        return self.post_any(f"{self._places[path]}{path}", body)

    def version(self) -> str:
        """The version of the server: of llama-server or vLLM; empty if it does not say."""
        build = text_of(self._props.get("build_info"))
        return build or text_of(self._asked(f"{self.root}/version").get("version"))

    @property
    def template(self) -> str:
        """The chat template of llama-server; empty if unknown."""
        return text_of(self._props.get("chat_template"))

    def counter_of(self, model: str, switches: Json) -> Counter | None:
        """A function that counts the tokens of a conversation; None if the server cannot.

        `switches` for thought change the prompt of some templates.
        """
        sample: list[Json] = [{"role": "user", "content": "a"}]
        counters = (
            partial(self._llama_server_count, switches),
            partial(self._vllm_count, switches),
            self._llama_cpp_python_count,
        )
        for counter in counters:
            if counter(model, sample) is not None:
                return partial(counter, model)
        return None

    def text_counter_of(self, model: str) -> Callable[[str], int | None] | None:
        """A function that counts the tokens of a text to embed; None if the server cannot."""
        for path, name in _COUNTERS:
            counter = partial(self._text_count, path, name, model)
            if counter("a") is not None:
                return counter
        return None

    def _text_count(self, path: str, name: str, model: str, text: str) -> int | None:
        body = {"model": model, name: text, "add_special": True}
        told = self._asked(f"{self.root}{path}", body)
        listed = told.get("tokens")
        return len(listed) if isinstance(listed, list) else tokens(told.get("count"))

    def _llama_server_count(self, switches: Json, model: str, messages: list[Json]) -> int | None:
        body = {"model": model, "messages": messages, **switches}
        prompt = self._asked(f"{self.root}/apply-template", body).get("prompt")
        if not isinstance(prompt, str):
            return None
        body = {"model": model, "content": prompt, "add_special": True, "parse_special": True}
        listed = self._asked(f"{self.root}/tokenize", body).get("tokens")
        return len(listed) if isinstance(listed, list) else None

    def _vllm_count(self, switches: Json, model: str, messages: list[Json]) -> int | None:
        body = {"model": model, "messages": messages, **switches}
        return tokens(self._asked(f"{self.root}/tokenize", body).get("count"))

    def _llama_cpp_python_count(self, model: str, messages: list[Json]) -> int | None:
        # It counts texts only. A template puts a role and a few control tokens around each.
        around = sum(8 + len(message["role"]) for message in messages) + 16
        text = "".join(message["content"] for message in messages)
        body = {"model": model, "input": text}
        counted = tokens(self._asked(f"{self.root}/extras/tokenize/count", body).get("count"))
        return None if counted is None else counted + around

    def _asked(self, path: str, body: Json | None = None) -> Json:
        """The server's answer, empty if it does not know the request."""
        try:
            return self.get(path) if body is None else self.post(path, body, last=True)
        except (ServerUnreachable, ServerTimeout):
            raise
        except ModelError:
            return {}
