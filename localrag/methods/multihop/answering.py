"""The final call that these methods share: the evidence, and an answer in as few words as possible.

The answer cites its sentences by number, as claims of `generative` do: code puts in the words
quoted and checks the answer against them. Whether its sentences speak of the question is not asked:
where an answer takes several steps, those of the last one need not. A yes or no follows from
sentences without standing in them, and so it is `unsupported`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from localrag.answer.evidence import Sentence
from localrag.answer.types import Answer, Status
from localrag.methods.generative import (
    ClaimChecker,
    answer_of,
    as_asked,
    drafted,
    numbered_prompt,
    reply_shape,
)
from localrag.methods.toolkit import Toolkit
from localrag.prepare.texts import LayerText
from localrag.search.query import full_text
from localrag.search.types import Hit, Query
from localrag_indexes import fusion
from localrag_models.chat import Message

_LONGEST_ANSWER = 150
# Two of each step of the longest questions.
_MOST_CITED = 8


def answer_from(toolkit: Toolkit, asked: Query, hits: Sequence[Hit]) -> Answer:
    """Answer a question from all sentences of some hits, by one call; without a hit by none.

    Args:
        toolkit: of the question.
        asked: the question.
        hits: best first; what the context does not hold is left out from their end.

    Raises:
        ModelUnusable: the model failed, or its reply is malformed for the second time.
    """
    sentences = toolkit.all_sentences(hits, messages_of(toolkit, asked)) if hits else ()
    return checked(toolkit, asked, sentences, drafted_answer(toolkit, asked, sentences))


def answer_from_texts(toolkit: Toolkit, asked: Query, found: Sequence[LayerText]) -> Answer:
    """Do the same from the sentences that texts of a layer were made of, shown as rewritten.

    What is quoted, and what the answer is checked against, are the sentences as they stand.
    """
    sentences = toolkit.derived_sentences(found, messages_of(toolkit, asked))
    return checked(toolkit, asked, sentences, drafted_answer(toolkit, asked, sentences))


def messages_of(
    toolkit: Toolkit, asked: Query
) -> Callable[[Sequence[Sentence]], tuple[Message, ...]]:
    """What makes the prompt for an answer of numbered sentences."""
    return partial(numbered_prompt, toolkit, "multihop_answer", asked)


class DraftedAnswer(NamedTuple):
    """What a model answers, and the numbers of the sentences that it cites."""

    text: str
    numbers: tuple[int, ...] = ()


def drafted_answer(
    toolkit: Toolkit, asked: Query, sentences: Sequence[Sentence], purpose: str = "answer"
) -> DraftedAnswer | None:
    """Have the model answer from numbered sentences; None where it finds no answer, or has none."""
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
    """The answer with its citations, held against the sentences and the question by code."""
    if answer is None:
        return Answer(text="", citations=(), status=Status.NOT_FOUND, trace=toolkit.trace)
    with toolkit.store() as store:
        checker = ClaimChecker(store, sentences, full_text(asked))
        claim = checker.check(answer.text, answer.numbers).claim
    return answer_of(toolkit, as_asked([claim], full_text(asked)), checker)


def in_turn(found: Sequence[Sequence[Hit]]) -> list[Hit]:
    """The hits of several searches, the best of each first, every passage once."""
    return list({hit.passage.id: hit for hit in fusion.in_turn(found)}.values())
