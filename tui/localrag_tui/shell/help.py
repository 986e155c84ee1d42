"""Help (F1): what a screen is for, and every key that can be pressed there now."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingsMap, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Input, Static

from localrag.language import N_, _
from localrag_tui.screen import Dialogue, bench_of
from localrag_tui.screens import SCREENS
from localrag_tui.shell.keys import spelled
from localrag_tui.shown import one_line
from localrag_tui.widgets.paragraph import Paragraph
from localrag_tui.widgets.text_field import TextField


class Line(NamedTuple):
    """An action, the keys that do it, and the name under which the settings know it."""

    keys: str
    description: str
    id: str = ""


class Help(Dialogue):
    """The keys of the screen below, by where they hold; typing narrows them down.

    Args:
        title: of the screen.
        about: what it is for.
        sections: the lines under each heading.
        settings: the file in which keys are changed.
    """

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
        sections: Mapping[str, Iterable[Line]],
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
    mode: str,
    active: Mapping[str, ActiveBinding],
    settings: Path,
    *,
    changing_first: bool = False,
) -> Help:
    """The help on a screen or dialogue.

    Args:
        screen: it.
        mode: its mode; "" for a dialogue.
        active: its keys, described in the language of the interface.
        settings: the file in which keys are changed.
        changing_first: whether what is asked is how that is done.
    """
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
        # Textual does not count those that pass a dialogue among its keys.
        bindings = BindingsMap(app.BINDINGS)
        bindings.apply_keymap(app.keymap)
        for key, binding in bindings:
            name, _sep, argument = binding.action.partition("(")
            if binding.priority and app.check_action(name, (argument,)) and binding.id:
                keys, _description = everywhere.setdefault(binding.id, ([], _(binding.description)))
                keys.append(spelled(key))
    sections = {
        heading: [
            Line(" ".join(keys), description, id_) for id_, (keys, description) in group.items()
        ]
        for heading, group in groups.items()
    }
    if not mode:
        return Help(_("Keys of this dialogue"), "", sections, settings)
    title, about = _(SCREENS[mode].title), _(SCREENS[mode].about)
    return Help(title, about, sections, settings, changing_first=changing_first)


def _changing(settings: Path) -> Content:
    """How a key is changed, with that of the help for an example."""
    how = _("Change a key in {path}, from the next start on:").format(path=settings)
    lines = '[tui.keys]\n"app.help" = "f12"'
    return Content.assemble(
        (_("Keys"), "$foreground-muted"), "\n", one_line(how), "\n", (lines, "bold")
    )


def _fits(line: Line, words: Iterable[str]) -> bool:
    text = f"{line.keys} {line.description} {line.id}".casefold()
    return all(word in text for word in words)


def _row(line: Line, width: int, beside: int) -> Content:
    keys = line.keys + " " * (width - cell_len(line.keys))
    return Content.assemble(
        (keys, "bold $accent"),
        set_cell_size(line.description, beside),
        (line.id, "$foreground-muted"),
    )
