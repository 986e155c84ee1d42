"""Real laws through the whole of ingestion; skipped where the data is missing."""

from pathlib import Path

import pytest

from localrag.corpus.ingest.add import add
from localrag.corpus.readers import read
from localrag.corpus.readers.types import ReadFailure
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, Locator
from localrag.corpus.workspace import Workspace
from localrag.search.indexing.index import index

ACT = "405AC0000000088"  # 行政手続法


@pytest.fixture(scope="module")
def files(shared_data: Path) -> list[Path]:
    """A dozen laws of every kind."""
    everything = sorted((shared_data / "egov" / "xml").glob("*.xml"))
    named = [file for file in everything if file.name.startswith(ACT)]
    return sorted({*everything[::30], *named})


@pytest.fixture(scope="module")
def filled(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace with them, indexed; not to be written."""
    workspace = Workspace.locate(tmp_path_factory.mktemp("real") / "home")
    report = add(workspace, "main", files, workers=2)
    assert (report.added, report.failed) == (len(files), [])
    index(workspace, "main", workers=2)
    return workspace


def test_every_document_comes_back_as_it_was_read(filled: Workspace, files: list[Path]) -> None:
    with CorpusStore.open(filled.corpus("main").store, read_only=True) as store:
        for file in files:
            (document,) = read(file)
            assert not isinstance(document, ReadFailure)
            assert store.read(document.id) == document
        assert store.check() == []


def test_every_passage_is_found_by_id_key_and_place(filled: Workspace) -> None:
    with CorpusStore.open(filled.corpus("main").store, read_only=True) as store:
        for key, passage in store.passages(document_id=ACT):
            assert store.key_of(passage.id) == key
            assert store.by_keys([key]) == {key: passage}
            assert store.at(ACT, passage.locator, passage.layer) == passage


@pytest.mark.parametrize("layer", [ARTICLES, PARAGRAPHS, ITEMS])
def test_within_agrees_with_the_model_on_real_places(filled: Workspace, layer: str) -> None:
    with CorpusStore.open(filled.corpus("main").store, read_only=True) as store:
        everything = [passage for _, passage in store.passages(document_id=ACT, layer=layer)]
        for number in store.articles(ACT):
            place = Locator(article=number)
            inside = [passage for passage in everything if place.contains(passage.locator)]
            assert store.within(ACT, place, layer) == inside


def test_references_point_at_provisions_and_stand_where_they_say(filled: Workspace) -> None:
    with CorpusStore.open(filled.corpus("main").store, read_only=True) as store:
        found = store.references_from(ACT, Locator(article="14"))
        assert found
        for reference in found:
            article = store.at(ACT, Locator(article="14"), ARTICLES)
            assert article is not None
            assert article.start <= reference.start < reference.end <= article.end
            if reference.law_id == ACT:
                assert reference in store.references_to(ACT, reference.target)


def test_adding_again_reads_nothing(filled: Workspace, files: list[Path]) -> None:
    report = add(filled, "main", files)
    assert (report.files_unchanged, report.added, report.replaced) == (len(files), 0, 0)
    assert index(filled, "main").skipped
