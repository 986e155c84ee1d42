"""The budget of an optimisation, and what of it is spent."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from localrag.optimize.journal import Journal
from localrag.optimize.model import Plan, Proposal, Rollout

Kept = TypeVar("Kept", Rollout, Proposal)


class Ended(BaseException):
    """The budget is spent.

    GEPA catches every `Exception` and goes on with the next proposal; this is none.

    Attributes:
        why: as in `Outcome.end`.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Spending:
    """Pays for every outcome once, over all starts of a run.

    What an earlier start paid for counts as it comes up again, so that a run ends at the same
    place whether it was stopped or not.

    Attributes:
        calls: of models.
        seconds: of work.
        outcomes: how many different ones came up.
    """

    def __init__(
        self, journal: Journal, plan: Plan, on_spent: Callable[[Rollout | Proposal, bool], None]
    ) -> None:
        """Begin with nothing spent.

        Args:
            journal: open.
            plan: with the budget.
            on_spent: told of each outcome, and whether an earlier start had paid for it.
        """
        self.calls = 0
        self.seconds = 0.0
        self.outcomes = 0
        self._journal = journal
        self._plan = plan
        self._on_spent = on_spent
        self._met: set[str] = set()

    def ahead(self, wanted: Mapping[str, Callable[[], Rollout]], parallel: int) -> None:
        """Make several outcomes at the same time, as far as the calls reach; `once` pays for them.

        What is done when one fails, or when the run is stopped, is kept.

        Args:
            wanted: what makes each outcome, by key.
            parallel: how many the model works on at the same time.
        """
        unknown = [key for key in wanted if self._journal.get(key) is None]
        if parallel < 2 or len(unknown) < 2:
            return

        def make(key: str) -> None:
            made = wanted[key]()
            # Those who share the time of a model share in the minutes.
            self._journal.put(key, replace(made, seconds=made.seconds / parallel))

        pool = ThreadPoolExecutor(parallel)
        try:
            left = max(0, self._plan.calls - self.calls)
            for future in [pool.submit(make, key) for key in islice(unknown, left)]:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def once(self, key: str, kind: type[Kept], make: Callable[[], Kept]) -> Kept:
        """Give the outcome of this key; it is made only where it is not known.

        Raises:
            Ended: it would go beyond the budget.
            StorageError: it cannot be kept.
        """
        kept = self._journal.get(key)
        if key in self._met:
            assert isinstance(kept, kind)
            return kept
        if self.calls >= self._plan.calls:
            raise Ended("calls")
        if self.seconds >= 60 * self._plan.minutes:
            raise Ended("minutes")
        known = isinstance(kept, kind)
        if not isinstance(kept, kind):
            kept = make()
            self._journal.put(key, kept)
        self._met.add(key)
        self.calls += kept.calls
        self.seconds += kept.seconds
        self.outcomes += 1
        self._on_spent(kept, known)
        return kept
