"""From a file of answers to results: what became of each question, and what it cost."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from localrag.durable import replace_text
from localrag.errors import StorageError
from localrag.evaluation import rows
from localrag.evaluation.causes import Stage, cause_of_error
from localrag.evaluation.measures import MEASURES, Measure
from localrag.evaluation.model import CONTAINS, DETERMINISTIC, Gold, Question, Result, Spent
from localrag.evaluation.orders import in_dataset_order, rotated
from localrag.evaluation.recall import ranks
from localrag.evaluation.rows import Answered
from localrag.methods.types import Method

_CONTAINS = MEASURES[CONTAINS](())


def results(
    path: Path,
    questions: Sequence[Question],
    order: int,
    method: Method,
    lacking: Mapping[str, Collection[Gold]] = MappingProxyType({}),
    measure: Measure = _CONTAINS,
) -> dict[int, Result]:
    """Read what has become of questions so far; the newest line of each counts.

    Args:
        path: the file, which need not exist; a last line that was cut off is none.
        questions: its rows 1, 2 …, in the order of the dataset; later rows are passed over.
        order: the order that their options were shown in.
        method: that answered.
        lacking: by question, the gold places that the corpus does not hold.
        measure: of answers in free text.

    Returns:
        Results by row.

    Raises:
        WorkspaceError: a line is damaged, or answers another question.
        StorageError: the file cannot be read.
    """

    def understood(row: Mapping[str, Any]) -> Result:
        question = questions[row["row"] - 1]
        return _result(row, question, order, method, measure, lacking.get(question.id, ()))

    found = rows.read(path, understood, len(questions))
    active = {stage for one in found.values() for stage, length in one.lengths.items() if length}
    return {place: _of_stages(result, active) for place, result in found.items()}


def forget(path: Path, places: Collection[int]) -> None:
    """Drop what is written of these rows, so that a batch asks them again; all or nothing.

    The caller holds the right to write the file, whose lines `results` has read.

    Raises:
        StorageError: the file cannot be read or written; it stays as it is.
    """
    try:
        with path.open("rb") as lines:
            whole = (line for line in lines if line.endswith(b"\n"))
            kept = [line for line in whole if json.loads(line)["row"] not in places]
        replace_text(path, b"".join(kept).decode())
    except OSError as error:
        raise StorageError(
            f"{path} cannot be read or written ({error.strerror}).",
            "Free some space or mend its permissions; the same command goes on.",
        ) from error


def _of_stages(result: Result, active: set[str]) -> Result:
    # A stage that found nothing for any question took no part (no vectors, no reranker): its
    # recall would read as if it had searched in vain.
    recall = {stage: places for stage, places in result.recall.items() if stage in active}
    return replace(
        result, recall=recall, lengths={stage: result.lengths[stage] for stage in recall}
    )


def _result(
    row: Mapping[str, Any],
    question: Question,
    order: int,
    method: Method,
    measure: Measure,
    lacking: Collection[Gold],
) -> Result:
    failure = row["error"]["type"] if row["status"] == "failed" else ""
    asked = rotated(question.query, order)
    answered = (row["id"], row["question"], row["options"])
    # A row that could not be asked has no question.
    unasked = failure and row["question"] is None
    if not unasked and answered != (question.id, asked.text, list(asked.options)):
        raise ValueError("another question")
    shown = "" if failure else row["label"]
    if method.chooses and not failure and not shown:
        raise ValueError("no option")
    chosen = in_dataset_order(shown, order, len(asked.options)) if shown else ""
    figures: Mapping[str, float] = {}
    verdicts: Mapping[str, str] = {}
    if question.query.options:
        score = float(chosen == question.answer)
    else:
        score, figures, verdicts = _measured(Answered.of(row), question, measure)
        score = 0.0 if failure else score
    stages = rows.stages_of(row)
    cited = [one["passage_id"] for one in row.get("citations", ()) if one["verified"]]
    return Result(
        question=question.id,
        order=order,
        score=score,
        chosen=chosen,
        shown=shown,
        failure=failure,
        cause=None
        if score >= 1
        else cause_of_error(
            question.gold,
            stages,
            cited,
            answered=not failure,
            searched=method.searches,
            lacking=lacking,
        ),
        recall=_recall(question.gold, stages),
        lengths=_lengths(stages),
        spent=_spent(row),
        notes=tuple(dict.fromkeys(row.get("trace", {}).get("events", ()))),
        transient=bool(failure and row["error"].get("transient")),
        status="" if failure else row["status"],
        measures=figures,
        verdicts=verdicts,
    )


def _measured(
    answer: Answered, question: Question, measure: Measure
) -> tuple[float, Mapping[str, float], Mapping[str, str]]:
    """The score, the figures and the verdict on an answer in free text."""
    given = (answer.text, answer.derivation.triples, question)
    figures = measure.figures(*given)
    verdicts = {DETERMINISTIC: measure.verdict(*given)} if measure.verdict else {}
    return figures[measure.score], figures, verdicts


def _recall(gold: Sequence[Gold], stages: Sequence[Stage]) -> dict[str, tuple[int, ...]]:
    """By stage, the best rank of each gold place over all subjects it searched for; 0 for none."""
    if not gold:
        return {}
    best: dict[str, tuple[int, ...]] = {}
    for stage in stages:
        now = ranks(gold, stage.passages)
        before = best.get(stage.name, now)
        best[stage.name] = tuple(
            min(filter(None, pair), default=0) for pair in zip(before, now, strict=True)
        )
    return best


def _lengths(stages: Sequence[Stage]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for stage in stages:
        longest[stage.name] = max(longest.get(stage.name, 0), len(stage.passages))
    return longest


def _spent(row: Mapping[str, Any]) -> Spent:
    calls = row.get("trace", {}).get("calls", ())
    spent = Spent(
        calls=len(calls),
        retries=sum(bool(call["problem"]) for call in calls),
        prompt=sum(call["prompt"] for call in calls),
        cached=sum(call["cached"] or 0 for call in calls),
        completion=sum(call["completion"] for call in calls),
        seconds=row["seconds"],
    )
    counts = (spent.prompt, spent.cached, spent.completion, spent.seconds)
    if not all(math.isfinite(count) and count >= 0 for count in counts):
        raise ValueError("no cost")
    return spent
