"""What an answer gets whatever method makes it, beside what the method says.

The provisions that change what it quotes, the quotations that a reader gets in the place of
unsupported words of a model, the nearest passages, and a note where the text of a law is old.
"""

from dataclasses import replace

from localrag.facts import Fact, FactKind
from localrag.methods.toolkit import EVIDENCE, Toolkit
from localrag.methods.types import Resources
from localrag.reading.extractive import Found, nearest
from localrag.reading.types import Answer, Citation, Status
from localrag.reading.verifier import verify
from localrag.retrieval.types import STATE_ASKED, Query, StageRecord
from localrag.retrieval.units import old_texts
from localrag.statutes.applied import changed_by


def with_quotations(answer: Answer, query: Query, resources: Resources) -> Answer:
    """An answer that a model wrote and code could not support, with what answers without a model.

    A law that the question names and the corpus lacks has no quotations in another one.
    """
    if answer.status is not Status.UNSUPPORTED or not answer.trace.calls or answer.absent:
        return answer
    toolkit = Toolkit(resources)
    quoted = with_changes(toolkit.quoted(query, toolkit.retrieve(query)), resources)
    if quoted.absent:
        return answer
    told = (one for one in toolkit.trace.stages if one.stage == EVIDENCE and quoted.citations)
    trace = replace(answer.trace, stages=(*answer.trace.stages, *told))
    return replace(answer, quotations=quoted.citations, trace=trace)


def with_nearest(answer: Answer, query: Query, found: Found) -> Answer:
    """The answer with the nearest passages; none where a law that the question names is absent.

    Below the name of such a law a passage of another one could pass for an answer.
    """
    near = nearest(query, found, (*answer.citations, *answer.quotations))
    if not answer.absent:
        return replace(answer, nearest=near)
    if not near and not any(hit.beside for _query, hits in found for hit in hits):
        return answer
    *before, last = answer.trace.stages
    event = Fact(FactKind.NOTHING_NEAREST)
    stages = (*before, replace(last, events=(*last.events, event)))
    return replace(answer, trace=replace(answer.trace, stages=stages))


def with_age(answer: Answer, resources: Resources) -> Answer:
    """The answer with a note of the laws whose text it quotes is old; once in a conversation."""
    shown = (*answer.citations, *answer.quotations)
    quoted = (one.passage_id.rpartition("#")[0] for one in shown if one.verified)
    with resources.reading:
        told = old_texts(resources.retriever.store, quoted)
    if not told:
        return answer
    stages = (StageRecord(STATE_ASKED, (), 0.0, tuple(told)), *answer.trace.stages)
    return replace(answer, trace=replace(answer.trace, stages=stages))


def with_changes(answer: Answer, resources: Resources) -> Answer:
    """The answer with the provisions that have what it quotes read otherwise for the time being."""
    quoted = [one for one in answer.citations if one.verified]
    known = {one.passage_id for one in quoted}
    added: list[Citation] = []
    with resources.reading:
        store = resources.retriever.store
        for one in quoted:
            passage = store.by_id(one.passage_id)
            for by in changed_by(store, passage, (one.start, one.end)) if passage else ():
                if by.id not in known:
                    known.add(by.id)
                    cited = Citation(by.id, by.text, changes=one.label, beside=one.beside)
                    added.append(verify(store, cited))
    if not added:
        return answer
    return replace(answer, citations=(*answer.citations, *added))
