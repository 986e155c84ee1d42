"""Choosing laws by typing a part of their names."""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, SelectionList
from textual.widgets.selection_list import Selection

from localrag.errors import LocalragError
from localrag.language import _
from localrag_tui.library import Library
from localrag_tui.shown import one_line
from localrag_tui.widgets.check_list import CheckList
from localrag_tui.widgets.text_field import TextField
from localrag_tui.work.latest import Latest

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.statutes.names import LawNames

_OFFERED = 30


class LawChoice(Vertical):
    """A field, and below it the laws that are chosen, then those that fit what is typed.

    Args:
        library: the corpus.
        titles: the title of each of its laws.
        chosen: ids of those chosen already.

    Attributes:
        chosen: ids of those chosen, in the order in which they were.
    """

    DEFAULT_CSS: ClassVar[str] = """
    LawChoice {
        height: 1fr;
        Input, Input:focus { height: 1; border: none; padding: 0 1; background: $panel; }
    }
    """

    def __init__(self, library: Library, titles: dict[str, str], chosen: tuple[str, ...]) -> None:
        super().__init__()
        self._library = library
        self._titles = titles
        self.chosen = [*chosen]
        self._shown: list[str] = []
        self._offers = Latest(self._offer)

    def compose(self) -> ComposeResult:
        """The field and the list."""
        yield TextField(placeholder=_("金商法, 民法 …"), max_length=100)
        yield CheckList()

    def on_mount(self) -> None:
        """Show what is chosen."""
        self._show([])

    def clear(self) -> None:
        """Choose no law."""
        self.chosen.clear()
        self.query_one(Input).clear()
        self._show([])

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.run_worker(self._offers.want(event.value), group="offers")

    @on(Input.Submitted)
    def _take_first(self, event: Input.Submitted) -> None:
        """Enter takes the first law that fits and is not chosen yet."""
        event.stop()
        offered = [law_id for law_id in self._shown if law_id not in self.chosen]
        if event.value and offered:
            self.chosen.append(offered[0])
            event.input.clear()

    @on(SelectionList.SelectionToggled)
    def _toggled(self, event: SelectionList.SelectionToggled[str]) -> None:
        event.stop()
        law_id = event.selection.value
        if law_id in self.chosen:
            self.chosen.remove(law_id)
        else:
            self.chosen.append(law_id)

    async def _offer(self, typed: str) -> None:
        def fitting(_: "CorpusStore", names: "LawNames") -> list[str]:
            from localrag.statutes.suggestions import suggest

            return [found.law_id for found in suggest(names, typed, _OFFERED)]

        try:
            self._show(await self._library.read_names(fitting))
        except LocalragError as error:
            self.notify(f"{error.cause}\n{error.cure}", severity="error", markup=False)

    def _show(self, law_ids: list[str]) -> None:
        self._shown = [*dict.fromkeys((*self.chosen, *law_ids))]
        laws = self.query_one(CheckList)
        laws.clear_options()
        laws.add_options(
            Selection(Content(one_line(self._titles.get(id_, id_))), id_, id_ in self.chosen)
            for id_ in self._shown
        )
