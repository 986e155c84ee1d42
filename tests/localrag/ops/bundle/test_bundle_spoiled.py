"""A spoiled bundle is refused by name, before anything of it runs."""

import base64
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import minisign
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from localrag.errors import InputError, LocalragError
from localrag.ops.bundle.installer import MANIFEST, SIGNATURE
from localrag.ops.bundle.opening import install, verify
from localrag.ops.bundle.signature import is_genuine

from .conftest import as_other_signature, enter, public, rewrite

Keys = tuple[minisign.SecretKey, minisign.SecretKey]
Members = list[tuple[str, bytes | None]]


def file(bundle: Path, pattern: str) -> Path:
    return next(bundle.glob(pattern))


def flipped(pattern: str) -> Callable[[Path], object]:
    def flip(bundle: Path) -> None:
        content = bytearray(file(bundle, pattern).read_bytes())
        content[len(content) // 2] ^= 1
        file(bundle, pattern).write_bytes(content)

    return flip


def with_a_spoiled_python(bundle: Path) -> None:
    enter(bundle, "python/cpython-3.99.tar.gz", b"a Python")
    flipped("python/*")(bundle)


def told(**values: object) -> Callable[[Path], object]:
    return lambda bundle: rewrite(bundle, lambda manifest: manifest.update(values))


def needs(**values: object) -> Callable[[Path], object]:
    return lambda bundle: rewrite(bundle, lambda manifest: manifest["needs"].update(values))


def listed(name: str, **values: object) -> Callable[[Path], object]:
    entry = {"sha256": "0" * 64, "size": 1, "licence": "", **values}
    return lambda bundle: rewrite(bundle, lambda manifest: manifest["files"].update({name: entry}))


def linked(bundle: Path) -> None:
    wheel = file(bundle, "wheels/localrag-*")
    wheel.rename(bundle.parent / wheel.name)
    wheel.symlink_to(bundle.parent / wheel.name)


def replaced(bundle: Path) -> None:
    """As long as before, so that only the hash tells."""
    wheel = file(bundle, "wheels/localrag-*")
    wheel.write_bytes(b"x" * wheel.stat().st_size)


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte of a package": (flipped("wheels/localrag-*"), r"wheels/localrag-\S+ is damaged"),
    "a byte of pip": (flipped("wheels/pip-*"), r"wheels/pip-\S+ is damaged"),
    "a byte of a Python": (with_a_spoiled_python, "python/cpython-3.99.tar.gz is damaged"),
    "a byte of a model": (flipped("models/*"), "models/tiny.tar is damaged"),
    "a byte of a corpus": (flipped("corpora/*"), "corpora/main.tar is damaged"),
    "a byte of a document": (flipped("sources/*/*/*"), "sources/more/laws/a.md is damaged"),
    "a byte of the settings": (flipped("settings.toml"), "settings.toml is damaged"),
    "a byte of the parts": (flipped("parts.cdx.json"), "parts.cdx.json is damaged"),
    "a byte of the installer": (flipped("install.py"), "install.py is damaged"),
    "another package": (replaced, r"wheels/localrag-\S+ is damaged"),
    "a package cut short": (lambda b: os.truncate(file(b, "wheels/pip-*"), 9), r"pip-\S+ is dam"),
    "a document that grew": (lambda b: os.truncate(file(b, "sources/*/*/*"), 99), "a.md is da"),
    "a part less": (lambda b: file(b, "models/*").unlink(), "models/tiny.tar is missing"),
    "a file more": (lambda b: (b / "wheels/evil.whl").touch(), "evil.whl is not in"),
    "a hidden file": (lambda b: (b / ".evil").touch(), r"\.evil is not in"),
    "a link": (linked, r"wheels/localrag-\S+ is a link"),
    "a link to a folder": (lambda b: (b / "more").symlink_to("/etc"), "more is a link"),
    "a pipe": (lambda b: os.mkfifo(b / "wheels" / "pipe"), "wheels/pipe is a link, or not a plain"),
    "a path that leads out": (listed("wheels/../../evil"), r"'wheels/../../evil' is not a path"),
    "an absolute path": (listed("/etc/passwd"), "'/etc/passwd' is not a path"),
    "a path that acts": (listed("wheels/\x1b[2J"), r"'wheels/\\x1b\[2J' is not a path"),
    "a file of no kind": (listed("evil.py"), "'evil.py' is not a path"),
    "no hash": (listed("wheels/a.whl", sha256="x"), "manifest.json is damaged"),
    "no manifest": (lambda b: (b / MANIFEST).unlink(), "manifest.json is missing"),
    "no JSON": (lambda b: (b / MANIFEST).write_text("{"), "manifest.json is damaged"),
    "no values": (lambda b: (b / MANIFEST).write_text('{"format": 1}'), "manifest.json is damaged"),
    "another format": (told(format=2), "of format 2"),
    "a version that acts": (told(localrag="1 --evil"), "manifest.json is damaged"),
    "an extra that acts": (told(extras=["docs] evil"]), "manifest.json is damaged"),
    "no signature": (told(signed_by="A" * 56), "manifest.json.minisig is missing"),
}  # fmt: skip
UNFIT: dict[str, tuple[Callable[[Path], object], str]] = {
    "another processor": (needs(processors=["m68k"]), "is for linux m68k"),
    "another Python": (needs(pythons=["3.99"]), "is for Python 3.99"),
    "a newer system": (needs(glibc="9.9"), "glibc 9.9"),
    "a part of an earlier one": (
        listed("wheels/a-1-py3-none-any.whl", held=True),
        "a-1-py3-none-any.whl belongs to an earlier bundle",
    ),
}


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        pytest.fail("something ran")

    monkeypatch.setattr(subprocess, "run", fail)


@pytest.mark.parametrize(("spoil", "cause"), SPOILED.values(), ids=SPOILED)
def test_a_spoiled_bundle(
    bundle: Path, tmp_path: Path, spoil: Callable[[Path], object], cause: str
) -> None:
    verify(bundle)
    spoil(bundle)
    with pytest.raises(InputError, match=cause):
        verify(bundle)
    with pytest.raises(InputError, match=cause):
        install(bundle, tmp_path / "target")
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize(("spoil", "cause"), UNFIT.values(), ids=UNFIT)
def test_a_bundle_for_another_machine(
    bundle: Path, tmp_path: Path, spoil: Callable[[Path], object], cause: str
) -> None:
    spoil(bundle)
    verify(bundle)
    with pytest.raises(InputError, match=cause):
        install(bundle, tmp_path / "target", tell=lambda *_, **__: None)
    assert not (tmp_path / "target" / "current").exists()


def swapped(bundle: Path, _keys: Keys) -> None:
    """The signature of the bundle as it was before."""
    manifest = bundle / MANIFEST
    manifest.write_bytes(manifest.read_bytes() + b" ")


def stripped(bundle: Path, _keys: Keys) -> None:
    (bundle / SIGNATURE).unlink()
    rewrite(bundle, lambda manifest: manifest.update(signed_by=""))


def signed_by_another(bundle: Path, keys: Keys) -> None:
    rewrite(bundle, lambda manifest: manifest.update(signed_by=public(keys[0])))
    (bundle / SIGNATURE).write_bytes(bytes(keys[1].sign((bundle / MANIFEST).read_bytes())))


def not_hashed(bundle: Path, keys: Keys) -> None:
    signed = keys[0].sign((bundle / MANIFEST).read_bytes(), prehash=False)
    (bundle / SIGNATURE).write_bytes(bytes(signed))


def changed(bundle: Path, _keys: Keys) -> None:
    path = bundle / SIGNATURE
    path.write_bytes(as_other_signature(path.read_bytes()))


def other_comment(bundle: Path, _keys: Keys) -> None:
    path = bundle / SIGNATURE
    path.write_bytes(path.read_bytes().replace(b"comment: timestamp", b"comment: Timestamp"))


@pytest.mark.parametrize(
    "spoil", [swapped, stripped, signed_by_another, not_hashed, changed, other_comment]
)
def test_a_spoiled_signature(
    bundle: Path, keys: Keys, spoil: Callable[[Path, Keys], object]
) -> None:
    rewrite(bundle, dict, keys[0])
    assert verify(bundle).signed_by == verify(bundle, public(keys[0])).signed_by
    spoil(bundle, keys)
    with pytest.raises(InputError, match=r"manifest\.json\.minisig is missing, or no signature"):
        verify(bundle, public(keys[0]))


def test_keys(bundle: Path, keys: Keys, tmp_path: Path) -> None:
    rewrite(bundle, dict, keys[1])
    with pytest.raises(InputError, match=r"minisig is missing, or no signature of this bundle by"):
        verify(bundle, public(keys[0]))
    named = tmp_path / "minisign.pub"
    named.write_bytes(bytes(keys[1].get_public_key()) + b"\n")
    assert verify(bundle, str(named)).signed_by == public(keys[1])
    rewrite(bundle, lambda manifest: manifest.update(signed_by=""))
    with pytest.raises(InputError, match="does not say by whom"):
        verify(bundle)
    (bundle / SIGNATURE).unlink()
    (tmp_path / "other.pub").write_text("nonsense\n")
    for key in ("nonsense", str(tmp_path / "none.pub"), str(tmp_path / "other.pub")):
        with pytest.raises(
            InputError, match=f"{key} is neither a public key of minisign nor a file"
        ):
            verify(bundle, key)


def test_signatures_as_a_library_checks_them() -> None:
    """Of texts of several lengths: what is genuine, and what is not in any one bit of some."""
    for number in range(8):
        key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        secret = minisign.KeyPair.generate().secret_key
        text = bytes(range(number * 20))
        raw = key.sign(text)
        key.public_key().verify(raw, text)
        signature = bytes(secret.sign(text))
        assert is_genuine(public(secret), text, signature)
        assert not is_genuine(public(secret), text + b"x", signature)
        assert not is_genuine(public(secret), text, as_other_signature(signature))
    for nonsense in (b"", b"\xff", b"a\nb\nc\nd", signature.replace(b"\n", b"\n\n")):
        assert not is_genuine(public(secret), text, nonsense)
    assert not is_genuine(base64.b64encode(b"Ed" + b"\xff" * 40).decode(), text, signature)


def tar_of(bundle: Path, path: Path, change: Callable[[Members], Members]) -> Path:
    """The bundle as a tar; None for the content of a member makes a link."""
    names = sorted(p.relative_to(bundle).as_posix() for p in bundle.rglob("*") if p.is_file())
    names.sort(key=lambda name: name != MANIFEST)
    with tarfile.open(path, "w") as tar:
        for name, content in change([(name, (bundle / name).read_bytes()) for name in names]):
            info = tarfile.TarInfo(name)
            if content is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            info.size = len(content or b"")
            tar.addfile(info, io.BytesIO(content or b""))
    return path


TARS: dict[str, tuple[Callable[[Members], Members], str]] = {
    "out of it": (lambda m: [*m, ("../evil", b"x")], r"\.\./evil is not in"),
    "absolute": (lambda m: [*m, ("/etc/evil", b"x")], "/etc/evil is not in"),
    "a link": (lambda m: [*m[:-1], (m[-1][0], None)], "is a link, or not a plain file"),
    "twice": (lambda m: [*m, m[0]], "manifest.json is in the bundle twice"),
    "without its head": (lambda m: m[1:], "is not a bundle"),
    "a part less": (lambda m: m[:-1], "is missing"),
    "nothing": (lambda _m: [], "is not a bundle"),
}


@pytest.mark.parametrize(("change", "cause"), TARS.values(), ids=TARS)
def test_a_spoiled_tar(
    bundle: Path, tmp_path: Path, change: Callable[[Members], Members], cause: str
) -> None:
    verify(tar_of(bundle, tmp_path / "whole.tar", list))
    spoiled = tar_of(bundle, tmp_path / "bundle.tar", change)
    with pytest.raises(InputError, match=cause):
        verify(spoiled)
    with pytest.raises(InputError, match=cause):
        install(spoiled, tmp_path / "target")
    assert not (tmp_path / "target").exists()
    assert not list(tmp_path.glob("*unpacked*"))


def test_what_is_no_bundle_at_all(tmp_path: Path) -> None:
    (tmp_path / "text.tar").write_text("no tar" * 1_000)
    for path in (tmp_path / "none", tmp_path / "none.tar", tmp_path / "text.tar", tmp_path):
        with pytest.raises(InputError, match="is not a bundle"):
            verify(path)


def test_a_file_of_any_name_is_shown_and_does_not_act(
    bundle: Path, cli: Callable[..., Any]
) -> None:
    enter(bundle, "sources/more/b.md", b"text")
    assert json.loads(cli("bundle", "verify", str(bundle), "--json").out)["files"] > 5
    (bundle / "a\x1b[2Jb").touch()
    outcome = cli("bundle", "verify", str(bundle))
    assert outcome.code == 4
    assert "is not in the manifest" in outcome.err
    assert "\x1b" not in outcome.err


def test_a_bundle_older_than_what_is_installed(bundle: Path, keys: Keys, tmp_path: Path) -> None:
    target = tmp_path / "target"
    version = target / "versions" / "later"
    version.mkdir(parents=True)
    (target / "current").symlink_to("versions/later")
    before: dict[str, object] = {"digest": "0" * 64, "signed_by": "", "manifest": {}}
    silent: Callable[..., None] = lambda *_, **__: None  # noqa: E731
    for later, signer, cause in (
        ("1.10", "", "holds localrag 1.0; 1.10, which is newer, is installed"),
        ("1.0", public(keys[0]), "was signed by the key"),
    ):
        before |= {"manifest": {"localrag": later, "files": {}}, "signed_by": signer}
        (version / "bundle.json").write_text(json.dumps(before))
        with pytest.raises(InputError, match=cause):
            install(bundle, target, tell=silent)
    (version / "bundle.json").write_text("{")
    with pytest.raises(LocalragError, match=r"bundle\.json is damaged"):
        install(bundle, target, tell=silent)
    assert (target / "current").resolve() == version


def test_into_itself(bundle: Path) -> None:
    with pytest.raises(LocalragError, match="The bundle itself lies in"):
        install(bundle, bundle / "here", tell=lambda *_, **__: None)


def test_places_where_something_else_lies(bundle: Path, tmp_path: Path) -> None:
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_text("mine")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    for target in (file, folder):
        with pytest.raises(LocalragError, match="that holds something else than localrag"):
            install(bundle, target, tell=lambda *_, **__: None)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
