"""Theme and language of the interface, changed while it runs and remembered."""

from typing import TYPE_CHECKING

from localrag import language
from localrag.language import _
from localrag_tui.shell.keys import key_of
from localrag_tui.themes import THEMES

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


def use_theme(bench: "Workbench", name: str) -> None:
    """Take a theme, dark or light, now and from now on."""
    bench.theme = THEMES[name].name
    bench.memory.remember(theme=name)
    if bench.settings.of().tui.theme not in ("auto", name):
        bench.notify(_("The settings (tui.theme) bring the other one back at the next start."))


def use_language(bench: "Workbench", code: str) -> None:
    """Speak a language, now and from now on; what was typed and opened stays."""
    if bench.engine.answering:
        from localrag_tui.ask.screen import AskScreen

        key = key_of(bench, AskScreen, "ask.cancel")
        words = _("An answer is being made: wait for it, or cancel it with {key}.")
        bench.notify(words.format(key=key))
        return
    language.use(code)
    bench.memory.remember(language=code)
    if bench.settings.of().language not in ("auto", code):
        bench.notify(_("The settings (language) bring the other one back at the next start."))
    # A worker: the application itself has to go on while its screens come and go.
    bench.run_worker(bench.make_screens_anew(), group="language")
