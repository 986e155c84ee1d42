"""What lies between two bounds: a value that is known only so far, or a condition on values."""

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar


class Ordered(Protocol):
    """What can be put in order."""

    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=Ordered)


@dataclass(frozen=True, slots=True)
class Interval(Generic[T]):
    """All values from `low` to `high`.

    Attributes:
        low, high: None for no bound.
        above, below: whether `low`, or `high`, itself is left out.
    """

    low: T | None
    high: T | None
    above: bool = False
    below: bool = False

    def before(self, other: "Interval[T]") -> bool:
        """Whether every value is smaller than every value of `other`."""
        if self.high is None or other.low is None:
            return False
        return self.high < other.low or (self.high == other.low and (self.below or other.above))

    def overlaps(self, other: "Interval[T]") -> bool:
        """Whether the two have a value in common."""
        return not self.before(other) and not other.before(self)

    def within(self, other: "Interval[T]") -> bool:
        """Whether every value lies in `other`."""
        starts = other.low is None or (
            self.low is not None
            and (
                other.low < self.low or (self.low == other.low and (self.above or not other.above))
            )
        )
        ends = other.high is None or (
            self.high is not None
            and (
                self.high < other.high
                or (self.high == other.high and (self.below or not other.below))
            )
        )
        return starts and ends

    def lies_in(self, other: "Interval[T]") -> bool | None:
        """Whether the value meant lies in `other`; None where some do and some do not."""
        if self.within(other):
            return True
        return None if self.overlaps(other) else False

    def hull(self, other: "Interval[T]") -> "Interval[T]":
        """The smallest interval that holds both."""
        lows = self if self._starts_before(other) else other
        highs = other if self._ends_before(other) else self
        return Interval(lows.low, highs.high, lows.above, highs.below)

    def overlap(self, other: "Interval[T]") -> "Interval[T]":
        """What both have in common; they must overlap."""
        lows = other if self._starts_before(other) else self
        highs = self if self._ends_before(other) else other
        return Interval(lows.low, highs.high, lows.above, highs.below)

    @property
    def is_point(self) -> bool:
        """Whether it is one value."""
        return self.low is not None and self.low == self.high

    def _starts_before(self, other: "Interval[T]") -> bool:
        if self.low is None or other.low is None:
            return self.low is None
        return self.low < other.low or (self.low == other.low and not self.above)

    def _ends_before(self, other: "Interval[T]") -> bool:
        if self.high is None or other.high is None:
            return other.high is None
        return self.high < other.high or (self.high == other.high and self.below)
