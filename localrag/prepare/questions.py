"""Completion questions (DeconRAG, preparation): what a sentence leaves to the text around it.

Between a sentence and its decontextualised form lies what a reader had to know. A model asks for
it, in questions that can be read alone; code keeps those that have no pronoun and whose answer is
what was added, and tells the word that they are asked with.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from localrag.answer.asking import ask
from localrag.answer.checking import covers
from localrag.answer.evidence import element
from localrag.answer.prompts import language_of, prompt, template
from localrag.corpus.config import ChatConfig
from localrag.corpus.types import Document
from localrag.errors import ModelUnusable
from localrag.prepare.decontextualized import curly, pointing_words
from localrag.prepare.layers import (
    DerivedRow,
    DerivedText,
    Job,
    Made,
    Outcome,
    Span,
    digest,
    unreadable,
)
from localrag.search.question.asked import interrogative_of
from localrag.search.types import ModelCall
from localrag_indexes.analysis.normalize import letters_of
from localrag_models.chat import ChatModel

PROMPT = "completion_questions"
# Changed when code makes other questions of the same reply.
_VERSION = "5"
_MOST, _LONGEST = 4, 300
# Share of what a question speaks of that its sentence speaks of beside the answer: "What is the
# name of the tornado outbreak?" asks of any text.
_OF_SENTENCE = 2 / 3


class _Pair(BaseModel):
    question: Annotated[str, Field(min_length=1, max_length=_LONGEST)]
    answer: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class _Reply(BaseModel):
    pairs: Annotated[list[_Pair], Field(max_length=_MOST)]


class Questioner:
    """Has a model ask for what was added to sentences.

    Args:
        model: what writes.
        settings: of the model.
        rewritten: the rows of the layer of decontextualised sentences, by document.
    """

    def __init__(
        self,
        model: ChatModel,
        settings: ChatConfig,
        rewritten: Mapping[str, list[DerivedRow]],
    ) -> None:
        self._model = model
        self._settings = settings
        self._rewritten = rewritten
        self._recipe = digest(_VERSION, model.id, template(PROMPT), str(settings.temperature))

    def jobs(self, document: Document) -> Iterator[Job]:
        """The sentences of a document that were rewritten, in order."""
        for row in self._rewritten.get(document.id, ()):
            sentence = document.text[row.start : row.end]
            (rewritten, *_), *_ = row.texts
            made_of = digest(self._recipe, sentence, rewritten)
            yield Job(
                document.id,
                Span(row.start, row.end),
                digest(sentence),
                made_of,
                partial(self._made, sentence, rewritten),
            )

    def _made(self, sentence: str, rewritten: str) -> Made:
        calls: list[ModelCall] = []
        messages = prompt(
            PROMPT,
            language_of(rewritten),
            sentence=curly(sentence),
            rewritten=curly(rewritten),
            tag=element("text", [sentence, rewritten]),
        )
        try:
            reply = ask(self._model, self._settings, messages, _Reply, calls.append, PROMPT)
        except ModelUnusable as error:
            return unreadable(error, calls)
        # A small model writes the same pair again.
        kept = tuple(
            DerivedText(question, answer, interrogative_of(question).value)
            for question, answer in dict.fromkeys(
                (pair.question, pair.answer)
                for pair in reply.pairs
                if _completes(pair, sentence, rewritten)
            )
        )
        if kept or not reply.pairs:
            return Made(Outcome.MADE if kept else Outcome.UNCHANGED, kept, calls=calls)
        refused = "\n".join(f"{pair.question}\t{pair.answer}" for pair in reply.pairs)
        return Made(Outcome.REFUSED, refused=refused, calls=calls)


def _completes(pair: _Pair, sentence: str, rewritten: str) -> bool:
    """Whether a pair asks, in words that can be read alone, for something that was added.

    The answer stands in the rewritten sentence, not in the sentence, and not in the question; an
    answer that is the whole sentence answers nothing, and a question that has little of the
    sentence asks for nothing that this sentence alone says. An English question that has no mark
    at its end was broken off, as small models do before a quotation.
    """
    answer, whole = letters_of(pair.answer), letters_of(rewritten)
    beside = re.sub(re.escape(pair.answer), " ", rewritten, flags=re.IGNORECASE)
    return (
        bool(answer)
        and answer in whole
        and 2 * len(answer) < len(whole)
        and answer not in letters_of(sentence)
        and answer not in letters_of(pair.question)
        and not pointing_words(pair.question)
        and (language_of(pair.question) != "en" or pair.question.rstrip("”’\"' ").endswith("?"))
        and covers(pair.question, [beside]) > _OF_SENTENCE
    )
