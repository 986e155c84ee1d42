"""Stage 3, the model alone: what it knows by itself, which nothing carries."""

from pydantic import BaseModel

from localrag.methods.staging.model import Reading, SubQuery
from localrag.methods.staging.wording import WrittenTriple
from localrag.methods.toolkit import Toolkit
from localrag.reading.evidence import element
from localrag.reading.model import Stage
from localrag.retrieval.model import Query


class _Reply(BaseModel):
    triple: WrittenTriple | None


def read(toolkit: Toolkit, asked: Query, query: SubQuery) -> Reading | None:
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
    reply = toolkit.ask(messages, _Reply, f"{Stage.MODEL} {query.number}")
    triple = reply.triple.read(query) if reply.triple else None
    return Reading(triple, triple.objects[0]) if triple else None
