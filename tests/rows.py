"""A table of inputs as one test: a row costs its work alone, an item of pytest milliseconds more.

The subtests of pytest are reported one by one, so each costs as much as an item.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest


def each(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[..., Callable[..., Any]]:
    """Run a test for all rows, written as `pytest.mark.parametrize`, and name every wrong row.

    The rows share their fixtures: none may need what another has changed. Tables can be stacked.

    Raises:
        BaseExceptionGroup: the errors, each with its row.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    alone = isinstance(names, str) and len(keys) == 1
    table = [dict(zip(keys, [row] if alone else row, strict=True)) for row in rows]

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(*own: Any, **fixtures: Any) -> None:
            wrong: list[BaseException] = []
            for row in table:
                with _kept_in(wrong, row):
                    test(*own, **fixtures, **row)
            _raise(wrong, len(table))

        @functools.wraps(test)
        async def run_in_loop(*own: Any, **fixtures: Any) -> None:
            wrong: list[BaseException] = []
            for row in table:
                with _kept_in(wrong, row):
                    await test(*own, **fixtures, **row)
            _raise(wrong, len(table))

        chosen = run_in_loop if inspect.iscoroutinefunction(test) else run
        asked = inspect.signature(test)
        fixtures = [value for name, value in asked.parameters.items() if name not in keys]
        chosen.__signature__ = asked.replace(parameters=fixtures)
        return chosen

    return decorate


@contextmanager
def _kept_in(wrong: list[BaseException], row: Mapping[str, Any]) -> Iterator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised with the others
        error.add_note(f"row: {row!r}")
        wrong.append(error)


def _raise(wrong: list[BaseException], count: int) -> None:
    if wrong:
        raise BaseExceptionGroup(f"{len(wrong)} of {count} rows are wrong", wrong)
