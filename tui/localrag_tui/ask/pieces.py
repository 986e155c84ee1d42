"""A turn of a conversation as paragraphs, from the question down."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from textual.content import Content

from localrag.answer import wording
from localrag.answer.types import Answer, Status
from localrag.language import _
from localrag.methods.catalogue import LABELS
from localrag.ops.conversations.types import Turn, TurnState
from localrag.page.answer import answer_blocks, label, nearest_blocks, note_blocks, read_as
from localrag.page.blocks import Block, BlockRole, Items
from localrag.search.types import Filters, Query, StageRecord
from localrag_tui.ask.asking import AnswerProgress
from localrag_tui.ask.evidence import hits_of_matter
from localrag_tui.blocks import QUIET, TurnPiece, cut, pieces_of, plain
from localrag_tui.shown import content, duration, size, stage
from localrag_tui.work.engine import Opening, Read

_FOLDED = 120
"""Characters of a thought; the JSON of an answer has all of it."""


def pieces(turn: Turn, limit: str = "", lifting: str = "") -> list[TurnPiece]:
    """All paragraphs of a turn."""
    completed = turn.read_as if turn.read_as != turn.query.text else ""
    return [*question(turn.query, limit, completed), *_outcome(turn, lifting)]


def live(progress: AnswerProgress) -> Content:
    """An answer in progress: finished stages, and unchecked claims."""
    lines = []
    if progress.read_as:
        lines.append(plain(read_as(progress.read_as)))
    if progress.stages:
        stages = " · ".join(map(_count, progress.stages))
        lines.append(content(stages, QUIET))
    if progress.opening is not None:
        lines.append(content(_loading(progress.opening), "$accent"))
    elif progress.read is not None:
        lines.append(content(_reading(progress.read), "$accent"))
    if not lines:
        lines.append(content(_("searching …"), QUIET))
    if progress.nearest:
        lines += map(plain, nearest_blocks(progress.nearest, Status.NOT_FOUND))
    if progress.claims:
        lines += [content(_("unchecked:"), "$warning"), *_drafted(progress.claims)]
    return Content("\n").join(lines)


def _loading(opening: Opening) -> str:
    if not opening.total:
        return _("loading {model} …").format(model=opening.model)
    return _("loading {model}: {share} of {size} …").format(
        model=opening.model, share=f"{opening.done / opening.total:.0%}", size=size(opening.total)
    )


def _reading(read: Read) -> str:
    if not read.total:
        return _("the model is reading …")
    return _("the model has read {done:,} of {total:,} tokens …").format(
        done=read.done, total=read.total
    )


def question(query: Query, limit: str = "", completed: str = "") -> Iterator[TurnPiece]:
    """The paragraphs of a question."""
    yield TurnPiece(content(cut(query.text), "bold"), "question")
    if limit:
        yield TurnPiece(content(cut(limit), "$accent"), "reading")
    if completed:
        yield from pieces_of([read_as(completed)])
    for letter, option in zip(LABELS, query.options, strict=False):
        text = Content.assemble((f"{letter}  ", f"bold {QUIET}"), content(cut(option)))
        yield TurnPiece(text, "option")


def _outcome(turn: Turn, lifting: str) -> Iterator[TurnPiece]:
    match turn.state:
        case TurnState.ANSWERED if turn.answer is not None:
            yield from _answer(turn.answer, turn.query.filters, lifting)
            yield TurnPiece(content(_made_with(turn), QUIET), "meta")
            return
        case TurnState.ANSWERING:
            yield _state(_("being answered in another window"), "", QUIET)
        case TurnState.CANCELLED:
            yield _state(_("cancelled"), "", "bold $warning")
        case TurnState.INTERRUPTED:
            again = _("the application ended in the middle; a asks again")
            yield _state(_("interrupted"), again, "bold $warning")
        case TurnState.ANSWERED | TurnState.FAILED:
            yield _state(_("failed"), turn.cause, "bold $error")
            if turn.cure:
                yield TurnPiece(content(turn.cure), "cure")
    if turn.draft:
        yield TurnPiece(content(_("unchecked:"), "$warning"), "draft")
        for line in _drafted(turn.draft):
            yield TurnPiece(line, "draft")
    if turn.nearest:
        yield from pieces_of(nearest_blocks(turn.nearest, Status.NOT_FOUND))


def _drafted(claims: tuple[str, ...]) -> list[Content]:
    return [content(f"- {claim}", f"italic {QUIET}") for claim in claims]


def _state(word: str, reason: str, style: str) -> TurnPiece:
    return TurnPiece(
        Content.assemble((word, style), content(f"  {reason}" if reason else "")), "state"
    )


def _answer(answer: Answer, limited: Filters, lifting: str) -> Iterator[TurnPiece]:
    blocks = answer_blocks(_in_short(answer), label, _verdict(answer, limited))
    told = False
    for piece in pieces_of(map(partial(_needed, answer), blocks)):
        if piece.kind != BlockRole.STATE and not told:
            yield from _limits(answer, limited, lifting)
            told = True
        yield piece
    if not told:
        yield from _limits(answer, limited, lifting)
    yield from pieces_of(note_blocks(answer.trace, answer.absent))
    yield from _thoughts(answer)


def _in_short(answer: Answer) -> Answer:
    """Leave out the nearest passages of an answer: the evidence has them."""
    if answer.status in (Status.NOT_FOUND, Status.UNSUPPORTED):
        return answer
    return replace(answer, nearest=())


def _needed(answer: Answer, block: Block) -> Block:
    """Leave out the citations of claims; the evidence has them. Rejected ones stay."""
    if not isinstance(block, Items) or block.role is not BlockRole.CITATIONS:
        return block
    is_answer = not (answer.claims or answer.derivation)
    entries = (one for one in block.entries if is_answer or (one.mark and not one.mark.source))
    return replace(block, entries=tuple(entries))


def _limits(answer: Answer, limited: Filters, lifting: str) -> Iterator[TurnPiece]:
    if answer.status is Status.NOT_FOUND and limited != Filters() and lifting:
        rest = _("The rest of the corpus was not searched: {keys} lifts the limit.")
        yield TurnPiece(content(rest.format(keys=lifting), QUIET), "note")
    # Answers of earlier versions have no list.
    if answer.status is Status.NOT_FOUND and hits_of_matter(answer) and not answer.nearest:
        nearest = _("The nearest places found are in the evidence.")
        yield TurnPiece(content(nearest, QUIET), "note")


def _thoughts(answer: Answer) -> Iterator[TurnPiece]:
    """The beginning of each thought, folded to a line."""
    for call in answer.trace.calls:
        if call.thinking:
            thought = _("thought ({n:,} tokens): ").format(n=call.thought)
            beginning = cut(" ".join(call.thinking.split()), _FOLDED)
            yield TurnPiece(content(f"{thought}{beginning}", QUIET), "note")


def _verdict(answer: Answer, limited: Filters) -> str:
    """The reason for the status of an answer.

    A limited search must not say that the corpus holds nothing.
    """
    searched_all = limited == Filters()
    if answer.status is not Status.NOT_FOUND or searched_all or answer.doubts or answer.trace.calls:
        return wording.verdict(answer)
    if limited == Filters(documents=limited.documents):
        return _("nothing in the chosen laws supports an answer")
    return _("nothing within the limit of the question supports an answer")


def _made_with(turn: Turn) -> str:
    method = turn.method or _("default reader")
    parts = [turn.corpus, method, turn.model, duration(turn.seconds)]
    return " · ".join(filter(None, parts))


def _count(record: StageRecord) -> str:
    return f"{stage(record.stage)} {len(record.hits)}"
