"""Help (F1): purpose and keys of a screen. Palette (Ctrl+P): all commands, in both languages."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingsMap, BindingType
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Input, Static

from localrag.language import LANGUAGES, N_, _
from localrag.text.harmless import one_line
from localrag_tui.screen import Dialogue, bench_of
from localrag_tui.shell.bars import SCREENS
from localrag_tui.shell.base import SettledScreen
from localrag_tui.shell.form import TextField
from localrag_tui.shell.keys import spelled
from localrag_tui.shell.look import sheets
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shell.preferences import use_language, use_theme

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


class HelpLine(NamedTuple):
    """An action: its keys, its description, its name in the settings."""

    keys: str
    description: str
    id: str = ""


class Help(Dialogue):
    """The keys of the screen below, by place; typing filters them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll(-1)", N_("Up"), id="help.up", show=False),
        Binding("down", "scroll(1)", N_("Down"), id="help.down", show=False),
        Binding("pageup", "page(-1)", N_("Page up"), id="help.page-up", show=False),
        Binding("pagedown", "page(1)", N_("Page down"), id="help.page-down", show=False),
    ]

    def __init__(
        self,
        title: str,
        about: str,
        sections: Mapping[str, Iterable[HelpLine]],
        settings: Path,
        *,
        changing_first: bool = False,
    ) -> None:
        super().__init__()
        self._title = title
        self._about = about
        self._sections = {heading: tuple(lines) for heading, lines in sections.items()}
        self._changing = _changing(settings)
        self._changing_first = changing_first

    def body(self) -> ComposeResult:
        yield Static(Content(self._title), classes="heading")
        if self._about:
            yield Paragraph(Content(self._about), id="about")
        yield TextField(placeholder=_("find a key or an action"), id="wanted")
        with VerticalScroll(can_focus=False):
            yield Paragraph(self._keys(""), id="keys")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.query_one("#keys", Paragraph).show(self._keys(event.value))

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        scrolled = self.query_one(VerticalScroll)
        scrolled.scroll_relative(y=pages * scrolled.size.height, animate=False)

    def _keys(self, wanted: str) -> Content:
        words = wanted.casefold().split()
        found = {
            heading: [line for line in lines if _fits(line, words)]
            for heading, lines in self._sections.items()
        }
        every = [line for lines in found.values() for line in lines]
        tells = all(word in self._changing.plain.casefold() for word in words)
        if not every:
            return self._changing if tells else Content(_("No key fits."))
        width = max(cell_len(line.keys) for line in every) + 2
        beside = max(cell_len(line.description) for line in every) + 2
        parts: list[Content] = []
        for heading, lines in found.items():
            if lines:
                if not parts:
                    heading = set_cell_size(heading, width + beside) + _("name in the settings")
                parts.append(Content.styled(heading, "$foreground-muted"))
                parts += (_row(line, width, beside) for line in lines)
                parts.append(Content(""))
        if not tells:
            return Content("\n").join(parts[:-1])
        if self._changing_first:
            return Content("\n").join([self._changing, Content(""), *parts])
        return Content("\n").join([*parts, self._changing])


def help_on(
    screen: DOMNode,
    mode: str,  # its mode; "" for a dialogue
    active: Mapping[str, ActiveBinding],
    settings: Path,
    *,
    changing_first: bool = False,
) -> Help:
    """The help of a screen or dialogue."""
    app = bench_of(screen)
    groups: dict[str, dict[str, tuple[list[str], str]]] = {
        heading: {} for heading in (_("Where you are"), _("On this screen"), _("Everywhere"))
    }
    here, on_screen, everywhere = groups.values()
    for key, (node, binding, _enabled, _tooltip) in active.items():
        if binding.id and binding.description:
            group = on_screen if node is screen else everywhere if node is app else here
            keys, _description = group.setdefault(binding.id, ([], binding.description))
            keys.append(spelled(key))
    if not mode:
        # Textual leaves out priority keys of the application.
        bindings = BindingsMap(app.BINDINGS)
        bindings.apply_keymap(app.keymap)
        for key, binding in bindings:
            name, _sep, argument = binding.action.partition("(")
            if binding.priority and app.check_action(name, (argument,)) and binding.id:
                keys, _description = everywhere.setdefault(binding.id, ([], _(binding.description)))
                keys.append(spelled(key))
    sections = {
        heading: [
            HelpLine(" ".join(keys), description, id_) for id_, (keys, description) in group.items()
        ]
        for heading, group in groups.items()
    }
    if not mode:
        return Help(_("Keys of this dialogue"), "", sections, settings)
    title, about = _(SCREENS[mode].title), _(hints()[mode])
    return Help(title, about, sections, settings, changing_first=changing_first)


@cache
def hints() -> dict[str, str]:
    """The purpose of each screen, in English, by mode."""
    found = tomllib.loads(Path(__file__).with_name("help.toml").read_text("utf-8"))
    return {mode: entry["hints"] for mode, entry in found.items()}


def _changing(settings: Path) -> Content:
    how = _("Change a key in {path}, from the next start on:").format(path=settings)
    lines = '[tui.keys]\n"app.help" = "f12"'
    return Content.assemble(
        (_("Keys"), "$foreground-muted"), "\n", one_line(how), "\n", (lines, "bold")
    )


def _fits(line: HelpLine, words: Iterable[str]) -> bool:
    text = f"{line.keys} {line.description} {line.id}".casefold()
    return all(word in text for word in words)


def _row(line: HelpLine, width: int, beside: int) -> Content:
    keys = line.keys + " " * (width - cell_len(line.keys))
    return Content.assemble(
        (keys, "bold $accent"),
        set_cell_size(line.description, beside),
        (line.id, "$foreground-muted"),
    )


_IN_ENGLISH = {"en": "English", "ja": "Japanese"}
_LOOKS = {"dark": N_("Dark theme"), "light": N_("Light theme")}


class PaletteCommand(NamedTuple):
    """A command."""

    title: str
    original: str
    run: Callable[[], object]
    note: str = ""

    def shown(self, title: Content | None = None) -> Content:
        return Content.assemble(title or self.title, "  ", (self.note, "$foreground-muted"))


class Commands(Provider):
    """Actions of screen and application, corpora, themes, languages."""

    async def discover(self) -> Hits:
        for command in self._commands():
            yield DiscoveryHit(command.shown(), command.run, command.title)

    async def search(self, query: str) -> Hits:
        """The matching commands; titles match in English, too."""
        matcher, found = self.matcher(query), False
        for command in self._commands():
            score, original = matcher.match(command.title), matcher.match(command.original)
            if score or original:
                found = True
                shown = command.shown(matcher.highlight(command.title) if score else None)
                yield Hit(max(score, original), shown, command.run, command.title)
        if not found:
            # Textual says it in English only.
            yield Hit(1, Content.styled(_("No command fits."), "$foreground-muted"), _do_nothing)

    def _commands(self) -> Iterator[PaletteCommand]:
        from localrag_tui.corpora.actions import tell_errors

        actions = list(self._actions())
        yield from actions
        # Not over a dialogue.
        if not self.screen.is_modal:
            bench = bench_of(self.screen)
            change_keys = partial(bench.action_show_help, changing_first=True)
            yield PaletteCommand(_("Keys"), "Keys", change_keys, _("how to change them"))
            has_key = {action.original for action in actions}
            for title, about, run in _corpus_commands():
                if title not in has_key:
                    yield PaletteCommand(
                        _(title), title, partial(tell_errors, bench, run), _(about)
                    )
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
    """Textual's own, in the language of the interface and the colours of the theme."""

    CSS_PATH = sheets("dialogues")

    def __init__(self, actions: Mapping[str, ActiveBinding]) -> None:
        super().__init__(placeholder=_("name an action"))
        self.actions = actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "command_list" and not self.query_one(CommandList).scrollable_content_region:
            return False
        return super().check_action(action, parameters)


def _corpus_commands() -> "Iterator[tuple[str, str, Callable[[Workbench], object]]]":
    """Title, description and function, in the order of need."""
    from localrag_tui.corpora import actions
    from localrag_tui.models.doctor import DoctorDialogue

    sample = N_("Invented laws and pages, ready to ask")
    yield N_("Try the sample corpus"), sample, actions.try_sample
    yield N_("Add documents"), N_("Read a file or folder into a corpus"), actions.add
    yield N_("Index the corpus"), N_("Make new documents searchable"), actions.index
    chosen = N_("Documents to ask, read and search; Del removes one")
    yield N_("Choose the corpus"), chosen, actions.choose
    yield N_("Jobs"), N_("Running jobs: progress, stop, result"), lambda bench: bench.action_jobs()
    wrong = N_("problems, each with its cure")
    yield N_("Doctor"), wrong, lambda bench: bench.push_screen(DoctorDialogue())


def _do_nothing() -> None:
    """Do nothing: no command fits."""
