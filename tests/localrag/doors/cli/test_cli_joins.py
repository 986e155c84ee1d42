"""Words and names of corpora are taken alike by every verb."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ....conftest import Outcome

Cli = Callable[..., Outcome]


def test_a_list_takes_its_corpus_as_other_verbs_do(cli: Cli, sample_home: Path) -> None:
    home = ("--home", str(sample_home))
    listed = cli(*home, "list", "main", "--json").json
    assert cli(*home, "list", "--corpus", "main", "--json").json == listed
    assert cli(*home, "list", "main", "-c", "main", "--json").json == listed


def test_two_corpora_for_one_list_are_refused(cli: Cli, sample_home: Path) -> None:
    told = cli("--home", str(sample_home), "list", "main", "--corpus", "other")
    assert told.code == 2
    assert "main" in told.err
    assert "other" in told.err


@pytest.mark.parametrize("words", [("渡し舟法", "第4条第9項"), ("渡し舟法 第4条第9項",)])
def test_check_joins_its_words(cli: Cli, sample_home: Path, words: tuple[str, ...]) -> None:
    told = cli("--home", str(sample_home), "check", *words)
    assert told.code == 3
    assert "第4条第9項" in told.out
