"""The packages of a bundle, downloaded or compiled by pip in processes of its own.

Only this part of a bundle uses a network, as pip is configured. Compiled packages use no special
instructions of this processor. They need no library beyond a fresh system's: llama.cpp is built
without OpenMP.
"""

import errno
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from localrag.errors import InputError, UsageError
from localrag.language import N_

_COMMON = "set(LLAMA_BUILD_COMMON OFF)\n"
"""Read by CMake before llama.cpp: leaves out its command-line tools."""
_INSTRUCTIONS = ("SSE42", "AVX", "AVX2", "FMA", "F16C", "BMI2")
"""Instructions of every x86-64 processor of the last ten years. With SOURCE_DATE_EPOCH llama.cpp
uses none of them by default, and an answer takes nine times as long."""
_LLAMA = " ".join(
    (
        "-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF",
        *(f"-DGGML_{instruction}=ON" for instruction in _INSTRUCTIONS),
    )
)
_EPOCH = "315532800"
"""The first time of a zip: unchanged contents get the same hash."""
_TAG = re.compile(r"manylinux_2_(\d+)_|(manylinux2014)_|(?<![a-z])(linux)_")


@dataclass(frozen=True, slots=True)
class Project:
    """Localrag as a project to install, by its source or its wheel."""

    path: Path

    @classmethod
    def here(cls) -> "Project":
        """The source of this process; raises UsageError."""
        try:
            said = json.loads(distribution("localrag").read_text("direct_url.json") or "{}")
        except PackageNotFoundError:
            said = {}
        path = Path(url2pathname(urlsplit(said.get("url", "")).path))
        if not (path / "pyproject.toml").is_file():
            raise UsageError(
                N_("The source of localrag is not at hand."),
                N_("Name its folder, or its wheel: --project PATH"),
            )
        return cls(path)

    @property
    def pins(self) -> list[str]:
        """Options of pip with a pin for every version, if the source lists them."""
        pins = self.path / "constraints.txt"
        if not pins.is_file():
            return []
        return ["--constraint", str(pins), "--build-constraint", str(pins)]


def collect(
    project: Project,
    extras: Sequence[str],
    pythons: Sequence[str],
    processors: Sequence[str],
    folder: Path,
    work: Path,
) -> None:
    """Collect the wheels of localrag, its dependencies and pip.

    An interpreter of each version (as 3.11) must be installed here. For processors (as
    `platform.machine` names them) other than this one nothing can be compiled. pip's files are in
    `work`: a stopped run can go on. Raises UsageError, InputError, OSError.
    """
    common = work / "without-common.cmake"
    common.write_text(_COMMON, encoding="ascii")
    arguments = f"{_LLAMA} -DCMAKE_PROJECT_llama_cpp_INCLUDE={shlex.quote(str(common))}"
    portable = {"CMAKE_ARGS": arguments, "HNSWLIB_NO_NATIVE": "1", "SOURCE_DATE_EPOCH": _EPOCH}
    # Its own cache: wheels compiled elsewhere may need another processor.
    cache = ["--cache-dir", str(work / "pip"), "--disable-pip-version-check", "--quiet"]
    pip, chosen = [sys.executable, "-m", "pip"], f"[{','.join(extras)}]" if extras else ""
    interpreters = {version: interpreter(version) for version in pythons}
    for version, python in interpreters.items():
        at = [*pip, "--python", python, "wheel", *cache, *project.pins]
        _run([*at, "--wheel-dir", str(folder), f"{project.path}{chosen}", "pip"], portable)
        for processor in processors:
            if processor != platform.machine():
                wheel = f"{next(folder.glob('localrag-*.whl'))}{chosen}"
                options = [*cache, *project.pins, *_foreign(version, processor, folder)]
                _run([*pip, "download", *options, wheel])


def _foreign(version: str, processor: str, folder: Path) -> list[str]:
    """Options of pip to take wheels for another processor, as old as this system's."""
    minor = int(platform.libc_ver()[1].split(".")[1])
    tags = [f"manylinux_2_{n}_{processor}" for n in range(5, minor + 1)]
    tags += [f"manylinux2014_{processor}", f"linux_{processor}"]
    platforms = [word for tag in tags for word in ("--platform", tag)]
    places = ["--find-links", str(folder), "--dest", str(folder)]
    return ["--only-binary", ":all:", "--python-version", version, *platforms, *places]


def interpreter(version: str) -> str:
    """The Python of a version on this machine; raises UsageError if there is no such Python."""
    if version == "{}.{}".format(*sys.version_info):
        return sys.executable
    found = shutil.which(f"python{version}")
    # Version managers have commands that lead nowhere.
    works = (
        found
        and not subprocess.run(  # noqa: S603 - a Python
            [found, "-c", ""], capture_output=True, check=False
        ).returncode
    )
    if not (found and works):
        raise UsageError(
            N_("Python {version} is not here; it is needed to compile its packages."),
            N_("Install it, or leave it out."),
            version=version,
        )
    return found


def glibc(wheels: Iterable[str]) -> str:
    """The oldest glibc for all wheels, by their names; "" if none is needed."""
    needed = 0
    for name in wheels:
        found = [
            int(minor) if minor else 17 if manylinux else int(platform.libc_ver()[1].split(".")[1])
            for minor, manylinux, _linux in _TAG.findall(name)
        ]
        needed = max(needed, min(found, default=0))
    return f"2.{needed}" if needed else ""


def standalone(version: str, folder: Path, work: Path) -> None:
    """Write a self-contained Python from uv, as an archive; raises UsageError, InputError."""
    uv = shutil.which("uv")
    if uv is None:
        raise UsageError(
            N_("uv fetches a Python for a machine without one, and uv is not here."),
            N_("Install it: python3 -m pip install uv"),
        )
    place = work / "python"
    _run([uv, "python", "install", "--install-dir", str(place), "--no-bin", version])
    # uv adds a link without the last number of the version.
    found = next(path for path in place.glob(f"cpython-{version}*") if not path.is_symlink())
    folder.mkdir(exist_ok=True)
    with tarfile.open(folder / f"{found.name}.tar.gz", "w:gz") as tar:
        tar.add(found, found.name)


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command, perhaps with a network; raises InputError, OSError."""
    done = subprocess.run(  # noqa: S603 - pip and uv
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-2_000:]
        if os.strerror(errno.ENOSPC) in said:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise InputError(
            N_("{program} failed: {said}"),
            N_("Mend this, then run the command again; it goes on from there."),
            program="uv" if Path(command[0]).name == "uv" else "pip",
            said=said or f"exit code {done.returncode}",
        )
