"""Finding the spelling in which a server binds a reply to a schema."""

import json

import pytest
from tiny_models.servers import Answer, OpenAIDouble

from localrag_models.backends.openai import OpenAIChat
from localrag_models.chat import Finish, Remark
from localrag_models.errors import ModelMissing, SchemaUnsupported, ServerBusy, ServerRefused

from ...rows import each
from .conftest import is_probe

pytestmark = pytest.mark.usefixtures("loopback", "quick_retries")

PATH = "/v1/chat/completions"
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 300, "maximum": 320}},
    "required": ["n"],
}


@each("binds", ["json_schema", "json_object", "structured_outputs", "guided_json"])
def test_the_spelling_that_binds_is_found_once(tiny, ask, binds):
    with (
        OpenAIDouble(tiny, binds=binds) as double,
        OpenAIChat("tiny", server=double.address) as model,
    ):
        for seed in range(3):
            reply = model.chat(ask(schema=SCHEMA, seed=seed, temperature=1.0))
            assert 300 <= json.loads(reply.text)["n"] <= 320
        probes = [body for path, body in double.requests if path == PATH and is_probe(body)]
        assert 2 <= len(probes) <= 6


@pytest.mark.parametrize("dialect", ["llama-server", "strict"])
def test_a_server_that_binds_nothing_is_asked_in_words(tiny, ask, dialect):
    """Its words are those of a random model: no JSON is in them."""
    with (
        OpenAIDouble(tiny, dialect, binds="none") as double,
        OpenAIChat("tiny", server=double.address) as model,
    ):
        reply = model.chat(ask(schema=SCHEMA, max_tokens=9))
        assert reply.finish is Finish.LENGTH
        assert Remark.UNBOUND in reply.remarks
        assert model.context < 4096
        (asked,) = [
            body for path, body in double.requests if path == PATH and body["max_tokens"] == 9
        ]
        assert json.dumps(SCHEMA) in asked["messages"][-1]["content"]
        assert "response_format" not in asked


def test_a_server_that_refuses_foreign_fields(tiny, ask):
    with (
        OpenAIDouble(tiny, "strict") as double,
        OpenAIChat("tiny", server=double.address) as model,
    ):
        assert 300 <= json.loads(model.chat(ask(schema=SCHEMA)).text)["n"] <= 320


def test_trouble_while_probing_is_no_verdict(tiny, ask):
    busy = [Answer.error("overloaded", 503)] * 28
    with (
        OpenAIDouble(tiny, "strict") as double,
        OpenAIChat("tiny", server=double.address, on_retry=lambda retry: None) as model,
    ):
        model.chat(ask())
        double.instead("/v1/chat/completions", *busy)
        with pytest.raises(ServerBusy):
            model.chat(ask(schema=SCHEMA))
        assert 300 <= json.loads(model.chat(ask(schema=SCHEMA)).text)["n"] <= 320


@each(
    ("status", "message", "requests"),
    [
        (401, "Invalid API key", 1),
        (403, "Not for you", 1),
        (404, "Not Found", 1),
        (302, "Found", 1),
        (405, "Method Not Allowed", 1),
        (400, "Requests must carry a department", 8),
        (422, "department: field required", 8),
    ],
)
def test_a_server_that_refuses_whatever_is_asked(tiny, ask, status, message, requests):
    """What it says is told; it is no verdict on schemas."""
    with OpenAIDouble(tiny) as double, OpenAIChat("tiny", server=double.address) as model:
        double.instead(PATH, *[Answer.error(message, status)] * 9)
        with pytest.raises(ServerRefused, match=message) as raised:
            model.chat(ask(schema=SCHEMA))
        assert not isinstance(raised.value, SchemaUnsupported)
        assert [asked for asked, _ in double.requests].count(PATH) == requests


def test_a_server_that_lost_its_model(tiny, ask):
    with OpenAIDouble(tiny) as double, OpenAIChat("tiny", server=double.address) as model:
        double.instead("/v1/chat/completions", Answer.error("model tiny not found", 404))
        with pytest.raises(ModelMissing):
            model.chat(ask(schema=SCHEMA))


def test_what_binds_is_remembered_with_the_version_of_the_server(tiny, ask, tmp_path):
    remembered = tmp_path / "servers.json"
    with OpenAIDouble(tiny, binds="guided_json") as double:

        def probes(build: str) -> int:
            told = {"default_generation_settings": {"n_ctx": 4096}, "build_info": build}
            double.before = lambda path, _: Answer.json(told) if path == "/props" else None
            double.requests.clear()
            address = double.address
            with OpenAIChat("tiny", server=address, remembered=remembered) as model:
                assert 300 <= json.loads(model.chat(ask(schema=SCHEMA)).text)["n"] <= 320
            return sum(is_probe(body) for path, body in double.requests if path == PATH)

        first = probes("b1")
        assert (first > 0, probes("b1"), probes("b2")) == (True, 0, first)
        remembered.write_text("[", encoding="utf-8")
        assert probes("b2") == first
        assert probes("") == probes("") == first


def test_a_schema_without_bounds_is_refused_before_anything_is_sent(served, ask):
    with served.model() as model, pytest.raises(SchemaUnsupported):
        model.chat(ask(schema={"type": "string"}))
    assert not served.asked
