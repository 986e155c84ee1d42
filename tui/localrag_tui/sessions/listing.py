"""The list of conversations, as long as it may be: it asks for more when its end comes near."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key, Resize
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from localrag.conversations.types import Conversation, TurnState
from localrag.language import N_, _, ngettext
from localrag_tui.shown import cut, one_line

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
    """Write the title, what its last question came to, how many it has, when it changed.

    Args:
        conversation: what is written.
        width: cells of the line.
        in_view: whether it is the one on the screen below.
        today: on the clock of the user.
    """
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
    """The title of a conversation, or what stands for it; not harmless yet."""
    return conversation.title or _("(no question yet)")


def when(changed: str, today: date) -> str:
    """A time of the store in words, by the clock of the user."""
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
"""Conversations that are asked for at a time."""


class ConversationList(OptionList):
    """Conversations, the one in view marked.

    Args:
        in_view: the id of the conversation on the screen below; 0 for none.
        typed: takes text that is no key of the list; called at once, so that of several
            characters that come together none overtakes another.
    """

    class EndNear(Message):
        """More conversations are wanted, if there are any."""

    DEFAULT_CSS: ClassVar[str] = """
    ConversationList {
        height: 1fr;
        border: none; padding: 0; background: $surface;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable;
        &:focus { border: none; background-tint: $foreground 0%; }
        & > .option-list--option { padding: 0 1; }
        & > .option-list--option-highlighted {
            background: $panel; color: $foreground; text-style: none;
        }
        &:focus > .option-list--option-highlighted {
            background: $primary 20%; color: $foreground; text-style: none;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Open"), id="conversations.open"),
        Binding("n", "screen.new", N_("New"), id="conversations.new_here"),
        Binding("r", "screen.rename", N_("Rename"), id="conversations.rename"),
        Binding("e", "screen.export", N_("Export"), id="conversations.export"),
        Binding("d", "screen.delete", N_("Delete"), id="conversations.delete"),
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
        """Whether its rows have been painted: keys that came before were not meant for them."""
        return self._seen

    @property
    def chosen(self) -> Conversation | None:
        """The highlighted one."""
        return None if self.highlighted is None else self._shown[self.highlighted]

    @property
    def shown(self) -> int:
        """How many conversations it shows."""
        return len(self._shown)

    def show(self, conversations: Sequence[Conversation], highlighted: int = 0) -> None:
        """Show conversations in the place of those before.

        Args:
            conversations: in order.
            highlighted: the id of the one to choose; without it the one in view, else the first.
        """
        self._shown = list(conversations)
        self.set_options(map(self._option, self._shown))
        ids = [conversation.id for conversation in conversations]
        if ids:
            wanted = highlighted or self._in_view
            self.highlighted = ids.index(wanted) if wanted in ids else 0
        self.call_after_refresh(self._are_seen)

    def extend(self, conversations: Sequence[Conversation]) -> None:
        """Show conversations below the others; one that moved meanwhile is there already."""
        known = {conversation.id for conversation in self._shown}
        further = [new for new in conversations if new.id not in known]
        self._shown += further
        self.add_options(map(self._option, further))

    def drop(self, conversation_id: int) -> None:
        """Show one less, if it is still shown."""
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
        """Let what is typed in Japanese begin a search: no such character is a key."""
        if event.character and event.is_printable and not event.character.isascii():
            event.stop()
            self._typed(event.character)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for more in time."""
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
