"""The real server of llama-cpp-python, in a process of its own."""

import json
import threading

import pytest
from tiny_models.servers import llama_cpp_server

from localrag_models.backends.openai import OpenAIChat
from localrag_models.chat import Finish, Message
from localrag_models.errors import ContextExceeded, ModelMissing

SCHEMA = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "enum": ["支持", "反対"]},
        "n": {"type": "integer", "minimum": -20, "maximum": 20},
        "quotes": {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 3},
    },
    "required": ["label", "n", "quotes"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def address(tiny_chat, allow_loopback):
    allow_loopback()
    with llama_cpp_server(tiny_chat) as address:
        yield address


@pytest.fixture
def model(address, loopback):
    with OpenAIChat("tiny", server=address, parallel=4) as model:
        yield model


def test_schemas_bind(model, ask):
    for seed in range(10):
        reply = model.chat(ask(schema=SCHEMA, seed=seed, temperature=1.0, max_tokens=200))
        value = json.loads(reply.text)
        assert reply.finish is Finish.STOP
        assert value["label"] in ("支持", "反対")
        assert -20 <= value["n"] <= 20
        assert all(len(quote) <= 8 for quote in value["quotes"])


def test_tokens_are_counted_on_the_high_side(model, tiny):
    messages = (Message("system", "法令"), Message("user", "第二十七条の三十六とは何か"))
    assert tiny.count(messages) <= model.count(messages) <= tiny.count(messages) + 64


def test_a_prompt_that_does_not_fit(model, ask):
    with pytest.raises(ContextExceeded):
        model.chat(ask("鬼" * 3000))


def test_an_unknown_model(address, loopback):
    with pytest.raises(ModelMissing, match="it has: tiny"):
        OpenAIChat("nosuch", server=address)


def test_threads_get_each_its_own_reply(model, ask):
    texts: dict[int, str] = {}

    def run(seed: int) -> None:
        schema = {"const": f"第{seed}条"}
        texts[seed] = model.chat(ask(schema=schema, max_tokens=64)).text

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {seed: json.loads(text) for seed, text in texts.items()} == {
        seed: f"第{seed}条" for seed in range(8)
    }


def test_cancelling_leaves_the_server_usable(model, ask):
    heard: list[str] = []
    schema = {"type": "array", "items": {"enum": ["条"]}, "minItems": 300, "maxItems": 300}
    request = ask(schema=schema, max_tokens=2000)
    reply = model.chat(request, heard.append, lambda: len(heard) >= 3)
    assert reply.finish is Finish.CANCELLED
    assert reply.text == "".join(heard)
    assert json.loads(model.chat(ask(schema={"const": 1})).text) == 1
