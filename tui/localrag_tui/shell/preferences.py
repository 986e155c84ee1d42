"""What people change most, while the workbench runs: language, theme, model, what is searched."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Button, Select

from localrag import language
from localrag.config import explain
from localrag.errors import UsageError
from localrag.language import LANGUAGES, N_, _
from localrag.workspace import FLAG, change_setting
from localrag_indexes.analysis.normalize import unified
from localrag_tui.shell.keys import bench_key, key_of
from localrag_tui.shell.look import THEMES
from localrag_tui.widgets.form import Field, Form, WrongField
from localrag_tui.widgets.text_field import TextField, as_day

if TYPE_CHECKING:
    from localrag_tui.app import Workbench

_AUTO, _ON, _OFF = N_("automatically"), N_("always"), N_("never")
_SWITCH = {"auto": _AUTO, "on": _ON, "off": _OFF}


def _number(typed: str) -> int:
    """A number of passages as it was meant: １０ is 10."""
    meant = unified(typed).strip()
    if not meant.isascii() or not meant.isdecimal() or not 1 <= int(meant) <= 1000:
        raise UsageError(
            N_("{value} is no number of passages."),
            N_("Write one from 1 to 1000."),
            value=meant or '""',
        )
    return int(meant)


class Preference(NamedTuple):
    """A setting that can be changed here.

    Attributes:
        key: as in ``localrag.toml``.
        label: what it is called; a message marked with `N_`, as the next and the last.
        about: what it does.
        choices: its values and what they are called, messages likewise; empty where it is typed.
        read: makes its value of what is typed or chosen; raises `UsageError`.
        empty: what nothing means, where it is typed.
    """

    key: str
    label: str
    about: str = ""
    choices: Mapping[str, str] = {}
    read: Callable[[str], str | int] = str
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
"""All of them, in the order in which they are shown."""


def use_theme(bench: "Workbench", name: str) -> None:
    """Take a theme, dark or light, now and from now on."""
    bench.theme = THEMES[name].name
    bench.memory.remember(theme=name)
    if bench.settings.of().tui.theme not in ("auto", name):
        bench.notify(_("The settings (tui.theme) bring the other one back at the next start."))


def use_language(bench: "Workbench", code: str) -> None:
    """Speak a language, now and from now on; what was typed and opened stays."""
    if not _can_speak_another(bench):
        return
    bench.memory.remember(language=code)
    _speak(bench, code, _overruled)


def _overruled(bench: "Workbench") -> None:
    """Tell where another language goes before the one that was chosen."""
    if bench.settings.of().language in ("auto", language.in_use()):
        return
    if bench.overrides.get("language"):
        words = _(
            "This start was given a language (--lang), which goes before what is chosen here."
        )
        bench.notify(words)
        return
    words = _(
        "The settings say another language, which is back at the next start: {key} changes it."
    )
    bench.notify(words.format(key=bench_key(bench, "app.settings")))


async def change_settings(bench: "Workbench") -> None:
    """Ask for the settings, write what was changed into ``localrag.toml``, and go by it."""
    workspace, corpus = bench.workspace, bench.corpus

    def look() -> tuple[dict[str, str], dict[str, str], list[str]]:
        from localrag_tui.ask.chooser import chat_models

        found = explain(workspace, bench.overrides, workspace.corpus(corpus))
        values = {of.key: str(of.value) for of in found}
        # Where the settings leave it open, what was chosen in the palette is in use.
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
    form = SettingsForm(
        _("Settings"),
        _("They are kept in {file} of the workspace, where all others stand, too.").format(
            file=workspace.settings.name
        ),
        go=_("Save"),
        fields=fields,
        check=partial(_write, bench, before),
    )
    values = await bench.push_screen_wait(form)
    if isinstance(values, dict):
        _go_by(bench, before, _read(values))
        bench.notify(_("The settings are saved."))


def _field(
    preference: Preference, value: str, choices: Mapping[str, str], fixed: str
) -> "SettingField":
    id_ = preference.key.replace(".", "-")
    hint = _(preference.empty) if preference.empty else ""
    widget: Widget = TextField(value, id=id_, placeholder=hint)
    if choices:
        options = [(called, name) for name, called in choices.items()]
        widget = Select(options, value=value, allow_blank=False, id=id_, compact=True)
    about = _(preference.about) if preference.about else ""
    if fixed:
        about = _("{source} says so, and goes before what is chosen here.").format(source=fixed)
    field = SettingField(preference.key, _(preference.label), widget, about)
    field.disabled = bool(fixed)
    return field


class SettingsForm(Form):
    """The form of them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", N_("Save"), id="settings.save"),
    ]

    def action_save(self) -> None:
        """Save them from wherever one is: Enter opens a list of choices."""
        self.query_one("#go", Button).press()


class SettingField(Field):
    """A field with what it does below it."""

    def __init__(self, name: str, label: str, widget: Widget, about: str) -> None:
        super().__init__(name, label, widget=widget)
        self._about = about
        self.add_class("-beside")

    def on_mount(self) -> None:
        self.explain(self._about)


def _write(bench: "Workbench", before: Mapping[str, str], values: Mapping[str, str]) -> None:
    """Write what was changed; raises what `_read` and `change_setting` do."""
    for key, value in _read(values).items():
        if str(value) != before[key]:
            change_setting(bench.workspace, key, value)


def _read(values: Mapping[str, str]) -> dict[str, str | int]:
    """What is filled in as values of the settings.

    Raises:
        WrongField: something that is typed cannot be one.
    """
    read: dict[str, str | int] = {}
    for preference in PREFERENCES:
        try:
            read[preference.key] = preference.read(values[preference.key])
        except UsageError as error:
            raise WrongField(preference.key, error) from error
    return read


def _go_by(bench: "Workbench", before: Mapping[str, str], values: Mapping[str, str | int]) -> None:
    """Go by what was changed: what was chosen elsewhere gives way to it."""
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
    from localrag_tui.ask.screen import AskScreen

    key = key_of(bench, AskScreen, "ask.cancel")
    words = _("An answer is being made: wait for it, or cancel it with {key}.")
    bench.notify(words.format(key=key))
    return False


def _speak(
    bench: "Workbench", code: str, then: Callable[["Workbench"], None] = lambda _: None
) -> None:
    language.use(code)

    async def speak() -> None:
        await bench.make_screens_anew()
        # Not before: a message told while screens come and go is shown on none of them.
        then(bench)

    # A worker: the application itself has to go on meanwhile.
    bench.run_worker(speak(), group="language")
