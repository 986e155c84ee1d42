"""What cannot be opened as an embedder says so, with the cause and the cure."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file
from tiny_models.encoder import TinyEncoder, write_gguf

from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.backends.sentence_transformers import SentenceTransformersEmbedder
from localrag_models.errors import (
    BackendMissing,
    Cure,
    ModelDamaged,
    ModelError,
    ModelMissing,
    WrongKind,
)


@pytest.fixture
def folder(tiny_encoder: TinyEncoder, tmp_path: Path) -> Path:
    """A copy of the embedder, to be damaged."""
    return shutil.copytree(tiny_encoder.sentence_transformers, tmp_path / "tiny-e5")


class TestFile:
    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(ModelMissing, match=r"none\.gguf"):
            LlamaCppEmbedder(tmp_path / "none.gguf")

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
    def test_cut_short(self, tiny_encoder: TinyEncoder, tmp_path: Path, share: float) -> None:
        data = tiny_encoder.gguf.read_bytes()
        path = tmp_path / "short.gguf"
        path.write_bytes(data[: int(len(data) * share)])
        with pytest.raises(ModelDamaged):
            LlamaCppEmbedder(path)

    def test_no_gguf(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.gguf"
        path.write_text("個人情報" * 100)
        with pytest.raises(WrongKind):
            LlamaCppEmbedder(path)

    def test_a_chat_model(self, tiny_chat: Path) -> None:
        with pytest.raises(WrongKind, match="of kind chat"):
            LlamaCppEmbedder(tiny_chat)

    def test_a_reranker(self, tiny_encoder: TinyEncoder) -> None:
        with pytest.raises(WrongKind, match="reranker"):
            LlamaCppEmbedder(tiny_encoder.reranker_gguf)

    def test_that_does_not_say_how_to_pool(self, tiny_encoder: TinyEncoder, tmp_path: Path) -> None:
        path = tmp_path / "tokens.gguf"
        write_gguf(tiny_encoder.sentence_transformers, path, pooling="NONE")
        with pytest.raises(WrongKind, match="vectors of its tokens"):
            LlamaCppEmbedder(path)

    def test_with_numbers_that_are_none(self, folder: Path, tmp_path: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        weights["embeddings.LayerNorm.weight"][:] = float("nan")
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
        write_gguf(folder, tmp_path / "nan.gguf", pooling="MEAN")
        openers: list[Callable[[], LlamaCppEmbedder | SentenceTransformersEmbedder]] = [
            lambda: LlamaCppEmbedder(tmp_path / "nan.gguf", threads=1),
            lambda: SentenceTransformersEmbedder(folder, threads=1),
        ]
        for start in openers:
            with start() as embedder, pytest.raises(ModelDamaged, match="no numbers"):
                embedder.embed_queries(["個人情報"])


MANY = ["個人情報取扱事業者は、利用目的を特定しなければならない。"] * 200
"""More than is embedded without PyTorch."""


class TestFolder:
    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(ModelMissing, match="nowhere"):
            SentenceTransformersEmbedder(tmp_path / "nowhere")

    def test_empty(self, tmp_path: Path) -> None:
        with pytest.raises(WrongKind, match=r"config\.json"):
            SentenceTransformersEmbedder(tmp_path)

    def test_a_reranker(self, tiny_encoder: TinyEncoder) -> None:
        with pytest.raises(WrongKind, match="reranker"):
            SentenceTransformersEmbedder(tiny_encoder.cross_encoder)

    @pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors"])
    def test_a_file_missing(self, folder: Path, name: str) -> None:
        (folder / name).unlink()
        with pytest.raises(ModelDamaged, match=name.partition(".")[2]) as caught:
            SentenceTransformersEmbedder(folder)
        assert caught.value.cure == Cure.GET_AGAIN

    def test_that_does_not_say_how_to_pool(self, folder: Path) -> None:
        (folder / "modules.json").unlink()
        with pytest.raises(WrongKind, match=r"modules\.json"):
            SentenceTransformersEmbedder(folder)

    @pytest.mark.parametrize(
        "name", ["config.json", "tokenizer.json", "modules.json", "model.safetensors"]
    )
    @pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
    def test_a_file_cut_short(self, folder: Path, name: str, share: float) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: int(len(data) * share)])
        with pytest.raises(ModelDamaged, match="tiny-e5"):
            SentenceTransformersEmbedder(folder)

    def test_with_settings_of_no_model(self, folder: Path) -> None:
        (folder / "config.json").write_text('{"model_type": "ferry"}')
        with pytest.raises(ModelDamaged, match="ferry"):
            SentenceTransformersEmbedder(folder)

    def test_with_weights_missing(self, folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        del weights["encoder.layer.1.output.dense.bias"]
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
        with pytest.raises(ModelDamaged, match=r"encoder\.layer\.1\.output\.dense\.bias"):
            SentenceTransformersEmbedder(folder)

    def test_with_pickled_weights(self, folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        with pytest.raises(ModelDamaged, match="pickled"):
            SentenceTransformersEmbedder(folder)

    def test_with_a_pickled_part(self, folder: Path) -> None:
        (folder / "1_Pooling" / "pytorch_model.bin").write_bytes(b"anything")
        with pytest.raises(ModelDamaged, match="pickled"):
            SentenceTransformersEmbedder(folder)

    def test_with_a_program_of_its_own(self, folder: Path) -> None:
        modules = json.loads((folder / "modules.json").read_text())
        modules[0]["type"] = "ferry.Transformer"
        (folder / "modules.json").write_text(json.dumps(modules))
        (folder / "ferry.py").write_text("raise SystemExit")
        with pytest.raises(ModelDamaged, match="program of its own: ferry"):
            SentenceTransformersEmbedder(folder)

    def test_on_a_device_that_is_not_there(self, folder: Path) -> None:
        with (
            SentenceTransformersEmbedder(folder, device="abacus") as embedder,
            pytest.raises(ModelError, match="abacus") as caught,
        ):
            embedder.embed_passages(MANY)
        assert "cpu" in caught.value.cure

    def test_without_the_package(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        with SentenceTransformersEmbedder(folder) as embedder:
            assert len(embedder.embed_queries(["個人情報"])) == 1
            with pytest.raises(BackendMissing) as caught:
                embedder.embed_passages(MANY)
        assert caught.value.cure == "Install the package sentence-transformers."


def test_nothing_is_printed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with SentenceTransformersEmbedder(folder, device="auto", threads=1) as embedder:
        embedder.embed_passages(["個人情報" * 2_000] * 2)
    assert capfd.readouterr() == ("", "")


def test_the_hub_is_reachable_again_after_loading(folder: Path) -> None:
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    SentenceTransformersEmbedder(folder).close()
    assert before == constants.HF_HUB_OFFLINE
