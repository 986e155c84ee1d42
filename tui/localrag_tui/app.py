"""The workbench: its screens, and the services they share."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, ClassVar, cast

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.notifications import Notification
from textual.screen import Screen
from textual.widget import AwaitMount

from localrag import language
from localrag.corpus.workspace import Workspace
from localrag.errors import ConfigError
from localrag.language import N_, _, ngettext
from localrag.text.harmless import cut, one_line
from localrag_tui.screen import Dialogue, KeptState, WorkbenchScreen
from localrag_tui.shell.bars import SCREENS
from localrag_tui.shell.base import BaseApp, abridged
from localrag_tui.shell.keys import key_of, needed, normal, spelled, usable
from localrag_tui.shell.look import SHEETS, THEMES, look, sheets
from localrag_tui.spot import OpenSpot, Spot
from localrag_tui.work.jobs import Jobs

if TYPE_CHECKING:
    # Imported when needed: the first paint needs none of it.
    from textual.command import Provider

    from localrag.corpus.config import Config
    from localrag_tui.library import Keeper, Library, Memory, Settings
    from localrag_tui.work.engine import Engine


# A notice shows the beginning (cells) and the end (characters) of a copied text.
_BEGINNING, _END = 60, 30
# Seconds to write down a question sent with the last keys, before leaving.
_SETTLED_AFTER = 3.0
# How many wrong keys of the settings one notice names, and for how many seconds.
_MOST_WRONG_KEYS, _READ_WRONG_KEYS = 4, 30.0


def run(workspace: Workspace, overrides: Mapping[str, object]) -> None:
    """Open the workbench in the terminal until the user leaves it. Raises `Exception`."""
    bench = Workbench(workspace, overrides)
    bench.run()
    if error := bench.broken:
        raise error


# Module and class of each screen; imported when the user goes there.
_PLACES = {
    "ask": "ask.screen:AskScreen",
    "read": "source.screen:ReadScreen",
    "search": "search.screen:SearchScreen",
    "runs": "runs.screen:RunsScreen",
    "models": "models.screen:ModelsScreen",
    "check": "check.screen:CheckScreen",
}


def _make(mode: str) -> Screen[None]:
    screen: Screen[None] = resolve_name(f"localrag_tui.{_PLACES[mode]}")()
    return screen


def _commands() -> "type[Provider]":
    from localrag_tui.shell.help import Commands

    return Commands


class Workbench(BaseApp):
    """The application; by default its engine, which answers questions, has its own process."""

    TITLE = "localrag"
    AUTO_FOCUS = None
    NOTIFICATION_TIMEOUT = 3
    CSS_PATH = sheets("bench")
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = {_commands}  # noqa: RUF012 - Textual's own
    MODES: ClassVar[dict[str, str | Callable[[], Screen[None]]]] = {
        mode: partial(_make, mode) for mode in SCREENS
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "show_help", N_("Help"), id="app.help", priority=True),
        *(
            Binding(
                entry.key,
                f"go('{mode}')",
                entry.title,
                id=f"app.{mode}",
                show=False,
                priority=True,
            )
            for mode, entry in SCREENS.items()
        ),
        Binding("ctrl+g,g", "jump", N_("Go to a provision"), id="app.jump", show=False),
        Binding("ctrl+b", "jobs", N_("Jobs"), id="app.jobs", show=False),
        Binding("f9", "overview", N_("Overview"), id="app.overview", show=False),
        Binding("f8", "settings", N_("Settings"), id="app.settings", show=False),
        Binding(
            "ctrl+p", "command_palette", N_("Commands"), id="app.palette", show=False, priority=True
        ),
        Binding("ctrl+q", "quit", N_("Quit"), id="app.quit", show=False, priority=True),
    ]

    def __init__(
        self,
        workspace: Workspace,
        overrides: Mapping[str, object] | None = None,
        *,
        engine: "Engine | None" = None,
    ) -> None:
        super().__init__()
        self.workspace = workspace
        self.overrides = overrides or {}
        self.jobs = Jobs()
        self._libraries: dict[tuple[str, str], Library] = {}
        self._engine = engine
        self._choices = workspace.home / "tui.json"
        known = look(workspace, self.overrides, self._choices)
        language.use(known.language or language.of_environment())
        for theme in THEMES.values():
            self.register_theme(theme)
        self.theme = THEMES.get(known.theme, THEMES["dark"]).name
        self._first = known.mode if known.mode in SCREENS else "ask"
        self._chosen_keys = known.keys
        keymap = {id_: normal(keys) for id_, keys in known.keys.items()}
        first = {one.id for one in self.BINDINGS if isinstance(one, Binding) and one.priority}
        self.keymap = {
            id_: keys
            for id_, keys in keymap.items()
            if usable(keys) and not (id_ in first and needed(keys, ()))
        }
        self.set_keymap(self.keymap)
        self._kept: dict[str, KeptState] = {}
        self._making_anew = asyncio.Lock()
        self._leaving_form: Screen[object] | None = None

    @cached_property
    def settings(self) -> "Settings":
        from localrag_tui.library import Settings

        return Settings(self.workspace, self.overrides, self.tell)

    @cached_property
    def memory(self) -> "Memory":
        from localrag_tui.library import Memory

        return Memory(self._choices, self.tell)

    @cached_property
    def engine(self) -> "Engine":
        from localrag_tui.work.engine import Engine

        return self._engine or Engine()

    @cached_property
    def conversations(self) -> "Keeper":
        from localrag_tui.library import Keeper

        return Keeper(self.workspace)

    @property
    def corpus(self) -> str:
        """The corpus in use: the chosen one, else the setting."""
        return self.memory.choices.corpus or self.settings.of().corpus

    @property
    def library(self) -> "Library":
        return self.library_of(self.corpus)

    def library_of(self, corpus: str, day: str = "") -> "Library":
        """A corpus, open for reading; `day` is an ISO date, or "" for the day of the settings."""
        from localrag_tui.library import Library

        def config() -> "Config":
            config = self.settings.of(corpus)
            if not day:
                return config
            retrieval = config.retrieval.model_copy(update={"as_of": day})
            return config.model_copy(update={"retrieval": retrieval})

        if (corpus, day) not in self._libraries:
            self._libraries[corpus, day] = Library(self.workspace, corpus, config)
        return self._libraries[corpus, day]

    def config(self) -> "Config":
        chosen, config = self.memory.choices, self.settings.of(self.corpus)
        if chosen.method is not None:
            method = config.method.model_copy(update={"name": chosen.method})
            config = config.model_copy(update={"method": method})
        if chosen.model is not None:
            chat = config.chat.model_copy(update={"model": chosen.model})
            config = config.model_copy(update={"chat": chat})
        return config.model_copy(update={"corpus": self.corpus})

    def add_styles(self, *names: str) -> None:
        """Read style sheets; Textual would parse every sheet again for each new one."""
        for path in sheets(*names):
            if not self.stylesheet.has_source(str(path)):
                self.stylesheet.read(path)
        self.stylesheet.parse()

    def on_mount(self) -> None:
        self.switch_mode(self._first)
        self.set_timer(0.5, self._warm)
        self.call_after_refresh(self._greet)

    def get_ready(self) -> None:
        """Leave at once if the settings are invalid; show the day of the law."""
        try:
            self.settings.of()
        except ConfigError as error:
            self.fail(error)
        else:
            # A dialogue may be in front.
            if isinstance(screen := self.screen_stack[0], WorkbenchScreen):
                screen.show_day()

    def go(self, mode: str) -> AwaitMount:
        mounted = self.switch_mode(mode)
        if kept := self._kept.pop(mode, None):
            cast("WorkbenchScreen", self.screen).restore_soon(kept)
        self.memory.remember(mode=mode)
        return mounted

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Refuse to leave a dialogue unanswered; on its own screen a screen's key is free."""
        if action in ("go", "jump", "jobs", "overview", "settings") and self.screen.is_modal:
            return False
        if action == "go" and parameters == (self.current_mode,):
            return False
        return super().check_action(action, parameters)

    def action_go(self, mode: str) -> None:
        self.go(mode)

    def open_spot(self, spot: Spot, *, beside: bool = False) -> None:
        """Show a place on the Read screen; with `beside`, in a second pane."""
        self.go("read")
        self.screen.post_message(OpenSpot(spot, beside=beside))

    def on_open_spot(self, event: OpenSpot) -> None:
        self.open_spot(event.spot)

    def action_jump(self) -> None:
        """Ask for a provision and go there, on this screen if it shows sources."""
        from localrag_tui.jump import JumpDialogue

        def show(spot: object) -> None:
            if isinstance(spot, Spot):
                self.screen.post_message(OpenSpot(spot))

        self.push_screen(JumpDialogue(), show)

    def copy(self, text: str) -> None:
        self.copy_to_clipboard(text)
        # A quotation ends with its citation.
        told = one_line(" ".join(text.split()))
        if cell_len(told) > _BEGINNING + 2 * _END:
            told = cut(told, _BEGINNING) + told[-_END:]
        count = _("{n:,} characters").format(n=len(text))
        self.notify(f"{told}\n{count}", title=_("Copied"), markup=False)

    def replaces(self, new: Notification, old: Notification) -> bool:
        return super().replaces(new, old) or new.title == old.title == _("Copied")

    def action_jobs(self) -> None:
        from localrag_tui.jobs import JobsDialogue

        self.push_screen(JobsDialogue())

    def action_overview(self) -> None:
        from localrag_tui.corpora.actions import show_overview

        self.run_worker(show_overview(self))

    def action_settings(self) -> None:
        from localrag_tui.shell.preferences import change_settings

        self.run_worker(change_settings(self))

    async def action_quit(self) -> None:
        """Leave; ask first while jobs run. Pressed again, leave at once."""
        running = self.jobs.running
        if not running or self.screen is self._leaving_form:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SETTLED_AFTER):
                    if isinstance(screen := self.screen_stack[0], WorkbenchScreen):
                        await screen.settle()
            self.exit()
            return
        from localrag_tui.shell.form import Form

        head = ngettext("{n} job is running.", "{n} jobs are running.", len(running))
        titles = "\n".join(f"· {one_line(job.title)}" for job in running)
        kept = _("They stop when you leave. Finished work is kept, and they can be resumed.")
        self._leaving_form = Form(
            head.format(n=len(running)),
            f"{titles}\n\n{kept}",
            go=_("Stop and leave"),
            leave=_("Stay"),
            danger=True,
        )
        self.push_screen(self._leaving_form, lambda agreed: None if agreed is None else self.exit())

    def action_help_quit(self) -> None:
        self.notify(_("{key} leaves.").format(key=key_of(self, "app.quit")))

    def action_show_help(self, *, changing_first: bool = False) -> None:
        """Show the purpose and the keys of the screen or dialogue in view; again, close it."""
        from localrag_tui.shell.help import Help, help_on

        screen = self.screen
        if isinstance(screen, Help):
            screen.action_leave()
        elif isinstance(screen, WorkbenchScreen | Dialogue):
            mode = screen.MODE if isinstance(screen, WorkbenchScreen) else ""
            keys, settings = screen.active_bindings, self.workspace.settings
            self.push_screen(help_on(screen, mode, keys, settings, changing_first=changing_first))

    def action_command_palette(self) -> None:
        from localrag_tui.shell.help import Palette

        if isinstance(self.screen, WorkbenchScreen | Dialogue):
            self.push_screen(Palette(self.screen.active_bindings_in_english))

    def get_key_display(self, binding: Binding) -> str:
        return binding.key_display or spelled(binding.key)

    async def make_screens_anew(self) -> None:
        """Rebuild all screens in the language in use; typed text and open places stay."""
        # One at a time: meanwhile the mode in view has an empty screen.
        async with self._making_anew:
            here = self.current_mode
            for mode in self.MODES:
                # A screen never visited has no stack.
                with suppress(KeyError):
                    for screen in self.get_screen_stack(mode):
                        if isinstance(screen, WorkbenchScreen):
                            self._kept[mode] = screen.kept()
            self.add_mode("between", Screen)
            await self.switch_mode("between")
            for mode, make in self.MODES.items():
                await self.remove_mode(mode)
                self.add_mode(mode, make)
            await self.go(here)
            await self.remove_mode("between")

    async def shut_down(self) -> None:
        await self.jobs.close()
        if "engine" in self.__dict__:
            await self.engine.close()
        if "conversations" in self.__dict__:
            await self.conversations.close()
        for library in self._libraries.values():
            await library.close()
        self._libraries.clear()
        if "memory" in self.__dict__:
            await asyncio.to_thread(self.memory.close)

    async def _greet(self) -> None:
        from localrag_tui.corpora.actions import greet
        from localrag_tui.jobs import announce

        announce(self)
        if self._chosen_keys:
            self.run_worker(self._check_keys())
        await greet(self)

    async def _warm(self) -> None:
        for name in SHEETS:
            self.add_styles(name)
            await asyncio.sleep(0)
        await self.engine.warm()

    async def _check_keys(self) -> None:
        from localrag_tui.shell.keys import objections

        found = await asyncio.to_thread(objections, self._chosen_keys)
        # Only now are the keys refused by actions of screens known.
        for objection in found:
            if objection.refused:
                self.keymap.pop(objection.id, None)
        self.set_keymap(self.keymap)
        told = [f"{one.cause} {one.cure}" for one in found[:_MOST_WRONG_KEYS]]
        if more := len(found) - len(told):
            told.append(_("{n} more").format(n=more))
        if told:
            self.notify(
                "\n".join(map(abridged, told)),
                title=_("Keys in {file} (tui.keys)").format(file=self.workspace.settings.name),
                severity="warning",
                markup=False,
                timeout=_READ_WRONG_KEYS,
            )
