from collections.abc import Iterator
from pathlib import Path

import pytest

from localrag.answer.types import Citation, verify
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES, Document, Locator, Passage

from ...rows import each

TEXT = "前置き。第一条　舟は、ｶﾞｿﾘﾝを積んで\n はならない。The Boat Act applies."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CorpusStore]:
    passage = Passage("d#p", "d", PASSAGES, TEXT[4:], "舟の規則", Locator(), 4, len(TEXT))
    with CorpusStore.open(tmp_path / "corpus.sqlite", create=True) as store:
        store.add(Document("d", "舟の規則", "text", TEXT, "d.txt", (passage,)))
        yield store


def test_a_verbatim_quote_gets_its_span_in_the_document(store: CorpusStore) -> None:
    found = verify(store, Citation("d#p", "舟は、"))
    assert found.verified
    assert TEXT[found.start : found.end] == found.quote == "舟は、"
    assert found.label == "舟の規則"


def test_of_several_places_the_one_pointed_at_is_taken(store: CorpusStore) -> None:
    second = TEXT.rindex("t")
    assert verify(store, Citation("d#p", "t", start=second)).start == second


@pytest.mark.parametrize("quote", ["ガソリンを積んではならない。", "ｶﾞｿﾘﾝ を積んではならない"])
def test_blanks_and_widths_may_differ_and_the_document_s_spelling_comes_back(
    store: CorpusStore, quote: str
) -> None:
    found = verify(store, Citation("d#p", quote))
    assert found.verified
    assert found.quote == TEXT[found.start : found.end]
    assert found.quote.startswith("ｶﾞｿﾘﾝを積んで\n は")


@each(
    ("passage", "quote", "problem"),
    [
        ("d#p", "舟は、ガソリンを積んでよい", "not in the passage"),
        ("d#p", "the boat act", "not in the passage"),
        ("d#p", "前置き。", "not in the passage"),
        ("d#p", " \n", "empty"),
        ("d#q", "舟は、", "no passage"),
        ("", "舟は、", "no passage"),
    ],
)
def test_what_the_passage_does_not_say_is_rejected(
    store: CorpusStore, passage: str, quote: str, problem: str
) -> None:
    found = verify(store, Citation(passage, quote, verified=True))
    assert not found.verified
    assert problem in str(found.problem)
