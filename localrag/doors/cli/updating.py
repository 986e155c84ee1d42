"""The verbs `update` and `watch`: a corpus follows newer texts."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import CorpusName, Json
from localrag.doors.cli.terminal import (
    confirm,
    emit,
    say,
    say_text,
    tell,
    tell_note,
)
from localrag.doors.session import Corpus, Session
from localrag.errors import BusyError, NotFoundError, UsageError
from localrag.language import N_, _, aside, colon, ngettext

if TYPE_CHECKING:
    from collections.abc import Callable

    from localrag.corpus.ingest.update import LawChange, UpdateReport

Made = TypeVar("Made")


# Of each kind on a screen; --json has all.
_SHOWN = 20
_CHANGES = {
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
    "watch",
    examples=[
        "localrag watch ~/cases --corpus firm",
        "localrag watch /mnt/share/cases --corpus firm --poll 60",
        "localrag watch ~/cases --service > ~/.config/systemd/user/localrag-watch.service",
    ],
    exit_codes=(0, 2, 3, 5, 7, 130),
)
def watch(
    context: typer.Context,
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER", help="Folders, watched to the bottom.")
    ],
    every: Annotated[
        int,
        typer.Option(
            "--every",
            metavar="MINUTES",
            min=1,
            help="Look through all files at least this often, changed or not.",
        ),
    ] = 10,
    poll: Annotated[
        int,
        typer.Option(
            "--poll",
            metavar="SECONDS",
            min=0,
            help="For network drives: look for changes this often. 0: the system reports them.",
        ),
    ] = 0,
    service: Annotated[
        bool,
        typer.Option("--service", help="Print a unit for systemd with these options, and end."),
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """New, changed, renamed and removed files follow within seconds, after a burst of changes is
    over. Only changed files are read. Documents of removed files leave the corpus.

    Files that cannot be read are listed, and tried again after each change. If another process is
    writing to the corpus, this waits. It ends with Ctrl-C; the next start takes in missed changes.
    """
    from localrag.ops.watching import FolderWatch, unit

    session: Session = context.obj
    if service:
        say_text(unit(sys.argv))
        return
    opened = session.corpus(corpus)
    with FolderWatch(folders, every * 60, poll) as watched:
        if watched.polls and not poll:
            tell_note(_("the system watches no more files; they are looked through instead"))
        while True:
            is_done = _follow(opened, folders, as_json=as_json)
            watched.wait(None if is_done else _BUSY)


# Seconds before another try while another process is writing.
_BUSY = 30


def _follow(corpus: Corpus, folders: Sequence[Path], *, as_json: bool) -> bool:
    """Bring a corpus to the state of folders; False if it needs another try soon."""
    from localrag.doors.cli.render_ingest import shown_events
    from localrag.ops.watching import absent

    away = absent(folders)
    for folder in away:
        tell_note(_("{path} is empty or gone; its documents stay").format(path=folder))
    there = [folder for folder in folders if folder not in away]
    try:
        with shown_events() as listener:
            added = corpus.add(*there, prune=True, workers=0, on_event=listener)
            corpus.index(workers=0, on_event=listener)
    except (BusyError, NotFoundError) as error:
        tell_note(str(error))
        return False
    numbers = {"added": added.added, "changed": added.replaced, "removed": added.removed}
    if any(numbers.values()):
        now = datetime.now()
        if as_json:
            emit({"time": now.isoformat(timespec="seconds"), **numbers})
        else:
            words = _("{time} added {added:,}, changed {changed:,}, removed {removed:,}")
            say(words.format(time=now.strftime("%H:%M:%S"), **numbers))
    return True


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
            "--whole", help="The archive is complete: remove laws that it does not contain."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the changes, and make none.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last update back.")] = False,
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links",
            help="Follow links inside the folders; otherwise they are only named.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before laws are removed.")
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """New laws are added. A new state of a law is added beside the older ones. A corrected text
    replaces the earlier one. Other documents are left alone. Laws missing in the archive are
    removed only with --whole, and after a question.

    The update happens as a whole or not at all, even if the process is killed; then the index is
    updated. --undo takes the last update back.
    """
    if undo == bool(paths) or (undo and whole):
        raise UsageError(
            N_("Name an archive, or take the last update back with --undo."),
            N_("localrag update --help"),
        )
    from localrag.doors.cli.render_ingest import print_index_report, report_as_json, shown_events

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
        report = updated(taken, ask=not (yes or dry_run))
    if not as_json:
        print_update(opened.name, report)
    indexed = None
    if not dry_run:
        # Also without changes: a killed update may have left work.
        with shown_events() as listener:
            indexed = opened.index(workers=0, on_event=listener)
    if as_json:
        told = indexed and report_as_json(opened.name, indexed)
        emit({**report_as_json(opened.name, report), "index": told})
    elif indexed:
        print_index_report(opened.name, indexed)
    if report.failures or (indexed and indexed.failed):
        raise typer.Exit(4)


def updated(update: "Callable[..., Made]", *, ask: bool) -> "Made":
    """Run an update, and ask first if laws are removed."""
    from localrag.corpus.ingest.update import REMOVING
    from localrag.doors.cli.render_ingest import shown_events

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
                "Remove {n:,} law missing from the archive?",
                "Remove {n:,} laws missing from the archive?",
                len(removed),
            )
            refused = N_("Nothing was changed.")
            confirm(question.format(n=len(removed)), yes=False, refused=refused)

        return update(before=before, on_event=listener)


def print_update(corpus: str, report: "UpdateReport", undo: str = "") -> None:
    """Print the changes of an update, and the command to undo it."""
    from localrag.corpus.ingest.update import LawChangeKind
    from localrag.doors.cli.render_ingest import print_failures, print_left_out

    for kind in LawChangeKind:
        states = [change for change in report.changes if change.kind is kind]
        if states:
            number = f"{len(report.laws(kind)):,}"
            headings = _UNDOING if report.made else _CHANGES
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
        words = _("To undo it: {verb} (needs {size:,.1f} MB on the disk)")
        verb = undo or f"localrag update --undo --corpus {corpus}"
        say(words.format(verb=verb, size=report.undo_bytes / 1e6))


def _outcome(corpus: str, report: "UpdateReport") -> str:
    """The outcome, or the forecast."""
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
    days = " → ".join(filter(None, (change.earlier, change.state)))
    return f"{change.title}{aside(', '.join(filter(None, (change.law_id, days))))}"
