"""A store, and a hub on loopback that publishes the tiny models."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tiny_models.encoder import TinyEncoder
from tiny_models.servers.hub import TinyHub

from localrag_models.store import ModelStore


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models")


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def small_files() -> Callable[[], AbstractContextManager[None]]:
    """Inside its block no file grows beyond 10,000 bytes, as with ``ulimit -f``.

    Not for a whole test: what the test run writes its report to may be a file too.
    """
    resource = pytest.importorskip("resource")

    @contextmanager
    def limited() -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undoes what switches the library off: the tests of other parts do so for good."""
    import huggingface_hub
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield
    huggingface_hub.close_session()


@pytest.fixture
def hub(tiny_chat: Path, tiny_encoder: TinyEncoder, online: None) -> Iterator[TinyHub]:
    with TinyHub(
        {
            "Qwen/Qwen3-8B-GGUF": {
                "Qwen3-8B-Q4_K_M.gguf": tiny_chat.read_bytes(),
                "Qwen3-8B-Q8_0.gguf": b"x" * 5_000,
                "LICENSE": b"Apache License",
                "README.md": b"# card",
            },
            "intfloat/multilingual-e5-small": {
                **files_of(tiny_encoder.sentence_transformers),
                "onnx/model.onnx": b"x" * 5_000,
                "pytorch_model.bin": b"x" * 5_000,
                "LICENSE": b"MIT",
            },
            "somebody/words": {"README.md": b"no model"},
        }
    ) as hub:
        yield hub
