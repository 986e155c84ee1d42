"""`chain`: ChainRAG, sub-question by sub-question over a graph of sentences.

1. **Decomposition**, if it is needed, into sub-questions with a single answer each.
2. **For every sub-question, in order:**

   - *Completion.* The model says whether it refers to an earlier answer, and writes that in.
   - *Retrieval.* The nearest sentence is the seed. Its neighbours in the graph have a like meaning,
     the same document, or the same rare words. `_SHOWN` sentences are kept, seed and neighbours
     first, then the next nearest.
   - *Is it enough?* If not, up to `_ADDED` neighbours of the kept sentences are added.
   - *Answer*, in as few words as possible.
3. **Two final answers**, one from the sub-answers, one from all sentences. The supported one is
   given; of two, the latter.

The graph is not stored: the index of the layer `sentences` finds the neighbours of a sentence.

Source: Zhu et al., "Mitigating Lost-in-Retrieval Problems in Retrieval Augmented Multi-Hop Question
Answering" (ACL 2025). The paper tags named entities; rare words are used here instead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from localrag.answer.evidence import Sentence, element
from localrag.answer.pieces import Piece
from localrag.answer.types import Answer, Status
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, register
from localrag.methods.generative import numbered_prompt
from localrag.methods.multihop import (
    DECOMPOSITION_CALLS,
    MOST_QUESTIONS,
    DraftedAnswer,
    checked,
    decompose,
    drafted_answer,
    label_of,
    messages_of,
)
from localrag.methods.toolkit import Toolkit
from localrag.prepare.layers import SENTENCES, LayerText
from localrag.search.types import Query

# Sentences for a sub-question, and those added if they are not enough.
_SHOWN, _ADDED = 7, 5
# Neighbours of one kind, and sentences whose neighbours are added.
_NEIGHBOURS, _WIDENED = 5, 3
# Sentences ordered by nearness to a sub-question.
_ORDERED = 50
_LONGEST = 200


class StepAnswer(NamedTuple):
    """A completed sub-question, its answer, and the cited sentences."""

    question: str
    answer: str
    cited: tuple[Piece, ...]


class _Verdict(BaseModel):
    holds: bool


class _Completed(BaseModel):
    question: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class _Final(BaseModel):
    answer: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


# Calls: enough and answer for one sub-question, and the two final answers.
_OF_ONE, _FINAL = 2, 2
_FURTHER = MOST_QUESTIONS - 1


@register(
    "chain",
    N_(
        "a model splits the question, and answers its parts one after the other, each with the "
        "answers before it"
    ),
    source=N_("ChainRAG: sentence graph, sub-questions completed by the answers before them"),
    # A further sub-question takes one more for its completion, and one for each question before it.
    # A sub-question that finds nothing takes none.
    calls=Calls(
        fixed=DECOMPOSITION_CALLS.fixed + _OF_ONE + _FINAL,
        more=DECOMPOSITION_CALLS.more + _FURTHER * (_OF_ONE + 1) + sum(range(1, MOST_QUESTIONS)),
    ),
    layers=(SENTENCES,),
)
def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    questions = decompose(toolkit, case.query) or (case.query.text,)
    steps: list[StepAnswer] = []
    found: list[LayerText] = []
    for number, text in enumerate(questions, 1):
        label = label_of(number)
        asked = replace(case.query, text=_completed(toolkit, case, text, steps, label), options=())
        near = toolkit.search_layer(SENTENCES, asked, _ORDERED, subject=label)
        ranked = [one.found for one in near]
        around = _around(toolkit, asked, ranked, ranked[:1], label)
        texts = list(dict.fromkeys((*around, *ranked)))[:_SHOWN]
        sentences = toolkit.derived_sentences(texts, messages_of(toolkit, asked))
        if sentences and not _is_enough(toolkit, asked, sentences, label):
            wider = _around(toolkit, asked, ranked, texts[:_WIDENED], label)
            texts += [one for one in wider if one not in texts][:_ADDED]
            sentences = toolkit.derived_sentences(texts, messages_of(toolkit, asked))
        written = drafted_answer(toolkit, asked, sentences, f"answer {number}")
        if written is not None:
            cited = tuple(sentences[number - 1].piece for number in written.numbers)
            steps.append(StepAnswer(asked.text, written.text, cited))
        found += texts
    return _final(toolkit, case.query, steps, found)


def _completed(
    toolkit: Toolkit, case: Case, text: str, steps: Sequence[StepAnswer], label: str
) -> str:
    """A sub-question with the earlier answer in it."""
    for step in steps:
        values = {"earlier": step, "tag": element("text", [text, step.question, step.answer])}
        asked = replace(case.query, text=text, options=())
        messages = toolkit.prompt("chain_refers", asked, **values)
        if toolkit.ask(messages, _Verdict, f"{label} refers").holds:
            messages = toolkit.prompt("chain_completed", asked, **values)
            written = toolkit.ask(messages, _Completed, f"{label} completed").question
            return " ".join(written.split()) if any(map(str.isalnum, written)) else text
    return text


def _around(
    toolkit: Toolkit,
    asked: Query,
    ranked: Sequence[LayerText],
    sentences: Sequence[LayerText],
    label: str,
) -> list[LayerText]:
    """Sentences and then their neighbours in the graph, those nearest to the question first."""
    found = {one: None for each in sentences for one in _beside(toolkit, asked, each, label)}
    place = {text: rank for rank, text in enumerate(ranked)}
    neighbours = sorted(
        (one for one in found if one not in sentences), key=lambda one: place.get(one, len(place))
    )
    return [*sentences, *neighbours]


def _beside(toolkit: Toolkit, asked: Query, sentence: LayerText, label: str) -> Iterator[LayerText]:
    """The neighbours of a sentence: of like meaning, of its document, with the same rare words."""
    like = replace(asked, text=sentence.text)
    inside = replace(like, filters=replace(asked.filters, documents=(sentence.document,)))
    subject = f"{label}, neighbours"
    for query, words in ((like, False), (inside, False), (like, True)):
        # A sentence also finds itself.
        near = toolkit.search_layer(SENTENCES, query, _NEIGHBOURS + 1, words=words, subject=subject)
        yield from (one.found for one in near)


def _is_enough(toolkit: Toolkit, asked: Query, sentences: Sequence[Sentence], label: str) -> bool:
    messages = numbered_prompt(toolkit, "chain_enough", asked, sentences)
    return toolkit.ask(messages, _Verdict, f"{label} enough").holds


def _final(
    toolkit: Toolkit, asked: Query, steps: Sequence[StepAnswer], found: Sequence[LayerText]
) -> Answer:
    """The supported one of two answers: from all sentences, and from the sub-answers."""
    texts = list({one.place: one for one in found}.values())
    sentences = toolkit.derived_sentences(texts, messages_of(toolkit, asked))
    joined = None
    if steps:
        written = [part for step in steps for part in (step.question, step.answer)]
        messages = toolkit.prompt("chain_answer", asked, steps=steps, tag=element("text", written))
        cited = [piece for step in steps for piece in step.cited]
        joined = DraftedAnswer(
            toolkit.ask(messages, _Final, "answer from answers").answer,
            tuple(sentence.number for sentence in sentences if sentence.piece in cited),
        )
    direct = drafted_answer(toolkit, asked, sentences, "answer from sentences")
    answers = [checked(toolkit, asked, sentences, one) for one in (direct, joined) if one]
    carried = [one for one in answers if one.status is Status.SUPPORTED]
    best = [*carried, *answers, checked(toolkit, asked, sentences, None)][0]
    return replace(best, trace=toolkit.trace)
