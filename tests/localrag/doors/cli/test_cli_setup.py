"""`localrag setup`: the proposal, every step, and a continued call after any stop."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_models.encoder import TinyEncoder
from tiny_models.scripted import ScriptedChat
from tiny_models.servers import OllamaDouble, OpenAIDouble
from tiny_models.servers.hub import TinyHub

from localrag.corpus.workspace import Workspace
from localrag.ops import setup
from localrag.sample import FOLDER, QUESTION
from localrag_models.store import ModelStore

Cli = Callable[..., Any]
STEPS = [step.value for step in setup.Step]


@pytest.fixture(autouse=True)
def no_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of the developer's machine is nothing to these tests."""
    monkeypatch.setattr(setup, "SERVERS", ())


@pytest.fixture
def hub(
    tiny_chat: Path, tiny_encoder: TinyEncoder, loopback: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TinyHub]:
    import huggingface_hub
    from huggingface_hub import constants

    # Other tests switch the library off for good.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    encoder = tiny_encoder.sentence_transformers
    files = {
        path.relative_to(encoder).as_posix(): path.read_bytes()
        for path in encoder.rglob("*")
        if path.is_file()
    }
    repositories = {
        "Qwen/Qwen3-4B-GGUF": {"Qwen3-4B-Q4_K_M.gguf": tiny_chat.read_bytes()},
        "intfloat/multilingual-e5-small": files,
    }
    with TinyHub(repositories) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        yield hub
    huggingface_hub.close_session()


@pytest.fixture
def stick(tmp_path: Path, tiny_chat: Path, tiny_encoder: TinyEncoder) -> Path:
    """A folder with a GGUF file, the file of an export, and a zip of laws."""
    folder = tmp_path / "stick"
    (folder / "models").mkdir(parents=True)
    shutil.copy(tiny_chat, folder / "tiny.gguf")
    store = ModelStore(tmp_path / "other")
    store.add(tiny_encoder.sentence_transformers, name="e5")
    store.export("e5", folder / "models")
    with zipfile.ZipFile(folder / "laws.zip", "w") as laws:
        for path in (FOLDER / "laws").glob("*.xml"):
            laws.write(path, path.name)
    return folder


def test_a_dry_run_proposes_and_changes_nothing(cli: Cli, home: Path) -> None:
    told = cli("setup", "--dry-run", "--json").json
    assert not home.exists()
    assert set(told["models"]) == {"chat", "embedder", "reranker"}
    assert {model["origin"] for model in told["models"].values()} == {"catalogue"}
    chat = told["models"]["chat"]
    assert 0 < chat["size"] <= told["machine"]["room"]
    assert (chat["seconds"] > 0, chat["measured"]) == (True, False)
    assert told["laws"]["origin"] == "download"
    assert told["fetched"] > sum(model["size"] for model in told["models"].values())
    assert told["settings"]["chat.model"] == chat["name"]
    assert list(told["steps"]) == STEPS
    shown = cli("setup", "--dry-run", "--skip", "reranker").out
    assert "estimated" in shown
    assert "fits this machine" in shown
    assert "reranker" not in shown


def test_nothing_is_fetched_without_a_yes(cli: Cli, home: Path) -> None:
    outcome = cli("setup")
    assert outcome.code == 2
    assert "--yes" in outcome.err
    assert not home.exists()
    assert cli("setup", "--from", str(home)).code == 2, "no such folder"


def test_the_sample_without_models_needs_no_yes(cli: Cli, home: Path) -> None:
    skipped = ("--skip", "chat", "--skip", "embedder", "--skip", "reranker")
    outcome = cli("setup", "--sample", *skipped)
    assert outcome.code == 0, outcome.err
    assert "laws: done\nindex: done\n" in outcome.out
    assert QUESTION in outcome.out
    assert "平常時の水位に一・五メートルを加えた高さ" in outcome.out
    again = cli("setup", *skipped, "--json").json
    assert again["laws"]["origin"] == "present"
    assert [again["steps"][step] for step in ("workspace", "settings", "laws", "index")] == (
        4 * ["before"]
    )
    assert again["answer"]["citations"]


def test_models_are_fetched_once_and_settings_of_the_user_stay(
    cli: Cli, home: Path, hub: TinyHub
) -> None:
    assert cli("init").code == 0
    Workspace(home).settings.write_text('[chat]\nmodel = "qwen3-4b"\n', encoding="utf-8")
    call = ("setup", "--yes", "--sample", "--skip", "reranker", "--skip", "question", "--json")
    first = cli("--set", "embedding.model=multilingual-e5-small", *call)
    assert first.code == 0, first.err
    assert first.json["settings"] == {}
    assert [first.json["steps"][step] for step in ("chat", "embedder")] == 2 * ["done"]
    assert [model["name"] for model in cli("models", "list", "--json").json["installed"]] == [
        "multilingual-e5-small",
        "qwen3-4b",
    ]
    asked = len(hub.asked)
    again = cli(*call).json
    assert [again["steps"][step] for step in ("chat", "embedder")] == 2 * ["before"]
    assert again["settings"] == {"embedding.model": "multilingual-e5-small"}
    assert Workspace(home).settings.read_text("utf-8").startswith('[chat]\nmodel = "qwen3-4b"')
    assert len(hub.asked) == asked


def test_without_a_network_a_folder_is_enough(cli: Cli, home: Path, stick: Path) -> None:
    """Sockets are blocked here."""
    outcome = cli("setup", "--from", str(stick), "--skip", "question", "--json")
    assert outcome.code == 0, outcome.err
    told = outcome.json
    assert {kind: model["name"] for kind, model in told["models"].items()} == {
        "chat": "tiny",
        "embedder": "e5",
    }
    assert told["laws"]["paths"] == [str(stick / "laws.zip")]
    assert told["fetched"] == 0
    assert told["steps"]["reranker"] == "none"
    (corpus,) = cli("list", "--json").json
    assert corpus["documents"] == 3
    settings = {one["key"]: one["value"] for one in cli("config", "--json").json}
    assert (settings["chat.model"], settings["embedding.model"]) == ("tiny", "e5")


def test_a_model_of_a_running_server_is_proposed(
    cli: Cli, loopback: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIDouble(name="qwen3:8b") as double:
        monkeypatch.setattr(setup, "SERVERS", (("LM Studio", "openai", double.address),))
        told = cli("setup", "--dry-run", "--json").json
        shown = cli("setup", "--dry-run").out
    assert told["models"]["chat"]["origin"] == "served"
    assert told["settings"]["chat.model"] == "openai:qwen3:8b"
    assert told["settings"]["chat.server"] == f"{double.address}/v1"
    assert f"LM Studio ({double.address}/v1): qwen3:8b" in shown
    assert told["models"]["embedder"]["origin"] == "catalogue", "this server has none"


def test_a_call_killed_after_any_step_is_continued(home: Path, cli: Cli, stick: Path) -> None:
    command = [sys.executable, "-m", "localrag", "setup", "--from", str(stick)]
    # A server of the developer's machine has no say: it comes after the folder.
    command += ["--skip", "reranker", "--skip", "question"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    for step in ("workspace:", "chat model:", "laws:"):
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as process:
            assert process.stdout is not None
            heard = next(line for line in process.stdout if line.decode().startswith(step))
            process.kill()
        assert heard
    told = cli(*command[3:], "--json")
    assert told.code == 0, told.err
    states = told.json["steps"]
    assert [states[step] for step in ("chat", "embedder", "settings")] == 3 * ["before"]
    assert cli("search", "水位の基準").code == 0
    assert not (home / "setup.json").exists()


def test_ask_announces_a_long_reply_measured_here(cli: Cli, sample: Path, loopback: None) -> None:
    claim = {"sentences": [1], "text": "平常時の水位に1.5メートルを加えた高さである。"}
    reply = json.dumps({"claims": [claim]}, ensure_ascii=False)
    speeds = Workspace(sample).models.parent / "speeds.json"
    outcomes = []
    for seconds in (0.5, 40.0):
        with OllamaDouble(ScriptedChat("yes", reply), context=32_768) as double:
            options = (
                *("--set", "chat.model=ollama:tiny", "--set", f"chat.server={double.address}"),
                *("--set", "chat.write_searches=false"),
            )
            outcomes.append(cli(*options, "ask", QUESTION))
        ((model, speed),) = json.loads(speeds.read_text("utf-8")).items()
        told = {model: {**speed, "replies": 2, "seconds": 2 * seconds}}
        speeds.write_text(json.dumps(told), encoding="utf-8")
    outcomes.append(cli(*options, "ask", "--no-model", QUESTION))
    with OllamaDouble(ScriptedChat("yes", reply), context=32_768) as double:
        options = (*options[:3], f"chat.server={double.address}", *options[4:])
        outcomes.append(cli(*options, "ask", QUESTION))
    assert ["takes about 40 s here" in outcome.err for outcome in outcomes] == [
        False,
        False,
        False,
        True,
    ]
