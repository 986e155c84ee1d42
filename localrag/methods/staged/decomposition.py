"""Step 1: the question is split into queries with a single answer each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from localrag.answer.evidence import element
from localrag.methods.comparison.types import ComparisonKind
from localrag.methods.staged.types import SubQuery
from localrag.methods.staged.wording import as_written, is_same
from localrag.methods.toolkit import Toolkit
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind

STAGE = "decomposition"

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
class Compared:
    """What a question asks about the answers to its queries.

    Attributes:
        comparison: its kind.
        sides: by the number of a query, how the question calls what is compared by its answer;
            none where what the model wrote of them makes no sense.
        claimed: the query of the side that the question claims to be the one; 0 where it asks
            which one it is.
        condition: what the sides are held against, in the words of the question.
    """

    comparison: ComparisonKind
    sides: dict[int, str]
    claimed: int = 0
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A question, split.

    Attributes:
        queries: in the order in which they are asked, at least one.
        compared: what is asked about their answers; None where nothing is compared.
    """

    queries: tuple[SubQuery, ...]
    compared: Compared | None

    @property
    def ends(self) -> tuple[int, ...]:
        """The numbers of the queries whose answers no other query is asked with."""
        used = {number for query in self.queries for number in query.references}
        return tuple(query.number for query in self.queries if query.number not in used)


def decompose(toolkit: Toolkit, asked: Query) -> Decomposition:
    """Have the model split the question.

    Raises:
        ModelUnusable: the model failed, or its reply is malformed for the second time.
    """
    messages = toolkit.prompt(
        "staged_decomposition", asked, most=MOST_QUERIES, tag=element("text", [asked.text])
    )
    reply = toolkit.ask(messages, _QueriesReply, STAGE)
    queries = tuple(_read(number, one) for number, one in enumerate(reply.queries, 1))
    if not queries:
        toolkit.note(STAGE, [Fact(FactKind.NO_QUERY)])
        return Decomposition((SubQuery(1, asked.text, "", ""),), None)
    if reply.comparison is None:
        return Decomposition(queries, None)
    mistakes = list(_mistakes(queries, reply.sides))
    if mistakes:
        toolkit.note(STAGE, mistakes)
    sides = {} if mistakes else {side.query: side.name.strip() for side in reply.sides}
    compared = Compared(reply.comparison, sides, reply.claimed, reply.condition.strip())
    return Decomposition(queries, compared)


def line_of(queries: Sequence[SubQuery], number: int) -> set[int]:
    """The numbers of a query and of those whose answers it is asked with, however far back."""
    line = {number}
    for query in reversed(queries[:number]):
        if query.number in line:
            line.update(query.references)
    return line


def _read(number: int, written: _Query) -> SubQuery:
    parts = (written.query, written.subject, written.predicate)
    return SubQuery(number, *(" ".join(part.split()) for part in parts))


def _mistakes(queries: Sequence[SubQuery], sides: Sequence[_Side]) -> Iterator[Fact]:
    """What makes no sense about the sides."""
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
    """Whether a query can find the value of its side, as far as the subjects tell.

    A side that is called after no subject is one that only the answers can name.
    """
    like = [
        query
        for query in queries
        if as_written(query.subject, side.name) or as_written(side.name, query.subject)
    ]
    meant = [query for query in like if is_same(query.subject, side.name)] or like
    line = line_of(queries, side.query)
    return any(query.number in line for query in meant) if meant else len(line) > 1
