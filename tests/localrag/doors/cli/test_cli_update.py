"""``localrag update`` at the command line: listed, asked, done, indexed, undone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localrag import sample as sample_corpus

Cli = Callable[..., Any]
ACT = "599AC0000000001"


@pytest.fixture
def archive(tmp_path: Path, sample: Path) -> Path:
    """One law of the sample, with one word changed, in a folder of its own."""
    source = next(sample_corpus.FOLDER.rglob(f"{ACT}*.xml"))
    folder = tmp_path / "new"
    folder.mkdir()
    text = source.read_text(encoding="utf-8").replace("水位", "水かさ", 1)
    (folder / source.name).write_text(text, encoding="utf-8")
    return folder


def test_a_word_is_corrected_and_put_back(cli: Cli, archive: Path) -> None:
    tried = cli("update", str(archive), "--dry-run")
    assert tried.code == 0, tried.err
    assert "corrected" in tried.out
    assert ACT in tried.out
    assert "1 text would change" in tried.out
    assert "水かさ" not in cli("search", "水かさ").out

    done = cli("update", str(archive), "--json")
    assert done.code == 0, done.err
    assert [change["kind"] for change in done.json["changes"]] == ["corrected"]
    assert (done.json["applied"], done.json["index"]["skipped"]) == (True, False)
    assert "水かさ" in cli("search", "水かさ").out

    tried = cli("update", "--undo", "--dry-run")
    assert "with the text from before the update again: 1" in tried.out
    assert "nothing was changed yet" in tried.out
    undone = cli("update", "--undo")
    assert undone.code == 0, undone.err
    assert "with the text from before the update again: 1" in undone.out
    assert "corrected" not in undone.out
    assert "is taken back; 1 texts are as they were" in undone.out
    assert "水かさ" not in cli("search", "水かさ").out
    assert cli("update", "--undo").code == 3


def test_laws_are_removed_only_after_a_question(cli: Cli, archive: Path) -> None:
    refused = cli("update", str(archive), "--whole")
    assert refused.code == 2
    assert "Add --yes" in refused.err
    listed = json.loads(cli("list", "main", "--json").out)
    done = cli("update", str(archive), "--whole", "--yes")
    assert done.code == 0, done.err
    assert "repealed, not in the archive any more" in done.out
    left = json.loads(cli("list", "main", "--json").out)
    assert {one["id"] for one in left if one["kind"] == "law"} == {ACT}
    assert [one for one in left if one["kind"] != "law"] == [
        one for one in listed if one["kind"] != "law"
    ]
    told = cli("--lang", "ja", "update", "--undo").out
    assert "更新で削除したものを復活" in told
    assert "廃止" not in told
    assert "更新を取り消しました" in told


def test_without_a_path_or_with_both(cli: Cli, archive: Path) -> None:
    for arguments in ([], [str(archive), "--undo"], ["--undo", "--whole"]):
        refused = cli("update", *arguments)
        assert refused.code == 2
        assert "--undo" in refused.err
