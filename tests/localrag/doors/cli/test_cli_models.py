"""``localrag models``: every verb of it, as text and as JSON, on tiny models."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_models.encoder import TinyEncoder
from tiny_models.servers.hub import TinyHub
from tiny_models.servers.ollama import OllamaDouble

Cli = Callable[..., Any]
loopback = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def workspace(cli: Cli, home: Path) -> Path:
    assert cli("init").code == 0
    return home


@pytest.fixture
def hub(tiny_chat: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TinyHub]:
    import huggingface_hub
    from huggingface_hub import constants

    # Other tests switch the library off for good.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    content = tiny_chat.read_bytes()
    with TinyHub({"Qwen/Qwen3-8B-GGUF": {"Qwen3-8B-Q4_K_M.gguf": content}}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        yield hub
    huggingface_hub.close_session()


def test_list_of_an_empty_workspace(cli: Cli, workspace: Path) -> None:
    outcome = cli("models", "list")
    assert outcome.code == 0
    assert "No model is installed yet." in outcome.err
    for part in ("qwen3-8b", "5.03 GB", "6.24 GB", "Apache-2.0", "localrag models pull"):
        assert part in outcome.out
    listed = cli("models", "list", "--json").json
    assert listed["installed"] == []
    assert {"name", "kind", "bytes", "memory", "licence", "context"} <= set(listed["available"][0])


def test_add_list_verify_remove(cli: Cli, workspace: Path, tiny_chat: Path) -> None:
    added = cli("models", "add", str(tiny_chat), "--name", "mine", "--licence", "[MIT] \x1b[2J")
    assert added.code == 0
    assert "[chat]" in added.out
    assert 'model = "mine"' in added.out
    with (workspace / "localrag.toml").open("a", encoding="utf-8") as settings:
        settings.write('[chat]\nmodel = "mine"\n')
    (workspace / "localrag.toml").write_text('[chat]\nmodel = "mine"\n', encoding="utf-8")
    shown = cli("models", "list")
    assert "chat.model" in shown.out
    assert "[MIT] ␛[2J" in shown.out
    (model,) = cli("models", "list", "--json").json["installed"]
    assert (model["name"], model["kind"], model["used_as"]) == ("mine", "chat", "chat.model")
    assert model["id"].startswith("mine@")
    assert "mine: 1 file, nothing has changed" in cli("models", "verify").out
    assert cli("models", "verify", "mine", "--json").json[0]["id"] == model["id"]
    assert cli("models", "remove", "mine", "--json").json == {"removed": "mine"}
    assert cli("models", "list", "--json").json["installed"] == []


def test_what_is_used_already_needs_no_next_step(
    cli: Cli, workspace: Path, tiny_chat: Path
) -> None:
    outcome = cli("--set", "chat.model=mine", "models", "add", str(tiny_chat), "--name", "mine")
    assert "Next" not in outcome.out


def test_add_an_embedder(cli: Cli, workspace: Path, tiny_encoder: TinyEncoder) -> None:
    folder = str(tiny_encoder.sentence_transformers)
    added = cli("models", "add", folder, "--name", "e5")
    assert "prefixes: 'query: ' and 'passage: '" in added.out
    assert "localrag index" in added.out
    assert 'embedding.model = "off"' in added.out
    other = cli("models", "add", folder, "--name", "own", "--query-prefix", "検索: ", "--json").json
    assert other["prefixes"] == {"query": "検索: ", "passage": ""}
    third = cli("models", "add", folder, "--name", "third")
    assert "[embedding]" in third.out
    assert 'model = "third"' in third.out


def test_damage_is_told(cli: Cli, workspace: Path, tiny_chat: Path) -> None:
    cli("models", "add", str(tiny_chat), "--name", "mine")
    path = workspace / "models" / "mine" / tiny_chat.name
    path.write_bytes(tiny_chat.read_bytes()[:-1] + b"\1")
    assert cli("models", "list").code == 0
    outcome = cli("models", "verify")
    assert outcome.code == 8
    assert "has changed" in outcome.err
    assert "localrag models remove mine" in outcome.err
    path.write_bytes(b"")
    listed = cli("models", "list")
    assert listed.code == 0
    assert "not of the size" in listed.err
    assert cli("models", "verify").code == 8


def test_verify_checks_all(cli: Cli, workspace: Path, tiny_chat: Path) -> None:
    for name in ("a", "b", "c"):
        assert cli("models", "add", str(tiny_chat), "--name", name).code == 0
    path = workspace / "models" / "a" / tiny_chat.name
    path.write_bytes(tiny_chat.read_bytes()[:-1] + b"\1")
    (workspace / "models" / "b" / tiny_chat.name).write_bytes(b"")
    (workspace / "models" / "d").mkdir()
    outcome = cli("models", "verify")
    assert outcome.code == 8
    assert outcome.out == "c: 1 file, nothing has changed\n"
    for part in ("has changed", "not of the size", "localrag models remove d"):
        assert part in outcome.err
    as_json = cli("models", "verify", "--json")
    assert as_json.code == 8
    assert [row["name"] for row in as_json.json] == ["a", "b", "c", "d"]
    assert [row["problem"] is None for row in as_json.json] == [False, False, True, False]
    assert "has changed" in as_json.json[0]["problem"]["cause"]
    assert cli("models", "verify", "c").code == 0


def test_names_are_never_folded(cli: Cli, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from localrag.doors.cli.terminal import _console

    names = [entry["name"] for entry in cli("models", "list", "--json").json["available"]]
    for width in (80, 30):
        monkeypatch.setattr(_console(stderr=False), "width", width)
        shown = cli("models", "list").out
        assert all(
            any(line.startswith(f"{name} ") for line in shown.splitlines()) for name in names
        )
        for part in ("5.03 GB", "memory", "good"):
            assert part in shown
        if width == 80:
            assert max(len(line) for line in shown.splitlines()) <= width


def test_export_and_import(cli: Cli, workspace: Path, tiny_chat: Path, tmp_path: Path) -> None:
    cli("models", "add", str(tiny_chat), "--name", "mine")
    written = cli("models", "export", "mine", str(tmp_path))
    assert written.code == 0
    assert "localrag models import mine.tar" in written.out
    shutil.rmtree(workspace / "models")
    back = cli("models", "import", str(tmp_path / "mine.tar"), "--json")
    assert back.json["name"] == "mine"
    assert cli("models", "verify").code == 0
    again = cli("models", "import", str(tmp_path / "mine.tar"))
    assert again.code == 8
    assert "already a model" in again.err
    assert cli("models", "export", "mine", str(tmp_path), "--json").code == 8


def test_what_is_in_the_way(cli: Cli, workspace: Path, tiny_chat: Path) -> None:
    (workspace / "models" / "mine").mkdir()
    told = "localrag models remove mine"
    for arguments in (("models", "add", str(tiny_chat), "--name", "mine"), ("models", "list")):
        assert told in cli(*arguments).err
    checked = cli("doctor")
    assert told in checked.out + checked.err
    assert cli("models", "remove", "mine").code == 0
    assert cli("models", "add", str(tiny_chat), "--name", "mine").code == 0


def test_a_full_disk_and_another_process(
    cli: Cli, workspace: Path, tiny_chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    with monkeypatch.context() as patched:
        usage = shutil.disk_usage("/")._replace(free=1_000)
        patched.setattr(shutil, "disk_usage", lambda path: usage)
        full = cli("models", "add", str(tiny_chat), "--name", "mine")
    assert full.code == 7
    assert "are free" in full.err
    assert cli("models", "add", str(tiny_chat), "--name", "mine").code == 0
    with FileLock(workspace / "models" / ".partial" / "mine.lock"):
        busy = cli("models", "remove", "mine")
    assert busy.code == 6
    assert "Another process" in busy.err


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["verify", "mine"], 8, "localrag models list"),
        (["verify", "qwen3-8b"], 8, "localrag models pull qwen3-8b"),
        (["remove", "mine"], 8, "not installed"),
        (["export", "mine", "x.tar"], 8, "not installed"),
        (["export", "mine", "nowhere/x.tar"], 2, "There is no folder nowhere"),
        (["import", "nothing.tar"], 8, "There is no file"),
        (["add", "nothing.gguf"], 8, "There is no nothing.gguf"),
        (["add", "x.gguf", "--bogus"], 2, "--bogus"),
        (["pull"], 2, "model"),
        (["pull", "qwen3-8b", "--token-file", "nothing"], 2, "token"),
        (["bogus"], 2, "There is no verb"),
    ],
)
def test_requests_that_fail(
    cli: Cli, workspace: Path, online: None, arguments: list[str], code: int, part: str
) -> None:
    outcome = cli("models", *arguments)
    assert outcome.code == code
    assert part in outcome.err
    assert outcome.out == ""


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


def test_without_a_workspace(cli: Cli) -> None:
    outcome = cli("models", "list")
    assert outcome.code == 5
    assert "localrag init" in outcome.err


@loopback
def test_pull(cli: Cli, workspace: Path, hub: TinyHub) -> None:
    outcome = cli("models", "pull", "qwen3-8b")
    assert outcome.code == 0, outcome.err
    assert f"from Qwen/Qwen3-8B-GGUF@{hub.commit[:12]}" in outcome.out
    assert 'model = "qwen3-8b"' in outcome.out
    again = cli("models", "pull", "qwen3-8b", "--json")
    assert again.json["licence"] == "Apache-2.0"
    assert "installed already" in again.err


@loopback
def test_an_interrupted_pull_is_shown(cli: Cli, workspace: Path, hub: TinyHub) -> None:
    hub.drops.extend([100_000, *[0] * 5])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("time.sleep", lambda seconds: None)
        outcome = cli("models", "pull", "qwen3-8b")
    assert outcome.code == 8
    assert "does not answer" in outcome.err
    assert "localrag models pull qwen3-8b goes on" in cli("models", "list").err
    assert cli("models", "list", "--json").json["unfinished"] == {"qwen3-8b": 100_000}
    assert cli("models", "remove", "qwen3-8b").code == 0
    assert cli("models", "list", "--json").json["unfinished"] == {}


@loopback
def test_a_token_from_a_file(
    cli: Cli, workspace: Path, hub: TinyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    hub.gated = frozenset({"Qwen/Qwen3-8B-GGUF"})
    refused = cli("models", "pull", "qwen3-8b")
    assert refused.code == 8
    assert "HF_TOKEN" in refused.err
    assert "hf_wrong" not in refused.err
    (tmp_path / "token").write_text(f"{hub.token}\n", encoding="ascii")
    outcome = cli("models", "pull", "qwen3-8b", "--token-file", str(tmp_path / "token"))
    assert outcome.code == 0, outcome.err


@loopback
def test_ollama(cli: Cli, workspace: Path) -> None:
    with OllamaDouble() as server:
        listed = cli("models", "list", "--ollama", "--server", server.address)
        assert listed.code == 0, listed.err
        assert "ollama:tiny:latest" in listed.out
        names = cli("models", "list", "--ollama", "--server", server.address, "--json").json
        assert "ollama:tiny:latest" in [model["name"] for model in names]
        pulled = cli("models", "pull", "ollama:tiny", "--server", server.address)
        assert pulled.code == 0, pulled.err
        assert "ollama:tiny" in pulled.out
    dead = cli("models", "list", "--ollama", "--server", "http://127.0.0.1:9")
    assert dead.code == 8
