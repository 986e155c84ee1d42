"""The document of results: what enters it, and what stands where nothing was measured."""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest
import results

from localrag.errors import NotFoundError, StorageError, UsageError
from localrag.evaluation import record, report
from localrag.evaluation.types import Evaluation
from localrag.methods.catalogue import NAMES, method

PUBLISHED = "| 42.9 % (n = 140); 49.3 % (n = 560); 54.3 % (n = 560) |"
"""Of statute-direct, in a table."""

Evaluated = Callable[..., Evaluation]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., tuple[str, tuple[str, ...]]]:
    """Write reports, then the document: its text, and what was left out."""

    def write(*runs: Evaluation, others: Collection[str] = ()) -> tuple[str, tuple[str, ...]]:
        folders = [tmp_path / "runs" / str(number) for number in range(len(runs))]
        for run, folder in zip(runs, folders, strict=True):
            report.write(run, folder)
        left_out = results.write(folders, tmp_path / "docs" / "results.md", others)
        return (tmp_path / "docs" / "results.md").read_text(encoding="utf-8"), left_out

    return write


def row(text: str, method: str, dataset: str = "") -> str:
    part = text.partition(f"\n## {dataset}")[2] if dataset else text
    return next(line for line in part.splitlines() if line.startswith(f"| {method} |"))


def test_with_no_run_every_method_has_its_command(
    written: Callable[..., tuple[str, object]],
) -> None:
    text, left_out = written()
    assert left_out == ()
    for name in NAMES:
        datasets = ["lawqa"] if method(name).chooses else ["jemhopqa"]
        if not (method(name).chooses or method(name).derives):
            datasets += ["2wikimultihopqa", "hotpotqa", "musique"]
        if method(name).checks:
            datasets = ["averitec"]
        for dataset in datasets:
            assert "**not measured here**" in row(text, name, dataset)
            assert f"eval {dataset} --method {name}" in row(text, name, dataset)
        assert text.count(f"\n| {name} |") == len(datasets), "only where it can answer"
    assert "--stages 1,2,3,1-2,2-1,1-3,2-3,1-2-3 --judge qwen3-8b" in row(text, "staged")
    assert "`localrag add DUMP --corpus jemhopqa`" in text
    assert row(text, "statute-direct").endswith(PUBLISHED)
    assert "--model" not in row(text, "statute-lexical")
    assert "optimize queries lawqa --split train" in row(text, "statute-gepa")
    assert "--split all" in row(text, "statute-gepa")
    embedder = "--set embedding.model=multilingual-e5-small"
    assert f"`localrag {embedder} eval lawqa --method statute-fixed" in row(text, "statute-fixed")
    assert [embedder in row(text, f"statute-{way}") for way in ("direct", "lexical")] == [False] * 2
    whole = "--set embedding.provisions=whole"
    assert f"`localrag {embedder} {whole} index --corpus lawqa`" in text
    assert "86 documents of the corpus are gold passages" in text


def test_what_was_measured_stands_there(
    evaluated: Evaluated, written: Callable[..., tuple[str, object]]
) -> None:
    run = evaluated(
        n=10, orders=1, entries=[("statute-direct", 1.0), ("statute-gepa", 0.0)], named="lawqa"
    )
    text, _ = written(run)
    assert row(text, "statute-direct") == (
        "| statute-direct | qwen3-8b | train: 10 × 1 | 100.0 % [72.2, 100.0] "
        f"| no embedder: searched by words (BM25); some answers were cut {PUBLISHED}"
    )
    assert "query prompt built in" in row(text, "statute-gepa")
    assert "**not measured here**" in row(text, "statute-lexical")
    assert "| statute-direct, model qwen3-8b, train: 10 × 1 | lexical | 5 |" in text
    assert "Run first, 2026-11-20T10:00:00+00:00: train (sha256 2bc6c223d2a2)" in text


@pytest.mark.parametrize("setting", ["chat.model", "embedding.model", "reranking.model"])
def test_models_that_nobody_knows_never_enter(
    evaluated: Evaluated, written: Callable[..., tuple[str, tuple[str, ...]]], setting: str
) -> None:
    run = evaluated(entries=[("statute-direct", 1.0)], named="lawqa", **{setting: "tiny-random"})
    text, (sentence,) = written(run)
    assert "**not measured here**" in row(text, "statute-direct")
    assert "tiny-random" not in text
    assert f"{setting} 'tiny-random' is not in the catalogue" in sentence
    text, left_out = written(run, others=["tiny-random"])
    assert "**not measured here**" not in row(text, "statute-direct")
    assert left_out == ()


def test_methods_that_nobody_knows_never_enter(
    evaluated: Evaluated, written: Callable[..., tuple[str, tuple[str, ...]]]
) -> None:
    text, (sentence,) = written(evaluated(entries=[("own", 1.0)], named="lawqa"))
    assert "| own |" not in text
    assert "there is no method 'own'" in sentence


def test_the_newest_of_what_is_alike_stands_for_all(
    evaluated: Evaluated, written: Callable[..., tuple[str, tuple[str, ...]]]
) -> None:
    old = evaluated(n=10, orders=1, entries=[("statute-direct", 0.0)], named="lawqa")
    new = replace(
        evaluated(n=10, orders=1, entries=[("statute-direct", 1.0)], named="lawqa", run="second"),
        date="2026-12-01T00:00:00+00:00",
    )
    four = evaluated(n=10, orders=4, entries=[("statute-direct", 1.0)], named="lawqa", run="four")
    text, (sentence,) = written(new, old, four)
    assert sentence == (
        "first: statute-direct is left out, for second has measured the same later."
    )
    lines = [line for line in text.splitlines() if line.startswith("| statute-direct |")]
    assert [line.split(" | ")[2:4] for line in lines] == [
        ["train: 10 × 1", "100.0 % [72.2, 100.0]"],
        ["train: 10 × 4", "100.0 % [72.2, 100.0]"],
    ]


def test_what_was_made_differently_stands_side_by_side(
    evaluated: Evaluated, written: Callable[..., tuple[str, tuple[str, ...]]]
) -> None:
    corpus = {"corpus": "laws", "corpus.stamp": 7, "index.bm25.count": 55884, "chat.seed": 0}
    others: tuple[dict[str, object], ...] = (
        {"corpus": "small", "corpus.stamp": 8, "index.bm25.count": 12},
        {"chat.seed": 1, "code": "other"},
    )
    runs = [
        evaluated(n=10, orders=1, entries=[("statute-fixed", 1.0)], named="lawqa", run=f"r{n}", **m)
        for n, m in enumerate(({**corpus, **other} for other in ({}, *others)), 1)
    ]
    text, left_out = written(*runs)
    assert left_out == ()
    lines = [line for line in text.splitlines() if line.startswith("| statute-fixed |")]
    assert len(lines) == 3
    assert "corpus laws, 55,884 passages, stamp 7;" in lines[0]
    assert "corpus small, 12 passages, stamp 8;" in lines[1]
    assert "chat.seed 1; code other" in lines[2]
    assert "chat.seed 0; code not set" in lines[0]
    assert "statute-fixed, model qwen3-8b, train: 10 × 1, run r2 | lexical" in text


def test_questions_that_no_split_declares_never_enter(
    evaluated: Evaluated, written: Callable[..., tuple[str, tuple[str, ...]]]
) -> None:
    run = evaluated(entries=[("statute-direct", 1.0)], named="lawqa")
    own = replace(run, id="own", questions=replace(run.questions, own=True))
    other = replace(run, id="other", questions=replace(run.questions, sha256="cd" * 32))
    text, left_out = written(own, other)
    assert "**not measured here**" in row(text, "statute-direct")
    assert ["a user's own" in left_out[0], "of no split" in left_out[1]] == [True, True]


def test_what_the_corpus_lacks_is_a_condition(
    evaluated: Evaluated, written: Callable[..., tuple[str, object]]
) -> None:
    run = evaluated(entries=[("statute-fixed", 1.0)], named="lawqa", corpus="laws")
    lacking = {one.id: one.gold for one in run.questions.questions[:4] if one.gold}
    text, _ = written(replace(run, lacking=lacking))
    assert "the corpus lacks every gold provision of 2 questions" in row(text, "statute-fixed")


def test_a_run_that_is_not_finished_never_enters(evaluated: Evaluated, tmp_path: Path) -> None:
    report.write(evaluated(), tmp_path)
    record.write(tmp_path, record.Run("ferries", "train", "", 1, 1, "main", "", "now", ()))
    with pytest.raises(UsageError, match="is not finished"):
        results.write([tmp_path], tmp_path / "results.md")


def test_a_dataset_of_a_user_has_a_section_of_what_was_measured(
    evaluated: Evaluated, written: Callable[..., tuple[str, object]]
) -> None:
    text, _ = written(evaluated(entries=[("statute-direct", 1.0)]))
    section = text.partition("## ferries")[2].partition("\n## ")[0]
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
