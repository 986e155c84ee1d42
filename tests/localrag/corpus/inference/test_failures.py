"""What a model fails with, told with the commands and settings of localrag."""

import logging
import re
from pathlib import Path

import pytest

import localrag_indexes
import localrag_models
from localrag import language
from localrag.corpus.inference.opening import CURES, as_ours, named, noted
from localrag.errors import BusyError, IndexUnusable, LocalragError, ModelUnusable, StorageError
from localrag_indexes.errors import IndexMissing
from localrag_models.backends.servers.http import Retry
from localrag_models.errors import (
    BackendMissing,
    ContextExceeded,
    Cure,
    ModelMissing,
    ServerBusy,
    StorageFailed,
    StoreBusy,
)
from localrag_models.store import ModelStore

from ....rows import each


@pytest.fixture
def japanese() -> object:
    language.use("ja")
    yield
    language.use("en")


def test_localrag_has_words_of_its_own_for_every_cure() -> None:
    assert set(CURES) == set(Cure)


def test_a_cure_names_our_command(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable) as raised, named():
        ModelStore(tmp_path).find("qwen3-8b")
    assert raised.value.cause == "The model 'qwen3-8b' is not installed."
    assert raised.value.cure == "Get it: localrag models pull qwen3-8b"
    assert (raised.value.kind, raised.value.transient) == ("ModelMissing", False)


def test_a_cure_names_our_setting() -> None:
    error = as_ours(ContextExceeded("full", Cure.SMALLER_CONTEXT, needed=9, available=4096))
    assert error.cure == "Set chat.context to 4096 or less, or to 0."


def test_a_package_is_named_with_the_extra_that_brings_it() -> None:
    error = as_ours(BackendMissing("none", Cure.INSTALL_PACKAGE, package="huggingface-hub"))
    assert "pip install 'localrag[hub]'" in error.cure
    assert "localrag bundle make FOLDER --extra hub" in error.cure, "where there is no network"


@each(
    ("error", "kind", "code"),
    [
        (StoreBusy("busy"), BusyError, 6),
        (StorageFailed("full"), StorageError, 7),
        (ServerBusy("later"), ModelUnusable, 8),
    ],
)
def test_an_error_becomes_one_of_ours(
    error: ServerBusy, kind: type[LocalragError], code: int
) -> None:
    ours = as_ours(error)
    assert type(ours) is kind
    assert ours.exit_code == code


@pytest.mark.usefixtures("japanese")
def test_an_error_is_told_in_the_language_in_use(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing) as raised:
        ModelStore(tmp_path).find("qwen3-8b")
    assert raised.value.cause == "The model 'qwen3-8b' is not installed."
    ours = as_ours(raised.value)
    assert ours.cause == "モデル「qwen3-8b」はインストールされていません。"
    assert ours.cure == "取得してください：localrag models pull qwen3-8b"


@pytest.mark.usefixtures("japanese")
def test_what_an_index_fails_with_is_told_in_the_language_in_use() -> None:
    error = IndexUnusable("{corpus}: {error}", corpus="law", error=IndexMissing(Path("x")))
    assert error.cause == "law: x に索引がありません"


@pytest.mark.parametrize("package", [localrag_models, localrag_indexes])
def test_the_libraries_name_nothing_of_ours(package: object) -> None:
    ours = re.compile(
        r"localrag (models|index|init|config)|localrag\[|localrag\.toml"
        r"|(chat|embedding|reranking)\.(model|server|context|timeout|max_tokens)\b(?!_)"
        r"|--(home|name|endpoint|link|token-file)"
    )
    (folder,) = package.__path__  # type: ignore[attr-defined]
    found = [
        f"{path.name}: {line.strip()}"
        for path in Path(folder).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if ours.search(line)
    ]
    assert found == []


@pytest.mark.usefixtures("japanese")
def test_what_the_log_says_is_told_in_the_language_in_use() -> None:
    def record(message: str, *values: object) -> logging.LogRecord:
        return logging.LogRecord("localrag", logging.WARNING, "", 1, message, values, None)

    retry = Retry(ServerBusy("Nobody answers at {address} ({why}).", address="x", why="y"), 1, 0.5)
    said = "x から応答がありません（y）。 0.5 秒後に 2 回目を試みます。"
    assert noted(record("%s", retry)) == said
    said = "The batch goes on, but is not noted among the runs of the workspace (%s)."
    assert noted(record(said, "z")).endswith("記録できませんでした（z）。")
    assert noted(record("nothing of ours")) == "nothing of ours"
