"""``localrag history`` and ``localrag diff``: what changed in a law, and when."""

from typing import TYPE_CHECKING

import typer

from localrag.calls import DiffCall, HistoryCall
from localrag.cli.main import app, verb
from localrag.cli.options import Json
from localrag.cli.terminal import colon, emit, say, say_text, tell
from localrag.language import _
from localrag.session import Session

if TYPE_CHECKING:
    from localrag.corpus.store import DocumentInfo
    from localrag.history.comparing import Change

_STYLES = {"added": "green", "deleted": "red", "changed": "yellow", "moved": "yellow"}


@verb(
    app,
    "history",
    examples=[
        "localrag history 渡し舟法8条",
        "localrag history 民法709条",
        "localrag history --as-of 2016-01-01 会社法331条",
    ],
    exit_codes=(0, 2, 3, 5),
)
def history(
    context: typer.Context,
    call: HistoryCall,
    as_json: Json = False,
) -> None:
    """Show the states of a provision that the corpus has, and what changed in each.

    A corpus holds as many states of a law as were added: e-Gov names the files of each by the law
    and the day from which it is in force. What changed is shown paragraph by paragraph and item by
    item. An article that was given another number is followed.

    The citation is read in the state of today, or of --as-of.
    """
    from localrag.as_json.statutes import history_as_json
    from localrag.history import headline

    session: Session = context.obj
    with session.with_settings(call.settings()).corpus(call.corpus) as opened:
        found = opened.history(call.citation)
    if as_json:
        emit(history_as_json(found))
        return
    say((found.title, "bold cyan"))
    for version in found.versions:
        say("")
        say((headline(version), "bold"))
        if version.change is None and version.passage and version is found.versions[0]:
            for line in version.passage.text.split("\n"):
                say(line, indent=2)
        if version.change is not None:
            _print_change(version.change)
    for fact in found.notes:
        tell((_("note: "), "yellow"), str(fact))


@verb(
    app,
    "diff",
    examples=[
        "localrag diff 会社法 2015-12-27 2025-06-01",
        "localrag diff 金融商品取引法 2015-12-01 2024-04-01 --json",
    ],
    exit_codes=(0, 2, 3, 5),
)
def diff(
    context: typer.Context,
    call: DiffCall,
    as_json: Json = False,
) -> None:
    """Compare the states in which a law was on two days.

    Every article that was added, deleted, changed or given another number is listed in the order of
    the later state, with what changed in it by paragraph and item. Widths of characters, blanks and
    printed numbers do not count as changes.

    Where the corpus has one text for both days it cannot tell whether the law changed between
    them, and leaves with exit code 3. A text that is much older than its day is named.
    """
    from localrag.as_json.statutes import comparison_as_json
    from localrag.history.comparing import CHANGES

    session: Session = context.obj
    with session.with_settings(call.settings()).corpus(call.corpus) as opened:
        found = opened.diff(call.law, call.before, call.after)
    if as_json:
        emit(comparison_as_json(found))
        return
    title = found.after.title
    say((title, "bold cyan"), f"  {_date(found.before)} → {_date(found.after)}")
    for fact in found.left_out:
        say((str(fact), "dim"))
    for fact in found.notes:
        tell((_("note: "), "yellow"), str(fact))
    if not found.changes:
        say(_("Nothing changed."))
    for change in found.changes:
        say("")
        kind = (_(CHANGES[change.kind]), f"bold {_STYLES[change.kind.value]}")
        say(kind, colon(), " → ".join(_headers(change, title)))
        _print_change(change)


def _headers(change: "Change", title: str) -> list[str]:
    """Where an article stands, and stood before if that was elsewhere."""
    passages = (change.before, change.after)
    headers = [one.header.removeprefix(title).strip(" ") for one in passages if one]
    return list(dict.fromkeys(headers)) if change.kind.value == "moved" else headers[-1:]


def _print_change(change: "Change") -> None:
    for difference in change.lines:
        sides = ((difference.before, "- ", "red"), (difference.after, "+ ", "green"))
        if difference.place:
            say((difference.place, "dim"), indent=2)
        for side, sign, style in sides:
            if side:
                say_text((f"{sign}{side.text}", style), indent=2)


def _date(state: "DocumentInfo") -> str:
    return state.metadata.get("date") or _("without a date")
