"""``localrag search`` and ``localrag show``: passages found by a query, or called by their name."""

from pathlib import Path
from typing import Annotated

import typer

from localrag.cli.main import app, verb
from localrag.cli.options import (
    AsOf,
    CorpusName,
    Dense,
    From,
    Json,
    Law,
    Layer,
    Lexical,
    Options,
    Rerank,
    To,
    Type,
    Where,
    on,
    read_query,
    switched,
    tell_if_behind,
    unicode,
)
from localrag.cli.terminal import emit, tell
from localrag.language import _
from localrag.session import Session


@verb(
    app,
    "search",
    examples=[
        "localrag search 渡し守の資格",
        "localrag search 敷金 返還",
        "localrag search 登録の取消し --type Act --explain",
        "localrag search 罰金 --where kind=Act --where chapter=罰則",
        "localrag search --rewrite 夜に渡し舟を出していいか",
        "localrag search '\"水位の基準\" 運航'",
        "localrag search 'founder of the observatory' -k 3 --json",
    ],
    exit_codes=(0, 2, 3, 5, 8),
)
def search(
    context: typer.Context,
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help="Words or a question; several words are joined; - reads standard input.",
        ),
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
    where: Where = None,
    as_of: AsOf = "",
    lexical: Lexical = None,
    dense: Dense = None,
    rerank: Rerank = None,
    rewrite: Annotated[
        bool,
        typer.Option(
            "--rewrite",
            help="Have the chat model put the query into the words of statutes, and search for "
            "these as well.",
        ),
    ] = False,
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

    Every passage found has the words that are in double quotation marks ('"正当の事由" 解約').
    """
    from localrag.as_json.found import retrieval_as_json
    from localrag.cli import render

    session: Session = switched(on(context.obj, as_of), lexical, dense, rerank)
    with session.corpus(corpus) as opened:
        names = opened.retriever.names
        tell_if_behind(opened)
        asked = read_query(
            opened.store, query, option, law, law_type, layer, date_from, date_to, where
        )
        retrieval = opened.search(asked, k, rewrite=rewrite)
    if as_json:
        emit(retrieval_as_json(asked, retrieval))
    else:
        if explain:
            render.print_trace(retrieval.trace)
        render.print_laws(retrieval.laws, names)
        render.print_hits(asked, retrieval.hits)
        render.tell_wordings(retrieval.trace)
        render.tell_events(retrieval.trace, retrieval.absent)
        if not retrieval.hits:
            tell(_("Nothing was found."))
    if not retrieval.hits:
        raise typer.Exit(3)


_LINKS = 20


@verb(
    app,
    "show",
    examples=[
        "localrag show 渡し舟法8条",
        "localrag show 金商27の36①二",
        "localrag show 民法709〜724条",
        "localrag show 民法 第三編第五章",
        "localrag show 薬機法施行規則 附則第3条",
        "localrag show 323AC0000000025#27_36 --json",
        "localrag show 民法709〜724条 --out 不法行為.docx",
        "localrag show 渡し舟法3条 --as-read-by 渡し舟法8条",
        "localrag show triples/boats.tsv:2",
        "localrag show かわせみ丸",
    ],
    exit_codes=(0, 2, 3, 5, 7),
)
def show(
    context: typer.Context,
    target: Annotated[
        list[str],
        typer.Argument(
            metavar="CITATION",
            help="A citation as you would write it, the id of a passage or a document, or the name "
            "of a subject of triples.",
        ),
    ],
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Print every provision, link and triple, not only the first of each kind.",
        ),
    ] = False,
    as_read_by: Annotated[
        str,
        typer.Option(
            "--as-read-by",
            metavar="CITATION",
            help="Print the text with the words replaced that this provision has read otherwise "
            "(読替え).",
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write it to a new file, a document of Word (.docx) or Markdown (.md).",
        ),
    ] = None,
    as_of: AsOf = "",
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Show a provision, or a passage of another document, and everything tied to it.

    Of a provision: its text, where it stands (編・章・節), which provisions of orders and
    ordinances fill it in, what it refers to, what refers to it, and where the terms it uses are
    defined. A law is named by its title or an abbreviation, a provision in any spelling. Where a
    citation can mean several provisions they are listed, and none is chosen for you.

    Of a list or a range (5条及び6条, 709〜724条): the text of each. Of a law or a part of it: its
    headings and articles.

    A provision may have words of another one read otherwise (「知事」とあるのは「市長」); both show
    which. With --as-read-by the text is printed as the other provision has it read. That text is
    made by code and no text of a law: what is replaced is marked, with the words of the law beside
    it, and words that do not stand there are told.

    Of a document without provisions (a page, an article of Wikipedia): its first passage. Of a
    triple, a document of triples (facts.tsv:1, wikidata:Q42) or the name of a subject: the triple
    and what else is known of its subject.
    """
    from localrag.as_json.statutes import looked_up_as_json
    from localrag.cli.render_provision import print_looked_up
    from localrag.cli.terminal import emit
    from localrag.provision import MOST, LookedUp

    if out is not None:
        from localrag.export.files import TEXTS, require_ending

        require_ending(out, TEXTS)

    session: Session = on(context.obj, as_of)
    with session.corpus(corpus) as opened:
        cited = unicode(" ".join(target))
        if as_read_by:
            found = LookedUp((opened.show(cited, as_read_by=unicode(as_read_by)),))
        else:
            found = opened.look_up(cited, None if everything else MOST)
        if out is not None:
            from localrag.export.files import write_blocks
            from localrag.export.provision import looked_up_blocks

            write_blocks(out, looked_up_blocks(opened.store, found))
            tell(_("written: {path}").format(path=out))
    if as_json:
        emit(looked_up_as_json(found))
    elif out is None:
        print_looked_up(found, most=None if everything else _LINKS)
