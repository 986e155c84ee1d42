"""A field for a path: what it can go on with is suggested, the right arrow takes it."""

import asyncio
import os
from pathlib import Path

from textual.suggester import Suggester

from localrag.errors import NotFoundError, UsageError
from localrag.language import _
from localrag_tui.widgets.text_field import TextField

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
    """A path, completed as it is typed."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's own
        super().__init__(
            value, placeholder=placeholder, id=id, suggester=PathSuggester(), select_on_focus=False
        )

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
