"""Whoever reads Japanese is told everything in Japanese: what was done, what is wrong, its cure."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import localrag
from localrag import language
from localrag.answer import wording

from .test_bad_files import BAD_FILES

# Words of English in a row; commands to copy, paths and names of files are none. Neither are the
# reasons in parentheses, which systems and libraries give.
_ENGLISH = re.compile(r"\b[A-Za-z][a-z']+(?: [a-z']+){2,}")
_OTHER = re.compile(
    r"localrag [^。）]*|--[\w-]+|[\w./-]*/[\w./-]+|'[^']*'|「[^」]*」|\(.*\)|（.*）"
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
        (["--set", "nothing=1", "config"], 2),
        (["--set", "retrieval.k=x", "search", "渡し舟"], 2),
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


@pytest.mark.parametrize(
    ("name", "data"), [(one[0], one[1]) for one in BAD_FILES.values()], ids=list(BAD_FILES)
)
def test_words_of_libraries_are_in_brackets_after_ours(
    cli: Callable[..., Any],
    sample: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    data: bytes,
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    (tmp_path / name).write_bytes(data)
    for verb in ("add", "check"):
        shown = cli(verb, str(tmp_path / name)).err
        assert told(shown) == []
        assert "(PDFium" not in shown


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


# A word of English by itself: no part of a path, an option, a setting or the name of a model.
_WORD = re.compile(r"(?<![\w./:@#`'\"=+-])[A-Za-z]{2,}(?![\w./:@#`'\"=+-])")
_COMMAND = re.compile(r"localrag [^。）]*|https?://\S+|--[\w-]+")
# What Japanese calls by the same name, and what is typed as it is shown.
_NAMES = """
localrag lawqa main train all staged extractive generative law id ID JSON CSV GPU MB GB kB ms
CC BY SA RIKEN PDL Apache Meta Llama Community License MIT SHA GEPA RAG JEMHopQA python sqlite
tantivy docs dense eval hub optimize ja en auto off none scores true false openings dark corpus
language fusion naive Naive decon chain chunks ranks tui BM TT InputError relevant choices AVeriTeC
owner group everyone NC mcp serve office ocr laws PEM TLS CPU API pytorch Google Gemma Terms of Use
small yes no watch low medium high
"""


def words(text: str) -> set[str]:
    """The words of English in what a verb prints."""
    return set(_WORD.findall(_COMMAND.sub(" ", text))) - set(_NAMES.split())


def test_what_verbs_print_is_in_japanese(
    cli: Callable[..., Any], sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    monkeypatch.chdir(tmp_path)
    questions = [
        {"question": f"渡し守の資格は何か{'。' * n}", "relevant": ["渡し舟法施行令3条"]}
        for n in range(12)
    ]
    Path("q.jsonl").write_text("\n".join(json.dumps(row) for row in questions))
    Path("choices.jsonl").write_text(
        json.dumps(
            {
                "question": "渡し守の資格は何か",
                "options": ["経験", "登録"],
                "answer": "a",
                "id": "1",
            }
        )
    )
    question = "渡し舟を運航してはならない水位の基準は何か。"
    found = {}
    for verb in (
        ["init"],
        ["list"],
        ["list", "main", "--kind", "law"],
        ["search", "渡し守の資格", "--law", "渡し舟法", "--explain"],
        ["ask", question, "--explain"],
        ["ask", "--after", question, "その罰則は"],
        ["ask", "--method", "statute-lexical", "--option", "経験", "--option", "登録", question],
        ["ask", "--method", "staged-symbolic", "かわせみ丸の建造年はいつですか。"],
        ["show", "渡し舟法8条"],
        ["show", "かわせみ丸"],
        ["batch", "q.jsonl", "--dry-run"],
        ["batch", "q.jsonl", "--out", "answers.jsonl"],
        ["tune-retrieval", "q.jsonl"],
        ["eval", "choices.jsonl", "--method", "statute-lexical", "--dry-run"],
        ["eval", "choices.jsonl", "--method", "statute-lexical", "--run", "one"],
        ["eval", "list"],
        ["methods"],
        ["data", "list"],
        ["data", "show", "lawqa"],
        ["optimize", "list"],
        ["models", "list"],
        ["config"],
        ["doctor"],
        ["add", "--sample"],
        ["index", "--rebuild"],
        ["remove", "pages/kite-mail.md"],
        ["list"],
        ["doctor"],
        ["search", "渡し守の資格", "-k", "1"],
    ):
        outcome = cli(*verb)
        assert outcome.code in (0, 3), outcome.err
        if english := words(outcome.out + outcome.err):
            found[" ".join(verb)] = english
    # Published works keep their own titles.
    del found["data list"], found["data show lawqa"]
    assert found == {}


@pytest.mark.parametrize(
    "setting",
    [
        "retrieval.k=x",
        "retrieval.k=1.5",
        "retrieval.k=0",
        "retrieval.k=2000",
        "retrieval.dense=x",
        "retrieval.lexical=x",
        "retrieval.lexical_weight=x",
        "chat.timeout=0",
        "retrieval.nothing=1",
        "retrieval.as_of=x",
        "chat.write_searches=x",
    ],
)
def test_what_is_wrong_with_a_setting_is_told_in_japanese(
    cli: Callable[..., Any], sample: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    outcome = cli("--set", setting, "config")
    assert outcome.code == 2
    assert words(outcome.err) == set()


@pytest.mark.parametrize("room", ["search", "methods"])
def test_every_stage_has_a_japanese_name(room: str) -> None:
    files = Path(localrag.__file__).parent.joinpath(room).rglob("*.py")
    code = "\n".join(path.read_text() for path in files)
    # Constants that name a stage, and what a model is called for.
    stages = r'^(?:STAGE|[A-Z]+_SEARCH|EVIDENCE|TRIPLE|ASK|ANALYSIS|FOLLOW_UP) = "([a-z -]+)"'
    calls = r'toolkit\.(?:ask|weigh|note)\((?:[^()"]*, )?f?"([a-z-]+)'
    names = {*re.findall(stages, code, re.MULTILINE), *re.findall(calls, code)}
    assert names
    with language.using("ja"):
        assert {name for name in names if wording.step(name) == name} == set()
        assert (wording.step("verdict b"), wording.step("query 2")) == ("判定 b", "検索文 2")
