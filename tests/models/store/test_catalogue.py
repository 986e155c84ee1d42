"""The catalogue: complete, and its own figures fit together."""

import re
from pathlib import Path

import pytest

from localrag_models.catalogue import catalogue, entry, own_entry
from localrag_models.embedding import E5
from localrag_models.errors import ModelDamaged, ModelMissing
from localrag_models.families import family_of
from localrag_models.hub import Wish
from localrag_models.store import ModelStore

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
    family = family_of(known.repository, known.file or "")
    if known.kind == "embedder":
        assert family is not None
        assert (known.prefixes, known.pooling or "mean") == (family.prefixes, family.pooling)
    if name.startswith("multilingual-e5"):
        assert known.prefixes == E5


def test_memory_grows_with_the_context_and_ends_with_it() -> None:
    known = entry("llama-3-8b-instruct")
    assert known.memory(1) == known.size + 131_072
    assert known.memory(8_192) == known.memory(1_000_000) == known.size + 2**30


OWN = """
[my-ruri]
kind = "embedder"
format = "sentence-transformers"
repository = "someone/my-ruri"
size = 1
licence = "MIT"
prefixes = { query = "問: ", passage = "文: " }
served = ["ruri@office"]

[qwen3-8b]
kind = "chat"
format = "gguf"
repository = "someone/other-quantisation"
file = "Qwen3-8B-Q8_0.gguf"
size = 8
licence = "Apache-2.0"
"""


def test_entries_of_your_own_come_first(tmp_path: Path) -> None:
    own = tmp_path / "models.toml"
    assert catalogue(own) == catalogue(), "without a file there are ours"
    own.write_text(OWN, "utf-8")
    known = catalogue(own)
    assert list(known)[:2] == ["my-ruri", "qwen3-8b"]
    assert entry("qwen3-8b", own).repository == "someone/other-quantisation"
    assert len(known) == len(catalogue()) + 1
    assert Wish.parse("my-ruri", own).repository == "someone/my-ruri"
    assert own_entry("ruri@office", own) == known["my-ruri"] == own_entry("my-ruri", own)
    assert own_entry("other", own) is None
    assert ModelStore(tmp_path / "models").own_catalogue == own


@pytest.mark.parametrize(
    ("text", "told"),
    [("[x", "models.toml"), ("x = 1", "x"), ('[x]\nkind = "chat"', "format: Field required"),
     (OWN.replace("size = 8", "size = 0"), "size"), (OWN.replace("licence", "license"), "licen")],
)  # fmt: skip
def test_a_wrong_entry_is_named(tmp_path: Path, text: str, told: str) -> None:
    own = tmp_path / "models.toml"
    own.write_text(text, "utf-8")
    with pytest.raises(ModelDamaged, match=re.escape(told)):
        catalogue(own)


def test_the_nearest_name() -> None:
    with pytest.raises(ModelMissing, match="nearest name in the catalogue is qwen3-8b"):
        entry("Qwen3-8")
