"""``localrag backup``, ``restore`` and ``forget``."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.cli.questions import unicode
from localrag.cli.session import Json, complete_corpus
from localrag.cli.terminal import confirm, emit, say, tell
from localrag.cli.verbs import app, verb
from localrag.errors import UsageError
from localrag.language import N_, _, ngettext
from localrag.session import Session

if TYPE_CHECKING:
    from localrag.backup import BackupReport

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
        bool, typer.Option("--force", help="Replace the file also where it is no backup.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write everything but the models into one file, while the workspace is in use.

    Corpora, indexes, conversations, runs, settings, prompts and datasets. An earlier backup of the
    same name is replaced once the new one is whole; any other file is refused without --force. The
    file can be read by its owner alone. It is not encrypted: keep it where others cannot read it.
    """
    from localrag.backup import back_up

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
                "An index was built anew meanwhile and is not whole in it. After restoring: {verb}"
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
    """Put a backup in the place of the workspace: all of it, or nothing.

    Every file is compared with its checksum before anything is replaced. The models of the
    workspace stay in it, and the tokens of serve where it has any; what else was there stays beside
    it under another name, for you to remove.
    """
    from localrag.backup import restore as put_back

    session: Session = context.obj
    home = session.workspace.home
    if os.path.lexists(home):  # Where that cannot be told, putting it back tells why.
        question = _("Put the backup in the place of the workspace {home}?")
        confirm(question.format(home=home), yes=yes, refused=N_("Nothing was changed."))
    report = put_back(session.workspace, file)
    if as_json:
        emit(_as_json(report))
        return
    said = _("restored: {n:,} files, {size:,.1f} MB, as they were on {made}")
    say(said.format(n=report.files, size=report.bytes / 1e6, made=report.made))
    if report.before is not None:
        say(_("What was there before lies in {folder}").format(folder=report.before))
    if report.tokens:
        told = ngettext(
            "{n:,} token of localrag serve is valid again, even if it was withdrawn since: {file}",
            "{n:,} tokens of localrag serve are valid again, those withdrawn since, too: {file}",
            report.tokens,
        )
        tell((_("note: "), "yellow"), told.format(n=report.tokens, file=session.workspace.tokens))
    if report.tokens_left_out:
        told = ngettext(
            "The tokens of localrag serve stay those of the workspace; {n:,} of the backup is left "
            "out.",
            "The tokens of localrag serve stay those of the workspace; {n:,} of the backup are "
            "left out.",
            report.tokens_left_out,
        )
        tell(told.format(n=report.tokens_left_out))


def _as_json(report: "BackupReport") -> dict[str, object]:
    before = str(report.before) if report.before else None
    return {**asdict(report), "file": str(report.file), "before": before}


@verb(
    app,
    "forget",
    examples=[
        "localrag forget --conversation 12",
        "localrag forget --run answers.jsonl --yes",
        "localrag forget --run eval/lawqa/2026-01-30T10-00-00",
        "localrag forget --corpus trial",
    ],
    exit_codes=(0, 2, 3, 5, 6, 7),
)
def forget(
    context: typer.Context,
    conversation: Annotated[
        int, typer.Option(help="Number of a conversation.", metavar="NUMBER", show_default=False)
    ] = 0,
    run: Annotated[
        str,
        typer.Option(
            help="File of answers of a batch, eval/DATASET/NAME or optimize/NAME.", metavar="RUN"
        ),
    ] = "",
    corpus: Annotated[
        str,
        typer.Option(
            help="A corpus, with its index and its vectors.",
            metavar="CORPUS",
            autocompletion=complete_corpus,
        ),
    ] = "",
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Remove a conversation, a run or a corpus for good.

    What they held is overwritten, in the databases too, before it is removed. Backups, copies and
    the files that documents were read from are not touched; nor can a disk be made to forget that
    keeps older versions by itself (snapshots, SSDs).
    """
    if sum(map(bool, (conversation, run, corpus))) != 1:
        raise UsageError(
            N_("Name one: a conversation, a run or a corpus."), N_("localrag forget --help")
        )
    from localrag import forgetting

    workspace = (session := context.obj).workspace.require()
    assert isinstance(session, Session)
    what = str(conversation or run or corpus)
    confirm(
        _("Forget {what} for good?").format(what=what), yes=yes, refused=N_("Nothing was removed.")
    )
    stays: list[Path] = []
    if conversation:
        place = workspace.conversations
        forgetting.forget_conversation(workspace, conversation)
    elif run:
        place = workspace.runs / unicode(run)
        forgetting.forget_run(workspace, unicode(run))
    else:
        place = workspace.corpus(corpus).store
        stays = forgetting.forget_corpus(workspace, corpus)
    aside = forgetting.set_aside(workspace, place)
    if as_json:
        told = {"stays": list(map(str, stays)), "set_aside": list(map(str, aside))}
        emit({"forgotten": what, **told})
        return
    say(_("{what} is forgotten").format(what=what))
    for path in aside:
        tell(
            (_("note: "), "yellow"),
            _("{path}, which a restore has set aside, may hold it still: remove it, too.").format(
                path=path
            ),
        )
    for path in stays:
        tell(
            _("Answers that quote it stay: {path}. To forget them too: {verb}").format(
                path=path, verb=f"localrag forget --run {path}"
            )
        )
