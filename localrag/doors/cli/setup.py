"""``localrag config`` and ``localrag doctor``: how localrag is set up, and what is wrong."""

import json
from dataclasses import asdict
from itertools import chain
from typing import Annotated

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import CorpusName, Json
from localrag.doors.cli.terminal import colon, emit, say, say_text, table
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_, _

_SOURCES = {"default": N_("default"), "flag": N_("flag")}
"""Where a value comes from, if neither a file nor a variable says so."""


@verb(
    app,
    "config",
    examples=[
        "localrag config",
        "localrag config retrieval.k",
        "localrag --set retrieval.k=5 config",
    ],
    exit_codes=(0, 2, 5),
)
def config(
    context: typer.Context,
    key: Annotated[
        str, typer.Argument(metavar="SETTING", help="Show only this setting.", show_default=False)
    ] = "",
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Show the settings and where each value comes from.

    A corpus can have settings of its own for retrieval (localrag tune-retrieval writes them); those
    of the corpus in use are shown.

    Change one in localrag.toml in the workspace, in the environment (LOCALRAG_RETRIEVAL__K=5), or
    for one call with --set.
    """
    from localrag.corpus.config import explain

    session: Session = context.obj
    workspace = session.workspace
    settings = explain(
        workspace, session.overrides, workspace.corpus(corpus or session.config().corpus)
    )
    if key:
        settings = [setting for setting in settings if setting.key == key]
        if not settings:
            raise UsageError(
                N_("There is no setting {key!r}."),
                N_("localrag config lists them."),
                key=key,
            )
    if as_json:
        emit(
            [
                {"key": one.key, "value": one.value, "source": one.source, "help": _(one.help)}
                for one in settings
            ]
        )
    else:
        table(
            (_("setting"), _("value"), _("comes from"), _("meaning")),
            [
                (one.key, _written(one.value), _(_SOURCES.get(one.source, one.source)), _(one.help))
                for one in settings
            ],
        )
        say((_("file: "), "dim"), (str(workspace.settings), "dim"))


def _written(value: object) -> str:
    """A value as it is written in localrag.toml, a text without its quotation marks."""
    return value if isinstance(value, str) else json.dumps(value)


@verb(
    app,
    "doctor",
    examples=[
        "localrag doctor",
        "localrag --home /data/law doctor --json",
        "localrag doctor --mend",
        "localrag doctor --offline",
    ],
    exit_codes=(0, 5),
)
def doctor(
    context: typer.Context,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Show that nothing goes out: work without a network."),
    ] = False,
    mend: Annotated[
        bool,
        typer.Option(
            "--mend",
            help="First give a database its checksums again, if all it holds is as stored.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Find out what is wrong, and the command that mends it.

    Checks the installation, the workspace, and every store and index byte by byte. Each thing
    that is wrong comes with the command that mends it.
    """
    if offline:
        _prove_offline(as_json=as_json)
        return
    from rich.cells import set_cell_size

    from localrag.ops.doctor import Finding, Health, examine
    from localrag.ops.doctor import mend as mend_databases

    shown = {
        Health.GOOD: (N_("good"), "green"),
        Health.ABSENT: (N_("absent"), "dim"),
        Health.WARNING: (N_("warning"), "yellow"),
        Health.BROKEN: (N_("broken"), "bold red"),
    }
    session: Session = context.obj
    findings: list[Finding] = []
    mended = mend_databases(session.workspace) if mend else ()
    for finding in chain(mended, examine(session.workspace, session.overrides)):
        findings.append(finding)
        if not as_json:
            health, style = shown[finding.health]
            say(
                (set_cell_size(_(health), 8), style),
                (finding.title, "bold"),
                f"{colon()}{finding.detail}",
            )
            if finding.cure:
                say((str(finding.cure), "bold"), indent=8)
    if as_json:
        emit(
            [
                {
                    "check": f.check,
                    "health": f.health.value,
                    "detail": str(f.detail),
                    "cure": str(f.cure),
                }
                for f in findings
            ]
        )
    if any(finding.health is Health.BROKEN for finding in findings):
        raise typer.Exit(5)


def _prove_offline(*, as_json: bool) -> None:
    """Print what was tried without a network.

    Raises:
        typer.Exit: something failed there, or tried to go out.
    """
    from localrag.ops.offline import STEPS, prove

    proof = prove()
    if as_json:
        emit({"holds": proof.holds, **asdict(proof)})
    else:
        say(
            _("Tried in a process whose network holds nothing:")
            if proof.isolated
            else _("Tried in a process whose sockets were refused:")
        )
        for step in proof.steps:
            problem = step.problem or ", ".join(step.sockets)
            style = "bold red" if problem else "green"
            say((_("failed") if problem else _("done"), style), f"  {_(STEPS[step.name])}")
            if problem:
                say_text(problem, indent=8)
    if not proof.holds:
        raise typer.Exit(5)
