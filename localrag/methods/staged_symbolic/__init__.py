"""`staged-symbolic`: `staged` over structured knowledge alone, without a model.

1. **Names.** The question is searched for subjects of the store.
2. **Decomposition** by the wording: two names are compared, or a path of triples leads from a name
   to the answer. The triples whose predicates, objects and kind of answer fit the words best are
   used. A poor fit, or an unused word that is a step or a condition, is refused: a wrong answer is
   worse than none. Negations are not analysed.
3. **Answer.** Code computes a comparison (`localrag.methods.comparison`). The object at the end of
a
   path is cut down to the part asked for.
4. **Derivation.** Every triple is a step, quoted and checked by code. The answer is `supported` if
   all of these hold: each step is verified; compared values are dates, quantities or places; no
   triple says more than is asked, or has several values; no name has another meaning; no other
   answer fits as well.
"""

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import NamedTuple

from localrag.answer.prompts import language_of
from localrag.answer.types import Answer, Citation, Derivation, Stage, Status, Step
from localrag.corpus.knowledge import KnownTriple
from localrag.language import N_
from localrag.methods.catalogue import Case, register
from localrag.methods.extractive import PlainToolkit
from localrag.methods.staged_symbolic.chains import chained
from localrag.methods.staged_symbolic.comparisons import compared
from localrag.methods.staged_symbolic.question import (
    NEGATION,
    TIME,
    NamedQuestion,
    TripleAnswer,
    TripleLookups,
    masked,
    read,
)
from localrag.search.types import Filters, Hit, Query
from localrag.text.facts import Fact, FactKind

ANALYSIS = "analysis"
"""The stage that analyses the question."""

LEAST_FIT = 0.5
"""A poorer fit is refused; ``scripts/bench/staged_symbolic.py`` shows the effect."""

# Fits that differ by less are equal.
_ALIKE = 0.02
_LONGEST = 500


class _AnalysedQuestion(NamedTuple):
    found: Sequence[TripleAnswer]  # possible answers, best fit first
    events: Sequence[Fact]  # what was left out
    doubt: Fact | None  # why none of them is an answer; None if the first is
    query: str = ""  # for the trace: the names found, and the triples with the best fit


@register(
    "staged-symbolic",
    N_("no model: a question in steps over triples alone, by the analysis of its wording"),
    derives=True,
)
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
    doubts += [Fact(FactKind.OF_A_TIME)] if TIME.search(case.query.text) else []
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
        if NEGATION.search(masked(asked.text, asked.names)):
            events += lookups.events
            return _AnalysedQuestion((), events, Fact(FactKind.NEGATED), _looked_up(asked, ()))
        found = _ranked([*compared(lookups, asked), *chained(lookups, asked)])
    events += dict.fromkeys(lookups.events)
    return _AnalysedQuestion(
        found, events, _refused(asked, found, lookups.undecided), _looked_up(asked, found)
    )


def _left_out(question: Query) -> list[Fact]:
    """The parts of a query ignored by the method."""
    events = []
    if question.options:
        events.append(Fact(FactKind.OPTIONS_IGNORED))
    if question.filters != Filters():
        events.append(Fact(FactKind.FILTERS_IGNORED))
    return events


def _refusal(question: Query) -> Fact | None:
    """Why a question is not analysed; None if it is."""
    if language_of(question.text) != "ja":
        return Fact(FactKind.NOT_JAPANESE)
    if len(question.text) > _LONGEST:
        return Fact(FactKind.QUESTION_LONG, n=len(question.text), most=_LONGEST)
    return None


def _ranked(found: Iterable[TripleAnswer]) -> list[TripleAnswer]:
    return sorted(found, key=lambda one: (bool(one.unsaid), -one.fit))


def _refused(
    asked: NamedQuestion, found: Sequence[TripleAnswer], undecided: Sequence[Fact]
) -> Fact | None:
    """Why the first of the candidates is no answer; None if it is."""
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
    """The other answers with about the same fit as the best."""
    best = found[0]
    return [
        one
        for one in found
        if one.text != best.text and not one.unsaid and best.fit - one.fit < _ALIKE
    ]


def _shown(
    toolkit: PlainToolkit, best: TripleAnswer
) -> tuple[tuple[Hit, ...], tuple[Citation, ...]]:
    """The passages of the triples, and their quotations, checked by code."""
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
    """The names of a question and the triples with the best fit, for the trace."""
    names = "、".join(f"「{asked.written(name)}」" for name in asked.names) or "no subject"
    if not found:
        return names
    facts = ", ".join(f"{fact.triple.subject}: {fact.triple.predicate}" for fact in found[0].facts)
    return f"{names}; best fit {found[0].fit:.2f}: {facts}"
