"""Spans of a text in reading order, and which of them touch a part of it."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Protocol

Span = tuple[int, int]
"""Where something begins and ends, in characters."""


class Stretch(Protocol):
    """A part of a text, such as a row of it."""

    @property
    def start(self) -> int:
        """Where it begins."""
        ...

    @property
    def end(self) -> int:
        """Where it ends."""
        ...


def touching(spans: Sequence[Span], stretch: Stretch) -> Iterator[int]:
    """The numbers of the spans that have something in a part of the text."""
    number = bisect_right(spans, (stretch.start, 0))
    while number > 0 and spans[number - 1][1] > stretch.start:
        number -= 1
    while number < len(spans) and spans[number][0] < stretch.end:
        yield number
        number += 1


def within(spans: Sequence[Span], stretch: Stretch) -> list[Span]:
    """The spans that have something in a part of the text."""
    return [spans[number] for number in touching(spans, stretch)]
