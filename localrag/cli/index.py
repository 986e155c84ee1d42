"""``localrag index``: make a corpus searchable."""

from typing import Annotated

import typer

from localrag.cli.session import CorpusName, Json
from localrag.cli.verbs import verb
from localrag.session import Session


def register(app: typer.Typer) -> None:
    """Add the verb to `app`."""
    verb(
        app,
        "index",
        examples=["localrag index", "localrag index --corpus work --rebuild"],
        exit_codes=(0, 3, 4, 5, 6, 7, 8, 130),
    )(index)


def index(
    context: typer.Context,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Build anew even if the index is up to date.")
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Make a corpus searchable.

    Finds the references between provisions and builds the search index. Where an
    embedder is installed, or embedding.model names one, passages are embedded too, to be found by
    their meaning; what was embedded before is not embedded again, also after an interruption
    (embedding.model = "off": none is). A new index is switched in when it is complete; until then
    searches use the old one.
    """
    from localrag.cli.render_ingest import index_report_as_json, print_index_report, shown_events
    from localrag.cli.terminal import emit

    session: Session = context.obj
    opened = session.corpus(corpus)
    with shown_events() as listener:
        report = opened.index(rebuild=rebuild, workers=0, on_event=listener)
    if as_json:
        emit(index_report_as_json(opened.name, report))
    else:
        print_index_report(opened.name, report)
    if report.failed:
        raise typer.Exit(4)
