"""stub"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class MismatchKind(StrEnum):
    """stub."""

    FIGURE = "figure"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """stub."""

    kind: MismatchKind
    written: str


def mismatches(
    claim: str, sentences: Sequence[str], *, headings: Sequence[str] = (), question: str = ""
) -> tuple[Mismatch, ...]:
    return ()
