"""``localrag search``: the passages nearest to a query."""

from typing import Annotated

import typer

from localrag.cli.questions import (
    Dense,
    From,
    Law,
    Layer,
    Lexical,
    Options,
    Rerank,
    To,
    Type,
    read_query,
)
from localrag.cli.session import CorpusName, Json, switched, tell_if_behind
from localrag.cli.terminal import emit, tell
from localrag.cli.verbs import verb
from localrag.language import _
from localrag.session import Session


def register(app: typer.Typer) -> None:
    """Add the verb to `app`."""
    verb(
        app,
        "search",
        examples=[
            "localrag search 渡し守の資格",
            "localrag search 登録の取消し --type Act --explain",
            "localrag search 'founder of the observatory' -k 3 --json",
        ],
        exit_codes=(0, 2, 3, 5, 8),
    )(search)


def search(
    context: typer.Context,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="Words or a question; - reads standard input.")
    ],
    option: Options = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            metavar="N",
            min=1,
            max=1000,
            help="Passages to show; else the setting retrieval.k.",
        ),
    ] = None,
    law: Law = None,
    law_type: Type = None,
    layer: Layer = None,
    date_from: From = "",
    date_to: To = "",
    lexical: Lexical = None,
    dense: Dense = None,
    rerank: Rerank = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what every stage of the retrieval did.")
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Find the passages of a corpus that answer a query best.

    Citations in the query (金商法27条の36, 同法施行令第3条) are resolved to the provisions
    themselves. Where it names laws (薬機法, APPI), what they say comes first, and other laws
    beside; a law that the corpus lacks is told. The words are looked up in the index, and with a
    model for it the meaning too; all are fused, reread by a reranker if there is one, and the
    provisions that fill a found one in are added.
    """
    from localrag.cli import render

    session: Session = switched(context.obj, lexical, dense, rerank)
    with session.corpus(corpus) as opened:
        names = opened.retriever.names
        tell_if_behind(opened)
        asked = read_query(opened.store, query, option, law, law_type, layer, date_from, date_to)
        retrieval = opened.search(asked, k)
    if as_json:
        emit(render.retrieval_as_json(asked, retrieval))
    else:
        if explain:
            render.print_trace(retrieval.trace)
        render.print_laws(retrieval.laws, names)
        render.print_hits(asked, retrieval.hits)
        render.tell_wordings(retrieval.trace)
        render.tell_events(retrieval.trace)
        if not retrieval.hits:
            tell(_("Nothing was found."))
    if not retrieval.hits:
        raise typer.Exit(3)
