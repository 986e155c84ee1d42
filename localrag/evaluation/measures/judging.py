"""Two judges, as in the published study of staged RAG: a model judges answer and derivation.

What comparison decides is not asked: a model is not needed for an answer that is the right one, for
YES against NO, for the right triples in another order, or where no triple is given.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from localrag.config import ChatConfig
from localrag.corpus.model import Triple
from localrag.errors import ModelUnusable
from localrag.evaluation.measures.alignment import singles
from localrag.evaluation.measures.answers import folded
from localrag.evaluation.measures.model import Verdict
from localrag.evaluation.model import Question
from localrag.prompts import language_of, prompt
from localrag.reading.asking import ask
from localrag.reading.evidence import element
from localrag.retrieval.model import ModelCall
from localrag_models.chat import ChatModel
from localrag_models.errors import ContextExceeded, ReplyInvalid

_LONGEST_REASON = 300
_YES_NO = {folded("YES"), folded("NO")}
# What fails with one answer, and can go well with the next.
_OF_THIS_ANSWER = (ReplyInvalid.__name__, ContextExceeded.__name__)


class _Reply(BaseModel):
    # The reason comes first: the verdict is then written with it in view.
    reason: Annotated[str, Field(min_length=1, max_length=_LONGEST_REASON)]
    verdict: Literal["right", "wrong"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judges say.

    Attributes:
        verdict: None where they gave none.
        calls: of the model, retries included; none where comparison decided.
        problem: why there is no verdict; empty where there is one.
    """

    verdict: Verdict | None
    calls: tuple[ModelCall, ...] = ()
    problem: str = ""


def judge(
    model: ChatModel,
    settings: ChatConfig,
    question: Question,
    answer: str,
    derivation: Sequence[Triple],
) -> Judged:
    """Have a model judge an answer and, in a call of its own, the triples it was derived from.

    Args:
        model: the judge.
        settings: of it.
        question: with the right answer and triples.
        answer: its text; where there is none, nothing is asked.
        derivation: in any order.

    Returns:
        No verdict where a reply stayed malformed after the retry, or the context of the model does
        not hold the prompt.

    Raises:
        ModelUnusable: the model fails otherwise.
    """
    if not folded(answer):
        return Judged(Verdict.NA)
    calls: list[ModelCall] = []

    def right(name: str, **values: str | Sequence[str]) -> bool:
        texts = [
            text
            for value in values.values()
            for text in ((value,) if isinstance(value, str) else value)
        ]
        asked = question.query.text
        tag = element("text", (asked, *texts))
        shown = {"question": asked, "longest": _LONGEST_REASON, "tag": tag, **values}
        messages = prompt(name, language_of(asked), **shown)
        return ask(model, settings, messages, _Reply, calls.append, name).verdict == "right"

    gold, facts = ([one.text for one in some] for some in (question.derivation, derivation))
    try:
        answered = _compared(answer, question.answer)
        if answered is None:
            answered = right("judge_answer", gold=question.answer, answer=answer)
        derived = _derived(derivation, question.derivation)
        if derived is None:
            derived = right("judge_derivation", answer=question.answer, gold=gold, facts=facts)
    except ModelUnusable as error:
        if error.kind not in _OF_THIS_ANSWER:
            raise
        return Judged(None, tuple(calls), error.cause)
    return Judged(Verdict.of(answer=answered, derivation=derived), tuple(calls))


def _compared(answer: str, gold: str) -> bool | None:
    """Whether an answer is right, where comparison decides it."""
    both = {folded(answer), folded(gold)}
    if len(both) == 1:
        return True
    return False if both <= _YES_NO else None


def _derived(derivation: Sequence[Triple], gold: Sequence[Triple]) -> bool | None:
    """Whether a derivation is right, where comparison decides it."""
    given, wanted = (
        Counter(tuple(map(folded, one)) for one in singles(some)) for some in (derivation, gold)
    )
    if given == wanted:
        return True
    return None if given else False
