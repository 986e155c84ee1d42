"""Measures of answers in free text, by the name in a declaration."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from localrag.corpus.types import Triple
from localrag.evaluation.measures import answers, averitec, collection, jemhopqa, multihop
from localrag.evaluation.types import CLAIMS, AnswerVerdict, Measure, Question

__all__ = ["MEASURES", "AnswerVerdict", "Measure"]


def _contains(answer: str, derivation: Sequence[Triple], question: Question) -> Mapping[str, float]:
    del derivation
    return {"contains": answers.contains(answer, question.answer)}


MEASURES: Mapping[str, Callable[[Sequence[Path]], Measure]] = {
    "contains": lambda _: Measure("contains", _contains),
    "jemhopqa": jemhopqa.opened,
    "multihop": multihop.opened,
    "collection": collection.opened,
    CLAIMS: averitec.opened,
}
"""Opens a measure with the present files of synonyms."""
