"""Lines of a file of answers, as a batch wrote them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from localrag.errors import StorageError, WorkspaceError
from localrag.evaluation.causes import Stage
from localrag.reading.types import Derivation

_Understood = TypeVar("_Understood")

# RecursionError: JSON that is nested too deeply.
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)

_derivation = TypeAdapter(Derivation | None)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a row says of an answer in free text.

    Attributes:
        text: of the answer; "" where there is none.
        derivation: what it follows from; without a step where the row has none.
        stages: of its trace, in their order.
    """

    text: str
    derivation: Derivation
    stages: Sequence[Stage]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Answered":
        """Read it from a row, failed ones included."""
        derivation = _derivation.validate_python(row.get("derivation"))
        return cls(row.get("answer", ""), derivation or Derivation(()), stages_of(row))


def read(
    path: Path, understand: Callable[[Mapping[str, Any]], _Understood], rows: int
) -> dict[int, _Understood]:
    """Read the newest line of each row.

    Args:
        path: the file, which need not exist; a last line that was cut off is none.
        understand: makes of a row what is given back; raises `ValueError`, `LookupError`,
            `TypeError` or `AttributeError` where it is damaged.
        rows: how many are looked at, from the first; later ones are passed over.

    Returns:
        What was made of them, by number from 1.

    Raises:
        WorkspaceError: a line is damaged.
        StorageError: the file cannot be read.
    """
    found: dict[int, _Understood] = {}
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    row = json.loads(line)
                    place = _place(row)
                    if place <= rows:
                        found[place] = understand(row)
                except _DAMAGE as error:
                    raise WorkspaceError(
                        f"{path}, line {number} is no answer to the question of its row.",
                        "Delete that line: the question is asked anew.",
                    ) from error
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StorageError(
            f"{path} cannot be read ({error.strerror}).", "Mend its permissions, or the disk."
        ) from error
    return found


def stages_of(row: Mapping[str, Any]) -> list[Stage]:
    """The stages of the trace of a row, in their order."""
    return [
        Stage(stage["stage"], stage["subject"], stage["passages"])
        for stage in row.get("trace", {}).get("stages", ())
    ]


def _place(row: Mapping[str, Any]) -> int:
    """The number of a row, from 1."""
    place = row["row"]
    if type(place) is not int or place < 1:
        raise ValueError("no row")
    return place
