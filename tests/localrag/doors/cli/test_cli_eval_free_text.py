"""``localrag eval`` on questions answered in free text: stages, judge, figures on the screen."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ....rows import each

pytestmark = pytest.mark.usefixtures("undrawn")

Cli = Callable[..., Any]

TRIPLES = [
    ("黒潮レン", "生年月日", "1981年12月24日"),
    ("青凪ハル", "生年月日", "1970年4月2日"),
    ("黒潮レン", "出身地", "渡瀬市"),
]
QUESTIONS = [
    ("comparison", "黒潮レンと青凪ハル、年上なのはどちらですか？", "青凪ハル", TRIPLES[:2]),
    ("comparison", "黒潮レンと青凪ハルで年上なのは黒潮レンですか？", "NO", TRIPLES[:2]),
    ("compositional", "黒潮レンの出身地の市の花は何ですか？", "浜木綿", TRIPLES[2:]),
]
DECLARATION = """
title = "灯台の問い"
source = "nowhere"
licence = "CC0"
reader = "jemhopqa"
measure = "jemhopqa"
corpus = ["triples.jsonl"]
[[splits]]
name = "dev"
file = "dev.json"
"""


@pytest.fixture
def workspace(cli: Cli, home: Path) -> Path:
    assert cli("init").code == 0
    return home


@pytest.fixture
def lights(cli: Cli, workspace: Path, tmp_path: Path) -> str:
    """The name of a dataset in the form of JEMHopQA, brought in with its triples."""
    pytest.importorskip("scipy")
    folder = tmp_path / "lights"
    folder.mkdir()
    rows = [{"subject": s, "predicate": p, "object": [o]} for s, p, o in TRIPLES]
    (folder / "triples.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = [
        {
            "qid": f"q{number}",
            "type": kind,
            "question": question,
            "answer": answer,
            "derivations": [[subject, predicate, [one]] for subject, predicate, one in steps],
            "page_ids": ["1", "2"],
            "time_dependent": False,
        }
        for number, (kind, question, answer, steps) in enumerate(QUESTIONS)
    ]
    (folder / "dev.json").write_text(json.dumps(asked), encoding="utf-8")
    (folder / "lights.toml").write_text(DECLARATION, encoding="utf-8")
    outcome = cli("data", "add", str(folder / "lights.toml"), str(folder))
    assert outcome.code == 0, outcome.err
    return "lights"


def test_without_a_model(cli: Cli, lights: str) -> None:
    outcome = cli("eval", lights, "--method", "staged-symbolic")
    assert outcome.code == 0, outcome.err
    assert "lights dev: 3 questions; 3 asked now" in outcome.out
    figures = next(line for line in outcome.out.splitlines() if "char_f1" in line)
    assert figures.split()[-6:] == ["when", "answered", "TT", "TT", "by", "judge"]
    report = Path(outcome.out.split("report: ")[1].strip()).read_text(encoding="utf-8")
    assert "| staged-symbolic | answer: YES/NO | 1 |" in report
    again = cli("eval", lights, "--method", "staged-symbolic", "--json").json
    assert (again["asked"], again["judge"]) == (0, {})
    measured = again["entries"][0]["measured"]
    assert measured["n"] == 3
    assert measured["verdicts"]["deterministic"]["TT"]["value"] == pytest.approx(2 / 3)
    assert measured["not_found"]["value"] == pytest.approx(1 / 3)
    compared = cli("eval", "compare", again["run"], again["run"])
    assert "nothing changed: staged-symbolic" in compared.out


def test_methods_and_stages_with_commas_between_them(cli: Cli, lights: str) -> None:
    planned = cli(
        "eval", lights, "--method", "staged,staged-symbolic", "--model", "ollama:x",
        "--stages", "1-2, 3", "--stages", "1", "--judge", "ollama:y", "--dry-run", "--json",
    )  # fmt: skip
    assert planned.code == 0, planned.err
    assert [(one["name"], one["left"], one["verdicts"]) for one in planned.json["entries"]] == [
        ("staged 1-2", 3, 3),
        ("staged 3", 3, 3),
        ("staged 1", 3, 3),
        ("staged-symbolic", 3, 3),
    ]
    calls = [(one["calls"], one["most_calls"]) for one in planned.json["entries"]]
    assert calls == [(9, 51), (9, 51), (9, 51), (0, 0)]
    staged = cli("eval", lights, "--method", "staged", "--model", "ollama:x", "--dry-run").out
    assert "9 to 51" in " ".join(staged.split())
    shown = cli(
        "eval", lights, "--method", "staged-symbolic", "--judge", "ollama:y", "--dry-run"
    ).out
    assert "verdicts" in shown


@each(
    ("arguments", "code", "part"),
    [
        (["--method", "staged", "--stages", "4"], 2, "stages '4'"),
        (["--method", "staged", "--model", "ollama:x", "--stages", ""], 2, "stages ''"),
        (["--method", "staged-symbolic", "--stages", "1"], 2, "None of these methods"),
        (["--method", "staged-symbolic", "--judge", "nobody"], 8, "nobody"),
        (["--method", "staged-symbolic", "--orders", "2"], 2, "no options"),
        (["--method", "statute-lexical"], 2, "chooses between options"),
        (["--method", ","], 2, "No methods to evaluate"),
    ],
)
def test_requests_that_make_no_sense(
    cli: Cli, lights: str, arguments: list[str], code: int, part: str
) -> None:
    outcome = cli("eval", lights, *arguments)
    assert outcome.code == code
    assert part in " ".join(outcome.err.split())


def test_synonyms_come_along(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("0,1,0,1,0,0,(),,海,,,,\n", encoding="utf-8")
    declared = DECLARATION.replace("corpus =", 'synonyms = ["words.txt", "more.txt"]\ncorpus =')
    (tmp_path / "lights.toml").write_text(declared, encoding="utf-8")
    outcome = cli("data", "add", str(tmp_path / "lights.toml"), str(tmp_path))
    assert outcome.code == 0, outcome.err
    assert "more.txt" in outcome.err
    assert (workspace / "datasets" / "lights" / "words.txt").is_file()
