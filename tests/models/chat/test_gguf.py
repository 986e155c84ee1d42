import struct
from contextlib import suppress
from pathlib import Path

import gguf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localrag_models.errors import ModelDamaged, ModelError, ModelMissing, WrongKind
from localrag_models.gguf import read_header

from ...rows import each


def write(path: Path, architecture: str, **numbers: int) -> Path:
    """A GGUF file with one tensor and these integers among its metadata."""
    import numpy as np

    writer = gguf.GGUFWriter(path, architecture)
    for key, number in numbers.items():
        writer.add_uint32(f"{architecture}.{key}", number)
    writer.add_tensor("weight", np.ones((2, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_header_says_what_the_model_is(tiny_chat: Path) -> None:
    header = read_header(tiny_chat)
    assert (header.kind, header.architecture, header.context) == ("chat", "qwen3", 4096)
    assert header.name == "tiny qwen3"
    assert "<|im_start|>" in header.chat_template
    assert header.size == tiny_chat.stat().st_size


def test_it_reads_what_the_reference_reader_reads(tiny_chat: Path) -> None:
    reference = gguf.GGUFReader(tiny_chat)
    header = read_header(tiny_chat)
    expected = {
        key: field.contents()
        for key, field in reference.fields.items()
        if not key.startswith("GGUF.")
    }
    listed = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in header.metadata.items()
    }
    assert listed == expected
    assert [(t.name, t.shape, t.size) for t in header.tensors] == [
        (t.name, tuple(map(int, t.shape)), t.n_bytes) for t in reference.tensors
    ]


def test_sizes_of_quantised_tensors_are_those_of_the_reference() -> None:
    from localrag_models.gguf import _BLOCKS

    known = {int(kind): size for kind, size in gguf.GGML_QUANT_SIZES.items() if kind in _BLOCKS}
    assert known == _BLOCKS


@each(
    ("architecture", "numbers", "kind"),
    [
        ("llama", {}, "chat"),
        ("bert", {"pooling_type": 1}, "embedder"),
        ("bert", {}, "embedder"),
        ("qwen3", {"pooling_type": 3}, "embedder"),
        ("qwen3", {"pooling_type": 0}, "chat"),
        ("bert", {"pooling_type": 4}, "reranker"),
        ("clip", {}, "other"),
    ],
)
def test_kinds(tmp_path: Path, architecture: str, numbers: dict[str, int], kind: str) -> None:
    assert read_header(write(tmp_path / "m.gguf", architecture, **numbers)).kind == kind


def test_every_truncation_is_found(tiny_chat: Path, tmp_path: Path) -> None:
    whole, cut = tiny_chat.read_bytes(), tmp_path / "cut.gguf"
    for length in [*range(4, 2000, 37), *range(2000, len(whole), 9973), len(whole) - 1]:
        cut.write_bytes(whole[:length])
        with pytest.raises(ModelDamaged, match="cut short"):
            read_header(cut)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(place=st.integers(4, 9000), data=st.binary(min_size=1, max_size=9))
def test_a_changed_header_is_read_or_refused(
    tiny_chat: Path, tmp_path: Path, place: int, data: bytes
) -> None:
    changed = bytearray(tiny_chat.read_bytes())
    changed[place : place + len(data)] = data
    path = tmp_path / "changed.gguf"
    path.write_bytes(changed)
    with suppress(ModelError):
        assert read_header(path).kind


@each(
    ("content", "error", "match"),
    [
        (b"", ModelDamaged, "empty"),
        (b"PK\x03\x04 a zip", WrongKind, "not a GGUF"),
        (b"GGUF" + struct.pack("<I", 1), WrongKind, "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60), ModelDamaged, "its header holds"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**20), ModelDamaged, "cut short"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**60), ModelDamaged, "a text of"),
    ],
)
def test_other_files(tmp_path: Path, content: bytes, error: type[ModelError], match: str) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(content)
    with pytest.raises(error, match=match):
        read_header(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="no model file"):
        read_header(tmp_path / "none.gguf")
    with pytest.raises(WrongKind, match="not a regular file"):
        read_header(tmp_path)
