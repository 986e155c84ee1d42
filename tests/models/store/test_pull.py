"""Pulling models from a hub: whole, checked and resumable, or a typed error."""

import hashlib
import multiprocessing
import shutil
import sys
from pathlib import Path

import pytest
from tiny_models.servers.hub import TinyHub

from localrag_models.errors import BackendMissing, Cure, ModelMissing, TransferFailed, WrongKind
from localrag_models.hub import Hub, Wish, pull
from localrag_models.store import ModelStore

from ...patience import PATIENCE
from ...rows import each

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GGUF = "Qwen3-8B-Q4_K_M.gguf"


def get(store: ModelStore, hub: TinyHub, wanted: str = "qwen3-8b", **options: str):  # type: ignore[no-untyped-def]
    return pull(store, wanted, Hub(hub.address, options.pop("token", "")), pause=0, **options)  # type: ignore[arg-type]


def nothing_installed(store: ModelStore) -> bool:
    return not store.installed() and not store.problems()


def test_a_gguf_of_the_catalogue(store: ModelStore, hub: TinyHub, tiny_chat: Path) -> None:
    seen: list[tuple[str, str, int, int]] = []
    model = pull(store, "qwen3-8b", Hub(hub.address), on_progress=lambda *told: seen.append(told))
    assert (model.kind, model.format, model.name) == ("chat", "gguf", "qwen3-8b")
    assert model.path.read_bytes() == tiny_chat.read_bytes()
    assert (model.folder / "LICENSE").is_file()
    assert not (model.folder / "README.md").exists()
    assert model.manifest.source.revision == hub.commit
    assert model.manifest.licence == "Apache-2.0"
    assert model.recommended.temperature == 0.7
    sha256 = hashlib.sha256(tiny_chat.read_bytes()).hexdigest()
    assert model.id == f"qwen3-8b@{sha256[:12]}"
    assert store.verify("qwen3-8b") == model
    assert {told[:2] for told in seen} == {("pulling", "qwen3-8b"), ("checking", "qwen3-8b")}
    assert all(done <= total for _, _, done, total in seen)
    assert seen[-1][2:] == (model.size, model.size)
    assert not store.unfinished()


def test_a_folder_of_sentence_transformers(store: ModelStore, hub: TinyHub) -> None:
    model = get(store, hub, "multilingual-e5-small")
    assert (model.kind, model.format) == ("embedder", "sentence-transformers")
    assert model.path == store.folder / "multilingual-e5-small"
    assert model.prefixes.query == "query: "
    names = {file.path for file in model.manifest.files}
    assert {"config.json", "model.safetensors", "modules.json", "LICENSE"} <= names
    assert "1_Pooling/config.json" in names
    assert not {"onnx/model.onnx", "pytorch_model.bin"} & names


def test_any_repository(store: ModelStore, hub: TinyHub) -> None:
    hub.repositories["somebody/things"] = {
        "deep/Tiny.gguf": hub.repositories["Qwen/Qwen3-8B-GGUF"][GGUF]
    }
    model = get(store, hub, "somebody/things/deep/Tiny.gguf")
    assert model.name == "tiny"
    assert model.path == store.folder / "tiny" / "deep" / "Tiny.gguf"
    assert model.manifest.licence == "mit"
    assert get(store, hub, "intfloat/multilingual-e5-small", name="mine").name == "mine"


def test_an_installed_model_is_not_fetched_again(store: ModelStore, hub: TinyHub) -> None:
    first = get(store, hub)
    hub.status = 500
    assert get(store, hub) == first


def test_another_file_or_revision_is_no_installed_model(store: ModelStore, hub: TinyHub) -> None:
    get(store, hub)
    get(store, hub, revision=hub.commit)
    old, hub.commit = hub.commit, "beef" * 10
    get(store, hub, revision=old)
    for options in ({"revision": hub.commit}, {"wanted": "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf"}):
        with pytest.raises(TransferFailed, match="already a model"):
            get(store, hub, name="qwen3-8b", **options)


def test_a_line_that_breaks_is_made_anew(store: ModelStore, hub: TinyHub, tiny_chat: Path) -> None:
    hub.drops.extend([100_000, 0, 0, 0, 0, 50_000, 0])
    assert get(store, hub).path.read_bytes() == tiny_chat.read_bytes()
    starts = [asked.range for asked in hub.asked if asked.path == GGUF]
    assert "bytes=100000-" in starts
    assert "bytes=150000-" in starts


def test_the_next_pull_goes_on(store: ModelStore, hub: TinyHub) -> None:
    hub.drops.extend([100_000, *[0] * 5])
    with pytest.raises(TransferFailed, match="does not answer") as caught:
        get(store, hub)
    assert caught.value.cure == Cure.CARRY
    assert nothing_installed(store)
    assert store.unfinished() == {"qwen3-8b": 100_000}
    hub.asked.clear()
    hub.drops.clear()
    get(store, hub)
    assert next(asked.range for asked in hub.asked if asked.path == GGUF) == "bytes=100000-"
    assert not store.unfinished()


def test_a_pull_of_another_revision_starts_afresh(store: ModelStore, hub: TinyHub) -> None:
    hub.drops.extend([100_000, *[0] * 5])
    with pytest.raises(TransferFailed):
        get(store, hub)
    hub.commit = "beef" * 10
    hub.asked.clear()
    hub.drops.clear()
    assert get(store, hub).manifest.source.revision == hub.commit
    assert hub.asked[0].range == "bytes=0-"


def test_a_server_without_ranges(store: ModelStore, hub: TinyHub, tiny_chat: Path) -> None:
    hub.ranges = False
    hub.drops.append(100_000)
    assert get(store, hub).path.read_bytes() == tiny_chat.read_bytes()


def test_ctrl_c_keeps_what_has_come(store: ModelStore, hub: TinyHub) -> None:
    def interrupt(step: str, about: str, done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(store, "qwen3-8b", Hub(hub.address), on_progress=interrupt)
    assert nothing_installed(store)
    assert store.unfinished()["qwen3-8b"] > 0
    assert get(store, hub).name == "qwen3-8b"


def test_a_wrong_hash(store: ModelStore, hub: TinyHub) -> None:
    hub.announces[GGUF] = "0" * 64
    with pytest.raises(TransferFailed, match="hash of"):
        get(store, hub)
    assert nothing_installed(store)
    assert not (store.folder / ".partial" / "qwen3-8b" / "files" / GGUF).exists()
    hub.announces.clear()
    assert get(store, hub).name == "qwen3-8b"


def test_a_small_file_is_checked_too(
    store: ModelStore, hub: TinyHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = hub.describe("Qwen/Qwen3-8B-GGUF")
    monkeypatch.setattr(hub, "describe", lambda name: described)
    hub.repositories["Qwen/Qwen3-8B-GGUF"]["LICENSE"] = b"apache License"
    with pytest.raises(TransferFailed, match="hash of LICENSE"):
        get(store, hub)


def test_a_hub_that_sends_too_much(
    store: ModelStore, hub: TinyHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = hub.describe("Qwen/Qwen3-8B-GGUF")
    monkeypatch.setattr(hub, "describe", lambda name: described)
    hub.repositories["Qwen/Qwen3-8B-GGUF"][GGUF] += b"more"
    with pytest.raises(TransferFailed, match="sends more than"):
        get(store, hub)


def test_a_gated_repository(store: ModelStore, hub: TinyHub) -> None:
    hub.gated = frozenset({"Qwen/Qwen3-8B-GGUF"})
    with pytest.raises(TransferFailed, match="accepted its terms") as caught:
        get(store, hub)
    assert f"{hub.address}/Qwen/Qwen3-8B-GGUF" in caught.value.cure
    assert caught.value.args[1] is Cure.ACCEPT_TERMS
    assert get(store, hub, token=hub.token).name == "qwen3-8b"


def test_the_token_is_given_to_the_hub_alone(store: ModelStore, hub: TinyHub) -> None:
    get(store, hub, token="hf_secret")
    with_token = {
        asked.authorization for asked in hub.asked if hub.address.endswith(str(asked.host))
    }
    elsewhere = {
        asked.authorization for asked in hub.asked if hub.storage.endswith(str(asked.host))
    }
    assert with_token == {"Bearer hf_secret"}
    assert elsewhere == {""}
    assert not any("hf_secret" in path.read_text() for path in store.folder.rglob("model.toml"))


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "名前", "a\0b"])
def test_a_token_that_is_none_is_not_told(online: None, token: str) -> None:
    with pytest.raises(TransferFailed, match="token") as caught:
        Hub(token=token)
    assert token not in str(caught.value)


@each(
    ("wanted", "error", "part"),
    [
        ("qwen3-8c", ModelMissing, "qwen3-8b"),
        ("nobody/nothing", TransferFailed, "no repository nobody/nothing"),
        ("Qwen/Qwen3-8B-GGUF", WrongKind, "Qwen3-8B-Q8_0.gguf"),
        ("Qwen/Qwen3-8B-GGUF/other.gguf", ModelMissing, GGUF),
        ("Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf", WrongKind, "not a GGUF"),
        ("somebody/words", WrongKind, "no model as config.json"),
        ("owner/re po", ModelMissing, "cannot be a repository"),
        ("../../etc", ModelMissing, "cannot be a repository"),
        ("owner//file.gguf", ModelMissing, "See what is in the catalogue"),
        ("", ModelMissing, "See what is in the catalogue"),
    ],
)
def test_wishes_that_cannot_be_granted(
    store: ModelStore, hub: TinyHub, wanted: str, error: type[Exception], part: str
) -> None:
    with pytest.raises(error) as caught:
        get(store, hub, wanted)
    assert part in str(caught.value)
    assert nothing_installed(store)


def test_an_unknown_revision(store: ModelStore, hub: TinyHub) -> None:
    with pytest.raises(ModelMissing, match="revision"):
        get(store, hub, revision="no-such-branch")


@pytest.mark.parametrize(("status", "part"), [(503, "does not answer"), (418, "status 418")])
def test_a_hub_in_trouble(store: ModelStore, hub: TinyHub, status: int, part: str) -> None:
    hub.status = status
    with pytest.raises(TransferFailed, match=part):
        get(store, hub)


def test_a_dead_hub(store: ModelStore, online: None) -> None:
    with pytest.raises(TransferFailed, match=r"127.0.0.1:9 does not answer"):
        pull(store, "qwen3-8b", Hub("http://127.0.0.1:9"), pause=0)


@pytest.mark.parametrize("address", ["ftp://127.0.0.1", "not an address", "http://[", ""])
def test_an_address_that_is_none(store: ModelStore, online: None, address: str) -> None:
    with pytest.raises(TransferFailed, match="not the address of a hub"):
        pull(store, "qwen3-8b", Hub(address), pause=0)


def test_something_that_is_no_hub(
    store: ModelStore, hub: TinyHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "describe", lambda name: ["no", "hub"])
    with pytest.raises(TransferFailed, match="cannot be read"):
        get(store, hub)


@pytest.mark.parametrize("path", ["../evil.json", "a/../../evil.json", ".evil.json"])
def test_hidden_paths_are_no_part_of_a_model(store: ModelStore, hub: TinyHub, path: str) -> None:
    hub.repositories["intfloat/multilingual-e5-small"][path] = b"evil"
    get(store, hub, "multilingual-e5-small")
    assert not list(store.folder.parent.rglob("*evil.json"))


@pytest.mark.parametrize("path", ["/etc/evil.json", "a\\b.json", "a\nb.json", "con:evil.json"])
def test_paths_that_no_system_would_take(store: ModelStore, hub: TinyHub, path: str) -> None:
    hub.repositories["intfloat/multilingual-e5-small"][path] = b"evil"
    with pytest.raises(TransferFailed, match="cannot be kept"):
        get(store, hub, "multilingual-e5-small")
    assert not hub.asked


def test_offline_by_the_environment(hub: TinyHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(TransferFailed, match="HF_HUB_OFFLINE"):
        Hub()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(BackendMissing, match=r"huggingface-hub"):
        Hub()


def test_a_full_disk(store: ModelStore, hub: TinyHub, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=1_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(TransferFailed, match="are free"):
        get(store, hub)
    assert not hub.asked


def test_nothing_is_left_outside_the_workspace(
    store: ModelStore, hub: TinyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    get(store, hub)
    assert not (tmp_path / "user").exists()


def _pull_until_killed(folder: Path, address: str, caught: "multiprocessing.Queue[int]") -> None:
    def slowly(step: str, about: str, done: int, total: int) -> None:
        import time

        if step.startswith("pulling"):
            caught.put(done)
            time.sleep(PATIENCE)

    pull(ModelStore(folder), "qwen3-8b", Hub(address), on_progress=slowly)


def test_another_pull_meanwhile_and_kill_9(store: ModelStore, hub: TinyHub) -> None:
    spawn = multiprocessing.get_context("spawn")
    caught = spawn.Queue()
    process = spawn.Process(target=_pull_until_killed, args=(store.folder, hub.address, caught))
    process.start()
    assert caught.get(timeout=PATIENCE) > 0
    with pytest.raises(TransferFailed, match="Another process is installing"):
        get(store, hub)
    process.kill()
    process.join()
    process.close()
    caught.close()
    caught.join_thread()
    assert nothing_installed(store)
    assert store.unfinished()["qwen3-8b"] > 0
    assert get(store, hub).name == "qwen3-8b"
    assert not store.unfinished()


@each(
    ("wanted", "repository", "file", "name"),
    [
        ("qwen3-8b", "Qwen/Qwen3-8B-GGUF", GGUF, "qwen3-8b"),
        ("a/b", "a/b", None, "b"),
        ("a/B/d/E F.gguf", "a/B", "d/E F.gguf", "e-f"),
    ],
)
def test_how_a_wish_is_read(wanted: str, repository: str, file: str | None, name: str) -> None:
    wish = Wish.parse(wanted)
    assert (wish.repository, wish.file, wish.name) == (repository, file, name)
