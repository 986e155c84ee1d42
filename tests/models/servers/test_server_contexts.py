"""How large a context is, and how many tokens a prompt has, as far as servers tell."""

import pytest
from tiny_models.servers import Answer, OllamaDouble, OpenAIDouble

from localrag_models.backends.ollama import OllamaChat
from localrag_models.backends.openai import OpenAIChat
from localrag_models.chat import ChatRequest, Message
from localrag_models.errors import ContextExceeded, WrongKind

from ...rows import each

pytestmark = pytest.mark.usefixtures("loopback")

MESSAGES = (
    Message("system", "法令について答える。"),
    Message("user", "第二十七条の三十六とは何か"),
)

# The tiny vocabulary needs a token for every letter.
UNDERESTIMATED = "abcdefghij" * 56


@pytest.mark.parametrize("dialect", ["llama-server", "vllm", "lm-studio"])
def test_the_context_a_server_tells(tiny, dialect):
    with OpenAIDouble(tiny, dialect, context=1536) as double:
        with OpenAIChat("tiny", server=double.address) as model:
            assert model.context == 1536
        with OpenAIChat("tiny", server=double.address, context=512) as model:
            assert model.context == 512
        with pytest.raises(ContextExceeded, match="1,536"):
            OpenAIChat("tiny", server=double.address, context=2048)


def test_the_context_nobody_tells(tiny):
    with OpenAIDouble(tiny, "strict") as double:
        with OpenAIChat("tiny", server=double.address) as model:
            assert model.context == 4096
        with OpenAIChat("tiny", server=f"{double.address}/v1/", context=9000) as model:
            assert model.context == 9000


@each("number", [True, False, -1, 0, 10**12, 1.5, "4096", None])
@each("teller", ["/props", "/v1/models", "/api/v0/models/tiny"])
def test_what_is_no_number_tells_no_context(tiny, teller, number):
    told = {
        "/props": {"default_generation_settings": {"n_ctx": number}},
        "/v1/models": {"data": [{"id": "tiny", "max_model_len": number}]},
        "/api/v0/models/tiny": {"loaded_context_length": number},
    }
    with OpenAIDouble(tiny, "strict") as double:
        double.instead(teller, Answer.json(told[teller]))
        with OpenAIChat("tiny", server=double.address) as model:
            assert model.context == 4096


@pytest.mark.parametrize("number", [True, -7, 10**12])
def test_what_is_no_number_counts_no_tokens(tiny, number):
    with OpenAIDouble(tiny, "vllm") as double:
        double.instead("/tokenize", *[Answer.json({"count": number})] * 9)
        with OpenAIChat("tiny", server=double.address) as model:
            assert model.count(MESSAGES) >= tiny.count(MESSAGES)


@pytest.mark.parametrize("number", [True, -1, 10**12])
def test_the_context_of_ollama_that_is_no_number(tiny, number):
    with (
        OllamaDouble(tiny, context=number) as double,
        OllamaChat("tiny", server=double.address) as model,
    ):
        assert model.context == 8192


@pytest.mark.parametrize(
    ("has", "wanted", "gets"), [(4096, 0, 4096), (40_960, 0, 8192), (40_960, 16_384, 16_384)]
)
def test_the_context_of_ollama(tiny, has, wanted, gets):
    with OllamaDouble(tiny, context=has) as double:
        with OllamaChat("tiny", server=double.address, context=wanted) as model:
            assert model.context == gets
        with pytest.raises(ContextExceeded, match=f"{has:,}"):
            OllamaChat("tiny", server=double.address, context=has + 1)


def test_ollama_before_it_told_capabilities(tiny, ask):
    with OllamaDouble(tiny, old=True) as double, OllamaChat("tiny", server=double.address) as model:
        model.chat(ask())
        assert double.requests[-1][1]["think"] is False


def test_think_is_not_sent_to_a_model_that_cannot(tiny, ask):
    with OllamaDouble(tiny) as double, OllamaChat("tiny", server=double.address) as model:
        model.chat(ask())
        assert "think" not in double.requests[-1][1]


def test_an_embedder_cannot_chat(tiny):
    with OllamaDouble(tiny) as double, pytest.raises(WrongKind, match="embedding"):
        OllamaChat("tiny-embedder", server=double.address)


@pytest.mark.parametrize("dialect", ["llama-server", "vllm"])
def test_servers_that_count(tiny, dialect):
    with (
        OpenAIDouble(tiny, dialect) as double,
        OpenAIChat("tiny", server=double.address) as model,
    ):
        assert model.count(MESSAGES) == tiny.count(MESSAGES)


def test_a_server_that_does_not_count(served):
    with served.model() as model:
        texts = sum(len(message.content) for message in MESSAGES)
        assert texts <= model.count(MESSAGES) < 2 * texts + 32


def test_small_vocabularies_are_told_by_a_sample(tiny):
    """The tiny one needs up to three tokens for a character."""
    with OllamaDouble(tiny) as double, OllamaChat("tiny", server=double.address) as model:
        assert model.count(MESSAGES) >= tiny.count(MESSAGES)
        model.count(MESSAGES)
        assert [path for path, _ in double.requests].count("/api/chat") == 1


def test_old_servers_cut_in_silence_and_are_found_out(tiny, ask):
    with (
        OllamaDouble(tiny, old=True) as double,
        OllamaChat("tiny", server=double.address, context=512) as model,
        pytest.raises(ContextExceeded, match="more than estimated"),
    ):
        model.chat(ask(UNDERESTIMATED))


def test_new_servers_refuse_to_cut(tiny, ask):
    with (
        OllamaDouble(tiny) as double,
        OllamaChat("tiny", server=double.address, context=512) as model,
        pytest.raises(ContextExceeded) as raised,
    ):
        model.chat(ask(UNDERESTIMATED))
    assert raised.value.available == 512


def test_what_the_server_took_over_from_before_is_reported(tiny):
    long = Message("system", "第一条　この法律は、" * 20)
    with (
        OllamaDouble(tiny) as double,
        OllamaChat("tiny", server=double.address) as model,
    ):
        for question in "一二":
            request = ChatRequest(messages=(long, Message("user", question)), max_tokens=4)
            usage = model.chat(request).usage
        assert usage.cached is not None
        assert usage.cached > usage.prompt * 0.8
