"""What a model fails with, told as an error of localrag."""

from collections.abc import Iterator
from contextlib import contextmanager

from localrag.errors import BusyError, ModelUnusable, StorageError
from localrag_models.errors import ModelError, StorageFailed, StoreBusy


@contextmanager
def named() -> Iterator[None]:
    """Turn every `ModelError` into an error of localrag, with its cause and cure.

    Raises:
        BusyError: another process is installing or removing the same model.
        StorageError: the disk is full, or a file or folder cannot be written.
        ModelUnusable: everything else.
    """
    try:
        yield
    except StoreBusy as error:
        raise BusyError(error.cause, error.cure) from error
    except StorageFailed as error:
        raise StorageError(error.cause, error.cure) from error
    except ModelError as error:
        raise ModelUnusable(
            error.cause, error.cure, kind=type(error).__name__, transient=error.transient
        ) from error
