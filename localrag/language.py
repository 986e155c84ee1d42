"""The language of everything that is shown: one gettext catalogue for each language.

Messages are written in English. `_` translates one where it is shown; `N_` marks one that is shown
later, such as the message of an error. ``scripts/catalogues.py`` collects the messages into
``locale/<language>/LC_MESSAGES/localrag.po`` and compiles it.
"""

import gettext
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

LANGUAGES = {"en": "English", "ja": "日本語"}
"""The available languages, by code."""

_LOCALE = Path(__file__).with_name("locale")
_catalogue = gettext.NullTranslations()
# The language of one piece of work, such as one of several simultaneous answers.
_own: ContextVar[gettext.NullTranslations | None] = ContextVar("language", default=None)


def use(code: str) -> None:
    """Use a language from now on; English if it has no catalogues."""
    global _catalogue
    _catalogue = _catalogue_in(_LOCALE / code)


@contextmanager
def using(code: str) -> Iterator[None]:
    """Use a language within the block, in this thread and task only.

    Another thread uses it if the context is copied, as `asyncio.to_thread` does.
    """
    token = _own.set(_catalogue_in(_LOCALE / code))
    try:
        yield
    finally:
        _own.reset(token)


@cache
def _catalogue_in(folder: Path) -> gettext.NullTranslations:
    compiled = folder / "LC_MESSAGES" / "localrag.mo"
    if not compiled.exists():
        return gettext.NullTranslations()
    with compiled.open("rb") as file:
        return gettext.GNUTranslations(file)


def _in_use() -> gettext.NullTranslations:
    return _own.get() or _catalogue


def translated(messages: Iterable[str], code: str) -> dict[str, str]:
    """Messages in a given language."""
    catalogue = _catalogue_in(_LOCALE / code)
    return {message: catalogue.gettext(message) for message in messages}


def in_use() -> str:
    """The code of the language in use."""
    return str(_in_use().info().get("language", "en"))


def of_environment() -> str:
    """The language of the environment (LC_ALL, LC_MESSAGES, LANG)."""
    variables = (os.environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    wanted = next(filter(None, variables), "")
    return "ja" if wanted.startswith("ja") else "en"


def _(message: str) -> str:
    # The empty message is the head of a catalogue.
    return _in_use().gettext(message) if message else ""


def in_every_language(message: str) -> tuple[str, ...]:
    """The message in every language, each wording once."""
    return tuple(
        dict.fromkeys(_catalogue_in(_LOCALE / code).gettext(message) for code in LANGUAGES)
    )


def ngettext(one: str, many: str, count: int) -> str:
    """The message for a number of things, in the language in use."""
    return _in_use().ngettext(one, many, count)


def N_(message: str) -> str:  # noqa: N802 - the mark that gettext's tools look for
    """Mark a message that is translated later."""
    return message


def colon() -> str:
    """The colon of the language in use."""
    return _(": ")


def aside(words: str) -> str:
    """Words in the brackets of the language in use."""
    return _(" ({words})").format(words=words)
