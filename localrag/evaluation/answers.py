"""Results of questions, read from files of answers: score, cost, and the cause of an error.

The trace decides the cause of a wrong answer, in this order:

1. There is no answer, or the reply stayed malformed: REPLY.
2. Nothing was searched, or no gold place is known: REASONING.
3. The corpus holds no gold place: CORPUS.
4. No gold place is among the last hits of any subject: SEARCH.
5. Gold was found, but the model was not shown it, or no verified quotation is from it: EVIDENCE.
6. Any other answer: REASONING.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from localrag.answer.types import Citation, Claim, Derivation, FactCheck
from localrag.corpus.journal import Journal
from localrag.errors import WorkspaceError
from localrag.evaluation.measures import MEASURES, Measure
from localrag.evaluation.recall import ranks
from localrag.evaluation.types import (
    CONTAINS,
    DETERMINISTIC,
    Cause,
    Gold,
    Question,
    Result,
    Spent,
    in_dataset_order,
    rotated,
)
from localrag.language import N_
from localrag.methods.catalogue import Method
from localrag.methods.extractive import EVIDENCE
from localrag.ops.batch.rows import ROWS, AnsweredRow, FailedRow, StageSummary, WrittenRow


def cause_of_error(
    gold: Sequence[Gold],
    stages: Sequence[StageSummary],
    cited: Sequence[str],
    *,
    answered: bool,
    searched: bool,
    lacking: Collection[Gold] = (),  # gold places missing from the corpus
) -> Cause:
    """Why an answer is wrong."""
    if not answered:
        return Cause.REPLY
    if not searched or not gold:
        return Cause.REASONING
    if all(place in lacking for place in gold):
        return Cause.CORPUS
    if not _holds(gold, _found(stages)):
        return Cause.SEARCH
    chosen = [stage for stage in stages if stage.stage == EVIDENCE]
    shown = [id_ for stage in chosen for id_ in stage.passages]
    if (chosen and not _holds(gold, shown)) or (cited and not _holds(gold, cited)):
        return Cause.EVIDENCE
    return Cause.REASONING


def _found(stages: Sequence[StageSummary]) -> list[str]:
    last = {
        stage.subject: stage.passages
        for stage in stages
        if stage.passages and stage.stage != EVIDENCE
    }
    return [id_ for passages in last.values() for id_ in passages]


def _holds(gold: Sequence[Gold], passages: Sequence[str]) -> bool:
    return any(ranks(gold, passages))


_Understood = TypeVar("_Understood")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer in free text, read from a row."""

    text: str  # of the answer; "" of a failure
    derivation: Derivation  # may have no step
    stages: Sequence[StageSummary]  # of the trace, in their order
    checked: FactCheck | None = None  # result for a claim; None without a verdict
    claims: Sequence[Claim] = ()
    citations: Sequence[Citation] = ()

    @classmethod
    def of(cls, row: WrittenRow) -> "Answered":
        """Read it from a row, even a failed one."""
        if isinstance(row, FailedRow):
            return cls("", Derivation(()), _stages(row))
        return cls(
            row.answer,
            row.derivation or Derivation(()),
            _stages(row),
            row.checked,
            row.claims,
            row.citations,
        )


def read_rows(
    path: Path, understand: Callable[[WrittenRow], _Understood], rows: int
) -> dict[int, _Understood]:
    """Read the newest line of each row of a file of answers, by number, from 1.

    `understand` raises `ValueError` for a damaged row. A missing file has no rows; a cut off last
    line is ignored. Raises `WorkspaceError` for a damaged line.
    """
    found: dict[int, _Understood] = {}
    journal = _journal(path)
    for line in journal.lines():
        if line.row.row <= rows:
            try:
                found[line.row.row] = understand(line.row)
            except ValueError as error:
                raise _damaged(path, line.number) from error
    return found


def _journal(path: Path) -> Journal[WrittenRow]:
    return Journal(path, ROWS, partial(_damaged, path))


def _damaged(path: Path, number: int) -> WorkspaceError:
    return WorkspaceError(
        N_("{path}, line {n} is no answer to the question of its row."),
        N_("Delete that line: the question is asked again."),
        path=path,
        n=number,
    )


def _stages(row: WrittenRow) -> Sequence[StageSummary]:
    return row.trace.stages if row.trace else ()


_CONTAINS = MEASURES[CONTAINS](())


def results(
    path: Path,  # the file; it may be missing. A last line that was cut off is ignored
    questions: Sequence[Question],
    order: int,
    method: Method,
    lacking: Mapping[str, Collection[Gold]] = MappingProxyType({}),
    measure: Measure = _CONTAINS,
) -> dict[int, Result]:
    """Read the results of questions so far, by row.

    Rows 1, 2 … are the questions in the order of the dataset; later rows are ignored. Raises
    `WorkspaceError` if a line is damaged, or answers another question.
    """

    def understood(row: WrittenRow) -> Result:
        question = questions[row.row - 1]
        return _result(row, question, order, method, measure, lacking.get(question.id, ()))

    found = read_rows(path, understood, len(questions))
    active = {stage for one in found.values() for stage, length in one.lengths.items() if length}
    return {place: _of_stages(result, active) for place, result in found.items()}


def forget(path: Path, places: Collection[int]) -> None:
    """Drop these rows, so that a batch asks them again; all or nothing.

    The caller holds the right to write the file, and `results` has read its lines.
    """
    journal = _journal(path)
    journal.keep([line.offset for line in journal.lines() if line.row.row not in places])


def _of_stages(result: Result, active: set[str]) -> Result:
    # A stage without hits for any question was off (no vectors, no reranker); its recall would be
    # misleading.
    recall = {stage: places for stage, places in result.recall.items() if stage in active}
    return replace(
        result, recall=recall, lengths={stage: result.lengths[stage] for stage in recall}
    )


def _result(
    row: WrittenRow,
    question: Question,
    order: int,
    method: Method,
    measure: Measure,
    lacking: Collection[Gold],
) -> Result:
    failure = row.error if isinstance(row, FailedRow) else None
    asked = rotated(question.query, order)
    # A row that could not be asked has no question.
    unasked = failure and row.question is None
    if not unasked and (row.id, row.question, row.options) != (
        question.id,
        asked.text,
        asked.options,
    ):
        raise ValueError("another question")
    if isinstance(row, AnsweredRow) and row.documents != asked.filters.documents:
        raise ValueError("other documents")
    shown = row.label if isinstance(row, AnsweredRow) else ""
    if method.chooses and not failure and not shown:
        raise ValueError("no option")
    chosen = in_dataset_order(shown, order, len(asked.options)) if shown else ""
    if isinstance(row, AnsweredRow) and row.checked:
        chosen = row.checked.veracity.value
    figures: Mapping[str, float] = {}
    verdicts: Mapping[str, str] = {}
    if question.query.options:
        score = float(chosen == question.answer)
    else:
        score, figures, verdicts = _measured(Answered.of(row), question, measure)
        if failure:
            # A failure is not a refusal, even of an unanswerable question.
            score, figures = 0.0, dict.fromkeys(figures, 0.0)
    stages = _stages(row)
    citations = row.citations if isinstance(row, AnsweredRow) else ()
    cause = None
    if score < 1:
        cause = cause_of_error(
            question.gold,
            stages,
            [one.passage_id for one in citations if one.verified],
            answered=not failure,
            searched=method.searches,
            lacking=lacking,
        )
    return Result(
        question=question.id,
        order=order,
        score=score,
        chosen=chosen,
        shown=shown,
        failure=failure.type if failure else "",
        cause=cause,
        recall=_recall(question.gold, stages),
        lengths=_lengths(stages),
        spent=Spent.of(row.trace.calls if row.trace else (), row.seconds),
        notes=tuple(dict.fromkeys(row.trace.events)) if row.trace else (),
        transient=bool(failure and failure.transient),
        status="" if failure else row.status,
        measures=figures,
        verdicts=verdicts,
    )


def _measured(
    answer: Answered, question: Question, measure: Measure
) -> tuple[float, Mapping[str, float], Mapping[str, str]]:
    if measure.of_checks:
        figures = measure.of_checks(answer.checked, question)
        return figures[measure.score], figures, {}
    if measure.of_claims:
        figures = measure.of_claims(answer.claims, answer.citations, question)
        return figures[measure.score], figures, {}
    given = (answer.text, answer.derivation.triples, question)
    figures = measure.figures(*given)
    verdicts = {DETERMINISTIC: measure.verdict(*given)} if measure.verdict else {}
    return figures[measure.score], figures, verdicts


def _recall(gold: Sequence[Gold], stages: Sequence[StageSummary]) -> dict[str, tuple[int, ...]]:
    """By stage, the best rank of each gold place over all subjects; 0 if it was not found."""
    if not gold:
        return {}
    best: dict[str, tuple[int, ...]] = {}
    for stage in stages:
        now = ranks(gold, stage.passages)
        before = best.get(stage.stage, now)
        best[stage.stage] = tuple(
            min(filter(None, pair), default=0) for pair in zip(before, now, strict=True)
        )
    return best


def _lengths(stages: Sequence[StageSummary]) -> dict[str, int]:
    longest: dict[str, int] = {}
    for stage in stages:
        longest[stage.stage] = max(longest.get(stage.stage, 0), len(stage.passages))
    return longest
