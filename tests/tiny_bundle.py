"""A bundle whose localrag only prints: made, spoiled and installed in no time."""

import ensurepip
import zipfile
from pathlib import Path

import pytest

from localrag.bundle.make import Contents, make
from localrag.bundle.wheels import Project
from localrag.workspace import Workspace

ENTERING = """
import json, pathlib, sys
folder, home, before = map(pathlib.Path, sys.argv[1:])
home.mkdir(exist_ok=True)
if (home.parent / "fail").exists():
    sys.exit("no luck")
print("answered from nowhere", file=sys.stderr)
print(json.dumps({"before": before.exists(), "localrag": "VERSION", "broken": []}))
"""


def write_wheel(folder: Path, version: str) -> Path:
    """The wheel of a localrag that only prints."""
    told = f"localrag-{version}.dist-info"
    files = {
        "localrag/__init__.py": "",
        "localrag/__main__.py": f"print('localrag {version}')",
        "localrag/bundle/__init__.py": "",
        "localrag/bundle/entering.py": ENTERING.replace("VERSION", version),
        f"{told}/METADATA": "Metadata-Version: 2.4\nName: localrag\n"
        f"Version: {version}\nLicense-Expression: Apache-2.0\nProvides-Extra: docs\n",
        f"{told}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{told}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{told}/RECORD"])
    wheel = folder / f"localrag-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return wheel


def offline(patch: pytest.MonkeyPatch) -> None:
    """Let pip find what Python itself brings, and nothing else."""
    patch.setenv("PIP_NO_INDEX", "1")
    patch.setenv("PIP_FIND_LINKS", str(Path(ensurepip.__file__).parent / "_bundled"))
    patch.setenv("PIP_CONFIG_FILE", "/dev/null")


def make_bundle(folder: Path, contents: Contents) -> Path:
    """Make the bundle in a folder, with what the workspace in it, ``home``, has of the contents."""
    with pytest.MonkeyPatch.context() as patch:
        offline(patch)
        project = Project(write_wheel(folder, "1.0"))
        return make(Workspace(folder / "home"), folder / "bundle", contents, project).path
