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

THINKING_OFF: Json = {"chat_template_kwargs": {"enable_thinking": False}}
"""Tells the template of a thinking model not to think; llama-server and vLLM pass it on."""

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
        context: tokens; 0 if unknown.
        names: its own, and the names of its weights.
        pooling: of an embedder; None if unknown.
    """

    context: int
    names: tuple[str, ...]
    pooling: Pooling | None


class OpenAIServer(Server):
    """A server with OpenAI's protocol.

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
            timeout=timeout,
        )
        self.root = address.removesuffix("/v1")
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

    def context_of(self, model: str) -> int:
        """Tokens of prompt and reply together; 0 if the server does not say.

        Raises:
            ModelMissing, ServerUnreachable: as in `card_of`.
        """
        return self.card_of(model).context

    def card_of(self, model: str) -> "ServedModel":
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
        props = self._asked(f"{self.root}/props")
        settings = props.get("default_generation_settings")
        lm_studio = self._asked(f"{self.root}/api/v0/models/{model}")
        info = self._asked(f"{self.root}/info")
        contexts = (
            (card or {}).get("max_model_len"),  # vLLM
            settings.get("n_ctx") if isinstance(settings, dict) else None,  # llama-server
            lm_studio.get("loaded_context_length"),
            info.get("max_input_length"),  # Text Embeddings Inference
        )
        names = (
            model,
            (card or {}).get("root"),  # vLLM
            props.get("model_path"),  # llama-server
            info.get("model_id"),  # Text Embeddings Inference
        )
        kinds = info.get("model_type")
        embeds = kinds.get("embedding") if isinstance(kinds, dict) else None
        return ServedModel(
            next(filter(None, map(tokens, contexts)), 0),
            tuple(filter(None, map(text_of, names))),
            pooling_called(embeds.get("pooling")) if isinstance(embeds, dict) else None,
        )

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

    def counter_of(self, model: str) -> Counter | None:
        """A function that counts the tokens of a conversation; None if the server cannot."""
        sample: list[Json] = [{"role": "user", "content": "a"}]
        for counter in (
            self._llama_server_count,
            self._vllm_count,
            self._llama_cpp_python_count,
        ):
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

    def _llama_server_count(self, model: str, messages: list[Json]) -> int | None:
        body = {"model": model, "messages": messages, **THINKING_OFF}
        prompt = self._asked(f"{self.root}/apply-template", body).get("prompt")
        if not isinstance(prompt, str):
            return None
        body = {"model": model, "content": prompt, "add_special": True, "parse_special": True}
        listed = self._asked(f"{self.root}/tokenize", body).get("tokens")
        return len(listed) if isinstance(listed, list) else None

    def _vllm_count(self, model: str, messages: list[Json]) -> int | None:
        body = {"model": model, "messages": messages, **THINKING_OFF}
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
