"""What a measure makes of an answer whose right one is known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from localrag.corpus.model import Triple
from localrag.evaluation.model import Question


class Verdict(StrEnum):
    """Whether an answer and its derivation are right, in this order (true, false).

    NA: there is no answer, whatever was derived.
    """

    TT = "TT"
    TF = "TF"
    FT = "FT"
    FF = "FF"
    NA = "N/A"

    @classmethod
    def of(cls, *, answer: bool, derivation: bool) -> "Verdict":
        """The verdict on an answer that there is."""
        return cls("FT"[answer] + "FT"[derivation])


_T = TypeVar("_T", covariant=True)

Measured = Callable[[str, Sequence[Triple], Question], _T]
"""Takes the text of an answer, the triples it was derived from, and the question."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A way to measure answers in words.

    Attributes:
        score: the figure, among `figures`, that counts as the score.
        figures: by name, 0 to 1 each, better when higher.
        verdict: by comparison alone, without a model; None where derivations are not looked at.
        notes: what has to be known of the figures, a sentence each: what they were made with, and
            which could not be made.
    """

    score: str
    figures: Measured[Mapping[str, float]]
    verdict: Measured[Verdict] | None = None
    notes: tuple[str, ...] = ()
