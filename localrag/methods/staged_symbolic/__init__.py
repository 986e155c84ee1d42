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
from localrag.facts import Fact, FactKind
from localrag.language import N_
from localrag.methods.catalogue import Case, Method
from localrag.methods.extractive import PlainToolkit
from localrag.methods.staged_symbolic.chains import chained
from localrag.methods.staged_symbolic.comparisons import compared
from localrag.methods.staged_symbolic.question import (
    NamedQuestion,
    TripleAnswer,
    TripleLookups,
    asks_for_time,
    is_negated,
    masked,
    read,
)
from localrag.prompts import language_of
from localrag.reading.types import Answer, Citation, Derivation, Stage, Status, Step
from localrag.retrieval.types import Filters, Hit, Query

ANALYSIS = "analysis"
"""The stage that reads the question against the store."""

LEAST_FIT = 0.5
"""What fits the wording less is refused; ``scripts/bench/staged_symbolic.py`` shows its effect."""

# Of answers that differ by less in their fit, neither is better.
_ALIKE = 0.02
_LONGEST = 500


class _AnalysedQuestion(NamedTuple):
    """What became of a question.

    Attributes:
        found: what may answer it, best fit first.
        events: what was left out.
        doubt: why nothing of it is an answer; None where the first is.
        query: what was looked up, in words: the names found, and the triples that fit best.
    """

    found: Sequence[TripleAnswer]
    events: Sequence[Fact]
    doubt: Fact | None
    query: str = ""


def answer(case: Case, toolkit: PlainToolkit) -> Answer:
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
            doubts=(analysis.doubt,),
            derivation=Derivation(()),
        )
    best = analysis.found[0]
    hits, citations = _shown(toolkit, best)
    toolkit.note(ANALYSIS, analysis.events, hits, perf_counter() - since, query=analysis.query)
    numbers = {one.passage_id: at for at, one in enumerate(citations, 1) if one.verified}
    steps = tuple(_step(fact, numbers.get(fact.passage_id, 0)) for fact in best.facts)
    rivals = _rivals(analysis.found)[:1]
    doubts = [*(Fact(FactKind.RIVAL, answer=rival.text) for rival in rivals), *best.doubts]
    doubts += [Fact(FactKind.OF_A_TIME)] if asks_for_time(case.query.text) else []
    doubts += [] if all(step.citation for step in steps) else [Fact(FactKind.TRIPLE_NOT_QUOTED)]
    return Answer(
        text=best.text,
        citations=citations,
        status=Status.UNSUPPORTED if doubts else Status.SUPPORTED,
        trace=toolkit.trace,
        doubts=tuple(doubts),
        derivation=Derivation(steps, (best.computed,) if best.computed else ()),
    )


def _analysed(question: Query, toolkit: PlainToolkit) -> _AnalysedQuestion:
    events = _left_out(question)
    if refusal := _refusal(question):
        return _AnalysedQuestion((), events, refusal)
    with toolkit.store() as store:
        lookups = TripleLookups(store.knowledge)
        asked = read(lookups, question.text.strip())
        if is_negated(masked(asked.text, asked.names)):
            events += lookups.events
            return _AnalysedQuestion((), events, Fact(FactKind.NEGATED), _looked_up(asked, ()))
        found = _ranked([*compared(lookups, asked), *chained(lookups, asked)])
    events += dict.fromkeys(lookups.events)
    return _AnalysedQuestion(
        found, events, _refused(asked, found, lookups.undecided), _looked_up(asked, found)
    )


def _left_out(question: Query) -> list[Fact]:
    """What of a query the method does not look at."""
    events = []
    if question.options:
        events.append(Fact(FactKind.OPTIONS_IGNORED))
    if question.filters != Filters():
        events.append(Fact(FactKind.FILTERS_IGNORED))
    return events


def _refusal(question: Query) -> Fact | None:
    """Why a question is not analysed at all; None where it is."""
    if language_of(question.text) != "ja":
        return Fact(FactKind.NOT_JAPANESE)
    if len(question.text) > _LONGEST:
        return Fact(FactKind.QUESTION_LONG, n=len(question.text), most=_LONGEST)
    return None


def _ranked(found: Iterable[TripleAnswer]) -> list[TripleAnswer]:
    """What says every word first, best fit first; of equal fits the one found first."""
    return sorted(found, key=lambda one: (bool(one.unsaid), -one.fit))


def _refused(
    asked: NamedQuestion, found: Sequence[TripleAnswer], undecided: Sequence[Fact]
) -> Fact | None:
    """Why what was found is no answer; None where it is."""
    if undecided and not (found and found[0].fit >= LEAST_FIT and not found[0].unsaid):
        return undecided[0]
    if not found:
        return Fact(FactKind.NO_TRIPLE if asked.names else FactKind.NO_NAME)
    if found[0].fit < LEAST_FIT:
        return Fact(FactKind.POOR_FIT, fit=found[0].fit, needed=LEAST_FIT)
    if found[0].unsaid:
        return Fact(FactKind.UNSAID, words=found[0].unsaid)
    for rival in _rivals(found):
        meant = {one.facts[0].triple.subject for one in (found[0], rival)}
        if len(meant) > 1:
            return Fact(FactKind.SEVERAL_SUBJECTS, subjects=tuple(sorted(meant)))
    return None


def _rivals(found: Sequence[TripleAnswer]) -> list[TripleAnswer]:
    """The other answers that fit about as well as the best."""
    best = found[0]
    return [
        one
        for one in found
        if one.text != best.text and not one.unsaid and best.fit - one.fit < _ALIKE
    ]


def _shown(
    toolkit: PlainToolkit, best: TripleAnswer
) -> tuple[tuple[Hit, ...], tuple[Citation, ...]]:
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
    about=N_("no model: a question in steps over triples alone, by the analysis of its wording"),
    answer=answer,
    chooses=False,
    derives=True,
)
