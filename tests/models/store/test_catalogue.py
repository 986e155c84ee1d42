"""The catalogue: complete, and its own figures fit together."""

import pytest

from localrag_models.catalogue import catalogue, entry
from localrag_models.embedding import E5
from localrag_models.errors import ModelMissing

from ...rows import each


def test_what_it_has() -> None:
    kinds = {name: known.kind for name, known in catalogue().items()}
    assert {"qwen3-8b", "qwen3-4b", "qwen3-14b", "llama-3-8b-instruct"} <= set(kinds)
    assert set(kinds.values()) == {"chat", "embedder", "reranker"}


@each("name", catalogue())
def test_an_entry(name: str) -> None:
    known = entry(name)
    assert (known.format == "gguf") == bool(known.file)
    assert known.licence
    if known.kind == "chat":
        assert known.context
        assert known.cache_per_token
        assert known.sampling.temperature is not None
    if name.startswith("multilingual-e5"):
        assert known.prefixes == E5


def test_memory_grows_with_the_context_and_ends_with_it() -> None:
    known = entry("llama-3-8b-instruct")
    assert known.memory(1) == known.size + 131_072
    assert known.memory(8_192) == known.memory(1_000_000) == known.size + 2**30


def test_the_nearest_name() -> None:
    with pytest.raises(ModelMissing, match="nearest name in the catalogue is qwen3-8b"):
        entry("Qwen3-8")
