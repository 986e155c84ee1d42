"""What a model fails with, told as an error of localrag."""

from collections.abc import Iterator
from contextlib import contextmanager

from localrag.errors import ModelUnusable
from localrag_models.errors import ModelError


@contextmanager
def named() -> Iterator[None]:
    """Turn every `ModelError` into `ModelUnusable`, with its cause and cure."""
    try:
        yield
    except ModelError as error:
        raise ModelUnusable(
            error.cause, error.cure, kind=type(error).__name__, transient=error.transient
        ) from error
