"""The bar of screens: where one is, where one can go, what is being worked on."""

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Click
from textual.widgets import Static

from localrag.language import N_, _, ngettext

if TYPE_CHECKING:
    from localrag_tui.app import Workbench
    from localrag_tui.work.job import Job

TITLES = {
    "ask": N_("Ask"),
    "read": N_("Read"),
    "search": N_("Search"),
    "runs": N_("Runs"),
    "models": N_("Models"),
}
"""Every screen by the name of its mode, in the order of their keys."""


class TopBar(Horizontal):
    """Names the screens; a click goes there."""

    DEFAULT_CSS: ClassVar[str] = """
    TopBar {
        height: 1;
        background: $panel;
        .tab { width: auto; padding: 0 1; color: $foreground-muted; }
        .tab:hover { background: $block-hover-background; }
        .tab.-here { background: $primary; color: $background; text-style: bold; }
        #working { width: 1fr; text-align: right; padding: 0 1; color: $accent; }
    }
    """

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode

    def compose(self) -> ComposeResult:
        for mode, title in TITLES.items():
            tab = Static(Content(_(title)), id=f"tab-{mode}", classes="tab")
            tab.set_class(mode == self._mode, "-here")
            yield tab
        yield Static(id="working")

    def on_mount(self) -> None:
        self._leave = self._bench.jobs.listen(self._on_job)
        self._show_work()

    def on_unmount(self) -> None:
        self._leave()

    def on_click(self, event: Click) -> None:
        """Go to the screen whose name was clicked, or to what is being worked on."""
        id_ = (event.widget.id if event.widget is not None else None) or ""
        if id_.startswith("tab-"):
            self._bench.go(id_.removeprefix("tab-"))
        elif id_ == "working":
            self._bench.action_jobs()

    @property
    def _bench(self) -> "Workbench":
        return cast("Workbench", self.app)

    def _on_job(self, job: "Job", event: object) -> None:
        del job
        if event is None:
            self._show_work()

    def _show_work(self) -> None:
        running = len(self._bench.jobs.running)
        text = ngettext("{n} job running", "{n} jobs running", running) if running else ""
        # As wide as it was: the screen is not laid out, and painted, anew twice a second.
        working = Content(text.format(n=running))
        self.query_one("#working", Static).update(working, layout=False)
