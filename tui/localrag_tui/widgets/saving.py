"""Asks for a file and writes it; one that is there is replaced only where the user says so."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.errors import FileExistsAlready, UsageError
from localrag.language import _
from localrag_tui.shown import one_line
from localrag_tui.widgets.form import Field, Form
from localrag_tui.widgets.text_field import as_path

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

Write = Callable[[Path, bool], None]
"""Writes a file, over one that is there where the second argument says so.

Raises:
    FileExistsAlready: there is one, and it may not be replaced.
    LocalragError: it cannot be written.
"""


async def save(bench: "Workbench", title: str, proposed: Callable[[], Path], write: Write) -> None:
    """Ask for a file until it is written, or the user leaves.

    Args:
        bench: the application, whose screens ask.
        title: what is written.
        proposed: the file that is named at first; called in a thread, as `write` is.
        write: writes it.
    """
    target = _Target(write)
    path = await asyncio.to_thread(proposed)
    while True:
        form = Form(
            title,
            go=_("Export"),
            fields=[Field("path", _("File"), str(path), is_path=True)],
            check=target.write,
        )
        if await bench.push_screen_wait(form) is None:
            return
        path = target.path
        if target.written or await bench.push_screen_wait(_replacing(target)) is not None:
            break
    bench.notify(one_line(str(path)), title=_("Exported to"), markup=False)


def working_folder() -> Path:
    """The folder that the application was started in; that of the user where it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()


def _replacing(target: "_Target") -> Form:
    return Form(
        _("Replace the file that is there?"),
        str(target.path),
        go=_("Replace"),
        check=lambda _values: target.replace(),
        danger=True,
    )


class _Target:
    """Writes one file; every call may take long, and is made in some thread.

    Attributes:
        path: the file that was named last.
        written: whether it was written; if not, there is another file in its place.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self.path = Path()
        self.written = False

    def write(self, values: dict[str, str]) -> None:
        if not values["path"]:
            raise UsageError(_("No file is named."))
        self.path = as_path(values["path"]).absolute()
        try:
            self._write(self.path, False)
            self.written = True
        except FileExistsAlready:
            self.written = False

    def replace(self) -> None:
        self._write(self.path, True)
