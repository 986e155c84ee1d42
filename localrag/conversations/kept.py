"""The form in which questions and answers are kept: JSON that a newer localrag can still read.

Fields with their default values are left out. What stands in it never changes its meaning; what
does gets a new version.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from localrag.errors import StoreError
from localrag.facts import Fact, FactKind
from localrag.language import N_, _
from localrag.reading.types import Answer, Status
from localrag.retrieval.types import Query, Trace

_VERSION = 3
_DRAFT = TypeAdapter(tuple[str, ...])
_QUERY = TypeAdapter(Query)


class _Doubt(BaseModel):
    doubt: str = ""


class _Version(BaseModel):
    version: int


class _Earlier(BaseModel):
    """What the second version and the first had otherwise: one doubt, in words."""

    answer: _Doubt


class _Kept(_Version):
    model_config = ConfigDict(ser_json_inf_nan="constants")

    answer: Answer


def answer_as_kept(answer: Answer) -> str:
    """Write an answer; the passages of its trace without their text, which the corpus has."""
    kept = _Kept(version=_VERSION, answer=replace(answer, trace=_without_texts(answer.trace)))
    return kept.model_dump_json(exclude_defaults=True)


def kept_answer(text: str) -> Answer:
    """Read an answer.

    Raises:
        StoreError: it is damaged, or was written by a newer localrag.
    """
    with _damage(N_("answer")):
        version = _Version.model_validate_json(text).version
        if version > _VERSION:
            raise StoreError(
                N_("A newer localrag wrote this answer."),
                N_("Read it with that one."),
            )
        answer = _Kept.model_validate_json(text).answer
        if version < _VERSION and (doubt := _Earlier.model_validate_json(text).answer.doubt):
            answer = replace(answer, doubts=(Fact(FactKind.SAID, words=doubt),))
        return _of_first_version(answer) if version == 1 else answer


def query_as_kept(query: Query) -> str:
    """Write a question."""
    return _QUERY.dump_json(query, exclude_defaults=True).decode()


def kept_query(text: str) -> Query:
    """Read a question.

    Raises:
        StoreError: it is damaged.
    """
    with _damage(N_("question")):
        return _QUERY.validate_json(text)


def draft_as_kept(claims: Sequence[str]) -> str:
    """Write the claims of an unfinished answer."""
    return _DRAFT.dump_json(tuple(claims)).decode()


def kept_draft(text: str) -> tuple[str, ...]:
    """Read the claims of an unfinished answer.

    Raises:
        StoreError: they are damaged.
    """
    with _damage(N_("draft")):
        return _DRAFT.validate_json(text)


def _of_first_version(answer: Answer) -> Answer:
    """Before claims were checked, `supported` said of an answer that its quotations were found."""
    if answer.status is not Status.SUPPORTED or answer.label or answer.derivation:
        return answer
    if answer.claims:
        doubts = answer.doubts or (Fact(FactKind.UNCHECKED),)
        return replace(answer, status=Status.UNSUPPORTED, doubts=doubts)
    return replace(answer, status=Status.QUOTED)


@contextmanager
def _damage(what: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise StoreError(
            N_("This {what} is damaged."),
            N_("Ask the question again."),
            what=_(what),
        ) from error


def _without_texts(trace: Trace) -> Trace:
    stages = tuple(
        replace(
            stage,
            hits=tuple(
                replace(hit, passage=replace(hit.passage, text="", triple=None))
                for hit in stage.hits
            ),
        )
        for stage in trace.stages
    )
    return replace(trace, stages=stages)
