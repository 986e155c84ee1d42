"""What is told where there are no hits to show."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from localrag.errors import IndexUnusable, LocalragError, NotFoundError, StoreError
from localrag.language import _
from localrag.retrieval.types import Filters
from localrag_tui.shell.keys import bench_key, key_of
from localrag_tui.shown import harmless
from localrag_tui.wording import palette

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.workspace import CorpusPaths


def index_notice(store: "CorpusStore", place: "CorpusPaths") -> str:
    """What a user has to know of the index before searching; "" where it is as it should be."""
    from localrag.ingest.state import IndexState, state

    found = state(place, store)
    if found is IndexState.FRESH:
        return ""
    if found is IndexState.BEHIND:
        words = _("The index is behind: what was added since is not found.")
    else:
        words = _("The corpus has no index that can be used.")
    return f"{words} {palette(_('Index the corpus'))}"


class Guidance(VerticalScroll, can_focus=False):
    """A heading, and below it what to do."""

    DEFAULT_CSS: ClassVar[str] = """
    Guidance {
        padding: 1 4;
        background: $surface;
        #guidance-title { text-style: bold; margin-bottom: 1; }
        #guidance-lines { color: $foreground-muted; }
        &.-error #guidance-title { color: $text-error; }
    }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own
        super().__init__(id=id)
        self._title = Static(id="guidance-title")
        self._lines = Static(id="guidance-lines")

    def compose(self) -> ComposeResult:
        """Title and lines."""
        yield self._title
        yield self._lines

    def invite(self, corpus: str) -> None:
        """Say what can be typed."""
        self._say(
            _("Type to search {corpus}").format(corpus=corpus),
            [
                _("Words in Japanese or English: 公開買付け 義務"),
                _("A provision, found by its number: 金商法27条の36"),
                _("A question, found by its words."),
            ],
        )

    def nothing(self, filters: Filters) -> None:
        """Say that nothing was found, and what to try."""
        lines = [
            _("Fewer words, or others for the same thing, find more."),
            _("Enter the name of a law with the number of its article to go there: {key}.").format(
                key=bench_key(self.app, "app.jump")
            ),
        ]
        if filters != Filters():
            words = _("The filters leave out a part of the corpus: Tab, then {key}, removes them.")
            key = key_of(self.app, type(self.screen), "search.clear")
            lines.insert(0, words.format(key=key))
        self._say(_("Nothing was found"), lines)

    def failure(self, error: LocalragError) -> None:
        """Say why there can be no search, and what to do about it."""
        lines = [harmless(error.cure)] if error.cure else []
        if isinstance(error, IndexUnusable):
            lines.insert(0, palette(_("Index the corpus")))
        elif isinstance(error, NotFoundError | StoreError):
            lines.insert(0, palette(_("Add documents"), _("Choose the corpus")))
        self._say(harmless(error.cause), lines, is_error=True)

    def _say(self, title: str, lines: Sequence[str], *, is_error: bool = False) -> None:
        self.set_class(is_error, "-error")
        self._title.update(Content(title))
        self._lines.update(Content("\n".join(lines)))
