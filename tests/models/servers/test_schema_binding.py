"""Finding the spelling in which a server binds a reply to a schema."""

import json

import pytest
from tiny_models.servers import Answer, OpenAIDouble

from localrag_models.backends.openai import OpenAIChat
from localrag_models.errors import ModelMissing, SchemaUnsupported, ServerBusy, ServerRefused

from ...rows import each

pytestmark = pytest.mark.usefixtures("loopback", "quick_retries")

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
        probes = [body for _, body in double.requests if body.get("max_tokens") == 48]
        assert 1 <= len(probes) <= 5


def test_a_server_that_binds_nothing(tiny, ask):
    with (
        OpenAIDouble(tiny, binds="none") as double,
        OpenAIChat("tiny", server=double.address) as model,
        pytest.raises(SchemaUnsupported, match=double.address),
    ):
        model.chat(ask(schema=SCHEMA))


def test_a_server_that_refuses_foreign_fields(tiny, ask):
    with (
        OpenAIDouble(tiny, "strict") as double,
        OpenAIChat("tiny", server=double.address) as model,
    ):
        assert 300 <= json.loads(model.chat(ask(schema=SCHEMA)).text)["n"] <= 320


def test_trouble_while_probing_is_no_verdict(tiny, ask):
    busy = [Answer.error("overloaded", 503)] * 20
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
        (400, "Requests must carry a department", 5),
        (422, "department: field required", 5),
    ],
)
def test_a_server_that_refuses_whatever_is_asked(tiny, ask, status, message, requests):
    """What it says is told; it is no verdict on schemas."""
    path = "/v1/chat/completions"
    with OpenAIDouble(tiny) as double, OpenAIChat("tiny", server=double.address) as model:
        double.instead(path, *[Answer.error(message, status)] * 9)
        with pytest.raises(ServerRefused, match=message) as raised:
            model.chat(ask(schema=SCHEMA))
        assert not isinstance(raised.value, SchemaUnsupported)
        assert [asked for asked, _ in double.requests].count(path) == requests


def test_a_server_that_lost_its_model(tiny, ask):
    with OpenAIDouble(tiny) as double, OpenAIChat("tiny", server=double.address) as model:
        double.instead("/v1/chat/completions", Answer.error("model tiny not found", 404))
        with pytest.raises(ModelMissing):
            model.chat(ask(schema=SCHEMA))


def test_some_spellings_refused_and_the_others_ignored(tiny, ask):
    with (
        OpenAIDouble(tiny, "strict", binds="none") as double,
        OpenAIChat("tiny", server=double.address) as model,
        pytest.raises(SchemaUnsupported, match="in any known spelling"),
    ):
        model.chat(ask(schema=SCHEMA))


def test_a_schema_without_bounds_is_refused_before_anything_is_sent(served, ask):
    with served.model() as model, pytest.raises(SchemaUnsupported):
        model.chat(ask(schema={"type": "string"}))
    assert not served.asked
