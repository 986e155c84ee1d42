"""How an optimisation is shown while it runs, and what it came to."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from localrag.cli.terminal import say, table, tell
from localrag.cli.wording import counted, duration
from localrag.errors import UsageError, WorkspaceError
from localrag.optimize.folder import RunFolder, runs
from localrag.optimize.types import (
    Accepted,
    Begun,
    Event,
    Leaked,
    Listener,
    Note,
    Outcome,
    Progress,
)
from localrag.prompts.optimised import OptimisedPrompt, names
from localrag.workspace import Workspace

_EVERY = 30.0
"""Seconds between two lines of progress; an optimisation takes hours."""

_SHOWN = 24
"""Characters of a leak that are told; the rest of a long wording tells no more."""

_SEED = "the built-in instruction: optimisation found no better one"
_EDITED = "edited by hand after it was made: the scores are not its own"

_ENDS = {
    "calls": "the calls are spent",
    "minutes": "the minutes are spent",
    "perfect": "nothing is left to gain",
    "idle": "nothing new is left to try",
    "stopped": "stopped; the same command goes on",
}


@contextmanager
def shown_events() -> Iterator[Listener]:
    """Tell on standard error what happens."""
    spoke = time.monotonic()

    def listener(event: Event) -> None:
        nonlocal spoke
        match event:
            case Begun():
                _tell_begun(event)
            case Note():
                tell(("note: ", "yellow"), event.text)
            case Accepted():
                _tell_accepted(event)
            case Leaked():
                wording = event.wording[:_SHOWN]
                whose = f"question {event.question}" if event.question else "article number"
                tell(("refused: ", "yellow"), f"a proposal carries {whose}: {wording}")
            case Progress() if time.monotonic() - spoke >= _EVERY:
                spoke = time.monotonic()
                tell(_progress(event))
            case _:
                pass

    yield listener


def print_outcome(outcome: Outcome) -> None:
    """Print the gain, what was tried, what it cost, and how a prompt that gained is used."""
    best, seed = outcome.candidates[outcome.best], outcome.candidates[0]
    n = counted(outcome.validation, "validation question")
    say((outcome.name, "bold"), f": {_ENDS.get(outcome.end, outcome.end)}")
    if outcome.best:
        say(
            (f"{best.score:.3f}", "bold green"),
            f" against {seed.score:.3f} of the built-in instruction, on {n}",
        )
        say("It was chosen by these questions, so others may gain less: measure it on others.")
    else:
        say(
            ("no gain: ", "bold yellow"),
            f"the built-in instruction stays the best ({seed.score:.3f} on {n})",
        )
    refused = outcome.refused
    say(
        f"{counted(len(outcome.candidates), 'candidate')}; proposals that became none: "
        f"{refused.not_better:,} no better, {refused.repeated:,} tried before, "
        f"{refused.leaking:,} carrying wording of the questions, {refused.malformed:,} malformed"
    )
    say(f"{counted(outcome.calls, 'call')} of models, {duration(outcome.seconds)} of work")
    if outcome.best:
        say("Use it: ", (f"--set method.query_prompt={outcome.name}", "bold"))
    else:
        say(f"The prompt {outcome.name} is the built-in instruction: there is nothing to use yet.")


def outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    """Give the JSON of ``localrag optimize queries``."""
    return {**asdict(outcome), "gain": outcome.gain}


def overview(workspace: Workspace) -> list[dict[str, Any]]:
    """Every prompt and every run, by name; null for what cannot be told."""
    rows = []
    for name in sorted({*names(workspace.prompts), *runs(workspace)}):
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
        say("There is no optimised prompt yet. Make one: localrag optimize queries DATASET")
        return
    table(
        ("name", "built-in", "best", "n", "objective", "questions", "model", "made"),
        [_row(row) for row in rows],
        folding=("name", "questions", "model"),
    )


def print_prompt(prompt: OptimisedPrompt, outcome: Outcome | None) -> None:
    """Print the text, its provenance, and the candidates it was chosen from."""
    say((prompt.name, "bold"))
    if prompt.is_edited or prompt.is_seed:
        say((_EDITED if prompt.is_edited else _SEED, "yellow"))
    say(prompt.text, indent=2)
    say("")
    for name, value in prompt.provenance.items():
        say((f"{name}: ", "bold"), _stated(name, value))
    if outcome is None:
        return
    for number, candidate in enumerate(outcome.candidates):
        made = "the built-in one" if candidate.parent is None else f"from {candidate.parent}"
        mark = ", the best" if number == outcome.best else ""
        say("")
        say((f"candidate {number}", "bold"), f"  {candidate.score:.3f}, {made}{mark}")
        say(candidate.text, indent=2)


def prompt_as_json(prompt: OptimisedPrompt, outcome: Outcome | None) -> dict[str, Any]:
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
        state = "made by hand" if row["prompt"] else "not finished"
        state = _EDITED if row["is_edited"] else row["problem"] or state
        return (row["name"], "", "", "", "", state, "", "")
    return (
        row["name"],
        _figure(made.get("seed_score")),
        "no gain" if row["is_seed"] else _figure(made.get("best_score")),
        str(made.get("validation_n", "")),
        str(made.get("objective", "")),
        f"{made.get('dataset', '')} {made.get('split', '')}".strip(),
        str(made.get("model", "")),
        str(made.get("date", ""))[:10],
    )


def _stated(name: str, value: object) -> str:
    """A line of the provenance; the questions it was made with are many hashes, so their number."""
    if name == "seen":
        return counted(len(str(value).split()), "question")
    return _figure(value) if name.endswith("_score") else str(value)


def _figure(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | int) else ""


def _tell_begun(event: Begun) -> None:
    tell(
        f"{counted(event.train, 'question')} to learn from, {event.validation:,} to choose by; "
        f"{' and '.join(event.models)}"
    )
    if event.unusable:
        unusable = counted(event.unusable, "question")
        tell(("note: ", "yellow"), f"left out: {unusable} without what the objective compares with")
    if len(event.models) > 1 and event.loaded:
        tell(
            ("note: ", "yellow"),
            f"two models are loaded: {event.loaded / 10**9:.1f} GB of weights, and what their "
            "contexts take",
        )
    if event.known:
        torn = "; a line that was cut off is dropped" if event.torn else ""
        known = counted(event.known, "outcome")
        tell(("note: ", "yellow"), f"goes on: {known} of earlier starts cost nothing again{torn}")


def _tell_accepted(event: Accepted) -> None:
    best = ", the best so far" if event.best and event.number else ""
    made = (
        "the built-in one" if event.candidate.parent is None else f"from {event.candidate.parent}"
    )
    tell(f"candidate {event.number} ({made}): {event.candidate.score:.3f}{best}")


def _progress(event: Progress) -> str:
    plan = event.plan
    best = "–" if event.best is None else f"{event.best:.3f}"
    left = max(0.0, 60 * plan.minutes - event.seconds)
    return (
        f"optimising: {counted(event.candidates, 'candidate')}, best {best}, "
        f"{event.calls:,} of {plan.calls:,} calls, at most {duration(left)} left"
        + (" (going over what is known)" if event.replayed else "")
    )
