"""The workbench: its screens, and the services they share."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, cast

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.notifications import Notification
from textual.screen import Screen
from textual.widget import AwaitMount

from localrag import language
from localrag.errors import ConfigError
from localrag.language import N_, _, ngettext
from localrag.workspace import Workspace
from localrag_tui.screen import Dialogue, Kept, WorkbenchScreen
from localrag_tui.screens import SCREENS
from localrag_tui.shell.base import BaseApp, abridged
from localrag_tui.shell.keys import key_of, needed, normal, spelled, usable
from localrag_tui.shell.look import SHEETS, THEMES, look, sheets
from localrag_tui.shown import cut, one_line
from localrag_tui.spot import OpenSpot, Spot
from localrag_tui.work.jobs import Jobs

if TYPE_CHECKING:
    # What stands here is imported when it is needed: the first paint needs none of it.
    from textual.command import Provider

    from localrag.config import Config
    from localrag_tui.library import Keeper, Library
    from localrag_tui.memory import Memory
    from localrag_tui.shell.settings import Settings
    from localrag_tui.work.engine import Engine


# Cells of the beginning of what was copied that are told, and characters of its end.
_BEGINNING, _END = 60, 30
# Seconds in which what was sent with the last keys is written down, before the end.
_SETTLED_AFTER = 3.0
# Wrong keys of the settings that are told at once, and the seconds for which they are.
_MOST_WRONG_KEYS, _READ_WRONG_KEYS = 4, 30.0


def run(workspace: Workspace, overrides: Mapping[str, object]) -> None:
    """Open the workbench in the terminal, until the user leaves it.

    Raises:
        Exception: what ended it in the place of the user; the terminal is as it was before.
    """
    bench = Workbench(workspace, overrides)
    bench.run()
    if error := bench.broken:
        raise error


def _commands() -> "type[Provider]":
    from localrag_tui.shell.commands import Commands

    return Commands


class Workbench(BaseApp):
    """The application.

    Args:
        workspace: an existing one.
        overrides: settings of the command line, by dotted key.
        engine: what answers; without one, a process of its own.

    Attributes:
        jobs: what runs beside.
        keymap: the keys that the settings give, by action; what cannot be one is left out.
    """

    TITLE = "localrag"
    AUTO_FOCUS = None
    NOTIFICATION_TIMEOUT = 3
    CSS_PATH = sheets("bench")
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = {_commands}  # noqa: RUF012 - Textual's own
    MODES: ClassVar[dict[str, str | Callable[[], Screen[None]]]] = {
        mode: entry.make for mode, entry in SCREENS.items()
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
        self._kept: dict[str, Kept] = {}
        self._making_anew = asyncio.Lock()
        self._leaving_form: Screen[object] | None = None

    @cached_property
    def settings(self) -> "Settings":
        """What the files of the workspace and the command line say."""
        from localrag_tui.shell.settings import Settings

        return Settings(self.workspace, self.overrides, self.tell)

    @cached_property
    def memory(self) -> "Memory":
        """What the user has chosen."""
        from localrag_tui.memory import Memory

        return Memory(self._choices, self.tell)

    @cached_property
    def engine(self) -> "Engine":
        """What answers."""
        from localrag_tui.work.engine import ProcessEngine

        return self._engine or ProcessEngine()

    @cached_property
    def conversations(self) -> "Keeper":
        """The conversations of the workspace."""
        from localrag_tui.library import Keeper

        return Keeper(self.workspace)

    @property
    def corpus(self) -> str:
        """The corpus in use: the one chosen, else the one of the settings."""
        return self.memory.choices.corpus or self.settings.of().corpus

    @property
    def library(self) -> "Library":
        """The corpus in use, open for reading."""
        return self.library_of(self.corpus)

    def library_of(self, corpus: str, day: str = "") -> "Library":
        """A corpus, open for reading; it stays open.

        Args:
            corpus: its name.
            day: the day (ISO) whose law is read; "" for that of the settings.
        """
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
        """The settings that hold now, with the corpus, method and model that were chosen."""
        chosen, config = self.memory.choices, self.settings.of(self.corpus)
        if chosen.method is not None:
            method = config.method.model_copy(update={"name": chosen.method})
            config = config.model_copy(update={"method": method})
        if chosen.model is not None:
            chat = config.chat.model_copy(update={"model": chosen.model})
            config = config.model_copy(update={"chat": chat})
        return config.model_copy(update={"corpus": self.corpus})

    def add_styles(self, *names: str) -> None:
        """Read style sheets; Textual itself would parse all sheets again for each new one."""
        new = [path for path in sheets(*names) if not self.stylesheet.has_source(str(path))]
        self.stylesheet.read_all(new)
        self.stylesheet.parse()

    def on_mount(self) -> None:
        self.switch_mode(self._first)
        self.set_timer(0.5, self._warm)
        self.call_after_refresh(self._greet)

    def get_ready(self) -> None:
        """Leave at once with settings that are not valid; tell the day whose law they show."""
        try:
            self.settings.of()
        except ConfigError as error:
            self.fail(error)
        else:
            # A dialogue may lie over it by now.
            if isinstance(screen := self.screen_stack[0], WorkbenchScreen):
                screen.show_day()

    def go(self, mode: str) -> AwaitMount:
        """Go to a screen; a message told before it is mounted may not be shown."""
        mounted = self.switch_mode(mode)
        if kept := self._kept.pop(mode, None):
            cast("WorkbenchScreen", self.screen).restore_soon(kept)
        self.memory.remember(mode=mode)
        return mounted

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action can be done: a dialogue is answered or left before one goes on.

        Where one is already, the key of the screen is free for the screen itself.
        """
        if action in ("go", "jump", "jobs", "overview", "settings") and self.screen.is_modal:
            return False
        if action == "go" and parameters == (self.current_mode,):
            return False
        return super().check_action(action, parameters)

    def action_go(self, mode: str) -> None:
        self.go(mode)

    def open_spot(self, spot: Spot, *, beside: bool = False) -> None:
        """Show a place on the Read screen; `beside`, in two panes."""
        self.go("read")
        self.screen.post_message(OpenSpot(spot, beside=beside))

    def on_open_spot(self, event: OpenSpot) -> None:
        self.open_spot(event.spot)

    def action_jump(self) -> None:
        """Ask for a provision, and go there: on the screen in view, if it shows sources."""
        from localrag_tui.jump import JumpDialogue

        def show(spot: object) -> None:
            if isinstance(spot, Spot):
                self.screen.post_message(OpenSpot(spot))

        self.push_screen(JumpDialogue(), show)

    def copy(self, text: str) -> None:
        """Put a text into the clipboard of the terminal, and show what was copied."""
        self.copy_to_clipboard(text)
        # A quotation ends with its place.
        told = one_line(" ".join(text.split()))
        if cell_len(told) > _BEGINNING + 2 * _END:
            told = cut(told, _BEGINNING) + told[-_END:]
        count = _("{n:,} characters").format(n=len(text))
        self.notify(f"{told}\n{count}", title=_("Copied"), markup=False)

    def replaces(self, new: Notification, old: Notification) -> bool:
        """Whether a message makes one before obsolete: of what was copied only the last is told."""
        return super().replaces(new, old) or new.title == old.title == _("Copied")

    def action_jobs(self) -> None:
        from localrag_tui.jobs.view import JobsDialogue

        self.push_screen(JobsDialogue())

    def action_overview(self) -> None:
        """Show what is in the corpus in use; go on with what is chosen of it."""
        from localrag_tui.overview import show_overview

        self.run_worker(show_overview(self))

    def action_settings(self) -> None:
        """Change what people change most: language, theme, model, how is searched."""
        from localrag_tui.shell.preferences import change_settings

        self.run_worker(change_settings(self))

    async def action_quit(self) -> None:
        """Leave; where something runs it is asked first, and a second time means it."""
        running = self.jobs.running
        if not running or self.screen is self._leaving_form:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SETTLED_AFTER):
                    if isinstance(screen := self.screen_stack[0], WorkbenchScreen):
                        await screen.settle()
            self.exit()
            return
        from localrag_tui.widgets.form import Form

        head = ngettext("{n} job is running.", "{n} jobs are running.", len(running))
        titles = "\n".join(f"· {one_line(job.title)}" for job in running)
        kept = _(
            "They stop when you leave. What they have finished is kept, and they can be resumed."
        )
        self._leaving_form = Form(
            head.format(n=len(running)),
            f"{titles}\n\n{kept}",
            go=_("Stop and leave"),
            leave=_("Stay"),
            danger=True,
        )
        self.push_screen(self._leaving_form, lambda agreed: None if agreed is None else self.exit())

    def action_help_quit(self) -> None:
        """Tell those who press Ctrl+C how to leave."""
        self.notify(_("{key} leaves.").format(key=key_of(self, Workbench, "app.quit")))

    def action_show_help(self, *, changing_first: bool = False) -> None:
        """Show what the screen or dialogue in view is for, and its keys; again, leave that."""
        from localrag_tui.shell.help import Help, help_on

        screen = self.screen
        if isinstance(screen, Help):
            screen.action_leave()
        elif isinstance(screen, WorkbenchScreen | Dialogue):
            mode = screen.MODE if isinstance(screen, WorkbenchScreen) else ""
            keys, settings = screen.active_bindings, self.workspace.settings
            self.push_screen(help_on(screen, mode, keys, settings, changing_first=changing_first))

    def action_command_palette(self) -> None:
        """Show every command by its name."""
        from localrag_tui.shell.commands import Palette

        if isinstance(self.screen, WorkbenchScreen | Dialogue):
            self.push_screen(Palette(self.screen.active_bindings_in_english))

    def get_key_display(self, binding: Binding) -> str:
        """A key as it stands on a keyboard."""
        return binding.key_display or spelled(binding.key)

    async def make_screens_anew(self) -> None:
        """Show everything in another language; what was typed and read stays."""
        # One after the other: while one goes on, the mode shown has an empty screen.
        async with self._making_anew:
            here = self.current_mode
            for mode in self.MODES:
                # A screen that nobody has gone to yet has no stack.
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
        """End every process and close every corpus."""
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
        from localrag_tui.jobs.view import announce

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
        # What the actions of screens cannot have is known only now.
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
