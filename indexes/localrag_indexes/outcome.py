"""How a result or an error comes back from another process, for workbench and cluster."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, Self, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class WorkFailed(Exception):  # noqa: N818 - the name says what happened
    """Work in another process raised an error without a pickled form; `failure` has its words."""

    def __init__(self, failure: "Failure") -> None:
        super().__init__(failure.cause)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Failure:
    """An error on its way from one process to another."""

    type: str  # name of the error
    code: int  # its exit code; 1 for an unexpected error
    cause: str  # what went wrong, in words
    cure: Any  # what to do about it, in words or as a value that has words; "" if nothing is known
    error: Exception | None  # the error itself; None if it cannot be pickled

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Make an error ready to travel."""
        name = type(error).__name__
        return cls(
            name,
            getattr(error, "exit_code", 1),
            getattr(error, "cause", f"{name}: {error}"),
            getattr(error, "remedy", getattr(error, "cure", "")),
            error if _travels(error) else None,
        )

    def raised(self) -> Exception:
        return self.error or WorkFailed(self)


def _travels(error: Exception) -> bool:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made the line before
    except Exception:  # noqa: BLE001 - an error of a library may raise anything here
        return False
    return True


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Result]):
    """The result of work in another process, or its failure."""

    value: Result | None = None
    failure: Failure | None = None

    def result(self) -> Result:
        if self.failure is not None:
            raise self.failure.raised()
        return self.value  # type: ignore[return-value]  # None only where the work returned it


def outcome(
    work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
) -> Outcome[Result]:
    """Do some work; return its result or its error, ready to travel."""
    try:
        return Outcome(work(*given, **named))
    except Exception as error:  # noqa: BLE001 - raised again where the work was ordered
        return Outcome(failure=Failure.of(error))
