"""The conversations of the workspace: find one, open it, rename, export or delete it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from localrag.conversations.types import Conversation
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _, ngettext
from localrag_tui.screen import Dialogue
from localrag_tui.sessions.listing import PAGE, ConversationList, title_of
from localrag_tui.shell.footer import KeyBar
from localrag_tui.shown import harmless, one_line
from localrag_tui.widgets.form import Field, Form
from localrag_tui.widgets.text_field import TextField, as_path
from localrag_tui.work.latest import Latest

if TYPE_CHECKING:
    from localrag.conversations.store import Conversations
    from localrag.workspace import Workspace
    from localrag_tui.app import Workbench


async def export(bench: "Workbench", conversation: Conversation) -> None:
    """Ask for a file and write it; a file that is there is replaced only where the user says so.

    Args:
        bench: the application, whose screens ask.
        conversation: what is written.
    """
    writer = _ExportFile(bench.workspace, conversation)
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


def _replacing(writer: "_ExportFile") -> Form:
    return Form(
        _("Replace the file that is there?"),
        str(writer.path),
        go=_("Replace"),
        check=lambda _values: writer.replace(),
        danger=True,
    )


class _ExportFile:
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


Wanted = Literal["first", "further"]
"""Which page of what is found."""

# Characters of a search and of a title.
_LONGEST = 200


class ConversationSearch(TextField):
    """Where words to search for are typed; the keys of a list move the one below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "screen.to_list", N_("To the list"), id="conversations.to_list"),
    ]


class ConversationsDialogue(Dialogue):
    """Gives back the id of the conversation to go on with, 0 for a new one."""

    CSS: ClassVar[str] = """
    ConversationsDialogue > .box {
        width: 110; max-width: 96%; height: 90%; max-height: 36;
        background: $surface; padding: 1 1 0 1;
        .heading { padding: 0 1; }
        ConversationSearch { background: $panel; margin: 1 0; }
        .nothing { padding: 0 1; color: $foreground-muted; display: none; height: auto; }
        &.-nothing .nothing { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", N_("Clear"), id="conversations.clear"),
        Binding("escape", "leave", N_("Close"), id="conversations.leave"),
        Binding("ctrl+n", "new", N_("New"), id="conversations.new", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._wanted = Latest(self._find)
        self._found_for = ""
        self._changed = 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Content(_("Conversations")), classes="heading")
            yield ConversationSearch(
                placeholder=_("/ to search titles, questions and answers"),
                max_length=_LONGEST,
                select_on_focus=False,
                compact=True,
            )
            yield Static(classes="nothing")
            yield ConversationList(self.bench.memory.choices.conversation, self._begin_search)
        yield KeyBar(show_commands=False)

    def on_mount(self) -> None:
        self._list.focus()
        self._ask()

    # What is shown

    @on(Input.Changed)
    def _ask(self) -> None:
        self.run_worker(self._wanted.want("first"))

    @on(ConversationList.EndNear)
    def _ask_for_more(self) -> None:
        self.run_worker(self._wanted.want("further"))

    async def _find(self, wanted: Wanted) -> None:
        search = self._field.value
        skip = self._list.shown if wanted == "further" and search == self._found_for else 0
        try:
            found = await self.bench.conversations.do(lambda kept: kept.list(search, PAGE, skip))
        except LocalragError as error:
            self.bench.tell(error)
            return
        if self._wanted.overtaken:
            return
        if skip:
            self._list.extend(found)
            return
        self._list.show(found, self._changed)
        self._found_for, self._changed = search, 0
        self._tell_whether_any()

    def _tell_whether_any(self) -> None:
        nothing = self.query_one(".nothing", Static)
        if self._found_for.strip():
            nothing.update(Content(_("Nothing holds all of these words.")))
        else:
            nothing.update(Content(_("There are no conversations yet: what you ask is kept here.")))
        self.query_one(".box").set_class(not self._list.shown, "-nothing")

    # Between the field and the list

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("clear", "leave"):
            return self._searching == (action == "clear")
        if action in ("rename", "delete", "export"):
            return self._list.seen
        return super().check_action(action, parameters)

    def action_search(self) -> None:
        self._field.focus()

    def action_to_list(self) -> None:
        self._list.focus()

    def _begin_search(self, text: str) -> None:
        self.set_focus(self._field)
        self._field.insert_text_at_cursor(text)

    def action_clear(self) -> None:
        self._field.clear()
        self._list.focus()

    # What is done

    @on(Input.Submitted)
    @on(ConversationList.OptionSelected)
    def _open(self) -> None:
        if self._list.seen and (chosen := self._list.chosen):
            self.dismiss(chosen.id)

    def action_new(self) -> None:
        self.dismiss(0)

    @work
    async def action_rename(self) -> None:
        if chosen := self._list.chosen:
            form = Form(
                _("Rename the conversation"),
                go=_("Rename"),
                fields=[Field("title", _("Title"), one_line(chosen.title))],
                check=_require_title,
            )
            values = await self.app.push_screen_wait(form)
            if isinstance(values, dict):
                title = values["title"][:_LONGEST]
                if await self._change(lambda kept: kept.rename(chosen.id, title)):
                    self._changed = chosen.id
                    self._ask()

    @work
    async def action_delete(self) -> None:
        if chosen := self._list.chosen:
            sure = await self.app.push_screen_wait(
                Form(
                    _("Delete this conversation?"),
                    _what_goes(chosen),
                    go=_("Delete"),
                    danger=True,
                )
            )
            if sure is not None and await self._change(lambda kept: kept.delete(chosen.id)):
                if chosen.id == self.bench.memory.choices.conversation:
                    self.bench.memory.remember(conversation=0)
                self._list.drop(chosen.id)
                self._tell_whether_any()

    @work
    async def action_export(self) -> None:
        if chosen := self._list.chosen:
            await export(self.bench, chosen)

    async def _change(self, change: "Callable[[Conversations], None]") -> bool:
        try:
            await self.bench.conversations.do(change)
        except LocalragError as error:
            self.bench.tell(error)
            # Another workbench may have deleted it.
            self._ask()
            return False
        return True

    @property
    def _searching(self) -> bool:
        return bool(self._field.value) or self._field.has_focus

    @property
    def _list(self) -> ConversationList:
        return self.query_one(ConversationList)

    @property
    def _field(self) -> ConversationSearch:
        return self.query_one(ConversationSearch)


def _require_title(values: dict[str, str]) -> None:
    if not values["title"]:
        raise UsageError(_("A title needs at least one character."))


def _what_goes(conversation: Conversation) -> str:
    what = _("It holds no question.")
    if conversation.turns:
        what = ngettext(
            "Its {n} question goes with its answer, for good.",
            "Its {n} questions go with their answers, for good.",
            conversation.turns,
        ).format(n=conversation.turns)
    return f"{title_of(conversation)}\n\n{what}"
