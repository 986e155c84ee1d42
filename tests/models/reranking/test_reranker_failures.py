"""What cannot be opened as a reranker says so, with the cause and the cure."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tiny_models.encoder import TinyEncoder, write_gguf

from localrag_models.backends.llama_cpp.encoder import LlamaCppReranker
from localrag_models.backends.sentence_transformers import CrossEncoderReranker
from localrag_models.errors import BackendMissing, ModelDamaged, ModelMissing, WrongKind


@pytest.fixture
def folder(tiny_encoder: TinyEncoder, tmp_path: Path) -> Path:
    """A copy of the cross-encoder, to be damaged."""
    return shutil.copytree(tiny_encoder.cross_encoder, tmp_path / "tiny-rank")


@pytest.fixture
def several_labels(folder: Path) -> Path:
    """The cross-encoder made into a classifier of three labels."""
    config = json.loads((folder / "config.json").read_text())
    labels = {str(number): f"LABEL_{number}" for number in range(3)}
    config |= {"id2label": labels, "label2id": {name: int(at) for at, name in labels.items()}}
    (folder / "config.json").write_text(json.dumps(config))
    weights = load_file(folder / "model.safetensors")
    for name in ("classifier.out_proj.weight", "classifier.out_proj.bias"):
        weights[name] = np.concatenate([weights[name]] * 3)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


class TestFile:
    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(ModelMissing, match=r"none\.gguf"):
            LlamaCppReranker(tmp_path / "none.gguf")

    def test_cut_short(self, tiny_encoder: TinyEncoder, tmp_path: Path) -> None:
        path = tmp_path / "short.gguf"
        path.write_bytes(tiny_encoder.reranker_gguf.read_bytes()[:-2_000])
        with pytest.raises(ModelDamaged):
            LlamaCppReranker(path)

    def test_a_chat_model(self, tiny_chat: Path) -> None:
        with pytest.raises(WrongKind, match="of kind chat"):
            LlamaCppReranker(tiny_chat)

    def test_an_embedder(self, tiny_encoder: TinyEncoder) -> None:
        with pytest.raises(WrongKind, match="embedder"):
            LlamaCppReranker(tiny_encoder.gguf)

    def test_with_several_labels(self, several_labels: Path, tmp_path: Path) -> None:
        write_gguf(several_labels, tmp_path / "labels.gguf", pooling="RANK")
        with pytest.raises(WrongKind, match="label"):
            LlamaCppReranker(tmp_path / "labels.gguf")

    def test_trained_with_token_types(self, folder: Path, tmp_path: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        name = "roberta.embeddings.token_type_embeddings.weight"
        weights[name] = np.concatenate([weights[name]] * 2)
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "type_vocab_size": 2}))
        write_gguf(folder, tmp_path / "types.gguf", pooling="RANK")
        with pytest.raises(WrongKind, match="token types") as caught:
            LlamaCppReranker(tmp_path / "types.gguf")
        assert "sentence-transformers" in caught.value.cure


class TestFolder:
    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(ModelMissing, match="nowhere"):
            CrossEncoderReranker(tmp_path / "nowhere")

    def test_an_embedder(self, tiny_encoder: TinyEncoder) -> None:
        with pytest.raises(WrongKind, match="no reranker"):
            CrossEncoderReranker(tiny_encoder.sentence_transformers)

    def test_with_several_labels(self, several_labels: Path) -> None:
        with pytest.raises(WrongKind, match="3 labels"):
            CrossEncoderReranker(several_labels)

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
    def test_a_file_cut_short(self, folder: Path, name: str) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])
        with pytest.raises(ModelDamaged, match="tiny-rank"):
            CrossEncoderReranker(folder)

    def test_with_its_head_missing(self, folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        kept = {name: weight for name, weight in weights.items() if "classifier" not in name}
        save_file(kept, folder / "model.safetensors", {"format": "pt"})
        with pytest.raises(ModelDamaged, match="classifier"):
            CrossEncoderReranker(folder)

    def test_with_pickled_weights(self, folder: Path) -> None:
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        with pytest.raises(ModelDamaged, match="pickled"):
            CrossEncoderReranker(folder)

    def test_without_the_package(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        with pytest.raises(BackendMissing) as caught:
            CrossEncoderReranker(folder)
        assert caught.value.cure == "Install the package sentence-transformers."
