"""DeconRAG: search decontextualised sentences and their completion questions, in three steps.

`decon`, as published:

1. **Decomposition**, in the two steps of ChainRAG, into sub-questions with a single answer each.
2. **Retrieval** of N sentences for each sub-question (``method.sentences``):

   - those whose completion question has a cosine of T (``method.threshold``) and the same
     interrogative;
   - those whose completion question has a cosine of T;
   - the nearest decontextualised sentences. Without vectors, words find these alone.
3. **Answer.** One call, on all rewritten sentences. Code checks and cites the sources.

`decon-plain-qd` does without completion questions, `decon-plain` also without decomposition.

`decon-hybrid` is ours. Every step fuses BM25 with the vectors. From each sentence it goes on to one
of another document, nearest to question and sentence together (multi-hop dense retrieval, Xiong et
al. 2021). So it needs no call for a second hop. It withholds an unsupported answer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from pydantic import Field

from localrag.answer.types import Answer, Status
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Purpose, register
from localrag.methods.multihop import (
    SPLIT_CALLS,
    SentenceSettings,
    answer_from_texts,
    sub_questions,
)
from localrag.methods.toolkit import Toolkit
from localrag.prepare.layers import DECONTEXTUALIZED, QUESTIONS, FoundText, LayerText
from localrag.search import MAX_CHARACTERS
from localrag.search.query import full_text
from localrag.search.question.asked import AnswerKind, Expectation, interrogative_of
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind
from localrag_indexes.fusion import convex_combination


class DeconSettings(SentenceSettings):
    """N and T of the paper."""

    threshold: float = Field(
        0.8,
        ge=-1,
        le=1,
        description="cosine from which a prepared question is taken for the one asked; see "
        "`localrag calibrate`",
    )


# A sentence has this many completion questions at most.
_QUESTIONS_OF_ONE = 4
# Fused texts of each of two searches.
_DEPTH = 50
# Weight of words beside meaning, chosen on every other question of HotpotQA and MuSiQue. A weight
# of 1 did harm: a sentence is too short to have the words of a question.
_OF_WORDS = 0.5

_Asked = tuple[Query, str]
"""A question and its name in the trace."""
_Search = Callable[..., list[FoundText]]
"""Has the arguments of `Toolkit.search_layer`; the score is the cosine."""


def nearest_sentences(case: Case, toolkit: Toolkit, questions: Sequence[_Asked]) -> list[LayerText]:
    """The decontextualised sentences nearest to each question."""
    k = DeconSettings.of(case.settings).sentences
    return [
        one.found
        for asked, subject in questions
        for one in toolkit.search_layer(DECONTEXTUALIZED, asked, k, subject=subject)
    ]


def three_steps(case: Case, toolkit: Toolkit, questions: Sequence[_Asked]) -> list[LayerText]:
    """The sentences of each question, by the three steps of the paper."""
    settings, search = DeconSettings.of(case.settings), toolkit.search_layer
    return [text for one in questions for text in _of_one(settings, toolkit, search, *one)]


def hybrid_steps(case: Case, toolkit: Toolkit, questions: Sequence[_Asked]) -> list[LayerText]:
    """The three steps by vectors and words, and from each sentence one further sentence."""
    settings, search = DeconSettings.of(case.settings), partial(_fused, toolkit)
    found: dict[tuple[str, int], LayerText] = {}
    for asked, subject in questions:
        first = _of_one(settings, toolkit, search, asked, subject)
        found |= {text.place: text for text in first}
        for text in first:
            further = replace(asked, text=f"{asked.text} {text.sentence}"[:MAX_CHARACTERS])
            near = search(DECONTEXTUALIZED, further, _DEPTH, subject=f"{subject} further".strip())
            others = (one.found for one in near if one.found.document != text.document)
            if new := next((one for one in others if one.place not in found), None):
                found[new.place] = new
    return list(found.values())


def _of_one(
    settings: DeconSettings, toolkit: Toolkit, search: _Search, asked: Query, subject: str
) -> list[LayerText]:
    """N sentences for one question: a step is taken while there are fewer."""
    found: dict[tuple[str, int], LayerText] = {}
    for step in _steps(settings, toolkit, search, asked, subject):
        for one in step:
            found.setdefault(one.found.place, one.found)
        if len(found) >= settings.sentences:
            break
    return list(found.values())[: settings.sentences]


def _steps(
    settings: DeconSettings, toolkit: Toolkit, search: _Search, asked: Query, subject: str
) -> Iterator[Sequence[FoundText]]:
    if toolkit.layers_have_vectors:
        k = _QUESTIONS_OF_ONE * settings.sentences
        for word in dict.fromkeys((interrogative_of(asked.text).value, "")):
            near = search(QUESTIONS, asked, k, word=word, subject=subject)
            yield [one for one in near if one.score >= settings.threshold]
    # Half of these may have been found by their questions.
    yield search(DECONTEXTUALIZED, asked, 2 * settings.sentences, subject=subject)


def _fused(
    toolkit: Toolkit, layer: str, asked: Query, k: int, *, word: str = "", subject: str
) -> list[FoundText]:
    """The texts of a layer by vectors and words, with their cosines; 0 if only words found it."""
    near = toolkit.search_layer(layer, asked, _DEPTH, word=word, subject=subject)
    if not toolkit.layers_have_vectors:
        return near[:k]
    worded = toolkit.search_layer(layer, asked, _DEPTH, word=word, words=True, subject=subject)
    meaning, words = (dict(found) for found in (near, worded))
    order = convex_combination((meaning, words), (1.0, _OF_WORDS), (None, 0.0))
    return [FoundText(text, meaning.get(text, 0.0)) for text in list(order)[:k]]


_DECLARED = {
    "source": N_("DeconRAG: decontextualised sentences, completion questions, three steps"),
    "calls": SPLIT_CALLS,
    "layers": (DECONTEXTUALIZED,),
    "settings": ("sentences",),
}
_WITH_QUESTIONS = {"layers": (DECONTEXTUALIZED, QUESTIONS), "settings": ("sentences", "threshold")}


@register(
    "decon",
    N_(
        "a model splits the question, and answers on sentences found by the questions that they "
        "answer, else by their meaning"
    ),
    **_DECLARED | _WITH_QUESTIONS,
    retrieve=three_steps,
)
@register(
    "decon-plain-qd",
    N_("a model splits the question, and answers on the rewritten sentences nearest to its parts"),
    **_DECLARED,
    retrieve=nearest_sentences,
)
@register(
    "decon-plain",
    N_("a model answers in few words on the rewritten sentences nearest to the question"),
    **_DECLARED | {"calls": Calls(fixed=1)},
    retrieve=nearest_sentences,
    split=False,
)
def answer(
    case: Case,
    toolkit: Toolkit,
    *,
    retrieve: Callable[[Case, Toolkit, Sequence[_Asked]], list[LayerText]],
    split: bool = True,
) -> Answer:
    """Answer one question by the steps at the head of this file."""
    parts = sub_questions(toolkit, case.query) if split else []
    questions = [
        (replace(case.query, text=text, options=()), label if len(parts) > 1 else "")
        for text, label in parts
    ] or [(case.query, "")]
    found = retrieve(case, toolkit, questions)
    # A sentence that two sub-questions find is shown once.
    texts = {one.place: one for one in found}
    return answer_from_texts(toolkit, case.query, list(texts.values()))


@register(
    "decon-hybrid",
    N_(
        "questions over several documents: a model splits the question, and answers on sentences "
        "found by meaning and words; code withholds unsupported answers"
    ),
    **_DECLARED | _WITH_QUESTIONS | {"source": ""},
    purpose=Purpose.USE,
)
def answer_if_supported(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the hybrid steps; withhold an unsupported answer.

    A yes or no is in no sentence, and is given as unsupported.
    """
    given = answer(case, toolkit, retrieve=hybrid_steps)
    kind = Expectation.of(full_text(case.query)).kind
    if given.status is not Status.UNSUPPORTED or kind is AnswerKind.YES_OR_NO:
        return given
    doubt = Fact(FactKind.WITHHELD, answer=given.text)
    return Answer("", (), Status.NOT_FOUND, trace=given.trace, doubts=(doubt,))
