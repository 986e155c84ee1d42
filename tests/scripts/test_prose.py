"""The check of plain English: what it counts, where it fails, how its limits fall."""

import re
import sys
from pathlib import Path

import prose
import pytest

from ..rows import each

PLAIN = "The reader opens the file. It has two pages."
STILTED = "Whoever asks is told of which page the law stands on, and what is on it anew."
LONG = "The reader opens " + "the file and " * 9 + "closes it."
LIMITS = """
[docstrings]
stilted = 0.0
relative = 200.0
long = 0.0

[comments]
stilted = 0.0
relative = 0.0
long = 0.0

[messages]
stilted = 0.0
relative = 0.0
long = 0.0

[documents]
stilted = 500.0
relative = 500.0
long = 100.0
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one module and one document, and limits beside them."""
    (tmp_path / "localrag").mkdir()
    (tmp_path / "localrag" / "a.py").write_text(f'"""{PLAIN}"""\n', encoding="utf-8")
    (tmp_path / "README.md").write_text(f"# Head\n{PLAIN}\n", encoding="utf-8")
    (tmp_path / "limits.toml").write_text(LIMITS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run the script on the tree; returns its exit code and what it prints."""

    def run(*arguments: str) -> tuple[int, str]:
        given = [f"--repository={tree}", f"--limits={tree / 'limits.toml'}", *arguments]
        monkeypatch.setattr(sys, "argv", ["prose.py", *given])
        try:
            prose.main()
        except SystemExit as end:
            return int(end.code or 0), capsys.readouterr().out
        return 0, capsys.readouterr().out

    return run


@each(
    ("words", "counts"),
    [
        (PLAIN, (9, 0, 0, 0)),
        (STILTED, (17, 6, 3, 0)),
        (LONG, (32, 0, 0, 1)),
        ("Run it::\n\n    whoever stands\n\nThe end.", (5, 0, 0, 0)),
        ("none     whoever stands\nThe end.", (3, 0, 0, 0)),
        ("Code is no prose: `whoever stands` {that} ``which``.", (7, 0, 0, 0)),
    ],
)
def test_what_is_counted(words: str, counts: tuple[int, ...]) -> None:
    assert prose.count(prose.ProseText(Path(), 1, words)) == counts


def test_plain_texts_pass_in_silence(run) -> None:
    assert run("--check") == (0, "")


@pytest.mark.parametrize("words", [STILTED, LONG])
def test_a_count_above_its_limit_fails_with_its_place(run, tree: Path, words: str) -> None:
    (tree / "localrag" / "b.py").write_text(f'"""A module."""\n\n\n# {PLAIN}\n', encoding="utf-8")
    path = tree / "localrag" / "c.py"
    path.write_text(f'"""A module."""\n\n\ndef f():\n    """{words}"""\n', encoding="utf-8")
    code, out = run("--check")
    assert code == 1
    assert "docstrings: " in out
    assert "above the limit of 0.0" in out
    assert f"{path}:5: " in out


def test_limits_fall_and_never_rise(run, tree: Path) -> None:
    (tree / "README.md").write_text(f"{LONG}\n", encoding="utf-8")
    (tree / "localrag" / "a.py").write_text(f'"""{LONG}"""\n', encoding="utf-8")
    run("--lower")
    limits = (tree / "limits.toml").read_text(encoding="utf-8")
    found = dict(re.findall(r"\[(\w+)\][^\[]*long = ([\d.]+)", limits))
    assert found["docstrings"] == "0.0"
    assert 30 < float(found["documents"]) < 33
    assert run("--check")[0] == 1, "the docstring is above the limit that did not rise"


def test_places_of_named_files_are_shown(run, tree: Path) -> None:
    (tree / "README.md").write_text(f"{PLAIN}\n\n{STILTED}\n", encoding="utf-8")
    code, out = run(str(tree / "README.md"))
    assert code == 0
    assert f"{tree / 'README.md'}:3: 6 stilted, 0 long" in out
    assert "docstrings" not in out
