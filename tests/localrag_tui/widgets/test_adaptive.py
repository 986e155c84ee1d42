"""A list whose rows are written for its width, and only those in view."""

from textual.app import App
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from localrag_tui.shell.listing import AdaptiveList, AdaptiveRow
from localrag_tui.shell.look import sheets


class Row(AdaptiveRow):
    HEIGHT = 2

    def __init__(self, name: str, written: list[str]) -> None:
        self._name = name
        self._written = written

    def write(self, width: int) -> list[Content]:
        self._written.append(self._name)
        return [Content(self._name), Content(f"{width} cells")]


class Rows(AdaptiveList):
    ROW = Row


class Listed(App[None]):
    CSS_PATH = sheets("parts")

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []
        self.chosen: list[int] = []

    def compose(self):
        yield Rows(*(Option(Row(f"row {n}", self.written)) for n in range(50)))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.chosen.append(event.option_index)


def lines(rows: Rows) -> list[str]:
    strips = rows.render_lines(rows.size.region)
    return [strip.text.rstrip() for strip in strips]


async def test_rows_in_view_are_written_once_and_can_be_chosen():
    app = Listed()
    async with app.run_test(size=(30, 10)) as pilot:
        rows = app.query_one(Rows)
        # Beside the rows stand a cell and the scroll bar.
        assert lines(rows)[:4] == ["row 0", "27 cells", "row 1", "27 cells"]
        assert set(app.written) <= {f"row {n}" for n in range(5)}
        app.written.clear()
        rows.refresh()
        await pilot.pause()
        assert app.written == []
        await pilot.press("end")
        assert lines(rows)[-2:] == ["row 49", "27 cells"]
        await pilot.press("home", "down", "enter")
        await pilot.click(Rows, offset=(4, 5))
        assert app.chosen == [1, 2]
        await pilot.resize_terminal(40, 10)
        assert lines(rows)[:2] == ["row 0", "37 cells"]


async def test_the_row_at_the_cursor_and_the_one_pointed_at_stand_out():
    app = Listed()
    async with app.run_test(size=(30, 10)) as pilot:
        rows = app.query_one(Rows)

        def grounds() -> list[object]:
            strips = rows.render_lines(rows.size.region)
            return [next(iter(strip)).style.bgcolor for strip in strips[::2]]

        at_cursor, *others = grounds()
        assert len(set(others)) == 1
        assert at_cursor not in others
        await pilot.hover(Rows, offset=(4, 3))
        await pilot.pause()
        _, pointed_at, *others = grounds()
        assert len(set(others)) == 1
        assert pointed_at not in (at_cursor, *others)
        await pilot.hover(offset=(29, 9))
        await pilot.pause()
        assert grounds()[1:] == [others[0]] * 4
        rows.clear_options()
        assert set(lines(rows)) == {""}
