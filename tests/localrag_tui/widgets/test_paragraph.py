"""A paragraph is broken as the source pane breaks its text, and can be selected."""

from textual.app import App
from textual.content import Content
from textual.geometry import Offset
from textual.selection import Selection

from localrag_tui.shell.paragraph import Paragraph


class Page(App[None]):
    def __init__(self, text: Content) -> None:
        super().__init__()
        self.paragraph = Paragraph(text)

    def compose(self):
        yield self.paragraph


def rows(paragraph: Paragraph) -> list[str]:
    height = paragraph.region.height
    return [paragraph.render_line(y).text.rstrip() for y in range(height)]


async def test_rows_break_as_in_the_source():
    app = Page(Content("第一条　この法律は、目的を定めるものが「渡し舟」とは\n二"))
    async with app.run_test(size=(20, 10)):
        # No break after the ideographic blank, no row that begins with 。 or ends with 「.
        assert rows(app.paragraph) == [
            "第一条　この法律は、",
            "目的を定めるものが",
            "「渡し舟」とは",
            "二",
        ]


async def test_another_text_has_its_own_height_and_styles():
    app = Page(Content("一"))
    async with app.run_test(size=(20, 10)) as pilot:
        app.paragraph.show(Content.assemble(("水" * 12, "bold"), "\tx"))
        await pilot.pause()
        assert rows(app.paragraph) == ["水" * 10, "水水        x"]
        first, *_ = app.paragraph.render_line(0)
        assert first.style.bold
        app.paragraph.show(Content(""))
        await pilot.pause()
        assert app.paragraph.region.height == 1


async def test_what_is_selected_is_copied_without_the_breaks():
    app = Page(Content("水" * 12 + "\n二行目"))
    async with app.run_test(size=(20, 10)) as pilot:
        selection = Selection(Offset(8, 0), Offset(2, 1))
        assert app.paragraph.get_selection(selection) == ("水水水水\n二行", "\n")
        app.screen.selections = {app.paragraph: selection}
        await pilot.pause()
        inks = [segment.style.bgcolor for segment in app.paragraph.render_line(0)]
        assert len(set(inks)) == 2
