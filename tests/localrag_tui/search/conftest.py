"""The Search screen under test."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from localrag.search.types import Hit, Trace
from localrag_tui.library import Library
from localrag_tui.search.results import Results
from localrag_tui.search.screen import SearchField


@pytest.fixture
def type_text() -> Callable[[Pilot[Any], str], Awaitable[None]]:
    """Presses the keys of a text, as an input method hands characters over."""

    async def press(pilot: Pilot[Any], text: str) -> None:
        await pilot.press(*text)

    return press


@pytest.fixture
def searched(
    until: Callable[..., Awaitable[None]],
) -> Callable[[Pilot[Any], str], Awaitable[Results]]:
    """Puts a text into the field, and waits for hits that are explained."""

    async def search(pilot: Pilot[Any], text: str) -> Results:
        await until(pilot, lambda: pilot.app.screen.query("SearchField"))
        screen = pilot.app.screen
        results = screen.query_one(Results)
        before = results.hits
        screen.query_one(SearchField).value = text
        await until(pilot, lambda: results.hits is not before)
        await until(pilot, lambda: not _searching(screen))
        return results

    return search


@pytest.fixture
def even(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stage takes two milliseconds, and hits with the same score have one order."""
    search = Library.search

    async def timed(*arguments: Any) -> Any:
        found = await search(*arguments)
        stages = tuple(
            replace(stage, hits=_ordered(stage.hits), seconds=0.002) for stage in found.trace.stages
        )
        return replace(found, hits=_ordered(found.hits), trace=Trace(stages))

    monkeypatch.setattr(Library, "search", timed)


def _searching(screen: Any) -> bool:
    return any(worker.group in ("search", "explain") for worker in screen.workers)


def _ordered(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    alike = sorted(hits, key=lambda hit: (-hit.score, hit.passage.id))
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(alike, 1))
