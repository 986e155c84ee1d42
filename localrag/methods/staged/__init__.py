"""`staged`: a question in steps, each asked of triples, of documents, and of the model.

1. **Decomposition.** The model splits the question into queries with a single answer each. It
   names the [subject, predicate] of the triple that answers each. Later queries contain the
   answers of earlier ones (``Answer1``). The model also names the comparison asked for.
2. **Search**, query by query. *Stage 1, structured knowledge*: the triples of the subject, and the
   nearest in meaning. *Stage 2, documents*: by words and by meaning. The first 30 hits are
   reranked, and the model reads 10.
3. **Triple.** The model answers with a triple or NOTFOUND. Its object replaces ``Answer1``.
4. **Passing on.** A stage without a result passes the query on. *Stage 3* is the model alone.
5. **Answer.** A noun phrase or YES/NO. Code computes a comparison if it can, and the derivation
   shows the computation. Otherwise the model answers from the triples.

Beyond the published method, code checks every step. A triple of stage 1 is one of the corpus. A
triple of stage 2 cites the sentence with its object. An answer is `unsupported` if it rests on the
memory of the model, is not in its triples, or has triples about another subject. It is also
`unsupported` if the model concludes it from several triples.

Source: a published study of staged RAG on JEMHopQA.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from localrag.answer.evidence import element
from localrag.answer.types import Answer, Citation, Derivation, Stage, Status, Step
from localrag.corpus.types import Triple
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, MethodSettings, register
from localrag.methods.comparison import ComparisonKind, Decision, Side
from localrag.methods.comparison.comparing import compare
from localrag.methods.comparison.values import narrowed
from localrag.methods.staged.stages import (
    LONGEST_OBJECT,
    AskedQuery,
    SubQuery,
    as_written,
    ask,
    filled,
    holds,
    is_found,
    is_same,
    names,
)
from localrag.methods.toolkit import Toolkit
from localrag.search.query import full_text
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind

Stages = Literal[
    "1", "2", "3", "1-2", "1-3", "2-1", "2-3", "3-1", "3-2",
    "1-2-3", "1-3-2", "2-1-3", "2-3-1", "3-1-2", "3-2-1",
]  # fmt: skip
"""Stages in the order in which they are asked."""


class StagedSettings(MethodSettings):
    """The order of the stages."""

    stages: Stages = Field(
        "1-2-3",
        description="sources asked by staged in turn: 1 triples, 2 documents, 3 the model alone",
    )

    @property
    def in_order(self) -> tuple[Stage, ...]:
        """The stages, in their order."""
        return tuple(tuple(Stage)[int(number) - 1] for number in self.stages.split("-"))


DECOMPOSITION = "decomposition"

MOST_QUERIES = 5
"""Queries that a question is split into, at most."""

_LONGEST_QUERY, _LONGEST_NAME, _LONGEST_PREDICATE = 150, 80, 60

_Number = Annotated[int, Field(ge=1, le=MOST_QUERIES)]


class _Query(BaseModel):
    query: Annotated[str, Field(max_length=_LONGEST_QUERY)]
    subject: Annotated[str, Field(max_length=_LONGEST_NAME)]
    predicate: Annotated[str, Field(max_length=_LONGEST_PREDICATE)]


class _Side(BaseModel):
    query: _Number
    name: Annotated[str, Field(max_length=_LONGEST_NAME)]


class _QueriesReply(BaseModel):
    queries: Annotated[list[_Query], Field(max_length=MOST_QUERIES)]
    comparison: ComparisonKind | None
    sides: Annotated[list[_Side], Field(max_length=MOST_QUERIES)]
    claimed: Annotated[int, Field(ge=0, le=MOST_QUERIES)]
    condition: Annotated[str, Field(max_length=_LONGEST_PREDICATE)]


@dataclass(frozen=True, slots=True)
class AskedComparison:
    """The comparison in a question."""

    comparison: ComparisonKind
    # the names of the compared sides, by the number of their query. Empty if the reply of the model
    # is inconsistent
    sides: dict[int, str]
    # the query of the side that the question claims to be right; 0 if it asks for it
    claimed: int = 0
    condition: str = ""  # for the sides, in the words of the question


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A question, split into at least one query."""

    queries: tuple[SubQuery, ...]  # in the order in which they are asked
    compared: AskedComparison | None  # None if nothing is compared

    @property
    def ends(self) -> tuple[int, ...]:
        """The numbers of the queries whose answers no other query contains."""
        used = {number for query in self.queries for number in query.references}
        return tuple(query.number for query in self.queries if query.number not in used)


def decompose(toolkit: Toolkit, asked: Query) -> Decomposition:
    """Have the model split the question."""
    messages = toolkit.prompt(
        "staged_decomposition", asked, most=MOST_QUERIES, tag=element("text", [asked.text])
    )
    reply = toolkit.ask(messages, _QueriesReply, DECOMPOSITION)
    queries = tuple(_read(number, one) for number, one in enumerate(reply.queries, 1))
    if not queries:
        toolkit.note(DECOMPOSITION, [Fact(FactKind.NO_QUERY)])
        return Decomposition((SubQuery(1, asked.text, "", ""),), None)
    if reply.comparison is None:
        return Decomposition(queries, None)
    mistakes = list(_mistakes(queries, reply.sides))
    if mistakes:
        toolkit.note(DECOMPOSITION, mistakes)
    sides = {} if mistakes else {side.query: side.name.strip() for side in reply.sides}
    compared = AskedComparison(reply.comparison, sides, reply.claimed, reply.condition.strip())
    return Decomposition(queries, compared)


def line_of(queries: Sequence[SubQuery], number: int) -> set[int]:
    """The numbers of a query and of all queries before it in its chain."""
    line = {number}
    for query in reversed(queries[:number]):
        if query.number in line:
            line.update(query.references)
    return line


def _read(number: int, written: _Query) -> SubQuery:
    parts = (written.query, written.subject, written.predicate)
    return SubQuery(number, *(" ".join(part.split()) for part in parts))


def _mistakes(queries: Sequence[SubQuery], sides: Sequence[_Side]) -> Iterator[Fact]:
    seen: set[int] = set()
    for side in sides:
        if side.query > len(queries):
            yield Fact(FactKind.SIDE_WITHOUT_QUERY, n=side.query, side=side.name)
        elif side.query in seen:
            yield Fact(FactKind.TWO_SIDES, n=side.query)
        elif not _is_about(queries, side):
            subject = queries[side.query - 1].subject
            yield Fact(FactKind.SIDE_MISNAMED, n=side.query, subject=subject, side=side.name)
        seen.add(side.query)


def _is_about(queries: Sequence[SubQuery], side: _Side) -> bool:
    """Whether a query can find the value of its side, by its subject or by an answer."""
    like = [
        query
        for query in queries
        if as_written(query.subject, side.name) or as_written(side.name, query.subject)
    ]
    meant = [query for query in like if is_same(query.subject, side.name)] or like
    line = line_of(queries, side.query)
    return any(query.number in line for query in meant) if meant else len(line) > 1


STAGE = "comparison"

_YES, _NO = "YES", "NO"
_POLAR = {"yes": _YES, "はい": _YES, "no": _NO, "いいえ": _NO}
_QUOTATION_MARKS = "『』「」"


class _AnswerReply(BaseModel):
    answer: Annotated[str, Field(max_length=LONGEST_OBJECT)]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The end of a derivation."""

    text: str  # the short answer; "" if the triples give none
    computed: tuple[str, ...] = ()  # the computation, if there was one
    doubt: Fact | None = None  # why the triples do not support it


def conclude(
    toolkit: Toolkit, asked: Query, split: Decomposition, found: Sequence[AskedQuery]
) -> Conclusion:
    """Answer from the triples of all queries. A computation needs no call of the model.

    An answer of the model is supported only if it is an object of the last triple of a chain.
    YES, NO and a side are conclusions.
    """
    triples = {one.query.number: one.reading.triple for one in found if one.reading}
    computed = _computed(toolkit, asked, split, found)
    if computed is not None:
        return computed
    text = _answered(toolkit, asked, list(triples.values()))
    if not text:
        return Conclusion("", doubt=Fact(FactKind.NO_ANSWER))
    polar = text in (_YES, _NO)
    if not polar and not any(_is_said(text, asked, _names(one)) for one in triples.values()):
        return Conclusion(text, doubt=Fact(FactKind.ANSWER_NOT_SAID))
    chained = split.compared is None and len(split.ends) == 1 and not polar
    if chained and _is_said(text, asked, triples[split.ends[0]].objects):
        return Conclusion(text)
    return Conclusion(text, doubt=Fact(FactKind.CONCLUDED, answer=text))


def _computed(
    toolkit: Toolkit, asked: Query, split: Decomposition, found: Sequence[AskedQuery]
) -> Conclusion | None:
    """The computed answer; None, with an event, if code cannot decide."""
    compared = split.compared
    if compared is None:
        return None
    sides = _sides(compared, found)
    outcome, text = None, ""
    problem: Fact | None = Fact(FactKind.FEW_SIDES)
    if len(sides) > 1:
        outcome = compare(compared.comparison, list(sides.values()), compared.condition)
        text, problem = _in_words(compared, sides, outcome)
        problem = problem or _misnamed(split, sides, found)
    if not problem and text not in (_YES, _NO):
        objects = {of for one in found if one.reading for of in one.reading.triple.objects}
        written = as_written(text, asked.text) if names(asked.text, text) else ""
        said = written or (text if text in objects else "")
        problem = None if said else Fact(FactKind.SIDE_UNKNOWN, side=text)
        text = said
    if problem or outcome is None:
        why = [problem] if problem else []
        toolkit.note(STAGE, [*why, Fact(FactKind.MODEL_ANSWERS)])
        return None
    return Conclusion(text, (outcome.because,))


def _answered(toolkit: Toolkit, asked: Query, triples: Sequence[Triple]) -> str:
    """The short answer of the model; "" if it finds none."""
    sentences = [triple.text for triple in triples]
    messages = toolkit.prompt(
        "staged_answer",
        asked,
        sentences=sentences,
        tag=element("text", [asked.text, *sentences]),
    )
    answer = toolkit.ask(messages, _AnswerReply, "answer").answer.strip()
    return _POLAR.get(answer.casefold(), answer) if is_found(answer) else ""


def _is_said(answer: str, asked: Query, texts: Sequence[str]) -> bool:
    return any(holds(text, answer) or holds(narrowed(text, asked.text), answer) for text in texts)


def _sides(compared: AskedComparison, found: Sequence[AskedQuery]) -> dict[int, Side]:
    """The compared sides, by the number of the query that found each."""
    readings = {one.query.number: one.reading for one in found if one.reading}
    answers = {number: reading.answer for number, reading in readings.items()}
    return {
        number: Side(
            filled(name, answers).strip(_QUOTATION_MARKS),
            readings[number].triple.predicate,
            readings[number].triple.objects,
        )
        for number, name in compared.sides.items()
        if number in readings
    }


def _misnamed(
    split: Decomposition, sides: Mapping[int, Side], found: Sequence[AskedQuery]
) -> Fact | None:
    """An event if a side has a name that only another query found."""
    for number, side in sides.items():
        line, own, others = line_of(split.queries, number), False, False
        for one in found:
            if one.reading and any(is_same(name, side.name) for name in _names(one.reading.triple)):
                own |= one.query.number in line
                others |= one.query.number not in line
        if others and not own:
            return Fact(FactKind.SIDE_OF_ANOTHER, side=side.name, n=number)
    return None


def _in_words(
    compared: AskedComparison, sides: Mapping[int, Side], outcome: Decision | None
) -> tuple[str, Fact | None]:
    """The answer of a decision, or an event that says why there is no answer."""
    comparison = compared.comparison.value
    if outcome is None:
        return "", Fact(FactKind.COMPARISON_UNREAD, comparison=comparison)
    if not outcome.certain or (outcome.holds is None and outcome.side is None):
        because = outcome.because
        return "", Fact(FactKind.COMPARISON_OPEN, comparison=comparison, because=because)
    if outcome.side is None:
        return _YES if outcome.holds else _NO, None
    number = list(sides)[outcome.side]
    name = sides[number].name
    if any(one != number and is_same(side.name, name) for one, side in sides.items()):
        return "", Fact(FactKind.SIDES_ALIKE, side=name)
    if not compared.claimed:
        return name, None
    if compared.claimed not in sides:
        return "", Fact(FactKind.CLAIMED_NO_SIDE, n=compared.claimed)
    return _YES if number == compared.claimed else _NO, None


def _names(triple: Triple) -> tuple[str, ...]:
    return (triple.subject, *triple.objects)


@register(
    "staged",
    N_("a question split into queries, each asked of triples, of documents and of the model"),
    source=N_("published study of staged RAG on JEMHopQA"),
    # At least two queries: one call to split, and a triple for each. At most every stage for each
    # query, and an answer.
    calls=Calls(fixed=3, more=MOST_QUERIES * len(Stage) - 1),
    settings=("stages",),
    derives=True,
)
def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    question = replace(case.query, text=full_text(case.query), options=())
    split = decompose(toolkit, question)
    stages = StagedSettings.of(case.settings).in_order
    found: list[AskedQuery] = []
    for query in split.queries:
        answers = {one.query.number: one.reading.answer for one in found if one.reading}
        found.append(ask(toolkit, question, stages, query, answers))
    derivation, citations = _derived(found)
    text, doubts = "", list(_doubts(question, found))
    if all(one.reading for one in found):
        conclusion = conclude(toolkit, question, split, found)
        text = conclusion.text
        derivation = replace(derivation, computed=conclusion.computed)
        doubts += [conclusion.doubt] if conclusion.doubt else []
    carried = Status.UNSUPPORTED if doubts else Status.SUPPORTED
    return Answer(
        text=text,
        citations=citations,
        status=carried if text else Status.NOT_FOUND,
        trace=toolkit.trace,
        doubts=tuple(doubts),
        derivation=derivation,
    )


def _derived(found: Sequence[AskedQuery]) -> tuple[Derivation, tuple[Citation, ...]]:
    citations: list[Citation] = []
    steps = []
    for one in found:
        query, reading = one.query, one.reading
        step = Step(query.text, query.subject, query.predicate, tried=one.tried)
        if reading is not None:
            step = replace(step, triple=reading.triple, stage=one.stage)
            if reading.citation is not None:
                if reading.citation not in citations:
                    citations.append(reading.citation)
                step = replace(step, citation=citations.index(reading.citation) + 1)
        steps.append(step)
    return Derivation(tuple(steps)), tuple(citations)


def _doubts(question: Query, found: Sequence[AskedQuery]) -> Iterator[Fact]:
    told = question.text
    for one in found:
        n, reading = one.query.number, one.reading
        if reading is None:
            yield Fact(FactKind.FOUND_AT_NO_STAGE if one.tried else FactKind.NOT_ASKED, n=n)
            continue
        if reading.citation is None:
            yield Fact(FactKind.REMEMBERED, n=n)
        elif not reading.citation.verified:
            yield Fact(FactKind.ANSWER_NOT_HELD, n=n, answer=reading.answer)
        if reading.other is not None:
            asked = one.query.subject or one.query.text
            yield Fact(FactKind.OTHER_SUBJECT, n=n, subject=asked, other=reading.other)
        subject = one.query.subject or reading.triple.subject
        if subject and not names(told, subject):
            yield Fact(FactKind.STRANGE_SUBJECT, n=n, subject=subject)
        told += f"\n{reading.answer}"
