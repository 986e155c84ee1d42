"""A conversation as a line of a list."""

from datetime import date, datetime, timedelta

from rich.cells import cell_len, set_cell_size
from textual.content import Content

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
