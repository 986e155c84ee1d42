"""DeconRAG: retrieval in three steps over decontextualised sentences and completion questions.

`decon`, as published:

1. **Decomposition**, in ChainRAG's two steps: is it needed? If so, sub-questions with a single
   answer each.
2. **Retrieval.** For every sub-question N sentences (``method.sentences``). First those whose
   completion question has a cosine of T or more (``method.threshold``) to it and asks with the same
   word; then those whose completion question has T or more; then the nearest decontextualised
   sentences. Where the corpus has no vectors there is no cosine: words find the last of these.
3. **Answer.** One call, on all sentences found, as rewritten. Code checks the answer against the
   source sentences, and cites these.

`decon-plain` leaves out decomposition and completion questions, `decon-plain-qd` the latter alone.

`decon-hybrid` is ours: in every step BM25 is fused with the vectors. Each sentence found leads on
to one of another document, the nearest to question and sentence together (as in multi-hop dense
retrieval, Xiong et al. 2021): so a second hop is found without a call, also where the model has not
split the question well. An answer that no sentence carries is withheld.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from localrag.answer.types import Answer, Status
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Method
from localrag.methods.multihop import decomposition
from localrag.methods.multihop.answering import answer_from_texts
from localrag.methods.toolkit import Toolkit
from localrag.prepare.layers import DECONTEXTUALIZED, QUESTIONS
from localrag.prepare.texts import FoundText, LayerText
from localrag.search.query import MAX_CHARACTERS, full_text
from localrag.search.question.asked import AnswerKind, Expectation, interrogative_of
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind
from localrag_indexes.fusion import convex_combination

# A sentence has this many completion questions at most.
_QUESTIONS_OF_ONE = 4
# Texts that each of two searches gives to be fused.
_DEPTH = 50
# What words count beside meaning: a sentence is too short to hold those of a question. Looked at on
# every other question of HotpotQA and MuSiQue; as much as meaning they did harm.
_OF_WORDS = 0.5

Retrieve = Callable[[Case, Toolkit, Sequence[Query]], list[LayerText]]
"""Finds sentences for sub-questions, in their order; or for the question, if it is not split."""
_Search = Callable[..., list[FoundText]]
"""Searches a layer, with the arguments of `Toolkit.search_layer`; the score is the cosine."""


def nearest_sentences(case: Case, toolkit: Toolkit, questions: Sequence[Query]) -> list[LayerText]:
    """The decontextualised sentences nearest to each question."""
    return [
        one.found
        for asked, subject in _labelled(questions)
        for one in toolkit.search_layer(
            DECONTEXTUALIZED, asked, case.settings.sentences, subject=subject
        )
    ]


def three_steps(case: Case, toolkit: Toolkit, questions: Sequence[Query]) -> list[LayerText]:
    """The sentences of each question, by the three steps of the paper."""
    return [
        text
        for asked, subject in _labelled(questions)
        for text in _of_one(case, toolkit, toolkit.search_layer, asked, subject)
    ]


def hybrid_steps(case: Case, toolkit: Toolkit, questions: Sequence[Query]) -> list[LayerText]:
    """The three steps by vectors and words, and for each sentence one more that it leads on to."""
    search = partial(_fused, toolkit)
    found: dict[tuple[str, int], LayerText] = {}
    for asked, subject in _labelled(questions):
        first = _of_one(case, toolkit, search, asked, subject)
        found |= {text.place: text for text in first}
        for text in first:
            further = replace(asked, text=f"{asked.text} {text.sentence}"[:MAX_CHARACTERS])
            near = search(DECONTEXTUALIZED, further, _DEPTH, subject=f"{subject} further".strip())
            others = (one.found for one in near if one.found.document != text.document)
            if new := next((one for one in others if one.place not in found), None):
                found[new.place] = new
    return list(found.values())


def _of_one(
    case: Case, toolkit: Toolkit, search: _Search, asked: Query, subject: str
) -> list[LayerText]:
    """N sentences for one question: each step fills up what the ones before it have left."""
    found: dict[tuple[str, int], LayerText] = {}
    for step in _steps(case, toolkit, search, asked, subject):
        for one in step:
            found.setdefault(one.found.place, one.found)
        if len(found) >= case.settings.sentences:
            break
    return list(found.values())[: case.settings.sentences]


def _steps(
    case: Case, toolkit: Toolkit, search: _Search, asked: Query, subject: str
) -> Iterator[Sequence[FoundText]]:
    if toolkit.layers_have_vectors:
        k = _QUESTIONS_OF_ONE * case.settings.sentences
        for word in dict.fromkeys((interrogative_of(asked.text).value, "")):
            near = search(QUESTIONS, asked, k, word=word, subject=subject)
            yield [one for one in near if one.score >= case.settings.threshold]
    # Of the sentences nearest to it, as many may have been found by their questions.
    yield search(DECONTEXTUALIZED, asked, 2 * case.settings.sentences, subject=subject)


def _fused(
    toolkit: Toolkit, layer: str, asked: Query, k: int, *, word: str = "", subject: str
) -> list[FoundText]:
    """The texts of a layer by vectors and by words, each with its cosine.

    What words alone have found is not among the nearest: it counts as 0.
    """
    near = toolkit.search_layer(layer, asked, _DEPTH, word=word, subject=subject)
    if not toolkit.layers_have_vectors:
        return near[:k]
    worded = toolkit.search_layer(layer, asked, _DEPTH, word=word, words=True, subject=subject)
    meaning, words = (dict(found) for found in (near, worded))
    order = convex_combination((meaning, words), (1.0, _OF_WORDS), (None, 0.0))
    return [FoundText(text, meaning.get(text, 0.0)) for text in list(order)[:k]]


def _labelled(questions: Sequence[Query]) -> list[tuple[Query, str]]:
    """Each question with what the trace calls its search."""
    if len(questions) == 1:
        return [(questions[0], "")]
    return [(one, decomposition.label_of(number)) for number, one in enumerate(questions, 1)]


def _answer(case: Case, toolkit: Toolkit, *, split: bool, retrieve: Retrieve) -> Answer:
    """Answer one question by the steps at the head of this file."""
    parts = decomposition.decompose(toolkit, case.query) if split else ()
    questions = [replace(case.query, text=text, options=()) for text in parts] or [case.query]
    found = retrieve(case, toolkit, questions)
    # A sentence that two sub-questions find is shown once.
    texts = {one.place: one for one in found}
    return answer_from_texts(toolkit, case.query, list(texts.values()))


def _answer_if_carried(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the hybrid steps; an answer that no sentence carries is withheld.

    A yes or no stands in no sentence: it is given, and told to be unsupported.
    """
    answer = _answer(case, toolkit, split=True, retrieve=hybrid_steps)
    kind = Expectation.of(full_text(case.query)).kind
    if answer.status is not Status.UNSUPPORTED or kind is AnswerKind.YES_OR_NO:
        return answer
    doubt = Fact(FactKind.WITHHELD, answer=answer.text)
    return Answer("", (), Status.NOT_FOUND, trace=answer.trace, doubts=(doubt,))


_LAYERS = (DECONTEXTUALIZED, QUESTIONS)
_SOURCE = N_("DeconRAG: decontextualised sentences, completion questions, three steps")
# The last call falls away where nothing is found.
_SPLIT_CALLS = Calls(fixed=decomposition.CALLS.fixed + 1, more=decomposition.CALLS.more)

PLAIN = Method(
    name="decon-plain",
    about=N_("a model answers in few words on the rewritten sentences nearest to the question"),
    answer=partial(_answer, split=False, retrieve=nearest_sentences),
    source=_SOURCE,
    calls=Calls(fixed=1),
    chooses=False,
    layers=(DECONTEXTUALIZED,),
    settings=("sentences",),
)
PLAIN_QD = Method(
    name="decon-plain-qd",
    about=N_(
        "a model splits the question, and answers on the rewritten sentences nearest to its parts"
    ),
    answer=partial(_answer, split=True, retrieve=nearest_sentences),
    source=_SOURCE,
    calls=_SPLIT_CALLS,
    chooses=False,
    layers=(DECONTEXTUALIZED,),
    settings=("sentences",),
)
DECON = Method(
    name="decon",
    about=N_(
        "a model splits the question, and answers on sentences found by the questions that they "
        "answer, else by their meaning"
    ),
    answer=partial(_answer, split=True, retrieve=three_steps),
    source=_SOURCE,
    calls=_SPLIT_CALLS,
    chooses=False,
    layers=_LAYERS,
    settings=("sentences", "threshold"),
)
HYBRID = Method(
    name="decon-hybrid",
    about=N_(
        "like decon, by words as well, and from each sentence on to another document; what no "
        "sentence carries is withheld"
    ),
    answer=_answer_if_carried,
    calls=_SPLIT_CALLS,
    chooses=False,
    layers=_LAYERS,
    settings=("sentences", "threshold"),
)
