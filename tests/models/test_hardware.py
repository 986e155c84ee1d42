"""What graphics processors and builds are found, and where models run; programs are faked."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from tiny_models.servers import OllamaDouble

from localrag_models import hardware
from localrag_models.hardware import Build, Gpu, Placement
from localrag_models.runtimes import BY_FORMAT, BY_NAME, ModelSpec

GB = 2**30
NVIDIA = "NVIDIA RTX 4090, 24564, 20000\\nNVIDIA GB10, [N/A], [N/A]"
AMD = (
    '{"card0": {"Card Series": "Radeon RX 7900 XTX", "VRAM Total Memory (B)": "25753026560", '
    '"VRAM Total Used Memory (B)": "1000000000"}, "system": {"Driver version": "6.1"}}'
)

Install = Callable[[str, str], None]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program on PATH, alone there, that prints a text."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def install(name: str, prints: str) -> None:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\nprintf '%b\\n' '{prints}'\n")
        path.chmod(0o755)

    return install


def offloading(monkeypatch: pytest.MonkeyPatch, *, offloads: bool) -> None:
    """Has llama.cpp say whether its build offloads."""
    from localrag_models.backends.llama_cpp import native

    library = SimpleNamespace(llama_supports_gpu_offload=lambda: offloads)
    monkeypatch.setattr(native, "runtime", lambda: library)


def test_what_the_vendors_programs_say(program: Install) -> None:
    assert hardware.gpus() == ()
    program("nvidia-smi", NVIDIA)
    program("rocm-smi", AMD)
    assert hardware.gpus() == (
        Gpu("NVIDIA", "NVIDIA RTX 4090", 24564 * 2**20, 20000 * 2**20),
        Gpu("NVIDIA", "NVIDIA GB10", 0, 0),
        Gpu("AMD", "Radeon RX 7900 XTX", 25_753_026_560, 24_753_026_560),
    )


@pytest.mark.parametrize("prints", ["", "No devices were found", "a,b", "{", "[]", '{"card0": 1}'])
def test_anything_else_is_no_gpu(program: Install, prints: str) -> None:
    program("nvidia-smi", prints)
    program("rocm-smi", prints)
    assert hardware.gpus() == ()


def test_a_program_that_fails_is_no_gpu(program: Install, tmp_path: Path) -> None:
    program("nvidia-smi", "x")
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    assert hardware.gpus() == ()


def test_apples_processor_is_known_by_the_system(
    program: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    (found,) = hardware.gpus()
    assert (found.vendor, found.total) == ("Apple", psutil.virtual_memory().total)


def test_the_build_of_llama_cpp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    offloading(monkeypatch, offloads=False)
    told = hardware.llama_cpp_build()
    assert told is not None
    assert told.backend is None
    offloading(monkeypatch, offloads=True)
    (tmp_path / "lib").mkdir()
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(hardware, "find_spec", lambda _: spec)
    for name, backend in (
        ("libggml.so", "GPU"),
        ("libggml-vulkan.so", "Vulkan"),
        ("libggml-hip.so", "ROCm"),
        ("libggml-cuda.so", "CUDA"),
    ):
        (tmp_path / "lib" / name).touch()
        assert hardware.llama_cpp_build() == Build(told.package, told.version, backend)


@pytest.mark.parametrize(
    ("said", "backend"),
    [
        ("cuda: Optional[str] = '13.0'\nhip: Optional[str] = None", "CUDA"),
        ("cuda = None\nhip = '6.4'", "ROCm"),
        ("cuda: Optional[str] = None\nhip: Optional[str] = None", None),
        ("", None),
    ],
)
def test_the_build_of_pytorch_is_read_from_its_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, backend: str | None
) -> None:
    (tmp_path / "version.py").write_text(said)
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(hardware, "find_spec", lambda _: spec)
    told = hardware.pytorch_build()
    assert told is not None
    assert told.backend == backend


def test_where_llama_cpp_puts_a_model(
    program: Install, monkeypatch: pytest.MonkeyPatch, tiny_chat: Path
) -> None:
    def placed(layers: int) -> Placement | None:
        return BY_FORMAT["gguf"].placement(
            ModelSpec(name="tiny", path=tiny_chat, gpu_layers=layers)
        )

    offloading(monkeypatch, offloads=True)
    assert placed(-1) == Placement(None, 0, 2), "no GPU is found"
    program("nvidia-smi", NVIDIA)
    backend = "GPU"
    assert placed(-1) == Placement(backend, 2, 2)
    assert placed(1) == Placement(backend, 1, 2)
    assert placed(99) == Placement(backend, 2, 2)
    assert placed(0) == Placement(None, 0, 2)
    offloading(monkeypatch, offloads=False)
    assert placed(-1) == Placement(None, 0, 2)


def test_where_a_server_has_a_model(loopback: None) -> None:
    with OllamaDouble() as double:
        spec = ModelSpec(name="tiny", server=double.address)
        ollama = BY_NAME["ollama"]
        assert ollama.placement(spec) == Placement(None, loaded=False)
        double.loaded["tiny:latest"] = (6 * GB, 4 * GB)
        assert ollama.placement(spec) == Placement("GPU", size=6 * GB, in_vram=4 * GB)
        double.loaded["tiny:latest"] = (6 * GB, 0)
        assert ollama.placement(spec) == Placement(None, size=6 * GB)
    assert BY_NAME["openai"].placement(spec) is None
