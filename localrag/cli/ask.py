"""``localrag ask``: an answer made of verbatim, checked quotations."""

from typing import Annotated

import typer

from localrag.cli import render
from localrag.cli.questions import From, Law, Layer, Options, To, Type, read_query
from localrag.cli.session import Corpus, Json, Session
from localrag.cli.terminal import emit
from localrag.cli.verbs import verb


def register(app: typer.Typer) -> None:
    """Add the verb to `app`."""
    verb(
        app,
        "ask",
        examples=[
            "localrag ask 渡し舟を運航してはならない水位の基準は何か。",
            "localrag ask 'When was the Fennimore refractor finished?'",
            "localrag ask - --json < question.txt",
        ],
        exit_codes=(0, 2, 3, 5),
    )(ask)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; - reads standard input.")],
    option: Options = None,
    law: Law = None,
    law_type: Type = None,
    layer: Layer = None,
    date_from: From = "",
    date_to: To = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the evidence was found.")
    ] = False,
    corpus: Corpus = "",
    as_json: Json = False,
) -> None:
    """Answer a question with verbatim, checked quotations.

    Each is numbered and was compared with its source letter by letter. No model takes part: the
    answer consists of the sentences and provisions that answer best, with their places. Where
    nothing supports an answer it says so and leaves with exit code 3.
    """
    from localrag.reading.extractive import answer
    from localrag.reading.model import Status

    session: Session = context.obj
    with session.retriever(corpus) as retriever:
        asked = read_query(
            retriever.store, question, option, law, law_type, layer, date_from, date_to
        )
        reply = answer(retriever, asked)
    if as_json:
        emit(render.answer_as_json(asked, reply))
    else:
        if explain:
            render.print_trace(reply.trace)
        render.print_answer(reply)
        render.tell_events(reply.trace)
    if reply.status is not Status.SUPPORTED:
        raise typer.Exit(3)
