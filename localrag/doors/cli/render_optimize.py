"""Shows an optimisation in progress, and its outcome."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from localrag.answer.prompts import OptimisedPrompt, optimised_names
from localrag.corpus.workspace import Workspace
from localrag.doors.cli.terminal import duration, say, say_text, table, tell, tell_note
from localrag.errors import UsageError, WorkspaceError
from localrag.evaluation.optimize.folder import RunFolder, runs
from localrag.evaluation.optimize.types import (
    Accepted,
    Begun,
    Candidate,
    Event,
    Leak,
    Listener,
    OptimisationOutcome,
    OptimisationProgress,
    Reported,
    Reporting,
)
from localrag.evaluation.statistics import share
from localrag.language import N_, _, colon, ngettext
from localrag.text.facts import Fact

_EVERY = 30.0
"""Seconds between two lines of progress; an optimisation takes hours."""

_SHOWN = 24
"""Characters shown of a leak."""

_SEED = N_("the built-in instruction: optimisation found no better one")
_EDITED = N_("edited by hand after it was made: the scores are not its own")

_PROVENANCE = (
    *(N_("digest"), N_("made_by"), N_("date"), N_("dataset"), N_("split"), N_("sha256")),
    *(N_("train_n"), N_("validation_n"), N_("objective"), N_("seed_score"), N_("best_score")),
    *(N_("is_seed"), N_("candidates"), N_("model"), N_("reflection_model"), N_("seed")),
    *(N_("calls"), N_("seconds"), N_("ended"), N_("seen")),
)
"""Messages on the origin of a prompt."""

_ENDS = {
    "calls": N_("the calls are spent"),
    "minutes": N_("the minutes are spent"),
    "perfect": N_("no further gain is possible"),
    "idle": N_("there is nothing new to try"),
    "stopped": N_("stopped; the same command goes on"),
}


@contextmanager
def shown_events() -> Iterator[Listener]:
    """Print events on standard error."""
    spoke = time.monotonic()

    def listener(event: Event) -> None:
        nonlocal spoke
        match event:
            case Begun():
                _tell_begun(event)
            case Fact():
                tell_note(str(event))
            case Accepted():
                _tell_accepted(event)
            case Leak():
                words = (
                    _("a proposal carries question {name}: {wording}")
                    if event.question
                    else _("a proposal carries article number: {wording}")
                )
                said = words.format(name=event.question, wording=event.wording[:_SHOWN])
                tell((_("refused: "), "yellow"), said)
            case Reporting() if time.monotonic() - spoke >= _EVERY:
                spoke = time.monotonic()
                words = _("trying the prompts on other questions: {done:,} of {total:,}")
                tell(words.format(done=event.done, total=event.total))
            case OptimisationProgress() if time.monotonic() - spoke >= _EVERY:
                spoke = time.monotonic()
                tell(_progress(event))
            case _:
                pass

    yield listener


def print_outcome(outcome: OptimisationOutcome) -> None:
    """Print the gain, the attempts, the cost, and the use of the prompt."""
    best, seed = outcome.candidates[outcome.best], outcome.candidates[0]
    n = ngettext("{n:,} validation question", "{n:,} validation questions", outcome.validation)
    n = n.format(n=outcome.validation)
    say((outcome.name, "bold"), f"{colon()}{_(_ENDS.get(outcome.end, outcome.end))}")
    if outcome.best:
        say(
            (f"{best.score:.3f}", "bold green"),
            _(" against {score:.3f} of the built-in instruction, on {questions}").format(
                score=seed.score, questions=n
            ),
        )
        say(_("It was chosen by these questions, so others may gain less: measure it on others."))
    else:
        say(
            (_("no gain: "), "bold yellow"),
            _("the built-in instruction stays the best ({score:.3f} on {questions})").format(
                score=seed.score, questions=n
            ),
        )
    refused = outcome.refused
    tried = ngettext(
        "{n:,} candidate; proposals that became none: {worse:,} no better, {repeated:,} tried "
        "before, {leaking:,} carrying wording of the questions, {malformed:,} malformed",
        "{n:,} candidates; proposals that became none: {worse:,} no better, {repeated:,} tried "
        "before, {leaking:,} carrying wording of the questions, {malformed:,} malformed",
        len(outcome.candidates),
    )
    say(
        tried.format(
            n=len(outcome.candidates),
            worse=refused.not_better,
            repeated=refused.repeated,
            leaking=refused.leaking,
            malformed=refused.malformed,
        )
    )
    if outcome.reported:
        print_reported(outcome.reported)
    spent = ngettext(
        "{n:,} call of models, {time} of work",
        "{n:,} calls of models, {time} of work",
        outcome.calls,
    )
    say(spent.format(n=outcome.calls, time=duration(outcome.seconds)))
    if outcome.best:
        say(_("Use it: "), (f"--set method.query_prompt={outcome.name}", "bold"))
    else:
        words = _("The prompt {name} is the built-in instruction: there is nothing to use yet.")
        say(words.format(name=outcome.name))


def print_reported(reported: Reported) -> None:
    """Print both scores on other questions."""
    n = ngettext("{n:,} other question", "{n:,} other questions", reported.n).format(n=reported.n)
    say(_("On {questions}, a right provision is among the hits of:").format(questions=n))
    for name, found, score in zip(
        (_("the built-in instruction"), _("the best one")),
        reported.found,
        reported.scores,
        strict=True,
    ):
        rate = share(found, reported.n)
        words = _("{name}: {found:,} ({rate:.3f}, 95 % [{low:.3f}, {high:.3f}]), score {score:.3f}")
        figures = {"rate": rate.value, "low": rate.low, "high": rate.high, "score": score}
        say("  " + words.format(name=name, found=found, **figures))


def outcome_as_json(outcome: OptimisationOutcome) -> dict[str, Any]:
    """Give the JSON of ``localrag optimize queries``."""
    return {**asdict(outcome), "gain": outcome.gain}


def overview(workspace: Workspace) -> list[dict[str, Any]]:
    """Every prompt and every run, by name; null for unknown values."""
    rows = []
    for name in sorted({*optimised_names(workspace.prompts), *runs(workspace)}):
        row: dict[str, Any] = {"name": name, "prompt": False, "provenance": {}, "problem": ""}
        row |= {"is_seed": False, "is_edited": False}
        try:
            if RunFolder.of(workspace, name).prompt.exists():
                prompt = OptimisedPrompt.load(workspace.prompts, name)
                row |= {"prompt": True, "provenance": dict(prompt.provenance), **_kind(prompt)}
        except (UsageError, WorkspaceError) as error:
            row["problem"] = error.cause
        rows.append(row)
    return rows


def print_overview(rows: Sequence[dict[str, Any]]) -> None:
    """Print a line per prompt or run."""
    if not rows:
        say(_("There is no optimised prompt yet. Make one: localrag optimize queries DATASET"))
        return
    table(
        (
            _("name"),
            _("built-in"),
            _("best"),
            "n",
            _("objective"),
            _("questions"),
            _("model"),
            _("made"),
        ),
        [_row(row) for row in rows],
        folding=(_("name"), _("questions"), _("model")),
    )


def print_prompt(prompt: OptimisedPrompt, outcome: OptimisationOutcome | None) -> None:
    """Print the text, its provenance, and the candidates it was chosen from."""
    say((prompt.name, "bold"))
    if prompt.is_edited or prompt.is_seed:
        say((_(_EDITED if prompt.is_edited else _SEED), "yellow"))
    say_text(prompt.text, indent=2)
    say("")
    for name, value in prompt.provenance.items():
        say((f"{_(name)}{colon()}", "bold"), _stated(name, value))
    if outcome is None:
        return
    for number, candidate in enumerate(outcome.candidates):
        mark = _(", the best") if number == outcome.best else ""
        say("")
        say(
            (_("candidate {n}").format(n=number), "bold"),
            f"  {candidate.score:.3f}, {_made(candidate)}{mark}",
        )
        say_text(candidate.text, indent=2)


def prompt_as_json(prompt: OptimisedPrompt, outcome: OptimisationOutcome | None) -> dict[str, Any]:
    """Give the JSON of ``localrag optimize show``."""
    return {
        "name": prompt.name,
        "text": prompt.text,
        "provenance": dict(prompt.provenance),
        **_kind(prompt),
        "run": outcome_as_json(outcome) if outcome else None,
    }


def _kind(prompt: OptimisedPrompt) -> dict[str, bool]:
    return {"is_seed": prompt.is_seed, "is_edited": prompt.is_edited}


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    made = row["provenance"]
    if not made or row["is_edited"]:
        state = _("made by hand") if row["prompt"] else _("not finished")
        state = _(_EDITED) if row["is_edited"] else row["problem"] or state
        return (row["name"], "", "", "", "", state, "", "")
    return (
        row["name"],
        _figure(made.get("seed_score")),
        _("no gain") if row["is_seed"] else _figure(made.get("best_score")),
        str(made.get("validation_n", "")),
        str(made.get("objective", "")),
        f"{made.get('dataset', '')} {made.get('split', '')}".strip(),
        str(made.get("model", "")),
        str(made.get("date", ""))[:10],
    )


def _stated(name: str, value: object) -> str:
    """A line of the provenance; the questions it was made with are many hashes, so their number."""
    if name == "ended":
        return _(_ENDS.get(str(value), str(value)))
    if name == "seen":
        n = len(str(value).split())
        return ngettext("{n:,} question", "{n:,} questions", n).format(n=n)
    return _figure(value) if name.endswith("_score") else str(value)


def _figure(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | int) else ""


def _made(candidate: Candidate) -> str:
    if candidate.parent is None:
        return _("the built-in one")
    return _("from {n}").format(n=candidate.parent)


def _tell_begun(event: Begun) -> None:
    learned = ngettext(
        "{n:,} question to learn from, {other:,} to choose by; {models}",
        "{n:,} questions to learn from, {other:,} to choose by; {models}",
        event.train,
    )
    models = _(" and ").join(event.models)
    tell(learned.format(n=event.train, other=event.validation, models=models))
    if event.unusable:
        words = ngettext(
            "left out: {n:,} question without what the objective compares with",
            "left out: {n:,} questions without what the objective compares with",
            event.unusable,
        )
        tell_note(words.format(n=event.unusable))
    if len(event.models) > 1 and event.loaded:
        words = _("two models are loaded: {size:.1f} GB of weights, and what their contexts take")
        tell_note(words.format(size=event.loaded / 10**9))
    if event.known:
        words = ngettext(
            "goes on: {n:,} outcome of earlier starts costs nothing again",
            "goes on: {n:,} outcomes of earlier starts cost nothing again",
            event.known,
        )
        torn = _("; a line that was cut off is dropped") if event.torn else ""
        tell_note(words.format(n=event.known) + torn)


def _tell_accepted(event: Accepted) -> None:
    words = (
        _("candidate {n} ({made}): {score:.3f}, the best so far")
        if event.best and event.number
        else _("candidate {n} ({made}): {score:.3f}")
    )
    made = _made(event.candidate)
    tell(words.format(n=event.number, made=made, score=event.candidate.score))


def _progress(event: OptimisationProgress) -> str:
    plan = event.plan
    words = ngettext(
        "optimising: {n:,} candidate, best {best}, {calls:,} of {most:,} calls, at most {left} "
        "left",
        "optimising: {n:,} candidates, best {best}, {calls:,} of {most:,} calls, at most {left} "
        "left",
        event.candidates,
    ).format(
        n=event.candidates,
        best="–" if event.best is None else f"{event.best:.3f}",
        calls=event.calls,
        most=plan.calls,
        left=duration(max(0.0, 60 * plan.minutes - event.seconds)),
    )
    return words + (_(" (repeating known outcomes)") if event.replayed else "")
