"""The way a corpus is searched is chosen by a measurement, and the choice can be undone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.corpus import config
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, NotFoundError, UsageError
from localrag.evaluation import tuning

ACT, ORDER = "599AC0000000001", "599CO0000000002"
GOOD = [
    {"question": "渡し守の資格は何か。", "relevant": ["渡し舟法施行令3条", f"{ACT}#7"]},
    {"question": "渡し舟を運航してはならない水位は何か。", "relevant": [f"{ORDER}#4.1.1"]},
]


def write(path: Path, *records: object) -> Path:
    path.write_text(
        "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write(tmp_path / "questions.jsonl", *GOOD * 6)


def tune(home: Path, questions: Path) -> tuning.Tuning:
    workspace = Workspace.locate(home)
    return tuning.tune(workspace, "main", config.load(workspace), questions)


def test_without_models_there_is_one_way(sample: Path, questions: Path) -> None:
    found = tune(sample, questions)
    assert [trial.name for trial in found.trials] == ["words"]
    assert found.chosen.behind == (0, 0, 0)
    assert found.questions == 12
    assert found.chosen.any_found == found.chosen.all_found == 12
    assert 0.5 < found.chosen.ndcg <= 1


def test_a_relevant_item_counts_for_its_article(sample: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", *[GOOD[1]] * tuning.FEWEST)
    assert tune(sample, path).chosen.any_found == tuning.FEWEST


def test_lines_that_cannot_be_measured_are_named(sample: Path, tmp_path: Path) -> None:
    bad = [
        {"question": "渡し守の資格は何か。"},
        {"question": "渡し守の資格は何か。", "relevant": []},
        {"question": "渡し守の資格は何か。", "relevant": ["渡し舟法99条"]},
        {"question": "。", "relevant": ["渡し舟法8条"]},
        {"question": "資格", "relevant": ["渡し舟法8条"], "options": "a"},
    ]
    found = tune(sample, write(tmp_path / "q.jsonl", *bad, *GOOD * 6))
    assert [unusable.line for unusable in found.unusable] == [1, 2, 3, 4, 5]
    assert "relevant" in found.unusable[0].cause
    assert "99" in found.unusable[2].cause


@pytest.mark.parametrize(
    ("text", "message"), [("", "0 questions"), ("{}\n[]\nx\n", "0 questions.*Line 1")]
)
def test_too_few_questions_are_refused(
    sample: Path, tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        tune(sample, path)


def test_a_missing_file_is_named(sample: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere") as missing:
        tune(sample, Path("nowhere.jsonl"))
    assert missing.value.cure


def test_where_there_was_no_choice_nothing_is_written(
    sample: Path, questions: Path, cli: Callable[..., Any]
) -> None:
    outcome = cli("tune-retrieval", str(questions), "--apply")
    assert outcome.code == 0, outcome.err
    assert "only words were tried" in outcome.out
    place = Workspace.locate(sample).corpus("main")
    assert not place.settings.exists()
    with pytest.raises(UsageError, match="Only words were tried"):
        tuning.apply(place, tune(sample, questions))


def test_the_table_shows_every_way_with_its_interval(
    sample: Path, questions: Path, cli: Callable[..., Any]
) -> None:
    outcome = cli("tune-retrieval", str(questions))
    assert outcome.code == 0
    assert "0.000 [0.000, 0.000]" in outcome.out
    assert "chosen: words" in outcome.out
    assert not Workspace.locate(sample).corpus("main").settings.exists()
