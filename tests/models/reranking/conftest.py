"""The rerankers under test: each opens the tiny model in its own format."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tiny_models.encoder import TinyEncoder

from localrag_models.backends.llama_cpp.encoder import LlamaCppReranker
from localrag_models.backends.sentence_transformers import CrossEncoderReranker
from localrag_models.embedding import Reranker

Open = Callable[..., Reranker]

BACK_ENDS = ["llama_cpp_reranker", "cross_encoder"]


@pytest.fixture(scope="session")
def llama_cpp_reranker(tiny_encoder: TinyEncoder) -> Open:
    """Opens the GGUF with llama.cpp."""

    def start(**options: Any) -> LlamaCppReranker:
        return LlamaCppReranker(tiny_encoder.reranker_gguf, threads=1, **options)

    return start


@pytest.fixture(scope="session")
def cross_encoder(tiny_encoder: TinyEncoder) -> Open:
    """Opens the folder with PyTorch."""

    def start(**options: Any) -> CrossEncoderReranker:
        return CrossEncoderReranker(tiny_encoder.cross_encoder, threads=1, **options)

    return start


@pytest.fixture(scope="session", params=BACK_ENDS)
def open_reranker(request: pytest.FixtureRequest) -> Open:
    """Opens the reranker of one back end after the other."""
    opener: Open = request.getfixturevalue(request.param)
    return opener


@pytest.fixture(scope="session")
def reranker(open_reranker: Open) -> Iterator[Reranker]:
    """One back end after the other, open for the whole run: close nothing."""
    with open_reranker() as opened:
        yield opened
