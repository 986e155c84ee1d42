"""The embedders under test: each opens the tiny model in its own format."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from tiny_models.encoder import TinyEncoder
from tiny_models.servers import OllamaDouble, llama_cpp_server

from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.backends.ollama import OllamaEmbedder
from localrag_models.backends.openai import OpenAIEmbedder
from localrag_models.backends.sentence_transformers import SentenceTransformersEmbedder
from localrag_models.embedding import Embedder, Prefixes, WindowedEmbedder

Open = Callable[..., WindowedEmbedder]


@pytest.fixture(scope="session")
def llama_cpp(tiny_encoder: TinyEncoder) -> Open:
    """Opens the GGUF with llama.cpp."""

    def start(**options: Any) -> LlamaCppEmbedder:
        return LlamaCppEmbedder(tiny_encoder.gguf, threads=1, **options)

    return start


@pytest.fixture(scope="session")
def sentence_transformers(tiny_encoder: TinyEncoder) -> Open:
    """Opens the folder with PyTorch."""

    def start(**options: Any) -> SentenceTransformersEmbedder:
        return SentenceTransformersEmbedder(
            tiny_encoder.sentence_transformers, threads=1, **options
        )

    return start


@pytest.fixture(scope="session")
def ollama(tiny_encoder: TinyEncoder, allow_loopback: Callable[[], None]) -> Iterator[Open]:
    """Opens the GGUF behind a server that speaks Ollama's protocol."""
    allow_loopback()
    with (
        LlamaCppEmbedder(tiny_encoder.gguf, prefixes=Prefixes(), threads=1) as inside,
        OllamaDouble(embedder=inside, context=512) as server,
    ):
        server.digests["tiny-e5:latest"] = "e" * 64
        yield partial(OllamaEmbedder, "tiny-e5", server=server.address)


@pytest.fixture(scope="session")
def openai_llama_cpp(
    tiny_encoder: TinyEncoder, allow_loopback: Callable[[], None]
) -> Iterator[Open]:
    """Opens the GGUF behind the real server of llama-cpp-python."""
    allow_loopback()
    name = "tiny-e5"
    with llama_cpp_server(tiny_encoder.gguf, name=name, context=512, embeds=True) as address:
        yield partial(OpenAIEmbedder, name, server=address)


@pytest.fixture(autouse=True)
def reachable_server(request: pytest.FixtureRequest) -> None:
    """Lets the tests of a server reach it."""
    parameters = getattr(request.node, "callspec", None)
    if parameters and parameters.params.get("open_embedder") in SERVERS:
        request.getfixturevalue("loopback")


SERVERS = ["ollama", "openai_llama_cpp"]
BACK_ENDS = ["llama_cpp", "sentence_transformers", *SERVERS]


@pytest.fixture(scope="session", params=BACK_ENDS)
def open_embedder(request: pytest.FixtureRequest) -> Open:
    """Opens the embedder of one back end after the other."""
    opener: Open = request.getfixturevalue(request.param)
    return opener


@pytest.fixture(scope="session")
def embedder(open_embedder: Open) -> Iterator[Embedder]:
    """One back end after the other, open for the whole run: close nothing."""
    with open_embedder() as opened:
        yield opened
