"""The language of everything that is shown: gettext catalogues, one for each room.

Messages are written in English. `_` translates one where it is shown; `N_` marks one that is shown
later, an error's or a fact's. A catalogue lies in ``locale/<language>/LC_MESSAGES/<room>.po``;
``scripts/catalogues.py`` collects the messages and compiles what is translated.
"""

import gettext
import os
from collections.abc import Iterable
from pathlib import Path

LANGUAGES = {"en": "English", "ja": "日本語"}
"""The languages there are, by code."""

_LOCALE = Path(__file__).with_name("locale")
_catalogue = gettext.NullTranslations()


def use(code: str) -> None:
    """Take a language from now on; English for one without catalogues."""
    global _catalogue
    _catalogue = _read(code)


def _read(code: str) -> gettext.NullTranslations:
    catalogue = gettext.NullTranslations()
    for compiled in sorted(_LOCALE.joinpath(code, "LC_MESSAGES").glob("*.mo")):
        with compiled.open("rb") as file:
            room = gettext.GNUTranslations(file)
        room.add_fallback(catalogue)
        catalogue = room
    return catalogue


def translated(messages: Iterable[str], code: str) -> dict[str, str]:
    """Messages in a language, whichever is in use."""
    catalogue = _read(code)
    return {message: catalogue.gettext(message) for message in messages}


def in_use() -> str:
    """The code of the language in use."""
    return str(_catalogue.info().get("language", "en"))


def of_environment() -> str:
    """The language that the environment asks for (LC_ALL, LC_MESSAGES, LANG)."""
    variables = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    wanted = next(filter(None, variables), "")
    return "ja" if wanted.startswith("ja") else "en"


def _(message: str) -> str:
    """The message in the language in use."""
    # The empty message is the head of a catalogue.
    return _catalogue.gettext(message) if message else ""


def ngettext(one: str, many: str, count: int) -> str:
    """The message for a number of things, in the language in use."""
    return _catalogue.ngettext(one, many, count)


def N_(message: str) -> str:  # noqa: N802 - the mark that gettext's tools look for
    """Mark a message that is translated where it is shown."""
    return message
