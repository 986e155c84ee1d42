"""Stage 1, structured knowledge: the model chooses one of the triples found, or none."""

from typing import Annotated

from pydantic import Field

from localrag.corpus.model import Triple
from localrag.methods.staging.hits import FOUND, HitChosen, read_hits
from localrag.methods.staging.model import LONGEST_OBJECT, Reading, SubQuery
from localrag.methods.staging.wording import holds, is_not_found, names
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Stage
from localrag.retrieval.model import Query

STAGE = "triple"

_NOT_ITS_OWN = "the model named the object {!r}, which the triple lacks: its own are used"


class _Reply(HitChosen):
    object: Annotated[str, Field(max_length=LONGEST_OBJECT)]


def read(toolkit: Toolkit, asked: Query, query: SubQuery) -> Reading | None:
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
        _Reply,
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
        toolkit.note(STAGE, [_NOT_ITS_OWN.format(reply.object)], subject=query.label)
    return Reading(
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
