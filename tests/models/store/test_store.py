"""The store: what is added is recognised, whole and checked; what is not is told."""

import errno
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tiny_models.encoder import TinyEncoder

from localrag_models.embedding import E5, Prefixes
from localrag_models.errors import (
    Cure,
    ModelDamaged,
    ModelError,
    ModelMissing,
    StorageFailed,
    StoreBusy,
    TransferFailed,
    WrongKind,
)
from localrag_models.store import ModelStore

from ...patience import PATIENCE
from ...rows import each


def test_an_empty_store(store: ModelStore) -> None:
    assert store.installed() == []
    assert store.problems() == {}
    assert store.unfinished() == {}
    assert not store.folder.exists()


def test_a_gguf(store: ModelStore, tiny_chat: Path) -> None:
    model = store.add(tiny_chat, licence="Apache-2.0")
    assert (model.name, model.kind, model.format) == ("tiny-qwen3", "chat", "gguf")
    assert model.path.read_bytes() == tiny_chat.read_bytes()
    assert model.context == 4096
    assert model.manifest.source.file == tiny_chat.name
    assert model.manifest.added.tzinfo is not None
    assert store.find("tiny-qwen3") == model
    assert store.installed() == [model]
    assert tiny_chat.exists()


def test_an_embedder_and_a_reranker(store: ModelStore, tiny_encoder: TinyEncoder) -> None:
    embedder = store.add(tiny_encoder.sentence_transformers, name="e5")
    assert (embedder.kind, embedder.format) == ("embedder", "sentence-transformers")
    assert embedder.path == store.folder / "e5"
    assert embedder.prefixes == E5
    assert embedder.context == 512
    reranker = store.add(tiny_encoder.cross_encoder, name="reranker")
    assert (reranker.kind, reranker.prefixes) == ("reranker", Prefixes())
    gguf = store.add(tiny_encoder.gguf, name="e5-gguf", prefixes=Prefixes("q: ", "p: "))
    assert (gguf.kind, gguf.format, gguf.prefixes.query) == ("embedder", "gguf", "q: ")
    assert store.add(tiny_encoder.reranker_gguf, name="r-gguf").kind == "reranker"
    assert len({model.id for model in store.installed()}) == 4


def test_the_id_tells_weights_apart(store: ModelStore, tiny_chat: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(tiny_chat.read_bytes()[:-1] + b"\1")
    one, two = store.add(tiny_chat, name="one"), store.add(other, name="two")
    assert one.id.partition("@")[2] != two.id.partition("@")[2]


def test_the_id_of_an_embedder_tells_prefixes_apart(
    store: ModelStore, tiny_encoder: TinyEncoder
) -> None:
    first = store.add(tiny_encoder.gguf, name="e5", prefixes=E5).id
    store.remove("e5")
    assert store.add(tiny_encoder.gguf, name="e5", prefixes=Prefixes()).id != first
    store.remove("e5")
    assert store.add(tiny_encoder.gguf, name="e5", prefixes=E5).id == first


def test_a_link_takes_no_space(store: ModelStore, tiny_chat: Path, tmp_path: Path) -> None:
    source = tmp_path / "mine.gguf"
    shutil.copy(tiny_chat, source)
    model = store.add(source, link=True)
    assert model.path.samefile(source)
    assert store.verify("mine") == model


def test_a_link_that_cannot_be_made(
    store: ModelStore, tiny_chat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(TransferFailed, match="cross-device") as caught:
        store.add(tiny_chat, link=True)
    assert caught.value.cure == Cure.COPY
    assert not store.unfinished()


def test_what_is_not_part_of_the_model_stays_behind(
    store: ModelStore, tiny_encoder: TinyEncoder, tmp_path: Path
) -> None:
    folder = tmp_path / "e5"
    shutil.copytree(tiny_encoder.sentence_transformers, folder)
    for extra in ("pytorch_model.bin", "custom.py", ".git/config.json", "onnx/model.json"):
        (folder / extra).parent.mkdir(exist_ok=True)
        (folder / extra).write_text("{}", encoding="utf-8")
    (folder / "LICENSE").write_text("MIT", encoding="utf-8")
    paths = {file.path for file in store.add(folder).manifest.files}
    assert "LICENSE" in paths
    assert not paths & {"pytorch_model.bin", "custom.py", ".git/config.json", "onnx/model.json"}


def _empty(path: Path, chat: Path) -> Path:
    path.write_bytes(b"")
    return path


def _short(path: Path, chat: Path) -> Path:
    path.write_bytes(chat.read_bytes()[:-1000])
    return path


def _text(path: Path, chat: Path) -> Path:
    path.write_text("no model at all")
    return path


def _missing(path: Path, chat: Path) -> Path:
    return path


def _other_name(path: Path, chat: Path) -> Path:
    return Path(shutil.copy(chat, path.with_suffix(".bin")))


def _odd_name(path: Path, chat: Path) -> Path:
    return Path(shutil.copy(chat, path.with_name("a:b\n.gguf")))


def _folder(path: Path, chat: Path) -> Path:
    path.mkdir()
    return path


def _pickled(path: Path, chat: Path) -> Path:
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "pytorch_model.bin").write_bytes(b"x")
    return path


def _untold(path: Path, chat: Path) -> Path:
    path.mkdir()
    (path / "config.json").write_text('{"architectures": ["BertModel"]}')
    (path / "tokenizer.json").write_text("{}")
    (path / "model.safetensors").write_bytes(b"\2" + bytes(7) + b"{}")
    return path


def _cut(path: Path, chat: Path) -> Path:
    (_untold(path, chat) / "model.safetensors").write_bytes(b"\2" + bytes(7) + b"{")
    return path


def _overlong(path: Path, chat: Path) -> Path:
    (_untold(path, chat) / "model.safetensors").write_bytes(b"\xff" * 100)
    return path


def _untokenized(path: Path, chat: Path) -> Path:
    (_untold(path, chat) / "tokenizer.json").unlink()
    return path


def _broken(path: Path, chat: Path) -> Path:
    path = _untold(path, chat)
    (path / "config.json").write_text('{"architectures": [')
    return path


def _list(path: Path, chat: Path) -> Path:
    path = _untold(path, chat)
    (path / "config.json").write_text("[]")
    return path


def _device(path: Path, chat: Path) -> Path:
    return Path("/dev/zero")


def _pipe(path: Path, chat: Path) -> Path:
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    ("make", "error", "part"),
    [
        (_missing, ModelMissing, "There is no"),
        (_empty, ModelDamaged, "empty"),
        (_short, ModelDamaged, "cut short"),
        (_text, WrongKind, "not a GGUF"),
        (_other_name, WrongKind, "not a chat model"),
        (_odd_name, TransferFailed, "cannot be kept"),
        (_folder, WrongKind, "config.json"),
        (_pickled, WrongKind, "safetensors"),
        (_untold, WrongKind, "neither an embedder nor a reranker"),
        (_untokenized, WrongKind, "tokenizer.json"),
        (_cut, ModelDamaged, "cut short"),
        (_overlong, ModelDamaged, "cut short"),
        (_broken, ModelDamaged, "not JSON"),
        (_list, ModelDamaged, "no JSON object"),
        (_device, WrongKind, "/dev/zero is not a regular file"),
        (_pipe, WrongKind, "not a regular file"),
    ],
)
def test_what_is_no_model(
    store: ModelStore,
    tiny_chat: Path,
    tmp_path: Path,
    make: Callable[[Path, Path], Path],
    error: type[ModelError],
    part: str,
) -> None:
    with pytest.raises(error) as caught:
        store.add(make(tmp_path / "bad.gguf", tiny_chat), name="bad")
    assert part in str(caught.value)
    assert caught.value.cure
    assert not store.installed()
    assert not store.unfinished()


def test_a_kind_that_contradicts(store: ModelStore, tiny_chat: Path) -> None:
    with pytest.raises(WrongKind, match="of kind chat"):
        store.add(tiny_chat, kind="embedder")


@each("name", ["../up", "a/b", ".partial", "a:b", "x" * 65, "a..b", "名前", "-x"])
def test_names_that_none_can_have(store: ModelStore, tiny_chat: Path, name: str) -> None:
    with pytest.raises(TransferFailed, match="cannot be the name"):
        store.add(tiny_chat, name=name)
    with pytest.raises(ModelMissing):
        store.find(name)
    with pytest.raises(ModelMissing):
        store.remove(name)


def test_a_name_that_is_taken(store: ModelStore, tiny_chat: Path) -> None:
    store.add(tiny_chat, name="mine")
    with pytest.raises(TransferFailed, match="already a model 'mine'"):
        store.add(tiny_chat, name="mine")
    assert store.verify("mine")


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("qwen3-8b", Cure.GET),
        ("min", "Did you mean mine?"),
        ("qwen-8b", "Did you mean qwen3-8b?"),
        ("zzz", Cure.SEE_INSTALLED),
    ],
)
def test_a_model_that_is_not_there(
    store: ModelStore, tiny_chat: Path, name: str, part: str
) -> None:
    store.add(tiny_chat, name="mine")
    with pytest.raises(ModelMissing) as caught:
        store.find(name)
    assert part in caught.value.cure


def test_verify_tells_what_has_changed(store: ModelStore, tiny_chat: Path) -> None:
    model = store.add(tiny_chat, name="mine")
    content = tiny_chat.read_bytes()
    model.path.write_bytes(content[:-1] + b"\1")
    assert store.find("mine") == model
    with pytest.raises(ModelDamaged, match="has changed") as caught:
        store.verify("mine")
    assert caught.value.cure == Cure.REPLACE
    model.path.write_bytes(content)
    (model.folder / "extra.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelDamaged, match="does not belong"):
        store.verify("mine")


def test_damage_that_is_seen_at_once(store: ModelStore, tiny_chat: Path) -> None:
    for name in ("short", "gone", "unread", "moved", "whole"):
        store.add(tiny_chat, name=name)
    (store.folder / "short" / tiny_chat.name).write_bytes(b"GGUF")
    (store.folder / "gone" / tiny_chat.name).unlink()
    (store.folder / "unread" / "model.toml").write_text("name = [", encoding="utf-8")
    (store.folder / "moved").rename(store.folder / "renamed")
    shutil.copy(tiny_chat, store.folder / "loose.gguf")
    assert [model.name for model in store.installed()] == ["whole"]
    told = "\n".join(map(str, store.problems().values()))
    for part in ("not of the size", "is missing", "cannot be read", "holds the model 'moved'"):
        assert part in told
    assert Cure.ADD_FILE in told
    for name in ("short", "gone", "unread", "renamed"):
        with pytest.raises(ModelDamaged):
            store.find(name)
        store.remove(name)
    assert [model.name for model in store.installed()] == ["whole"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("format_version = 1", "format_version = 2"),
        lambda text: text.replace("tiny-qwen3.gguf", "../../tiny-qwen3.gguf"),
        lambda text: text.replace("tiny-qwen3.gguf", "/etc/passwd.gguf"),
        lambda text: text.replace('kind = "chat"', 'kind = "virus"'),
        lambda text: text + "\nsurprise = 1\n",
        lambda text: "[[" * 10_000,
        lambda text: "\udcff",
    ],
)
def test_a_manifest_that_was_tampered_with(
    store: ModelStore, tiny_chat: Path, change: Callable[[str], str]
) -> None:
    path = store.add(tiny_chat, name="mine").folder / "model.toml"
    text = change(path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ModelDamaged, match="cannot be read"):
        store.find("mine")


def test_remove(store: ModelStore, tiny_chat: Path) -> None:
    store.add(tiny_chat, name="mine")
    store.remove("mine")
    assert not store.installed()
    assert not (store.folder / "mine").exists()
    with pytest.raises(ModelMissing):
        store.remove("mine")


def _folder_of_words(path: Path) -> None:
    path.mkdir()
    (path / "words.txt").write_text("not to be lost by a look", encoding="utf-8")


def _folder_with_manifest_folder(path: Path) -> None:
    (path / "model.toml").mkdir(parents=True)


@pytest.mark.parametrize(
    "obstruct",
    [
        _folder_of_words,
        _folder_with_manifest_folder,
        lambda path: path.write_bytes(b"words"),
        lambda path: os.mkfifo(path),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to(path),
    ],
)
def test_what_is_in_the_way_is_named_and_can_be_removed(
    store: ModelStore, tiny_chat: Path, obstruct: Callable[[Path], None]
) -> None:
    store.folder.mkdir()
    obstruct(store.folder / "mine")
    with pytest.raises(TransferFailed, match="mine is not a model, but has its name") as caught:
        store.add(tiny_chat, name="mine")
    (problem,) = store.problems().values()
    assert "mine has no model.toml" in problem.cause
    assert (caught.value.cure, problem.cure) == (Cure.NAME_FOR_NEW, Cure.REMOVE)
    store.remove("mine")
    assert not store.problems()
    assert store.add(tiny_chat, name="mine") == store.verify("mine")


def test_remove_follows_no_link(store: ModelStore, tiny_chat: Path, tmp_path: Path) -> None:
    model = store.add(tiny_chat, name="mine")
    kept = tmp_path / "kept"
    model.folder.rename(kept)
    (store.folder / "mine").symlink_to(kept)
    (store.folder / ".partial" / "mine").symlink_to(kept)
    store.remove("mine")
    assert not (store.folder / "mine").is_symlink()
    assert (kept / tiny_chat.name).read_bytes() == tiny_chat.read_bytes()


@pytest.mark.parametrize("name", ["", ".", "..", ".partial", "mine/model.toml", "../kept", "a\0b"])
def test_remove_stays_inside_the_folder(store: ModelStore, tiny_chat: Path, name: str) -> None:
    store.add(tiny_chat, name="mine")
    (store.folder.parent / "kept").mkdir()
    with pytest.raises(ModelMissing, match="not installed"):
        store.remove(name)
    assert store.verify("mine")
    assert (store.folder.parent / "kept").is_dir()


def test_a_limit_on_the_size_of_files(
    store: ModelStore, tiny_chat: Path, small_files: Callable[[], AbstractContextManager[None]]
) -> None:
    with small_files(), pytest.raises(StorageFailed) as caught:
        store.add(tiny_chat)
    assert "ulimit -f" in caught.value.cure
    assert not store.unfinished()


def test_a_file_system_for_small_files(
    store: ModelStore, tiny_chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        # The first bytes are written by then.
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    large = tmp_path / "large.gguf"
    shutil.copy(tiny_chat, large)
    os.truncate(large, 2**32)
    usage = shutil.disk_usage("/")._replace(free=2**40)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(StorageFailed) as caught:
        store.add(large, on_progress=refuse)
    assert "FAT32" in caught.value.cure


def test_a_full_disk(store: ModelStore, tiny_chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=1_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(StorageFailed, match="are free"):
        store.add(tiny_chat)
    assert not store.unfinished()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_fills_up_meanwhile(store: ModelStore, tiny_chat: Path) -> None:
    store.add(tiny_chat, name="mine")
    with pytest.raises(TransferFailed):
        store.export("mine", Path("/dev/full"))


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_cannot_be_written(store: ModelStore, tiny_chat: Path) -> None:
    store.folder.mkdir()
    store.folder.chmod(0o500)
    with pytest.raises(StorageFailed, match="cannot be read or written"):
        store.add(tiny_chat)


def test_a_file_in_the_place_of_the_folder(tmp_path: Path, tiny_chat: Path) -> None:
    (tmp_path / "models").write_text("", encoding="utf-8")
    with pytest.raises(StorageFailed):
        ModelStore(tmp_path / "models").add(tiny_chat)


def _add_until_killed(folder: Path, path: Path, begun: "multiprocessing.Queue[int]") -> None:
    def slowly(step: str, about: str, done: int, total: int) -> None:
        import time

        begun.put(done)
        time.sleep(PATIENCE)

    ModelStore(folder).add(path, name="mine", on_progress=slowly)


def test_kill_9_while_adding(store: ModelStore, tiny_chat: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    begun = spawn.Queue()
    process = spawn.Process(target=_add_until_killed, args=(store.folder, tiny_chat, begun))
    process.start()
    begun.get(timeout=PATIENCE)
    with pytest.raises(StoreBusy, match="Another process"):
        store.remove("mine")
    process.kill()
    process.join()
    process.close()
    begun.close()
    begun.join_thread()
    assert not store.installed()
    assert not store.problems()
    assert store.add(tiny_chat, name="mine").size == tiny_chat.stat().st_size
    assert not store.unfinished()


def test_the_manifest_can_be_read_by_people(store: ModelStore, tiny_chat: Path) -> None:
    text = (store.add(tiny_chat, name="mine").folder / "model.toml").read_text(encoding="utf-8")
    for line in ('name = "mine"', 'kind = "chat"', "[[files]]"):
        assert line in text
    assert json.dumps(str(tiny_chat.parent)) not in text
