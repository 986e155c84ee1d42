"""``localrag show``: a provision, or a passage of another document, and what is tied to it."""

from typing import Annotated

import typer

from localrag.cli.questions import unicode
from localrag.cli.session import CorpusName, Json
from localrag.cli.verbs import verb
from localrag.session import Session

_LINKS = 20


def register(app: typer.Typer) -> None:
    """Add the verb to `app`."""
    verb(
        app,
        "show",
        examples=[
            "localrag show 渡し舟法8条",
            "localrag show 金商法27条の36第1項第2号",
            "localrag show 薬機法施行規則 附則第3条",
            "localrag show 323AC0000000025#27_36 --json",
            "localrag show triples/boats.tsv:2",
            "localrag show かわせみ丸",
        ],
        exit_codes=(0, 2, 3, 5),
    )(show)


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
        typer.Option("--all", help="Print every link and triple, not only the first of each kind."),
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Show a provision, or a passage of another document, and everything tied to it.

    Of a provision: its text, where it stands (編・章・節), which provisions of orders and
    ordinances fill it in, what it refers to, what refers to it, and where the terms it uses are
    defined. A law is named by its title or an abbreviation, a provision in any spelling. Where a
    citation can mean several provisions they are listed, and none is chosen for you.

    Of a document without provisions (a page, an article of Wikipedia): its first passage. Of a
    triple, a document of triples (facts.tsv:1, wikidata:Q42) or the name of a subject: the triple
    and what else is known of its subject.
    """
    from localrag.cli.render_provision import print_provision, provision_as_json
    from localrag.cli.terminal import emit

    session: Session = context.obj
    with session.corpus(corpus) as opened:
        view = opened.show(unicode(" ".join(target)))
    if as_json:
        emit(provision_as_json(view))
    else:
        print_provision(view, most=None if everything else _LINKS)
