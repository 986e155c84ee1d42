"""The source pane on a screen of its own, over the sample corpus or documents made for a test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.pilot import Pilot

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import PASSAGES, Document, Locator, Passage
from localrag.corpus.workspace import Workspace
from localrag_tui.app import Workbench
from localrag_tui.screen import WorkbenchScreen
from localrag_tui.shell.look import sheets
from localrag_tui.source.pane import SourcePane

ACT, ORDER, RULE = "599AC0000000001", "599CO0000000002", "599M60000800003"


class PaneScreen(WorkbenchScreen):
    """Nothing but the pane."""

    MODE = "read"
    CSS_PATH = sheets("parts", "source")

    def body(self) -> ComposeResult:
        yield SourcePane()

    def on_mount(self) -> None:
        self.query_one(SourcePane).page.focus()


@pytest.fixture
def reader(workbench: Callable[..., Workbench], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the application, whose screens are the pane: ``reader(language="ja")``."""

    def make(language: str = "en", **more: Any) -> Workbench:
        monkeypatch.setattr(Workbench, "MODES", dict.fromkeys(Workbench.MODES, PaneScreen))
        return workbench(language, **more)

    return make


@pytest.fixture
def pane_of() -> Callable[[Pilot[Any]], SourcePane]:
    # Below the welcome, where a workspace has no corpus.
    return lambda pilot: pilot.app.screen_stack[0].query_one(SourcePane)


@pytest.fixture
def text_of(bench_home: Path) -> Callable[[str], str]:
    """The text of a document of the sample corpus."""

    def read(document_id: str) -> str:
        with CorpusStore.open(store_path(bench_home), read_only=True) as store:
            return store.text(document_id)

    return read


@pytest.fixture
def enter(bench_home: Path) -> Callable[..., None]:
    """Enters a document of one passage: ``enter("name", "text", title="…")``."""

    def write(name: str, text: str, title: str = "A text") -> None:
        passages = (
            (Passage(f"{name}#1", name, PASSAGES, text, title, Locator(), 0, len(text)),)
            if text
            else ()
        )
        document = Document(name, title, "text", text, f"{name}.txt", passages)
        with CorpusStore.open(store_path(bench_home)) as store:
            store.add(document)

    return write


def store_path(home: Path) -> Path:
    return Workspace.locate(home).corpus("main").store
