"""`doctor`, `models list` and the trace of an answer say what runs where, and how fast."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat
from tiny_models.servers import OllamaDouble

from localrag.corpus.config import Config
from localrag.corpus.inference.placement import speed_facts
from localrag.corpus.inference.speeds import note_speeds, speeds
from localrag.corpus.workspace import Workspace
from localrag_models.store import ModelStore

Cli = Callable[..., Any]
GB = 10**9


@pytest.fixture
def nvidia(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's program says that there is an RTX 4090."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'RTX 4090, 24000, 20000'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


def findings(outcome: Any) -> dict[str, dict[str, Any]]:
    return {one["check"]: one for one in outcome.json}


@pytest.mark.usefixtures("nvidia")
def test_a_build_that_cannot_use_the_gpu_is_named_with_its_cure(cli: Cli, sample: Path) -> None:
    outcome = cli("doctor", "--json")
    assert outcome.code == 0, "a slow machine is no damage"
    found = findings(outcome)
    assert found["gpu"]["detail"] == "NVIDIA RTX 4090: 25.2 GB of memory, 21.0 GB free"
    assert found["llama.cpp"]["health"] == "warning"
    assert "CPU only: this build has no CUDA" in found["llama.cpp"]["detail"]
    assert found["llama.cpp"]["cure"].startswith('CMAKE_ARGS="-DGGML_CUDA=on" pip install')
    assert "docs/gpu.md" in found["llama.cpp"]["cure"]
    told = cli("models", "list").out
    assert "NVIDIA RTX 4090: 25.2 GB of memory, 21.0 GB free" in told
    assert "this build has no CUDA" in told


def test_without_a_gpu_nothing_is_wrong(
    cli: Cli, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = findings(cli("doctor", "--json"))
    assert (found["gpu"]["health"], found["gpu"]["detail"]) == ("absent", "no GPU found")
    assert (found["llama.cpp"]["health"], found["llama.cpp"]["cure"]) == ("good", "")


def test_the_place_of_each_model_in_use(
    cli: Cli, sample: Path, tiny_chat: Path, loopback: None
) -> None:
    ModelStore(Workspace(sample).models).add(tiny_chat, name="tiny")
    with OllamaDouble() as double:
        double.loaded["tiny-embedder:latest"] = (6 * GB, 4 * GB)
        options = (
            *("--set", "chat.model=tiny"),
            *("--set", "embedding.model=ollama:tiny-embedder"),
            *("--set", f"embedding.server={double.address}"),
        )
        listed = cli(*options, "models", "list", "--json").json["hardware"]
        assert cli(*options, "models", "list").out.count("runs on the processor only") == 1
    places = {one["setting"]: one["place"]["words"] for one in listed["places"]}
    assert places == {
        "chat.model": "tiny runs on the processor only",
        "embedding.model": "ollama:tiny-embedder: 4.0 of 6.0 GB are in the memory of the GPU",
    }
    assert "not measured here yet" in listed["speeds"][0]["words"]


def test_the_trace_says_the_place_and_the_speed(cli: Cli, sample: Path, loopback: None) -> None:
    claim = {"sentences": [1], "text": "平常時の水位に1.5メートルを加えた高さである。"}
    reply = json.dumps({"claims": [claim]}, ensure_ascii=False)
    with OllamaDouble(ScriptedChat("yes", reply), context=32_768) as double:
        double.loaded["tiny:latest"] = (6 * GB, 6 * GB)
        options = (
            *("--set", "chat.model=ollama:tiny", "--set", f"chat.server={double.address}"),
            *("--set", "chat.write_searches=false"),
        )
        question = "渡し舟を運航してはならない水位の基準は何か。"
        outcome = cli(*options, "ask", "--explain", question)
        listed = cli(*options, "models", "list").out
    assert outcome.code == 0, outcome.err
    assert "tokens a second with the reading" in outcome.out
    assert "ollama:tiny: 6.0 of 6.0 GB are in the memory of the GPU" in outcome.out
    assert "ollama:tiny wrote" in listed
    assert "(1 replies)" in listed


@dataclass(frozen=True)
class Call:
    model: str
    completion: int
    seconds: float


def told(workspace: Workspace, model: str) -> Sequence[str]:
    config = Config.model_validate({"chat": {"model": model}})
    return [str(fact) for fact in speed_facts(workspace, config)]


def test_speeds_are_kept_and_newer_replies_count_more(sample: Path) -> None:
    workspace = Workspace(sample)
    assert speeds(workspace) == {}
    note_speeds(workspace, [Call("tiny@1234", 3, 0.1), Call("tiny@1234", 0, 1.0)])
    assert speeds(workspace) == {}, "short replies say nothing"
    note_speeds(workspace, [Call("tiny@1234", 100, 10.0), Call("qwen3:8b", 64, 2.0)])
    assert told(workspace, "tiny") == [
        "tiny wrote 10.0 tokens a second here, with the reading (1 replies)"
    ]
    assert "32.0 tokens" in told(workspace, "ollama:qwen3:8b")[0]
    note_speeds(workspace, [Call("tiny@1234", 100, 1.0)] * 200)
    assert speeds(workspace)["tiny@1234"].rate > 90
    assert speeds(workspace)["tiny@1234"].replies < 64
    assert told(workspace, "") == []
    (sample / "speeds.json").write_text("[1")
    assert speeds(workspace) == {}
    note_speeds(workspace, [Call("m", 20, 1.0)])
    assert list(json.loads((sample / "speeds.json").read_text())) == ["m"]
