"""What every index answers with."""

from typing import NamedTuple


class Scored(NamedTuple):
    """The key of an entry and its score; higher is better, comparable within one answer only."""

    key: int
    score: float
