"""The verbs `batch`, `tune-retrieval` and `methods`: many questions, ways to answer them."""

import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import AsOf, CorpusName, Json, MethodName, Ray, Where, on
from localrag.doors.session import Corpus, Session
from localrag.errors import UsageError
from localrag.language import N_, _, ngettext

if TYPE_CHECKING:
    from localrag.evaluation.tuning import Trial, Tuning
    from localrag.methods.catalogue import Method


@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """The options of `batch`."""

    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="JSON Lines, CSV or a workbook of Excel; - reads standard input.",
            readable=False,
        ),
    ]
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="File of answers: JSON Lines, or by its ending .xlsx, .csv, .docx or .md.",
        ),
    ] = None
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency",
            metavar="N",
            min=0,
            max=256,
            help="Questions to a model server at the same time; 0: "
            "chat.parallel. With --ray: number of workers; 0: one per "
            "processor.",
        ),
    ] = 0
    method: MethodName = None
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Ask failed rows again.")] = (
        False
    )
    restart: Annotated[
        bool, typer.Option("--restart", help="Drop existing answers and start again.")
    ] = False
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check all rows, answer up to 20 of them to estimate time and tokens, "
            "write nothing.",
        ),
    ] = False
    where: Where = None
    ray: Ray = ""
    as_of: AsOf = ""
    corpus: CorpusName = ""


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
    call: BatchOptions,
    as_json: Json = False,
) -> None:
    """A row is {"question": "…"}. It may have an "id" and "options" (a list, or an object of a, b,
    c, d). "documents" (ids) or "where" ({"kind": "Act"}, or "kind=Act; chapter=罰則") limit the
    search. CSV has a header with question, id, where, option_a, option_b … The text is UTF-8.

    CSV may also come from Excel in Japan, with the columns 質問, 番号, 選択肢1, 選択肢2 … In a
    workbook (.xlsx, .xlsm) the one visible sheet with such a header is read, as last calculated.
    Answers for Excel or Word (--out FILE.xlsx, .csv, .docx, .md) are made at the end from
    FILE.jsonl. The same command with another ending makes another file.

    Stopping loses nothing: the same command continues, and asks no answered question again. A
    failed row does not stop the others. Its error replaces the answer, and the exit code is 4, also
    with --dry-run. The answers have the order of the questions. Their settings are kept in the
    folder FILE.run; with settings that would change answers the batch does not continue.

    With --ray, workers on other machines or on this one (local) answer. A batch can continue with
    or without --ray.
    """
    from localrag.doors.cli.render_batch import print_report, report_as_json, shown_events
    from localrag.doors.cli.terminal import emit

    session: Session = on(context.obj, call.as_of)
    wanted = "; ".join(call.where) if call.where else None
    session = session.with_settings({"method.name": call.method, "retrieval.where": wanted})
    opened = session.corpus(call.corpus).require()
    source = sys.stdin.buffer if str(call.questions) == "-" else call.questions
    if call.dry_run:
        _estimate(session, opened, source, call, as_json=as_json)
        return
    if call.out is None:
        raise UsageError(
            N_("No output file is named for the answers."),
            N_("Name a file: --out FILE"),
        )
    with shown_events() as listener:
        report = opened.batch(
            source,
            call.out,
            concurrency=call.concurrency,
            retry_failed=call.retry_failed,
            restart=call.restart,
            ray=call.ray,
            on_event=listener,
        )
    if as_json:
        emit(report_as_json(call.out, report))
    else:
        print_report(call.out, report)
    if report.failed:
        raise typer.Exit(4)


def _estimate(
    session: Session, corpus: Corpus, source: Path | IO[bytes], call: BatchOptions, *, as_json: bool
) -> None:
    """Answer some of the rows, and print the time and the tokens for all."""
    from localrag.doors.cli.render_batch import print_estimate, shown_events
    from localrag.doors.cli.terminal import emit
    from localrag.ops import batch as offline

    with shown_events() as listener:
        estimate = offline.estimate(
            session.workspace,
            corpus.name,
            corpus.config,
            source,
            call.out,
            concurrency=call.concurrency,
            retry_failed=call.retry_failed,
            restart=call.restart,
            on_event=listener,
        )
    if as_json:
        emit(asdict(estimate))
    else:
        print_estimate(estimate)
    if estimate.unreadable or estimate.unanswerable or estimate.failed:
        raise typer.Exit(4)


@verb(
    app,
    "tune-retrieval",
    examples=[
        "localrag tune-retrieval questions.jsonl",
        "localrag tune-retrieval questions.jsonl --apply",
    ],
    exit_codes=(0, 2, 3, 4, 5, 7, 8),
)
def tune_retrieval(
    context: typer.Context,
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS", help="JSON Lines with question, relevant and, if any, options."
        ),
    ],
    apply: Annotated[
        bool, typer.Option("--apply", help="Make the chosen search the default of this corpus.")
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Each line names the answer of a question: {"question": "渡し守の資格は何か", "relevant":
    ["渡し舟法施行令3条"]}, with citations as for `show`, or ids of passages. All ways possible with
    the models of the settings are tried. The simplest one not clearly behind the best is chosen (95
    % interval of the paired difference in nDCG). Keep other questions to check it with.
    """
    from localrag.doors.cli.terminal import Meter, emit, tell
    from localrag.evaluation import tuning
    from localrag.text.progress import Phase, Stopwatch

    session: Session = context.obj
    workspace, name = session.workspace.require(), session.corpus(corpus).require().name
    with Meter() as meter:
        found = tuning.tune(
            workspace,
            name,
            session.config(name),
            questions,
            on_progress=partial(Stopwatch(meter.update), Phase(N_("searching"), N_("searches"))),
        )
    for line in found.unusable:
        words = _("line {n}: {cause}").format(n=line.line, cause=line.cause)
        tell((_("left out: "), "yellow"), words)
    written = tuning.apply(workspace.corpus(name), found) if apply and found.tried else None
    if as_json:
        emit(
            {
                "corpus": name,
                "questions": found.questions,
                "k": found.k,
                "trials": [_trial(trial) for trial in found.trials],
                "chosen": _trial(found.chosen),
                "unusable": [asdict(line) for line in found.unusable],
                "applied": str(written) if written else None,
            }
        )
    else:
        _print_trials(found, written)


def _print_trials(found: "Tuning", written: Path | None) -> None:
    from localrag.doors.cli.terminal import say, table

    of = _("{n} of {total}")
    table(
        (
            _("way"),
            f"nDCG@{found.k}",
            _("behind the best [95 %]"),
            _("any found"),
            _("all found"),
            "ms",
        ),
        [
            (
                _called(trial.name),
                f"{trial.ndcg:.3f}",
                "{:.3f} [{:.3f}, {:.3f}]".format(*trial.behind),
                of.format(n=trial.any_found, total=found.questions),
                of.format(n=trial.all_found, total=found.questions),
                f"{trial.seconds * 1000:.1f}",
            )
            for trial in found.trials
        ],
    )
    if not found.tried:
        said = _("only words were tried, so nothing is written: the settings name no other model")
        say(said)
    say(
        _("chosen: "),
        (_called(found.chosen.name), "bold"),
        _(", the simplest not clearly behind the best"),
    )
    if written:
        say(_("written to {path}").format(path=written))
    elif found.tried:
        say(_("Make it the default of this corpus: the same with "), ("--apply", "bold"))


def _called(name: str) -> str:
    """The name of a search in the language in use: "words + meaning 1:2, reread"."""
    words = {
        "words": N_("words"),
        "meaning": N_("meaning"),
        "by ranks": N_("by ranks"),
        ", reread": N_(", reread"),
    }
    for word, message in words.items():
        name = name.replace(word, _(message))
    return name


def _trial(trial: "Trial") -> dict[str, Any]:
    difference, low, high = trial.behind
    return {
        "name": trial.name,
        "settings": trial.settings.model_dump(),
        "ndcg": trial.ndcg,
        "behind": {"mean": difference, "low": low, "high": high},
        "any_found": trial.any_found,
        "all_found": trial.all_found,
        "seconds": trial.seconds,
    }


@verb(
    app,
    "methods",
    examples=["localrag methods", "localrag methods --json"],
    exit_codes=(0, 2),
)
def methods(as_json: Json = False) -> None:
    """Methods for everyday use come first, then methods of papers. Each line shows the steps of a
    method, its source, and its calls of a model. The calls are for one question with four options.
    Choose one with --method NAME, or for good with the setting method.name. The default is
    generative if the settings name a model (chat.model), else extractive.
    """
    from localrag.doors.cli.terminal import emit, say
    from localrag.methods.catalogue import NAMES, WITH_MODEL, WITHOUT_MODEL, Purpose, method

    found = [method(name) for name in NAMES]
    if as_json:
        emit([_as_json(one) for one in found])
        return
    defaults = {
        WITHOUT_MODEL: _("; answers if no method and no model is named"),
        WITH_MODEL: _("; answers if a model is named and no method"),
    }
    headings = {Purpose.USE: _("To use"), Purpose.PAPER: _("To reproduce a paper, or compare")}
    for one in found:
        if heading := headings.pop(one.purpose, ""):
            say((heading, "bold underline"))
        say((one.name, "bold"), f"  {_needs(one)}{defaults.get(one.name, '')}")
        say(_(one.about), indent=4)
        if one.source:
            say((_(one.source), "dim"), indent=4)
        if one.layers:
            made_by = _("searches the layers made by: localrag prepare --layers {layers}")
            say((made_by.format(layers=",".join(one.layers)), "dim"), indent=4)


_OPTIONS = 4


def _needs(method: "Method") -> str:
    fewest, most = method.calls.of(_OPTIONS), method.calls.most(_OPTIONS)
    calls = _("{fewest} to {most}") if most > fewest else "{most}"
    model = _("no model")
    if most:
        model = ngettext("{calls} call of a model", "{calls} calls of a model", most)
    known = _(", given the answering texts: for evaluation only") if method.reads_context else ""
    return model.format(calls=calls.format(fewest=fewest, most=most)) + known


def _as_json(method: "Method") -> dict[str, Any]:
    return {
        "name": method.name,
        "purpose": method.purpose,
        "about": _(method.about),
        "source": _(method.source),
        "calls": method.calls.of(_OPTIONS),
        "most_calls": method.calls.most(_OPTIONS),
        "searches": method.searches,
        "reads_context": method.reads_context,
        "chooses": method.chooses,
        "writes_queries": method.writes_queries,
        "layers": list(method.layers),
    }
