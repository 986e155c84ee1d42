"""What is special about embedding through Ollama; the promises are in the conformance suite."""

import numpy as np
import pytest
from tiny_models.servers import Answer, End, OllamaDouble

from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.backends.ollama import OllamaChat, OllamaEmbedder, embedder_id
from localrag_models.embedding import E5, Prefixes
from localrag_models.errors import ModelMissing, ServerBroke, ServerRefused, WrongKind
from localrag_models.runtimes import ModelSpec

pytestmark = pytest.mark.usefixtures("loopback", "quick_retries")


@pytest.fixture(scope="session")
def inside(tiny_encoder):
    """The embedder the double answers with; the texts it gets have their prefixes."""
    with LlamaCppEmbedder(tiny_encoder.gguf, prefixes=Prefixes(), threads=1) as embedder:
        yield embedder


@pytest.fixture
def double(loopback, inside):
    with OllamaDouble(embedder=inside, context=512) as double:
        yield double


@pytest.fixture
def embedder(double):
    with OllamaEmbedder("tiny-embedder", server=double.address, prefixes=E5) as embedder:
        yield embedder


def test_vectors_are_those_of_the_model_in_this_process(embedder, tiny_encoder):
    texts = ["第一条　この法律は", "an act", "渡し舟"]
    with LlamaCppEmbedder(tiny_encoder.gguf, threads=1) as other:
        assert np.abs(embedder.embed_passages(texts) - other.embed_passages(texts)).max() < 1e-5
        assert np.abs(embedder.embed_queries(texts) - other.embed_queries(texts)).max() < 1e-5


def test_nothing_may_be_cut(embedder, double):
    embedder.embed_queries(["渡し舟"])
    body = double.requests[-1][1]
    assert body["truncate"] is False
    assert body["options"] == {"num_ctx": 512, "num_batch": 512}
    assert body["input"] == ["query: 渡し舟"]


def test_what_the_server_finds_too_long_is_split(embedder, double):
    """Letters of no word cost a token each, four times the estimate."""
    odd = "".join(chr(97 + place * place % 26) for place in range(1200))
    (vector,) = embedder.embed_passages([odd])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert len(double.requests) > 4


def test_a_server_that_cuts_in_silence(embedder, double):
    """It says it read three tokens: so it gets pieces that can have no more."""
    cut = {"embeddings": [[1.0] * embedder.dimension], "prompt_eval_count": 3}
    double.instead("/api/embed", *[Answer.json(cut)] * 400)
    embedder.embed_passages(["".join(chr(0x4E00 + place) for place in range(200))])
    assert len(double.requests[-1][1]["input"][0]) < 16


@pytest.mark.parametrize(
    "told",
    [{}, {"embeddings": None}, {"embeddings": []}, {"embeddings": [[]]}, {"embeddings": [["x"]]},
     {"embeddings": [[1.0, 2.0]]}, {"embeddings": [7]}, {"embeddings": ["12"]}, [], None],
)  # fmt: skip
def test_answers_that_are_no_vectors(embedder, double, told):
    double.instead("/api/embed", *[Answer.json(told)] * 4)
    with pytest.raises(ServerBroke):
        embedder.embed_queries(["渡し舟"])


def test_trouble_in_passing_is_tried_again(double):
    retries = []
    with OllamaEmbedder(
        "tiny-embedder", server=double.address, on_retry=retries.append
    ) as embedder:
        double.instead("/api/embed", Answer.error("busy", 503), Answer(end=End.DIES))
        assert embedder.embed_queries(["渡し舟"]).shape == (1, embedder.dimension)
    assert len(retries) == 2


def test_the_id_is_known_without_opening_it(embedder, double):
    assert embedder.id == embedder_id(
        ModelSpec(name="tiny-embedder", server=double.address, prefixes=E5)
    )
    assert embedder.id != embedder_id(ModelSpec(name="tiny-embedder", server=double.address))


def test_no_key_comes_from_the_environment(double, monkeypatch):
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    with OllamaEmbedder("tiny-embedder", server=double.address) as embedder:
        embedder.embed_queries(["渡し舟"])
    assert [path for path, _ in double.requests] == ["/api/show", "/api/tags", "/api/embed"]
    assert "secret" not in str(double.headers)


def test_the_first_vectors_tell_the_dimension_where_nobody_does(double, inside):
    shown = Answer.json({"model_info": {}, "capabilities": ["embedding"]})
    double.instead("/api/show", shown, shown)
    double.instead("/api/embed", Answer.json({"embeddings": [[]]}))
    with pytest.raises(ServerBroke):
        OllamaEmbedder("tiny-embedder", server=double.address)
    with OllamaEmbedder("tiny-embedder", server=double.address) as embedder:
        assert embedder.dimension == inside.dimension


@pytest.mark.parametrize("model", [OllamaChat, OllamaEmbedder])
def test_a_model_that_runs_elsewhere_is_refused(double, model):
    """Ollama would send every prompt on to that host, which nobody here has named."""
    double.instead("/api/show", Answer.json({"remote_host": "https://192.0.2.1"}))
    with pytest.raises(ServerRefused, match=r"192\.0\.2\.1"):
        model("tiny-embedder", server=double.address)


def test_models_that_are_none(double):
    with pytest.raises(ModelMissing, match="ollama pull nosuch"):
        OllamaEmbedder("nosuch", server=double.address)
    for name in ("", "\udcff"):
        with pytest.raises(ModelMissing):
            OllamaEmbedder(name, server=double.address)
    with pytest.raises(WrongKind, match="completion"):
        OllamaEmbedder("tiny", server=double.address)


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [("jeffh/intfloat-multilingual-e5-large", E5), ("bge-m3", Prefixes()),
     ("nomic-embed-text:v1.5", Prefixes("search_query: ", "search_document: "))],
)  # fmt: skip
def test_prefixes_by_the_family(double, name, prefixes):
    full = name if ":" in name else f"{name}:latest"
    double.digests[full] = "e" * 64
    with OllamaEmbedder(name, server=double.address) as embedder:
        assert embedder.prefixes == prefixes
