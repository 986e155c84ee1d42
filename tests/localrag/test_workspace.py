import shutil
from pathlib import Path

import pytest

from localrag.corpus.workspace import Workspace
from localrag.errors import StorageError, UsageError, WorkspaceError

from ..rows import each


def test_home_argument_wins_over_environment(tmp_path: Path, home: Path) -> None:
    assert Workspace.locate(tmp_path / "other").home == tmp_path / "other"
    assert Workspace.locate(None).home == home


def test_without_either_it_is_the_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCALRAG_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Workspace.locate().home.is_relative_to(tmp_path)
    assert Workspace.locate().home.name == "localrag"


def test_init_makes_everything_once_and_keeps_settings(home: Path) -> None:
    workspace = Workspace.locate()
    assert workspace.init()
    assert workspace.models.is_dir()
    assert workspace.runs.is_dir()
    workspace.settings.write_text('corpus = "mine"\n')
    assert not workspace.init()
    assert workspace.settings.read_text() == 'corpus = "mine"\n'
    assert workspace.require() is workspace


def test_a_missing_workspace_names_the_command_that_makes_it(home: Path) -> None:
    with pytest.raises(WorkspaceError, match="localrag init"):
        Workspace.locate().require()


def test_a_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="--home"):
        Workspace.locate(tmp_path / "file" / "home").init()


@each(
    "name",
    [
        "",
        ".",
        "..",
        "../evil",
        "a/b",
        "a\\b",
        "/etc",
        ".hidden",
        "-rf",
        "a" * 65,
        "nul",
        "x.",
        "a\n",
    ],
)
def test_names_that_are_paths_or_tricks_are_refused(home: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        Workspace.locate().corpus(name)


@each("name", ["main", "法令", "laws-2025", "v1.2_a", "0"])
def test_ordinary_names_are_taken(home: Path, name: str) -> None:
    paths = Workspace.locate().corpus(name)
    assert paths.store == home / "corpora" / name / "corpus.sqlite"
    assert paths.indexes == home / "indexes" / name


def test_corpora_are_those_with_a_store(home: Path) -> None:
    workspace = Workspace.locate()
    assert workspace.corpora() == []
    for name in ("b", "a"):
        paths = workspace.corpus(name)
        paths.store.parent.mkdir(parents=True)
        paths.store.touch()
    (home / "corpora" / "empty").mkdir()
    assert workspace.corpora() == ["a", "b"]


def test_a_copied_workspace_names_no_place_of_the_original(home: Path, tmp_path: Path) -> None:
    Workspace.locate().init()
    shutil.move(home, tmp_path / "elsewhere")
    moved = Workspace.locate(tmp_path / "elsewhere")
    assert str(home) not in moved.settings.read_text()
    assert moved.require()
