"""``localrag init``: a workspace to work in."""

import typer

from localrag.cli.session import Json
from localrag.cli.terminal import emit, say
from localrag.cli.verbs import verb
from localrag.language import _
from localrag.session import Session


def register(app: typer.Typer) -> None:
    """Add the verb to `app`."""
    verb(
        app,
        "init",
        examples=["localrag init", "localrag --home /data/law init"],
        exit_codes=(0, 5, 7),
    )(init)


def init(context: typer.Context, as_json: Json = False) -> None:
    """Make the workspace, the folder that holds everything.

    Corpora, indexes and settings lie in it. Where it is comes from --home, from the environment
    variable LOCALRAG_HOME, or is the user's data folder. Running it again changes nothing. The
    folder can be copied to another machine.
    """
    session: Session = context.obj
    workspace = session.workspace
    workspace.init()
    if as_json:
        emit({"workspace": str(workspace.home)})
    else:
        say(_("workspace "), (str(workspace.home), "bold"))
        say(
            _("Next, add documents: "),
            (_("localrag add PATH"), "bold"),
            _(" or "),
            ("--sample", "bold"),
        )
