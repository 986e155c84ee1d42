"""Derived layers: made once from a corpus, and stored row by row beside the store.

A row belongs to a sentence, to a document or a part of one, or to documents with the same metadata.
It has a digest of its sources: document, prompt, model, code. An answer quotes the sentence at its
span, never a derived text.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial
from hashlib import blake2b
from os import SEEK_END
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from localrag.answer.pieces import Piece, joined, sentences_of
from localrag.corpus.durable import locked
from localrag.corpus.journal import Journal
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, PASSAGES, Document, Label, Passage
from localrag.corpus.workspace import CorpusPaths
from localrag.errors import (
    BusyError,
    ModelUnusable,
    NotFoundError,
    StorageError,
    StoreError,
    UsageError,
)
from localrag.language import N_
from localrag.search.types import ModelCall
from localrag.search.units import attributes
from localrag.text.facts import Fact, FactKind
from localrag_models.errors import ReplyInvalid

SENTENCES = "sentences"
"""Every sentence as it is, to be searched."""
DECONTEXTUALIZED = "decontextualized"
"""Every sentence, rewritten to be read alone."""
QUESTIONS = "questions"
"""Questions completing a sentence, with answers."""
METADATA = "metadata"
"""The categories of every document (PR3)."""
SYNTHETIC_QA = "synthetic-qa"
"""Questions answered by a document, with answers and their spans."""
MK_SUMMARIES = "mk-summaries"
"""Summaries of the questions of documents with the same metadata."""
LAYERS = (SENTENCES, DECONTEXTUALIZED, QUESTIONS, METADATA, SYNTHETIC_QA, MK_SUMMARIES)
"""All layers, each after its sources."""
SEARCHED = (SENTENCES, DECONTEXTUALIZED, QUESTIONS, SYNTHETIC_QA)
"""The searched layers."""


class UnitOutcome(StrEnum):
    """The outcome for a sentence, or another unit; without a text a sentence stays as it is.

    `UNCHANGED`: it can be read alone. `REFUSED`: code refused all texts of the model, with new
    names or figures or without its own. `MALFORMED`: the reply was malformed twice, or the context
    is too small.
    """

    MADE = "made"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    MALFORMED = "malformed"


class DerivedText(NamedTuple):
    """A text made of a sentence, a document, or some questions."""

    text: str  # a rewritten sentence, a question, or a summary
    answer: str = ""  # of a question
    word: str = ""  # the interrogative of a question, see `localrag.search.question.asked`
    start: int = -1  # start, end: the span of the answer of a synthetic question; else -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A row of a layer."""

    # its id; of a summary, the shared labels in words (`localrag.prepare.summaries.named`)
    document: str
    # start, end: the span of the source; of a summary, 0 and the characters of its questions
    start: int
    end: int
    source: str  # digest of the text at the span, or of the questions
    made_of: str  # digest of all sources
    outcome: UnitOutcome
    texts: tuple[DerivedText, ...] = ()  # only for `UnitOutcome.MADE`
    refused: str = ""  # refused texts, a line each
    # prompt, cached, completion: tokens; `cached` are part of `prompt`, read before
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    seconds: float = 0.0
    # in `METADATA` those of the document; of a summary the shared ones
    labels: tuple[Label, ...] = ()
    # of a summary, the places of its rows in `SYNTHETIC_QA`
    rests_on: tuple[tuple[str, int], ...] = ()
    questions: int = 0  # of a summary, their number

    @property
    def place(self) -> tuple[str, int]:
        """The key of the row in its layer."""
        return self.document, self.start

    @property
    def refusals(self) -> int:
        """The number of refused texts."""
        return len(self.refused.splitlines())


class Span(NamedTuple):
    """Characters of a document."""

    start: int
    end: int


class Made(NamedTuple):
    """The result of a job; `outcome`, `texts`, `refused` and `labels` as in `DerivedRow`."""

    outcome: UnitOutcome
    texts: tuple[DerivedText, ...] = ()
    refused: str = ""
    calls: Sequence[ModelCall] = ()
    labels: tuple[Label, ...] = ()
    problem: Fact | None = None  # of `UnitOutcome.MALFORMED`; else None


class LayerJob(NamedTuple):
    """The work for one row."""

    document: str  # document, span, source, rests_on, questions: as in `DerivedRow`
    span: Span
    source: str
    made_of: str  # digest of all sources
    # does the work; raises the errors of a model, except for an unreadable reply
    make: Callable[[], Made]
    rests_on: tuple[tuple[str, int], ...] = ()
    questions: int = 0

    def row(self, made: Made, seconds: float) -> DerivedRow:
        """The row of a result."""
        return DerivedRow(
            self.document,
            *self.span,
            self.source,
            self.made_of,
            made.outcome,
            made.texts,
            made.refused,
            sum(call.prompt for call in made.calls),
            sum(call.cached or 0 for call in made.calls),
            sum(call.completion for call in made.calls),
            seconds,
            made.labels,
            self.rests_on,
            self.questions,
        )


_DIGEST_BYTES = 16


def digest(*parts: str) -> str:
    """The digest of some texts in this order."""
    found = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        found.update(len(content).to_bytes(8) + content)
    return found.hexdigest()


def unreadable(error: ModelUnusable, calls: Sequence[ModelCall]) -> Made:
    """The result of a job too hard for a model. Raises `ModelUnusable`."""
    if not error.of_one_request:
        raise error
    problem = calls[-1].problem if calls and error.kind == ReplyInvalid.__name__ else None
    problem = problem or Fact(FactKind.MODEL_FAILED, cause=error.cause)
    return Made(UnitOutcome.MALFORMED, calls=calls, problem=problem)


_ROWS = TypeAdapter(DerivedRow)
# Bytes at the end of a layer that change with its rows.
_TAIL = 4096


class DerivedLayer:
    """The rows of one layer of a corpus; its file need not exist yet."""

    def __init__(self, place: CorpusPaths, name: str) -> None:
        self.name = name
        self._folder = place.layers
        self._path = place.layers / f"{name}.jsonl"
        self._journal = Journal(self._path, _ROWS, partial(_damaged, self._path))

    def rows(self) -> Iterator[DerivedRow]:
        """All rows, in the order of the work; of equal places, the last one counts."""
        return (line.row for line in self._journal.lines())

    @property
    def is_there(self) -> bool:
        """Whether it was begun."""
        return self._path.exists()

    @property
    def stamp(self) -> str:
        """A digest that changes with the rows, without reading them all; "" without a file."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, SEEK_END)
                file.seek(max(0, size - _TAIL))
                return digest(str(size), file.read().decode("latin-1"))
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise StorageError(
                N_("{path} cannot be read ({problem})."),
                N_("Mend its permissions."),
                path=self._path,
                problem=error,
            ) from error

    def standing(self) -> Iterator[DerivedRow]:
        """The valid rows, in the order of the work."""
        last = {line.row.place: line.offset for line in self._journal.lines()}
        # Another process may have added rows since.
        return (
            line.row for line in self._journal.lines() if last.get(line.row.place) == line.offset
        )

    def digests(self) -> dict[tuple[str, int], str]:
        """The digests of the sources of the valid rows."""
        return {row.place: row.made_of for row in self.rows()}

    def append(self, row: DerivedRow) -> None:
        """Write a row; afterwards no kill can lose it."""
        self._journal.append(row)

    def keep(self, digests: Collection[str]) -> int:
        """Keep the rows with these source digests, each once; returns how many went."""
        offsets: dict[tuple[str, int], int] = {}
        count = 0
        for line in self._journal.lines():
            count += 1
            if line.row.made_of in digests:
                offsets[line.row.place] = line.offset
        gone = count - len(offsets)
        if gone:
            self._journal.keep(sorted(offsets.values()))
        return gone

    def drop(self, documents: Collection[str]) -> int:
        """Remove the rows of some documents, also shared ones; returns how many went."""
        kept, count = [], 0
        for line in self._journal.lines():
            count += 1
            row = line.row
            if row.document not in documents and not any(
                place[0] in documents for place in row.rests_on
            ):
                kept.append(line.offset)
        if len(kept) < count:
            self._journal.keep(kept)
        return count - len(kept)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open it for adding: one process at a time. Raises `BusyError`."""
        busy = BusyError(
            N_("Another process prepares the layer {layer}."),
            N_("Wait until it has finished."),
            layer=self.name,
        )
        with locked(self._folder / f"{self.name}.lock", busy), self._journal:
            yield


def require(names: Collection[str]) -> tuple[str, ...]:
    """The layers of these names, each after its sources. Raises `UsageError`."""
    for name in names:
        if name not in LAYERS:
            raise UsageError(
                N_("There is no layer {name!r}."),
                N_("There is: {known}."),
                name=name,
                known=", ".join(LAYERS),
            )
    return tuple(layer for layer in LAYERS if layer in names)


def _damaged(path: Path, line: int) -> StoreError:
    return StoreError(
        N_("Line {line} of {path} is no row of a layer."),
        N_("Restore the file from a copy, or delete it and prepare the layer again."),
        line=line,
        path=path,
    )


WORD = "word"
"""The attribute with the interrogative of a question."""


class LayerText(NamedTuple):
    """A text of a layer, and its source sentence."""

    layer: str
    document: str
    # start, end: the span of the sentence in characters; for a synthetic question, of its answer
    start: int
    end: int
    source: str  # digest of the sentence (`localrag.prepare.layers.digest`)
    passage: str  # the id of the passage around the sentence
    text: str  # for the search: a sentence or a question
    # to be read alone; for a question, the sentence that it completes or that answers it
    sentence: str
    answer: str = ""  # of a question
    word: str = ""  # the interrogative of a question

    @property
    def place(self) -> tuple[str, int]:
        """The key of its sentence."""
        return self.document, self.start


class FoundText(NamedTuple):
    """A text found by a search."""

    found: LayerText
    score: float  # its cosine, or its BM25 score


class TextSource(NamedTuple):
    """The source of a text in the corpus."""

    passage: Passage  # around it
    piece: Piece  # the sentence; for a synthetic question, the joined sentences of its answer


def source_of(store: CorpusStore, text: LayerText) -> TextSource | None:
    """The source of a text, if the corpus still has it; of two passages the first."""
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

        None if its source is gone.
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
