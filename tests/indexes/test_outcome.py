"""What comes back from another process: a result, an error as itself, or an error in words."""

import os

import pytest

from localrag_indexes.errors import IndexMissing
from localrag_indexes.parallel import ProcessPool, WorkFailed, outcome


class _UnpicklableError(Exception):
    """An error as some libraries have them: it cannot be made of its arguments."""

    exit_code = 7
    cure = "Try it tomorrow."

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def _fail(number: int) -> None:
    raise _UnpicklableError(number, number + 1)


def _missing() -> None:
    raise IndexMissing("nowhere")  # type: ignore[arg-type]


def test_a_result_comes_back() -> None:
    assert outcome(divmod, 7, 2).result() == (3, 1)
    assert outcome(print, end="").result() is None


def test_an_error_that_can_be_pickled_comes_back_as_itself() -> None:
    done = outcome(int, "seven")
    with pytest.raises(ValueError, match="seven"):
        done.result()


def test_any_other_comes_back_in_words() -> None:
    with pytest.raises(WorkFailed, match="_UnpicklableError: 3 and 4") as failed:
        outcome(_fail, 3).result()
    failure = failed.value.failure
    assert (failure.type, failure.code, failure.cure) == (
        "_UnpicklableError",
        7,
        "Try it tomorrow.",
    )


def test_outcomes_cross_from_another_process() -> None:
    pool = ProcessPool(1, os.getpid)
    try:
        assert pool.submit(outcome, divmod, 7, 2).result().result() == (3, 1)
        with pytest.raises(WorkFailed, match="3 and 4"):
            pool.submit(outcome, _fail, 3).result().result()
        with pytest.raises(IndexMissing, match="nowhere"):
            pool.submit(outcome, _missing).result().result()
    finally:
        pool.kill()
    assert not any(process.is_alive() for process in pool.started)
