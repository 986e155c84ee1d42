"""The application that a screen or a widget belongs to."""

from typing import TYPE_CHECKING, cast

from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


def bench_of(part: MessagePump) -> "Workbench":
    """The workbench that a screen or a widget is a part of."""
    return cast("Workbench", part.app)
