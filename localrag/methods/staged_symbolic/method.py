"""`staged-symbolic`: structured knowledge alone, and no model at all.

1. **Names.** The question is searched for names of subjects of the store.
2. **Decomposition** by the wording: either two names are compared, or a path of triples leads from
   a name to the answer. Candidates are triples looked up by subject; the one whose predicates,
   objects and kind of answer fit the words of the question best is taken. What fits them badly,
   or leaves out a word of the question that is a step or a condition, is refused: a wrong answer
   is worse than none. A negation is not analysed.
3. **Answer.** A comparison is computed (`localrag.methods.comparison`); the object at the end of a
   path is cut down to the part that is asked for.
4. **Derivation.** Every triple is a step, quoted and checked by code. The answer is `supported`
   only where each step is, where what was compared could be read as dates, quantities or places,
   where no triple says more than is asked or gives several values, where no name can mean another
   subject, and where no other answer fits the wording as well.
"""

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import NamedTuple

from localrag.corpus.knowledge import KnownTriple
from localrag.methods.staged_symbolic.chains import chained
from localrag.methods.staged_symbolic.comparisons import compared
from localrag.methods.staged_symbolic.lookups import TripleAnswer, TripleLookups
from localrag.methods.staged_symbolic.wording import (
    NamedQuestion,
    asks_for_time,
    is_negated,
    masked,
    read,
)
from localrag.methods.toolkit import Toolkit
from localrag.methods.types import Case, Method
from localrag.prompts import language_of
from localrag.reading.types import Answer, Citation, Derivation, Stage, Status, Step
from localrag.retrieval.model import Filters, Hit, Query

ANALYSIS = "analysis"
"""The stage that reads the question against the store."""

LEAST_FIT = 0.5
"""What fits the wording less is refused; ``scripts/bench/staged_symbolic.py`` shows its effect."""

# Of answers that differ by less in their fit, neither is better.
_ALIKE = 0.02
_LONGEST = 500

_ENGLISH = "only questions in Japanese are analysed"
_LONG = "the question has {:,} characters: only those of up to {:,} are analysed"
_NEGATED = "the question holds a negation: what is not so cannot be looked up"
_NO_NAME = "the corpus knows no subject that the question names"
_NO_TRIPLE = "no triples of the subjects named answer the question"
_UNDECIDED = "what is known does not decide it: {}"
_POOR_FIT = "the triples that fit best fit the wording with {:.2f}; {:.2f} is needed"
_UNSAID = "no triple that leads to an answer speaks of {}"
_SEVERAL = "the question can mean several subjects: {}"
_RIVAL = "{!r} fits the wording as well"
_OF_ITS_TIME = "the question asks what holds at a time, which no triple tells"
_UNVERIFIED = "a triple could not be quoted from the corpus"


class _Analysis(NamedTuple):
    """What became of a question.

    Attributes:
        found: what may answer it, best fit first.
        events: what was left out.
        doubt: why nothing of it is an answer; "" where the first is.
        query: what was looked up, in words: the names found, and the triples that fit best.
    """

    found: Sequence[TripleAnswer]
    events: Sequence[str]
    doubt: str
    query: str = ""


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    since = perf_counter()
    analysis = _analysed(case.query, toolkit)
    if analysis.doubt:
        seconds = perf_counter() - since
        toolkit.note(ANALYSIS, analysis.events, seconds=seconds, query=analysis.query)
        return Answer(
            text="",
            citations=(),
            status=Status.NOT_FOUND,
            trace=toolkit.trace,
            doubt=analysis.doubt,
            derivation=Derivation(()),
        )
    best = analysis.found[0]
    hits, citations = _shown(toolkit, best)
    toolkit.note(ANALYSIS, analysis.events, hits, perf_counter() - since, query=analysis.query)
    numbers = {one.passage_id: at for at, one in enumerate(citations, 1) if one.verified}
    steps = tuple(_step(fact, numbers.get(fact.passage_id, 0)) for fact in best.facts)
    doubts = [_RIVAL.format(rival.text) for rival in _rivals(analysis.found)[:1]]
    doubts += [best.doubt] if best.doubt else []
    doubts += [_OF_ITS_TIME] if asks_for_time(case.query.text) else []
    doubts += [] if all(step.citation for step in steps) else [_UNVERIFIED]
    return Answer(
        text=best.text,
        citations=citations,
        status=Status.UNSUPPORTED if doubts else Status.SUPPORTED,
        trace=toolkit.trace,
        doubt="; ".join(doubts),
        derivation=Derivation(steps, (best.computed,) if best.computed else ()),
    )


def _analysed(question: Query, toolkit: Toolkit) -> _Analysis:
    events = _left_out(question)
    if refusal := _refusal(question):
        return _Analysis((), events, refusal)
    with toolkit.store() as store:
        lookups = TripleLookups(store.knowledge)
        asked = read(lookups, question.text.strip())
        if is_negated(masked(asked.text, asked.names)):
            return _Analysis((), [*events, *lookups.events], _NEGATED, _looked_up(asked, ()))
        found = _ranked([*compared(lookups, asked), *chained(lookups, asked)])
    events += dict.fromkeys(lookups.events)
    return _Analysis(
        found, events, _refused(asked, found, lookups.undecided), _looked_up(asked, found)
    )


def _left_out(question: Query) -> list[str]:
    """What of a query the method does not look at."""
    events = []
    if question.options:
        events.append("the options were not looked at")
    if question.filters != Filters():
        events.append("the filters were not applied: triples of the whole corpus were looked up")
    return events


def _refusal(question: Query) -> str:
    """Why a question is not analysed at all; "" where it is."""
    if language_of(question.text) != "ja":
        return _ENGLISH
    if len(question.text) > _LONGEST:
        return _LONG.format(len(question.text), _LONGEST)
    return ""


def _ranked(found: Iterable[TripleAnswer]) -> list[TripleAnswer]:
    """What says every word first, best fit first; of equal fits the one found first."""
    return sorted(found, key=lambda one: (bool(one.unsaid), -one.fit))


def _refused(asked: NamedQuestion, found: Sequence[TripleAnswer], undecided: Sequence[str]) -> str:
    """Why what was found is no answer; "" where it is."""
    if undecided and not (found and found[0].fit >= LEAST_FIT and not found[0].unsaid):
        return _UNDECIDED.format(undecided[0])
    if not found:
        return _NO_TRIPLE if asked.names else _NO_NAME
    if found[0].fit < LEAST_FIT:
        return _POOR_FIT.format(found[0].fit, LEAST_FIT)
    if found[0].unsaid:
        return _UNSAID.format("、".join(f"「{word}」" for word in found[0].unsaid))
    for rival in _rivals(found):
        meant = {one.facts[0].triple.subject for one in (found[0], rival)}
        if len(meant) > 1:
            return _SEVERAL.format("、".join(sorted(meant)))
    return ""


def _rivals(found: Sequence[TripleAnswer]) -> list[TripleAnswer]:
    """The other answers that fit about as well as the best."""
    best = found[0]
    return [
        one
        for one in found
        if one.text != best.text and not one.unsaid and best.fit - one.fit < _ALIKE
    ]


def _shown(toolkit: Toolkit, best: TripleAnswer) -> tuple[tuple[Hit, ...], tuple[Citation, ...]]:
    """The passages that say the triples of an answer, and their quotations, checked by code."""
    with toolkit.store() as store:
        passages = [store.by_id(fact.passage_id) for fact in best.facts]
    kept = [passage for passage in passages if passage is not None]
    hits = (Hit(passage, best.fit, rank, ANALYSIS) for rank, passage in enumerate(kept, 1))
    return tuple(hits), tuple(toolkit.citation(passage, passage.text) for passage in kept)


def _step(fact: KnownTriple, citation: int) -> Step:
    triple = fact.triple
    return Step(
        query=f"{triple.subject}の{triple.predicate}は？",
        subject=triple.subject,
        predicate=triple.predicate,
        triple=triple,
        stage=Stage.KNOWLEDGE,
        citation=citation,
        tried=(Stage.KNOWLEDGE,),
    )


def _looked_up(asked: NamedQuestion, found: Sequence[TripleAnswer]) -> str:
    """The names of a question and the triples that fit it best, for the trace."""
    names = "、".join(f"「{asked.written(name)}」" for name in asked.names) or "no subject"
    if not found:
        return names
    facts = ", ".join(f"{fact.triple.subject}: {fact.triple.predicate}" for fact in found[0].facts)
    return f"{names}; best fit {found[0].fit:.2f}: {facts}"


METHOD = Method(
    name="staged-symbolic",
    about="no model: a question in steps over triples alone, by the analysis of its wording",
    answer=answer,
    chooses=False,
    derives=True,
)
