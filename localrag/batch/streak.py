"""Telling a question that fails from a batch that cannot go on."""

from collections.abc import Iterable, Iterator

from localrag.batch.failures import cause_and_cure, error_type
from localrag.batch.model import Outcome
from localrag.errors import (
    BusyError,
    InputError,
    ModelUnusable,
    NotFoundError,
    StorageError,
    UsageError,
    WorkspaceError,
)

PATIENCE = 5
"""So many rows in a row that fail alike are taken for a failure of the whole batch."""

# These say that there is nothing to search in, or nowhere to write: no row would fare better.
_FATAL = (WorkspaceError, NotFoundError, BusyError, StorageError)
# A model that works gives these too, for questions it cannot manage.
_OF_ONE_QUESTION = frozenset({"ContextExceeded", "ReplyInvalid"})


def settled(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Pass on what can be written down; raise what would befall every other row too.

    Failures that may be of the whole batch are held back until another outcome shows that they
    were not. So when the batch stops, they are not written, and are asked again when it goes on.

    Raises:
        Exception: the error itself: at once, or after `PATIENCE` rows in a row failed alike.
    """
    held: list[Outcome] = []
    for outcome in outcomes:
        error = outcome.error
        if isinstance(error, _FATAL):
            raise error
        if error is not None and _of_one_question(error):
            yield outcome
            continue
        if held and (error is None or not _alike(error, held[-1].error)):
            yield from held
            held = []
        if error is None:
            yield outcome
            continue
        held.append(outcome)
        if len(held) == PATIENCE:
            raise error
    yield from held


def _of_one_question(error: Exception) -> bool:
    if isinstance(error, ModelUnusable):
        return error.kind in _OF_ONE_QUESTION
    return isinstance(error, UsageError | InputError)


def _alike(error: Exception, other: Exception | None) -> bool:
    return other is not None and (
        (error_type(error), cause_and_cure(error)) == (error_type(other), cause_and_cure(other))
    )
