"""The two lines above a page: where in the document a reader is."""

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from localrag.language import _
from localrag_tui.shown import cut, one_line
from localrag_tui.source.sheet import Sheet

if TYPE_CHECKING:
    from localrag.corpus.browsing import Stand

_STEP = " › "


class Head(Widget):
    """Title and headings, then the provision in view and the state of the text."""

    DEFAULT_CSS: ClassVar[str] = """
    Head {
        height: 2;
        padding: 0 1;
        background: $surface;
        color: $foreground;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._place: tuple[str, ...] = ()
        self._provision = ""
        self._as_of = ""

    def show(self, sheet: Sheet, unit: "Stand | None", position: int) -> None:
        """Say where a position is, and which provision is read."""
        title = sheet.document.title
        headings = sheet.place(position) if sheet.is_law else ()
        before = self._place, self._provision, self._as_of
        self._place = tuple(map(one_line, (title, *headings)))
        header = "" if unit is None else unit.header
        name = header.removeprefix(title).strip(" >") if header.startswith(title) else header
        if unit and unit.locator.page:
            page = _("page {n}").format(n=unit.locator.page)
            name = f"{name} · {page}" if name else page
        self._provision = one_line(name)
        date = sheet.document.metadata.get("date", "")
        self._as_of = _("as of {date}").format(date=one_line(date)) if date else ""
        if (self._place, self._provision, self._as_of) != before:
            self.refresh()

    def clear(self) -> None:
        """Say nothing."""
        self._place, self._provision, self._as_of = (), "", ""
        self.refresh()

    def render(self) -> Content:
        """Both lines, each cut to the width there is."""
        width = self.size.width
        title: str = self._place[0] if self._place else ""
        rest = _STEP.join(("", *self._place[1:]))
        # The innermost heading says most: a long title gives way to it.
        title = cut(title, max(width - cell_len(rest), width // 3))
        rest = cut(rest, width - cell_len(title))
        name = cut(self._provision, width - cell_len(self._as_of) - 1)
        gap = " " * max(1, width - cell_len(name) - cell_len(self._as_of))
        return Content.assemble(
            (title, "bold"),
            (rest, "$foreground-muted"),
            "\n",
            (name, "bold $primary"),
            gap,
            (self._as_of, "$foreground-muted"),
        )
