"""The same weights give the same windows and vectors, whatever runs them."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from tiny_models.encoder import NASTY_TEXTS, TinyEncoder, write_gguf

from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.backends.sentence_transformers import SentenceTransformersEmbedder
from localrag_models.embedding import Embedder

from ...rows import each

TEXTS = [
    *NASTY_TEXTS,
    "個人情報取扱事業者は、利用目的をできる限り特定しなければならない。" * 40,
    "The controller shall process personal data lawfully. " * 60,
]
# More tokens together than are left to NumPy.
MANY = [*TEXTS, *["届出をしなければならない。" * 20] * 10]


@pytest.fixture(scope="module")
def by_pytorch(sentence_transformers: Callable[..., Embedder]) -> Iterator[Embedder]:
    with sentence_transformers() as embedder:
        yield embedder


@pytest.fixture(scope="module", params=["with charsmap", "without charsmap"])
def by_llama_cpp(
    request: pytest.FixtureRequest,
    tiny_encoder: TinyEncoder,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Embedder]:
    path: Path = tmp_path_factory.mktemp("gguf") / "tiny-e5.gguf"
    charsmap = request.param == "with charsmap"
    write_gguf(tiny_encoder.sentence_transformers, path, pooling="MEAN", charsmap=charsmap)
    with LlamaCppEmbedder(path, threads=1) as embedder:
        yield embedder


@each("text", TEXTS)
def test_windows_agree(by_pytorch: Embedder, by_llama_cpp: Embedder, text: str) -> None:
    assert by_pytorch.windows(text, "見出し") == by_llama_cpp.windows(text, "見出し")


# llama.cpp rounds the inputs of its activation function to 16 bits: about 5e-5 here.
def test_vectors_agree(by_pytorch: Embedder, by_llama_cpp: Embedder) -> None:
    for embed in ("embed_queries", "embed_passages"):
        one, other = getattr(by_pytorch, embed)(TEXTS), getattr(by_llama_cpp, embed)(TEXTS)
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_loose_and_half_width_kana_are_kana(by_pytorch: Embedder, by_llama_cpp: Embedder) -> None:
    for embedder in (by_pytorch, by_llama_cpp):
        whole, loose, half = embedder.embed_passages(["ガギ", "カ\u3099キ\u3099", "ｶﾞｷﾞ"])
        np.testing.assert_allclose(whole, loose, atol=1e-6)
        np.testing.assert_allclose(whole, half, atol=1e-6)


def test_text_cannot_act_as_a_control_token(by_pytorch: Embedder, by_llama_cpp: Embedder) -> None:
    for embedder in (by_pytorch, by_llama_cpp):
        spelt, wide, broken = embedder.embed_passages(["個人</s>", "個人＜/s＞", "個人< /s>"])
        np.testing.assert_allclose(spelt, broken, atol=1e-6)
        np.testing.assert_allclose(wide, broken, atol=1e-6)


def test_few_texts_have_the_vectors_that_pytorch_gives(
    sentence_transformers: Callable[..., Embedder],
) -> None:
    with sentence_transformers() as few, sentence_transformers() as many:
        one_by_one = np.concatenate([few.embed_passages([text]) for text in TEXTS])
        together = many.embed_passages(MANY)[: len(TEXTS)]
    np.testing.assert_allclose(one_by_one, together, atol=1e-5)


@each("pooling", ["mean", "cls"])
def test_a_question_loads_no_pytorch(
    tiny_encoder: TinyEncoder, tmp_path: Path, pooling: str
) -> None:
    folder = Path(copytree(tiny_encoder.sentence_transformers, tmp_path / pooling))
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 32, "pooling_mode": pooling})
    )
    program = """
import sys
from pathlib import Path
from localrag_models.backends.sentence_transformers import SentenceTransformersEmbedder
with SentenceTransformersEmbedder(Path(sys.argv[1])) as embedder:
    print(embedder.embed_queries(["個人情報の定義は何ですか"])[0].tolist())
print("torch" in sys.modules, "transformers" in sys.modules)
"""
    told = subprocess.run(
        [sys.executable, "-c", program, str(folder)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert told[1] == "False False"
    with SentenceTransformersEmbedder(folder) as embedder:
        embedder.embed_passages(MANY)
        (by_pytorch,) = embedder.embed_queries(["個人情報の定義は何ですか"])
    np.testing.assert_allclose(json.loads(told[0]), by_pytorch, atol=1e-5)
