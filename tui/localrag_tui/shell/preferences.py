"""The most used settings: language, theme, model, search."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.widget import Widget
from textual.widgets import Select

from localrag import language
from localrag.corpus.config import explain
from localrag.corpus.workspace import FLAG, change_setting
from localrag.errors import UsageError
from localrag.language import LANGUAGES, N_, _
from localrag_indexes.analysis.normalize import unified
from localrag_tui.shell.form import Field, Form, TextField, WrongField, as_day
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.look import THEMES

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

_AUTO, _ON, _OFF = N_("automatically"), N_("always"), N_("never")
_SWITCH = {"auto": _AUTO, "on": _ON, "off": _OFF}


def _number(typed: str) -> int:
    """A number of passages; １０ is 10."""
    meant = unified(typed).strip()
    if not meant.isascii() or not meant.isdecimal() or not 1 <= int(meant) <= 1000:
        raise UsageError(
            N_("{value} is no number of passages."),
            N_("Write one from 1 to 1000."),
            value=meant or '""',
        )
    return int(meant)


class Preference(NamedTuple):
    """A setting of this dialogue."""

    key: str
    label: str  # its name; a message marked with `N_`, as `about`, `choices` and `empty`
    about: str = ""
    choices: Mapping[str, str] = {}  # names of its values; empty if it is typed
    read: Callable[[str], str | int] = str  # parses the value; raises `UsageError`
    empty: str = ""


PREFERENCES = (
    Preference(
        "retrieval.as_of",
        N_("day of the law"),
        N_("Such as 2020-04-01 or 令和2年4月1日."),
        read=as_day,
        empty=N_("today"),
    ),
    Preference("language", N_("language"), "", {"auto": _AUTO, **LANGUAGES}),
    Preference(
        "tui.theme",
        N_("theme"),
        "",
        {"auto": _AUTO, "dark": N_("Dark theme"), "light": N_("Light theme")},
    ),
    Preference("chat.model", N_("model"), N_("Writes answers; without one they are quotations.")),
    Preference(
        "retrieval.k",
        N_("passages"),
        N_("How many a question is given to answer from."),
        read=_number,
    ),
    Preference("retrieval.dense", N_("by meaning"), N_("Automatically: with vectors."), _SWITCH),
    Preference("retrieval.rerank", N_("rereading"), N_("Automatically: with a reranker."), _SWITCH),
)
"""All of them, in the order shown."""


def use_theme(bench: "Workbench", name: str) -> None:
    """Use a theme, dark or light, from now on."""
    bench.theme = THEMES[name].name
    bench.memory.remember(theme=name)
    if bench.settings.of().tui.theme not in ("auto", name):
        bench.notify(_("The settings (tui.theme) bring the other one back at the next start."))


def use_language(bench: "Workbench", code: str) -> None:
    """Use a language from now on; typed text and open places stay."""
    if not _can_speak_another(bench):
        return
    bench.memory.remember(language=code)
    _speak(bench, code, _overruled)


def _overruled(bench: "Workbench") -> None:
    if bench.settings.of().language in ("auto", language.in_use()):
        return
    if bench.overrides.get("language"):
        words = _("This start was given a language (--lang); it overrides the choice made here.")
        bench.notify(words)
        return
    words = _(
        "The settings say another language, which is back at the next start: {key} changes it."
    )
    bench.notify(words.format(key=key_of(bench, "app.settings")))


async def change_settings(bench: "Workbench") -> None:
    """Ask for the settings, write changes into ``localrag.toml``, and apply them."""
    workspace, corpus = bench.workspace, bench.corpus

    def look() -> tuple[dict[str, str], dict[str, str], list[str]]:
        from localrag_tui.ask.chooser import chat_models

        found = explain(workspace, bench.overrides, workspace.corpus(corpus))
        values = {of.key: str(of.value) for of in found}
        # Settings left open: the choice of the palette is in use.
        chosen = bench.memory.choices
        for key, value in (("language", chosen.language), ("tui.theme", chosen.theme)):
            if values[key] == "auto" and value:
                values[key] = value
        sources = {of.key: of.source for of in found}
        return values, sources, [of.name for of in chat_models(workspace, values["chat.model"])]

    before, sources, models = await asyncio.to_thread(look)
    fields = []
    for preference in PREFERENCES:
        choices = {name: _(called) for name, called in preference.choices.items()}
        if preference.key == "chat.model":
            choices = {name: name or _("none") for name in models}
        source = sources[preference.key]
        fixed = "" if source in ("default", workspace.settings.name) else source
        fixed = _("The command line") if fixed == FLAG else fixed
        fields.append(_field(preference, before[preference.key], choices, fixed))
    form = Form(
        _("Settings"),
        _("They are kept in {file} of the workspace, with all other settings.").format(
            file=workspace.settings.name
        ),
        go=_("Save"),
        fields=fields,
        check=partial(_write, bench, before),
        saves=True,
    )
    values = await bench.push_screen_wait(form)
    if isinstance(values, dict):
        _go_by(bench, before, _read(values))
        bench.notify(_("The settings are saved."))


def _field(preference: Preference, value: str, choices: Mapping[str, str], fixed: str) -> Field:
    id_ = preference.key.replace(".", "-")
    hint = _(preference.empty) if preference.empty else ""
    widget: Widget = TextField(value, id=id_, placeholder=hint)
    if choices:
        options = [(called, name) for name, called in choices.items()]
        widget = Select(options, value=value, allow_blank=False, id=id_, compact=True)
    about = _(preference.about) if preference.about else ""
    if fixed:
        about = _("{source} sets it, and overrides the choice made here.").format(source=fixed)
    label = _(preference.label)
    field = Field(preference.key, label, about=about, beside=True, widget=widget)
    field.disabled = bool(fixed)
    return field


def _write(bench: "Workbench", before: Mapping[str, str], values: Mapping[str, str]) -> None:
    for key, value in _read(values).items():
        if str(value) != before[key]:
            change_setting(bench.workspace, key, value)


def _read(values: Mapping[str, str]) -> dict[str, str | int]:
    read: dict[str, str | int] = {}
    for preference in PREFERENCES:
        try:
            read[preference.key] = preference.read(values[preference.key])
        except UsageError as error:
            raise WrongField(preference.key, error) from error
    return read


def _go_by(bench: "Workbench", before: Mapping[str, str], values: Mapping[str, str | int]) -> None:
    changed = {key: str(value) for key, value in values.items() if str(value) != before[key]}
    if "chat.model" in changed:
        bench.memory.remember(model=None)
    if theme := changed.get("tui.theme"):
        bench.memory.remember(theme="")
        bench.theme = THEMES.get(theme, THEMES["dark"]).name
    if (code := changed.get("language")) and _can_speak_another(bench):
        bench.memory.remember(language="")
        _speak(bench, code if code in LANGUAGES else language.of_environment())


def _can_speak_another(bench: "Workbench") -> bool:
    if not bench.engine.answering:
        return True
    key = key_of(bench, "ask.cancel")
    words = _("An answer is being made: wait for it, or cancel it with {key}.")
    bench.notify(words.format(key=key))
    return False


def _speak(
    bench: "Workbench", code: str, then: Callable[["Workbench"], None] = lambda _: None
) -> None:
    language.use(code)

    async def speak() -> None:
        await bench.make_screens_anew()
        # Not before: a notice would be lost with the old screens.
        then(bench)

    # A worker: the application must go on meanwhile.
    bench.run_worker(speak(), group="language")
