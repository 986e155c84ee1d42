"""Augmentation: from a query to several, planned under meta knowledge summaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from localrag.answer.evidence import element
from localrag.errors import ModelUnusable
from localrag.methods.toolkit import Toolkit
from localrag.prepare.summaries import Place, Summary, named, summaries_for
from localrag.search.pipeline import Retriever
from localrag.search.query import analyzer, full_text
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message
from localrag_models.errors import ReplyInvalid

QUERIES = "augmentation"
"""The call that writes the queries, and the stage that tells of it."""

MOST_QUERIES = 5
"""Queries at most that one is augmented into."""

_LONGEST = 200
# Summaries that a query is augmented under, where the user names no metadata.
_NEAREST = 3


class _Reply(BaseModel):
    # The plan comes first: the queries are then written with it in view.
    plan: Annotated[
        list[Annotated[str, Field(max_length=_LONGEST)]], Field(max_length=MOST_QUERIES)
    ]
    queries: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=_LONGEST)]],
        Field(min_length=1, max_length=MOST_QUERIES),
    ]


@dataclass(frozen=True, slots=True)
class _ShownSummary:
    about: str
    text: str


def augmented(toolkit: Toolkit, asked: Query, under: Sequence[Summary] = ()) -> tuple[str, ...]:
    """Have the model plan how a query is looked up, and write queries for it (plan and execute).

    Args:
        toolkit: of the question.
        asked: the query.
        under: summaries, the most fitting first; those that the context does not hold are left
            out, which the trace says.

    Returns:
        Each once. A reply that stays malformed, or holds no word, leaves the query itself to be
        searched for, which the trace says.

    Raises:
        ModelUnusable: the model failed otherwise.
    """
    shown = _fitting(toolkit, asked, under)
    written: Sequence[str] = ()
    try:
        written = toolkit.ask(_messages(toolkit, asked, shown), _Reply, QUERIES).queries
    except ModelUnusable as error:
        if error.kind != ReplyInvalid.__name__:
            raise
    queries = dict.fromkeys(" ".join(one.split()) for one in written if any(map(str.isalnum, one)))
    events = [] if queries else [Fact(FactKind.NOT_AUGMENTED)]
    if len(shown) < len(under):
        events.append(Fact(FactKind.SUMMARIES_LEFT_OUT, n=len(shown), total=len(under)))
    toolkit.note(QUERIES, events, query="\n".join(queries))
    return tuple(queries) or (asked.text,)


def summaries_wanted(toolkit: Toolkit, asked: Query) -> list[Summary]:
    """The summaries of the metadata that the user names; of the whole corpus where none is named.

    Where there is none, the trace says so.

    Raises:
        NotFoundError: the corpus has no such metadata.
    """
    made = toolkit.summaries()
    with toolkit.store() as store:
        where = store.facets.canonical(asked.filters.where)
    found = summaries_for(made, where)
    if not found:
        toolkit.note(QUERIES, [Fact(FactKind.NO_SUMMARY)])
    return found


def summaries_near(toolkit: Toolkit, asked: Query) -> list[Summary]:
    """The summaries wanted; where the user names no metadata, the few nearest to the query.

    By meaning; where the corpus has no vectors by the weight of the words that both have.
    """
    made = toolkit.summaries()
    if asked.filters.where or not made:
        return summaries_wanted(toolkit, asked)
    with toolkit.retriever() as retriever:
        near = _likeness(retriever, full_text(asked), [one.text for one in made])
    found: dict[tuple[Place, ...], Summary] = {}
    for at in sorted(range(len(made)), key=lambda at: -near[at]):
        # Documents that share one label may all share another one, too.
        found.setdefault(made[at].rests_on, made[at])
    return list(found.values())[:_NEAREST]


def _likeness(retriever: Retriever, text: str, others: Sequence[str]) -> Sequence[float]:
    if retriever.models.dense is not None:
        (row,) = retriever.models.dense.likeness([text], others)
        return [float(cosine) for cosine in row]
    wanted = set(analyzer().terms(text))
    return [
        sum(
            retriever.inverse_document_frequency(term)
            for term in wanted.intersection(analyzer().terms(other))
        )
        for other in others
    ]


def _fitting(toolkit: Toolkit, asked: Query, under: Sequence[Summary]) -> Sequence[Summary]:
    """As many summaries as the context holds beside the question, from the first."""
    kept = under
    while kept and not toolkit.fits(_messages(toolkit, asked, kept)):
        kept = kept[:-1]
    return kept


def _messages(toolkit: Toolkit, asked: Query, under: Sequence[Summary]) -> tuple[Message, ...]:
    summaries = [_ShownSummary(named(one.labels) if one.labels else "", one.text) for one in under]
    texts = [text for one in summaries for text in (one.about, one.text)]
    tag = element("text", [full_text(asked), *texts])
    return toolkit.prompt("pr3_queries", asked, summaries=summaries, most=MOST_QUERIES, tag=tag)
