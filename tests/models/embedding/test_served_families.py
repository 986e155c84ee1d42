"""Embedders behind servers get the prefixes and the pooling of their family."""

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tiny_models.chat import qwen3_model, write_chat_gguf
from tiny_models.encoder import TinyEncoder, write_gguf
from tiny_models.servers import OllamaDouble, OpenAIDouble, llama_cpp_server

from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.backends.llama_cpp.native import Model
from localrag_models.backends.ollama import OllamaEmbedder
from localrag_models.backends.openai import OpenAIEmbedder, embedder_id
from localrag_models.embedding import Prefixes
from localrag_models.errors import WrongKind
from localrag_models.families import family_of
from localrag_models.runtimes import ModelSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

TASK = "Given a web search query, retrieve relevant passages that answer the query"
FAMILIES = {
    "multilingual-e5-small": ("query: ", "passage: "),
    "intfloat/multilingual-e5-large-instruct": (f"Instruct: {TASK}\nQuery: ", ""),
    "ruri_v3_310m-Q8_0.gguf": ("検索クエリ: ", "検索文書: "),
    "hf.co/someone/ruri-v3-30m-GGUF:F16": ("検索クエリ: ", "検索文書: "),
    "bge-m3:567m": ("", ""),
    "Qwen3-Embedding-0.6B-Q8_0": (f"Instruct: {TASK}\nQuery:", ""),
    "embeddinggemma:300m": ("task: search result | query: ", "title: none | text: "),
    "nomic-embed-text:v1.5": ("search_query: ", "search_document: "),
    "all-minilm": ("", ""),
    "base5-model": ("", ""),
}
TEXTS = ["渡し舟の定員は、船長が守らなければならない。", "The ferry keeps its limit.", "第二条"]

pytestmark = pytest.mark.usefixtures("loopback")


@pytest.fixture(scope="module")
def bare(tiny_encoder: TinyEncoder) -> Iterator[LlamaCppEmbedder]:
    """Embeds what a double gets."""
    with LlamaCppEmbedder(tiny_encoder.gguf, prefixes=Prefixes(), threads=1) as embedder:
        yield embedder


@pytest.mark.parametrize("name", FAMILIES)
def test_the_name_decides_what_is_sent(name: str, bare: LlamaCppEmbedder) -> None:
    query, passage = FAMILIES[name]
    with (
        OpenAIDouble(embedder=bare, context=512, name=name) as openai,
        OpenAIEmbedder(name, server=openai.address) as embedder,
    ):
        embedder.embed_queries(["舟"])
        embedder.embed_passages(["舟"])
        sent = [body["input"] for _, body in openai.requests[-2:]]
    assert sent == [[f"{query}舟"], [f"{passage}舟"]]
    with OllamaDouble(embedder=bare, context=512) as ollama:
        ollama.digests[name if ":" in name else f"{name}:latest"] = "d" * 64
        with OllamaEmbedder(name, server=ollama.address) as embedder:
            embedder.embed_queries(["舟"])
            embedder.embed_passages(["舟"])
        assert [body["input"] for _, body in ollama.requests[-2:]] == sent


@pytest.mark.parametrize(
    ("dialect", "weights"),
    [
        ("vllm", "cl-nagoya/ruri-v3-130m"),
        ("llama-server", "/models/ruri-v3-130m-Q8_0.gguf"),
        ("tei", "cl-nagoya/ruri-v3-130m"),
    ],
)
def test_the_server_says_the_family_behind_another_name(
    dialect: str, weights: str, bare: LlamaCppEmbedder
) -> None:
    with OpenAIDouble(
        embedder=bare, dialect=dialect, context=512, name="embedder", weights=weights
    ) as double:
        with OpenAIEmbedder("embedder", server=double.address) as embedder:
            embedder.embed_queries(["舟"])
            assert double.requests[-1][1]["input"] == ["検索クエリ: 舟"]
            assert embedder.max_tokens == 512 * 3 // 4
        own = ModelSpec(name="embedder", server=double.address, prefixes=Prefixes())
        assert embedder.id != embedder_id(own), "vectors of other prefixes are not compared"


def test_another_pooling_is_refused_with_its_cure(bare: LlamaCppEmbedder) -> None:
    with (
        OpenAIDouble(embedder=bare, dialect="tei", weights="BAAI/bge-m3") as double,
        pytest.raises(WrongKind, match="by mean; its training used cls") as caught,
    ):
        OpenAIEmbedder("bge-m3", server=double.address)
    assert "--pooling cls" in caught.value.cure
    with OllamaDouble(embedder=bare) as ollama:
        ollama.digests["qwen3-embedding:0.6b"] = "d" * 64
        ollama.pooling = 1
        with pytest.raises(WrongKind, match="training used last"):
            OllamaEmbedder("qwen3-embedding:0.6b", server=ollama.address)
        ollama.pooling = 3
        OllamaEmbedder("qwen3-embedding:0.6b", server=ollama.address).close()


def test_a_server_without_v1_is_found(bare: LlamaCppEmbedder) -> None:
    with (
        OpenAIDouble(embedder=bare, dialect="infinity") as double,
        OpenAIEmbedder("tiny", server=double.address) as embedder,
    ):
        embedder.embed_queries(["舟"])
        assert double.requests[-1][0] == "/embeddings"


@pytest.mark.parametrize("name", ["ruri-v3-30m", "bge-m3"])
def test_vectors_of_a_server_are_those_of_the_library(
    name: str, tiny_encoder: TinyEncoder, tmp_path: Path
) -> None:
    """Through llama_cpp.server, with made weights in the pooling of the family."""
    from sentence_transformers import SentenceTransformer

    family = family_of(name)
    assert family is not None
    folder = Path(copytree(tiny_encoder.sentence_transformers, tmp_path / name))
    pooling = {"embedding_dimension": 32, "pooling_mode": family.pooling}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    write_gguf(folder, tmp_path / "model.gguf", pooling=family.pooling.upper())
    library = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    library.prompts = {"query": family.prefixes.query, "document": family.prefixes.passage}
    with (
        llama_cpp_server(tmp_path / "model.gguf", name=name, context=512, embeds=True) as address,
        OpenAIEmbedder(name, server=address) as served,
    ):
        queries, passages = served.embed_queries(TEXTS), served.embed_passages(TEXTS)
    for one, other in (
        (queries, library.encode_query(TEXTS, normalize_embeddings=True)),
        (passages, library.encode_document(TEXTS, normalize_embeddings=True)),
    ):
        assert np.sum(one * other, axis=1).min() >= 0.999


def test_vectors_of_the_last_token_are_those_of_the_library(tmp_path: Path) -> None:
    """Through llama_cpp.server, with made weights in the shape of Qwen3-Embedding."""
    import torch

    name, path = "qwen3-embedding-tiny", tmp_path / "model.gguf"
    write_chat_gguf(path, pooling="LAST")
    library = qwen3_model(path)
    tokenizer = Model(path, "embedder", gpu_layers=0)
    family = family_of(name)
    assert family is not None

    def expected(prefix: str, text: str) -> "NDArray[np.float32]":
        tokens = torch.tensor([tokenizer.tokenize(prefix + text)])
        with torch.no_grad():
            vector = library(tokens).last_hidden_state[0, -1].numpy()
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    with (
        llama_cpp_server(path, name=name, context=512, embeds=True) as address,
        OpenAIEmbedder(name, server=address) as served,
    ):
        vectors = [*served.embed_queries(TEXTS), *served.embed_passages(TEXTS)]
    tokenized = [(family.prefixes.query, text) for text in TEXTS]
    tokenized += [(family.prefixes.passage, text) for text in TEXTS]
    for vector, (prefix, text) in zip(vectors, tokenized, strict=True):
        assert vector @ expected(prefix, text) >= 0.999
