"""The budget of an optimisation, and the journal of what it was spent on: each call paid for once.

GEPA keeps a state of its own, which does not hold where its random numbers stand, so that a run
that goes on from it makes other choices than an unbroken one. Here a run always begins at its
beginning, with the same seed: what was asked before is answered from the journal, at no cost, and
so it comes to the same candidates, however often it was stopped.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, TypeAdapter

from localrag.corpus.journal import Journal
from localrag.errors import WorkspaceError
from localrag.evaluation.optimize.types import OptimisationPlan, Proposal, Rollout
from localrag.language import N_

_Made = TypeVar("_Made", Rollout, Proposal)


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptRollout(Rollout):
    key: str
    kind: Literal["rollout"] = "rollout"


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptProposal(Proposal):
    key: str
    kind: Literal["proposal"] = "proposal"


_Kept = Annotated[_KeptRollout | _KeptProposal, Field(discriminator="kind")]
_KEPT: TypeAdapter[_Kept] = TypeAdapter(_Kept)
_MADE: TypeAdapter[Rollout | Proposal] = TypeAdapter(Rollout | Proposal)


class Outcomes:
    """What every call of a model gave, by the key of what was asked; opened by ``with``.

    Attributes:
        torn: whether the last line of the file was cut off by a kill; it is dropped.

    Raises:
        WorkspaceError: a line is damaged.
        StorageError: the file cannot be read or written; what was kept before stays.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._journal: Journal[_Kept] = Journal(path, _KEPT, self._damaged)
        self._kept: dict[str, _Kept] = {}

    def __enter__(self) -> Self:
        self._kept = {line.row.key: line.row for line in self._journal.lines()}
        self._journal.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._journal.__exit__(*raised)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def torn(self) -> bool:
        """Whether a line that was cut off was dropped."""
        return self._journal.torn

    def get(self, key: str) -> Rollout | Proposal | None:
        """What was kept under a key."""
        return self._kept.get(key)

    def put(self, key: str, made: Rollout | Proposal) -> None:
        """Keep an outcome; when this returns, no kill can lose it. Several threads may do so."""
        kind = type(made).__name__.lower()
        kept = _KEPT.validate_python({"key": key, "kind": kind, **_MADE.dump_python(made)})
        self._journal.append(kept)
        self._kept[key] = kept

    def _damaged(self, number: int) -> WorkspaceError:
        return WorkspaceError(
            N_("{path}, line {n} is no outcome of an optimisation."),
            N_("Delete that line (it is asked again), or begin anew with --restart."),
            path=self._path,
            n=number,
        )


def key_of(*parts: str) -> str:
    """The key of what is asked; other parts, other key."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


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
        self,
        journal: Outcomes,
        plan: OptimisationPlan,
        on_spent: Callable[[Rollout | Proposal, bool], None],
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

    def once(self, key: str, kind: type[_Made], make: Callable[[], _Made]) -> _Made:
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
