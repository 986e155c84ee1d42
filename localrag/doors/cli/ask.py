"""``localrag ask``: claims that code has checked against what they cite, or quotations."""

from dataclasses import replace
from typing import Annotated

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import (
    After,
    AsOf,
    CorpusName,
    Dense,
    From,
    Json,
    Law,
    Layer,
    Lexical,
    MethodName,
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
from localrag.doors.cli.terminal import emit
from localrag.doors.session import Session


@verb(
    app,
    "ask",
    examples=[
        "localrag ask 渡し舟を運航してはならない水位の基準は何か。",
        "localrag ask 'When was the Fennimore refractor finished?'",
        "localrag ask 敷金 返還 いつ",
        "localrag ask - --json < question.txt",
        "localrag ask --after 渡し舟を運航してはならない水位の基準は何か。 その罰則は",
        "localrag --set chat.model=qwen3-8b ask 渡し守になるには何が要るか。",
        "localrag ask --method statute-lexical --option 三年以上操縦に従事した経験 "
        "--option 十年以上操縦に従事した経験 渡し守の資格として正しいものはどれか。",
    ],
    exit_codes=(0, 2, 3, 5, 8),
)
def ask(
    context: typer.Context,
    question: Annotated[
        list[str],
        typer.Argument(
            metavar="QUESTION",
            help="The question; several words are joined; - reads standard input.",
        ),
    ],
    option: Options = None,
    after: After = None,
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
    method: MethodName = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Answer with quotations only, whatever chat.model.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the evidence was found.")
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Answer a question from the corpus, with verbatim, checked quotations.

    Without a model the answer is quoted: the sentences and provisions that come nearest, word for
    word. Whether they answer the question is for you to judge.

    With one (chat.model) the model writes claims, each with the numbers of the sentences it rests
    on. Code puts in their words, and checks every figure, date, name, provision and negation of a
    claim against them. The answer is supported only where all of these stand there; what does not
    is named, and the answer is unsupported.

    Where a claim is not supported, nothing comes near, or the question names a law that the corpus
    lacks, it says so and leaves with exit code 3. A question that leans on others (その罰則は) is
    made whole from those given with --after, and how it was read is told. With --method another
    method answers; some choose between options.
    """
    from localrag.answer.types import Status
    from localrag.doors.cli import render
    from localrag.doors.cli.terminal import shown_draft

    session: Session = switched(on(context.obj, as_of), lexical, dense, rerank)
    session = session.with_settings({"method.name": method})
    if no_model:
        session = session.with_settings({"chat.model": "", "method.name": method or "extractive"})
    with session.corpus(corpus) as opened:
        with shown_draft() as loading:
            answerer = opened.answerer(loading.loading)
        tell_if_behind(opened)
        asked = read_query(
            opened.store, question, option, law, law_type, layer, date_from, date_to, where
        )
        asked = replace(asked, history=tuple(map(unicode, after or ())))
        with shown_draft(answerer.model) as draft:
            reply = opened.ask(asked, draft)
    if as_json:
        from localrag.doors.as_json.found import answer_as_json

        emit(answer_as_json(asked, reply))
    else:
        if explain:
            render.print_trace(reply.trace)
        render.print_answer(reply)
        render.tell_wordings(reply.trace)
        render.tell_events(reply.trace, reply.absent)
    if reply.absent or reply.status not in (Status.SUPPORTED, Status.QUOTED):
        raise typer.Exit(3)
