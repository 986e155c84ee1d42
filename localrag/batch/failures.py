"""How errors read in a file of answers, those included that nobody foresaw."""

from localrag.errors import LocalragError, ModelUnusable


def error_type(error: Exception) -> str:
    """The name an error is counted under; that of a model's own error where one is behind it."""
    return error.kind if isinstance(error, ModelUnusable) else type(error).__name__


def cause_and_cure(error: Exception) -> tuple[str, str]:
    """What went wrong, and what to do about it."""
    if isinstance(error, LocalragError):
        return error.cause, error.cure
    return (
        f"An error nobody foresaw: {type(error).__name__}: {error}",
        "See where it comes from: LOCALRAG_DEBUG=1 localrag ask QUESTION",
    )


def is_transient(error: Exception) -> bool:
    """Whether the same question can succeed a little later."""
    return isinstance(error, ModelUnusable) and error.transient
