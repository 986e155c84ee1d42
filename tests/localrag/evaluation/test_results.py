"""The document of results: what enters it, and what stands where nothing was measured."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from localrag.errors import NotFoundError, StorageError
from localrag.evaluation import report, results
from localrag.evaluation.model import Evaluation
from localrag.methods.catalogue import NAMES

Evaluated = Callable[..., Evaluation]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., tuple[str, tuple[str, ...]]]:
    """Write reports, then the document: its text, and what was left out."""

    def write(*runs: Evaluation) -> tuple[str, tuple[str, ...]]:
        folders = [tmp_path / "runs" / str(number) for number in range(len(runs))]
        for run, folder in zip(runs, folders, strict=True):
            report.write(run, folder)
        left_out = results.write(folders, tmp_path / "docs" / "results.md")
        return (tmp_path / "docs" / "results.md").read_text(encoding="utf-8"), left_out

    return write


def row(text: str, method: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"| {method} |"))


def test_with_no_run_every_method_has_its_command(
    written: Callable[..., tuple[str, object]],
) -> None:
    text, left_out = written()
    assert left_out == ()
    for name in NAMES:
        assert "**not measured here**" in row(text, name)
        assert f"eval lawqa --method {name}" in row(text, name)
    assert row(text, "statute-direct").endswith("| 52.5 % (n = 40); 42.9 % (n = 140) |")
    assert "--model" not in row(text, "statute-lexical")
    assert "optimize queries lawqa" in row(text, "statute-gepa")


def test_what_was_measured_stands_there(
    evaluated: Evaluated, written: Callable[..., tuple[str, object]]
) -> None:
    run = evaluated(
        n=10, orders=1, entries=[("statute-direct", 1.0), ("statute-gepa", 0.0)], named="lawqa"
    )
    text, _ = written(run)
    assert row(text, "statute-direct") == (
        "| statute-direct | qwen3-8b | train: 10 × 1 | 100.0 % [72.2, 100.0] "
        "| no embedder: BM25 stands in for search by meaning; some answers were cut "
        "| 52.5 % (n = 40); 42.9 % (n = 140) |"
    )
    assert "query prompt built in" in row(text, "statute-gepa")
    assert "**not measured here**" in row(text, "statute-lexical")
    assert "| statute-direct, model qwen3-8b, train: 10 × 1 | lexical | 5 |" in text
    assert "Run first, 2026-11-20T10:00:00+00:00: train (sha256 abababababab)" in text


@pytest.mark.parametrize("setting", ["chat.model", "embedding.model", "reranking.model"])
def test_models_that_nobody_knows_never_enter(
    evaluated: Evaluated, written: Callable[..., tuple[str, tuple[str, ...]]], setting: str
) -> None:
    run = evaluated(entries=[("statute-direct", 1.0)], named="lawqa", **{setting: "tiny-random"})
    text, (sentence,) = written(run)
    assert "**not measured here**" in row(text, "statute-direct")
    assert "tiny-random" not in text
    assert f"{setting} 'tiny-random' is not in the catalogue" in sentence


def test_methods_that_nobody_knows_never_enter(
    evaluated: Evaluated, written: Callable[..., tuple[str, tuple[str, ...]]]
) -> None:
    text, (sentence,) = written(evaluated(entries=[("own", 1.0)], named="lawqa"))
    assert "| own |" not in text
    assert "there is no method 'own'" in sentence


def test_the_newest_of_what_is_alike_stands_for_all(
    evaluated: Evaluated, written: Callable[..., tuple[str, object]]
) -> None:
    old = evaluated(n=10, orders=1, entries=[("statute-direct", 0.0)], named="lawqa")
    new = replace(
        evaluated(n=10, orders=1, entries=[("statute-direct", 1.0)], named="lawqa", run="second"),
        date="2026-12-01T00:00:00+00:00",
    )
    four = evaluated(n=10, orders=4, entries=[("statute-direct", 1.0)], named="lawqa", run="four")
    text, _ = written(new, old, four)
    lines = [line for line in text.splitlines() if line.startswith("| statute-direct |")]
    assert [line.split(" | ")[2:4] for line in lines] == [
        ["train: 10 × 1", "100.0 % [72.2, 100.0]"],
        ["train: 10 × 4", "100.0 % [72.2, 100.0]"],
    ]


def test_a_dataset_of_a_user_has_a_section_of_what_was_measured(
    evaluated: Evaluated, written: Callable[..., tuple[str, object]]
) -> None:
    text, _ = written(evaluated(entries=[("statute-direct", 1.0)]))
    section = text[text.index("## ferries") :]
    assert "| statute-direct | qwen3-8b |" in section
    assert "not measured here" not in section


def test_a_folder_without_a_report(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="holds no report"):
        results.write([tmp_path], tmp_path / "results.md")
    assert not (tmp_path / "results.md").exists()


def test_a_document_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "docs").write_text("a file")
    with pytest.raises(StorageError, match="cannot be written"):
        results.write([], tmp_path / "docs" / "results.md")
