"""The way of one query through the stages: what is not found passes on to the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, create_model

from localrag.answer.evidence import NumberedPassage, element
from localrag.answer.pieces import pieces_of
from localrag.answer.types import Citation, Stage
from localrag.corpus.types import ARTICLES, PASSAGES, TRIPLES, Passage, Triple
from localrag.methods.extractive import EVIDENCE
from localrag.methods.staged.types import LONGEST_OBJECT, AskedQuery, FoundTriple, SubQuery
from localrag.methods.staged.wording import WrittenTriple, holds, is_not_found, is_same, names
from localrag.methods.toolkit import Toolkit
from localrag.search.query import MAX_CHARACTERS
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message

FOUND, SHOWN = 30, 10
"""Hits of a search, and those that a model is shown of them once they are re-ranked."""

_LAYERS = {Stage.KNOWLEDGE: (TRIPLES,), Stage.DOCUMENTS: (PASSAGES, ARTICLES)}
# Why a model has nothing to read at a stage.
_KEPT_OUT = {
    Stage.KNOWLEDGE: FactKind.TRIPLES_KEPT_OUT,
    Stage.DOCUMENTS: FactKind.DOCUMENTS_KEPT_OUT,
}
_NOT_FOUND = {
    Stage.KNOWLEDGE: FactKind.NO_TRIPLES_FOUND,
    Stage.DOCUMENTS: FactKind.NO_DOCUMENTS_FOUND,
}
_NOT_FITTING = {
    Stage.KNOWLEDGE: FactKind.NO_TRIPLES_FIT,
    Stage.DOCUMENTS: FactKind.NO_DOCUMENTS_FIT,
}

Search = Callable[[Query], Sequence[Hit]]


class HitChosen(BaseModel):
    """A reply that names one of the hits shown by its number; 0 is NOTFOUND."""

    hit: int


Chosen = TypeVar("Chosen", bound=HitChosen)


def read_hits(
    toolkit: Toolkit,
    asked: Query,
    query: SubQuery,
    stage: Stage,
    search: Search,
    shape: type[Chosen],
) -> tuple[Chosen, Sequence[NumberedPassage]] | None:
    """Search, re-rank, and have the model choose from as many hits as its context holds.

    Args:
        toolkit: of the question.
        asked: the question; its filters hold.
        query: that is to be answered.
        stage: what is searched.
        search: gives the hits of a query, best first.
        shape: of the reply, which is bound to the numbers of the hits shown.

    Returns:
        The reply and what it speaks of; None where the model had nothing to read, which the trace
        says.

    Raises:
        ModelUnusable: as `Toolkit.fitting` and `Toolkit.ask` say.
    """
    subject = query.label
    layers = _admitted(asked, stage)
    if not layers:
        toolkit.note(EVIDENCE, [Fact(_KEPT_OUT[stage])], subject=subject)
        return None
    wanted = Query(query.text, filters=replace(asked.filters, layers=layers))
    found = search(wanted)
    if not found:
        toolkit.note(EVIDENCE, [Fact(_NOT_FOUND[stage])], subject=subject)
        return None
    hits = toolkit.rerank(wanted, found, SHOWN, subject=subject)

    def messages(sources: Sequence[NumberedPassage]) -> tuple[Message, ...]:
        parts = (query.text, query.subject, query.predicate)
        return toolkit.prompt(
            f"staged_{stage}",
            asked,
            query=query,
            sources=sources,
            tag=element("text", [*parts, *(source.shown for source in sources)]),
        )

    shown = toolkit.fitting(toolkit.sources(wanted, hits), messages, subject=subject)
    if not shown:
        toolkit.note(EVIDENCE, [Fact(_NOT_FITTING[stage])], subject=subject)
        return None
    return toolkit.ask(messages(shown), _bound(shape, len(shown)), f"{stage} {query.number}"), shown


def _admitted(asked: Query, stage: Stage) -> tuple[str, ...]:
    """The layers of a stage that the filters of the question admit."""
    wanted = asked.filters.layers
    if not wanted:
        return _LAYERS[stage]
    return tuple(layer for layer in wanted if (layer == TRIPLES) is (stage is Stage.KNOWLEDGE))


@cache
def _bound(shape: type[Chosen], hits: int) -> type[Chosen]:
    """The shape of a reply that can name no hit but those there are."""
    hit: Any = Annotated[int, Field(ge=0, le=hits)]
    return create_model(shape.__name__, __base__=shape, hit=hit)


TRIPLE = "triple"


class _KnownReply(HitChosen):
    object: Annotated[str, Field(max_length=LONGEST_OBJECT)]


def _known(toolkit: Toolkit, asked: Query, query: SubQuery) -> FoundTriple | None:
    """Search the triples by subject and by meaning, and have the model choose.

    The triple is one of the store, whatever the model writes; of several objects it may choose.

    Raises:
        ModelUnusable: as `read_hits` says.
    """
    found = read_hits(
        toolkit,
        asked,
        query,
        Stage.KNOWLEDGE,
        lambda wanted: toolkit.known(
            query.subject, query.predicate, wanted, FOUND, subject=query.label
        ),
        _KnownReply,
    )
    if found is None:
        return None
    reply, shown = found
    if not reply.hit or is_not_found(reply.object):
        return None
    passage = shown[reply.hit - 1].passage
    triple = passage.triple
    assert triple is not None, "the layer of triples holds nothing else"
    answer = _meant(triple, reply.object)
    if not answer and reply.object.strip():
        event = Fact(FactKind.OBJECT_NOT_OF_TRIPLE, object=reply.object)
        toolkit.note(TRIPLE, [event], subject=query.label)
    return FoundTriple(
        triple,
        answer or "、".join(triple.objects),
        toolkit.citation(passage, triple.text),
        None if _is_about(toolkit, query, triple) else triple.subject,
    )


def _is_about(toolkit: Toolkit, query: SubQuery, triple: Triple) -> bool:
    """Whether the subject of a triple is surely the one that the query asks about."""
    if not query.subject:
        return names(query.text, triple.subject)
    with toolkit.store() as store:
        return store.knowledge.surely(query.subject, triple.subject)


def _meant(triple: Triple, named: str) -> str:
    """The object that the model names, or the part of one; "" where it is of none."""
    holding = [one for one in triple.objects if holds(one, named)]
    same = [one for one in holding if holds(named, one)]
    return (same or [named.strip()])[0] if holding else ""


class _DocumentReply(HitChosen):
    triple: WrittenTriple | None


def _documented(toolkit: Toolkit, asked: Query, query: SubQuery) -> FoundTriple | None:
    """Search the documents by words and by meaning, and have the model read a triple from them.

    The citation quotes the sentence that holds the object; it is a rejected one where the passage
    that the model names does not hold it.

    Raises:
        ModelUnusable: as `read_hits` says.
    """
    found = read_hits(
        toolkit,
        asked,
        query,
        Stage.DOCUMENTS,
        lambda wanted: toolkit.search(wanted, FOUND, words=True, meaning=True, subject=query.label),
        _DocumentReply,
    )
    if found is None:
        return None
    reply, shown = found
    triple = reply.triple.read(query) if reply.hit and reply.triple else None
    if triple is None:
        return None
    (answer,) = triple.objects
    passage = shown[reply.hit - 1].passage
    return FoundTriple(
        triple, answer, _cited(toolkit, passage, answer), _other(query, triple, passage)
    )


def _other(query: SubQuery, triple: Triple, passage: Passage) -> str | None:
    """What is spoken of instead of the subject asked for; None where it is that."""
    meant = (
        is_same(triple.subject, query.subject)
        if query.subject
        else names(query.text, triple.subject)
    )
    if not meant:
        return triple.subject or passage.header
    named = any(names(text, triple.subject) for text in (passage.header, passage.text))
    return None if named else passage.header


def _cited(toolkit: Toolkit, passage: Passage, answer: str) -> Citation:
    if not holds(passage.text, answer):
        problem = Fact(FactKind.OBJECT_NOT_HELD)
        return Citation(passage.id, answer, label=passage.header, problem=problem)
    with toolkit.store() as store:
        pieces = pieces_of(store, passage)
    # An object that runs over the end of a sentence is quoted by itself.
    quote = next((piece.text for piece in pieces if holds(piece.text, answer)), answer)
    return toolkit.citation(passage, quote)


class _RememberedReply(BaseModel):
    triple: WrittenTriple | None


def _remembered(toolkit: Toolkit, asked: Query, query: SubQuery) -> FoundTriple | None:
    """Have the model give the triple from memory, or say that it does not know.

    Raises:
        ModelUnusable: the model failed, or its reply is malformed for the second time.
    """
    messages = toolkit.prompt(
        f"staged_{Stage.MODEL}",
        asked,
        query=query,
        tag=element("text", [query.text, query.subject, query.predicate]),
    )
    reply = toolkit.ask(messages, _RememberedReply, f"{Stage.MODEL} {query.number}")
    triple = reply.triple.read(query) if reply.triple else None
    return FoundTriple(triple, triple.objects[0]) if triple else None


ASK = "ask"

_READERS = {
    Stage.KNOWLEDGE: _known,
    Stage.DOCUMENTS: _documented,
    Stage.MODEL: _remembered,
}


def ask(
    toolkit: Toolkit,
    asked: Query,
    stages: Sequence[Stage],
    query: SubQuery,
    answers: Mapping[int, str],
) -> AskedQuery:
    """Ask the stages for one query in their order, until one finds a triple.

    Args:
        toolkit: of the question.
        asked: the question.
        stages: in the order in which they are asked.
        query: as the question was split.
        answers: those found so far, by the number of their query.

    Raises:
        ModelUnusable: the model failed, its context does not hold a prompt, or its reply is
            malformed for the second time.
    """
    for number in query.references:
        if number not in answers:
            is_before = 0 < number < query.number
            kind = FactKind.ANSWER_MISSING if is_before else FactKind.REFERS_AHEAD
            toolkit.note(ASK, [Fact(kind, n=number)], subject=query.label)
            return AskedQuery(query)
    filled = query.filled(answers)
    if not any(character.isalnum() for character in filled.text):
        toolkit.note(ASK, [Fact(FactKind.WORDLESS)], subject=query.label)
        return AskedQuery(filled)
    if len(filled.text) > MAX_CHARACTERS:
        event = Fact(FactKind.TOO_LONG, n=len(filled.text), most=MAX_CHARACTERS)
        toolkit.note(ASK, [event], subject=query.label)
        return AskedQuery(query)
    for place, stage in enumerate(stages, 1):
        reading = _READERS[stage](toolkit, asked, filled)
        if reading is not None:
            return AskedQuery(filled, tuple(stages[:place]), reading)
    return AskedQuery(filled, tuple(stages))
