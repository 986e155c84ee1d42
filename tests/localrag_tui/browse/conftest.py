"""The Read screen under test."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import Workspace
from localrag_tui.source.screen import Panes
from localrag_tui.source.tree import PlaceTree


@pytest.fixture
def store(bench_home: Path) -> Callable[[], CorpusStore]:
    """Opens the store of the corpus, to change it."""
    return lambda: CorpusStore.open(Workspace.locate(bench_home).corpus("main").store)


@pytest.fixture
def type_(until: Callable[..., Any]) -> Callable[[Pilot[None], str], Awaitable[None]]:
    """Puts a text into the field for names, as a paste does."""

    async def put(pilot: Pilot[None], text: str) -> None:
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        field = pilot.app.focused
        assert isinstance(field, Input)
        field.value = text

    return put


@pytest.fixture
def read() -> Callable[[Any], list[str]]:
    """The passages in view on the Read screen, those of the pane that is read marked with >."""

    def passages(app: Any) -> list[str]:
        panes = app.screen.query_one(Panes)
        return [
            ("> " if pane is panes.read else "") + pane.spot.passage_id
            for pane in panes.all
            if pane.spot
        ]

    return passages


@pytest.fixture
def under_cursor() -> Callable[[Any], str]:
    """What the cursor of the tree is on."""

    def label(app: Any) -> str:
        node = app.screen.query_one(PlaceTree).cursor_node
        return node.label.plain if node else ""

    return label
