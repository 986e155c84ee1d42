"""A bundle is made, goes on after a stop, and is installed as a whole or not at all."""

import errno
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from platform import machine
from typing import Any

import minisign
import pytest

from localrag.corpus.durable import locked
from localrag.corpus.workspace import Workspace
from localrag.doors.entering import enter as enter_workspace
from localrag.errors import BusyError
from localrag.ops.bundle import wheels
from localrag.ops.bundle.installer import MANIFEST, verify
from localrag.ops.bundle.make import script
from localrag.ops.doctor import Health, examine

from ....patience import PATIENCE
from ....tiny_bundle import collect, offline, write_wheel
from .conftest import enter, public, rewrite

Cli = Callable[..., Any]
Keys = tuple[minisign.SecretKey, minisign.SecretKey]


def run_installer(
    bundle: Path, target: Path, *options: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-I", str(bundle / "install.py"), str(target), *options],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=PATIENCE,
        check=False,
    )


def standalone_python() -> bytes:
    """An archive of a Python, which starts the one that runs here."""
    text = f'#!/bin/sh\nexec {sys.executable} "$@"\n'.encode()
    info = tarfile.TarInfo("cpython-3.99/bin/python3")
    info.size, info.mode = len(text), 0o755
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.addfile(info, io.BytesIO(text))
    return packed.getvalue()


def start(target: Path) -> str:
    return subprocess.run(
        [str(target / "bin" / "localrag")], capture_output=True, text=True, check=True
    ).stdout


def test_installing_and_bringing_up_to_date(
    bundle: Path, keys: Keys, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a folder"
    target.mkdir()
    # It brings a Python of its own, and needs none of this machine.
    enter(bundle, "python/cpython-3.99.tar.gz", standalone_python())
    rewrite(bundle, lambda manifest: manifest["needs"].update(pythons=["3.99"]), keys[0])
    refused = run_installer(bundle, target, "--key", public(keys[1]))
    assert refused.returncode == 4, refused.stderr
    assert "manifest.json.minisig is missing, or no signature" in refused.stdout
    assert list(target.iterdir()) == []
    (target / "home").mkdir()
    (target / "home" / "fail").touch()
    failed = run_installer(bundle, target)
    assert failed.returncode == 5, failed.stderr
    assert "no luck" in failed.stderr
    assert not (target / "bin").exists()
    assert not (target / "current").exists()
    (target / "home" / "fail").unlink()
    done = run_installer(bundle, target, "--key", public(keys[0]))
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Warning" not in failed.stderr, "that run unpacked the Python"
    assert "files are as the manifest says" in done.stdout
    assert "installing localrag" not in done.stdout, "the packages are there from the run before"
    assert start(target) == "localrag 1.0\n"
    assert (target / "current" / "python" / "cpython-3.99").is_dir()
    verify(bundle)
    # The next version holds one package anew, and leaves pip to the first.
    offline(monkeypatch)
    wheel = write_wheel(tmp_path, "1.1")
    (tmp_path / "key").write_bytes(bytes(keys[0]))
    options = [f"--since={bundle}", "--extra=docs", f"--sign={tmp_path / 'key'}", "--json"]
    made = cli("bundle", "make", str(tmp_path / "new.tar"), f"--project={wheel}", *options)
    assert made.code == 0, made.err
    assert made.json["held"] == 1
    with tarfile.open(tmp_path / "new.tar") as tar:
        assert [name for name in tar.getnames() if "pip" in name] == []
    first = (target / "current").resolve()
    # Without a folder, into that of the localrag that runs.
    monkeypatch.setattr(sys, "prefix", str(target / "current" / "program"))
    # A run of it that was killed has left what it had unpacked.
    left = target.with_name(".a folder.unpacked") / "work"
    left.mkdir(parents=True)
    (left / "manifest.json").touch()
    done = cli("bundle", "install", str(tmp_path / "new.tar"), "--json")
    assert done.code == 0, done.err
    assert done.json["before"] is True
    assert start(target) == "localrag 1.1\n"
    assert first.exists(), "whoever still runs it needs it"
    assert not list(tmp_path.glob("*unpacked*"))
    older = cli("bundle", "install", str(bundle), str(target))
    assert older.code == 4
    assert "1.1, which is newer, is installed" in older.err


def test_a_full_disk(bundle: Path, small_disk: Any, cli: Cli, tmp_path: Path) -> None:
    small_disk.fill()
    for words in (
        ("install", str(bundle), str(small_disk.folder / "target")),
        (
            "make",
            str(small_disk.folder / "b"),
            f"--project={next(bundle.glob('wheels/localrag*'))}",
        ),
    ):
        outcome = cli("bundle", *words)
        assert outcome.code == 7, outcome.err
        assert "No space left on device" in outcome.err


def test_the_installer_on_a_full_disk(bundle: Path, small_disk: Any) -> None:
    small_disk.fill()
    told = run_installer(bundle, small_disk.folder / "target", LC_ALL="C.UTF-8")
    assert told.returncode == 7
    assert f"{small_disk.folder}" in told.stdout
    assert "cannot be read or written (No space left on device)" in told.stdout
    assert "Free some space there" in told.stdout


def test_what_is_made(small: Path) -> None:
    manifest = json.loads((small / MANIFEST).read_text("utf-8"))
    files = manifest["files"]
    assert files["models/tiny.tar"]["licence"] == "MIT"
    assert files["install.py"]["licence"] == "Apache-2.0"
    assert next(f for n, f in files.items() if n.startswith("wheels/localrag"))["licence"] == (
        "Apache-2.0"
    )
    assert next(f for n, f in files.items() if n.startswith("wheels/pip"))["licence"].startswith(
        "MIT"
    )
    assert [name for name in files if "hidden" in name] == []
    assert (small / "settings.toml").read_text() == '[chat]\nmodel = "tiny"\n'
    parts = json.loads((small / "parts.cdx.json").read_text("utf-8"))
    named = {part["bom-ref"]: part for part in parts["components"]}
    assert named.keys() == files.keys() - {"install.py", "settings.toml", "parts.cdx.json"}
    for path, part in named.items():
        assert part["hashes"] == [{"alg": "SHA-256", "content": files[path]["sha256"]}]
    assert parts["specVersion"] == "1.6"
    assert [p["purl"] for p in named.values() if p["name"] == "localrag"] == [
        "pkg:pypi/localrag@1.0"
    ]


def test_the_installer_speaks_japanese(bundle: Path, tmp_path: Path) -> None:
    assert '"Take another copy of the bundle; nothing of it was run.": "' in script()
    whole = run_installer(bundle, tmp_path / "target", "--check")
    assert (whole.returncode, whole.stdout) == (0, "8 files are as the manifest says\n")
    (bundle / "settings.toml").write_text("")
    told = run_installer(bundle, tmp_path / "target", LC_ALL="ja_JP.UTF-8", PYTHONUTF8="1")
    assert told.returncode == 4
    assert "settings.toml" in told.stdout
    assert "is damaged" not in told.stdout
    (bundle / "settings.toml").unlink()
    told = run_installer(bundle, tmp_path / "target", LC_ALL="ja_JP.UTF-8", PYTHONUTF8="1")
    assert "バンドルに settings.toml がありません。" in told.stdout
    assert not (tmp_path / "target").exists()


def test_what_fails_before_anything_is_collected_leaves_nothing(
    small: Path, sample: Path, tmp_path: Path, cli: Cli
) -> None:
    wheel = next(small.glob("wheels/localrag*"))
    failed = cli("bundle", "make", str(tmp_path / "b"), f"--project={wheel}", "--python=2.1")
    assert failed.code == 2
    assert "Python 2.1 is not here" in failed.err
    assert list(tmp_path.iterdir()) == []


def test_where_to_install_has_to_be_said(bundle: Path, cli: Cli) -> None:
    refused = cli("bundle", "install", str(bundle))
    assert refused.code == 2
    assert "Name a folder" in refused.err


def test_making_goes_on_after_a_stop(
    small: Path, sample: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag.ops.bundle.wheels.collect", collect)
    wheel = next(small.glob("wheels/localrag*"))
    arguments = ["bundle", "make", str(tmp_path / "b"), f"--project={wheel}"]
    early = cli(*arguments, "--corpus=later", "--extra=docs,dense")
    assert early.code == 3, "what it lacks is told before anything is collected"
    assert cli(*arguments, "--extra=docs,nope").code == 2
    assert list(tmp_path.iterdir()) == []
    (sample / "corpora" / "main").rename(sample / "corpora" / "later")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("localrag.ops.bundle.make._back_up", full)
        stopped = cli(*arguments, "--corpus=later")
    assert stopped.code == 7, stopped.err
    assert not (tmp_path / "b").exists()
    other = cli(*arguments, "--corpus=later", "--extra=docs")
    assert other.code == 2
    assert "beginning of a bundle with other contents" in other.err
    # What a kill leaves.
    begun = tmp_path / ".b.making" / "files" / "corpora"
    begun.mkdir()
    (begun / ".0.new").write_text("half")
    (begun / ".later.tar.backing-up").mkdir()
    (begun / ".later.tar.backing-up" / "lock").touch()
    with locked(tmp_path / ".b.making" / "lock", BusyError("")):
        assert cli(*arguments, "--corpus=later").code == 6

    def fail(*_: object) -> None:
        pytest.fail("packages are collected twice")

    monkeypatch.setattr("localrag.ops.bundle.wheels.collect", fail)
    made = cli(*arguments, "--corpus=later")
    assert made.code == 0, made.err
    assert "corpora/later.tar" in made.err, "it names no licence"
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    verify(tmp_path / "b")
    assert cli(*arguments).code == 2, "it is there already"


def test_signing(small: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = minisign.KeyPair.generate()
    (tmp_path / "key").write_bytes(bytes(pair.secret_key))
    monkeypatch.setattr("localrag.ops.bundle.wheels.collect", collect)
    wheel = next(small.glob("wheels/localrag*"))
    made = cli("bundle", "make", str(tmp_path / "b"), f"--project={wheel}",
               f"--sign={tmp_path / 'key'}", f"--since={small}", "--json")  # fmt: skip
    assert made.code == 0, made.err
    assert made.json["signed_by"] == public(pair.secret_key)
    found = cli("bundle", "verify", str(tmp_path / "b"), "--key", made.json["signed_by"])
    assert found.code == 0, found.err
    assert made.json["digest"] in found.out
    refused = cli("bundle", "make", str(tmp_path / "c"), "--sign", str(wheel))
    assert refused.code == 2
    assert "cannot be used to sign" in refused.err


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--python=3.99"], "Python 3.99 is not here"),
        (["--model=none"], "The model 'none' is not installed"),
        (["--source=main"], "'main' names no corpus and files"),
        (["--since=/none"], "is not a bundle"),
        (["--standalone-python"], "uv fetches a Python"),
        (["--settings=/none"], "There is no file /none"),
        ([f"--settings={__file__}"], "test_bundle_install.py cannot be read"),
    ],
)
def test_what_cannot_be_made(
    home: Path, small: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], cause: str,
) -> None:  # fmt: skip
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("localrag.ops.bundle.wheels.collect", collect)
    if "--python=3.99" in arguments:
        monkeypatch.undo()
        monkeypatch.setenv("LOCALRAG_HOME", str(home))
    wheel = next(small.glob("wheels/localrag*"))
    outcome = cli("bundle", "make", str(tmp_path / "b"), f"--project={wheel}", *arguments)
    assert outcome.code in (2, 4, 5, 8), outcome.err
    assert cause in outcome.err
    assert not (tmp_path / "b").exists()


def test_a_python_that_uv_fetches(
    small: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(
        '#!/bin/sh\nmkdir -p "$4/cpython-$6.1-linux/bin"\n: > "$4/cpython-$6.1-linux/bin/python3"\n'
        'ln -s "$4/cpython-$6.1-linux" "$4/cpython-$6-linux"\n'
    )
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("localrag.ops.bundle.wheels.collect", collect)
    wheel = next(small.glob("wheels/localrag*"))
    made = cli("bundle", "make", str(tmp_path / "b"), f"--project={wheel}", "--standalone-python",
               "--python=3.12", "--json")  # fmt: skip
    assert made.code == 0, made.err
    [archive] = (tmp_path / "b" / "python").iterdir()
    assert archive.name == "cpython-3.12.1-linux.tar.gz"
    with tarfile.open(archive) as tar:
        assert "cpython-3.12.1-linux/bin/python3" in tar.getnames()


def test_what_comes_into_the_workspace(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    home = tmp_path / "target" / "home"
    settings = b"[ingest]\nworkers = 1\n[retrieval]\nwhere = 'kind=none'\n"
    enter(bundle, "settings.toml", settings)
    told: list[str] = []
    done = enter_workspace(bundle, home, None, told.append)
    assert done.entered == ("localrag.toml", "tiny", "main", "more")
    assert done.broken == ()
    assert done.answer in " ".join(told)
    assert {"localrag", "pip"} == set(done.new)

    def at(*words: str) -> Any:
        return cli("--home", str(home), *words)

    assert at("list", "--json").json
    assert Workspace(home).corpora() == ["main", "more"]
    unlimited = ("--set", "retrieval.where=", "search")
    assert "届け出る" in at(*unlimited, "甲は乙に届け出る", "--corpus", "more").out
    assert "渡し守" in at(*unlimited, "渡し守").out
    # A model that does not answer is told, and keeps nothing from being installed.
    (home / "localrag.toml").write_text('[ingest]\nworkers = 1\n[chat]\nmodel = "gone"\n')
    without = enter_workspace(bundle, home, None, told.append)
    assert without.answer == done.answer
    assert any("'gone'" in problem for problem in without.broken)
    (home / "localrag.toml").write_text("[ingest]\nworkers = 1\n")
    # Again, with another state of the corpus: the one before stays, nothing else comes twice.
    again = enter_workspace(bundle, home, verify(bundle), told.append)
    assert again.entered == ()
    assert (again.new, again.changed, again.gone) == ((), (), ())
    rewrite(bundle, lambda manifest: manifest["files"]["corpora/main.tar"].update(sha256="1" * 64))
    assert enter_workspace(bundle, home, None, told.append).entered == ("main",)
    assert Workspace(home).corpora() == ["main", "more"], "it was there already, after a kill say"
    assert at("remove", "599AC0000000001", "--corpus", "main").code == 0
    rewrite(bundle, lambda manifest: manifest["files"]["corpora/main.tar"].update(sha256="2" * 64))
    assert enter_workspace(bundle, home, None, told.append).entered == ("main",)
    names = Workspace(home).corpora()
    assert [name.partition(".")[0] for name in names] == ["main", "main", "more"]
    broken = [f for f in examine(Workspace(home), {}) if f.health is Health.BROKEN]
    assert broken == []


def test_what_is_compiled_takes_the_instructions_of_ten_years(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """llama.cpp leaves them out by itself where packages are built with one date."""
    told: list[str] = []
    monkeypatch.setattr(wheels, "interpreter", str)
    monkeypatch.setattr(
        wheels, "_run", lambda command, environment: told.append(environment["CMAKE_ARGS"])
    )
    project = wheels.Project(tmp_path)
    wheels.collect(project, ["llama-cpp"], ["3.11"], [machine()], tmp_path, tmp_path)
    assert "-DGGML_NATIVE=OFF" in told[0]
    assert all(f"-DGGML_{name}=ON" in told[0] for name in ("AVX2", "FMA", "F16C", "BMI2"))
