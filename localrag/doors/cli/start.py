"""Where the command `localrag` begins: the workbench opens at once, every other verb by `main`.

Reading a command line as `main` does imports so much (Typer, and Pydantic for it) that the first
paint of the workbench, which is waited for, would come a third later.
"""

import argparse
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from localrag.corpus.workspace import collect, parse_assignments
from localrag.errors import LocalragError, UsageError
from localrag.language import LANGUAGES, N_, of_environment, use

# Objects made before Python looks for cycles among them.
_OBJECTS = 50_000


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; `arguments` default to those of the process.

    Errors are shown, never raised; the environment variable LOCALRAG_DEBUG=1 adds their traceback.
    """
    # Looking for plugins in every installed package takes as long as reading the settings.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Importing and reading make many objects and next to no garbage: Python looks for some less
    # often than after every 700.
    gc.set_threshold(_OBJECTS)
    words = sys.argv[1:] if arguments is None else arguments
    given = options(words)
    # A setting of this call is validated first, which imports as much.
    if given is None or given.verb != "tui" or given.unknown or given.set:
        # `main` imports this module: an import by its name leaves no cycle at the head.
        return int(import_module("localrag.doors.cli.main").run(words))
    try:
        open_workbench(given.home, overrides((), given.lang))
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - `main` tells it as any other
        use(language_of(words))
        return int(import_module("localrag.doors.cli.main").tell_failure(error))
    return 0


def open_workbench(home: Path | None, overrides: Mapping[str, object]) -> None:
    """Open the workbench in the terminal, until it is left.

    Args:
        home: the folder of the workspace, which is made where it does not exist; None for the
            user's own.
        overrides: settings of the command line, by dotted key.

    Raises:
        UsageError: there is no terminal.
        LocalragError: what keeps it from opening.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            N_("The workbench needs a terminal, and there is none."),
            N_("For scripts there are the other verbs: localrag --help"),
        )
    # Importing makes no garbage, but many objects to look through for some; the workbench sees to
    # its own.
    gc.disable()
    # What reads and searches in a thread gives way sooner to what paints: 5 ms are a third of a
    # frame, and are waited for several times in one.
    sys.setswitchinterval(0.001)
    # Frames in a second: what comes just after one is not painted before the next, and the hits of
    # a search come just after the character that was typed.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from localrag.corpus.workspace import Workspace

    workspace = Workspace.locate(home)
    if not workspace.settings.exists():
        wanted = str(overrides.get("language"))
        use(wanted if wanted in LANGUAGES else of_environment())
    workspace.init()
    # The application stands above localrag, and is reached from its command line alone.
    import_module("localrag_tui.app").run(workspace, overrides)


class Options(argparse.Namespace):
    """What stands on a command line before its verb.

    Attributes:
        homes, langs: the values of --home and --lang, one at most.
        home: the folder of the workspace; None where none is named.
        set: settings of this call, as they are written.
        lang: the language; "" where none is named.
        verb: None where there is none.
        unknown: what follows the verb, and what is not known.
    """

    homes: list[Path]
    home: Path | None
    set: list[str]
    langs: list[str]
    lang: str
    verb: str | None
    unknown: list[str]


def options(words: Sequence[str]) -> Options | None:
    """Read ``[--home FOLDER] [--set KEY=VALUE]… [--lang CODE] VERB …``; None for another line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--home", type=Path, action="append", dest="homes", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--lang", action="append", dest="langs", default=[])
    parser.add_argument("verb", nargs="?")
    parser.add_argument("unknown", nargs=argparse.REMAINDER)
    try:
        found, unknown = parser.parse_known_args(words, Options())
    except argparse.ArgumentError:
        return None
    if max(len(found.homes), len(found.langs)) > 1:
        return None  # Typer's own reading refuses it.
    variable = os.environ.get("LOCALRAG_HOME")
    found.home = found.homes[0] if found.homes else Path(variable) if variable else None
    found.lang = "".join(found.langs)
    found.unknown = [*unknown, *found.unknown]
    return found


def overrides(assignments: Sequence[str], lang: str) -> dict[str, object]:
    """The settings of a command line, by dotted key.

    Raises:
        UsageError: one is no assignment, or there is no such language.
    """
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


def language_of(words: Sequence[str]) -> str:
    """The language of this call: as it says, else as the settings, else as the environment does."""
    from localrag.corpus.workspace import Workspace

    given = options(words)
    wanted: object = None
    # What is wrong with these is told by what needs them.
    with suppress(LocalragError):
        named = overrides(given.set, given.lang) if given else {}
        wanted, _source = collect(Workspace.locate(given.home if given else None), named).get(
            "language", (None, "")
        )
    return str(wanted) if wanted in LANGUAGES else of_environment()
