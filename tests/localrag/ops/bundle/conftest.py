"""A bundle so small that it is made, spoiled and installed in no time: its localrag only prints."""

import base64
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import minisign
import pytest

from localrag.ops.bundle.installer import MANIFEST, SIGNATURE
from localrag.ops.bundle.make import BundleContents
from localrag_models.store import ModelStore

from ....tiny_bundle import make_bundle


@pytest.fixture(scope="session")
def small(sample_home: Path, tiny_chat: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with a package, a model, a corpus, documents and settings; never write to it."""
    folder = tmp_path_factory.mktemp("small")
    home = folder / "home"
    shutil.copytree(sample_home, home)
    ModelStore(home / "models").add(tiny_chat, name="tiny", licence="MIT")
    laws = folder / "laws"
    laws.mkdir()
    (laws / "a.md").write_text("# 渡し舟\n\n甲は乙に届け出る。\n", encoding="utf-8")
    (laws / ".hidden").write_text("left out")
    contents = BundleContents(models=("tiny",), corpora=("main",), sources=(("more", laws),))
    return make_bundle(folder, contents)


@pytest.fixture
def bundle(small: Path, tmp_path: Path) -> Path:
    """A bundle to spoil."""
    return Path(shutil.copytree(small, tmp_path / "bundle"))


@pytest.fixture(scope="session")
def keys() -> tuple[minisign.SecretKey, minisign.SecretKey]:
    """The keys of its maker and of somebody else."""
    return minisign.KeyPair.generate().secret_key, minisign.KeyPair.generate().secret_key


def public(key: minisign.SecretKey) -> str:
    """The public key, in base64."""
    return str(key.get_public_key().to_base64().decode())


Change = Callable[[dict[str, Any]], object]


def rewrite(bundle: Path, change: Change, key: minisign.SecretKey | None = None) -> None:
    """Change the manifest of a bundle, and sign it if a key is given."""
    manifest = json.loads((bundle / MANIFEST).read_text("utf-8"))
    change(manifest)
    if key is not None:
        manifest["signed_by"] = public(key)
    text = json.dumps(manifest).encode()
    (bundle / MANIFEST).write_bytes(text)
    if key is not None:
        (bundle / SIGNATURE).write_bytes(bytes(key.sign(text)) + b"\n")


def enter(bundle: Path, name: str, content: bytes) -> None:
    """Put a file into a bundle, listed as it is."""
    (bundle / name).parent.mkdir(parents=True, exist_ok=True)
    (bundle / name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    file = {"sha256": digest, "size": len(content), "licence": ""}
    rewrite(bundle, lambda manifest: manifest["files"].update({name: file}))


def as_other_signature(text: bytes) -> bytes:
    """A signature with one bit of it changed."""
    lines = text.splitlines()
    raw = bytearray(base64.b64decode(lines[1]))
    raw[-1] ^= 1
    lines[1] = base64.b64encode(bytes(raw))
    return b"\n".join(lines)
