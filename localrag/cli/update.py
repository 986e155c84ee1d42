"""``localrag update``: the laws of a newer archive taken into a corpus, and taken back."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.cli.main import app, verb
from localrag.cli.options import CorpusName, Json
from localrag.cli.terminal import aside, colon, confirm, emit, say, tell
from localrag.errors import UsageError
from localrag.language import N_, _, ngettext
from localrag.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from localrag.ingest.update import LawChange, UpdateReport

# Of each kind on a screen; --json has all.
_SHOWN = 20
_HEADINGS = {
    "added": N_("added"),
    "amended": N_("amended, a further state"),
    "corrected": N_("corrected, another text of the same state"),
    "repealed": N_("repealed, not in the archive any more"),
    "withdrawn": N_("withdrawn, a state that was to come"),
}
"""What `LawChangeKind` says."""
_UNDOING = {
    "added": N_("out again, added by the update"),
    "amended": N_("out again, a further state added by the update"),
    "corrected": N_("with the text from before the update again"),
    "repealed": N_("back again, removed by the update"),
    "withdrawn": N_("back again, a state to come removed by the update"),
}
"""The same of an update that is taken back."""


@verb(
    app,
    "update",
    examples=[
        "localrag update all_xml.zip --dry-run",
        "localrag update all_xml.zip --whole",
        "localrag update ~/egov/new --corpus law",
        "localrag update --undo",
    ],
    exit_codes=(0, 2, 3, 4, 5, 6, 7, 8, 130),
)
def update(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="The archive: e-Gov's zip, a folder of its files, or some of them.",
            readable=False,
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="The archive has all laws in force: remove those that it lacks."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would change, and change nothing.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last update back.")] = False,
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links",
            help="Follow links inside the folders, wherever they lead; else they are named.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before laws are removed.")
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Bring the laws of a corpus up to date by a newer archive.

    Laws that the corpus lacks are added; of an amended law the new state stands beside the older
    ones; another text of a state that is there takes its place. What is no law stays as it is.
    A law that the archive lacks is removed only with --whole, and after a question.

    All of it happens, or nothing does, also if the process is killed; then the index is brought up
    to date. The last update can be taken back with --undo.
    """
    if undo == bool(paths) or (undo and whole):
        raise UsageError(
            N_("Name an archive, or take the last update back with --undo."),
            N_("localrag update --help"),
        )
    from localrag.cli.render_ingest import (
        print_index_report,
        report_as_json,
        shown_events,
    )

    session: Session = context.obj
    opened = session.corpus(corpus).require()
    if undo:
        report = opened.undo_update(dry_run=dry_run)
    else:
        taken = partial(
            opened.update,
            *(paths or []),
            whole=whole,
            dry_run=dry_run,
            follow_links=follow_links,
            workers=0,
        )
        report = _update(taken, ask=not (yes or dry_run))
    if not as_json:
        _print(opened.name, report)
    indexed = None
    if not dry_run:
        # Also where nothing changed: what a kill left behind is brought up to date.
        with shown_events() as listener:
            indexed = opened.index(workers=0, on_event=listener)
    if as_json:
        told = indexed and report_as_json(opened.name, indexed)
        emit({**report_as_json(opened.name, report), "index": told})
    elif indexed:
        print_index_report(opened.name, indexed)
    if report.failures or (indexed and indexed.failed):
        raise typer.Exit(4)


def _update(update: "Callable[..., UpdateReport]", *, ask: bool) -> "UpdateReport":
    """Run an update, and ask before laws are removed where that is wanted."""
    from localrag.cli.render_ingest import shown_events
    from localrag.ingest.update import REMOVING

    with ExitStack() as showing:
        listener = showing.enter_context(shown_events())

        def before(report: "UpdateReport") -> None:
            showing.close()
            removed = [change for kind in REMOVING for change in report.laws(kind)]
            if not (removed and ask):
                return
            for change in removed[:_SHOWN]:
                tell(_law(change))
            question = ngettext(
                "Remove {n:,} law that the archive lacks?",
                "Remove {n:,} laws that the archive lacks?",
                len(removed),
            )
            refused = N_("Nothing was changed.")
            confirm(question.format(n=len(removed)), yes=False, refused=refused)

        return update(before=before, on_event=listener)


def _print(corpus: str, report: "UpdateReport") -> None:
    from localrag.cli.render_ingest import print_failures, print_left_out
    from localrag.ingest.update import LawChangeKind

    for kind in LawChangeKind:
        states = [change for change in report.changes if change.kind is kind]
        if states:
            number = f"{len(report.laws(kind)):,}"
            headings = _UNDOING if report.made else _HEADINGS
            say((_(headings[kind.value]), "bold"), colon(), number)
        for change in states[:_SHOWN]:
            say(_law(change), indent=2)
        if len(states) > _SHOWN:
            say(_("… and {n:,} more; --json has all").format(n=len(states) - _SHOWN), indent=2)
    print_left_out(report)
    if report.no_laws:
        words = _("left out, no laws: {n:,}")
        say(words.format(n=report.no_laws))
    print_failures(report.failures)
    say(_outcome(corpus, report))
    if report.undo_bytes:
        words = _("To take it back: {verb} (for that {size:,.1f} MB stay on the disk)")
        verb = f"localrag update --undo --corpus {corpus}"
        say(words.format(verb=verb, size=report.undo_bytes / 1e6))


def _outcome(corpus: str, report: "UpdateReport") -> str:
    """What was done in all, or would be."""
    n = len(report.changes)
    if not report.changes:
        words = _("corpus {corpus}: nothing to change; {unchanged:,} texts are as in the archive")
    elif report.made:
        words = (
            _(
                "corpus {corpus}: the update of {made} is taken back; {n:,} texts are as they were "
                "before it"
            )
            if report.applied
            else _(
                "corpus {corpus}: taking the update of {made} back would change {n:,} texts; "
                "nothing was changed yet"
            )
        )
    elif report.applied:
        words = ngettext(
            "corpus {corpus}: {n:,} text changed, {unchanged:,} unchanged ({seconds:.1f} s)",
            "corpus {corpus}: {n:,} texts changed, {unchanged:,} unchanged ({seconds:.1f} s)",
            n,
        )
    else:
        words = ngettext(
            "corpus {corpus}: {n:,} text would change, {unchanged:,} would not",
            "corpus {corpus}: {n:,} texts would change, {unchanged:,} would not",
            n,
        )
    return words.format(
        corpus=corpus,
        n=n,
        unchanged=report.unchanged,
        made=report.made,
        seconds=report.seconds,
    )


def _law(change: "LawChange") -> str:
    """A law with its id, and from when to when the text is that came, went or changed."""
    days = " → ".join(filter(None, (change.earlier, change.state)))
    return f"{change.title}{aside(', '.join(filter(None, (change.law_id, days))))}"
