"""`extractive`: no model; the sentences and provisions that come nearest to the question.

1. **Search.** The whole pipeline: resolver, words, meaning, references.
2. **Quotation.** The pieces of what was found that cover most of the question, each with what it
   stands under, word for word. Whether they answer the question is for the reader to judge: they
   are `quoted`, never `supported`. Where nothing covers enough of it, nothing is quoted
   but what the question cites.

Several questions asked at once are each answered so, one after the other; for which of them nothing
is quoted, or nothing that has its theme, is told.
"""

from collections.abc import Sequence
from dataclasses import replace

from localrag.facts import Fact, FactKind
from localrag.language import N_
from localrag.methods.toolkit import EVIDENCE, Toolkit
from localrag.methods.types import Case, Method
from localrag.question.several import questions_in
from localrag.reading.types import Answer, Citation, Status
from localrag.reading.unsaid import unsaid_theme


def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    with toolkit.retriever() as retriever:
        names = retriever.names
    asked = () if case.query.options else questions_in(case.query.text, names)
    if asked:
        return _answers(case, toolkit, asked)
    return toolkit.quoted(case.query, toolkit.retrieve(case.query))


def _answers(case: Case, toolkit: Toolkit, asked: Sequence[str]) -> Answer:
    """The answers of several questions as one."""
    citations: dict[tuple[str, int], Citation] = {}
    absent: dict[str, None] = {}
    unanswered: list[Fact] = []
    for text in asked:
        query = replace(case.query, text=text)
        retrieval = toolkit.retrieve(query, subject=text)
        one = toolkit.quoted(query, retrieval)
        citations |= {(quote.passage_id, quote.start): quote for quote in one.citations}
        absent |= dict.fromkeys(one.absent)
        if not one.citations:
            unanswered.append(Fact(FactKind.ONE_UNANSWERED, question=text))
        elif theme := unsaid_theme(text, retrieval, one.citations):
            unanswered.append(Fact(FactKind.WORD_NOT_QUOTED, word=theme))
    if told := [one for one in dict.fromkeys(unanswered) if one not in toolkit.trace.events]:
        toolkit.note(EVIDENCE, told)
    return Answer(
        text="\n".join(quote.quote for quote in citations.values()),
        citations=tuple(citations.values()),
        status=Status.QUOTED if citations else Status.NOT_FOUND,
        trace=toolkit.trace,
        absent=tuple(absent),
    )


METHOD = Method(
    name="extractive",
    about=N_("no model: the sentences and provisions that come nearest, word for word"),
    answer=answer,
    chooses=False,
)
