"""``localrag tune-retrieval``: how a corpus is best searched, measured on known questions."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import CorpusName, Json
from localrag.doors.session import Session

if TYPE_CHECKING:
    from localrag.evaluation.tuning import Trial


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
        bool, typer.Option("--apply", help="Make the chosen way the default of this corpus.")
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Measure which way of searching suits a corpus: words, meaning, both, reread or not.

    Each line names what answers the question: {"question": "渡し守の資格は何か", "relevant":
    ["渡し舟法施行令3条"]}; citations as for `show`, or ids of passages. Every way for which the
    settings name a model is tried, and the simplest is chosen that is not clearly behind the best
    (95 % interval of the paired difference in nDCG). Keep other questions apart to check it with.
    """
    from localrag.doors.cli.terminal import Meter, emit, say, table, tell
    from localrag.evaluation import tuning
    from localrag.language import N_, _
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
            said = _(
                "only words were tried, so nothing is written: the settings name no other model"
            )
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
    """What a way of searching is called in the language in use: "words + meaning 1:2, reread"."""
    from localrag.language import N_, _

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
