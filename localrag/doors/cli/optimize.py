"""``localrag optimize``: prompts improved on questions with known answers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from localrag.doors.cli.main import group, verb
from localrag.doors.cli.options import CorpusSearched, DatasetName, Json, QuestionsFile, SplitName
from localrag.doors.session import Session

_CODES = (0, 2, 3, 4, 5, 6, 7, 8, 130)
_EXAMPLES = (
    "localrag optimize queries lawqa --name first",
    "localrag optimize queries lawqa --name first --calls 3000",
    "localrag optimize show first",
    "localrag --set method.query_prompt=first eval lawqa --method statute-gepa",
)

app = group(
    "optimize",
    about="The prompt for writing search queries is tried on some of the questions of a "
    "dataset. A model reads the results and proposes another prompt. The best by the "
    "other questions is kept under a name. If none beats the built-in one, the built-in "
    "one is kept, and the output says so. Use the result with --set "
    "method.query_prompt=NAME.",
    examples=_EXAMPLES,
    exit_codes=_CODES,
)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the run and its prompt.", show_default=False)
]


@dataclass(frozen=True, kw_only=True)
class OptimizeOptions:
    """The options of `optimize queries`."""

    dataset: DatasetName
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Name of the run and its prompt.")
    ]
    split: SplitName = ""
    questions: QuestionsFile = None
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="Use N questions; 0: all.")
    ] = 0
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Other questions, in the same format: the built-in and the "
            "best prompt are tried on them at the end. Their calls are "
            "additional.",
        ),
    ] = None
    objective: Annotated[
        Literal["overlap", "recall"],
        typer.Option(
            "--objective",
            metavar="overlap|recall",
            help="Score a query by the share of the gold context in its best "
            "hit, or by the number and rank of gold articles in the first "
            "ten hits of ask.",
        ),
    ] = "overlap"
    calls: Annotated[
        int, typer.Option("--calls", metavar="N", min=1, help="Calls of models at most.")
    ] = 1_000
    minutes: Annotated[
        float, typer.Option("--minutes", metavar="M", min=0.01, help="Minutes of work at most.")
    ] = 480.0
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Model for the queries, and for proposals without "
            "--reflection-model; else the setting chat.model.",
        ),
    ] = ""
    reflection_model: Annotated[
        str,
        typer.Option(
            "--reflection-model",
            metavar="MODEL",
            help="Model for proposals; without it, the model of the queries. "
            "Both must fit into memory.",
        ),
    ] = ""
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="N", min=0, help="Seed for the halves and every choice."),
    ] = 0
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Drop the earlier run of this name and replace its prompt."),
    ] = False
    corpus: CorpusSearched = ""


@verb(
    app,
    "queries",
    examples=[
        "localrag optimize queries lawqa --name first",
        "localrag optimize queries lawqa --name first --model qwen3-8b --calls 3000",
        "localrag optimize queries asked.jsonl --name asked --objective recall --calls 300",
        "localrag optimize queries lawqa --name large --reflection-model qwen3-32b",
    ],
    exit_codes=_CODES,
)
def queries(
    context: typer.Context,
    call: OptimizeOptions,
    as_json: Json = False,
) -> None:
    """Optimise the prompt for the search queries of a model.

    Half of the questions are for learning, half for choosing. A call is a query or a proposal; a
    run needs many times more calls than questions to choose by.

    A proposal is refused if it contains 13 letters in a row of a Japanese question, its options or
    its gold context (41 of an English one). It is also refused with 24 (80) of a question and its
    options, in pieces of 6 (20) or more. Blanks, signs, tags, widths, case, kana and single
    inserted letters hide nothing. The number of a gold article is refused too, and three bare
    numbers. Names of laws, words of the built-in prompt and words of five questions are free.
    Paraphrases, translations, shorter pieces, pieces of a gold context, English number words and
    reversed text are not found: read a prompt before you trust its score.

    Stopping loses nothing: the same command continues, pays for nothing twice and ends with the
    same prompts. Calls and minutes count over all starts; with more of them a finished run
    continues. It does not continue with other questions, models, servers or settings, or after its
    prompt was edited by hand.
    """
    from localrag.doors.cli.render_data import tell_usual_corpus
    from localrag.doors.cli.render_optimize import outcome_as_json, print_outcome, shown_events
    from localrag.doors.cli.terminal import emit
    from localrag.evaluation.datasets.loading import corpus_name, find
    from localrag.evaluation.optimize.optimise import optimise
    from localrag.evaluation.optimize.types import Objective, OptimisationPlan

    session: Session = context.obj
    session = session.with_settings({"chat.model": call.model or None})
    workspace = session.workspace.require()
    found = find(workspace, call.dataset).dataset
    brought = corpus_name(found)
    place = session.corpus(call.corpus or brought).require().name
    if not (call.corpus or brought):
        tell_usual_corpus(found.name, place)
    plan = OptimisationPlan(
        name=call.name,
        dataset=call.dataset,
        split=call.split,
        questions=call.questions,
        limit=call.limit,
        report=call.report,
        objective=Objective(call.objective),
        calls=call.calls,
        minutes=call.minutes,
        reflection=call.reflection_model,
        seed=call.seed,
    )
    with shown_events() as listener:
        outcome = optimise(
            workspace, place, session.config(place), plan, restart=call.restart, on_event=listener
        )
    if as_json:
        emit(outcome_as_json(outcome))
    else:
        print_outcome(outcome)


@verb(
    app,
    "list",
    examples=["localrag optimize list", "localrag optimize list --json"],
    exit_codes=(0, 2, 5),
)
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the optimised prompts and their runs."""
    from localrag.doors.cli.render_optimize import overview, print_overview
    from localrag.doors.cli.terminal import emit

    session: Session = context.obj
    rows = overview(session.workspace.require())
    if as_json:
        emit(rows)
    else:
        print_overview(rows)


@verb(
    app,
    "show",
    examples=["localrag optimize show first", "localrag optimize show first --json"],
    exit_codes=(0, 2, 3, 5),
)
def show(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show an optimised prompt, its origin, and every candidate of its run."""
    from localrag.answer.prompts import OptimisedPrompt
    from localrag.doors.cli.render_optimize import print_prompt, prompt_as_json
    from localrag.doors.cli.terminal import emit
    from localrag.evaluation.optimize.folder import RunFolder

    session: Session = context.obj
    workspace = session.workspace.require()
    prompt = OptimisedPrompt.load(workspace.prompts, name)
    outcome = RunFolder.of(workspace, name).outcome()
    if as_json:
        emit(prompt_as_json(prompt, outcome))
    else:
        print_prompt(prompt, outcome)
