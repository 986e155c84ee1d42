"""`ask` with a model: in this process, and behind a server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_models.scripted import ScriptedChat, searches
from tiny_models.servers import Answer, End, OllamaDouble

from localrag_models.store import ModelStore

QUESTION = "渡し舟を運航してはならない水位の基準は何か。"
CLAIM = "平常時の水位に1.5メートルを加えた高さである。"


def reply(*claims: str, sentence: int = 1) -> str:
    """A reply that makes claims of a sentence, by its number."""
    made = [{"sentences": [sentence], "text": claim} for claim in claims]
    return json.dumps({"claims": made}, ensure_ascii=False)


@pytest.fixture
def installed(sample: Path, tiny_chat: Path) -> tuple[str, ...]:
    """A workspace with the tiny model, and the options that use it."""
    ModelStore(sample / "models").add(tiny_chat, name="tiny")
    settings = {
        "chat.model": "tiny",
        "chat.max_tokens": "400",
        "retrieval.k": "2",
        "runtime.threads": "1",
    }
    return tuple(part for key, value in settings.items() for part in ("--set", f"{key}={value}"))


def test_a_real_model_answers_or_says_that_it_cannot(
    installed: tuple[str, ...], cli: Callable[..., Any]
) -> None:
    outcome = cli(*installed, "ask", QUESTION, "--json")
    if outcome.code == 8:  # Random weights may talk until the limit of tokens.
        assert "cut short" in outcome.err
        return
    assert outcome.code in (0, 3)
    *_, call = outcome.json["calls"]
    assert call["model"].startswith("tiny@")
    assert call["prompt"] > 100
    assert call["completion"] > 0
    assert outcome.json["trace"][-1]["stage"] == "evidence"


def test_a_model_can_be_left_out(installed: tuple[str, ...], cli: Callable[..., Any]) -> None:
    outcome = cli(*installed, "ask", QUESTION, "--no-model", "--json")
    assert outcome.code == 0
    assert outcome.json["calls"] == outcome.json["claims"] == []


def test_a_context_too_small_is_an_error_with_a_cure(
    installed: tuple[str, ...], cli: Callable[..., Any]
) -> None:
    outcome = cli(*installed, "--set", "chat.context=512", "ask", QUESTION)
    assert outcome.code == 8
    assert "chat.context" in outcome.err


def test_a_model_that_is_not_installed(sample: Path, cli: Callable[..., Any]) -> None:
    outcome = cli("--set", "chat.model=qwen3-8b", "ask", QUESTION)
    assert outcome.code == 8
    assert "localrag models pull qwen3-8b" in outcome.err


def test_a_truncated_model_is_no_crash(
    installed: tuple[str, ...], sample: Path, shell: Callable[..., Any]
) -> None:
    (file,) = (sample / "models" / "tiny").glob("*.gguf")
    file.write_bytes(file.read_bytes()[:-1000])
    outcome = shell(*installed, "ask", QUESTION)
    assert outcome.code == 8
    assert "tiny" in outcome.err


@pytest.fixture
def served(sample: Path, loopback: None) -> Iterator[Callable[..., tuple[str, ...]]]:
    """Starts a server that gives these replies, and returns the options that use it."""
    doubles: list[OllamaDouble] = []

    def serve(*replies: str | Answer) -> tuple[str, ...]:
        # The first request is for a sample, to see how many tokens it takes.
        scripted = ScriptedChat("yes", *(one for one in replies if isinstance(one, str)))
        double = OllamaDouble(scripted, context=32_768)
        doubles.append(double)
        for one in replies:
            if isinstance(one, Answer):
                double.instead("/api/chat", one)
        return (
            "--set",
            "chat.model=ollama:tiny",
            "--set",
            f"chat.server={double.address}",
            "--set",
            "chat.context=32768",
            "--set",
            "chat.write_searches=false",
        )

    yield serve
    for double in doubles:
        double.close()


def test_claims_are_printed_with_the_sentences_that_carry_them(
    served: Callable[..., tuple[str, ...]], cli: Callable[..., Any]
) -> None:
    # Of the two orders the model names the number of one; what carries the claim is code's to find.
    outcome = cli(*served(reply(CLAIM)), "ask", QUESTION)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("supported: every claim is in ")
    assert f"{CLAIM} [1]" in outcome.out
    assert "  in force from 2026-04-01\n" in outcome.out
    assert "rejected" not in outcome.out


def test_a_thought_is_shown_folded_and_never_quoted(
    served: Callable[..., tuple[str, ...]], cli: Callable[..., Any], sample: Path
) -> None:
    """The server's model thinks although it should not: a note says so."""
    thought = "水位の基準を" + "よく考える。" * 300
    thinking = f"<think>\n{thought}\n</think>\n\n{reply(CLAIM)}"
    options = served(thinking, "yes", thinking)
    shown = cli(*options, "ask", QUESTION, "--explain")
    assert shown.code == 0, shown.err
    assert "thought (" in shown.out
    assert "水位の基準をよく考える。" in "".join(shown.out.split())
    assert "よく考える。" * 300 not in "".join(shown.out.split())
    assert "cannot be stopped from thinking" in " ".join(shown.err.split())
    told = cli(*options, "ask", QUESTION, "--json").json
    *_, call = told["calls"]
    assert call["thinking"] == thought
    assert 0 < call["thought"] < call["completion"]
    assert "cannot be stopped" in call["notes"][0]
    assert thought not in json.dumps([told["claims"], told["text"]], ensure_ascii=False)
    assert (sample / "servers.json").is_file()


def test_searches_that_the_model_writes_are_told(
    served: Callable[..., tuple[str, ...]], cli: Callable[..., Any]
) -> None:
    written = json.dumps(searches("渡し守の資格"), ensure_ascii=False)
    rewriting = (*served(written), "--set", "chat.write_searches=true")
    found = cli(*rewriting, "search", "--rewrite", QUESTION)
    assert found.code == 0, found.err
    assert "also searched, in the model's words: 渡し守の資格" in " ".join(found.err.split())
    without = cli("search", "--rewrite", QUESTION)
    assert (without.code, "--rewrite" in without.err) == (2, True)


def test_where_the_model_finds_nothing_it_claims_nothing(
    served: Callable[..., tuple[str, ...]], cli: Callable[..., Any]
) -> None:
    outcome = cli(*served(reply()), "ask", QUESTION, "--json")
    assert outcome.json["claims"] == []
    assert outcome.json["status"] in ("quoted", "not_found")
    assert outcome.code == (0 if outcome.json["citations"] else 3)


def test_a_server_that_dies_is_an_error_with_a_cure(
    served: Callable[..., tuple[str, ...]], cli: Callable[..., Any]
) -> None:
    piece = b'{"message": {"content": "{"}, "done": false}\n'
    outcome = cli(*served(Answer([piece], end=End.DIES)), "ask", QUESTION)
    assert outcome.code == 8
    assert outcome.out == ""
    assert "Ollama" in outcome.err


def test_nobody_at_the_address(sample: Path, loopback: None, cli: Callable[..., Any]) -> None:
    outcome = cli(
        "--set", "chat.model=ollama:x", "--set", "chat.server=http://127.0.0.1:9", "ask", QUESTION
    )
    assert outcome.code == 8
    assert "ollama serve" in outcome.err


def test_a_server_needs_its_address(sample: Path, cli: Callable[..., Any]) -> None:
    outcome = cli("--set", "chat.model=openai:x", "ask", QUESTION)
    assert outcome.code == 8
    assert "chat.server" in outcome.err
