"""Files and folders that the account which runs localrag may not read: told, with the right."""

import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("bound_by_modes")


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder that may not be entered, with a file in it."""
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "brief.txt").write_text("民法第七百九条による。")
    folder.chmod(0)
    yield folder
    folder.chmod(0o700)


def test_a_workspace_of_somebody_else(cli: Cli, refused: Callable[..., None], closed: Path) -> None:
    for verb in (["list"], ["ask", "渡し守とは何か。"], ["init"]):
        outcome = cli("--home", str(closed), *verb)
        refused(outcome, 2, "may not read it")
        assert f"{closed} cannot be read (Permission denied)" in outcome.err


def test_a_file_that_may_not_be_read(
    cli: Cli, refused: Callable[..., None], home: Path, tmp_path: Path
) -> None:
    cli("init")
    path = tmp_path / "law.tar"
    with tarfile.open(path, "w"):
        path.chmod(0)
    for verb in (["restore", str(path), "--yes"], ["bundle", "verify", str(path)]):
        refused(cli(*verb), 2, f"{path} cannot be read (Permission denied)")


def test_what_lies_in_a_folder_that_may_not_be_entered(
    cli: Cli, refused: Callable[..., None], home: Path, closed: Path, tmp_path: Path
) -> None:
    cli("init")
    refused(cli("backup", str(closed / "law.tar")), 7, "Permission denied")
    assert cli("backup", str(tmp_path / "law.tar")).code == 0
    elsewhere = str(closed / "home")
    restored = cli("--home", elsewhere, "restore", str(tmp_path / "law.tar"), "--yes")
    refused(restored, 7, "Permission denied")


def test_a_bundle_of_which_a_part_may_not_be_read(
    cli: Cli, refused: Callable[..., None], home: Path, tmp_path: Path
) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "manifest.json").chmod(0)
    outcome = cli("bundle", "verify", str(tmp_path))
    refused(outcome, 7, "manifest.json cannot be read or written (Permission denied)")


@pytest.mark.parametrize("name", ["brief.txt", "準備 書面.txt"])
def test_a_text_to_check_that_may_not_be_read(
    cli: Cli, refused: Callable[..., None], sample: Path, closed: Path, name: str
) -> None:
    refused(cli("check", str(closed / name)), 4, "Permission denied")


def test_whoever_reads_a_shared_workspace(
    cli: Cli, refused: Callable[..., None], home: Path
) -> None:
    cli("init")
    (home / "runs").chmod(0)
    try:
        for verb in (
            ["forget", "--corpus", "main", "--yes"],
            ["forget", "--run", "a.jsonl", "--yes"],
            ["eval", "list"],
        ):
            outcome = cli(*verb)
            refused(outcome, 7, "Let the owner of the workspace")
            assert f"{os.sep}runs" in outcome.err
    finally:
        (home / "runs").chmod(0o700)
