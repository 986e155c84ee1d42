"""Steps 2 and 3 as stages 1 and 2 share them: search, re-ranking, a model that reads the hits."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, create_model

from localrag.corpus.model import ARTICLES, PASSAGES, TRIPLES
from localrag.methods.staging.model import SubQuery
from localrag.methods.toolkit import EVIDENCE, Toolkit
from localrag.reading.evidence import Source, element
from localrag.reading.model import Stage
from localrag.retrieval.model import Hit, Query
from localrag_models.chat import Message

FOUND, SHOWN = 30, 10
"""Hits of a search, and those that a model is shown of them once they are re-ranked."""

_LAYERS = {Stage.KNOWLEDGE: (TRIPLES,), Stage.DOCUMENTS: (PASSAGES, ARTICLES)}
_KEPT_OUT = "the filters admit none of the {}: they were not searched"
_NOTHING_FOUND = "nothing was found among the {}: the model was not asked"
_NOTHING_FITS = "the context holds none of the {}: the model was not asked"
_NAMES = {Stage.KNOWLEDGE: "triples", Stage.DOCUMENTS: "documents"}

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
) -> tuple[Chosen, Sequence[Source]] | None:
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
    name, subject = _NAMES[stage], query.label
    layers = _admitted(asked, stage)
    if not layers:
        toolkit.note(EVIDENCE, [_KEPT_OUT.format(name)], subject=subject)
        return None
    wanted = Query(query.text, filters=replace(asked.filters, layers=layers))
    found = search(wanted)
    if not found:
        toolkit.note(EVIDENCE, [_NOTHING_FOUND.format(name)], subject=subject)
        return None
    hits = toolkit.rerank(wanted, found, SHOWN, subject=subject)

    def messages(sources: Sequence[Source]) -> tuple[Message, ...]:
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
        toolkit.note(EVIDENCE, [_NOTHING_FITS.format(name)], subject=subject)
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
