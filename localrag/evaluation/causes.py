"""Why an answer is wrong, decided by code after the error analysis of the published study.

The study reads answers one by one; here the trace decides. In this order:

1. No answer came, or the reply stayed malformed: REPLY.
2. Nothing was searched, or it is not known where the answer stands: REASONING, for there was
   nothing to miss.
3. The corpus holds none of the gold places: CORPUS.
4. No gold place is among the hits that the search gave back in the end (for each subject, the
   last stage with hits before the evidence was chosen): SEARCH.
5. Gold is among them, but not in what the model was shown (the stage `evidence`, where a method
   records one), or quotations were verified and all of them stand elsewhere: EVIDENCE.
6. Else the answer had what it needed: REASONING.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from localrag.evaluation.model import Cause, Gold
from localrag.evaluation.recall import ranks
from localrag.methods.toolkit import EVIDENCE


@dataclass(frozen=True, slots=True)
class Stage:
    """What a stage found: ids of passages, best first; `subject` as in `StageRecord`."""

    name: str
    subject: str
    passages: Sequence[str]


def cause_of_error(
    gold: Sequence[Gold],
    stages: Sequence[Stage],
    cited: Sequence[str],
    *,
    answered: bool,
    searched: bool,
    lacking: Collection[Gold] = (),
) -> Cause:
    """Say why an answer that is not right is not.

    Args:
        gold: the places that answer the question.
        stages: of its trace, in their order.
        cited: passages of the verified quotations.
        answered: whether there is an answer.
        searched: whether the method looks into the corpus.
        lacking: those of `gold` that the corpus does not hold.
    """
    if not answered:
        return Cause.REPLY
    if not searched or not gold:
        return Cause.REASONING
    if all(place in lacking for place in gold):
        return Cause.CORPUS
    if not _holds(gold, _found(stages)):
        return Cause.SEARCH
    chosen = [stage for stage in stages if stage.name == EVIDENCE]
    shown = [id_ for stage in chosen for id_ in stage.passages]
    if (chosen and not _holds(gold, shown)) or (cited and not _holds(gold, cited)):
        return Cause.EVIDENCE
    return Cause.REASONING


def _found(stages: Sequence[Stage]) -> list[str]:
    last = {
        stage.subject: stage.passages
        for stage in stages
        if stage.passages and stage.name != EVIDENCE
    }
    return [id_ for passages in last.values() for id_ in passages]


def _holds(gold: Sequence[Gold], passages: Sequence[str]) -> bool:
    return any(ranks(gold, passages))
