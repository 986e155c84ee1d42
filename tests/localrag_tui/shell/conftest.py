"""The shell by itself: the workbench around screens that hold next to nothing."""

from functools import partial
from typing import ClassVar

import pytest
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, TextArea

from localrag.language import N_
from localrag_tui.app import Workbench
from localrag_tui.screen import WorkbenchScreen
from localrag_tui.shell.bars import SCREENS
from localrag_tui.spot import OpenSpot, Spot


class Field(TextArea):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j", "newline", N_("Page down"), id="plain.newline", show=False)
    ]


class SourcePane(Input):
    """Stands for the pane that shows a source."""

    spot: Spot | None = None


class Plain(WorkbenchScreen):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "begin", N_("Search"), id="plain.begin"),
        Binding("ctrl+s", "begin", "", id="plain.hidden"),
    ]
    begun = 0

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.MODE = mode

    def body(self) -> ComposeResult:
        yield Input("", id="line")
        yield Field("", id="field")
        yield SourcePane("")

    def on_mount(self) -> None:
        self.query_one(Field).focus()

    def on_open_spot(self, event: OpenSpot) -> None:
        event.stop()
        self.query_one(SourcePane).spot = event.spot

    def action_begin(self) -> None:
        self.begun += 1


@pytest.fixture
def plain(workbench, monkeypatch):
    """Makes the workbench with plain screens; arguments as for `workbench`."""
    monkeypatch.setattr(Workbench, "MODES", {mode: partial(Plain, mode) for mode in SCREENS})
    return workbench
