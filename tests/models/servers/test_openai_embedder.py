"""What is special about embedding through OpenAI's protocol; the promises are in the suite."""

import base64

import numpy as np
import pytest
from tiny_models.servers import Answer, End, OpenAIDouble

from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.backends.openai import OpenAIEmbedder, embedder_id
from localrag_models.embedding import E5, Prefixes
from localrag_models.errors import (
    Cure,
    ModelMissing,
    ServerBroke,
    ServerRefused,
    ServerUnreachable,
    WrongKind,
)
from localrag_models.runtimes import ModelSpec

pytestmark = pytest.mark.usefixtures("loopback", "quick_retries")

PATH = "/v1/embeddings"
TEXTS = ["第一条　この法律は", "an act", "渡し舟"]


@pytest.fixture(scope="session")
def bare(tiny_encoder):
    """The embedder a double answers with that embeds what it gets."""
    with LlamaCppEmbedder(tiny_encoder.gguf, prefixes=Prefixes(), threads=1) as embedder:
        yield embedder


@pytest.fixture(scope="session")
def knowing(tiny_encoder):
    """The embedder a double answers with that puts the prefixes itself."""
    with LlamaCppEmbedder(tiny_encoder.gguf, prefixes=E5, threads=1) as embedder:
        yield embedder


@pytest.fixture
def double(loopback, bare):
    with OpenAIDouble(embedder=bare, context=512) as double:
        yield double


@pytest.fixture
def embedder(double):
    with OpenAIEmbedder("tiny", server=double.address, prefixes=E5) as embedder:
        yield embedder


def test_vectors_are_those_of_the_model_in_this_process(embedder, knowing):
    assert np.abs(embedder.embed_passages(TEXTS) - knowing.embed_passages(TEXTS)).max() < 1e-5
    assert np.abs(embedder.embed_queries(TEXTS) - knowing.embed_queries(TEXTS)).max() < 1e-5


def test_what_is_sent(embedder, double):
    embedder.embed_queries(["渡し舟"])
    body = {"model": "tiny", "input": ["query: 渡し舟"], "encoding_format": "float"}
    assert double.requests[-1] == (PATH, body)


def test_a_server_that_puts_the_prefixes_itself_gets_none(loopback, knowing):
    with (
        OpenAIDouble(embedder=knowing, context=512) as double,
        OpenAIEmbedder("tiny", server=double.address) as embedder,
    ):
        queries, passages = embedder.embed_queries(TEXTS), embedder.embed_passages(TEXTS)
        assert [body["input_type"] for _, body in double.requests[-2:]] == ["query", "passage"]
        assert double.requests[-1][1]["input"] == TEXTS
        # A text that begins like a prefix is a text all the same.
        odd = ["query: passage: x"]
        assert np.abs(embedder.embed_passages(odd) - knowing.embed_passages(odd)).max() < 1e-5
    assert np.abs(queries - knowing.embed_queries(TEXTS)).max() < 1e-5
    assert np.abs(passages - knowing.embed_passages(TEXTS)).max() < 1e-5


def test_a_server_that_refuses_fields_it_does_not_know(loopback, bare):
    with (
        OpenAIDouble(embedder=bare, dialect="strict") as double,
        OpenAIEmbedder("tiny", server=double.address) as embedder,
    ):
        assert embedder.embed_queries(TEXTS).shape == (3, bare.dimension)
        assert "input_type" not in double.requests[-1][1]
        assert embedder.max_tokens == 384


def test_what_the_server_finds_too_long_is_split(embedder, double):
    """Letters of no word cost a token each, four times the estimate."""
    odd = "".join(chr(97 + place * place % 26) for place in range(1200))
    (vector,) = embedder.embed_passages([odd])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    halves = [body["input"][0] for path, body in double.requests if path == PATH][3:]
    assert len(halves) > 2
    assert all(half.startswith("passage: ") for half in halves)


def test_where_the_server_counts_windows_are_as_long_as_it_takes(double, bare):
    counts = {"/tokenize": lambda body: {"tokens": [0] * (len(body["content"]) + 2)}}
    answer = double.answer

    def counting(path, body):
        if path in counts and "content" in body:
            return Answer.json(counts[path](body))
        return answer(path, body)

    double.answer = counting
    with OpenAIEmbedder("tiny", server=double.address) as embedder:
        assert embedder.max_tokens == 512
        windows = embedder.windows("舟" * 1000)
        assert max(map(len, windows)) > 450
        assert "".join(windows) == "舟" * 1000


def test_a_server_that_cuts_in_silence(embedder, double):
    """It says it read three tokens: so it gets pieces that can have no more."""
    row = {"index": 0, "embedding": [1.0] * embedder.dimension}
    cut = {"data": [row], "usage": {"prompt_tokens": 3}}
    double.instead(PATH, *[Answer.json(cut)] * 400)
    embedder.embed_passages(["".join(chr(0x4E00 + place) for place in range(200))])
    assert len(double.requests[-1][1]["input"][0]) < 25


def test_base64_is_read_too(embedder, double):
    row = np.arange(1, embedder.dimension + 1, dtype="<f4")
    told = {"data": [{"embedding": base64.b64encode(row.tobytes()).decode()}]}
    double.instead(PATH, Answer.json(told))
    (vector,) = embedder.embed_queries(["渡し舟"])
    assert np.abs(vector - row / np.linalg.norm(row)).max() < 1e-6


@pytest.mark.parametrize(
    "told",
    [{}, {"data": None}, {"data": []}, {"data": [7]}, {"data": [{}]}, {"data": [{"index": 0}]},
     {"data": [{"index": 3, "embedding": [1.0]}]}, {"data": [{"index": "x", "embedding": [1.0]}]},
     {"data": [{"index": 0, "embedding": []}]}, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]},
     {"data": [{"index": 0, "embedding": ["x"]}]}, {"data": [{"index": 0, "embedding": [[1.0]]}]},
     {"data": [{"index": 0, "embedding": "!!"}]}, {"data": [{"index": 0, "embedding": "AAA="}]},
     {"data": [{"index": 0, "embedding": 3.0}]}, [], None],
)  # fmt: skip
def test_answers_that_are_no_vectors(embedder, double, told):
    double.instead(PATH, *[Answer.json(told)] * 4)
    with pytest.raises(ServerBroke):
        embedder.embed_queries(["渡し舟"])


def test_trouble_in_passing_is_tried_again(double):
    retries = []
    with OpenAIEmbedder("tiny", server=double.address, on_retry=retries.append) as embedder:
        double.instead(PATH, Answer.error("busy", 503), Answer(end=End.DIES))
        assert embedder.embed_queries(["渡し舟"]).shape == (1, embedder.dimension)
    assert len(retries) == 2


def test_the_id_tells_models_apart(embedder, double):
    assert embedder.id == embedder_id(ModelSpec(name="tiny", server=double.address, prefixes=E5))
    assert embedder.id.startswith("tiny@")
    assert embedder.id != embedder_id(ModelSpec(name="tiny", server=double.address))
    other = {"data": [{"embedding": list(range(1, embedder.dimension + 1))}]}
    double.instead(PATH, *[Answer.json(other)] * 2)
    assert embedder.id != embedder_id(ModelSpec(name="tiny", server=double.address, prefixes=E5))


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("Not Found", 404),
        ("This server does not support embeddings. Start it with `--embeddings`", 501),
        ("Llama model must be created with embedding=True to call this method", 500),
    ],
)
def test_a_server_that_does_not_embed(double, message, status):
    double.instead(PATH, Answer.error(message, status))
    with pytest.raises(WrongKind) as caught:
        OpenAIEmbedder("tiny", server=double.address)
    assert "--embedding" in caught.value.cure
    assert [path for path, _ in double.requests].count(PATH) == 1


def test_what_cannot_be_had_names_what_there_is(double):
    with pytest.raises(ModelMissing, match="nosuch") as missing:
        OpenAIEmbedder("nosuch", server=double.address)
    assert missing.value.cure == "Choose one that it has, such as tiny."
    double.instead(PATH, Answer.error("invalid key", 401))
    with pytest.raises(ServerRefused, match="key"):
        OpenAIEmbedder("tiny", server=double.address)
    double.close()
    with pytest.raises(ServerUnreachable) as gone:
        OpenAIEmbedder("tiny", server=double.address)
    assert gone.value.cure == Cure.START_SERVER


def test_zeros_are_no_sample(double, bare):
    zeros = {"data": [{"embedding": [0.0] * bare.dimension}]}
    double.instead(PATH, *[Answer.json(zeros)] * 8)
    with pytest.raises(ServerBroke, match="no vectors"):
        OpenAIEmbedder("tiny", server=double.address)


def test_a_question_it_does_not_know_is_asked_on_a_connection_of_its_own(embedder, double):
    """Some servers leave what they do not know unread, and take it for the next request."""
    asked = [
        headers.get("Connection")
        for (path, _), headers in zip(double.requests, double.headers, strict=True)
        if path in ("/tokenize", "/extras/tokenize/count")
    ]
    assert asked
    assert set(asked) == {"close"}
