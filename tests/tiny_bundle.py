"""A bundle whose localrag only prints: made, spoiled and installed in no time."""

import ensurepip
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus.workspace import Workspace
from localrag.ops.bundle.make import BundleContents, make
from localrag.ops.bundle.wheels import Project

# Debian keeps it apart.
_PLACES = (Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels"))
BUNDLED = next(place for place in _PLACES if place.is_dir())
ENTERING = """
import json, pathlib, sys
folder, home, before = map(pathlib.Path, sys.argv[1:])
home.mkdir(exist_ok=True)
if (home / "fail").exists():
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
        "localrag/ops/bundle/__init__.py": "",
        "localrag/doors/entering.py": ENTERING.replace("VERSION", version),
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
    patch.setenv("PIP_FIND_LINKS", str(BUNDLED))
    patch.setenv("PIP_CONFIG_FILE", "/dev/null")


def collect(project: Project, *given: Any) -> None:
    """Bring together what pip would: that localrag, and the pip that Python itself brings."""
    folder: Path = given[3]
    folder.mkdir(exist_ok=True)
    for wheel in (project.path, next(BUNDLED.glob("pip-*.whl"))):
        shutil.copy(wheel, folder)


def make_bundle(folder: Path, contents: BundleContents) -> Path:
    """Make the bundle in a folder, with what the workspace in it, ``home``, has of the contents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("localrag.ops.bundle.wheels.collect", collect)
        project = Project(write_wheel(folder, "1.0"))
        return make(Workspace(folder / "home"), folder / "bundle", contents, project).path
