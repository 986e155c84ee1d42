"""The verbs `init`, `add`, `list`, `remove` and `index`: from files to a corpus."""

from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import CorpusName, Json, Ray, complete_corpus, indexing, unicode
from localrag.doors.cli.terminal import (
    columns,
    confirm,
    emit,
    emit_all,
    say,
    table,
    tell,
    tell_note,
)
from localrag.doors.session import Corpus, Session
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _, colon

if TYPE_CHECKING:
    pass

Made = TypeVar("Made")

ListedCorpus = Annotated[
    str,
    typer.Option(
        "--corpus",
        "-c",
        metavar="NAME",
        help="The same as CORPUS.",
        autocompletion=complete_corpus,
        show_default=False,
    ),
]


@verb(
    app,
    "init",
    examples=["localrag init", "localrag --home /data/law init"],
    exit_codes=(0, 5, 7),
)
def init(context: typer.Context, as_json: Json = False) -> None:
    """It contains corpora, indexes and settings. Its place comes from --home or the environment
    variable LOCALRAG_HOME, else it is the user's data folder. A second run changes nothing. You can
    copy the folder to another machine.
    """
    session: Session = context.obj
    workspace = session.workspace
    workspace.init()
    session.config()  # Who may read the workspace is what the settings say, if they can be read.
    if as_json:
        emit({"workspace": str(workspace.home)})
    else:
        say(_("workspace "), (str(workspace.home), "bold"))
        say(
            _("Next, get the laws: "),
            ("localrag laws download", "bold"),
            _("; or add documents: "),
            (_("localrag add PATH"), "bold"),
            _(" or "),
            ("--sample", "bold"),
        )


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """The options of `add`."""

    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Files and folders; folders are searched to the bottom.",
            # `add` reports unreadable files itself.
            readable=False,
        ),
    ] = None
    sample: Annotated[
        bool, typer.Option("--sample", help="Add the sample corpus (invented laws and pages).")
    ] = False
    prune: Annotated[
        bool,
        typer.Option(
            "--prune", help="Remove documents whose files below the given paths are gone."
        ),
    ] = False
    check_content: Annotated[
        bool,
        typer.Option("--check-content", help="Compare the content even if size and time agree."),
    ] = False
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links",
            help="Follow links inside the folders; otherwise they are only named.",
        ),
    ] = False
    convert: Annotated[
        bool,
        typer.Option(
            "--convert",
            help="Let LibreOffice, if installed, convert old formats (.doc, "
            ".xls, .ppt, .rtf, .odt …) first.",
        ),
    ] = False
    corpus: CorpusName = ""


@verb(
    app,
    "add",
    examples=[
        "localrag add ~/egov/xml",
        "localrag add laws.zip notes.md --corpus work",
        "localrag add ~/egov/xml --prune",
        "localrag add jawiki-cirrussearch-content.json.gz --corpus jawiki",
        "localrag add facts.tsv wikidata-latest-all.json.bz2 --corpus facts",
        "localrag add --sample",
    ],
    exit_codes=(0, 2, 3, 4, 5, 6, 7, 130),
)
def add(
    context: typer.Context,
    call: AddOptions,
    as_json: Json = False,
) -> None:
    """Laws as XML (e-Gov) or JSON lines, text, Markdown, HTML, PDF, Word (.docx), Excel (.xlsx),
    PowerPoint (.pptx), CSV, mail (.eml, .msg) with its attachments, and zips of them; dumps of
    Wikipedia (CirrusSearch, WikiExtractor) with their infoboxes; triples as tables (.tsv: subject,
    predicate, object) or JSON lines, and dumps of Wikidata (.json). Dumps and files of lines may be
    compressed (.gz, .bz2, .xz). Unchanged files are skipped, changed ones replaced. An unreadable
    file is reported, and the rest is added. Stopping loses nothing: run it again and it continues.

    Scanned pages (PDF, PNG, JPEG, TIFF) are read with the extra ocr, one by one.
    """
    if not call.paths and not call.sample:
        raise UsageError(
            N_("Nothing to add."),
            N_("Name files or folders, or use --sample."),
        )
    from localrag import sample as sample_corpus
    from localrag.doors.cli.render_ingest import print_add_report, report_as_json, shown_events
    from localrag.doors.cli.terminal import emit

    session: Session = context.obj
    session.workspace.require()
    opened = session.corpus(call.corpus)
    with shown_events() as listener:
        report = opened.add(
            *(call.paths or []),
            *([sample_corpus.FOLDER] if call.sample else []),
            prune=call.prune,
            check_content=call.check_content,
            follow_links=call.follow_links,
            convert=call.convert,
            workers=0,
            on_event=listener,
        )
    if as_json:
        emit(report_as_json(opened.name, report))
    else:
        print_add_report(opened.name, report, indexing(session, opened.name))
    if report.failed:
        raise typer.Exit(4)


_HEADINGS = {
    "corpus": N_("corpus"),
    "documents": N_("documents"),
    "passages": N_("passages"),
    "characters": N_("characters"),
    "index": N_("index"),
    "vectors": N_("vectors"),
}
_STATES = {
    "fresh": N_("fresh"),
    "behind": N_("behind"),
    "missing": N_("none"),
    "damaged": N_("damaged"),
    "outdated": N_("outdated"),
}
"""What `IndexState` says."""


@verb(
    app,
    "list",
    examples=["localrag list", "localrag list main --kind law", "localrag list main --json"],
    exit_codes=(0, 3, 5),
)
def list_(
    context: typer.Context,
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS",
            help="List the documents of this corpus; without it, the corpora.",
            autocompletion=complete_corpus,
            show_default=False,
        ),
    ] = "",
    kind: Annotated[
        str | None,
        typer.Option(help="Only documents of this kind: law, markdown, jsonl …", metavar="KIND"),
    ] = None,
    named: ListedCorpus = "",
    as_json: Json = False,
) -> None:
    """Each corpus has its number of documents and passages and the state of its indexes. A note
    counts laws with an old text, and names the oldest.
    """
    session: Session = context.obj
    if corpus and named not in ("", corpus):
        raise UsageError(
            N_("Two corpora are named: {one} and {other}."),
            N_("Name one of them."),
            one=corpus,
            other=named,
        )
    if corpus := corpus or named:
        _list_documents(session, corpus, kind, as_json=as_json)
    else:
        _list_corpora(session, as_json=as_json)


@verb(
    app,
    "remove",
    examples=[
        "localrag remove 599AC0000000001",
        "localrag remove pages/kite-mail.md --corpus main",
        "localrag remove --all --corpus trial --yes",
    ],
    exit_codes=(0, 2, 3, 5, 6, 7),
)
def remove(
    context: typer.Context,
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="DOCUMENT", help="Ids of documents (localrag list CORPUS)."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove the whole corpus, its store and its index.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --all.")] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """The next localrag index removes them from the search. Until then their words can stay in the
    index, and in free space of the corpus's file. localrag forget --document removes a document for
    good, forget --removed wipes earlier removals. The original files are not touched. Adding such a
    file again brings it back.
    """
    if bool(documents) == everything:
        raise UsageError(
            N_("Name documents, or the whole corpus with --all."),
            N_("See the documents: localrag list CORPUS"),
        )
    session: Session = context.obj
    opened = session.corpus(corpus).require()
    name = opened.name
    if everything:
        question = _("Remove the corpus {corpus} with everything in it?")
        confirm(question.format(corpus=name), yes=yes, refused=N_("Nothing was removed."))
        opened.delete()
    else:
        opened.remove(*map(unicode, documents or []))
    if as_json:
        emit({"corpus": name, "documents": documents or [], "all": everything})
    elif everything:
        say(_("corpus {corpus} removed").format(corpus=name))
    else:
        removed = _("corpus {corpus}: {n:,} documents removed")
        say(removed.format(corpus=name, n=len(set(documents or []))))
        tell(
            _("Words of them can stay in the file of the corpus. To wipe them: {verb}").format(
                verb=f"localrag forget --removed --corpus {name}"
            )
        )
        say(_("Next, bring the index up to date: "), (indexing(session, name), "bold"))


def _list_corpora(session: Session, *, as_json: bool) -> None:
    from localrag.doors.as_json.found import corpus_as_json

    workspace = session.workspace.require()
    found = [corpus_as_json(workspace.corpus(name)) for name in workspace.corpora()]
    if as_json:
        emit(found)
    elif found:
        table(
            [_(_HEADINGS[name]) for name in found[0]],
            [[_told(cast(int | str, value)) for value in row.values()] for row in found],
        )
        for name in workspace.corpora():
            # `doctor` reports damage; a list shows the rest.
            with suppress(LocalragError), session.corpus(name) as opened:
                _tell_ages(opened)
    else:
        tell(
            _("There is no corpus yet. Add documents: localrag add PATH, or localrag add --sample")
        )


def _told(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else _(_STATES.get(value, value))


def _tell_ages(corpus: Corpus) -> None:
    if told := corpus.store.ages().told(corpus.store.as_of):
        tell_note(f"{corpus.name}{colon()}{told}")


def _list_documents(session: Session, corpus: str, kind: str | None, *, as_json: bool) -> None:
    with session.corpus(corpus) as opened:
        documents = opened.store.documents(kind)
        if as_json:
            emit_all(map(asdict, documents))
        else:
            columns(
                (_("id"), _("kind"), _("date"), _("passages"), _("title")),
                (
                    (d.id, d.kind, d.metadata.get("date", ""), f"{d.passages:,}", d.title)
                    for d in documents
                ),
            )
            _tell_ages(opened)


@verb(
    app,
    "index",
    examples=["localrag index", "localrag index --corpus work --rebuild"],
    exit_codes=(0, 3, 4, 5, 6, 7, 8, 130),
)
def index(
    context: typer.Context,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Build the index again even if it is up to date.")
    ] = False,
    ray: Ray = "",
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Finds the references between provisions and builds the search index. If an embedder is
    installed or named by embedding.model, passages are also embedded, for search by meaning.
    Nothing is embedded twice, also after an interruption (embedding.model = "off" embeds nothing).
    Searches use the old index until the new one is complete. With --ray other machines analyse and
    embed the text.
    """
    from localrag.doors.cli.render_ingest import print_index_report, report_as_json, shown_events
    from localrag.doors.cli.terminal import emit

    session: Session = context.obj
    opened = session.corpus(corpus)
    with shown_events() as listener:
        report = opened.index(rebuild=rebuild, workers=0, ray=ray, on_event=listener)
    if as_json:
        emit(report_as_json(opened.name, report))
    else:
        print_index_report(opened.name, report)
    if report.failed:
        raise typer.Exit(4)
