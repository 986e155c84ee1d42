"""A terminal that is resized again and again comes to rest."""

from textual.events import Resize
from textual.geometry import Size

from localrag_tui.screen import WorkbenchScreen


async def test_two_sizes_on_their_way_do_not_chase_each_other(workbench, monkeypatch):
    laid = []
    refresh = WorkbenchScreen._refresh_layout

    def count(screen, size=None, scroll=False):
        laid.append(size)
        refresh(screen, size, scroll)

    app = workbench()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        monkeypatch.setattr(WorkbenchScreen, "_refresh_layout", count)
        for width in (120, 80, 170, 80):
            app.screen.post_message(Resize(Size(width, 24), Size(width, 24)))
        for _ in range(5):
            await pilot.pause()
        assert {size for size in laid if size is not None} == {Size(80, 24)}
        assert app.screen.has_class("-narrow")
