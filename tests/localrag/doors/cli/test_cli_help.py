"""Help teaches, errors have exit codes, and starting imports nothing heavy."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag import errors
from localrag.doors.cli.help import EXIT_CODES

from ....patience import PATIENCE
from ....rows import each

VERBS = [
    "setup",
    "init",
    "add",
    "list",
    "remove",
    "index",
    "update",
    "watch",
    "laws",
    "search",
    "show",
    "history",
    "affected",
    "pending",
    "diff",
    "check",
    "ask",
    "tui",
    "mcp",
    "serve",
    "batch",
    "tune-retrieval",
    "methods",
    "prepare",
    "calibrate",
    "overview",
    "config",
    "doctor",
    "backup",
    "restore",
    "forget",
    "data",
    "eval",
    "optimize",
    "models",
    "bundle",
]
GROUPS = {
    "laws": ["download", "update", "import", "list", "status"],
    "data": ["list", "show", "add", "download"],
    "eval": ["run", "queries", "list", "compare"],
    "optimize": ["queries", "list", "show"],
    "models": ["list", "pull", "add", "verify", "remove", "export", "import"],
    "bundle": ["make", "verify", "install"],
}
IN_GROUPS = [[group, verb] for group, verbs in GROUPS.items() for verb in verbs]
ROOT = Path(__file__).parents[4]
READMES = [ROOT / name for name in ("README.md", "README.ja.md")]
COMMANDS = [ROOT / "docs" / name for name in ("commands.md", "ja/commands.md")]


def test_the_list_of_verbs_is_complete(cli: Callable[..., Any]) -> None:
    commands = cli("--help").out.split("Commands:")[1].split("Exit codes:")[0]
    assert re.findall(r"^  (\S+)", commands, re.MULTILINE) == VERBS


def test_without_a_verb_the_help_is_printed(cli: Callable[..., Any]) -> None:
    outcome = cli()
    assert (outcome.code, outcome.out, outcome.err) == (0, cli("--help").out, "")


@each("verb", VERBS)
def test_every_verb_teaches(cli: Callable[..., Any], verb: str) -> None:
    outcome = cli(verb, "--help")
    assert outcome.code == 0
    for heading in ("Examples:", "Exit codes:"):
        assert heading in outcome.out
    # The workbench has no result.
    assert ("--json" in outcome.out) == (verb != "tui")
    assert outcome.out.count(f"localrag {verb}") + outcome.out.count(f" {verb}\n") >= 2


@each("group", GROUPS)
def test_every_group_teaches(cli: Callable[..., Any], group: str) -> None:
    for outcome in (cli(group, "--help"), cli(group)):
        assert outcome.code == 0
        for heading in ("Examples:", "Exit codes:", "--json"):
            assert heading in outcome.out
        commands = outcome.out.split("Commands:")[1].split("Exit codes:")[0]
        assert re.findall(r"^  (\S+)", commands, re.MULTILINE) == GROUPS[group]


@each("verb", IN_GROUPS)
def test_every_verb_of_a_group_teaches(cli: Callable[..., Any], verb: list[str]) -> None:
    outcome = cli(*verb, "--help")
    assert outcome.code == 0
    for heading in ("Examples:", "Exit codes:", "--json"):
        assert heading in outcome.out
    assert f"localrag {' '.join(verb)}" in outcome.out


@pytest.mark.parametrize(
    "verb",
    [
        [],
        *([verb] for verb in VERBS),
        *IN_GROUPS,
    ],
    ids=" ".join,
)
def test_help_in_japanese(
    cli: Callable[..., Any], verb: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    outcome = cli(*verb, "--help")
    assert outcome.code == 0
    told = [line for line in outcome.out.splitlines() if "localrag" not in line]
    english = re.compile(r"[A-Za-z]+ [a-z]+ [a-z]+")
    assert [line for line in told if english.search(line)] == []


def test_the_language_of_a_call(
    cli: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def heading(*arguments: str) -> str:
        return str(cli(*arguments, "--help").out.partition(" ")[0])

    assert heading() == "Usage:"
    assert heading("--lang", "ja") == "使い方："
    assert heading("--set", "language=ja") == "使い方："
    assert (
        cli("--lang", "ja", "ask").err.splitlines()[0] == "エラー：「質問」が指定されていません。"
    )
    assert "There is no language 'fr'" in cli("--lang", "fr", "config").err
    home.mkdir()
    (home / "localrag.toml").write_text('language = "ja"')
    assert (heading(), heading("--lang", "en")) == ("使い方：", "Usage:")
    monkeypatch.setenv("LOCALRAG_LANGUAGE", "en")
    assert heading() == "Usage:"


@each("verb", ["add", "search", "show", "ask"])
def test_help_speaks_of_triples(cli: Callable[..., Any], verb: str) -> None:
    assert "triples" in cli(verb, "--help").out


@pytest.mark.parametrize("page", COMMANDS, ids=["en", "ja"])
def test_the_page_of_commands_names_every_verb_and_every_exit_code(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"| `{verb}` |" not in text] == []
    assert [code for code in EXIT_CODES if f"| {code} |" not in text] == []


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.name)
def test_a_readme_is_short_and_its_links_lead_somewhere(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_exit_code_is_documented(cli: Callable[..., Any]) -> None:
    raised = {
        error.exit_code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.LocalragError)
    }
    assert raised <= set(EXIT_CODES)
    told = cli("--help").out
    assert [meaning for meaning in EXIT_CODES.values() if meaning not in told] == []


def test_version(cli: Callable[..., Any]) -> None:
    from localrag import __version__

    assert cli("--version").out == f"localrag {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        (["--help"], ["tantivy", "fugashi", "lxml", "httpx", "textual", "pydantic", "rich"]),
        (["search", "--help"], ["tantivy", "fugashi", "lxml", "httpx", "textual", "rich.console"]),
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str], forbidden: list[str]) -> None:
    code = (
        "import sys; from localrag.doors.cli.main import run; run(sys.argv[1:]);"
        "import json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, check=True, timeout=PATIENCE
    )
    assert not set(forbidden) & set(json.loads(finished.stderr))


@pytest.mark.parametrize(
    ("verb", "modules"),
    [([], set()), (["ask"], {"answering"}), (["models", "list"], {"models"})],
)
def test_a_verb_imports_no_other_module_of_verbs(verb: list[str], modules: set[str]) -> None:
    code = (
        "import sys; from localrag.doors.cli.start import run; run([*sys.argv[1:], '--help']);"
        "import json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code, *verb], capture_output=True, check=True, timeout=PATIENCE
    )
    loaded = {
        name for name in json.loads(finished.stderr) if name.startswith("localrag.doors.cli.")
    }
    shared = {"start", "main", "help", "options", "terminal"}
    assert {name.rpartition(".")[2] for name in loaded} - shared == modules


@each(
    ("arguments", "part"),
    [
        (["bogus"], "There is no verb 'bogus'"),
        (["search"], "QUERY is missing"),
        (["show"], "CITATION is missing"),
        (["eval", "lawqa"], "--method is missing"),
        (["search", "--bogus", "x"], "--bogus"),
        (["search", "x", "-k", "0"], "-k"),
        (["add"], "Nothing to add"),
        (["--set", "k", "config"], "--set 'k'"),
    ],
)
def test_malformed_requests(cli: Callable[..., Any], arguments: list[str], part: str) -> None:
    outcome = cli(*arguments)
    assert outcome.code == 2
    assert part in outcome.err
    assert outcome.out == ""


@each("verb", [["ask", "舟"], ["list"], ["show", "x"], ["doctor"], ["init"], []])
@each("setting", ["chat.write_searches=x", "retrieval.k=0", "nothing=1"])
def test_a_wrong_setting_of_a_call_is_a_malformed_request_of_every_verb(
    cli: Callable[..., Any], setting: str, verb: list[str]
) -> None:
    outcome = cli("--set", setting, *verb)
    assert (outcome.code, outcome.out) == (2, "")
    assert setting.partition("=")[0] in outcome.err


@each("text", ["-敷金は", "--敷金は", "-5度の水", "-敷金 返還", "-GDPR"])
@each("verb", ["ask", "search", "show", "check"])
def test_a_text_that_begins_with_a_dash(cli: Callable[..., Any], verb: str, text: str) -> None:
    assert "no option" not in cli(verb, "--", text).err
    refused = cli(verb, text)
    assert refused.code == 2
    assert f"localrag {verb} -- " in refused.err


def test_a_misspelt_option_is_no_text(cli: Callable[..., Any]) -> None:
    assert "--json" in (refused := cli("ask", "--jsn", "x")).err
    assert " -- " not in refused.err
    assert " -- " not in cli("doctor", "-x").err


def test_escapes_in_a_malformed_request_do_not_reach_the_terminal(
    cli: Callable[..., Any],
) -> None:
    outcome = cli("\x1b[2Jbogus")
    assert outcome.code == 2
    assert "\x1b" not in outcome.err


@each("verb", [["list"], ["show", "x"], ["ask", "x"], ["search", "x"]])
def test_a_missing_workspace_names_its_cure(cli: Callable[..., Any], verb: list[str]) -> None:
    outcome = cli(*verb)
    assert outcome.code == 5
    assert "localrag init" in outcome.err
    assert "Traceback" not in outcome.err


def test_an_unforeseen_error_is_one_sentence(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("\x1b[31m[bold]")

    monkeypatch.setattr("localrag.corpus.workspace.Workspace.locate", fail)
    outcome = cli("list")
    assert outcome.code == 1
    assert "ZeroDivisionError" in outcome.err
    assert "LOCALRAG_DEBUG=1" in outcome.err
    assert "Traceback" not in outcome.err
    assert "\x1b" not in outcome.err
    monkeypatch.setenv("LOCALRAG_DEBUG", "1")
    assert "Traceback" in cli("list").err


def test_ctrl_c(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("localrag.corpus.workspace.Workspace.locate", interrupt)
    outcome = cli("list")
    assert outcome.code == 130
    assert "interrupted" in outcome.err


def test_completion_offers_the_names_of_corpora(sample: Path) -> None:
    from types import SimpleNamespace

    from localrag.doors.cli.options import complete_corpus

    context = SimpleNamespace(find_root=lambda: SimpleNamespace(params={}))
    assert complete_corpus(context, "ma") == ["main"]  # type: ignore[arg-type]
    assert complete_corpus(context, "x") == []  # type: ignore[arg-type]


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_shell_completion_script(shell: Callable[..., Any], shell_name: str) -> None:
    outcome = shell("--help", _LOCALRAG_COMPLETE=f"source_{shell_name}")
    assert outcome.code == 0
    assert "localrag" in outcome.out
