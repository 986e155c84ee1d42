"""``localrag batch``: a file of questions in, a file of answers out."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import AsOf, CorpusName, Json, MethodName, Ray, Where, on
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_


@verb(
    app,
    "batch",
    examples=[
        "localrag batch questions.jsonl --out answers.jsonl",
        "localrag batch questions.csv --dry-run",
        "localrag batch questions.csv --out answers.jsonl --concurrency 8",
        "localrag batch 質問.xlsx --out 回答.xlsx",
        "localrag batch questions.jsonl --out answers.jsonl --retry-failed",
        "localrag batch questions.jsonl --out answers.jsonl --ray 10.0.0.5:6379",
        "localrag batch choices.jsonl --method statute-lexical --out answers.jsonl",
    ],
    exit_codes=(0, 2, 3, 4, 5, 6, 7, 8, 130),
)
def batch(
    context: typer.Context,
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="JSON Lines, CSV or a workbook of Excel; - reads standard input.",
            readable=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where the answers go: JSON Lines, or by its ending .xlsx, .csv, .docx or .md.",
        ),
    ] = None,
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency",
            metavar="N",
            min=0,
            max=256,
            help="Ask a model server so many questions at once; 0: chat.parallel. With --ray: so "
            "many workers; 0: one for each processor.",
        ),
    ] = 0,
    method: MethodName = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask the rows again that failed before.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Drop the answers that are there, begin anew.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check all rows, answer up to 20 of them to estimate time and tokens, "
            "write nothing.",
        ),
    ] = False,
    where: Where = None,
    ray: Ray = "",
    as_of: AsOf = "",
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Answer every question of a file, as ask would.

    A row is {"question": "…"}, with an "id", "options" (a list, or an object of a, b, c, d) and
    "documents" (a list of the ids of those that alone are searched) or "where" ({"kind": "Act"}, or
    "kind=Act; chapter=罰則") where wanted; or a row of CSV under a header with question, id, where,
    option_a, option_b … The text is UTF-8.

    CSV may also be what Excel in Japan writes, and the columns may be called 質問, 番号, 選択肢1,
    選択肢2 … Of a workbook (.xlsx, .xlsm) the one visible sheet with such a header is read, as it
    was calculated last. Answers for Excel or Word (--out FILE.xlsx, .csv, .docx, .md) are made, at
    the end, of the rows in FILE.jsonl; the same command with another ending makes another file.

    Stopping loses nothing, however it happens: the same command goes on where it stopped, and no
    answered question is asked twice. A row that fails does not stop the others: its error stands
    in the place of the answer, and the exit code is 4; so it is with --dry-run where a row would.
    When all is done, the answers are in the order of the questions. What they were made with is
    kept beside them, in the folder FILE.run; with settings that would give other answers the batch
    does not go on.

    With --ray the questions are answered by workers on other machines, or on this one (local). A
    batch that was begun here goes on there, and the other way round.
    """
    from dataclasses import asdict

    from localrag.doors.cli.render_batch import (
        print_estimate,
        print_report,
        report_as_json,
        shown_events,
    )
    from localrag.doors.cli.terminal import emit
    from localrag.ops import batch as offline

    session: Session = on(context.obj, as_of)
    wanted = "; ".join(where) if where else None
    session = session.with_settings({"method.name": method, "retrieval.where": wanted})
    opened = session.corpus(corpus).require()
    source = sys.stdin.buffer if str(questions) == "-" else questions
    if dry_run:
        with shown_events() as listener:
            estimate = offline.estimate(
                session.workspace,
                opened.name,
                opened.config,
                source,
                out,
                concurrency=concurrency,
                retry_failed=retry_failed,
                restart=restart,
                on_event=listener,
            )
        if as_json:
            emit(asdict(estimate))
        else:
            print_estimate(estimate)
        if estimate.unreadable or estimate.unanswerable or estimate.failed:
            raise typer.Exit(4)
        return
    if out is None:
        raise UsageError(
            N_("It is not said where the answers go."),
            N_("Name a file: --out FILE"),
        )
    with shown_events() as listener:
        report = opened.batch(
            source,
            out,
            concurrency=concurrency,
            retry_failed=retry_failed,
            restart=restart,
            ray=ray,
            on_event=listener,
        )
    if as_json:
        emit(report_as_json(out, report))
    else:
        print_report(out, report)
    if report.failed:
        raise typer.Exit(4)
