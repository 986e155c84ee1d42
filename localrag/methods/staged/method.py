"""`staged`: a question is asked in steps, each of structured knowledge, documents, the model.

1. **Decomposition.** The model splits the question into queries with a single answer each, with
   the [subject, predicate] of the triple that would give it; later ones are asked with the answers
   of earlier ones (``Answer1``). It also says which comparison the question asks for.
2. **Search**, query by query and stage by stage. *Stage 1, structured knowledge*: the triples of
   the subject, and those nearest in meaning. *Stage 2, documents*: search by words and by meaning.
   The first 30 are re-ranked, and 10 shown.
3. **Triple.** The model turns the hits into a triple or NOTFOUND; its object is written into the
   queries that ask with it.
4. **Passing on.** What a stage does not find is asked of the next; *stage 3* is the model alone.
5. **Answer.** A noun phrase or YES/NO. A comparison that code can decide is computed from the
   triples (`localrag.methods.comparison`), and the derivation shows the computation; everything
   else is for the model to answer from the triples.

Beyond the published method every step is checked by code: a triple of stage 1 is one of the
corpus, one of stage 2 is cited by the sentence that holds its object, and an answer that rests on
what the model remembers is `unsupported`. So is one that its triples do not hold, one whose triples
speak of another subject than the one asked for, and one that the model concludes from several of
them: only what is read off the end of a chain of triples, or computed, is carried.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from localrag.facts import Fact, FactKind
from localrag.language import N_
from localrag.methods.staged.concluding import conclude
from localrag.methods.staged.decomposition import MOST_QUERIES, decompose
from localrag.methods.staged.stages import ask
from localrag.methods.staged.types import AskedQuery
from localrag.methods.staged.wording import names
from localrag.methods.toolkit import Toolkit
from localrag.methods.types import Calls, Case, Method
from localrag.reading.types import Answer, Citation, Derivation, Stage, Status, Step
from localrag.retrieval.query import full_text
from localrag.retrieval.types import Query


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    question = replace(case.query, text=full_text(case.query), options=())
    split = decompose(toolkit, question)
    found: list[AskedQuery] = []
    for query in split.queries:
        answers = {one.query.number: one.reading.answer for one in found if one.reading}
        found.append(ask(toolkit, question, case.stages, query, answers))
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
    """The steps as the derivation shows them, and the citations that they are numbered by."""
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
    """Why the steps do not carry an answer."""
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


METHOD = Method(
    name="staged",
    about=N_("a question split into queries, each asked of triples, of documents and of the model"),
    answer=answer,
    source=N_("published study of staged RAG on JEMHopQA"),
    # At least a question of two queries: split, a triple for each. At most every stage for each of
    # the queries, and an answer.
    calls=Calls(fixed=3, more=MOST_QUERIES * len(Stage) - 1),
    chooses=False,
    staged=True,
    derives=True,
)
