"""``localrag eval``: methods on questions with known answers, and reports."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.doors.cli.help import Group
from localrag.doors.cli.main import group, verb
from localrag.doors.cli.options import (
    CorpusName,
    CorpusSearched,
    DatasetName,
    Json,
    QuestionsFile,
    SplitName,
)
from localrag.doors.cli.terminal import tell_note
from localrag.doors.session import Session

if TYPE_CHECKING:
    from typer._click import Context

    from localrag.evaluation.datasets.loading import FoundDataset
    from localrag.evaluation.planning import Plan

_CODES = (0, 2, 3, 4, 5, 6, 7, 8, 130)


class AsksByDefault(Group):
    """Takes ``eval DATASET …`` for ``eval run DATASET …``."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Add the missing verb."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = group(
    "eval",
    about="eval DATASET is short for eval run DATASET, whose --help names every option.",
    kind=AsksByDefault,
    examples=(
        "localrag eval lawqa --method statute-lexical",
        "localrag eval lawqa --method all --model qwen3-8b --orders 4",
        "localrag eval queries wiki-queries.toml --corpus wiki",
        "localrag eval list",
        "localrag eval compare lawqa/before lawqa/after",
    ),
    exit_codes=_CODES,
)


@dataclass(frozen=True, kw_only=True)
class EvalOptions:
    """The options of `eval run`."""

    dataset: DatasetName
    method: Annotated[
        list[str],
        typer.Option(
            "--method",
            metavar="METHOD",
            help="Method to measure (localrag methods), or all; separate several with commas.",
        ),
    ]
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Chat model to compare; without it, the setting chat.model.",
        ),
    ] = None
    stages: Annotated[
        list[str] | None,
        typer.Option(
            "--stages",
            metavar="ORDER",
            help="Order of the phases of the method staged (1 triples, 2 "
            "documents, 3 the model alone), such as 1-2; each of several "
            "is measured. Without it, the setting method.stages.",
        ),
    ] = None
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="NAME",
            help="Chat model that judges answers and derivations, if the "
            "dataset has them, or rates every two answers over a "
            "collection. Without it, code compares.",
        ),
    ] = ""
    split: SplitName = ""
    questions: QuestionsFile = None
    own_documents: Annotated[
        bool,
        typer.Option(
            "--own-documents",
            help="Search only the paragraphs given with each question (musique, hotpotqa, "
            "2wikimultihopqa).",
        ),
    ] = False
    unanswerable: Annotated[
        bool,
        typer.Option(
            "--unanswerable",
            help="Ask each question twice: of its own paragraphs, and without "
            "the supporting ones. The report counts how often there is no "
            "answer.",
        ),
    ] = False
    orders: Annotated[
        int,
        typer.Option(
            "--orders",
            metavar="N",
            min=1,
            max=4,
            help="Number of orders of the options for each question.",
        ),
    ] = 1
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="Only the first N questions; 0: all.")
    ] = 0
    corpus: CorpusSearched = ""
    name: Annotated[
        str,
        typer.Option(
            "--run",
            metavar="NAME",
            help="Name of the run; without it, its start time. A run with other "
            "questions is never overwritten.",
        ),
    ] = ""
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask failed questions again.")
    ] = False
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the plan with its cost; write nothing."),
    ] = False


@verb(
    app,
    "run",
    examples=[
        "localrag eval lawqa --method statute-lexical",
        "localrag eval lawqa --method all --orders 4",
        "localrag eval lawqa --method statute-direct --model qwen3-8b --model llama-3-8b-instruct",
        "localrag eval lawqa --method all --dry-run",
        "localrag eval jemhopqa --method staged,staged-symbolic --model qwen3-8b --judge qwen3-8b",
        "localrag eval jemhopqa --method staged --stages 1,2,3,1-2,2-1,1-3,2-3,1-2-3",
        "localrag eval hotpotqa --method naive --own-documents",
        "localrag eval musique --method all --unanswerable",
    ],
    exit_codes=_CODES,
)
def run(
    context: typer.Context,
    call: EvalOptions,
    as_json: Json = False,
) -> None:
    """Ask the questions of a dataset with one method or several, and write a report.

    A question of your own is a JSON object with id, question, options and answer; docs/datasets.md
    has every field.

    The report (Markdown, JSON, a plot) gives scores with intervals, paired tests between the
    methods, recall of the search, cost, and failures with causes, beside published figures. For
    answers in free text it gives the measures of the dataset, and verdicts on answers and
    derivations, by code and by the model of --judge. That model judges each answer once.

    Stopping loses nothing: the same command continues. All runs share answers made with the same
    settings: further questions, orders or methods ask only new ones. A failed question does not
    stop the others, and counts as wrong: the report is written, and the exit code is 4. Passing
    failures, such as a dead server, are asked again by the next call, others with --retry-failed.
    An unusable model is reported before anything is asked. If it fails later, its entries stop, the
    others are reported, and the exit code is 8.
    """
    from localrag.doors.cli.render_data import tell_usual_corpus
    from localrag.doors.cli.render_eval import (
        finished_as_json,
        forecasts_as_json,
        print_finished,
        print_forecasts,
        shown_events,
        tell_left_out,
    )
    from localrag.doors.cli.terminal import emit
    from localrag.evaluation.datasets.loading import corpus_name, find
    from localrag.evaluation.runner import evaluate, forecast

    session: Session = context.obj
    workspace = session.workspace.require()
    found = find(workspace, call.dataset)
    named = call.corpus or corpus_name(found.dataset)
    planned = _planned(session, session.corpus(named).name, found, call)
    tell_left_out(planned.left_out)
    if not named and any(setup.method.searches for setup in planned.setups):
        tell_usual_corpus(planned.questions.dataset.name, planned.corpus)
    if call.dry_run:
        expected = list(forecast(planned, retry_failed=call.retry_failed))
        if as_json:
            emit(forecasts_as_json(planned, expected))
        else:
            print_forecasts(planned, expected)
        return
    with shown_events() as listener:
        finished = evaluate(
            planned, run=call.name, retry_failed=call.retry_failed, on_event=listener
        )
    if as_json:
        emit(finished_as_json(planned, finished))
    else:
        print_finished(finished)
    if finished.stopped:
        raise typer.Exit(next(iter(finished.stopped.values())).exit_code)
    if any(result.failure for entry in finished.evaluation.entries for result in entry.results):
        raise typer.Exit(4)


def _planned(session: Session, corpus: str, found: "FoundDataset", call: EvalOptions) -> "Plan":
    """Read the questions, and plan their evaluation on a corpus."""
    from localrag.evaluation.datasets.loading import load, synonyms_at_hand
    from localrag.evaluation.planning import plan

    asked = load(
        session.workspace,
        call.dataset,
        call.split,
        call.questions,
        corpus=corpus,
        own_documents=call.own_documents,
        unanswerable=call.unanswerable,
        limit=call.limit,
    )
    return plan(
        session.workspace,
        asked,
        corpus,
        session.config(corpus),
        _separate(call.method),
        models=call.model or (),
        # A value without an order is refused, not replaced by the setting.
        stages=_separate(call.stages or ()) or call.stages or (),
        judge=call.judge,
        synonyms=synonyms_at_hand(found),
        orders=call.orders,
        limit=call.limit,
    )


def _separate(values: Iterable[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


@verb(
    app,
    "queries",
    examples=[
        "localrag eval queries wiki-queries.toml --corpus wiki --n 40",
        "localrag eval wiki-queries.toml --corpus wiki --method chunks,pr3 --judge qwen3-8b",
    ],
    exit_codes=(0, 2, 3, 5, 6, 7, 8, 130),
)
def queries(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Declaration to write (.toml), with its questions beside it (.jsonl).",
            show_default=False,
        ),
    ],
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="Questions to make.")] = 40,
    aspects: Annotated[
        int,
        typer.Option(
            "--aspects",
            metavar="N",
            min=2,
            max=10,
            help="Documents that an answer needs.",
        ),
    ] = 4,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Have a model make questions over a whole collection, as a dataset for eval.

    Each is made of similar prepared questions of different documents (localrag prepare --layers
    synthetic-qa). These are its aspects: topics of a good answer. An evaluation reports how many of
    them are cited, and with --judge how a model rates every two answers.

    Stopping loses nothing: the same command continues.
    """
    from localrag.doors.cli.render_batch import EVERY
    from localrag.doors.cli.terminal import Meter, emit, say
    from localrag.evaluation.queries import make_queries
    from localrag.language import _

    session: Session = context.obj
    opened = session.corpus(corpus).require()
    with Meter(EVERY) as meter:
        made = make_queries(
            session.workspace,
            opened.name,
            opened.config,
            file,
            n,
            aspects=aspects,
            on_event=meter.update,
        )
    if as_json:
        emit(
            {
                "declaration": str(file),
                "questions": made.questions,
                "earlier": made.earlier,
                "refused": made.refused,
                "calls": len(made.calls),
            }
        )
        return
    words = _("questions: {n:,}; made before: {earlier:,}; refused by code: {refused:,}")
    say(words.format(n=made.questions, earlier=made.earlier, refused=made.refused))
    say(
        _("Measure methods on them: {command}").format(
            command=f"localrag eval {file} --corpus {opened.name} --method chunks,pr3"
        )
    )


@verb(app, "list", examples=["localrag eval list", "localrag eval list --json"], exit_codes=(0, 5))
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the runs, and which are not finished."""
    from dataclasses import asdict

    from localrag.doors.cli.render_eval import print_runs
    from localrag.doors.cli.terminal import emit
    from localrag.evaluation.record import damaged, recorded
    from localrag.language import _

    session: Session = context.obj
    workspace = session.workspace.require()
    found = list(recorded(workspace))
    for folder in damaged(workspace):
        words = _("the record of the run in {folder} cannot be read")
        tell_note(words.format(folder=folder))
    if as_json:
        emit([{"run": folder.name, "folder": str(folder), **asdict(run)} for folder, run in found])
    else:
        print_runs(found)


@verb(
    app,
    "compare",
    examples=["localrag eval compare lawqa/before lawqa/after"],
    exit_codes=(0, 2, 3, 4, 5),
)
def compare(
    context: typer.Context,
    first: Annotated[
        str, typer.Argument(metavar="RUN", help="Name of a run (localrag eval list).")
    ],
    second: Annotated[str, typer.Argument(metavar="RUN", help="The run to compare it with.")],
    as_json: Json = False,
) -> None:
    """Compare two runs on their common questions: scores, settings, changed answers.

    Both must be finished.
    """
    from localrag.doors.cli.terminal import emit, say_text
    from localrag.evaluation import comparison
    from localrag.evaluation.record import evaluation_of, find

    session: Session = context.obj
    workspace = session.workspace.require()
    compared = comparison.compare(
        evaluation_of(find(workspace, first)), evaluation_of(find(workspace, second))
    )
    if as_json:
        emit(comparison.as_json(compared))
    else:
        say_text(comparison.markdown(compared))
