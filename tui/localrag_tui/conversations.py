"""The conversations of the workspace: find, open, rename, export, delete."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.cells import cell_len, set_cell_size
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Resize
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _, ngettext
from localrag.ops.conversations.types import Conversation, TurnState
from localrag.text.harmless import cut, one_line
from localrag_tui.screen import Dialogue
from localrag_tui.shell.bars import KeyBar
from localrag_tui.shell.base import Latest
from localrag_tui.shell.form import Field, Form, TextField, save, working_folder
from localrag_tui.shell.paragraph import Paragraph

if TYPE_CHECKING:
    from localrag.ops.conversations.store import Conversations
    from localrag_tui.app import Workbench

_MARKS = {
    TurnState.ANSWERING: N_("answering"),
    TurnState.CANCELLED: N_("cancelled"),
    TurnState.FAILED: N_("failed"),
    TurnState.INTERRUPTED: N_("interrupted"),
}
_GAP = "  "
# Cells of "999 questions" and "2000-01-01 00:00".
_COUNT, _WHEN = 13, 16


def row(conversation: Conversation, width: int, *, in_view: bool, today: date) -> Content:
    """Write title, state, number of questions and time of the last change."""
    marks = [_("in view")] if in_view else []
    if conversation.state in _MARKS:
        marks.append(_(_MARKS[conversation.state]))
    mark = " · ".join(marks)
    count = ngettext("{n} question", "{n} questions", conversation.turns)
    count = count.format(n=conversation.turns)
    further = f"{_right(count, _COUNT)}{_GAP}{_right(when(conversation.changed, today), _WHEN)}"
    if mark:
        further = f"{_GAP}{further}"
    space = max(0, width - cell_len(further) - cell_len(mark) - len(_GAP))
    title = one_line(title_of(conversation))
    title = set_cell_size(cut(title, space), space)
    return Content.assemble(
        (title, "bold" if in_view else ""), _GAP, (mark, "$text-warning"), further
    )


def title_of(conversation: Conversation) -> str:
    """The title of a conversation, or words in its place; not harmless yet."""
    return conversation.title or _("(no question yet)")


def when(changed: str, today: date) -> str:
    """A stored time in words, in local time."""
    time = datetime.fromisoformat(changed).astimezone()
    day = f"{time:%Y-%m-%d}"
    if time.date() == today:
        day = _("today")
    elif time.date() == today - timedelta(days=1):
        day = _("yesterday")
    return f"{day} {time:%H:%M}"


def _right(text: str, cells: int) -> str:
    return " " * (cells - cell_len(text)) + text


PAGE = 100
"""Conversations read at a time."""


class ConversationList(OptionList):
    """A list of conversations; the open one is marked.

    `typed` takes typed text at once, to keep characters in order.
    """

    class EndNear(Message):
        """More conversations are wanted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Open"), id="conversations.open"),
        Binding("n", "screen.new", N_("New"), id="conversations.new_here"),
        Binding("r", "screen.rename", N_("Rename"), id="conversations.rename"),
        Binding("e", "screen.export", N_("Export"), id="conversations.export"),
        Binding("delete,d", "screen.delete", N_("Delete"), id="conversations.delete"),
        Binding("slash", "screen.search", N_("Search"), id="conversations.search"),
    ]

    def __init__(self, in_view: int, typed: Callable[[str], None]) -> None:
        super().__init__()
        self._typed = typed
        self._in_view = in_view
        self._shown: list[Conversation] = []
        self._fitted = 0
        self._seen = False

    @property
    def seen(self) -> bool:
        """Whether its rows were painted: earlier keys were not meant for them."""
        return self._seen

    @property
    def chosen(self) -> Conversation | None:
        return None if self.highlighted is None else self._shown[self.highlighted]

    @property
    def shown(self) -> int:
        return len(self._shown)

    def show(self, conversations: Sequence[Conversation], highlighted: int = 0) -> None:
        """List other conversations; by default the open one, else the first, is highlighted."""
        self._shown = list(conversations)
        self.set_options(map(self._option, self._shown))
        ids = [conversation.id for conversation in conversations]
        if ids:
            wanted = highlighted or self._in_view
            self.highlighted = ids.index(wanted) if wanted in ids else 0
        self.call_after_refresh(self._are_seen)

    def extend(self, conversations: Sequence[Conversation]) -> None:
        known = {conversation.id for conversation in self._shown}
        further = [new for new in conversations if new.id not in known]
        self._shown += further
        self.add_options(map(self._option, further))

    def drop(self, conversation_id: int) -> None:
        for place, shown in enumerate(self._shown):
            if shown.id == conversation_id:
                del self._shown[place]
                self.remove_option_at_index(place)
                return

    def on_resize(self, event: Resize) -> None:
        del event
        if self._width != self._fitted:
            highlighted = self.highlighted
            self.set_options(map(self._option, self._shown))
            self.highlighted = highlighted

    def on_key(self, event: Key) -> None:
        if event.character and event.is_printable and not event.character.isascii():
            event.stop()
            self._typed(event.character)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.shown >= PAGE and new_value + 2 * self.size.height >= self.shown:
            self.post_message(self.EndNear())

    def _are_seen(self) -> None:
        if not self._seen:
            self._seen = True
            self.screen.refresh_bindings()

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width - 2

    def _option(self, conversation: Conversation) -> Option:
        self._fitted = self._width
        in_view = conversation.id == self._in_view
        today = datetime.now().astimezone().date()
        return Option(row(conversation, self._fitted, in_view=in_view, today=today))


async def export(bench: "Workbench", conversation: Conversation) -> None:
    """Ask for a file and write it; an existing file is replaced only after a question."""
    workspace = bench.workspace

    def proposed() -> Path:
        from localrag.ops.conversations.export import file_name

        return working_folder() / f"{file_name(conversation.title)}.md"

    def write(path: Path, replace: bool) -> None:
        from localrag.ops.conversations.export import export
        from localrag.ops.conversations.store import Conversations

        # Its own connection: the connection of the keeper belongs to another thread.
        with Conversations.open(workspace) as conversations:
            export(conversations, workspace, conversation.id, path, replace=replace)

    title = _("Export the conversation as Markdown (.md) or Word (.docx)")
    await save(bench, title, proposed, write)


Wanted = Literal["first", "further"]
"""The first page of a search, or the next one."""

# Characters of a search and of a title.
_LONGEST = 200


class ConversationSearch(TextField):
    """The field of the search."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", N_("Open the first"), id="conversations.open_first"),
        Binding("down", "screen.to_list", N_("To the list"), id="conversations.to_list"),
    ]


class ConversationsDialogue(Dialogue):
    """Returns the id of the conversation to go on with, 0 for a new one."""

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
            yield Paragraph(classes="nothing")
            yield ConversationList(self.bench.memory.choices.conversation, self._begin_search)
        yield KeyBar(show_commands=False)

    def on_mount(self) -> None:
        self._list.focus()
        self._ask()

    # Listing

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
        nothing = self.query_one(".nothing", Paragraph)
        if self._found_for.strip():
            nothing.show(Content(_("Nothing holds all of these words.")))
        else:
            nothing.show(Content(_("There are no conversations yet: what you ask is kept here.")))
        self.query_one(".box").set_class(not self._list.shown, "-nothing")

    # Moving between field and list

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

    # Actions

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
