"""The language of the interface: gettext catalogues, one for each room.

Messages are written in English and marked with `_`, or with `N_` where they are read before the
language is known (the descriptions of keys). A catalogue lies in
``locale/<language>/LC_MESSAGES/<room>.po``; ``scripts/catalogues.py`` collects the messages and
compiles what is translated.
"""

import gettext
import os
from pathlib import Path

LANGUAGES = {"en": "English", "ja": "日本語"}
"""What the interface speaks, by code."""

_LOCALE = Path(__file__).with_name("locale")
_spoken = gettext.NullTranslations()


def use(language: str) -> None:
    """Speak a language from now on; English for one without catalogues."""
    global _spoken
    _spoken = gettext.NullTranslations()
    for catalogue in sorted(_LOCALE.joinpath(language, "LC_MESSAGES").glob("*.mo")):
        with catalogue.open("rb") as file:
            room = gettext.GNUTranslations(file)
        room.add_fallback(_spoken)
        _spoken = room


def spoken() -> str:
    """The code of the language that is spoken."""
    return str(_spoken.info().get("language", "en"))


def of_environment() -> str:
    """The language that the environment asks for (LC_ALL, LC_MESSAGES, LANG)."""
    variables = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    wanted = next(filter(None, variables), "")
    return "ja" if wanted.startswith("ja") else "en"


def _(message: str) -> str:
    """The message in the language of the interface."""
    # The empty message is the head of a catalogue.
    return _spoken.gettext(message) if message else ""


def ngettext(one: str, many: str, count: int) -> str:
    """The message for a number of things, in the language of the interface."""
    return _spoken.ngettext(one, many, count)


def N_(message: str) -> str:  # noqa: N802 - the mark that gettext's tools look for
    """Mark a message that is translated where it is shown."""
    return message
