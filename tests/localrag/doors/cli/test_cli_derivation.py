"""`ask` and `batch` show how an answer follows from triples."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag.answer.types import Answer, Citation, Derivation, Stage, Status, Step
from localrag.corpus.types import Triple
from localrag.doors.cli.render import print_blocks
from localrag.page.answer import answer_blocks, label
from localrag.search.types import Trace
from localrag.text.facts import Fact, FactKind

Cli = Callable[..., Any]

METHOD = ("--method", "staged-symbolic")
OLDER = "かわせみ丸とあおさぎ丸では、どちらが先に建造されましたか。"


def test_a_comparison_is_shown_step_by_step_with_its_computation(sample: Path, cli: Cli) -> None:
    shown = cli("ask", *METHOD, OLDER)
    assert shown.code == 0, shown.err
    lines = shown.out.splitlines()
    assert lines[0].startswith("supported: 2 quotations")
    assert lines[1] == "あおさぎ丸"
    assert "1. かわせみ丸、建造年: 2009年 [1] (triples)" in lines
    assert "2. あおさぎ丸、建造年: 1987年 [2] (triples)" in lines
    assert any(line.startswith("=> ") and "1987年 < " in line for line in lines)
    assert "    かわせみ丸の建造年は2009年。" in lines


def test_json_holds_the_derivation(sample: Path, cli: Cli) -> None:
    answer = cli("ask", *METHOD, "かわせみ丸の建造者の出身地はどこですか。", "--json").json
    assert answer["text"] == "白鷺県鷺沼町"
    first, second = answer["derivation"]["steps"]
    assert (first["subject"], first["predicate"]) == ("かわせみ丸", "建造者")
    assert first["triple"]["objects"] == ["柏木ナツ"]
    assert (second["stage"], second["citation"], second["tried"]) == ("knowledge", 2, ["knowledge"])


def test_an_answer_without_steps_has_no_derivation(sample: Path, cli: Cli) -> None:
    assert cli("ask", "かわせみ丸の建造者は誰か。", "--json").json["derivation"] is None


def test_a_batch_writes_the_derivation(sample: Path, tmp_path: Path, cli: Cli) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text(json.dumps({"id": "q", "question": OLDER}) + "\n", encoding="utf-8")
    assert cli("batch", str(questions), "--out", str(out), *METHOD).code == 0
    row = json.loads(out.read_text(encoding="utf-8"))
    assert row["answer"] == "あおさぎ丸"
    assert [step["triple"]["objects"] for step in row["derivation"]["steps"]] == [
        ["2009年"],
        ["1987年"],
    ]
    assert len(row["derivation"]["computed"]) == 1


def test_long_objects_and_quotations_are_cut_on_the_terminal_and_whole_in_json(
    sample: Path, tmp_path: Path, cli: Cli
) -> None:
    value = "長い話" * 40_000
    facts = tmp_path / "facts.tsv"
    facts.write_text(f"青磁塔\t由来\t{value}\n", encoding="utf-8")
    for verb in (("add", str(facts)), ("index",)):
        assert cli(*verb).code == 0
    question = "青磁塔の由来は何ですか。"
    shown = cli("ask", *METHOD, question)
    assert shown.code == 0, shown.out[:500] + shown.err
    assert len(shown.out) < 5_000
    assert shown.out.count("… (120,000 characters in all)") == 2
    assert "… (120,008 characters in all)" in shown.out
    assert cli("ask", *METHOD, question, "--json").json["text"] == value


def test_hits_on_triples_say_what_they_hold(sample: Path, cli: Cli) -> None:
    hits = cli("search", "柏木ナツの生年月日", "--json").json["hits"]
    triple = next(hit["passage"]["triple"] for hit in hits if hit["passage"]["triple"])
    assert triple["subject"] == "柏木ナツ"


def test_what_was_not_found_and_what_is_remembered_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    remembered = Triple("青[bold]磁橋", "設計者", ("佐[/]藤",))
    steps = (
        Step("設計者は", "青磁橋", "設計者", remembered, Stage.MODEL, 0, tuple(Stage)),
        Step("幅は", "青磁橋", "幅", Triple("青磁橋", "幅", ("8m",)), Stage.DOCUMENTS, 1),
        Step("師は", "佐藤", "師", tried=(Stage.KNOWLEDGE, Stage.DOCUMENTS)),
        Step("年は", "Answer3", "生年"),
    )
    rejected = Citation("d#1", "8m", label="橋", problem=Fact(FactKind.OBJECT_NOT_HELD))
    answer = Answer(
        "",
        (rejected,),
        Status.NOT_FOUND,
        Trace(),
        doubts=(Fact(FactKind.FOUND_AT_NO_STAGE, n=3),),
        derivation=Derivation(steps),
    )
    print_blocks(answer_blocks(answer, label))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "not found: query 3 was answered at no stage"
    assert lines[2:6] == [
        "1. 青[bold]磁橋、設計者: 佐[/]藤 (the model alone)",
        "2. 青磁橋、幅: 8m [1 rejected] (documents)",
        "3. 佐藤、師: nothing found (triples, documents)",
        "4. Answer3、生年: nothing found (not asked)",
    ]
    assert "[1] rejected: 橋 (the object is not in the passage)" in lines
