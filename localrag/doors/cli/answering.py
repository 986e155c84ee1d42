"""The verbs `check` and `ask`."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.doors.calls import (
    AskCall,
    Call,
)
from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import (
    Dense,
    Json,
    Lexical,
    MethodName,
    Rerank,
    TextFile,
    given,
    switched,
    tell_expected,
    tell_if_behind,
)
from localrag.doors.cli.terminal import emit, say, tell
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_, _

if TYPE_CHECKING:
    from localrag.answer.types import Answer
    from localrag.check import CheckReport
    from localrag.corpus.store import CorpusStore
    from localrag.search.types import Query


ClaimMethod = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Check sentences that cite no law with this method: fact-check-localrag, fact-check …",
        show_default=False,
    ),
]
# Characters of a sentence in a line.
_SAID = 120


@verb(
    app,
    "check",
    examples=[
        "localrag check memo.docx --out memo-checked.docx",
        "localrag check opinion.md --as-of 2024-04-01",
        "localrag check memo.md --method fact-check-localrag",
        "localrag check '渡し舟法第6条の届出は、20日以内にしなければならない。'",
        "localrag check brief.pdf --json",
    ],
    exit_codes=(0, 2, 3, 4, 5, 7, 8),
)
def check(
    context: typer.Context,
    call: Call,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|TEXT",
            help="One or more files (see below), the text itself, or - for standard input.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="REPORT",
            help="Write a report: .html, .md, or .docx with comments.",
        ),
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Also show correct statements.")] = False,
    method: ClaimMethod = "",
    as_json: Json = False,
) -> None:
    """Every citation is looked up in the law of the day, in lists and ranges too. Quotations are
    compared word for word, and the difference is shown. Figures, periods, amounts, bounds (以上,
    超える), duties and prohibitions are compared with the cited provision. No model is needed.

    Files: .docx, .pdf, .xlsx, .pptx, .eml, .msg, .csv, .html, .md and .txt. Several files are
    checked one by one; --json then writes a list of reports.

    "No difference found" means: figures, bounds, words, duties and prohibitions agree. Subjects,
    objects, missing conditions, and 及び for 又は are not compared.

    --method also checks the sentences that cite no law, each as a claim, with the model of the
    settings and the sentences of the corpus (localrag methods).

    Articles of the text itself (a contract: 第3条, 本契約第5条) are looked up in it. Case numbers
    are no citations. A provision missing from a text older than five years is not checked: a later
    text may have it.

    Only errors proved by code are called wrong. The rest is counted as not checked, with the
    reason. The exit code is 3 if anything is wrong. For a Word file --out writes comments into a
    copy.
    """
    from localrag.check import named_files
    from localrag.check.wording import title
    from localrag.doors.as_json.checks import check_as_json
    from localrag.doors.cli.terminal import Meter
    from localrag.page.report import known_suffix, write_report

    paths = named_files(words)
    if out is not None:
        known_suffix(out)
        if len(paths) > 1:
            raise UsageError(
                N_("A report is of one file, and {n} are named."),
                N_("Check each file by itself with --out."),
                n=len(paths),
            )
    session: Session = context.obj
    session = session.with_settings({**call.settings(), "method.name": method or None})
    with session.corpus(call.corpus) as searched, Meter() as meter:
        sources: Sequence[Path | str] = paths or [given(" ".join(words))]
        reports = [
            searched.check(source, on_event=meter.update, claims=bool(method)) for source in sources
        ]
    if out is not None:
        write_report(reports[0], out, paths[0] if paths else None)
    if as_json:
        told = list(map(check_as_json, reports))
        emit(told if len(paths) > 1 else told[0])
    else:
        for report in reports:
            if len(paths) > 1:
                say((title(report), "bold"))
            _print_check(report, show_all=show_all)
            if report.upcoming:
                of = report.name or _("TEXT")
                tell(_("The changes: localrag pending {of}").format(of=of))
        if out is not None:
            tell(_("The report is in {path}.").format(path=out))
    if not all(report.holds for report in reports):
        raise typer.Exit(3)


def _print_check(report: "CheckReport", *, show_all: bool) -> None:
    from localrag.doors.cli.render import print_blocks
    from localrag.page.report import check_blocks

    print_blocks(check_blocks(report, show_all=show_all), _SAID)
    if not report.findings:
        tell(_("The text cites no provision and names no law with its number."))


@verb(
    app,
    "ask",
    examples=[
        "localrag ask 渡し舟を運航してはならない水位の基準は何か。",
        "localrag ask 'When was the Fennimore refractor finished?'",
        "localrag ask 敷金 返還 いつ",
        "localrag ask 敷金 返還 いつ --out 敷金.docx",
        "localrag ask - --json < question.txt",
        "localrag ask --after 渡し舟を運航してはならない水位の基準は何か。 その罰則は",
        "localrag --set chat.model=qwen3-8b ask 渡し守になるには何が要るか。",
        "localrag ask --method statute-lexical --option 三年以上操縦に従事した経験 "
        "--option 十年以上操縦に従事した経験 渡し守の資格として正しいものはどれか。",
    ],
    exit_codes=(0, 2, 3, 5, 7, 8),
)
def ask(
    context: typer.Context,
    call: AskCall,
    lexical: Lexical = None,
    dense: Dense = None,
    rerank: Rerank = None,
    method: MethodName = None,
    no_model: Annotated[
        bool,
        typer.Option("--no-model", help="Answer with quotations only, even if there is a model."),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the evidence was found.")
    ] = False,
    out: TextFile = None,
    as_json: Json = False,
) -> None:
    """Without a model, the answer quotes the closest sentences and provisions, word for word. Check
    that they answer your question.

    With a model (chat.model), the model writes claims with the numbers of their sentences. Code
    inserts the words of these sentences. It checks every figure, date, name, provision and negation
    of a claim against them. The answer is supported only if all of them are there. Others are
    named, and the answer is unsupported.

    The exit code is 3 if a claim is not supported, nothing is close, or the corpus does not have a
    law of the question. A follow-up (その罰則は) is completed from the questions of --after, and
    the completed question is shown. --method uses another method; some choose between options.
    """
    from localrag.answer import wording
    from localrag.answer.types import Status
    from localrag.doors.cli import render
    from localrag.doors.cli.terminal import shown_draft
    from localrag.page.answer import answer_blocks, label, note_blocks, read_as

    if out is not None:
        from localrag.page.files import TEXTS, require_ending

        require_ending(out, TEXTS)
    call = replace(call, model=not no_model)
    session: Session = context.obj.with_settings(call.settings())
    session = switched(session, lexical, dense, rerank).with_settings({"method.name": method})
    with session.corpus(call.corpus) as opened:
        with shown_draft() as loading:
            answerer = opened.answerer(loading.loading)
        tell_if_behind(opened)
        if answerer.model:
            tell_expected(session, answerer.model)
        asked = call.as_query(opened.store)
        with shown_draft(answerer.model) as draft:
            reply = opened.ask(asked, draft)
        if out is not None:
            _write_answer(out, opened.store, asked, reply)
    if as_json:
        from localrag.doors.as_json.found import answer_as_json

        emit(answer_as_json(asked, reply))
    elif out is None:
        if explain:
            from localrag.corpus.inference.placement import placement_facts

            found = placement_facts(session.workspace, session.config())
            places = [place for _setting, _model, place in found if reply.trace.calls]
            render.print_trace(reply.trace, places)
        if reply.read_as:
            render.print_blocks([read_as(reply.read_as)], render.QUOTED)
        verdict = wording.verdict(reply)
        if reply.status is Status.NOT_FOUND and reply.trace.calls and not reply.doubts:
            verdict = _("{verdict} (see --no-model)").format(verdict=verdict)
        render.print_blocks(answer_blocks(reply, label, verdict), render.QUOTED)
        render.print_blocks(note_blocks(reply.trace, reply.absent))
    if reply.absent or reply.status not in (Status.SUPPORTED, Status.QUOTED):
        raise typer.Exit(3)


def _write_answer(out: Path, store: "CorpusStore", asked: "Query", reply: "Answer") -> None:
    from localrag.methods.catalogue import labelled
    from localrag.page.answer import filed_answer, question_blocks
    from localrag.page.files import write_blocks
    from localrag.page.provision import place

    question = question_blocks(asked.text, labelled(asked.options), reply.read_as)
    write_blocks(out, [*question, *filed_answer(reply, partial(place, store))])
    tell(_("written: {path}").format(path=out))
