"""Documents made by hand, and a store to put them in."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import (
    ARTICLES,
    PARAGRAPHS,
    PASSAGES,
    Document,
    Locator,
    Passage,
    Section,
)


def _law(law_id: str, title: str, places: list[str], *, filler: str = "舟を出す。") -> Document:
    """A law with a line for each place; a place with a dot is a paragraph, else an article."""
    text, passages = f"{title}\n", []
    for place in places:
        line = f"{place} {filler}"
        layer = PARAGRAPHS if "." in place else ARTICLES
        passages.append(
            Passage(
                id=f"{law_id}#{place}",
                document_id=law_id,
                layer=layer,
                text=line,
                header=f"{title} {place}",
                locator=Locator.parse(place),
                start=len(text),
                end=len(text) + len(line),
            )
        )
        text += f"{line}\n"
    return Document(
        id=law_id,
        title=title,
        kind="law",
        text=text,
        source=f"{law_id}.xml",
        passages=tuple(passages),
        sections=(Section(1, "第一章　総則", len(title) + 1, len(text)),),
        metadata={"law_num": "令和百年法律第一号", "law_type": "Act", "abbreviations": "舟法"},
    )


def _note(document_id: str, text: str) -> Document:
    """An ordinary document of one passage."""
    passage = Passage(
        f"{document_id}#1",
        document_id,
        PASSAGES,
        text,
        "覚書",
        Locator(section="序 > 一", page=2),
        0,
        len(text),
    )
    return Document(document_id, "覚書", "markdown", text, f"{document_id}", (passage,))


@pytest.fixture
def make_law() -> Callable[..., Document]:
    """Makes a law: ``make_law("L1", "渡し舟法", ["1", "1.1", "1.2", "2"])``."""
    return _law


@pytest.fixture
def make_note() -> Callable[[str, str], Document]:
    """Makes a document of one passage: ``make_note("a.md", "text")``."""
    return _note


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CorpusStore]:
    """An empty store."""
    with CorpusStore.open(tmp_path / "corpus.sqlite", create=True) as opened:
        yield opened
