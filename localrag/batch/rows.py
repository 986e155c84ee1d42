"""A row of the file of answers: how it is written, and what of it is read again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from localrag.batch.checking import digest
from localrag.batch.failures import cause_and_cure, error_type, is_transient
from localrag.batch.model import Outcome, Question, Row
from localrag.errors import InputError
from localrag.reading.as_json import (
    call_as_json,
    citation_as_json,
    claim_as_json,
    derivation_as_json,
)
from localrag.reading.types import Answer, Status
from localrag.retrieval.model import StageRecord, Trace

FAILED = "failed"
"""Stands where an answered row has its status."""


def as_row(outcome: Outcome) -> dict[str, Any]:
    """Give an outcome as the JSON that is written."""
    row: dict[str, Any] = {"row": outcome.row.row, "line": outcome.row.line}
    row |= _question(outcome.row)
    if outcome.answer is not None:
        row |= _answer(outcome.answer)
    if outcome.error is not None:
        row |= {"status": FAILED, "error": _error(outcome.error)}
    if outcome.trace is not None:
        row["trace"] = _summary(outcome.trace)
    row["seconds"] = round(outcome.seconds, 6)
    return row


@dataclass(frozen=True, slots=True)
class Written:
    """What of a written row is needed to go on.

    Attributes:
        row: its number.
        digest: of the question that was answered; 0 if it failed.
        outcome: the status, or the type of the error.
    """

    row: int
    digest: int
    outcome: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Read it from a row.

        Raises:
            InputError: the row was not written by a batch.
        """
        try:
            number, status = row["row"], row["status"]
            if type(number) is not int or number < 1:
                raise TypeError
            if status == FAILED:
                return cls(number, 0, str(row["error"]["type"]))
            content = digest(row["id"] or "", row["question"], row["options"])
            return cls(number, content, Status(status))
        except (ValueError, LookupError, TypeError):
            raise InputError("It is no row of a file of answers.") from None


def _question(row: Row) -> dict[str, Any]:
    if not isinstance(row, Question):
        return {"id": row.id or None, "question": None, "options": []}
    return {
        "id": row.id or None,
        "question": row.query.text,
        "options": list(row.query.options),
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "status": answer.status.value,
        "answer": answer.text,
        "doubt": answer.doubt or None,
        "label": answer.label,
        "derivation": derivation_as_json(answer.derivation) if answer.derivation else None,
        "claims": [claim_as_json(claim) for claim in answer.claims],
        "citations": [citation_as_json(citation) for citation in answer.citations],
        "absent": list(answer.absent),
    }


def _summary(trace: Trace) -> dict[str, Any]:
    return {
        "stages": [_stage(record) for record in trace.stages],
        "calls": [call_as_json(call) for call in trace.calls],
        "events": list(trace.events),
    }


def _stage(record: StageRecord) -> dict[str, Any]:
    return {
        "stage": record.stage,
        "subject": record.subject,
        "query": record.query,
        "hits": len(record.hits),
        "passages": [hit.passage.id for hit in record.hits],
        "seconds": round(record.seconds, 6),
    }


def _error(error: Exception) -> dict[str, Any]:
    cause, cure = cause_and_cure(error)
    return {
        "type": error_type(error),
        "cause": cause,
        "cure": cure,
        "transient": is_transient(error),
    }
