"""``localrag tui``: the terminal workbench."""

import sys

import typer

from localrag.cli.session import Session
from localrag.cli.verbs import verb
from localrag.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the verb to `app`."""
    verb(
        app,
        "tui",
        examples=["localrag tui", "localrag --set tui.language=ja tui"],
        exit_codes=(0, 2, 5, 7),
    )(tui)


def tui(context: typer.Context) -> None:
    """Open the workbench: ask, read, search, watch runs and models, all in the terminal.

    F1 shows the keys of every screen. What is done there is kept as it is done: conversations,
    choices and runs are there again after a crash. A workspace that does not exist is made.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "The workbench needs a terminal, and there is none.",
            "For scripts there are the other verbs: localrag --help",
        )
    # The application stands above localrag, and is reached from its command line alone.
    from importlib import import_module

    session: Session = context.obj
    workspace = session.locate()
    workspace.init()
    session.config()
    import_module("localrag_tui.app").run(workspace, session.overrides)
