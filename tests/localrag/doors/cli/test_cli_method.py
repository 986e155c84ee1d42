"""`methods`, and `ask` and `batch` with a method."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat

from localrag.methods.catalogue import NAMES

from ....rows import each

QUESTION = "渡し守の資格として正しいものはどれか。"
OPTIONS = ("渡し舟の操縦に三年以上従事した経験", "渡し舟の操縦に十年以上従事した経験")
CHOOSING = [part for option in OPTIONS for part in ("--option", option)]


def test_every_method_is_listed_with_its_calls(cli: Callable[..., Any]) -> None:
    listed = cli("methods")
    found = {one["name"]: one for one in cli("methods", "--json").json}
    assert tuple(found) == NAMES
    assert all(name in listed.out and one["about"] in listed.out for name, one in found.items())
    calls = {name: (one["calls"], one["most_calls"]) for name, one in found.items()}
    statutes = [calls[name] for name in NAMES if name.startswith("statute-")]
    assert statutes == [(n, n) for n in (4, 1, 1, 2, 1, 0, 11, 11)]
    assert calls["staged"] == (3, 17)
    assert "staged  3 to 17 calls of a model" in listed.out
    to_use, to_reproduce = listed.out.split("To reproduce a paper, or compare\n")
    assert to_use.startswith("To use\n")
    shown = {name: f"\n{name}  " in f"\n{to_use}" for name in NAMES}
    assert shown == {name: one["purpose"] == "use" for name, one in found.items()}
    assert "\nchain  " in f"\n{to_reproduce}"
    assert "extractive  no model; answers if no method and no model is named" in listed.out
    assert "generative  1 to 2 calls of a model; answers if a model is named" in listed.out


def test_a_method_answers_with_an_option(sample: Path, cli: Callable[..., Any]) -> None:
    asked = ["ask", "--method", "statute-lexical", *CHOOSING, QUESTION]
    shown = cli(*asked)
    assert shown.code == 0, shown.err
    assert shown.out.startswith("supported: 1 quotation")
    assert shown.out.split("\n")[1] == f"a {OPTIONS[0]}"
    answer = cli(*asked, "--json").json
    assert (answer["label"], answer["text"], answer["doubt"]) == ("a", OPTIONS[0], None)
    assert all(citation["verified"] for citation in answer["citations"])


def test_a_choice_that_is_not_sure_says_why(sample: Path, cli: Callable[..., Any]) -> None:
    close = ("--option", "救命用具を備える者", "--option", "講習を修了した者")
    shown = cli("ask", "--method", "statute-lexical", *close, QUESTION)
    assert shown.code == 3, shown.out
    assert "unsupported: not sure: the option is right with " in shown.out


def test_the_setting_names_a_method_for_good(sample: Path, cli: Callable[..., Any]) -> None:
    (sample / "localrag.toml").write_text('[method]\nname = "statute-lexical"\n')
    assert cli("ask", *CHOOSING, QUESTION, "--json").json["label"] == "a"
    assert cli("ask", "--method", "", QUESTION, "--json").json["label"] is None


@each(
    ("arguments", "code", "said"),
    [
        (["--method", "statute-lexica", *CHOOSING], 2, "Did you mean statute-lexical?"),
        (["--method", "statute-lexical"], 2, "--option"),
        (["--method", "statute-gold", *CHOOSING], 2, "localrag eval"),
        (["--method", "statute-direct", *CHOOSING], 2, "chat.model"),
        (["--method", "statute-lexical", "--option", "一", "--option", " "], 2, "Option b"),
    ],
)
def test_what_a_method_cannot_answer_is_told(
    sample: Path, cli: Callable[..., Any], arguments: list[str], code: int, said: str
) -> None:
    outcome = cli("ask", *arguments, QUESTION)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err


def test_a_missing_prompt_matters_only_where_queries_are_written(
    sample: Path, cli: Callable[..., Any]
) -> None:
    missing = ("--set", "method.query_prompt=none", "ask", *CHOOSING, QUESTION, "--method")
    assert cli(*missing, "statute-lexical", "--json").json["label"] == "a"
    outcome = cli("--set", "chat.model=any", *missing, "statute-gepa")
    assert outcome.code == 3
    assert "no optimised prompt 'none'" in outcome.err


def test_a_method_with_a_model_says_why_its_choice_is_not_supported(
    sample: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"sentence": 1, "difference": "", "relation": "無関係"}
    reply = json.dumps({"findings": [found]}, ensure_ascii=False)
    scripted = ScriptedChat(reply, reply, context=32_768)
    monkeypatch.setattr("localrag.methods.answering.open_chat", lambda *_: scripted)
    outcome = cli("ask", "--method", "statute-localrag", *CHOOSING, QUESTION, "--json")
    assert outcome.json["status"] == "unsupported"
    assert outcome.json["doubt"] == "the quotations do not decide between the options"
    assert len(outcome.json["calls"]) == 2


def test_a_batch_writes_labels(sample: Path, cli: Callable[..., Any], tmp_path: Path) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    rows = [{"question": QUESTION, "options": OPTIONS}, {"question": QUESTION}]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcome = cli("batch", str(questions), "--method", "statute-lexical", "--out", str(out))
    assert outcome.code == 4, "a question without options is no question for this method"
    answered, failed = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert answered["label"] == "a"
    assert all(stage["passages"] for stage in answered["trace"]["stages"] if stage["hits"])
    assert "--option" in failed["error"]["cure"]
    other = cli("batch", str(questions), "--out", str(out))
    assert other.code == 2
    assert "method was 'statute-lexical' and is not set" in other.err
