"""How a process and the one that started it talk: one pickled value after another, with its length.

Both ends are this program, on the same machine; nothing else ever writes to these pipes.
"""

import pickle
from dataclasses import dataclass
from struct import Struct

LENGTH = Struct(">Q")
"""Comes before each value: its size in bytes."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The function has ended."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The function has failed.

    Attributes:
        type: the name of the error.
        cause, cure: as in `localrag.errors.LocalragError`.
    """

    type: str
    cause: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The function was stopped from outside; what it had finished is kept."""


def packed(value: object) -> bytes:
    """A value as it goes through the pipe."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


def unpacked(data: bytes) -> object:
    """What was packed, without its length."""
    return pickle.loads(data)  # noqa: S301 - only our own processes write to the pipe
