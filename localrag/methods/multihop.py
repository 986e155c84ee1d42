"""The steps that the methods for multi-hop questions share: decomposition and the final answer.

The final answer cites sentences by number, like the claims of `generative`. Code inserts the quoted
words and checks the answer against them. It does not check that they are about the question: the
sentences of the last step may not be. A yes or no is in no sentence, so it is `unsupported`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from localrag.answer.evidence import Sentence, element
from localrag.answer.types import Answer, Status
from localrag.errors import ModelUnusable
from localrag.methods.catalogue import Calls, MethodSettings
from localrag.methods.generative import (
    ClaimChecker,
    answer_of,
    as_asked,
    drafted,
    numbered_prompt,
    reply_shape,
)
from localrag.methods.toolkit import MessagesOf, Toolkit
from localrag.prepare.layers import LayerText
from localrag.search.query import full_text
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind
from localrag_indexes import fusion
from localrag_models.errors import ReplyInvalid

STAGE, NEED = "decomposition", "decomposition need"

MOST_QUESTIONS = 4
"""Sub-questions at most. No question of the published datasets needs more."""

DECOMPOSITION_CALLS = Calls(fixed=1, more=1)
"""Calls of `decompose`. The second one is made if splitting is needed."""

SPLIT_CALLS = Calls(fixed=DECOMPOSITION_CALLS.fixed + 1, more=DECOMPOSITION_CALLS.more)
"""Calls of a decomposition and an answer. The last one is saved if nothing is found."""

_LONGEST_QUESTION, _LONGEST_ANSWER = 200, 150
# Two of each step of the longest questions.
_MOST_CITED = 8


class SentenceSettings(MethodSettings):
    """For methods that look for sentences with each sub-question."""

    sentences: int = Field(
        3,
        ge=1,
        le=100,
        description="sentences for a sub-question, of methods that search layers or check claims",
    )


class _Need(BaseModel):
    needed: bool


class _SubQuestions(BaseModel):
    questions: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=_LONGEST_QUESTION)]],
        Field(min_length=1, max_length=MOST_QUESTIONS),
    ]


def decompose(toolkit: Toolkit, asked: Query) -> tuple[str, ...]:
    """Have the model split a question, in the two steps of ChainRAG.

    Source: Zhu et al., "Mitigating Lost-in-Retrieval Problems in Retrieval Augmented Multi-Hop
    Question Answering" (ACL 2025). None if the model sees no need. Empty, with an event, if its
    reply is malformed twice or has no word.
    """
    tag = element("text", [full_text(asked)])
    try:
        messages = toolkit.prompt("decomposition_need", asked, tag=tag)
        if not toolkit.ask(messages, _Need, NEED).needed:
            return ()
        messages = toolkit.prompt("decomposition", asked, most=MOST_QUESTIONS, tag=tag)
        written = toolkit.ask(messages, _SubQuestions, STAGE).questions
    except ModelUnusable as error:
        written = none_if_malformed(error)
    questions = each_once(written)
    if not questions:
        toolkit.note(STAGE, [Fact(FactKind.NOT_DECOMPOSED)])
    return questions


def sub_questions(toolkit: Toolkit, asked: Query) -> list[tuple[str, str]]:
    """The sub-questions of `decompose`, each with its name in the trace."""
    parts = decompose(toolkit, asked)
    return [(text, label_of(number)) for number, text in enumerate(parts, 1)]


def label_of(number: int) -> str:
    """The name of a sub-question in the trace; numbers start at 1."""
    return f"sub-question {number}"


def none_if_malformed(error: ModelUnusable) -> list[str]:
    """No questions if a reply stayed malformed; any other failure is raised."""
    if error.kind != ReplyInvalid.__name__:
        raise error
    return []


def each_once(written: Sequence[str]) -> tuple[str, ...]:
    """The questions with a word, each once, with single blanks."""
    with_words = (one for one in written if any(map(str.isalnum, one)))
    return tuple(dict.fromkeys(" ".join(one.split()) for one in with_words))


def answer_from(toolkit: Toolkit, asked: Query, hits: Sequence[Hit]) -> Answer:
    """Answer from all sentences of some hits, best first; a small context leaves out the last."""
    sentences = toolkit.all_sentences(hits, messages_of(toolkit, asked)) if hits else ()
    return checked(toolkit, asked, sentences, drafted_answer(toolkit, asked, sentences))


def answer_from_texts(toolkit: Toolkit, asked: Query, found: Sequence[LayerText]) -> Answer:
    """Answer from rewritten sentences of a layer; code quotes their sources."""
    sentences = toolkit.derived_sentences(found, messages_of(toolkit, asked))
    return checked(toolkit, asked, sentences, drafted_answer(toolkit, asked, sentences))


def messages_of(toolkit: Toolkit, asked: Query) -> MessagesOf:
    """Makes the prompt for an answer from numbered sentences."""
    return partial(numbered_prompt, toolkit, "multihop_answer", asked)


class DraftedAnswer(NamedTuple):
    """The answer of a model, and the numbers of the cited sentences."""

    text: str
    numbers: tuple[int, ...] = ()


def drafted_answer(
    toolkit: Toolkit, asked: Query, sentences: Sequence[Sentence], purpose: str = "answer"
) -> DraftedAnswer | None:
    """Have the model answer from numbered sentences; None if it finds no answer."""
    if not sentences:
        return None
    shape = reply_shape(len(sentences), claims=1, cited=_MOST_CITED, longest=_LONGEST_ANSWER)
    messages = messages_of(toolkit, asked)(sentences)
    reply = toolkit.ask(messages, shape, purpose, claims=drafted)
    if not reply.claims:
        return None
    return DraftedAnswer(reply.claims[0].text, tuple(reply.claims[0].sentences))


def checked(
    toolkit: Toolkit, asked: Query, sentences: Sequence[Sentence], answer: DraftedAnswer | None
) -> Answer:
    """The answer with its citations, after code has checked it."""
    if answer is None:
        return Answer("", (), Status.NOT_FOUND, toolkit.trace)
    with toolkit.store() as store:
        checker = ClaimChecker(store, sentences, full_text(asked))
        claim = checker.check(answer.text, answer.numbers).claim
    return answer_of(toolkit, as_asked([claim], full_text(asked)), checker)


def in_turn(found: Sequence[Sequence[Hit]]) -> list[Hit]:
    """The hits of several searches, the best of each first, every passage once."""
    return list({hit.passage.id: hit for hit in fusion.in_turn(found)}.values())
