"""Derived layers: what is made of a corpus once, kept row by row beside the store.

A row belongs to one sentence, document or part of one, or to the documents that share some
metadata: it has its place, what was made of it, and a digest of all that it was made of (document,
prompt, model, code). Whoever shows a derived text to a user quotes the sentence at its span, never
the text.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from hashlib import blake2b
from os import SEEK_END
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from localrag.corpus.durable import locked
from localrag.corpus.journal import Journal
from localrag.corpus.types import Label
from localrag.corpus.workspace import CorpusPaths
from localrag.errors import BusyError, ModelUnusable, StorageError, StoreError, UsageError
from localrag.language import N_
from localrag.search.types import ModelCall
from localrag.text.facts import Fact, FactKind
from localrag_models.errors import ReplyInvalid

SENTENCES = "sentences"
"""Every sentence as it is, so that it can be searched for."""
DECONTEXTUALIZED = "decontextualized"
"""Every sentence, rewritten so that it can be read alone."""
QUESTIONS = "questions"
"""What a reader would have had to ask to complete a sentence, with the answers."""
METADATA = "metadata"
"""Of every document what it is told apart by, in the categories that were declared (PR3)."""
SYNTHETIC_QA = "synthetic-qa"
"""Of every document, or part of one, questions that it answers, with answers and their spans."""
MK_SUMMARIES = "mk-summaries"
"""Of the questions of documents that share metadata a summary of what they are about."""
LAYERS = (SENTENCES, DECONTEXTUALIZED, QUESTIONS, METADATA, SYNTHETIC_QA, MK_SUMMARIES)
"""All layers, each after those that it is made of."""
SEARCHED = (SENTENCES, DECONTEXTUALIZED, QUESTIONS, SYNTHETIC_QA)
"""Those whose texts are searched in."""


class Outcome(StrEnum):
    """What became of a sentence, or of whatever a row is made of.

    Attributes:
        MADE: something was made of it.
        UNCHANGED: there is nothing to make; of a sentence that stands alone, that it does.
        REFUSED: code refused all that the model wrote: of a sentence for names or figures which the
            document does not have, or for lacking those of the sentence, which stands as it is.
        MALFORMED: the reply could not be read twice, or the context of the model does not hold the
            request; a sentence stands as it is.
    """

    MADE = "made"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    MALFORMED = "malformed"


class DerivedText(NamedTuple):
    """A text made of a sentence, a document, or some questions.

    Attributes:
        text: a rewritten sentence, a question, or a summary.
        answer: of a question.
        word: what a question asks with, see `localrag.search.question.asked`.
        start, end: of a synthetic question, the span of the document where its answer stands; -1
            of every other text.
    """

    text: str
    answer: str = ""
    word: str = ""
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """What was made of one sentence, document or part of one; or of the questions of some.

    Attributes:
        document: the id of its document; of a summary, what its documents share, in words
            (`localrag.prepare.summaries.named`).
        start, end: its span there, or as much of the document as the model read; of a summary 0 and
            the characters of the questions.
        source: digest of what stands at the span; of a summary, of the questions.
        made_of: digest of all that it was made of.
        outcome: what became of it.
        texts: what was made; none unless it is `Outcome.MADE`.
        refused: what the model wrote and code refused, a line each.
        prompt, cached, completion: tokens that it took; `cached` are those of `prompt` that the
            model had read before.
        seconds: that it took.
        labels: in the layer `METADATA` what the document is told apart by; of a summary, what its
            documents share.
        rests_on: of a summary the places of the rows of `SYNTHETIC_QA` with its questions.
        questions: of a summary, how many they are.
    """

    document: str
    start: int
    end: int
    source: str
    made_of: str
    outcome: Outcome
    texts: tuple[DerivedText, ...] = ()
    refused: str = ""
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    seconds: float = 0.0
    labels: tuple[Label, ...] = ()
    rests_on: tuple[tuple[str, int], ...] = ()
    questions: int = 0

    @property
    def place(self) -> tuple[str, int]:
        """What tells it from the other rows of its layer."""
        return self.document, self.start

    @property
    def refusals(self) -> int:
        """How many texts code refused."""
        return len(self.refused.splitlines())


class Span(NamedTuple):
    """Characters of a document."""

    start: int
    end: int


class Made(NamedTuple):
    """What was made by a job; `outcome`, `texts`, `refused` and `labels` as of `DerivedRow`.

    Attributes:
        calls: of the model.
        problem: why nothing could be read: what the reply is, or that the context does not hold the
            request; None of every other outcome.
    """

    outcome: Outcome
    texts: tuple[DerivedText, ...] = ()
    refused: str = ""
    calls: Sequence[ModelCall] = ()
    labels: tuple[Label, ...] = ()
    problem: Fact | None = None


class Job(NamedTuple):
    """What a row is to be made of: a sentence, a document or part of one, or some questions.

    Attributes:
        document, span, source, rests_on, questions: as of `DerivedRow`.
        made_of: digest of all that it is made of.
        make: makes it; raises what a model fails with, but for a reply that cannot be read.
    """

    document: str
    span: Span
    source: str
    made_of: str
    make: Callable[[], Made]
    rests_on: tuple[tuple[str, int], ...] = ()
    questions: int = 0

    def row(self, made: Made, seconds: float) -> DerivedRow:
        """The row of what was made."""
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
    """What tells some texts, in this order, from all others."""
    found = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        found.update(len(content).to_bytes(8) + content)
    return found.hexdigest()


def unreadable(error: ModelUnusable, calls: Sequence[ModelCall]) -> Made:
    """What was made where a model could not manage one sentence.

    Raises:
        ModelUnusable: it cannot manage any.
    """
    if not error.of_one_request:
        raise error
    problem = calls[-1].problem if calls and error.kind == ReplyInvalid.__name__ else None
    problem = problem or Fact(FactKind.MODEL_FAILED, cause=error.cause)
    return Made(Outcome.MALFORMED, calls=calls, problem=problem)


_ROWS = TypeAdapter(DerivedRow)
# Bytes at the end of a layer that tell whether rows have come or gone.
_TAIL = 4096


class DerivedLayer:
    """The rows of one layer of a corpus; no file need be there yet.

    Raises:
        StorageError: the file cannot be read or written (as for every method).
        StoreError: it is damaged (likewise).
    """

    def __init__(self, place: CorpusPaths, name: str) -> None:
        self.name = name
        self._folder = place.layers
        self._path = place.layers / f"{name}.jsonl"
        self._journal = Journal(self._path, _ROWS, partial(_damaged, self._path))

    def rows(self) -> Iterator[DerivedRow]:
        """All rows, in the order in which they were made; of one sentence, the last one counts."""
        return (line.row for line in self._journal.lines())

    @property
    def is_there(self) -> bool:
        """Whether it was begun."""
        return self._path.exists()

    @property
    def stamp(self) -> str:
        """What tells its rows from those of another time, without reading them all; "" of none."""
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
        """The rows that count, in the order in which they were made."""
        last = {line.row.place: line.offset for line in self._journal.lines()}
        # Another process may have added rows since.
        return (
            line.row for line in self._journal.lines() if last.get(line.row.place) == line.offset
        )

    def digests(self) -> dict[tuple[str, int], str]:
        """What the rows that count were made of, without their texts."""
        return {row.place: row.made_of for row in self.rows()}

    def append(self, row: DerivedRow) -> None:
        """Write down a row; when this returns, no kill can lose it."""
        self._journal.append(row)

    def keep(self, digests: Collection[str]) -> int:
        """Keep the rows made of these, each once; returns how many went."""
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
        """Remove the rows made of some documents, also with others; returns how many went."""
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
        """Open it to be added to: one process at a time.

        Raises:
            BusyError: another process does.
        """
        busy = BusyError(
            N_("Another process prepares the layer {layer}."),
            N_("Wait until it has finished."),
            layer=self.name,
        )
        with locked(self._folder / f"{self.name}.lock", busy), self._journal:
            yield


def require(names: Collection[str]) -> tuple[str, ...]:
    """The layers of these names, each after the one that it is made of.

    Raises:
        UsageError: there is no such layer.
    """
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
