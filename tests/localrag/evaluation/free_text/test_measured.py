"""Answers in free text: what is measured, in which stages, and what the report says of it."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import results

from localrag.errors import UsageError
from localrag.evaluation import report
from localrag.evaluation.comparison import compare, markdown
from localrag.evaluation.record import evaluation_of
from localrag.evaluation.report.measured import answers_of, measured
from localrag.evaluation.runner import Finished
from localrag.evaluation.types import DETERMINISTIC, Result

NEW = {"measures", "verdicts", "status", "searches", "unsought", "unjudged", "judging"}


def by_question(finished: Finished, entry: int = 0) -> Mapping[str, Result]:
    return {one.question: one for one in finished.evaluation.entries[entry].results}


def rows(text: str, section: str) -> list[list[str]]:
    body = text.split(f"## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in body.splitlines() if line.startswith("|") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_each_answer_is_measured(bench: Any) -> None:
    found = by_question(bench.run())
    verdicts = {question: one.verdicts[DETERMINISTIC] for question, one in found.items()}
    assert verdicts == {"lighthouse": "TT", "workshop": "TT", "directors": "TF", "grave": "N/A"}
    assert [one.score for one in found.values()] == [1, 1, 1, 0]
    # That of the directors is the model's conclusion, which nothing computes.
    statuses = ["supported", "supported", "unsupported", "not_found"]
    assert [one.status for one in found.values()] == statuses
    assert {one.measures["char_f1"] for one in found.values()} == {0, 1}
    assert not any(one.recall for one in found.values()), "there are no gold places"


def test_every_order_of_stages_is_an_entry(bench: Any) -> None:
    finished = bench.run(stages=("1-2", "1", "2-1", "1"))
    entries = finished.evaluation.entries
    assert [one.name for one in entries] == ["staged 1-2", "staged 1", "staged 2-1"]
    assert [one.made_with["method.stages"] for one in entries] == ["1-2", "1", "2-1"]
    assert [by_question(finished, n)["workshop"].status for n in range(2)] == [
        "supported",
        "not_found",
    ]
    alone = bench.run(stages=("1",))
    assert (alone.asked, alone.evaluation.entries[0].name) == (0, "staged")
    assert [one.name for one in bench.plan(stages=("1",), models=("tiny", "ollama:x")).setups] == [
        "staged (tiny)",
        "staged (ollama:x)",
    ]


@pytest.mark.parametrize(
    ("methods", "stages", "message"),
    [
        (("staged",), ("1-4",), "no order of stages '1-4'"),
        (("staged",), ("",), "no order of stages ''"),
        (("staged", "statute-direct"), (), "chooses between options, and the questions have none"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    bench: Any, methods: tuple[str, ...], stages: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        bench.plan(*methods, stages=stages)


def test_the_report_has_what_belongs_to_free_text_alone(bench: Any) -> None:
    finished = bench.run(stages=("1-2", "1"))
    text = (finished.folder / report.MARKDOWN).read_text(encoding="utf-8")
    measures = rows(text, "Measures")
    assert measures[0][:5] == ["entry", "questions", "n", "em", "char_f1"]
    every, *apart = measures[1:6]
    assert every[:3] == ["staged 1-2", "all", "4"]
    assert [row[1:3] for row in apart] == [
        ["type: comparison", "1"],
        ["type: compositional", "3"],
        ["answer: YES/NO", "1"],
        ["answer: other", "3"],
    ]
    assert measures[0][-3:] == ["not found", "quoted", "when answered"]
    assert every[-3] == "25.0 % [4.6, 69.9]"
    assert every[-2].startswith("0.0 %")
    assert every[-1] == "100.0 % [43.9, 100.0]"
    for name in ("em", "char_f1"):
        assert f"\n- {name}: " in text
    verdicts = rows(text, "Verdicts")
    assert verdicts[0] == ["entry", "questions", "by", "n", "TT", "TF", "FT", "FF", "N/A"]
    assert [cell.split(" ")[0] for cell in verdicts[1][4:]] == [
        "50.0",
        "25.0",
        "0.0",
        "0.0",
        "25.0",
    ]
    assert "No judge was named" in text
    searched = rows(text, "Search success")
    assert searched[1][:4] == ["staged 1-2", "all", "knowledge", "7"]
    for absent in ("Order of the options", "Why answers are wrong", "rotation", "with the options"):
        assert absent not in text
    assert "Stage 2" not in text
    assert str(finished.evaluation.measured_with[0]).split()[0] in text


def test_quotations_that_promise_no_answer_are_counted_apart(bench: Any) -> None:
    (answers,) = answers_of(bench.run().evaluation)
    quoted = {
        question: (replace(*some, status="quoted"),) if question == "workshop" else some
        for question, some in answers.by_question.items()
    }
    before, after = measured(answers), measured(replace(answers, by_question=quoted))
    assert before
    assert after
    assert before.answered
    assert after.answered
    assert (before.quoted.value, before.answered.n) == (0, 3)
    assert (after.quoted.value, after.answered.n) == (0.25, 2)
    assert after.not_found == before.not_found


def test_what_is_measured_is_read_back(bench: Any) -> None:
    finished = bench.run()
    read = evaluation_of(finished.folder)
    assert read == finished.evaluation
    assert read.entries[0].results[1].searches == finished.evaluation.entries[0].results[1].searches


def test_a_report_of_before_is_read(bench: Any) -> None:
    finished = bench.run()
    path = finished.folder / report.JSON
    value = json.loads(path.read_text(encoding="utf-8"))
    for name in ("judge", "measured_with"):
        del value["evaluation"][name]
    for result in value["evaluation"]["entries"][0]["results"]:
        for name in NEW:
            del result[name]
    del value["evaluation"]["questions"]["dataset"]["measure"]
    path.write_text(json.dumps(value), encoding="utf-8")
    (entry,) = report.load(finished.folder).entries
    defaults = {one.name for one in fields(Result) if not getattr(entry.results[0], one.name)}
    assert defaults >= {"measures", "verdicts", "status", "searches"}
    report.write(report.load(finished.folder), finished.folder)
    text = (finished.folder / report.MARKDOWN).read_text(encoding="utf-8")
    assert "## Measures" not in text


def test_runs_are_compared_by_their_measures(bench: Any) -> None:
    first, second = (bench.run(stages=(order,)).evaluation for order in ("1-2", "1"))
    (compared,) = compare(first, second).entries
    assert compared.lost == ["workshop"]
    before, after = compared.measured["TT (deterministic)"]
    assert before
    assert after
    assert (before.value, after.value) == (0.5, 0.25)
    assert "| TT (deterministic) | 50.0 %" in markdown(compare(first, second))
    (same,) = compare(first, first).entries
    assert not same.changed


def test_the_document_of_results_names_the_stages(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = bench.run(stages=("1-2", "1"))
    monkeypatch.setattr(results, "catalogue", lambda: {"tiny": None})
    assert results.write([finished.folder], tmp_path / "results.md") == ()
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    section = text[text.index("## lights") :]
    for order in ("1-2", "1"):
        assert f"\n| staged {order} | tiny" in section
        assert f"| staged {order}, model tiny" in section
    assert "### Verdicts" in section
