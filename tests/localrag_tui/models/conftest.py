"""Models that are always the same, and jobs that run in this process."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tiny_models.servers.hub import TinyHub

from localrag.corpus.workspace import Workspace
from localrag_models.store import ModelStore
from localrag_tui.models import screen
from localrag_tui.models.stock import MemoryUsage


@pytest.fixture
def sixteen_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose memory is always the same."""
    monkeypatch.setattr(screen, "measure", lambda _pid: MemoryUsage(0, 16 * 10**9, 8 * 10**9))


@pytest.fixture
def models(bench_home: Path) -> ModelStore:
    """The store of the workspace of this test."""
    return ModelStore(Workspace.locate(bench_home).models)


@pytest.fixture
def hub(
    tiny_chat: Path, monkeypatch: pytest.MonkeyPatch, allow_loopback: Callable[[], None]
) -> Iterator[TinyHub]:
    """A hub on this machine, named by the environment."""
    import huggingface_hub
    from huggingface_hub import constants

    allow_loopback()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    files = {"Qwen3-8B-Q4_K_M.gguf": tiny_chat.read_bytes(), "LICENSE": b"Apache License"}
    with TinyHub({"Qwen/Qwen3-8B-GGUF": files}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        yield hub
    huggingface_hub.close_session()
