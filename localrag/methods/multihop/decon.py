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

`decon-hybrid` is ours: in every step BM25 is fused with the vectors, by ranks. Each sub-question is
besides searched for in the documents that it names, and that the sentences found before it name: so
a search goes on from what the one before has found, without a call. An answer that no sentence
carries is withheld.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from localrag.facts import Fact, FactKind
from localrag.language import N_
from localrag.methods.multihop import decomposition
from localrag.methods.multihop.answering import answer_from_texts
from localrag.methods.toolkit import Toolkit
from localrag.methods.types import Calls, Case, Method
from localrag.prepare.index import FoundText, LayerText
from localrag.prepare.layers import DECONTEXTUALIZED, QUESTIONS
from localrag.question.expectation import AnswerKind, Expectation
from localrag.question.interrogatives import interrogative_of
from localrag.reading.types import Answer, Status
from localrag.retrieval.query import full_text
from localrag.retrieval.types import Query
from localrag_indexes.fusion import reciprocal_rank_fusion

# A sentence has this many completion questions at most.
_QUESTIONS_OF_ONE = 4
# Texts that each of two searches gives to be fused.
_DEPTH = 50

Retrieve = Callable[[Case, Toolkit, Sequence[Query]], list[LayerText]]
"""Finds sentences for sub-questions, in their order; or for the question, if it is not split."""
_Search = Callable[..., list[FoundText]]
"""Searches a layer, with the arguments of `Toolkit.search_layer`; the score is the cosine."""


def nearest_sentences(case: Case, toolkit: Toolkit, questions: Sequence[Query]) -> list[LayerText]:
    """The decontextualised sentences nearest to each question."""
    return [
        one.found
        for asked, subject in _labelled(questions)
        for one in toolkit.search_layer(DECONTEXTUALIZED, asked, case.sentences, subject=subject)
    ]


def three_steps(case: Case, toolkit: Toolkit, questions: Sequence[Query]) -> list[LayerText]:
    """The sentences of each question, by the three steps of the paper."""
    return [
        text
        for asked, subject in _labelled(questions)
        for text in _of_one(case, toolkit, toolkit.search_layer, asked, subject)
    ]


def hybrid_steps(case: Case, toolkit: Toolkit, questions: Sequence[Query]) -> list[LayerText]:
    """The same by vectors and words, everywhere and in the documents named so far."""
    search = partial(_fused, toolkit)
    found: list[LayerText] = []
    for asked, subject in _labelled(questions):
        named = _named_by(toolkit, [asked.text, *(one.sentence for one in found)])
        allowed = asked.filters.documents
        within = tuple(id_ for id_ in named if not allowed or id_ in allowed)
        found += _of_one(case, toolkit, search, asked, subject)
        if within:
            nearer = replace(asked, filters=replace(asked.filters, documents=within))
            found += _of_one(case, toolkit, search, nearer, f"{subject}, documents named")
    return found


def _of_one(
    case: Case, toolkit: Toolkit, search: _Search, asked: Query, subject: str
) -> list[LayerText]:
    """N sentences for one question: each step fills up what the ones before it have left."""
    found: dict[tuple[str, int], LayerText] = {}
    for step in _steps(case, toolkit, search, asked, subject):
        for one in step:
            found.setdefault(one.place, one.found)
        if len(found) >= case.sentences:
            break
    return list(found.values())[: case.sentences]


def _steps(
    case: Case, toolkit: Toolkit, search: _Search, asked: Query, subject: str
) -> Iterator[Sequence[FoundText]]:
    if toolkit.layers_have_vectors:
        k = _QUESTIONS_OF_ONE * case.sentences
        for word in dict.fromkeys((interrogative_of(asked.text).value, "")):
            near = search(QUESTIONS, asked, k, word=word, subject=subject)
            yield [one for one in near if one.score >= case.threshold]
    # Of the sentences nearest to it, as many may have been found by their questions.
    yield search(DECONTEXTUALIZED, asked, 2 * case.sentences, subject=subject)


def _fused(
    toolkit: Toolkit, layer: str, asked: Query, k: int, *, word: str = "", subject: str
) -> list[FoundText]:
    """The texts of a layer by vectors and by words, in the order of their ranks in both.

    Each has its cosine; what words alone have found, and the vectors not among their first, has 0.
    """
    near = toolkit.search_layer(layer, asked, _DEPTH, word=word, subject=subject)
    if not toolkit.layers_have_vectors:
        return near[:k]
    worded = toolkit.search_layer(layer, asked, _DEPTH, word=word, words=True, subject=subject)
    cosines = {one.found: one.score for one in near}
    order = reciprocal_rank_fusion(
        [list(cosines), [one.found for one in worded]],
    )
    return [FoundText(text, cosines.get(text, 0.0)) for text in list(order)[:k]]


def _named_by(toolkit: Toolkit, texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(id_ for text in texts for id_ in toolkit.documents_named(text)))


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
    texts = {(one.document, one.start): one for one in found}
    return answer_from_texts(toolkit, case.query, list(texts.values()))


def _answer_if_carried(case: Case, toolkit: Toolkit) -> Answer:
    """The same with the hybrid steps; what no sentence carries is withheld.

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
)
HYBRID = Method(
    name="decon-hybrid",
    about=N_(
        "like decon, by words as well, and on in the documents that are named; an answer that no "
        "sentence carries is withheld"
    ),
    answer=_answer_if_carried,
    calls=_SPLIT_CALLS,
    chooses=False,
    layers=_LAYERS,
)
