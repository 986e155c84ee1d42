"""``localrag tui``: the terminal workbench."""

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.start import open_workbench
from localrag.doors.session import Session


@verb(
    app,
    "tui",
    examples=["localrag tui", "localrag --lang ja tui"],
    exit_codes=(0, 2, 5, 7),
)
def tui(context: typer.Context) -> None:
    """Open the workbench: ask, read, search, watch runs and models, all in the terminal.

    F1 shows the keys of every screen. What is done there is kept as it is done: conversations,
    choices and runs are there again after a crash. A workspace that does not exist is made.
    """
    session: Session = context.obj
    session.config()  # What is wrong with a setting is told before anything is painted.
    open_workbench(session.workspace.home, session.overrides)
