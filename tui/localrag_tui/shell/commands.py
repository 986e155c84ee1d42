"""The command palette (Ctrl+P): everything that can be done now, by its name in either language."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from textual.binding import ActiveBinding
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from localrag.language import LANGUAGES, N_, _
from localrag_tui.screen import bench_of
from localrag_tui.shell.base import SettledScreen
from localrag_tui.shell.keys import spelled
from localrag_tui.shell.look import sheets
from localrag_tui.shell.preferences import use_language, use_theme

_IN_ENGLISH = {"en": "English", "ja": "Japanese"}
_LOOKS = {"dark": N_("Dark theme"), "light": N_("Light theme")}


class PaletteCommand(NamedTuple):
    """Something that can be done.

    Attributes:
        title: in the language of the interface.
        original: the same in English.
        run: does it.
        note: the keys that do it, too, or a word about it.
    """

    title: str
    original: str
    run: Callable[[], object]
    note: str = ""

    def shown(self, title: Content | None = None) -> Content:
        """The title, or the one given, and the note."""
        return Content.assemble(title or self.title, "  ", (self.note, "$foreground-muted"))


class Commands(Provider):
    """The actions of the screen below and of the application, corpora, themes and languages."""

    async def discover(self) -> Hits:
        """All commands."""
        for command in self._commands():
            yield DiscoveryHit(command.shown(), command.run, command.title)

    async def search(self, query: str) -> Hits:
        """The commands that fit what is typed; a title is found by its English name as well."""
        matcher, found = self.matcher(query), False
        for command in self._commands():
            score, original = matcher.match(command.title), matcher.match(command.original)
            if score or original:
                found = True
                shown = command.shown(matcher.highlight(command.title) if score else None)
                yield Hit(max(score, original), shown, command.run, command.title)
        if not found:
            # Said here, in the language of the interface: Textual has it in English alone.
            yield Hit(1, Content.styled(_("No command fits."), "$foreground-muted"), _do_nothing)

    def _commands(self) -> Iterator[PaletteCommand]:
        from localrag_tui.corpora.actions import COMMANDS, tell_errors

        actions = list(self._actions())
        yield from actions
        # A dialogue would be covered by another one, or lost with the screen below it.
        if not self.screen.is_modal:
            bench = bench_of(self.screen)
            change_keys = partial(bench.action_show_help, changing_first=True)
            yield PaletteCommand(_("Keys"), "Keys", change_keys, _("how to change them"))
            has_key = {action.original for action in actions}
            for command in (command for command in COMMANDS if command.title not in has_key):
                run = partial(tell_errors, bench, command.run)
                yield PaletteCommand(_(command.title), command.title, run, _(command.help))
            for name, title in _LOOKS.items():
                yield PaletteCommand(_(title), title, partial(use_theme, bench, name))
            for code, name in LANGUAGES.items():
                run = partial(use_language, bench, code)
                title = _("Language: {name}").format(name=name)
                yield PaletteCommand(title, f"Language: {_IN_ENGLISH[code]}", run)

    def _actions(self) -> Iterator[PaletteCommand]:
        palette, said = self.app.screen, {"app.palette"}
        for key, active in palette.actions.items() if isinstance(palette, Palette) else ():
            id_, title = active.binding.id or "", active.binding.description
            if id_ and title and active.enabled and id_ not in said:
                said.add(id_)
                run = partial(self.app.run_action, active.binding.action, active.node)
                yield PaletteCommand(_(title), title, run, spelled(key))


class Palette(CommandPalette, SettledScreen[None]):
    """Textual's own, in the language of the interface and the colours of the themes.

    Args:
        actions: what could be done when it was opened, by key, described in English.
    """

    CSS_PATH = sheets("dialogues")

    def __init__(self, actions: Mapping[str, ActiveBinding]) -> None:
        super().__init__(placeholder=_("what do you want to do?"))
        self.actions = actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action can be done: a list that is not shown yet has no page to turn."""
        if action == "command_list" and not self.query_one(CommandList).scrollable_content_region:
            return False
        return super().check_action(action, parameters)


def _do_nothing() -> None:
    """What happens where no command fits."""
