"""Figures, as servers tell them: numbers of tokens, and probabilities."""

import math
from collections.abc import Iterator

from localrag_models.choosing import Candidate

_MOST = 10**9
"""No model reads a thousand million tokens: whoever says so tells nothing."""


def tokens(told: object) -> int | None:
    """A number of tokens; None for what is none: true and false, a negative or an absurd number."""
    if isinstance(told, bool) or not isinstance(told, int):
        return None
    return told if 0 <= told <= _MOST else None


def likely(told: object) -> list[Candidate]:
    """What the first of several tokens might have been, as the list ``logprobs`` tells it.

    OpenAI's protocol and Ollama's write a token alike: ``{"token", "bytes", "logprob",
    "top_logprobs": [{"token", "bytes", "logprob"}]}``.
    """
    first = told[0] if isinstance(told, list) and told else None
    listed = first.get("top_logprobs") if isinstance(first, dict) else None
    some = _candidates(listed) if isinstance(listed, list) else ()
    return sorted(some, key=lambda candidate: -candidate.logarithm)


def _candidates(listed: list[object]) -> Iterator[Candidate]:
    for each in listed:
        if not isinstance(each, dict) or not isinstance(each.get("token"), str):
            continue
        logarithm = each.get("logprob")
        if isinstance(logarithm, int | float) and math.isfinite(logarithm) and logarithm <= 0:
            yield Candidate(_bytes(each), float(logarithm))


def _bytes(told: dict[str, object]) -> bytes:
    """A part of a character has bytes, and no text."""
    listed = told.get("bytes")
    try:
        return bytes(listed) if isinstance(listed, list) else str(told["token"]).encode()
    except (TypeError, ValueError):
        return b""
