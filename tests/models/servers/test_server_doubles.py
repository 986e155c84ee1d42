"""The doubles speak the protocols: the clients that Ollama and OpenAI publish understand them."""

import _socket
from urllib.parse import urlsplit

import httpx
import pytest
from pytest_socket import disable_socket
from tiny_models.servers import OllamaDouble, OpenAIDouble

from ...patience import wait_for

pytestmark = pytest.mark.usefixtures("loopback")

MESSAGES = [{"role": "user", "content": "何条か"}]


def test_ollama_s_own_client(tiny):
    ollama = pytest.importorskip("ollama", reason="needs the client of Ollama")
    with OllamaDouble(tiny) as double, ollama.Client(double.address, trust_env=False) as client:
        schema = {"type": "integer", "minimum": 3, "maximum": 9}
        options = {"num_predict": 16}
        parts = list(client.chat("tiny", MESSAGES, format=schema, options=options, stream=True))
        assert 3 <= int("".join(part.message.content for part in parts)) <= 9
        assert parts[-1].done_reason == "stop"
        assert parts[-1].prompt_eval_count > 0
        assert [model.model for model in client.list().models] == list(double.digests)
        assert client.show("tiny").modelinfo["tiny.context_length"] == 4096
        assert [each.status for each in client.pull("x", stream=True)][-1] == "success"
        with pytest.raises(ollama.ResponseError, match="not found"):
            client.show("nosuch")


def test_openai_s_own_client(tiny):
    openai = pytest.importorskip("openai", reason="needs the client of OpenAI")
    with (
        OpenAIDouble(tiny) as double,
        httpx.Client(trust_env=False) as http,
        openai.OpenAI(base_url=f"{double.address}/v1", api_key="none", http_client=http) as client,
    ):
        assert [model.id for model in client.models.list()] == ["tiny"]
        schema = {"type": "integer", "minimum": 3, "maximum": 9}
        chunks = client.chat.completions.create(
            model="tiny",
            messages=MESSAGES,
            max_tokens=16,
            temperature=0.0,
            stream=True,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "n", "schema": schema},
            },
        )
        choices = [choice for chunk in chunks for choice in chunk.choices]
        assert 3 <= int("".join(choice.delta.content or "" for choice in choices)) <= 9
        assert choices[-1].finish_reason == "stop"


def test_a_caller_between_two_tests_does_not_end_the_server(allow_loopback):
    with OllamaDouble() as double:
        address = urlsplit(double.address)
        disable_socket()
        # The class below the one that is blocked.
        late = _socket.socket()
        late.connect((address.hostname, address.port))
        wait_for(lambda: double.turned_away)
        late.close()
        allow_loopback()
        assert httpx.get(f"{double.address}/api/version", trust_env=False).status_code < 500
