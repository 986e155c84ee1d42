"""Budget and journal of an optimisation: each call is paid for once.

GEPA's own state leaves out its random numbers, so a run continued from it would differ. Here a
run always starts again with the same seed, and the journal answers earlier requests. It
reaches the same candidates after any number of stops.
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
    """Results of all model calls, by key; opened by ``with``.

    `torn`: a cut off line was dropped.
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
        """Whether a cut off line was dropped."""
        return self._journal.torn

    def get(self, key: str) -> Rollout | Proposal | None:
        """The outcome of a key."""
        return self._kept.get(key)

    def put(self, key: str, made: Rollout | Proposal) -> None:
        """Keep an outcome, safe from kills on return; for several threads."""
        kind = type(made).__name__.lower()
        kept = _KEPT.validate_python({"key": key, "kind": kind, **_MADE.dump_python(made)})
        self._journal.append(kept)
        self._kept[key] = kept

    def _damaged(self, number: int) -> WorkspaceError:
        return WorkspaceError(
            N_("{path}, line {n} is no outcome of an optimisation."),
            N_("Delete that line (it is asked again), or start again with --restart."),
            path=self._path,
            n=number,
        )


def key_of(*parts: str) -> str:
    """The key of a request, from its parts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class Ended(BaseException):
    """The budget is spent; not an `Exception`, because GEPA catches those and continues."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Spending:
    """Pays for each outcome once, over all starts of a run.

    Outcomes of an earlier start count when they come up again. So a run ends at the same place with
    or without stops.
    """

    def __init__(
        self,
        journal: Outcomes,
        plan: OptimisationPlan,
        on_spent: Callable[[Rollout | Proposal, bool], None],
    ) -> None:
        """Begin with nothing spent."""
        self.calls = 0
        self.seconds = 0.0
        self.outcomes = 0
        self._journal = journal
        self._plan = plan
        self._on_spent = on_spent
        self._met: set[str] = set()

    def ahead(self, wanted: Mapping[str, Callable[[], Rollout]], parallel: int) -> None:
        """Make several outcomes in parallel, within the calls left; `once` pays for them.

        Outcomes are kept if one fails or the run is stopped.
        """
        unknown = [key for key in wanted if self._journal.get(key) is None]
        if parallel < 2 or len(unknown) < 2:
            return

        def make(key: str) -> None:
            made = wanted[key]()
            # Parallel calls share the minutes.
            self._journal.put(key, replace(made, seconds=made.seconds / parallel))

        pool = ThreadPoolExecutor(parallel)
        try:
            left = max(0, self._plan.calls - self.calls)
            for future in [pool.submit(make, key) for key in islice(unknown, left)]:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def once(self, key: str, kind: type[_Made], make: Callable[[], _Made]) -> _Made:
        """The outcome of a key; made only if it is unknown. Raises `Ended` or `StorageError`."""
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
