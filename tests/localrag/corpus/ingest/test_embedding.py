"""Embedding a corpus: what is embedded, what is not embedded again, and what the state says."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_models.encoder import TinyEncoder
from tiny_models.hashing import HashingEmbedder

from localrag.corpus.config import Provisions
from localrag.corpus.ingest.add import add
from localrag.corpus.ingest.events import (
    EMBEDDING,
    FINDING_REFERENCES,
    INDEXING,
    SPLITTING,
    EmbeddingPlanned,
    Event,
)
from localrag.corpus.ingest.remove import remove_corpus, remove_documents
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag.errors import ModelUnusable, StorageError
from localrag.search.indexing.embedding import KeptVectors
from localrag.search.indexing.index import IndexState, index, index_state
from localrag.search.units import vector_state
from localrag.text.progress import Progress
from localrag_indexes.manifest import current
from localrag_indexes.vectors import VectorIndex
from localrag_models.backends.llama_cpp.encoder import LlamaCppEmbedder
from localrag_models.embedding import E5

LawWriter = Callable[..., Path]


def status(
    workspace: Workspace,
    model: str | None = None,
    provisions: Provisions | None = None,
    *,
    deep: bool = False,
) -> IndexState:
    place = workspace.corpus("main")
    with CorpusStore.open(place.store, read_only=True) as store:
        return vector_state(place, store, model, provisions, deep=deep)


def found(
    workspace: Workspace, question: str, embedder: HashingEmbedder | None = None
) -> list[str]:
    """Ids of the passages that are nearest to a question, best first."""
    place = workspace.corpus("main")
    folder = current(place.vectors)
    assert folder is not None
    (vector,) = (embedder or HashingEmbedder()).embed_queries([question])
    with VectorIndex.open(folder) as vectors, CorpusStore.open(place.store) as store:
        hits = vectors.search(vector, 20)
        return [passage.id for passage in store.by_keys(hit.key for hit in hits).values()]


def journals(workspace: Workspace) -> list[Path]:
    """The journals there are, with the files SQLite keeps beside each."""
    return list(workspace.corpus("main").vectors.glob("journal*"))


def test_passages_are_found_by_their_meaning(filled: Workspace) -> None:
    assert status(filled) is IndexState.MISSING
    report = index(filled, "main", embedder=HashingEmbedder())
    assert (report.skipped, report.passages, report.embedded, report.vectors) == (False, 6, 6, 6)
    assert status(filled, "hashing", deep=True) is IndexState.FRESH
    assert status(filled) is IndexState.FRESH
    assert found(filled, "桟橋は朝に開く")[0] == "note.md#1"
    assert found(filled, "橋を架ける者")[0].startswith("599AC0000000002#")


def test_every_window_of_a_passage_has_its_header(filled: Workspace) -> None:
    embedder = HashingEmbedder(window=10)
    index(filled, "main", embedder=embedder)
    first = [text for text in embedder.embedded if text.startswith("試験第1号法 第1条\n")]
    assert len(first) > 1
    assert "舟を出す者" in "".join(text.partition("\n")[2] for text in first)


def test_of_a_provision_the_opening_is_embedded_unless_all_of_it_is_wanted(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1, "舟を出す者" * 100, articles=3)
    (laws / "note.md").write_text(
        "".join(f"桟橋{n}は朝に開く。" for n in range(80)), encoding="utf-8"
    )
    add(workspace, "main", [laws])
    assert index(workspace, "main", embedder=HashingEmbedder(window=200)).embedded == 3 + 4
    assert status(workspace, "hashing", "openings") is IndexState.FRESH
    assert status(workspace, "hashing", "whole") is IndexState.OUTDATED
    # The windows of the note are the same ones.
    report = index(workspace, "main", embedder=HashingEmbedder(window=200), provisions="whole")
    assert report.embedded == report.vectors - 4 > 6


def test_without_an_embedder_vectors_stay_as_they_are(filled: Workspace) -> None:
    index(filled, "main")
    assert status(filled) is IndexState.MISSING
    index(filled, "main", embedder=HashingEmbedder())
    before = current(filled.corpus("main").vectors)
    assert index(filled, "main", rebuild=True).vectors == 0
    assert current(filled.corpus("main").vectors) == before


def test_words_that_are_up_to_date_are_not_indexed_again(filled: Workspace) -> None:
    index(filled, "main")
    words = current(filled.corpus("main").bm25)
    report = index(filled, "main", embedder=HashingEmbedder())
    assert (report.skipped, report.passages, report.embedded) == (False, 0, 6)
    assert current(filled.corpus("main").bm25) == words
    assert index(filled, "main", embedder=HashingEmbedder()).skipped


def test_only_what_is_new_is_embedded(filled: Workspace, laws: Path, write_law: LawWriter) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    write_law(3, "筏を組む者", articles=2)
    add(filled, "main", [laws])
    assert status(filled) is IndexState.BEHIND
    embedder = HashingEmbedder()
    report = index(filled, "main", embedder=embedder)
    assert (report.embedded, report.vectors) == (2, 8)
    assert all("筏を組む者" in text for text in embedder.embedded)
    assert found(filled, "筏を組む者")[0].startswith("599AC0000000003#")
    assert status(filled) is IndexState.FRESH


def test_a_text_that_stands_in_several_passages_is_embedded_once(
    workspace: Workspace, laws: Path
) -> None:
    lines = [json.dumps({"id": str(n), "title": "", "text": "桟橋は朝に開く。"}) for n in range(5)]
    (laws / "same.jsonl").write_text("\n".join(lines), encoding="utf-8")
    add(workspace, "main", [laws])
    report = index(workspace, "main", embedder=HashingEmbedder())
    with CorpusStore.open(workspace.corpus("main").store) as store:
        headers = {passage.header for _, passage in store.passages()}
    assert (report.embedded, report.vectors) == (len(headers), 5)
    assert len(found(workspace, "桟橋")) == 5


def test_removed_documents_vanish_at_once_and_for_good_with_the_next_indexing(
    filled: Workspace,
) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    remove_documents(filled, "main", ["note.md"])
    assert "note.md#1" not in found(filled, "桟橋は朝に開く")
    assert status(filled) is IndexState.BEHIND
    report = index(filled, "main", embedder=HashingEmbedder())
    assert (report.embedded, report.vectors) == (0, 5)


def test_another_model_is_seen_at_once_and_makes_everything_anew(filled: Workspace) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    assert status(filled, "other") is IndexState.OUTDATED
    other = HashingEmbedder("other", dimension=16)
    assert index(filled, "main", embedder=other).embedded == 6
    assert status(filled, "other") is IndexState.FRESH
    assert found(filled, "桟橋は朝に開く", other)[0] == "note.md#1"


def test_a_rebuild_embeds_nothing_again(filled: Workspace) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    before = current(filled.corpus("main").vectors)
    report = index(filled, "main", embedder=HashingEmbedder(), rebuild=True)
    assert (report.passages, report.embedded, report.vectors) == (6, 0, 6)
    assert current(filled.corpus("main").vectors) != before


def test_vectors_that_have_changed_on_disk_are_not_taken_over(filled: Workspace) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    folder = current(filled.corpus("main").vectors)
    assert folder is not None
    path = folder / "vectors.npy"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert status(filled) is IndexState.DAMAGED
    seen: list[Event] = []
    report = index(filled, "main", embedder=HashingEmbedder(), rebuild=True, on_event=seen.append)
    assert report.embedded == 6
    (planned,) = (event for event in seen if isinstance(event, EmbeddingPlanned))
    assert "vectors.npy has changed" in planned.discarded
    assert status(filled, deep=True) is IndexState.FRESH


def test_a_damaged_index_is_made_anew_without_being_asked(filled: Workspace) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    folder = current(filled.corpus("main").vectors)
    assert folder is not None
    (folder / "keys.npy").write_bytes(b"")
    assert status(filled) is IndexState.DAMAGED
    assert not index(filled, "main", embedder=HashingEmbedder()).skipped
    assert status(filled, deep=True) is IndexState.FRESH


def test_a_model_that_fails_leaves_the_words_indexed_and_the_rest_to_be_done(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1, articles=600)
    add(workspace, "main", [laws])
    failing = HashingEmbedder(fail_after=550)
    with pytest.raises(ModelUnusable, match=r"words.*are indexed.*Nobody answers") as failure:
        index(workspace, "main", embedder=failing)
    assert failure.value.transient
    assert failure.value.kind == "ServerUnreachable"
    assert failure.value.cure == "Start the server. Then go on: localrag index --corpus main"
    assert index_state(workspace, "main") is IndexState.FRESH
    assert status(workspace) is IndexState.MISSING
    embedder = HashingEmbedder()
    report = index(workspace, "main", embedder=embedder)
    assert (report.passages, report.vectors) == (0, 600)
    assert len(failing.embedded) == 512
    assert report.embedded == len(embedder.embedded) == 600 - 512
    assert not set(failing.embedded) & set(embedder.embedded)
    assert journals(workspace) == []


def test_the_old_vectors_answer_when_the_model_fails(
    filled: Workspace, laws: Path, write_law: LawWriter
) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    write_law(3, "筏を組む者")
    add(filled, "main", [laws])
    with pytest.raises(ModelUnusable):
        index(filled, "main", embedder=HashingEmbedder(fail_after=0))
    assert found(filled, "桟橋は朝に開く")[0] == "note.md#1"
    assert status(filled) is IndexState.BEHIND


@pytest.mark.parametrize("factor", [0.0, 2.0, float("nan")])
def test_vectors_that_cannot_be_compared_are_a_failure_of_the_model(
    filled: Workspace, factor: float
) -> None:
    class Broken(HashingEmbedder):
        def embed_passages(self, *args: object, **options: object):  # type: ignore[no-untyped-def]
            return super().embed_passages(*args, **options) * factor  # type: ignore[arg-type]

    with pytest.raises(ModelUnusable, match="of length 1"):
        index(filled, "main", embedder=Broken())
    assert status(filled) is IndexState.MISSING


def test_a_corpus_without_passages(workspace: Workspace, laws: Path) -> None:
    (laws / "a.txt").write_text("桟橋は朝に開く。", encoding="utf-8")
    add(workspace, "main", [laws])
    remove_documents(workspace, "main", ["a.txt"])
    report = index(workspace, "main", embedder=HashingEmbedder())
    assert (report.embedded, report.vectors) == (0, 0)
    assert status(workspace, "hashing", deep=True) is IndexState.FRESH
    assert found(workspace, "桟橋") == []


def test_one_passage_of_a_megabyte(workspace: Workspace, laws: Path, write_law: LawWriter) -> None:
    write_law(1, "舟を出す者" * 70_000, articles=1)
    add(workspace, "main", [laws])
    seen: list[Event] = []
    embedder = HashingEmbedder(window=500)
    report = index(workspace, "main", embedder=embedder, provisions="whole", on_event=seen.append)
    assert report.vectors >= 350_000 // 500
    assert len(found(workspace, "舟を出す者")) == 1
    last = [event for event in seen if isinstance(event, Progress) and event.phase == EMBEDDING][-1]
    assert last.done == last.total == report.embedded


def test_what_is_about_to_be_done_is_told_before_it_is(filled: Workspace) -> None:
    seen: list[Event] = []
    index(filled, "main", embedder=HashingEmbedder(), on_event=seen.append)
    told = [event for event in seen if not isinstance(event, Progress) or event.phase == EMBEDDING]
    assert isinstance(told[0], EmbeddingPlanned)
    assert (told[0].windows, told[0].passages, told[0].model) == (6, 6, "hashing")
    assert told[0].memory_bytes > 0
    last = {event.phase: event for event in seen if isinstance(event, Progress)}
    assert last.keys() == {FINDING_REFERENCES, INDEXING, SPLITTING, EMBEDDING}
    assert all(event.done == event.total > 0 for event in last.values())


def test_too_little_memory_is_told_before_anything_is_embedded(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag_indexes.vectors.index.memory_free", lambda: 10)
    embedder = HashingEmbedder()
    with pytest.raises(StorageError, match="MB are free"):
        index(filled, "main", embedder=embedder)
    assert embedder.embedded == []


def test_a_missing_package_is_told_before_anything_is_embedded(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localrag_indexes.vectors.layout.find_spec", lambda _: None)
    embedder = HashingEmbedder()
    with pytest.raises(ModelUnusable, match=r"pip install 'localrag\[dense\]'"):
        index(filled, "main", embedder=embedder)
    assert embedder.embedded == []
    assert index_state(filled, "main") is IndexState.FRESH


def test_a_journal_that_is_no_journal_is_named(filled: Workspace) -> None:
    with pytest.raises(ModelUnusable):
        index(filled, "main", embedder=HashingEmbedder(fail_after=0))
    (journal,) = journals(filled)
    journal.write_bytes(b"garbage" * 1000)
    with pytest.raises(StorageError, match=r"journal-.*delete it"):
        index(filled, "main", embedder=HashingEmbedder())
    journal.unlink()
    assert index(filled, "main", embedder=HashingEmbedder()).vectors == 6


def test_trying_another_model_loses_nothing(
    workspace: Workspace, laws: Path, write_law: LawWriter
) -> None:
    write_law(1, articles=300)
    add(workspace, "main", [laws])
    with pytest.raises(ModelUnusable):
        index(workspace, "main", embedder=HashingEmbedder("slow", fail_after=256))
    assert index(workspace, "main", embedder=HashingEmbedder("fast")).embedded == 300
    assert index(workspace, "main", embedder=HashingEmbedder("fast")).skipped
    assert index(workspace, "main", embedder=HashingEmbedder("slow")).embedded == 300 - 256
    assert journals(workspace) == []


def test_a_journal_that_a_kill_left_beside_its_index_is_deleted(filled: Workspace) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    with KeptVectors.of(filled.corpus("main").vectors, "hashing"):
        assert journals(filled)
    assert index(filled, "main", embedder=HashingEmbedder()).skipped
    assert journals(filled) == []


def test_removing_a_corpus_removes_its_vectors(filled: Workspace) -> None:
    index(filled, "main", embedder=HashingEmbedder())
    remove_corpus(filled, "main")
    assert not filled.corpus("main").vectors.exists()


def test_a_real_model_finds_a_passage_by_its_own_words(
    filled: Workspace, tiny_encoder: TinyEncoder
) -> None:
    with LlamaCppEmbedder(tiny_encoder.gguf, id="tiny", prefixes=E5, threads=1) as embedder:
        assert index(filled, "main", embedder=embedder).vectors == 6
        place = filled.corpus("main")
        folder = current(place.vectors)
        assert folder is not None
        with (
            CorpusStore.open(place.store) as store,
            VectorIndex.open(folder, model="tiny", dimension=embedder.dimension) as vectors,
        ):
            note = next(p for _, p in store.passages() if p.document_id == "note.md")
            (window,) = embedder.windows(note.text, note.header)
            (hit,) = vectors.search(embedder.embed_passages([window])[0], 1)
            assert store.by_keys([hit.key])[hit.key].id == note.id
            assert hit.score == pytest.approx(1, abs=1e-4)
