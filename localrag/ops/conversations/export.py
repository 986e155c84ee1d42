"""Writes a conversation to a file, with citations in legal style."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from localrag.answer.types import Status
from localrag.corpus.workspace import Workspace
from localrag.language import N_, _
from localrag.methods.catalogue import labelled
from localrag.ops.conversations.store import Conversations
from localrag.ops.conversations.types import Conversation, Turn, TurnState
from localrag.page.answer import filed_answer, nearest_blocks, question_blocks
from localrag.page.blocks import Block, Heading, Strong, items, paragraph
from localrag.page.files import write_blocks
from localrag.page.provision import Places, places
from localrag.text.harmless import one_line

_ENDS = {
    TurnState.ANSWERING: N_("Unfinished: it is being answered."),
    TurnState.CANCELLED: N_("Cancelled by the user."),
    TurnState.FAILED: N_("Failed."),
    TurnState.INTERRUPTED: N_("Interrupted: the application ended during the answer."),
}
_UNREADABLE = N_("The answer cannot be read.")


def conversation_blocks(
    conversation: Conversation, turns: Sequence[Turn], locate: Places
) -> Iterator[Block]:
    """Yield the blocks of a conversation, in the language in use."""
    yield Heading(1, conversation.title or _("Conversation"))
    yield paragraph(_date(conversation.created))
    if not turns:
        yield paragraph(_("No question has been asked."))
    for number, turn in enumerate(turns, 1):
        yield Heading(2, _("Question {n}").format(n=number))
        yield from _turn(turn, locate)


def _turn(turn: Turn, locate: Places) -> Iterator[Block]:
    yield from question_blocks(turn.query.text, labelled(turn.query.options), turn.read_as)
    made_with = [
        turn.corpus,
        turn.method or _("default reader"),
        turn.model or _("no model"),
        _date(turn.asked),
    ]
    if turn.seconds:
        made_with.append(_("{n:.1f} s").format(n=turn.seconds))
    yield paragraph(" · ".join(map(one_line, made_with)))
    if turn.answer is not None:
        yield from filed_answer(turn.answer, partial(locate, turn.corpus))
        return
    yield paragraph(Strong(_(_ENDS.get(turn.state, _UNREADABLE))))
    if turn.cause:
        yield paragraph(f"{turn.cause} {turn.cure}".strip())
    if turn.draft:
        yield paragraph(_("Written until then, and not checked:"))
        yield items(turn.draft)
    if turn.nearest:
        yield from nearest_blocks(turn.nearest, Status.NOT_FOUND)


def _date(time: str) -> str:
    return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"


# Characters forbidden in file names on Windows.
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\u2400-\u241f\ufffd]+')
# File systems allow 255 bytes; a writer needs a few for the ending.
_LONGEST = 200


def export(
    conversations: Conversations,
    workspace: Workspace,
    conversation_id: int,
    path: Path,
    *,
    replace: bool = False,
) -> None:
    """Write a conversation as Word or Markdown, in the language in use.

    Raises:
        NotFoundError: there is no such conversation.
        FileExistsAlready, UsageError, StorageError: as `write_blocks`.
    """
    conversation, turns = (
        conversations.get(conversation_id),
        conversations.turns(conversation_id),
    )
    with places(workspace) as locate:
        blocks = list(conversation_blocks(conversation, turns, locate))
    write_blocks(path, blocks, replace=replace)


def file_name(title: str) -> str:
    """Return a file name without ending, valid on every system."""
    name = _FORBIDDEN.sub("_", one_line(title)).strip(" ._")
    name = name.encode()[:_LONGEST].decode(errors="ignore").rstrip(" .")
    return name or "conversation"
