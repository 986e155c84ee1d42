"""Whatever is wrong is told in Japanese to who reads Japanese: its cause and its cure."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Words of English in a row; commands to copy, paths and names of files are none. Neither are the
# reasons in parentheses, which systems and libraries give.
_ENGLISH = re.compile(r"\b[A-Za-z][a-z']+(?: [a-z']+){2,}")
_OTHER = re.compile(
    r"localrag [^。）]*|--[\w-]+|[\w./-]*/[\w./-]+|'[^']*'|「[^」]*」|\(.*\)|（.*）"
    r"|壊れています: .*"
)


def told(text: str) -> list[str]:
    """What stands in English in a message."""
    return _ENGLISH.findall(_OTHER.sub(" ", text))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ask", ""], 2),
        (["ask", "\udcff"], 2),
        (["ask", "--method", "nothing", "渡し舟"], 2),
        (["ask", "--method", "statute-lexical", "渡し舟"], 2),
        (["ask", "--method", "generative", "渡し舟"], 2),
        (["ask", "会社法の取締役の任期"], 3),
        (["ask", "所得税の確定申告の期限はいつか。"], 3),
        (["search", "渡し舟", "--law", "民法"], 3),
        (["search", "渡し舟", "--type", "Rule"], 3),
        (["search", "渡し舟", "--layer", "none"], 2),
        (["search", "渡し舟", "--from", "yesterday"], 2),
        (["search", "渡し舟", "-c", "none"], 3),
        (["search", "渡し舟", "-c", "../x"], 2),
        (["search", "渡し舟", "--dense"], 2),
        (["show", "渡し舟法99条"], 3),
        (["show", "民法709条"], 3),
        (["show", "x"], 3),
        (["add"], 2),
        (["add", "nothing.xml"], 3),
        (["add", "bad.xml", "bad.jsonl", "bad.pdf", "bad.docx", "bad.zip", "bad.tsv"], 4),
        (["remove"], 2),
        (["remove", "nothing"], 3),
        (["remove", "--all"], 2),
        (["batch", "nothing.jsonl", "--out", "x"], 3),
        (["batch", "bad.jsonl"], 2),
        (["batch", "bad.jsonl", "--out", "x"], 4),
        (["data", "show", "nothing"], 3),
        (["data", "add", "lawqa", "nothing"], 3),
        (["eval", "nothing", "--method", "all"], 3),
        (["eval", "compare", "x", "y"], 3),
        (["eval", "lawqa", "--method", "statute-lexical"], 3),
        (["optimize", "show", "nothing"], 3),
        (["optimize", "queries", "lawqa", "--name", "x"], 3),
        (["models", "verify", "nothing"], 8),
        (["models", "remove", "nothing"], 8),
        (["models", "add", "nothing.gguf"], 8),
        (["models", "add", "bad.gguf"], 8),
        (["models", "import", "bad.tar"], 8),
        (["tune-retrieval", "nothing.jsonl"], 3),
        (["tune-retrieval", "bad.jsonl"], 4),
        (["config", "nothing"], 2),
        (["--set", "nothing=1", "config"], 5),
        (["--set", "retrieval.k=x", "search", "渡し舟"], 5),
        (["--set", "chat.model=nothing", "ask", "渡し舟"], 8),
        (["--set", "embedding.model=nothing", "index"], 8),
        (["tui"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_wrong_is_told_in_japanese(
    cli: Callable[..., Any],
    sample: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    monkeypatch.chdir(tmp_path)
    for name in ("xml", "jsonl", "pdf", "docx", "zip", "tsv", "gguf", "tar"):
        Path(f"bad.{name}").write_bytes(b"nothing of the kind\n")
    outcome = cli(*arguments)
    assert outcome.code == code, outcome.err
    assert told(outcome.err) == []
    assert re.search("[ぁ-ん]", outcome.err + outcome.out)


@pytest.mark.parametrize("damage", ["no workspace", "store", "index", "settings"])
def test_what_is_damaged_is_told_in_japanese(
    cli: Callable[..., Any], sample: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    match damage:
        case "no workspace":
            shutil.rmtree(sample)
        case "store":
            (sample / "corpora" / "main" / "corpus.sqlite").write_bytes(b"x" * 5000)
        case "index":
            shutil.rmtree(sample / "indexes")
        case "settings":
            (sample / "localrag.toml").write_text("[")
    for verb in (["search", "渡し舟"], ["ask", "渡し舟"], ["doctor"], ["list"]):
        outcome = cli(*verb)
        assert told(outcome.err) == [], verb
    assert re.search("[ぁ-ん]", outcome.err + outcome.out)
