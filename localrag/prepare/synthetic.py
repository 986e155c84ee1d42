"""Synthetic questions (PR3, preparation): questions answered by a document.

A model reads a document, or a part of a long one, in numbered sentences. It writes questions with
answers and the numbers of their sentences. Code keeps a pair if the sentences have the answer word
for word (case, width and punctuation apart). The question must be clear without the document, and
have no new name, figure or date.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import groupby
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt
from localrag.corpus.config import ChatConfig
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document
from localrag.prepare.decontextualized import brings_particulars, curly, pointing_words
from localrag.prepare.layers import DerivedText, LayerJob, Made, Span, UnitOutcome, digest
from localrag.prepare.making import LayerWriter, Parts, sentence_spans, written
from localrag.search.question.asked import interrogative_of
from localrag.search.types import ModelCall
from localrag_indexes.analysis.normalize import letters_of
from localrag_models.chat import ChatModel, Message

PROMPT = "synthetic_questions"
# To be raised when code makes other questions of the same reply.
_VERSION = "2"
# Words that make a question unclear without its document.
_OF_DOCUMENT = re.compile(
    r"\b(?:the|this) (?:document|passage|text|sentence)s?\b|[本この](?:文書|文章)", re.IGNORECASE
)
# Questions of one part, as in most papers of PR3; characters of a part; sentences of an answer.
_MOST, _PART, _CITED = 6, 4000, 3
_LONGEST = 300


class _SyntheticPair(BaseModel):
    sentences: list[int]
    question: Annotated[str, Field(min_length=1, max_length=_LONGEST)]
    answer: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class _SyntheticReply(BaseModel):
    pairs: Annotated[list[_SyntheticPair], Field(max_length=_MOST)]


class AnswerWriter:
    """Has a model ask questions answered by documents."""

    def __init__(self, store: CorpusStore, model: ChatModel, settings: ChatConfig) -> None:
        self._store = store
        self._writer = LayerWriter(model, settings, PROMPT, _VERSION)

    def jobs(self, document: Document) -> Iterator[LayerJob]:
        """The parts of a document, in order."""
        spans = sentence_spans(self._store, document)
        for run in Parts(document, spans, lambda span: span.end - span.start <= _PART).runs:
            part = Span(run[0].start, run[-1].end)
            text = document.text[part.start : part.end]
            made_of = digest(self._writer.recipe, document.title, text)
            make = partial(written, self._made, document, run)
            yield LayerJob(document.id, part, digest(text), made_of, make)

    def _made(self, calls: list[ModelCall], document: Document, spans: Sequence[Span]) -> Made:
        kept: dict[str, DerivedText] = {}
        refused: list[str] = []

        def fits(span: Span) -> bool:
            shown = [one for one in spans if span.start <= one.start < span.end]
            return self._writer.fits(_messages(document, shown))

        # A part that the context does not hold is divided.
        for run in Parts(document, spans, fits).runs:
            reply = self._writer.ask(_messages(document, run), _shape(len(run)), calls)
            for pair in reply.pairs:
                text = _checked(document, run, pair)
                if text is None:
                    refused.append(f"{_line(pair.question)}\t{_line(pair.answer)}")
                else:
                    kept.setdefault(letters_of(text.text), text)
        if kept:
            return Made(UnitOutcome.MADE, tuple(kept.values()), "\n".join(refused))
        outcome = UnitOutcome.REFUSED if refused else UnitOutcome.UNCHANGED
        return Made(outcome, refused="\n".join(refused))


def _messages(document: Document, spans: Sequence[Span]) -> tuple[Message, ...]:
    # A straight quotation mark would end the JSON string that the model writes.
    texts = [curly(" ".join(document.text[start:end].split())) for start, end in spans]
    return prompt(
        PROMPT,
        language_of("".join(texts)),
        title=document.title,
        sentences=[{"number": number, "text": text} for number, text in enumerate(texts, 1)],
        most=_MOST,
        tag=element("document", [document.title, *texts]),
    )


def _checked(document: Document, spans: Sequence[Span], pair: _SyntheticPair) -> DerivedText | None:
    """The question of a pair that code accepts."""
    answer, question = letters_of(pair.answer), letters_of(pair.question)
    if not answer or not question or answer in question:
        return None
    if pointing_words(pair.question) or _OF_DOCUMENT.search(pair.question):
        return None
    part = document.text[spans[0].start : spans[-1].end]
    if brings_particulars(pair.question, [part], [document.title]):
        return None
    for span in _cited(spans, pair.sentences):
        if answer in letters_of(document.text[span.start : span.end]):
            asked, word = _line(pair.question), interrogative_of(pair.question).value
            return DerivedText(asked, _line(pair.answer), word, *span)
    return None


def _cited(spans: Sequence[Span], numbers: Sequence[int]) -> Iterator[Span]:
    ordered = sorted(set(numbers))
    for _, run in groupby(enumerate(ordered), key=lambda one: one[1] - one[0]):
        cited = [spans[number - 1] for _, number in run]
        yield Span(cited[0].start, cited[-1].end)


def _line(text: str) -> str:
    return " ".join(text.split())


@cache
def _shape(sentences: int) -> type[Any]:
    """The shape of a reply, bound to the numbers of the sentences."""
    number = Annotated[int, Field(ge=1, le=sentences)]
    # The numbers come first: the question follows from the sentences.
    pair = create_model(
        "Pair",
        __base__=_SyntheticPair,
        sentences=Annotated[list[number], Field(min_length=1, max_length=_CITED)],
    )
    pairs: Any = Annotated[list[pair], Field(max_length=_MOST)]
    return create_model("Reply", __base__=_SyntheticReply, pairs=pairs)
