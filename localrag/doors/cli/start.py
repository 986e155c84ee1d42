"""The start of the command `localrag`: the workbench opens at once, other verbs through `main`.

`main` imports Typer and Pydantic. With them the first paint of the workbench comes a third later.
"""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from localrag.corpus.workspace import Workspace, collect, parse_assignments
from localrag.errors import LocalragError, UsageError
from localrag.language import LANGUAGES, N_, of_environment, use

# Objects made before Python looks for cycles among them.
_OBJECTS = 50_000


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; `arguments` default to the process's own.

    Errors are shown, never raised; the environment variable LOCALRAG_DEBUG=1 adds their traceback.
    """
    # Looking for plugins in every installed package takes as long as reading the settings.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Importing makes many objects and little garbage: look for it less often than every 700.
    gc.set_threshold(_OBJECTS)
    words = list(sys.argv[1:] if arguments is None else arguments)
    match words:
        case ["tui"]:
            home = None
        case ["--home", folder, "tui"]:
            home = Path(folder)
        case _:
            # `main` imports this module: an import by name makes no cycle.
            return int(import_module("localrag.doors.cli.main").run(words))
    try:
        open_workbench(home, {})
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - `main` shows every error
        use(language_of(home))
        return int(import_module("localrag.doors.cli.main").tell_failure(error))
    return 0


def open_workbench(home: Path | None, overrides: Mapping[str, object]) -> None:
    """Open the workbench in the terminal; raises LocalragError.

    `home` is the folder of the workspace, made if it does not exist; None for the user's own.
    `overrides` are settings of the command line, by dotted key.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            N_("The workbench needs a terminal."),
            N_("For scripts there are the other verbs: localrag --help"),
        )
    # Importing makes objects and no garbage.
    gc.disable()
    # Searching threads give way to painting sooner: 5 ms are a third of a frame.
    sys.setswitchinterval(0.001)
    # Frames per second: hits come just after a typed character, and should not wait for the next
    # frame.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    workspace = Workspace.locate(home)
    if not workspace.settings.exists():
        wanted = str(overrides.get("language"))
        use(wanted if wanted in LANGUAGES else of_environment())
    workspace.init()
    # The application is above localrag.
    import_module("localrag_tui.app").run(workspace, overrides)


def overrides(assignments: Sequence[str], lang: str) -> dict[str, object]:
    """The settings of a command line, by dotted key; raises UsageError."""
    given: dict[str, object] = {**parse_assignments(assignments)}
    if lang:
        if lang not in LANGUAGES:
            raise UsageError(
                N_("There is no language {code!r}."),
                N_("There is: {codes}."),
                code=lang,
                codes=", ".join(LANGUAGES),
            )
        given["language"] = lang
    return given


def language_of(home: Path | None = None, assignments: Sequence[str] = (), lang: str = "") -> str:
    """The language of a call: its own, else of the settings, else of the environment."""
    wanted: object = None
    # The verb shows problems of the settings.
    with suppress(LocalragError):
        settings = collect(Workspace.locate(home), overrides(assignments, lang))
        wanted, _source = settings.get("language", (None, ""))
    return str(wanted) if wanted in LANGUAGES else of_environment()
