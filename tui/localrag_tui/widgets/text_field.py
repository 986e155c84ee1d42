"""Fields for a line of text that may come from anywhere; what is typed as a path, or as a day."""

import asyncio
import os
from pathlib import Path
from typing import Any

from textual.events import Paste
from textual.geometry import Size
from textual.reactive import Reactive
from textual.suggester import Suggester
from textual.widgets import Input

from localrag.errors import NotFoundError, UsageError
from localrag.language import _
from localrag_tui.shown import one_line

_LONGEST = 2_000
"""Characters; a much longer line would hold up every key."""


class TextField(Input):
    """Textual's own, whose text does nothing to a terminal and has an end.

    Args:
        value: what stands there at first.
        max_length: in characters; what goes beyond it is cut.
        others: as `Input` takes them.
    """

    # A key makes the line longer, and moves nothing on the screen: it is not laid out again.
    virtual_size = Reactive(Size(0, 0))

    def __init__(self, value: str = "", *, max_length: int = _LONGEST, **others: Any) -> None:
        super().__init__(one_line(value[:max_length]), max_length=max_length, **others)

    def validate_value(self, value: str) -> str:
        """Keep what may stand there, however it was set."""
        return one_line(value[: self.max_length])

    def on_paste(self, event: Paste) -> None:
        """Put in the first line, as much of it as there is room for."""
        event.prevent_default()
        event.stop()
        lines = event.text.splitlines()
        start, end = sorted(self.selection)
        room = (self.max_length or 0) - len(self.value) + end - start
        self.replace(one_line(lines[0][: max(0, room)] if lines else ""), start, end)


_LOOKED_AT = 5_000
"""Entries of a folder that are looked through for a suggestion."""


class PathSuggester(Suggester):
    """Suggests files and folders; reads a folder in a thread."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """The first path that begins with what is typed."""
        return await asyncio.to_thread(completed, value)


class PathInput(TextField):
    """A path, completed as it is typed; what stands there is replaced by what is typed first."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's own
        super().__init__(value, placeholder=placeholder, id=id, suggester=PathSuggester())

    @property
    def path(self) -> Path:
        """What is typed, as a path; ``~`` is the home of the user."""
        return as_path(self.value)


def as_path(typed: str) -> Path:
    """A path as it was typed or pasted: quotation marks around it are dropped, ``~`` is replaced.

    An unknown user after ``~`` is left as it stands.
    """
    text = typed.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return Path(os.path.expanduser(text))  # noqa: PTH111 - Path.expanduser raises


def as_day(typed: str) -> str:
    """A day as people write it (2020-04-01, 2020年4月1日, 令和二年四月一日), in ISO; "" for none.

    Raises:
        UsageError: it is no day.
    """
    if not typed.strip():
        return ""
    from localrag.text.dates import read_day

    if day := read_day(typed):
        return day.isoformat()
    raise UsageError(
        _("{date} is not a date.").format(date=typed.strip()),
        _("Write it as 2024-04-01 or 令和6年4月1日."),
    )


def existing(typed: str) -> Path:
    """The file or folder that was typed.

    Raises:
        UsageError: nothing was.
        NotFoundError: there is none.
    """
    if not typed.strip():
        raise UsageError(_("No file or folder is named."))
    path = as_path(typed)
    if not path.exists():
        raise NotFoundError(
            _("There is no {path}.").format(path=typed),
            _("Check the path; the right arrow takes what is suggested."),
        )
    return path


def completed(typed: str) -> str | None:
    """The first file or folder whose path begins with what is typed, folders with their slash."""
    folder, _, begun = typed.rpartition("/")
    if not typed or not (folder or typed.startswith("/")) or not begun:
        return None
    try:
        with os.scandir(as_path(folder + "/")) as entries:
            looked_at = (entry for _, entry in zip(range(_LOOKED_AT), entries, strict=False))
            fitting = [entry for entry in looked_at if entry.name.startswith(begun)]
            first = min(fitting, key=lambda entry: entry.name, default=None)
            if first is None or not first.name.isprintable():
                return None
            return f"{folder}/{first.name}{'/' if first.is_dir() else ''}"
    except (OSError, ValueError):
        return None
