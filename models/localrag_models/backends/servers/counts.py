"""Numbers of tokens, as servers tell them."""

_MOST = 10**9
"""No model reads a thousand million tokens: whoever says so tells nothing."""


def tokens(told: object) -> int | None:
    """A number of tokens; None for what is none: true and false, a negative or an absurd number."""
    if isinstance(told, bool) or not isinstance(told, int):
        return None
    return told if 0 <= told <= _MOST else None
