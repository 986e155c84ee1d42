"""``localrag backup``, ``restore`` and ``forget``."""

import os
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.corpus.workspace import Workspace
from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import Json, complete_corpus, indexing, unicode
from localrag.doors.cli.terminal import confirm, emit, say, tell, tell_note
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_, _, ngettext

if TYPE_CHECKING:
    from localrag.ops.backup import BackupReport

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before.")]


@verb(
    app,
    "backup",
    examples=["localrag backup /mnt/usb/law.tar", "localrag backup ~/law.tar --json"],
    exit_codes=(0, 2, 5, 7),
)
def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file even if it is no backup.")
    ] = False,
    as_json: Json = False,
) -> None:
    """The file holds corpora, indexes, conversations, runs, settings, prompts and datasets. An
    earlier backup of the same name is replaced once the new one is complete; any other file needs
    --force. Only its owner can read the file. It is not encrypted: keep it where others cannot read
    it.
    """
    from localrag.ops.backup import back_up

    session: Session = context.obj
    report = back_up(session.workspace, file, force=force)
    if as_json:
        emit(_as_json(report))
        return
    written = _("backup {file}: {n:,} files, {size:,.1f} MB")
    say(written.format(file=report.file, n=report.files, size=report.bytes / 1e6))
    if report.vanished:
        tell(
            _(
                "An index was rebuilt meanwhile, and the backup has only a "
                "part of it. After restoring: {verb}"
            ).format(verb="localrag index --rebuild")
        )


@verb(
    app,
    "restore",
    examples=["localrag restore /mnt/usb/law.tar", "localrag --home /data/law restore law.tar"],
    exit_codes=(0, 2, 4, 5, 6, 7),
)
def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.")],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Every file is compared with its checksum first. The models of the workspace stay, and its
    tokens of serve, if it has any. Everything else stays beside it under another name, for you to
    remove.
    """
    from localrag.ops.backup import restore as put_back

    session: Session = context.obj
    home = session.workspace.home
    if os.path.lexists(home):  # Where that cannot be told, putting it back tells why.
        question = _("Replace the workspace {home} by the backup?")
        confirm(question.format(home=home), yes=yes, refused=N_("Nothing was changed."))
    report = put_back(session.workspace, file)
    if as_json:
        emit(_as_json(report))
        return
    said = _("restored: {n:,} files, {size:,.1f} MB, as they were on {made}")
    say(said.format(n=report.files, size=report.bytes / 1e6, made=report.made))
    if report.before is not None:
        say(_("The earlier contents are in {folder}").format(folder=report.before))
    if report.tokens:
        told = ngettext(
            "{n:,} token of localrag serve is valid again, even if it was withdrawn since: {file}",
            "{n:,} tokens of localrag serve are valid again, those withdrawn since, too: {file}",
            report.tokens,
        )
        tell_note(told.format(n=report.tokens, file=session.workspace.tokens))
    if report.tokens_left_out:
        told = ngettext(
            "The workspace keeps its own tokens of localrag serve; {n:,} of the backup is left "
            "out.",
            "The workspace keeps its own tokens of localrag serve; {n:,} of the backup are left "
            "out.",
            report.tokens_left_out,
        )
        tell(told.format(n=report.tokens_left_out))


def _as_json(report: "BackupReport") -> dict[str, object]:
    before = str(report.before) if report.before else None
    return {**asdict(report), "file": str(report.file), "before": before}


@dataclass(frozen=True, kw_only=True)
class ForgetOptions:
    """The options of `forget`."""

    conversation: Annotated[
        int, typer.Option(help="Number of a conversation.", metavar="NUMBER", show_default=False)
    ] = 0
    run: Annotated[
        str,
        typer.Option(
            help="File of answers of a batch, eval/DATASET/NAME or optimize/NAME.", metavar="RUN"
        ),
    ] = ""
    corpus: Annotated[
        str,
        typer.Option(
            help="A corpus, with its index and its vectors; with --document, "
            "the corpus of the documents.",
            metavar="CORPUS",
            autocompletion=complete_corpus,
        ),
    ] = ""
    document: Annotated[
        list[str] | None,
        typer.Option(
            help="A document by its id (localrag list CORPUS), or a law by its title.",
            metavar="NAME",
        ),
    ] = None
    removed: Annotated[
        bool,
        typer.Option("--removed", help="Remains of removed documents in a corpus."),
    ] = False
    searches: Annotated[
        bool, typer.Option("--searches", help="Only the searches that models wrote.")
    ] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="For documents: only show what would be removed.")
    ] = False
    yes: Yes = False


@verb(
    app,
    "forget",
    examples=[
        "localrag forget --conversation 12",
        "localrag forget --run answers.jsonl --yes",
        "localrag forget --run eval/lawqa/2026-01-30T10-00-00",
        "localrag forget --corpus trial",
        "localrag forget --document memo.docx --document 契約書.pdf --corpus office",
        "localrag forget --document memo.docx --dry-run",
        "localrag forget --removed --corpus office",
        "localrag forget --searches",
    ],
    exit_codes=(0, 2, 3, 5, 6, 7),
)
def forget(
    context: typer.Context,
    call: ForgetOptions,
    as_json: Json = False,
) -> None:
    """Their contents are overwritten before they are removed, in the databases too. `forget` cannot
    delete backups, copies, the files that documents were read from, or older versions that a disk
    keeps by itself (snapshots, SSDs).

    Forgetting documents also deletes the indexes of their corpus, which contain all documents: run
    localrag index afterwards. Answers and conversations that quote the documents are kept, and
    listed.

    Searches that models wrote are deleted every time; models write them again when needed.
    """
    of_documents = bool(call.document or call.removed)
    named = (
        bool(call.conversation),
        bool(call.run),
        of_documents or bool(call.corpus),
        call.searches,
    )
    if call.dry_run and not call.document:
        raise UsageError(
            N_("--dry-run needs --document."),
            N_("localrag forget --help"),
        )
    if sum(named) != 1:
        raise UsageError(
            N_("Name one: a conversation, a run, documents, a corpus, or the searches."),
            N_("localrag forget --help"),
        )
    if of_documents:
        _forget_documents(context.obj, call, as_json=as_json)
        return
    from localrag.doors import forgetting

    workspace = (session := context.obj).workspace.require()
    assert isinstance(session, Session)
    what = str(call.conversation or call.run or call.corpus or _("searches written by models"))
    confirm(
        _("Forget {what} for good?").format(what=what),
        yes=call.yes,
        refused=N_("Nothing was removed."),
    )
    place, stays = _forget(workspace, call)
    aside = forgetting.set_aside(workspace, place)
    if as_json:
        told = {"stays": list(map(str, stays)), "set_aside": list(map(str, aside))}
        emit({"forgotten": what, **told})
        return
    say(_("{what} is forgotten").format(what=what))
    for path in aside:
        tell_note(_kept_aside(path))
    for path in stays:
        tell(
            _("Answers that quote it stay: {path}. To forget them too: {verb}").format(
                path=path, verb=f"localrag forget --run {path}"
            )
        )


def _forget(workspace: Workspace, call: ForgetOptions) -> tuple[Path, list[Path]]:
    """Forget one thing; gives its file or folder, and the answers quoting it."""
    from localrag.doors import forgetting

    if call.conversation:
        forgetting.forget_conversation(workspace, call.conversation)
        return workspace.conversations, []
    if call.run:
        forgetting.forget_run(workspace, unicode(call.run))
        return workspace.runs / call.run, []
    if call.searches:
        forgetting.forget_searches(workspace)
        return workspace.searches, []
    return workspace.corpus(call.corpus).store, forgetting.forget_corpus(workspace, call.corpus)


def _forget_documents(session: Session, call: ForgetOptions, *, as_json: bool) -> None:
    from localrag.doors import forgetting

    opened = session.corpus(call.corpus).require()
    names = tuple(map(unicode, call.document or ()))
    forget_them = partial(forgetting.forget_documents, session.workspace, opened.name, names)
    opened.close()
    dry_run = call.dry_run
    found = forget_them(dry_run=True)
    if not dry_run:
        what = _(", ").join(found.documents) or _("what was removed from {corpus}")
        question = _("Forget {what} for good?").format(what=what.format(corpus=opened.name))
        confirm(question, yes=call.yes, refused=N_("Nothing was removed."))
        found = forget_them()
    place = session.workspace.corpus(opened.name).store
    aside = [] if dry_run else forgetting.set_aside(session.workspace, place)
    if as_json:
        emit(
            {
                "corpus": opened.name,
                "forgotten": list(found.documents),
                "dry_run": dry_run,
                "rows": found.rows,
                "stays": [one if isinstance(one, int) else str(one) for one in found.stays],
                "set_aside": list(map(str, aside)),
            }
        )
        return
    told = _("would be forgotten: {what}") if dry_run else _("{what} is forgotten")
    for id_ in found.documents or [_("what was removed before")]:
        say(told.format(what=id_))
    if found.rows:
        say(_("with {n:,} rows made of it by a model").format(n=found.rows))
    for path in aside:
        tell_note(_kept_aside(path))
    for one in found.stays:
        is_talk = isinstance(one, int)
        verb = (
            f"localrag forget --conversation {one}" if is_talk else f"localrag forget --run {one}"
        )
        quoting = _("conversation {n}").format(n=one) if is_talk else one
        tell(
            _("Answers that quote it stay: {path}. To forget them too: {verb}").format(
                path=quoting, verb=verb
            )
        )
    if not dry_run:
        say(_("Next, bring the index up to date: "), (indexing(session, opened.name), "bold"))


def _kept_aside(path: Path) -> str:
    return _("{path}, which a restore has set aside, may hold it still: remove it, too.").format(
        path=path
    )
