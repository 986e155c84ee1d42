"""``localrag data``: every verb of it, as text and as JSON."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.servers import Answer, Double

from localrag import sample
from localrag.evaluation.datasets.keeping import digest

from ....rows import each

Cli = Callable[..., Any]
QUESTION = '{"id": "q1", "question": "櫂は要るか", "options": ["はい", "いいえ"], "answer": "a"}\n'


@pytest.fixture
def workspace(cli: Cli, home: Path) -> Path:
    assert cli("init").code == 0
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset of a user: two laws and a question; its title tries to act."""
    folder = tmp_path / "data"
    (folder / "laws").mkdir(parents=True)
    for law in sorted((sample.FOLDER / "laws").glob("*.xml"))[:2]:
        (folder / "laws" / law.name).write_bytes(law.read_bytes())
    (folder / "q.jsonl").write_text(QUESTION, encoding="utf-8")
    (folder / "ferries.toml").write_text(
        'title = "[bold]Ferries\\u001b[2J"\nsource = "mine"\nlicence = "CC0"\nreader = "choices"\n'
        'corpus = ["laws"]\nsplits = [{ name = "main", file = "q.jsonl" }]\n'
        'caveats = ["Few questions."]\n',
        encoding="utf-8",
    )
    return folder


DECLARED = ["2wikimultihopqa", "averitec", "hotpotqa", "jemhopqa", "lawqa", "musique"]


def test_list_and_show_of_what_is_not_here(cli: Cli, workspace: Path) -> None:
    listed = cli("data", "list")
    for part in ("lawqa", "PDL 1.0", "digital-go-jp/lawqa_jp", "localrag data add"):
        assert part in listed.out
    entries = cli("data", "list", "--json").json
    assert [entry["dataset"] for entry in entries] == DECLARED
    assert not any(entry["at_hand"] for entry in entries)
    shown = cli("data", "show", "lawqa")
    for part in ("train", "2bc6c223", "egov/xml", "76.4%", "statutes-rags"):
        assert part in shown.out
    figures = cli("data", "show", "lawqa", "--json").json["published"]["statute-gold"]
    assert (figures[0]["score"], figures[0]["n"]) == (0.861, 560)


def test_add_then_list_and_show(cli: Cli, workspace: Path, folder: Path) -> None:
    added = cli("data", "add", str(folder / "ferries.toml"), str(folder))
    assert added.code == 0, added.err
    assert "split main is here now" in added.out
    assert "corpus ferries: 2 documents added" in added.out
    assert "localrag eval ferries" in added.out
    assert "note: Few questions." in added.err
    assert "caveat: Few questions." in cli("data", "show", "ferries").out
    assert cli("data", "show", "ferries", "--json").json["caveats"] == ["Few questions."]
    again = cli("data", "add", "ferries", str(folder), "--json").json
    assert (again["new"], again["unchanged"], again["added"]["added"]) == ([], ["main"], 0)
    listed = cli("data", "list")
    assert "[bold]Ferries␛[2J" in cli("data", "show", "ferries").out
    assert "\x1b" not in listed.out
    (split,) = cli("data", "show", "ferries", "--json").json["splits"]
    assert (split["questions"], split["sha256"]) == (1, digest(QUESTION.encode()))
    assert split["received"]["source"].endswith("q.jsonl")
    assert {one["corpus"] for one in cli("list", "--json").json} == {"ferries"}


def test_a_dataset_without_a_corpus(cli: Cli, workspace: Path, folder: Path) -> None:
    declaration = folder / "ferries.toml"
    text = declaration.read_text(encoding="utf-8").replace('corpus = ["laws"]\n', "")
    declaration.write_text(text, encoding="utf-8")
    added = cli("data", "add", str(declaration), str(folder))
    assert "Next: localrag eval ferries --method all --corpus NAME" in added.out
    for outcome in (added, cli("data", "show", "ferries")):
        assert "corpus: none of its own; --corpus NAME or the usual one" in outcome.out
    for more, cure in (
        ([], "localrag add PATH --corpus main. Or name another one with --corpus"),
        (["--corpus", "x"], "localrag add PATH --corpus x."),
    ):
        refused = cli("eval", "ferries", "--method", "statute-lexical", *more)
        assert (refused.code, cure in refused.err) == (3, True), refused.err
    assert cli("add", str(folder / "laws"), "--corpus", "ferries").code == 0


@pytest.mark.parametrize("more", [[], ["--corpus", "main"]])
def test_questions_of_ones_own_search_the_usual_corpus(
    cli: Cli, sample: Path, folder: Path, more: list[str]
) -> None:
    own = folder / "my questions.jsonl"
    own.write_text(QUESTION, encoding="utf-8")
    outcome = cli("eval", str(own), "--method", "statute-lexical", *more)
    assert outcome.code == 0, outcome.err
    assert ("has no corpus of its own: main is searched" in outcome.err) == (not more)
    (run,) = cli("eval", "list", "--json").json
    assert run["dataset"] == "my-questions"


def test_a_sheet_is_refused(cli: Cli, workspace: Path, folder: Path) -> None:
    (folder / "q.csv").write_text("id,question", encoding="utf-8")
    for verb in (["eval", str(folder / "q.csv"), "--method", "all"], ["data", "show", "q.csv"]):
        refused = cli(*verb)
        assert refused.code == 4
        assert "JSON Lines (.jsonl) or JSON (.json) only" in refused.err


def test_the_help_tells_of_files_of_ones_own(cli: Cli) -> None:
    for verb in (["data", "add"], ["eval", "run"]):
        assert "of your own" in " ".join(cli(*verb, "--help").out.split())


def test_a_damaged_declaration_is_a_note(cli: Cli, workspace: Path) -> None:
    (workspace / "datasets" / "broken").mkdir(parents=True)
    (workspace / "datasets" / "broken" / "dataset.toml").write_text("x", encoding="utf-8")
    listed = cli("data", "list", "--json")
    assert [entry["dataset"] for entry in listed.json] == DECLARED
    assert "note: " in listed.err
    assert "broken" in listed.err
    assert "Did you mean lawqa?" in cli("data", "show", "lawqaa").err


def test_defects_are_lines(cli: Cli, workspace: Path, folder: Path) -> None:
    (folder / "q.jsonl").write_text(QUESTION * 2 + "[]", encoding="utf-8")
    refused = cli("data", "add", str(folder / "ferries.toml"), str(folder))
    assert refused.code == 4
    assert "\n    line 2: The id 'q1' is also at line 1." in refused.err
    shown = cli("data", "show", str(folder / "ferries.toml"))
    assert "\n    line 3: It is no object" in shown.err


def test_show_of_a_path(cli: Cli, workspace: Path, folder: Path) -> None:
    for path in (folder / "ferries.toml", folder / "q.jsonl"):
        (split,) = cli("data", "show", str(path), "--json").json["splits"]
        assert split["questions"] == 1


def test_what_is_missing_is_named(cli: Cli, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "lawqa").mkdir()
    row = '{"law_id": null, "law_title": "手引", "article": null, "text": "櫂"}'
    (tmp_path / "lawqa" / "contexts_missing.jsonl").write_text(row, encoding="utf-8")
    outcome = cli("data", "add", "lawqa", str(tmp_path))
    assert outcome.code == 0
    assert "not there: lawqa/selection.json. Fetch it: localrag data download" in outcome.err
    assert "not there: egov/xml. Download the laws" in outcome.err
    assert "localrag eval" not in outcome.out


def test_damage_is_told(cli: Cli, workspace: Path, folder: Path) -> None:
    assert cli("data", "add", str(folder / "ferries.toml"), str(folder)).code == 0
    (workspace / "datasets" / "ferries" / "q.jsonl").write_text("{}", encoding="utf-8")
    shown = cli("data", "show", "ferries")
    assert shown.code == 0
    assert "the record of its arrival" in shown.err
    (folder / "laws" / "broken.xml").write_text("<Law>", encoding="utf-8")
    assert cli("data", "add", "ferries", str(folder)).code == 4


@pytest.mark.usefixtures("loopback")
def test_download(cli: Cli, workspace: Path, folder: Path) -> None:
    with Double() as server:
        server.instead("/q.jsonl", Answer([QUESTION.encode()]))
        kept = workspace / "datasets" / "ferries"
        kept.mkdir(parents=True)
        text = (folder / "ferries.toml").read_text(encoding="utf-8")
        address = f'"q.jsonl", url = "{server.address}/q.jsonl"'
        (kept / "dataset.toml").write_text(text.replace('"q.jsonl"', address), encoding="utf-8")
        outcome = cli("data", "download", "ferries")
    assert outcome.code == 0, outcome.err
    assert "split main is here now" in outcome.out
    assert "not there: laws" in outcome.err
    assert cli("data", "list", "--json").json[-1]["at_hand"] == ["main"]


@each(
    ("arguments", "code", "part"),
    [
        (["add", "lawqaa", "."], 3, "Did you mean lawqa?"),
        (["add", "lawqa", "nowhere"], 3, "There is no folder nowhere"),
        (["show", "a/b"], 2, "cannot be the name"),
        (["download", "none.toml"], 4, "cannot be read"),
        (["add", "lawqa"], 2, "folder"),
    ],
)
def test_failures(cli: Cli, workspace: Path, arguments: list[str], code: int, part: str) -> None:
    outcome = cli("data", *arguments)
    assert outcome.code == code
    assert part.lower() in outcome.err.lower()
    assert outcome.out == ""


@each(
    ("arguments", "hint"),
    [
        (
            ["eval", "run", "lawqa", "--method", "all", "--set", "seed=1"],
            "Write it before the verb: localrag --set KEY=VALUE eval run …",
        ),
        (["data", "list", "--home", "x"], "before the verb: localrag --home FOLDER data list …"),
        (["data", "list", "--hope", "x"], "localrag data list --help shows its arguments."),
        (["--hope"], "localrag --help shows its arguments."),
    ],
)
def test_an_option_in_the_wrong_place(cli: Cli, arguments: list[str], hint: str) -> None:
    outcome = cli(*arguments)
    assert outcome.code == 2
    assert hint in outcome.err


def test_without_a_workspace(cli: Cli) -> None:
    for arguments in (["list"], ["show", "lawqa"], ["add", "lawqa", "."], ["download", "lawqa"]):
        outcome = cli("data", *arguments)
        assert outcome.code == 5
        assert "localrag init" in outcome.err
