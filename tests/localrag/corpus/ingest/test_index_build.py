import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import FINDING_REFERENCES, INDEXING, Event
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document, Locator
from localrag.corpus.workspace import Workspace, writing
from localrag.errors import BusyError, NotFoundError, StorageError
from localrag.search.indexing.index import IndexState, index, index_state
from localrag.text.progress import Progress
from localrag_indexes.analysis import Analyzer
from localrag_indexes.bm25 import BM25Index
from localrag_indexes.manifest import current

LawWriter = Callable[..., Path]


def search(workspace: Workspace, words: str) -> list[str]:
    """Ids of the passages found, best first."""
    place = workspace.corpus("main")
    folder = current(place.bm25)
    assert folder is not None
    with (
        BM25Index.open(folder) as found,
        CorpusStore.open(place.store, read_only=True) as store,
    ):
        scored = found.search(Analyzer().terms(words), 10)
        return [passage.id for passage in store.by_keys(s.key for s in scored).values()]


def test_files_become_searchable(filled: Workspace) -> None:
    assert index_state(filled, "main") is IndexState.MISSING
    report = index(filled, "main")
    assert (report.skipped, report.passages) == (False, 3 + 2 + 1)
    assert report.references > 0
    assert index_state(filled, "main", deep=True) is IndexState.FRESH
    assert search(filled, "桟橋") == ["note.md#1"]
    assert {id_.partition("#")[0] for id_ in search(filled, "橋を架ける")} >= {"599AC0000000002"}


def test_references_can_be_followed_both_ways(filled: Workspace) -> None:
    index(filled, "main")
    with CorpusStore.open(filled.corpus("main").store, read_only=True) as store:
        law = "599AC0000000001"
        (found,) = store.references_from(law, Locator(article="2"))
        assert (found.law_id, found.target.article) == (law, "1")
        assert store.text(law, found.start, found.end) == "前条"
        assert found in store.references_to(law, Locator(article="1"))


def test_nothing_is_done_when_nothing_changed(filled: Workspace) -> None:
    index(filled, "main")
    before = current(filled.corpus("main").bm25)
    assert index(filled, "main").skipped
    assert current(filled.corpus("main").bm25) == before
    assert not index(filled, "main", rebuild=True).skipped
    assert current(filled.corpus("main").bm25) != before


def test_a_change_leaves_the_index_behind_but_answering(
    filled: Workspace, laws: Path, write_law: LawWriter
) -> None:
    index(filled, "main")
    write_law(3, "筏を組む者")
    add(filled, "main", [laws])
    assert index_state(filled, "main") is IndexState.BEHIND
    assert search(filled, "桟橋") == ["note.md#1"]
    index(filled, "main")
    assert index_state(filled, "main") is IndexState.FRESH
    assert search(filled, "筏を組む")


def test_workers_change_nothing_but_the_time(filled: Workspace) -> None:
    index(filled, "main")
    alone = search(filled, "届出をしなければならない")
    index(filled, "main", rebuild=True, workers=2)
    assert search(filled, "届出をしなければならない") == alone


def test_damage_is_seen_and_mended_by_indexing(filled: Workspace) -> None:
    index(filled, "main")
    folder = current(filled.corpus("main").bm25)
    assert folder is not None
    largest = max(folder.iterdir(), key=lambda path: path.stat().st_size)
    content, before = largest.read_bytes(), largest.stat()
    largest.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert index_state(filled, "main") is IndexState.DAMAGED
    # As a disk would change it, which says of no writing.
    os.utime(largest, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert index_state(filled, "main") is IndexState.FRESH
    assert index_state(filled, "main", deep=True) is IndexState.DAMAGED
    largest.write_bytes(content[:-1])
    assert index_state(filled, "main") is IndexState.DAMAGED
    assert not index(filled, "main").skipped
    assert index_state(filled, "main", deep=True) is IndexState.FRESH


def test_an_index_of_another_version_is_outdated(filled: Workspace) -> None:
    index(filled, "main")
    folder = current(filled.corpus("main").bm25)
    assert folder is not None
    manifest = folder / "manifest.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    for change in ({"format": 999}, {"analyzer": "other"}, {"extra": {}}):
        manifest.write_text(json.dumps({**content, **change}), encoding="utf-8")
        assert index_state(filled, "main") is IndexState.OUTDATED
    manifest.write_text("{", encoding="utf-8")
    assert index_state(filled, "main") is IndexState.DAMAGED


def test_the_index_of_a_store_that_was_made_anew_does_not_pass_for_fresh(
    filled: Workspace, laws: Path
) -> None:
    index(filled, "main")
    store = filled.corpus("main").store
    with CorpusStore.open(store) as opened:
        generation = opened.generation
    store.unlink()
    add(filled, "main", [laws])
    with CorpusStore.open(store) as opened:
        assert opened.generation == generation
    assert index_state(filled, "main") is IndexState.BEHIND


def test_a_failed_build_leaves_the_old_index(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(filled, "main")
    before = current(filled.corpus("main").bm25)

    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("localrag.search.indexing.index.build", full_disk)
    with pytest.raises(StorageError, match=r"No space left.*localrag index"):
        index(filled, "main", rebuild=True)
    assert current(filled.corpus("main").bm25) == before
    assert search(filled, "桟橋") == ["note.md#1"]


def test_a_statute_whose_references_cannot_be_found_is_told_and_can_be_searched(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def odd(document: Document) -> list[object]:
        if document.id == "599AC0000000002":
            raise ValueError("odd text")
        return []

    with monkeypatch.context() as patched:
        patched.setattr("localrag.law.definitions.extract_definitions", odd)
        report = index(filled, "main")
    (failed,) = report.failed
    assert failed.source == "599AC0000000002"
    assert "ValueError: odd text" in failed.cause
    assert report.references > 0
    assert "599AC0000000002#1" in search(filled, "橋を架ける")
    assert index_state(filled, "main") is IndexState.BEHIND
    assert not index(filled, "main").failed
    assert index_state(filled, "main") is IndexState.FRESH


def test_what_a_build_killed_at_its_end_left_is_swept(filled: Workspace) -> None:
    index(filled, "main")
    superseded = filled.corpus("main").bm25 / "g-000000000000"
    superseded.mkdir()
    assert index(filled, "main").skipped
    assert not superseded.exists()


def test_progress_reaches_its_end(filled: Workspace) -> None:
    seen: list[Event] = []
    index(filled, "main", on_event=seen.append)
    last = {event.phase: event for event in seen if isinstance(event, Progress)}
    assert last.keys() == {FINDING_REFERENCES, INDEXING}
    assert all(event.done == event.total > 0 for event in last.values())


def test_a_corpus_without_statutes(workspace: Workspace, laws: Path) -> None:
    (laws / "a.txt").write_text("桟橋は朝に開く。", encoding="utf-8")
    add(workspace, "main", [laws])
    report = index(workspace, "main")
    assert (report.passages, report.references, report.definitions) == (1, 0, 0)


def test_an_unknown_corpus_is_not_made(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError, match="localrag add"):
        index(workspace, "other")
    assert not workspace.corpus("other").store.parent.exists()


def test_indexing_waits_for_no_other_writer(filled: Workspace) -> None:
    with writing(filled.corpus("main")), pytest.raises(BusyError):
        index(filled, "main")
