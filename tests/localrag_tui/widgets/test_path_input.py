"""Paths as they are typed: what is suggested, what is read from them."""

from pathlib import Path

import pytest

from localrag_tui.shell.form import as_path, completed

from ...rows import each


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "egov").mkdir()
    (tmp_path / "epilogue.md").write_text("x")
    (tmp_path / "渡し舟 法.xml").write_text("x")
    (tmp_path / "x\x1b[2J").write_text("x")
    return tmp_path


def test_the_first_that_fits_is_suggested_a_folder_with_its_slash(folder: Path):
    assert completed(f"{folder}/e") == f"{folder}/egov/"
    assert completed(f"{folder}/ep") == f"{folder}/epilogue.md"
    assert completed(f"{folder}/渡") == f"{folder}/渡し舟 法.xml"


@each("typed", ["", "e", "/nowhere/at/all", "/etc\0/x", "x" * 50_000, "~who/x"])
def test_nothing_is_suggested_where_nothing_fits(typed: str):
    assert completed(typed) is None


def test_a_name_that_acts_on_a_terminal_is_not_suggested(folder: Path):
    assert completed(f"{folder}/x") is None


def test_the_home_is_suggested_as_it_was_typed(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(folder))
    assert completed("~/eg") == "~/egov/"
    assert as_path("~/egov") == folder / "egov"


@each("typed", ["'/a b/c'", '"/a b/c"', "  /a b/c  "])
def test_quotation_marks_of_a_pasted_path_are_dropped(typed: str):
    assert as_path(typed) == Path("/a b/c")
