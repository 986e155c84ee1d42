"""``localrag doctor``: what is wrong, and the command that mends it."""

import typer

from localrag.cli.session import Json
from localrag.cli.terminal import emit, say
from localrag.cli.verbs import verb
from localrag.cli.wording import colon
from localrag.language import N_, _
from localrag.session import Session


def register(app: typer.Typer) -> None:
    """Add the verb to `app`."""
    verb(
        app,
        "doctor",
        examples=["localrag doctor", "localrag --home /data/law doctor --json"],
        exit_codes=(0, 5),
    )(doctor)


def doctor(context: typer.Context, as_json: Json = False) -> None:
    """Find out what is wrong, and the command that mends it.

    Checks the installation, the workspace, and every store and index byte by byte. Each thing
    that is wrong comes with the command that mends it.
    """
    from rich.cells import set_cell_size

    from localrag.doctor import Finding, Health, examine

    shown = {
        Health.GOOD: (N_("good"), "green"),
        Health.ABSENT: (N_("absent"), "dim"),
        Health.WARNING: (N_("warning"), "yellow"),
        Health.BROKEN: (N_("broken"), "bold red"),
    }
    session: Session = context.obj
    findings: list[Finding] = []
    for finding in examine(session.workspace, session.overrides):
        findings.append(finding)
        if not as_json:
            health, style = shown[finding.health]
            say(
                (set_cell_size(_(health), 8), style),
                (finding.title, "bold"),
                f"{colon()}{finding.detail}",
            )
            if finding.cure:
                say((finding.cure, "bold"), indent=8)
    if as_json:
        emit(
            [
                {
                    "check": f.check,
                    "health": f.health.value,
                    "detail": str(f.detail),
                    "cure": f.cure,
                }
                for f in findings
            ]
        )
    if any(finding.health is Health.BROKEN for finding in findings):
        raise typer.Exit(5)
