"""``localrag add``: files into a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from localrag.cli.session import CorpusName, Json, indexing
from localrag.cli.verbs import verb
from localrag.errors import UsageError
from localrag.language import N_
from localrag.session import Session


def register(app: typer.Typer) -> None:
    """Add the verb to `app`."""
    verb(
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
    )(add)


def add(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Files and folders; folders are searched to the bottom.",
            # What cannot be read is told like any other bad file, and the rest is added.
            readable=False,
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Add the sample corpus (invented laws and pages).")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Drop documents whose file below the given paths is gone."),
    ] = False,
    check_content: Annotated[
        bool,
        typer.Option("--check-content", help="Compare content even where size and time agree."),
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Read files into a corpus.

    Laws as XML (e-Gov) or JSON lines, text, Markdown, HTML, PDF, DOCX, and zips of them; dumps of
    Wikipedia (CirrusSearch, WikiExtractor), with what their infoboxes tell; triples as tables
    (.tsv: subject, predicate, object) or JSON lines, and dumps of Wikidata (.json). Dumps and files
    of lines may be compressed (.gz, .bz2, .xz).
    Unchanged files are skipped, changed ones replaced. A file that cannot be read is reported and
    does not stop the rest. Stopping half-way loses nothing: run it again and it goes on.
    """
    if not paths and not sample:
        raise UsageError(
            N_("Nothing to add."),
            N_("Name files or folders, or use --sample."),
        )
    from localrag import sample as sample_corpus
    from localrag.cli.render_ingest import add_report_as_json, print_add_report, shown_events
    from localrag.cli.terminal import emit

    session: Session = context.obj
    session.workspace.require()
    opened = session.corpus(corpus)
    with shown_events() as listener:
        report = opened.add(
            *(paths or []),
            *([sample_corpus.FOLDER] if sample else []),
            prune=prune,
            check_content=check_content,
            workers=0,
            on_event=listener,
        )
    if as_json:
        emit(add_report_as_json(opened.name, report))
    else:
        print_add_report(opened.name, report, indexing(session, opened.name))
    if report.failed:
        raise typer.Exit(4)
