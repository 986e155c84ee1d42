"""Several files checked by one command."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Cli = Callable[..., Any]


def test_each_of_several_files_is_checked(cli: Cli, sample: Path, tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.txt", tmp_path / "wrong.txt"
    right.write_text("渡し舟法第8条による。", encoding="utf-8")
    wrong.write_text("渡し舟法第99条による。", encoding="utf-8")
    outcome = cli("check", str(right), str(wrong))
    assert outcome.code == 3
    assert outcome.out.index("right.txt") < outcome.out.index("wrong.txt")
    reports = cli("check", str(right), str(wrong), "--json").json
    assert len(reports) == 2


def test_a_file_that_is_lacking_among_others_is_named(
    cli: Cli, sample: Path, tmp_path: Path
) -> None:
    (tmp_path / "right.txt").write_text("渡し舟法第8条による。", encoding="utf-8")
    outcome = cli("check", str(tmp_path / "right.txt"), str(tmp_path / "lacking.docx"))
    assert outcome.code == 2
    assert "lacking.docx" in outcome.err
