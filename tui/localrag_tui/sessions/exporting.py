"""Writing a conversation into a file that the user names."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.conversations.types import Conversation
from localrag.errors import UsageError
from localrag.language import _
from localrag_tui.shown import harmless
from localrag_tui.widgets.form import Field, Form
from localrag_tui.widgets.text_field import as_path

if TYPE_CHECKING:
    from localrag.workspace import Workspace
    from localrag_tui.app import Workbench


async def export(bench: "Workbench", conversation: Conversation) -> None:
    """Ask for a file and write it; a file that is there is replaced only where the user says so.

    Args:
        bench: the application, whose screens ask.
        conversation: what is written.
    """
    writer = _Writer(bench.workspace, conversation)
    path = await asyncio.to_thread(writer.suggested)
    while True:
        form = Form(
            _("Export the conversation as Markdown"),
            go=_("Export"),
            fields=[Field("path", _("File"), str(path), is_path=True)],
            check=writer.write,
        )
        if await bench.push_screen_wait(form) is None:
            return
        path = writer.path
        if writer.written or await bench.push_screen_wait(_replacing(writer)) is not None:
            break
    bench.notify(harmless(str(path)), title=_("Exported to"), markup=False)


def _replacing(writer: "_Writer") -> Form:
    return Form(
        _("Replace the file that is there?"),
        str(writer.path),
        go=_("Replace"),
        check=lambda _values: writer.replace(),
        danger=True,
    )


class _Writer:
    """Writes one conversation; every call may take long, and is made in some thread.

    Attributes:
        path: the file that was named last.
        written: whether it was written; if not, there is another file in its place.
    """

    def __init__(self, workspace: "Workspace", conversation: Conversation) -> None:
        self._workspace = workspace
        self._conversation = conversation
        self.path = Path()
        self.written = False

    def suggested(self) -> Path:
        from localrag.conversations.export import file_name

        name = f"{file_name(self._conversation.title)}.md"
        try:
            return Path.cwd() / name
        except FileNotFoundError:
            # Somebody removed the folder that the application was started in.
            return Path.home() / name

    def write(self, values: dict[str, str]) -> None:
        if not values["path"]:
            raise UsageError(_("No file is named."))
        from localrag.conversations.export import FileExistsAlready

        self.path = as_path(values["path"]).absolute()
        try:
            self._export(replace=False)
            self.written = True
        except FileExistsAlready:
            self.written = False

    def replace(self) -> None:
        self._export(replace=True)

    def _export(self, *, replace: bool) -> None:
        from localrag.conversations.export import export
        from localrag.conversations.store import Conversations

        # A connection of its own: the keeper's belongs to another thread.
        with Conversations.open(self._workspace) as conversations:
            export(
                conversations,
                self._workspace,
                self._conversation.id,
                self.path,
                replace=replace,
            )
