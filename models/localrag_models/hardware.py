"""The graphics processors of this machine, the builds for them, and the place of a model.

Only llama.cpp is loaded for this: it alone knows its build.
"""

import csv
import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import psutil

from localrag_models.errors import ModelError

Vendor = Literal["NVIDIA", "AMD", "Apple"]
Backend = Literal["CUDA", "ROCm", "Metal", "Vulkan", "GPU"]
"""Computes for a build; ``GPU`` if it has no name."""

BACKENDS: dict[Vendor, Backend] = {"NVIDIA": "CUDA", "AMD": "ROCm", "Apple": "Metal"}
"""The backend made for the processors of a vendor."""
SWITCHES: dict[Vendor, str] = {"NVIDIA": "GGML_CUDA", "AMD": "GGML_HIP", "Apple": "GGML_METAL"}
"""The switch in ``CMAKE_ARGS`` for llama.cpp with this backend."""

_SECONDS = 10.0
_MIB = 2**20
_LIBRARIES: tuple[tuple[str, Backend], ...] = (
    ("cuda", "CUDA"),
    ("hip", "ROCm"),
    ("metal", "Metal"),
    ("vulkan", "Vulkan"),
)
_SAID_BY_TORCH = re.compile(r"^(cuda|hip)[^=\n]*=\s*['\"](.+?)['\"]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics processor.

    Attributes:
        total, free: bytes of its memory; 0 if unknown. Apple's share the memory of the machine.
    """

    vendor: Vendor
    name: str
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class Build:
    """An installed package for models.

    Attributes:
        package: its name for pip.
        backend: computes besides the processor; None for the processor only.
    """

    package: str
    version: str
    backend: Backend | None


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a model.

    Attributes:
        backend: of the graphics processor; None for the processor only.
        layers, of_layers: on the graphics processor, and of the model; 0 if unknown.
        size, in_vram: bytes in memory, and of them in the memory of the graphics processor; 0 if
            unknown.
        loaded: its server has it in memory.
    """

    backend: Backend | None
    layers: int = 0
    of_layers: int = 0
    size: int = 0
    in_vram: int = 0
    loaded: bool = True


def gpus() -> tuple[Gpu, ...]:
    """The graphics processors found by ``nvidia-smi``, ``rocm-smi`` or the system."""
    return (*_nvidia(), *_amd(), *_apple())


def llama_cpp_build() -> Build | None:
    """The build of llama-cpp-python; None if it is missing or does not load."""
    from localrag_models.backends.llama_cpp.native import runtime

    try:
        offloads = bool(runtime().llama_supports_gpu_offload())
    except ModelError:
        return None
    name = "llama-cpp-python"
    return Build(name, _version(name), _backend_of_files("llama_cpp") if offloads else None)


def pytorch_build() -> Build | None:
    """The build of PyTorch, read from its files: importing it takes seconds. None if missing."""
    folder = _folder("torch")
    if folder is None:
        return None
    try:
        said = dict(_SAID_BY_TORCH.findall((folder / "version.py").read_text("utf-8")))
    except (OSError, ValueError):
        said = {}
    backend: Backend | None = None
    if "cuda" in said:
        backend = "CUDA"
    elif "hip" in said:
        backend = "ROCm"
    elif _is_apple():
        backend = "Metal"
    return Build("torch", _version("torch"), backend)


def in_process(build: Build | None, gpu_layers: int, of_layers: int = 0) -> Placement:
    """The place of a model of so many layers in this process; -1 puts all on a GPU."""
    if build is None or build.backend is None or gpu_layers == 0 or not gpus():
        return Placement(None, 0, of_layers)
    layers = of_layers if gpu_layers < 0 else min(gpu_layers, of_layers)
    return Placement(build.backend, layers, of_layers)


def _nvidia() -> Iterator[Gpu]:
    query = "--query-gpu=name,memory.total,memory.free"
    for row in csv.reader(_said("nvidia-smi", query, "--format=csv,noheader,nounits").splitlines()):
        if len(row) == 3:
            name, total, free = (cell.strip() for cell in row)
            yield Gpu("NVIDIA", name, _number(total) * _MIB, _number(free) * _MIB)


def _amd() -> Iterator[Gpu]:
    told = _said("rocm-smi", "--showproductname", "--showmeminfo", "vram", "--json")
    try:
        cards = json.loads(told or "{}")
    except ValueError:
        return
    for card in cards.values() if isinstance(cards, dict) else ():
        if isinstance(card, dict) and "VRAM Total Memory (B)" in card:
            total = _number(card["VRAM Total Memory (B)"])
            used = _number(card.get("VRAM Total Used Memory (B)"))
            lower = {key.lower(): value for key, value in card.items()}
            name = str(lower.get("card series") or lower.get("card model") or "AMD")
            yield Gpu("AMD", name, total, max(total - used, 0))


def _apple() -> Iterator[Gpu]:
    if _is_apple():
        memory = psutil.virtual_memory()
        yield Gpu("Apple", platform.machine(), memory.total, memory.available)


def _is_apple() -> bool:
    return sys.platform == "darwin" and platform.machine() == "arm64"


def _said(program: str, *arguments: str) -> str:
    """The output of a program; "" if it is missing or fails."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        told = subprocess.run(  # noqa: S603 - a fixed program of the driver
            [path, *arguments], capture_output=True, check=True, timeout=_SECONDS, text=True
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return told.stdout


def _number(told: object) -> int:
    """A whole number; 0 for anything else, such as ``[N/A]``."""
    text = str(told).strip()
    return int(text) if text.isascii() and text.isdigit() else 0


def _backend_of_files(package: str) -> Backend:
    folder = _folder(package)
    names = [path.name.lower() for path in (folder / "lib").glob("*ggml*")] if folder else []
    for part, backend in _LIBRARIES:
        if any(part in name for name in names):
            return backend
    return "GPU"


def _folder(package: str) -> Path | None:
    spec = find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
