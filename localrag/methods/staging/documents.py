"""Stage 2, documents: the model reads a triple from the passages found, or none."""

from localrag.corpus.model import Passage, Triple
from localrag.methods.staging.hits import FOUND, HitChosen, read_hits
from localrag.methods.staging.model import Reading, SubQuery
from localrag.methods.staging.wording import WrittenTriple, holds, is_same, names
from localrag.methods.toolkit import Toolkit
from localrag.reading.model import Citation, Stage
from localrag.reading.pieces import pieces_of
from localrag.retrieval.model import Query

_NOT_HELD = "the passage does not hold the object"


class _Reply(HitChosen):
    triple: WrittenTriple | None


def read(toolkit: Toolkit, asked: Query, query: SubQuery) -> Reading | None:
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
        _Reply,
    )
    if found is None:
        return None
    reply, shown = found
    triple = reply.triple.read(query) if reply.hit and reply.triple else None
    if triple is None:
        return None
    (answer,) = triple.objects
    passage = shown[reply.hit - 1].passage
    return Reading(triple, answer, _cited(toolkit, passage, answer), _other(query, triple, passage))


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
        return Citation(passage.id, answer, label=passage.header, problem=_NOT_HELD)
    with toolkit.store() as store:
        pieces = pieces_of(store, passage)
    # An object that runs over the end of a sentence is quoted by itself.
    quote = next((piece.text for piece in pieces if holds(piece.text, answer)), answer)
    return toolkit.citation(passage, quote)
