"""How methods register, how one is found by its name, and the settings that they declare."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from localrag.corpus import config
from localrag.corpus.workspace import Workspace
from localrag.errors import UsageError
from localrag.methods.catalogue import NAMES, Purpose, method
from localrag.methods.decon import DeconSettings

from ...rows import each

OWN = """
from localrag.methods.catalogue import register

@register("echo", "says it")
@register("echo-loud", "says it twice", times=2)
def answer(case, toolkit, *, times=1):
    return case * times
"""


def run(code: str, *arguments: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return finished.stdout.strip()


def test_one_method_is_found_without_importing_the_others() -> None:
    code = (
        "import sys; from localrag.methods.catalogue import method; method('extractive');"
        "print(*sorted(name for name in sys.modules if name.startswith('localrag.methods.')))"
    )
    assert run(code) == "localrag.methods.catalogue localrag.methods.extractive"


def test_a_method_needs_no_more_than_its_file(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(OWN)
    code = (
        "import sys; from localrag import methods; methods.__path__.append(sys.argv[1]);"
        "from localrag.methods.catalogue import NAMES, method; found = method('echo-loud');"
        "print(found.about, found.answer('ha', None), method('echo').answer('ha', None),"
        "'echo-loud' in NAMES)"
    )
    assert run(code, str(tmp_path)) == "says it twice haha ha True"


def test_methods_to_use_come_first_and_are_few() -> None:
    purposes = [method(name).purpose for name in NAMES]
    use = purposes.count(Purpose.USE)
    assert NAMES[:2] == ("extractive", "generative")
    assert use <= 6
    assert set(purposes[:use]) == {Purpose.USE}


def test_every_declared_setting_is_one_of_the_section(tmp_path: Path) -> None:
    known = {one.key for one in config.explain(Workspace(tmp_path))}
    used = {f"method.{key}" for name in NAMES for key in method(name).settings}
    assert used <= known


def test_a_setting_is_declared_with_its_method(tmp_path: Path) -> None:
    (tmp_path / "localrag.toml").write_text("[method]\nthreshold = 0.5\n")
    loaded = config.load(Workspace(tmp_path))
    assert DeconSettings.of(loaded.method) == DeconSettings(sentences=3, threshold=0.5)
    assert method("decon").settings_in(loaded.method) == {"sentences": 3, "threshold": 0.5}
    assert pickle.loads(pickle.dumps(loaded)) == loaded


@each(
    ("key", "value", "said"),
    [
        ("method.treshold", 0.5, "Did you mean 'method.threshold'?"),
        ("method.threshold", 5, "it must be 1 or less"),
        ("method.stages", "4", "it must be one of"),
    ],
)
def test_a_wrong_setting_of_a_method_is_named(key: str, value: object, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        config.require_valid({key: value})
    assert said in f"{raised.value.cause} {raised.value.cure}"
