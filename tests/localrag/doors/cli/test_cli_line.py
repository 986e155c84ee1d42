"""How a command line is read: words that are joined, options given twice, and cures that work."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ....conftest import REPOSITORY
from ....patience import PATIENCE
from ....rows import each

Cli = Callable[..., Any]


@pytest.mark.parametrize("verb", ["ask", "search"])
def test_words_are_joined(cli: Cli, sample: Path, verb: str) -> None:
    told = [cli(verb, *words, "--json").json for words in (["渡し守", "資格"], ["渡し守 資格"])]
    assert told[0]["query"]["text"] == told[1]["query"]["text"] == "渡し守 資格"


def test_options_may_stand_between_words(cli: Cli, sample: Path) -> None:
    found = cli("search", "渡し守", "-k", "1", "資格", "--json").json
    assert (found["query"]["text"], len(found["hits"])) == ("渡し守 資格", 1)


def test_a_dash_reads_standard_input(cli: Cli, sample: Path) -> None:
    found = cli("search", "-", "--json", stdin="渡し守 資格").json
    assert found["query"]["text"] == "渡し守 資格"


@each(
    "line",
    [
        ("search", "-c", "main", "-c", "other", "舟"),
        ("ask", "--corpus", "main", "-c", "main", "舟"),
        ("show", "-cmain", "--corpus=other", "渡し舟法8条"),
        ("search", "--dense", "--no-dense", "舟"),
        ("search", "-k", "1", "-k", "2", "舟"),
        ("serve", "tokens", "list", "-c", "a", "-c", "b"),
        ("--lang", "ja", "--lang", "en", "list"),
        ("--home", "a", "--home", "b", "tui"),
    ],
)
def test_an_option_given_twice_is_refused(cli: Cli, sample: Path, line: tuple[str, ...]) -> None:
    refused = cli(*line)
    assert (refused.code, refused.out) == (2, "")


def test_an_option_that_may_be_repeated(cli: Cli, sample: Path) -> None:
    found = cli("search", "--law", "渡し舟法", "--law", "599CO0000000002", "渡し守", "--json")
    assert found.code == 0


@each(
    "line",
    [
        ("show", "民法709条"),
        ("show", "民法", "第三編"),
        ("search", "--law", "民法", "債権"),
        ("diff", "民法", "2020-01-01", "2021-01-01"),
        ("show", "なにもない"),
        ("remove", "nothing"),
    ],
)
def test_a_cure_lists_the_documents_of_the_corpus(
    cli: Cli, sample: Path, line: tuple[str, ...]
) -> None:
    missing = cli(*line)
    assert missing.code in (2, 3)
    (command,) = re.findall(r"localrag (list [a-z]+(?: --kind law)?)", missing.err)
    assert "599AC0000000001" in cli(*command.split()).out


def test_one_place_says_how_to_install_an_extra() -> None:
    found = [
        path.relative_to(REPOSITORY)
        for room in ("localrag", "tui", "models", "indexes")
        for path in (REPOSITORY / room).rglob("*.py")
        if re.search("pip install[^\\n]*localrag\\[", path.read_text("utf-8"))
    ]
    assert found == [Path("localrag/text/facts/kinds.py")]


SCRIPT = """
import localrag
session = localrag.open()
corpus = session.corpus("main")
corpus.index(rebuild=True, workers=2)
"""


def test_a_script_without_a_guard(sample: Path, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, "utf-8")
    left = _python(str(path))
    assert left.returncode != 0
    said = left.stderr.decode().splitlines()[-1]
    assert str(path) in said
    assert 'if __name__ == "__main__":' in said
    assert "memory" not in said


def test_a_script_of_standard_input(sample: Path) -> None:
    said = _python("-", given=SCRIPT).stderr.decode().splitlines()[-1]
    assert "Save the program as a file" in said


def _python(*arguments: str, given: str = "") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *arguments],
        input=given.encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_worker_that_is_killed_still_says_so() -> None:
    from localrag_indexes.errors import IndexingError
    from localrag_indexes.parallel import map_stream

    with pytest.raises(IndexingError, match="memory"):
        list(map_stream(_die, [1], 2))


def _die(_item: int) -> None:
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)
