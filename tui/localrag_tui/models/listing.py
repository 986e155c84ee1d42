"""The list of the models."""

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.widgets.option_list import Option

from localrag.language import _
from localrag_tui.models.stock import ModelRow, State
from localrag_tui.models.usage import Usage
from localrag_tui.models.wording import KINDS, state
from localrag_tui.shown import cut, one_line
from localrag_tui.widgets.listing import Listing
from localrag_tui.wording import size

_LONGEST_NAME = 30
"""Cells; a name may have 64, a name of a server more."""
_SIZE = 9
_TO_BE_PULLED = (State.AVAILABLE, State.UNFINISHED)


class ModelsList(Listing):
    """Every model in columns: what is here, then what can be pulled."""

    def __init__(self) -> None:
        super().__init__()
        self._listed: list[ModelRow] = []

    @property
    def chosen(self) -> ModelRow | None:
        """The model under the cursor."""
        option = self.highlighted_option
        return self._listed[int(option.id)] if option is not None and option.id else None

    def fill(self, rows: list[ModelRow], usage: Usage | None, chosen: str = "") -> None:
        """Show other models; the cursor goes to `chosen`, else stays on its model."""
        name = chosen or (self.chosen.name if self.chosen is not None else "")
        here = [row for row in rows if row.state not in _TO_BE_PULLED]
        others = [row for row in rows if row.state in _TO_BE_PULLED]
        self._listed = here + others
        columns = _Columns(self._listed, usage)
        self.clear_options()
        self._head(_("In this workspace"))
        if not here:
            self._head(_("None yet; search and quotations work without."), "$foreground-muted")
        self._rows(columns, here, 0)
        if others:
            self._head("")
            self._head(_("Can be pulled"))
        self._rows(columns, others, len(here))
        names = [row.name for row in self._listed]
        place = names.index(name) if name in names else 0
        if names:
            self.highlighted = self.get_option_index(str(place))

    def _head(self, words: str, style: str = "bold $text-primary") -> None:
        self.add_option(Option(Content.styled(words, style), disabled=True))

    def _rows(self, columns: "_Columns", rows: list[ModelRow], first: int) -> None:
        for place, row in enumerate(rows, first):
            self.add_option(Option(columns.line(row), id=str(place)))


class _Columns:
    """As wide as what stands in them."""

    def __init__(self, rows: list[ModelRow], usage: Usage | None) -> None:
        names = (cell_len(one_line(row.name)) for row in rows)
        self._name = min(max(names, default=0), _LONGEST_NAME)
        self._usage = usage
        self._kind = max(cell_len(_(kind)) for kind in KINDS.values())

    def line(self, row: ModelRow) -> Content:
        name = cut(one_line(row.name), self._name)
        bold = "bold" if row.used_as else ""
        return Content.assemble(
            (set_cell_size(name, self._name), bold),
            "  ",
            (set_cell_size(_(KINDS[row.kind]), self._kind), "$foreground-muted"),
            (size(row.size).rjust(_SIZE) if row.size else " " * _SIZE),
            "  ",
            state(row, self._usage),
        )
