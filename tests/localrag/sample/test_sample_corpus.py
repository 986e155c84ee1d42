"""The sample corpus is whole: it shows what laws are made of, and no reference dangles."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from localrag import sample as sample_corpus
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ITEMS, Locator
from localrag.corpus.workspace import Workspace

from ...rows import each

ACT, ORDER, ORDINANCE = "599AC0000000001", "599CO0000000002", "599M60000800003"
LAWS = sorted((sample_corpus.FOLDER / "laws").glob("*.xml"))


@pytest.fixture
def store(sample_home: Path) -> Iterator[CorpusStore]:
    path = Workspace.locate(sample_home).corpus("main").store
    with CorpusStore.open(path, read_only=True) as store:
        yield store


def test_everything_was_entered(store: CorpusStore) -> None:
    documents = list(store.documents())
    assert [document.id for document in documents][:3] == [ACT, ORDER, ORDINANCE]
    assert len([document for document in documents if document.kind == "law"]) == 3
    assert len(documents) == 12


@each("element", ["Chapter", "Section", "Item", "Subitem1", "AppdxTable"])
def test_the_act_shows_the_structures_of_laws(element: str) -> None:
    tree = etree.parse(LAWS[0])
    assert tree.getroot().tag == "Law"
    assert tree.findall(f".//{element}")


def test_articles_are_numbered_as_they_are_printed(store: CorpusStore) -> None:
    assert " ".join(store.articles(ACT)) == "1 2 3 4 5 6 6_2 7 8 9 10 11 12 13 14 15 16 17"
    assert store.articles(ACT, "suppl1") == ["1", "2"]
    assert " ".join(store.articles(ORDINANCE)) == "1 2 3 4 5 5_2 6 7"


@pytest.mark.parametrize(
    ("words", "filler"), [("政令で定める", ORDER), ("国土交通省令で定める", ORDINANCE)]
)
def test_every_delegation_is_filled_in(store: CorpusStore, words: str, filler: str) -> None:
    delegating = [
        passage
        for _, passage in store.passages(layer="paragraphs", document_id=ACT)
        if words in passage.text and "ところにより" not in passage.text
    ]
    assert len(delegating) >= 3
    for passage in delegating:
        fillers = {
            reference.document_id
            for reference in store.references_to(ACT, Locator(article=passage.locator.article))
            if reference.kind == "delegated-by"
        }
        assert filler in fillers, passage.header


def test_every_reference_inside_the_laws_reaches_a_provision(store: CorpusStore) -> None:
    for law in (ACT, ORDER, ORDINANCE):
        references = store.references_from(law, Locator())
        assert references
        for reference in references:
            if reference.law_id:
                assert store.provision_exists(reference.law_id, reference.target), reference


def test_mutatis_mutandis_is_shown(store: CorpusStore) -> None:
    kinds = {r.kind for r in store.references_from(ACT, Locator(article="6_2"))}
    assert "applies-mutatis-mutandis" in kinds


def test_items_of_items(store: CorpusStore) -> None:
    place = Locator(article="4", paragraph="2", item="3", subitem="2")
    found = store.at(ACT, place, ITEMS)
    assert found is not None
    assert "推進の方法" in found.text


def test_terms_are_defined(store: CorpusStore) -> None:
    terms = {definition.term for definition in store.definitions_in(ACT)}
    assert {"渡し舟", "渡し舟事業", "渡し場", "渡し守", "渡し舟事業者", "重大事故"} <= terms
