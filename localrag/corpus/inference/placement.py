"""Graphics processors, the builds for them, and the places and speeds of the models in use."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from localrag.corpus.config import Config, HasModels
from localrag.corpus.inference.opening import specs_in_use
from localrag.corpus.inference.speeds import Speed, speeds
from localrag.text.facts import Fact, FactKind
from localrag_models.errors import ModelError
from localrag_models.hardware import BACKENDS, SWITCHES, gpus, llama_cpp_build, pytorch_build

if TYPE_CHECKING:
    from localrag_models.hardware import Build, Gpu, Placement

_GIGABYTE = 1e9
_ID_ENDS = re.compile(r"@| \(")
"""Ends the name in the id of a model: ``qwen3-8b@1f2e``, ``qwen3:8b (Ollama)``."""


def gpu_facts() -> tuple[Fact, ...]:
    """A fact for each graphics processor, or one for none."""
    found = gpus()
    return tuple(map(_gpu, found)) if found else (Fact(FactKind.NO_GPU),)


def build_facts() -> Iterator[tuple[str, Fact, Fact | None]]:
    """The installed builds: the name, the backend, and the cure if a GPU is not used."""
    found = gpus()
    for name, build in (("llama.cpp", llama_cpp_build()), ("pytorch", pytorch_build())):
        if build is not None:
            yield name, *_build(build, found)


def placement_facts(workspace: HasModels, config: Config) -> Iterator[tuple[str, str, Fact]]:
    """The setting, the name and the place of each model in use; loads none.

    An unusable model is left out: `check_models` says why.
    """
    for setting, model, runtime, spec in specs_in_use(workspace, config):
        try:
            placed = runtime.placement(spec)
        except ModelError:
            continue
        yield setting, model, _placed(model, placed)


def speed_facts(workspace: HasModels, config: Config) -> tuple[Fact, ...]:
    """How fast the chat model of the settings wrote here; none without a chat model."""
    name = config.chat.model
    if not name:
        return ()
    speed = speed_of(workspace, name)
    if speed is None:
        return (Fact(FactKind.SPEED_UNKNOWN, model=name),)
    return (Fact(FactKind.SPEED_HERE, model=name, rate=speed.rate, n=speed.replies),)


def speed_of(workspace: HasModels, name: str) -> Speed | None:
    """How fast a model wrote here, by its name in the settings; None if it is unknown."""
    ids = {name, name.partition(":")[2]}
    found = [
        speed
        for model, speed in speeds(workspace).items()
        if _ID_ENDS.split(model, maxsplit=1)[0] in ids
    ]
    return found[-1] if found else None


def _gpu(gpu: "Gpu") -> Fact:
    if not gpu.total:
        return Fact(FactKind.GPU_NAMED, vendor=gpu.vendor, name=gpu.name)
    return Fact(
        FactKind.GPU_FOUND,
        vendor=gpu.vendor,
        name=gpu.name,
        total=gpu.total / _GIGABYTE,
        free=gpu.free / _GIGABYTE,
    )


def _build(build: "Build", found: "tuple[Gpu, ...]") -> tuple[Fact, Fact | None]:
    if build.backend is not None:
        told = Fact(FactKind.BUILT_FOR_GPU, version=build.version, backend=build.backend)
        return told, None
    if not found:
        return Fact(FactKind.BUILT_FOR_PROCESSOR, version=build.version), None
    vendor = found[0].vendor
    told = Fact(FactKind.BUILT_WITHOUT, version=build.version, backend=BACKENDS[vendor])
    if build.package == "torch":
        return told, Fact(FactKind.TO_INSTALL_FOR_GPU)
    return told, Fact(FactKind.TO_BUILD_FOR_GPU, switch=SWITCHES[vendor])


def _placed(model: str, placed: "Placement | None") -> Fact:
    if placed is None:
        return Fact(FactKind.RUNS_UNSAID, model=model)
    if not placed.loaded:
        return Fact(FactKind.RUNS_WHEN_ASKED, model=model)
    if placed.in_vram:
        vram, size = placed.in_vram / _GIGABYTE, placed.size / _GIGABYTE
        return Fact(FactKind.RUNS_IN_VRAM, model=model, vram=vram, size=size)
    if placed.backend is None:
        return Fact(FactKind.RUNS_ON_PROCESSOR, model=model)
    if not placed.of_layers:
        return Fact(FactKind.RUNS_ON_GPU, model=model, backend=placed.backend)
    return Fact(
        FactKind.RUNS_IN_LAYERS,
        model=model,
        backend=placed.backend,
        layers=placed.layers,
        of=placed.of_layers,
    )
