"""A Ray of threads: what `localrag.ops.cluster.workers` calls of it, and nothing else."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


class RayError(Exception):
    """A worker was lost."""


class GetTimeoutError(RayError):
    """It is not done yet."""


class Actor:
    """A worker in threads of this process.

    Attributes:
        made: how many there are, dead ones too.
    """

    def __init__(self, ray: "FakeRay", kind: type, arguments: tuple[Any, ...]) -> None:
        self._ray = ray
        self._threads = ThreadPoolExecutor(4)
        self._made = self._threads.submit(kind, *arguments)
        self.is_dead = False

    def __getattr__(self, name: str) -> Any:
        def remote(*given: Any) -> "Future[Any]":
            def run() -> Any:
                if self.is_dead:
                    raise RayError("dead")
                found = getattr(self._made.result(), name)(*map(self._ray.read, given))
                if self.is_dead:
                    raise RayError("died meanwhile")
                return found

            return self._threads.submit(run)

        return SimpleNamespace(remote=remote)


class FakeRay:
    """Starts actors; `made` has them, in their order."""

    exceptions = SimpleNamespace(RayError=RayError, GetTimeoutError=GetTimeoutError)

    def __init__(self) -> None:
        self.made: list[Actor] = []
        self.sent = 0

    def remote(self, kind: type) -> Any:
        def make(*arguments: Any) -> Actor:
            self.made.append(Actor(self, kind, arguments))
            return self.made[-1]

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=make))

    def get(self, future: "Future[Any]", timeout: float = 30) -> Any:
        try:
            return future.result(timeout)
        except TimeoutError as error:
            raise GetTimeoutError from error

    def put(self, value: Any) -> Any:
        self.sent += 1
        return SimpleNamespace(kept=value)

    def read(self, value: Any) -> Any:
        return getattr(value, "kept", value)

    def kill(self, actor: Actor) -> None:
        actor.is_dead = True


@pytest.fixture
def ray() -> FakeRay:
    """Ray, made of threads."""
    return FakeRay()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where workers keep what they are sent."""
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def opening() -> Callable[[Callable[[Any], Any]], Any]:
    """Makes an opener of a function."""

    def of(work: Callable[[Any], Any]) -> Any:
        @contextmanager
        def opener(home: Path) -> Iterator[Callable[[Any], Any]]:
            yield work

        return opener

    return of
