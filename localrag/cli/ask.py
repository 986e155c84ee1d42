"""``localrag ask``: claims that code has checked against what they cite, or quotations."""

from dataclasses import replace
from typing import Annotated

import typer

from localrag.calls import AskCall
from localrag.cli.main import app, verb
from localrag.cli.options import Dense, Json, Lexical, MethodName, Rerank, switched, tell_if_behind
from localrag.cli.terminal import emit
from localrag.session import Session


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
    call: AskCall,
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
    from localrag.cli import render
    from localrag.cli.terminal import shown_draft
    from localrag.reading.types import Status

    call = replace(call, model=not no_model)
    session: Session = context.obj.with_settings(call.settings())
    session = switched(session, lexical, dense, rerank).with_settings({"method.name": method})
    with session.corpus(call.corpus) as opened:
        with shown_draft() as loading:
            answerer = opened.answerer(loading.loading)
        tell_if_behind(opened)
        asked = call.as_query(opened.store)
        with shown_draft(answerer.model) as draft:
            reply = opened.ask(asked, draft)
    if as_json:
        from localrag.as_json.found import answer_as_json

        emit(answer_as_json(asked, reply))
    else:
        if explain:
            render.print_trace(reply.trace)
        render.print_answer(reply)
        render.tell_wordings(reply.trace)
        render.tell_events(reply.trace, reply.absent)
    if reply.absent or reply.status not in (Status.SUPPORTED, Status.QUOTED):
        raise typer.Exit(3)
