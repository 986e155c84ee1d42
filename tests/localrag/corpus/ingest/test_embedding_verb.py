"""``localrag index`` with a model in the settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_models.hashing import HashingEmbedder

from localrag.corpus.workspace import Workspace
from localrag_indexes.manifest import current

Cli = Callable[..., Any]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[HashingEmbedder]:
    """Lets the settings name the model "hashing"; holds every one that was loaded."""
    opened: list[HashingEmbedder] = []

    def open_embedder(*_: object) -> HashingEmbedder:
        opened.append(HashingEmbedder())
        return opened[-1]

    monkeypatch.setenv("LOCALRAG_EMBEDDING__MODEL", "hashing")
    monkeypatch.setattr("localrag.search.indexing.index.embedder_id", lambda *_: "hashing")
    monkeypatch.setattr("localrag.search.indexing.index.open_embedder", open_embedder)
    return opened


def test_the_model_of_the_settings_makes_vectors(
    sample: Path, cli: Cli, opened: list[HashingEmbedder]
) -> None:
    done = cli("index")
    assert done.code == 0
    assert "passages with hashing; their index takes about" in done.err
    assert "windows newly embedded" in done.out
    assert current(Workspace.locate(sample).corpus("main").vectors)
    assert len(opened) == 1


def test_the_model_is_not_loaded_when_there_is_nothing_to_do(
    sample: Path, cli: Cli, opened: list[HashingEmbedder]
) -> None:
    cli("index")
    again = cli("index")
    assert again.out == "corpus main: the index is up to date\n"
    assert len(opened) == 1


def test_as_json(sample: Path, cli: Cli, opened: list[HashingEmbedder]) -> None:
    report = cli("index", "--json").json
    assert report["vectors"] == report["embedded"] == len(opened[0].embedded) > 0
    assert report["passages"] == 0


def test_a_model_that_is_not_installed_does_not_keep_words_from_being_indexed(
    home: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("init").code == cli("add", "--sample").code == 0
    monkeypatch.setenv("LOCALRAG_EMBEDDING__MODEL", "none-such")
    done = cli("index")
    assert done.code == 8
    assert "The words of corpus 'main' are indexed, its vectors are not" in done.err
    monkeypatch.delenv("LOCALRAG_EMBEDDING__MODEL")
    assert cli("search", "渡し舟").code == 0


def test_settings_without_a_model_make_no_vectors(sample: Path, cli: Cli) -> None:
    done = cli("index", "--rebuild")
    assert done.code == 0
    assert "vectors" not in done.out
    assert current(Workspace.locate(sample).corpus("main").vectors) is None
