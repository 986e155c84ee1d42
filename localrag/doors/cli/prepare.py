"""The verbs `prepare` and `calibrate`: layers made by a model, and their threshold."""

from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localrag.corpus.durable import replace_text, storing
from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import CorpusName, Json, Ray
from localrag.doors.session import Corpus, Session
from localrag.errors import UsageError
from localrag.language import N_, _, colon

if TYPE_CHECKING:
    from localrag.prepare.measuring import Distribution
    from localrag.prepare.preparing import LayerReport

# Seconds between two lines without a terminal; a layer may take days.
_EVERY = 30.0
# Causes of malformed replies on the screen; JSON has all.
_PROBLEMS = 5


class By(StrEnum):
    """Ways to rewrite sentences."""

    AUTO = "auto"
    MODEL = "model"
    STATUTES = "statutes"


@dataclass(frozen=True, kw_only=True)
class PrepareOptions:
    """The options of `prepare`."""

    layers: Annotated[
        str,
        typer.Option(
            "--layers",
            metavar="NAMES",
            help="sentences, decontextualized, questions, metadata, synthetic-qa, mk-summaries; "
            "with commas between.",
        ),
    ] = "decontextualized"
    by: Annotated[
        By,
        typer.Option(
            "--by",
            help="How sentences are rewritten: by a chat model (model), for "
            "statutes without a model (statutes), or both (auto).",
        ),
    ] = By.AUTO
    categories: Annotated[
        str,
        typer.Option(
            "--categories",
            metavar="FILE",
            help="Categories for metadata: a TOML file, or statutes, "
            "encyclopaedia, papers; without it, as last time. propose has "
            "a model write such a file.",
        ),
    ] = ""
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File of the proposed categories."),
    ] = None
    least: Annotated[
        int,
        typer.Option("--least", metavar="N", min=1, help="Fewest questions of a summary."),
    ] = 10
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Make a sample of the corpus, and estimate the time for all.",
        ),
    ] = False
    ray: Ray = ""
    corpus: CorpusName = ""


@verb(
    app,
    "prepare",
    examples=[
        "localrag prepare --layers decontextualized,questions --dry-run",
        "localrag prepare --layers decontextualized,questions --corpus wiki",
        "localrag prepare --layers decontextualized --by statutes",
        "localrag prepare --layers metadata,synthetic-qa,mk-summaries --categories statutes",
        "localrag prepare --categories propose --out categories.toml",
    ],
    exit_codes=(0, 2, 5, 6, 7, 8, 130),
)
def prepare(
    context: typer.Context,
    call: PrepareOptions,
    as_json: Json = False,
) -> None:
    """sentences: every sentence unchanged. decontextualized: every sentence made readable alone,
    with names instead of pronouns; in statutes with the provisions behind 前項 and 同法. questions:
    questions about the added words, with answers. Code refuses a sentence with names or figures
    that its document does not have; it stays unchanged.

    metadata: every document sorted by categories, for --where. synthetic-qa: questions that a
    document answers, with the place of the answer checked by code. mk-summaries: topics of the
    questions of documents with the same metadata. --categories propose only makes a file of
    categories, for you to correct and pass on.

    Each is made once. Stopping loses nothing: the same command continues, and repeats only what a
    new text, prompt or model affects. At the end all layers are indexed by words and, with an
    embedder, by meaning. With --ray the model writes on other machines.
    """
    from localrag.corpus.inference.opening import open_chat
    from localrag.doors.cli.terminal import Meter, emit
    from localrag.prepare.metadata import PROPOSE, load
    from localrag.prepare.preparing import Opener
    from localrag.prepare.preparing import prepare as make

    session: Session = context.obj
    opened = session.corpus(call.corpus).require()
    if call.categories == PROPOSE:
        _propose(session, opened, call.out)
        return
    chosen = load(call.categories) if call.categories else None
    with ExitStack() as stack:
        opener: Opener = open_chat
        if call.ray:
            from localrag.ops.cluster.running import chat_on, joined

            opener = chat_on(stack.enter_context(joined(call.ray, opened.config)))
        meter = stack.enter_context(Meter(_EVERY))
        told: list[dict[str, object]] = []
        # After a failure, finished layers are printed too.
        stack.callback(lambda: emit(told) if told else None)
        for report in make(
            session.workspace,
            opened.name,
            opened.config,
            [name.strip() for name in call.layers.split(",")],
            by=call.by.value,
            categories=chosen,
            least=call.least,
            dry_run=call.dry_run,
            on_event=meter.update,
            opener=opener,
        ):
            if as_json:
                told.append(_as_json(report))
            else:
                meter.stop()
                _print(report)


def _propose(session: Session, corpus: Corpus, out: Path | None) -> None:
    """Write proposals of a model into a new file."""
    from localrag.doors.cli.terminal import say
    from localrag.prepare.metadata import as_toml
    from localrag.prepare.preparing import propose_categories

    if out is None or out.exists():
        raise UsageError(
            N_("No output file is named for the categories, or the file exists already."),
            N_("Name a new file: --out categories.toml"),
        )
    found = propose_categories(session.workspace, corpus.name, corpus.config)
    with storing(out):
        replace_text(out, as_toml(found), private=True)
    for key, category in found.items():
        say((key, "bold"), f"{colon()}{category.about}{colon()}{', '.join(category.values)}")
    say(
        _("Correct {path}, then: localrag prepare --layers metadata --categories {path}").format(
            path=out
        )
    )


def _as_json(report: "LayerReport") -> dict[str, object]:
    return {
        "layer": report.layer,
        "jobs": report.jobs,
        "earlier": report.earlier,
        "made": report.made,
        "left": report.left,
        "outcomes": {outcome.value: n for outcome, n in report.outcomes.items()},
        "malformed": [{"document": id_, "start": start} for id_, start in report.malformed],
        "problems": [
            {"n": n, "problem": problem.stored()} for problem, n in report.problems.most_common()
        ],
        "refused": report.refused,
        "dropped": report.gone,
        "tokens": {
            "prompt": report.prompt,
            "cached": report.cached,
            "completion": report.completion,
        },
        "seconds": report.seconds,
        "forecast_seconds": report.forecast,
    }


_OUTCOMES = {
    "made": N_("{n:,} made"),
    "unchanged": N_("{n:,} unchanged"),
    "refused": N_("{n:,} refused by code"),
    "malformed": N_("{n:,} malformed"),
}


def _print(report: "LayerReport") -> None:
    from localrag.doors.cli.terminal import duration, say, say_tokens
    from localrag.prepare.preparing import PHASES

    unit = _(PHASES[report.layer].unit)
    counts = [_(_OUTCOMES[outcome]).format(n=n) for outcome, n in report.outcomes.items()]
    if report.earlier:
        counts.append(_("{n:,} made before").format(n=report.earlier))
    if report.left:
        counts.append(_("{n:,} left").format(n=report.left))
    head = f"{colon()}{report.jobs:,} {unit}{_('; ')}{_(', ').join(counts)}"
    say((report.layer, "bold"), head)
    if report.made:
        say(
            _("this run: {time}, {rate:.1f} {unit} a second").format(
                time=duration(report.seconds),
                rate=report.made / max(report.seconds, 1e-6),
                unit=unit,
            )
        )
    if report.refused:
        say(_("refused by code: {n:,} texts").format(n=report.refused))
    say_tokens(report.prompt, report.cached, report.completion)
    if report.left and report.forecast:
        say(_("the rest takes about {time}").format(time=duration(report.forecast)))
    for problem, n in report.problems.most_common(_PROBLEMS):
        say(_("malformed: {n:,} ({problem})").format(n=n, problem=problem))
    for document, start in report.malformed:
        say(
            _("malformed: {document}, character {start:,}").format(document=document, start=start),
            indent=2,
        )


@verb(
    app,
    "calibrate",
    examples=[
        "localrag calibrate --corpus wiki",
        "localrag calibrate questions.jsonl --corpus wiki --json",
    ],
    exit_codes=(0, 2, 3, 4, 5, 7, 8),
)
def calibrate(
    context: typer.Context,
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="QUESTIONS",
            help="JSON Lines or CSV as for `batch`; without it a sample of the prepared ones.",
            show_default=False,
        ),
    ] = None,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """The method decon uses a prepared question for the asked one if their cosine reaches the
    threshold. Cosines depend on the embedder: the threshold should lie above unrelated questions
    and below equal ones.
    """
    from localrag.corpus.store import CorpusStore
    from localrag.doors.cli.terminal import Meter, emit
    from localrag.methods.decon import DeconSettings
    from localrag.prepare.index import LayerIndex
    from localrag.prepare.measuring import distributions
    from localrag.text.progress import Stopwatch

    session: Session = context.obj
    opened = session.corpus(corpus).require()
    config = opened.config
    asked = [] if questions is None else _questions_in(questions, session.workspace.home)
    place = session.workspace.corpus(opened.name)
    with (
        CorpusStore.open(place.store, read_only=True) as store,
        LayerIndex.open(session.workspace, opened.name, config, store) as index,
        Meter() as meter,
    ):
        found = distributions(index, store, asked, Stopwatch(meter.update))
    threshold = DeconSettings.of(config.method).threshold
    if as_json:
        emit([_distribution(one, threshold) for one in found])
    else:
        _print_distributions(found, threshold)


def _questions_in(path: Path, aside: Path) -> list[str]:
    from localrag.doors.cli.terminal import tell
    from localrag.ops.batch.table import open_table
    from localrag.ops.batch.types import QuestionRow

    with open_table(path, aside) as table:
        rows = list(table.rows())
    for row in rows:
        if not isinstance(row, QuestionRow):
            words = _("line {n}: {cause}").format(n=row.line, cause=row.problem.cause)
            tell((_("left out: "), "yellow"), words)
    return [row.query.text for row in rows if isinstance(row, QuestionRow)]


def _distribution(one: "Distribution", threshold: float) -> dict[str, object]:
    from localrag.prepare.measuring import QUANTILES

    return {
        "to": one.to,
        "n": len(one.cosines),
        "quantiles": {f"{share:g}": one.quantile(share) for share in QUANTILES},
        "threshold": threshold,
        "reaching": one.reaching(threshold),
    }


def _print_distributions(found: "list[Distribution]", threshold: float) -> None:
    from localrag.doors.cli.terminal import say, table
    from localrag.prepare.measuring import QUANTILES

    if not found:
        say(_("No question was prepared; there is nothing to compare with."))
        return
    table(
        (
            _("cosine to"),
            "n",
            *(f"{share:.0%}" for share in QUANTILES),
            _("{threshold:g} or more").format(threshold=threshold),
        ),
        (
            (
                _(one.to),
                f"{len(one.cosines):,}",
                *(f"{one.quantile(share):.3f}" for share in QUANTILES),
                f"{one.reaching(threshold):.0%}",
            )
            for one in found
        ),
    )
    say(_("Another threshold: localrag --set method.threshold=0.9 …, or in localrag.toml"))
