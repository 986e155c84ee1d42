"""The texts of the derived searched layers, with the places of their sources."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from localrag.answer.pieces import Piece, joined, sentences_of
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, Document, Passage
from localrag.errors import NotFoundError
from localrag.prepare.layers import DECONTEXTUALIZED, QUESTIONS, SYNTHETIC_QA, DerivedRow, digest
from localrag.search.units import attributes

WORD = "word"
"""The attribute with the interrogative of a question."""


class LayerText(NamedTuple):
    """A text of a layer, and its source sentence.

    Attributes:
        layer: its name.
        document: the id of the document.
        start, end: the span of the sentence in characters; for a synthetic question, of its answer.
        source: digest of the sentence (`localrag.prepare.layers.digest`).
        passage: the id of the passage around the sentence.
        text: for the search: a sentence or a question.
        sentence: to be read alone; for a question, the sentence that it completes or that answers
            it.
        answer: of a question.
        word: the interrogative of a question.
    """

    layer: str
    document: str
    start: int
    end: int
    source: str
    passage: str
    text: str
    sentence: str
    answer: str = ""
    word: str = ""

    @property
    def place(self) -> tuple[str, int]:
        """The key of its sentence."""
        return self.document, self.start


class FoundText(NamedTuple):
    """A text found by a search.

    Attributes:
        found: the text.
        score: its cosine, or its BM25 score.
    """

    found: LayerText
    score: float


class TextSource(NamedTuple):
    """The source of a text in the corpus.

    Attributes:
        passage: around it.
        piece: the sentence; for a synthetic question, the joined sentences of its answer.
    """

    passage: Passage
    piece: Piece


def source_of(store: CorpusStore, text: LayerText) -> TextSource | None:
    """The source of a text, if the corpus still has it.

    Of sentences in two passages only those of the first: a quotation is from one passage.
    """
    passage = store.by_id(text.passage)
    if passage is None:
        return None
    inside = [
        piece for piece in sentences_of(store, passage) if text.start <= piece.start < text.end
    ]
    if not inside or inside[0].start != text.start:
        return None
    if digest(store.text(text.document, text.start, text.end)) != text.source:
        return None
    return TextSource(passage, joined(passage, inside))


class LayerReading:
    """Reads the sources of rows; neighbouring rows are mostly of one document."""

    def __init__(self, store: CorpusStore) -> None:
        self._read = lru_cache(maxsize=8)(store.read)
        self._rewritten: dict[tuple[str, int], str] = {}

    def texts(self, layer: str, row: DerivedRow) -> Iterator[LayerText]:
        """The searched texts of a row; an unchanged sentence is its own text.

        None if the document or the sentence is gone, or the rewritten sentence of a question.
        """
        try:
            document = self._read(row.document)
        except NotFoundError:
            return
        sentence = document.text[row.start : row.end]
        if digest(sentence) != row.source:
            return
        if layer == SYNTHETIC_QA:
            yield from _answered(document, row)
            return
        passage = _holder(document, row.start)
        if passage is None:
            return
        place = (layer, row.document, row.start, row.end, row.source, passage.id)
        if layer != QUESTIONS:
            text = row.texts[0].text if row.texts else sentence
            if layer == DECONTEXTUALIZED:
                self._rewritten[row.place] = text
            yield LayerText(*place, text, text)
        elif row.place in self._rewritten:
            rewritten = self._rewritten[row.place]
            for made in row.texts:
                yield LayerText(*place, made.text, rewritten, made.answer, made.word)

    def header(self, text: LayerText) -> str:
        """The heading of the sentence."""
        passages = self._read(text.document).passages
        return next(one.header for one in passages if one.id == text.passage)

    def attributes(self, text: LayerText) -> Mapping[str, str]:
        """The attributes for filters."""
        found = attributes(self._read(text.document), text.layer)
        return found | {WORD: text.word} if text.word else found


def _answered(document: Document, row: DerivedRow) -> Iterator[LayerText]:
    """The questions of a row, each with its answering sentences."""
    for made in row.texts:
        passage = _holder(document, made.start)
        if passage is not None:
            answering = document.text[made.start : made.end]
            place = (SYNTHETIC_QA, row.document, made.start, made.end, digest(answering))
            yield LayerText(*place, passage.id, made.text, answering, made.answer, made.word)


def _holder(document: Document, start: int) -> Passage | None:
    """The smallest passage or article around a sentence."""
    holders = (
        one
        for one in document.passages
        if one.layer in (PASSAGES, ARTICLES) and one.start <= start < one.end
    )
    return min(holders, key=lambda one: one.end - one.start, default=None)


def lines_of(path: Path) -> Iterator[tuple[int, LayerText]]:
    """The texts, with the bytes at which their lines begin."""
    key = 0
    with path.open("rb") as file:
        for line in file:
            yield key, as_text(line)
            key += len(line)


def as_text(line: bytes) -> LayerText:
    """Read a text from its line."""
    return LayerText(*json.loads(line))
