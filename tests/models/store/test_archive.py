"""Models as one file: what goes out comes in, and nothing else does."""

import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tiny_models.encoder import TinyEncoder

from localrag_models.errors import (
    ModelDamaged,
    ModelMissing,
    StorageFailed,
    TransferFailed,
    WrongKind,
)
from localrag_models.store import ModelStore

Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture
def archive(store: ModelStore, tiny_chat: Path, tmp_path: Path) -> Path:
    """An archive of the model "mine"."""
    store.add(tiny_chat, name="mine")
    return store.export("mine", tmp_path / "mine.tar")


@pytest.fixture
def elsewhere(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "elsewhere" / "models")


def test_there_and_back(store: ModelStore, archive: Path, elsewhere: ModelStore) -> None:
    seen: list[tuple[str, str, int, int]] = []
    model = elsewhere.import_(archive, on_progress=lambda *told: seen.append(told))
    assert model.manifest == store.find("mine").manifest
    assert model.id == store.find("mine").id
    assert elsewhere.verify("mine") == model
    assert seen[-1] == ("importing", "mine", model.size, model.size)


def test_a_folder_there_and_back(
    store: ModelStore, tiny_encoder: TinyEncoder, elsewhere: ModelStore, tmp_path: Path
) -> None:
    store.add(tiny_encoder.sentence_transformers, name="e5")
    written = store.export("e5", tmp_path)
    assert written == tmp_path / "e5.tar"
    model = elsewhere.import_(written, name="other")
    assert (model.name, model.manifest.files) == ("other", store.find("e5").manifest.files)


def test_any_tar_program_reads_it(archive: Path, tiny_chat: Path) -> None:
    with tarfile.open(archive, "r:") as opened:
        assert opened.getnames() == ["model.toml", tiny_chat.name]
        assert opened.extractfile(tiny_chat.name).read() == tiny_chat.read_bytes()  # type: ignore[union-attr]


def test_nothing_is_written_over(store: ModelStore, archive: Path) -> None:
    before = archive.read_bytes()
    with pytest.raises(TransferFailed, match="already a file"):
        store.export("mine", archive)
    assert archive.read_bytes() == before
    with pytest.raises(TransferFailed, match="already a model"):
        store.import_(archive)


def test_a_damaged_model_is_not_exported(
    store: ModelStore, tiny_chat: Path, tmp_path: Path
) -> None:
    model = store.add(tiny_chat, name="mine")
    model.path.write_bytes(tiny_chat.read_bytes()[:-1] + b"\1")
    with pytest.raises(ModelDamaged, match="has changed"):
        store.export("mine", tmp_path / "mine.tar")
    assert not list(tmp_path.glob("mine.tar*"))


def test_a_place_that_cannot_be_written(store: ModelStore, archive: Path, tmp_path: Path) -> None:
    for place in ("no/such/folder.tar", "x" * 300):
        with pytest.raises(StorageFailed, match="cannot be read or written"):
            store.export("mine", tmp_path / place)


def test_a_limit_on_the_size_of_files(
    store: ModelStore,
    tiny_chat: Path,
    tmp_path: Path,
    small_files: Callable[[], AbstractContextManager[None]],
) -> None:
    store.add(tiny_chat, name="mine")
    with small_files(), pytest.raises(StorageFailed) as caught:
        store.export("mine", tmp_path / "mine.tar")
    assert "ulimit -f" in caught.value.cure
    assert not list(tmp_path.glob("mine.tar*"))


def _rebuilt(archive: Path, change: Callable[[Members], Members]) -> Path:
    with tarfile.open(archive, "r:") as opened:
        members = [(info, opened.extractfile(info).read()) for info in opened]  # type: ignore[union-attr]
    path = archive.with_name("changed.tar")
    with tarfile.open(path, "w") as written:
        for info, content in change(members):
            written.addfile(info, io.BytesIO(content))
    return path


def _extra(name: str, **attributes: object) -> Callable[[Members], Members]:
    def change(members: Members) -> Members:
        info = tarfile.TarInfo(name)
        for key, value in attributes.items():
            setattr(info, key, value)
        return [*members, (info, b"")]

    return change


def _flipped(members: Members) -> Members:
    (manifest, (info, content)) = members
    return [manifest, (info, content[:-1] + b"\1")]


def _escaping(members: Members) -> Members:
    (manifest, text), (info, content) = members
    text = text.replace(b"tiny-qwen3.gguf", b"../../ny-qwen3.gguf"[:15].ljust(15, b"x"))
    manifest.size = len(text)
    return [(manifest, text), (info, content)]


@pytest.mark.parametrize(
    "change",
    [
        _flipped,
        _escaping,
        lambda members: members[:1],
        lambda members: members[1:],
        lambda members: [*members, members[1]],
        lambda members: [*members[::-1]],
        _extra("../../evil.json"),
        _extra("/tmp/evil.json"),
        _extra("extra.json"),
        _extra("link.json", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        _extra("link.json", type=tarfile.LNKTYPE, linkname="model.toml"),
        _extra("pipe", type=tarfile.FIFOTYPE),
        _extra("device", type=tarfile.CHRTYPE),
        _extra("folder", type=tarfile.DIRTYPE),
        _extra("long" * 100),
    ],
)
def test_archives_that_are_not_what_they_say(
    archive: Path, elsewhere: ModelStore, change: Callable[[Members], Members]
) -> None:
    with pytest.raises(ModelDamaged) as caught:
        elsewhere.import_(_rebuilt(archive, change))
    assert caught.value.cure
    assert not elsewhere.installed()
    assert not elsewhere.unfinished()
    assert not list(archive.parent.rglob("evil*"))


@pytest.mark.parametrize("kept", [0, 100, 600, 1_500, 50_000, -2_000])
def test_archives_that_are_cut_short(archive: Path, elsewhere: ModelStore, kept: int) -> None:
    content = archive.read_bytes().rstrip(b"\0")
    archive.write_bytes(content[:kept])
    with pytest.raises(ModelDamaged):
        elsewhere.import_(archive)
    assert not elsewhere.installed()


def test_what_is_no_archive(elsewhere: ModelStore, tiny_chat: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match="not an archive of a model"):
        elsewhere.import_(tiny_chat)
    with pytest.raises(ModelMissing):
        elsewhere.import_(tmp_path / "nothing.tar")
    with pytest.raises(WrongKind, match="not a regular file"):
        elsewhere.import_(tmp_path)
    os.mkfifo(tmp_path / "pipe.tar")
    with pytest.raises(WrongKind, match="not a regular file"):
        elsewhere.import_(tmp_path / "pipe.tar")
    with pytest.raises(WrongKind, match="not a regular file"):
        elsewhere.import_(Path("/dev/zero"))


def _renamed_kind(members: Members) -> Members:
    (manifest, text), model = members
    text = text.replace(b'kind = "chat"', b'kind = "embedder"')
    manifest.size = len(text)
    return [(manifest, text), model]


def _renamed_format(members: Members) -> Members:
    (manifest, text), (info, content) = members
    config = b'\n[[files]]\npath = "config.json"\nsize = 2\nsha256 = "%s"\n'
    text = text.replace(b'"gguf"', b'"sentence-transformers"')
    text += config % hashlib.sha256(b"{}").hexdigest().encode()
    manifest.size = len(text)
    extra = tarfile.TarInfo("config.json")
    extra.size = 2
    return [(manifest, text), (info, content), (extra, b"{}")]


def _only_text(members: Members) -> Members:
    (manifest, text), (info, content) = members
    words = b"no model at all".ljust(len(content))
    old, new = (hashlib.sha256(body).hexdigest().encode() for body in (content, words))
    return [(manifest, text.replace(old, new)), (info, words)]


@pytest.mark.parametrize("change", [_renamed_kind, _renamed_format, _only_text])
def test_archives_whose_manifest_lies(
    archive: Path, elsewhere: ModelStore, change: Callable[[Members], Members]
) -> None:
    with pytest.raises(ModelDamaged, match="though its manifest says so"):
        elsewhere.import_(_rebuilt(archive, change))
    assert not elsewhere.installed()
    assert not elsewhere.problems()
    assert not elsewhere.unfinished()


def test_a_size_beyond_reason(archive: Path, elsewhere: ModelStore) -> None:
    def huge(members: Members) -> Members:
        (manifest, text), model = members
        size = str(model[0].size).encode()
        text = text.replace(b"size = " + size, b"size = 9" + b"0" * 12)
        manifest.size = len(text)
        return [(manifest, text), model]

    with pytest.raises((ModelDamaged, TransferFailed)):
        elsewhere.import_(_rebuilt(archive, huge))
    assert not elsewhere.unfinished()
