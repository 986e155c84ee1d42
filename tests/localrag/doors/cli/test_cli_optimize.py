"""``localrag optimize``: it teaches, it names what is missing, it shows what it made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat, searches

from localrag.evaluation.optimize.leakage import LONGEST, PIECE, SPREAD
from localrag_models.chat import ChatRequest, Reply, ignore, never, overlook

from ....rows import each


class Searcher(ScriptedChat):
    """Writes what it is asked as query, and proposes instructions that help nothing."""

    def chat(
        self,
        request: ChatRequest,
        on_text: Callable[[str], None] = ignore,
        cancelled: Callable[[], bool] = never,
        on_read: Callable[[int, int], None] = overlook,
    ) -> Reply:
        """Reply by what the schema asks for."""
        assert request.schema is not None
        if "searches" in request.schema["properties"]:
            reply = searches("渡し守の資格")
        elif "label" in request.schema["properties"]:
            reply = {"reason": "", "label": "a"}
        else:
            reply = {"analysis": "", "instruction": f"第{len(self.requests)}の工夫をする。"}
        self._replies = [json.dumps(reply, ensure_ascii=False)]
        return super().chat(request, on_text, cancelled, on_read)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    rows = (
        {
            "id": str(number),
            "question": f"{number}番目の問い。資格を定める規定はどれか。",
            "options": ["これ", "あれ"],
            "answer": "a",
            "context": "渡し守の資格は、次の各号のいずれかに該当することとする。",
        }
        for number in range(8)
    )
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Searcher:
    searcher = Searcher(context=100_000)
    monkeypatch.setattr("localrag.methods.answering.open_chat", lambda *_: searcher)
    return searcher


def queries(questions: Path, *more: str) -> list[str]:
    return [
        *("--set", "chat.model=ollama:scripted", "optimize", "queries", str(questions)),
        *("--name", "first", "--corpus", "main", *more),
    ]


def test_without_a_verb_the_help_is_printed(cli: Callable[..., Any]) -> None:
    outcome = cli("optimize")
    assert (outcome.code, outcome.out) == (0, cli("optimize", "--help").out)
    assert "--set method.query_prompt=NAME" in " ".join(outcome.out.split())


def test_the_help_says_what_is_refused(cli: Callable[..., Any]) -> None:
    told = " ".join(cli("optimize", "queries", "--help").out.split())
    ja, en = LONGEST["ja"] + 1, LONGEST["en"] + 1
    assert f"{ja} letters in a row of a Japanese question" in told
    assert f"({en} of an English one)" in told
    assert f"{SPREAD['ja']} ({SPREAD['en']}) of a question" in told
    assert f"pieces of {PIECE['ja']} ({PIECE['en']})" in told


def test_from_questions_to_a_prompt(
    cli: Callable[..., Any], sample: Path, questions: Path, model: Searcher
) -> None:
    assert "no optimised prompt yet" in cli("optimize", "list").out
    outcome = cli(*queries(questions, "--calls", "30"))
    assert outcome.code == 0, outcome.err
    assert "no gain: the built-in instruction stays the best" in outcome.out
    assert "4 validation questions" in outcome.out
    assert "BM25 replaces" in outcome.err
    assert "candidate 0 (the built-in one)" in outcome.err

    again = cli(*queries(questions, "--calls", "30", "--json"))
    assert again.json["candidates"][0]["parent"] is None
    assert "cost nothing again" in again.err
    assert len(model.requests) == again.json["calls"] == 30

    listed = cli("optimize", "list")
    assert "first" in listed.out
    assert "scripted" in listed.out
    shown = cli("optimize", "show", "first")
    assert "objective: overlap" in shown.out
    assert "seen: 8 questions" in shown.out
    score = cli("optimize", "show", "first", "--json").json["provenance"]["seed_score"]
    assert f"seed_score: {score:.3f}\n" in shown.out
    assert "candidate 0" in shown.out
    assert cli("optimize", "show", "first", "--json").json["run"]["gain"] == 0.0


def test_a_prompt_says_what_it_is_wherever_it_is_met(
    cli: Callable[..., Any], sample: Path, questions: Path, model: Searcher
) -> None:
    asked = ["--set", "chat.model=ollama:scripted", "--set", "method.query_prompt=first", "ask"]
    asked += [
        "渡し守の資格は。",
        "--option",
        "これ",
        "--option",
        "あれ",
        "--method",
        "statute-gepa",
        "--json",
    ]
    outcome = cli(*queries(questions, "--calls", "30"))
    assert "Use it" not in outcome.out
    assert "nothing to use" in outcome.out
    assert "no gain" in cli("optimize", "list").out
    assert "found no better one" in cli("optimize", "show", "first").out
    assert cli("optimize", "show", "first", "--json").json["is_seed"] is True
    assert "optimisation found no better one" in cli(*asked).out

    path = sample / "prompts" / "first.toml"
    text = path.read_text(encoding="utf-8").replace("検索文を作る", "検索文を二つ作る")
    path.write_text(text, encoding="utf-8")
    listed = cli("optimize", "list")
    assert "edited by hand" in " ".join(listed.out.split())
    assert cli("optimize", "list", "--json").json[0]["is_edited"] is True
    assert "the scores are not its own" in cli("optimize", "show", "first").out
    assert "was edited by hand" in cli(*asked).out
    refused = cli(*queries(questions, "--calls", "40"))
    assert refused.code == 2
    assert "--restart" in refused.err


def test_a_model_and_the_usual_corpus_for_this_call(
    cli: Callable[..., Any], sample: Path, questions: Path, model: Searcher
) -> None:
    asked = ("optimize", "queries", str(questions), "--name", "mine", "--calls", "30")
    assert "--model, or set chat.model" in cli(*asked).err
    outcome = cli(*asked, "--model", "ollama:scripted")
    assert outcome.code == 0, outcome.err
    assert "questions has no corpus of its own: main is searched" in outcome.err
    assert cli(*asked, "--corpus", "main", "--model", "ollama:other").code == 2


def test_a_run_that_is_not_finished_is_listed(
    cli: Callable[..., Any], sample: Path, questions: Path, model: Searcher
) -> None:
    outcome = cli(*queries(questions, "--calls", "2"))
    assert outcome.code == 2
    assert "do not even score" in outcome.err
    assert cli("optimize", "list", "--json").json == []


@each(
    ("arguments", "code", "part"),
    [
        (["queries", "bogus", "--name", "x"], 3, "no dataset 'bogus'"),
        (["show", "nothing"], 3, "no optimised prompt 'nothing'"),
        (["show", "../x"], 2, "cannot be the name"),
        (["queries", "x", "--name", "x", "--objective", "luck"], 2, "recall"),
    ],
)
def test_what_cannot_be_done_is_told(
    cli: Callable[..., Any], sample: Path, arguments: list[str], code: int, part: str
) -> None:
    outcome = cli("optimize", *arguments)
    assert outcome.code == code
    assert part in outcome.err


def test_without_a_model_the_cure_is_named(
    cli: Callable[..., Any], sample: Path, questions: Path
) -> None:
    outcome = cli("optimize", "queries", str(questions), "--name", "x", "--corpus", "main")
    assert outcome.code == 2
    assert "chat.model" in outcome.err
