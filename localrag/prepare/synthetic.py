"""Synthetic questions: what each document answers, with the answers and where they stand (PR3).

A model reads a document, or a part of a long one, in numbered sentences, and writes questions with
answers and the numbers of the sentences that hold them. Code keeps a pair whose answer stands there
word for word, but for case, width and punctuation, and whose question can be read alone and has no
name, figure or date that the document lacks.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, create_model

from localrag.config import ChatConfig
from localrag.corpus.store import CorpusStore
from localrag.corpus.types import Document
from localrag.errors import ModelUnusable
from localrag.prepare.decontextualized import brings_particulars, curly, pointing_words
from localrag.prepare.layers import DerivedText, Job, Made, Outcome, Span, digest, unreadable
from localrag.prepare.making import Parts, sentence_spans
from localrag.prompts import language_of, prompt, template
from localrag.question.asked import interrogative_of
from localrag.reading.asking import ask
from localrag.reading.evidence import element
from localrag.retrieval.types import ModelCall
from localrag_indexes.analysis.normalize import letters_of
from localrag_models.chat import ChatModel, Message

PROMPT = "synthetic_questions"
# Changed when code makes other questions of the same reply.
_VERSION = "2"
# What a question cannot speak of that is to be understood without its document.
_OF_DOCUMENT = re.compile(
    r"\b(?:the|this) (?:document|passage|text|sentence)s?\b|[本この](?:文書|文章)", re.IGNORECASE
)
# Questions of one part, as many as most papers of PR3 have; characters of a part; sentences that
# one answer can stand in.
_MOST, _PART, _CITED = 6, 4000, 3
_LONGEST = 300


class _Pair(BaseModel):
    sentences: list[int]
    question: Annotated[str, Field(min_length=1, max_length=_LONGEST)]
    answer: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class _Reply(BaseModel):
    pairs: Annotated[list[_Pair], Field(max_length=_MOST)]


class _Sentence(NamedTuple):
    number: int
    text: str


class AnswerWriter:
    """Has a model ask what documents answer."""

    def __init__(self, store: CorpusStore, model: ChatModel, settings: ChatConfig) -> None:
        self._store = store
        self._model = model
        self._settings = settings
        self._recipe = digest(_VERSION, model.id, template(PROMPT), str(settings.temperature))

    def jobs(self, document: Document) -> Iterator[Job]:
        """The parts of a document, in order."""
        spans = sentence_spans(self._store, document)
        for run in Parts(document, spans, lambda span: span.end - span.start <= _PART).runs:
            part = Span(run[0].start, run[-1].end)
            text = document.text[part.start : part.end]
            made_of = digest(self._recipe, document.title, text)
            make = partial(self._made, document, run)
            yield Job(document.id, part, digest(text), made_of, make)

    def _made(self, document: Document, spans: Sequence[Span]) -> Made:
        calls: list[ModelCall] = []
        kept: dict[str, DerivedText] = {}
        refused: list[str] = []

        def fits(span: Span) -> bool:
            shown = [one for one in spans if span.start <= one.start < span.end]
            return self._fits(self._messages(document, shown))

        # A part that the context does not hold is asked about in pieces.
        for run in Parts(document, spans, fits).runs:
            try:
                reply = ask(
                    self._model,
                    self._settings,
                    self._messages(document, run),
                    _shape(len(run)),
                    calls.append,
                    PROMPT,
                )
            except ModelUnusable as error:
                return unreadable(error, calls)
            for pair in reply.pairs:
                text = _checked(document, run, pair)
                if text is None:
                    refused.append(f"{_line(pair.question)}\t{_line(pair.answer)}")
                else:
                    kept.setdefault(letters_of(text.text), text)
        if kept:
            return Made(Outcome.MADE, tuple(kept.values()), "\n".join(refused), calls)
        outcome = Outcome.REFUSED if refused else Outcome.UNCHANGED
        return Made(outcome, refused="\n".join(refused), calls=calls)

    def _messages(self, document: Document, spans: Sequence[Span]) -> tuple[Message, ...]:
        # A model that writes JSON ends its text at the first mark that ends a JSON string.
        texts = [curly(" ".join(document.text[start:end].split())) for start, end in spans]
        return prompt(
            PROMPT,
            language_of("".join(texts)),
            title=document.title,
            sentences=[_Sentence(number, text) for number, text in enumerate(texts, 1)],
            most=_MOST,
            tag=element("document", [document.title, *texts]),
        )

    def _fits(self, messages: Sequence[Message]) -> bool:
        return self._model.count(messages) + self._settings.max_tokens <= self._model.context


def _checked(document: Document, spans: Sequence[Span], pair: _Pair) -> DerivedText | None:
    """The question of a pair that can be read alone and is answered where it is said to be."""
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
    """The sentences of some numbers from 1, those that follow each other as one span."""
    ordered = sorted(set(numbers))
    for _, run in groupby(enumerate(ordered), key=lambda one: one[1] - one[0]):
        cited = [spans[number - 1] for _, number in run]
        yield Span(cited[0].start, cited[-1].end)


def _line(text: str) -> str:
    return " ".join(text.split())


@cache
def _shape(sentences: int) -> type[Any]:
    """The shape of a reply that can cite only the sentences there are."""
    number = Annotated[int, Field(ge=1, le=sentences)]
    # The numbers come first: what is written then is written with the sentences in view.
    pair = create_model(
        "Pair",
        __base__=_Pair,
        sentences=Annotated[list[number], Field(min_length=1, max_length=_CITED)],
    )
    pairs: Any = Annotated[list[pair], Field(max_length=_MOST)]
    return create_model("Reply", __base__=_Reply, pairs=pairs)
