"""What is searched in: the texts of the derived layers, each where its sentence stands."""

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
from localrag.search.indexing.state import attributes

WORD = "word"
"""The attribute of a text that tells what a question asks with."""


class LayerText(NamedTuple):
    """A text of a layer, and the sentence that it was made of.

    Attributes:
        layer: which one.
        document: the id of the document.
        start, end: the span of the sentence there, in characters; of a synthetic question, of the
            sentences that answer it.
        source: digest of the sentence as the document had it (`localrag.prepare.layers.digest`).
        passage: the id of the passage that the sentence stands in.
        text: as it is searched in: a sentence, or a question.
        sentence: as it can be read alone; of a question, the sentence that it completes, or the
            sentences that answer it.
        answer: of a question.
        word: what a question asks with.
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
        """What tells its sentence from all others, whatever was made of it."""
        return self.document, self.start


class FoundText(NamedTuple):
    """A text that a search has found.

    Attributes:
        found: the text.
        score: its cosine to what was searched for; by words its BM25 score.
    """

    found: LayerText
    score: float


class TextSource(NamedTuple):
    """What a text was made of, as the corpus has it.

    Attributes:
        passage: that holds it.
        piece: the sentence; of a synthetic question the sentences that answer it, as one.
    """

    passage: Passage
    piece: Piece


def source_of(store: CorpusStore, text: LayerText) -> TextSource | None:
    """What a text was made of, if it stands there as it did.

    Of sentences that go on in the next passage those of the first: a quotation is of one passage.
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
    """Reads sentences where they stand; rows of one document mostly follow each other."""

    def __init__(self, store: CorpusStore) -> None:
        self._read = lru_cache(maxsize=8)(store.read)
        self._rewritten: dict[tuple[str, int], str] = {}

    def texts(self, layer: str, row: DerivedRow) -> Iterator[LayerText]:
        """What is searched for of a row; of a sentence that stands as it is, the sentence.

        None where the document is gone or has another sentence there now, or where a question is of
        a rewritten sentence that is gone.
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
        """Where the sentence stands, in words."""
        passages = self._read(text.document).passages
        return next(one.header for one in passages if one.id == text.passage)

    def attributes(self, text: LayerText) -> Mapping[str, str]:
        """What searches filter by."""
        found = attributes(self._read(text.document), text.layer)
        return found | {WORD: text.word} if text.word else found


def _answered(document: Document, row: DerivedRow) -> Iterator[LayerText]:
    """The questions of a document, each with the sentences that answer it."""
    for made in row.texts:
        passage = _holder(document, made.start)
        if passage is not None:
            answering = document.text[made.start : made.end]
            place = (SYNTHETIC_QA, row.document, made.start, made.end, digest(answering))
            yield LayerText(*place, passage.id, made.text, answering, made.answer, made.word)


def _holder(document: Document, start: int) -> Passage | None:
    """The narrowest that holds a sentence: a passage of a document, an article of a law."""
    holders = (
        one
        for one in document.passages
        if one.layer in (PASSAGES, ARTICLES) and one.start <= start < one.end
    )
    return min(holders, key=lambda one: one.end - one.start, default=None)


def lines_of(path: Path) -> Iterator[tuple[int, LayerText]]:
    """The texts with the bytes at which their lines begin."""
    key = 0
    with path.open("rb") as file:
        for line in file:
            yield key, as_text(line)
            key += len(line)


def as_text(line: bytes) -> LayerText:
    """Read a text from its line."""
    return LayerText(*json.loads(line))
