"""Both kinds of model server, as doubles whose every answer a test can dictate."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tiny_models.servers import Answer, Double, OllamaDouble, OpenAIDouble
from tiny_models.servers.streams import obeyed

from localrag_models.backends.llama_cpp.chat import LlamaCppChat
from localrag_models.backends.ollama import OllamaChat
from localrag_models.backends.openai import OpenAIChat
from localrag_models.backends.servers.binding import EASY, HARD, PROBE
from localrag_models.backends.servers.chat import ServerChat
from localrag_models.backends.servers.http import Retry
from localrag_models.chat import ChatRequest, Message

from ...patience import PATIENCE


class Served:
    """A double, a chat model that speaks with it, and how its protocol writes a reply."""

    def __init__(self, protocol: str, double: Double) -> None:
        self.protocol = protocol
        self.double = double
        self.path = "/api/chat" if protocol == "ollama" else "/v1/chat/completions"
        double.before = self._obey
        self.retries: list[Retry] = []

    def model(self, **options: Any) -> ServerChat:
        options = {"timeout": PATIENCE, "on_retry": self.retries.append, **options}
        kind = OllamaChat if self.protocol == "ollama" else OpenAIChat
        model = kind("tiny", server=self.double.address, **options)
        # The first request is for a sample, to see how many tokens it takes.
        self.double.first(self.path, self.reply("yes", prompt=60))
        model.count([])
        self.double.requests.clear()
        return model

    def line(self, content: str = "", **more: Any) -> bytes:
        if self.protocol == "ollama":
            return _json({"message": {"content": content, **more}, "done": False}) + b"\n"
        delta = {"content": content, **more}
        return b"data: " + _json({"choices": [{"delta": delta}]}) + b"\n\n"

    def listing(self, told: Any) -> bytes:
        """A line with what the server tells of the likely tokens."""
        if self.protocol == "ollama":
            return _json({"message": {"content": "yes"}, "logprobs": told, "done": False}) + b"\n"
        choice = {"delta": {"content": "yes"}, "logprobs": {"content": told}}
        return b"data: " + _json({"choices": [choice]}) + b"\n\n"

    def last(self, *, prompt: int = 10, reason: str = "stop") -> bytes:
        if self.protocol == "ollama":
            end = {"done": True, "done_reason": reason, "prompt_eval_count": prompt}
            return _json({"message": {"content": ""}, "eval_count": 7, **end}) + b"\n"
        usage = {"prompt_tokens": prompt, "completion_tokens": 7}
        finish = {"choices": [{"delta": {}, "finish_reason": reason}]}
        return b"".join(
            b"data: " + each + b"\n\n"
            for each in (_json(finish), _json({"choices": [], "usage": usage}), b"[DONE]")
        )

    def reply(self, *pieces: str, prompt: int = 10) -> Answer:
        return Answer([*map(self.line, pieces), self.last(prompt=prompt)])

    def answers(self, *answers: Answer) -> None:
        self.double.instead(self.path, *answers)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """Bodies of the chat requests that have come, without probes."""
        sent = (body for path, body in self.double.requests if path == self.path)
        return [body for body in sent if not is_probe(body)]

    def _obey(self, path: str, body: dict[str, Any]) -> Answer | None:
        """To a probe, a reply that keeps to its schema."""
        if path != self.path or not is_probe(body):
            return None
        schema = HARD if "kind" in json.dumps(body) else EASY
        return self.reply(obeyed(ask_for(body["messages"][0]["content"], schema)))


def ask_for(text: str, schema: Mapping[str, Any]) -> ChatRequest:
    """A request for a reply of this form."""
    return ChatRequest(messages=(Message("user", text),), schema=schema)


def is_probe(body: dict[str, Any]) -> bool:
    """Whether a request finds out what the server binds."""
    return str(body["messages"][0]["content"]).startswith(PROBE)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


@pytest.fixture(params=["ollama", "openai"])
def served(request: pytest.FixtureRequest, loopback: None) -> Iterator[Served]:
    double = OllamaDouble() if request.param == "ollama" else OpenAIDouble(dialect="strict")
    with double:
        yield Served(request.param, double)


@pytest.fixture
def ollama_served(loopback: None) -> Iterator[Served]:
    with OllamaDouble() as double:
        yield Served("ollama", double)


@pytest.fixture(scope="session")
def tiny(tiny_chat: Path) -> Iterator[LlamaCppChat]:
    """The tiny chat model in this process, for doubles to answer with."""
    with LlamaCppChat(tiny_chat, threads=1) as model:
        yield model


@pytest.fixture
def ask() -> Callable[..., ChatRequest]:
    """Makes a request: ``ask("何条か", max_tokens=9)``."""

    def make(text: str = "何条か", **options: Any) -> ChatRequest:
        return ChatRequest(messages=(Message("user", text),), **{"max_tokens": 64, **options})

    return make


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts follow each other at once."""
    monkeypatch.setattr("localrag_models.backends.servers.http._FIRST_WAIT", 0.001)
