"""A conversation as a Markdown file, with its citations in legal style."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from localrag.conversations.markdown import code, items, line, paragraph, quotation
from localrag.conversations.model import Conversation, Turn, TurnState
from localrag.language import N_, _
from localrag.methods.choices import labelled
from localrag.reading import wording
from localrag.reading.types import Answer, Citation, Claim, Derivation, Step

Locate = Callable[[str, Citation], str]
"""Tells where a citation stands, in words, from the name of the corpus and the citation."""

_ENDS = {
    TurnState.ANSWERING: N_("Unfinished: it is being answered."),
    TurnState.CANCELLED: N_("Cancelled by the user."),
    TurnState.FAILED: N_("Failed."),
    TurnState.INTERRUPTED: N_("Interrupted: the application ended during the answer."),
}
_UNREADABLE = N_("The answer cannot be read.")


def markdown(conversation: Conversation, turns: Sequence[Turn], locate: Locate) -> str:
    """Write a conversation as Markdown, in the language in use.

    Args:
        conversation: for its title and date.
        turns: its questions, in order.
        locate: writes the places of citations.
    """
    blocks = [f"# {line(conversation.title or _('Conversation'))}", _date(conversation.created)]
    if not turns:
        blocks.append(_("No question has been asked."))
    for number, turn in enumerate(turns, 1):
        blocks.append(f"## {_('Question {n}').format(n=number)}")
        blocks += _turn(turn, locate)
    return "\n\n".join(blocks) + "\n"


def _turn(turn: Turn, locate: Locate) -> Iterator[str]:
    yield quotation(turn.query.text)
    if turn.read_as != turn.query.text:
        yield _("Read as: {question}").format(question=line(turn.read_as))
    if turn.query.options:
        yield items(f"{label}: {line(option)}" for label, option in labelled(turn.query.options))
    made_with = [
        line(turn.corpus),
        line(turn.method or _("default reader")),
        line(turn.model or _("no model")),
        _date(turn.asked),
    ]
    if turn.seconds:
        made_with.append(_("{n:.1f} s").format(n=turn.seconds))
    yield " · ".join(made_with)
    if turn.answer is not None:
        yield from _answer(turn.corpus, turn.answer, locate)
        return
    yield f"**{_(_ENDS.get(turn.state, _UNREADABLE))}**"
    if turn.cause:
        yield paragraph(f"{turn.cause} {turn.cure}".strip())
    if turn.draft:
        yield _("Written until then, and not checked:")
        yield items(map(line, turn.draft))


def _answer(corpus: str, answer: Answer, locate: Locate) -> Iterator[str]:
    if answer.absent:
        yield f"**{_('Not in this corpus:')}** {line('、'.join(answer.absent))}"
    status = _(wording.STATUSES[answer.status])
    yield f"**{status}**: {line(wording.verdict(answer))}"
    if answer.label:
        yield f"**{line(answer.label)}** {line(answer.text)}"
    # What the extractive reader says is its quotations, which follow.
    elif answer.text and (answer.derivation or not (answer.claims or answer.citations)):
        yield paragraph(answer.text)
    if answer.claims:
        yield items(_claim(answer, claim) for claim in answer.claims)
    if answer.derivation:
        yield f"### {_('Derivation')}"
        yield from _derivation(answer, answer.derivation)
    if answer.citations:
        yield f"### {_('Citations')}"
        for number, citation in enumerate(answer.citations, 1):
            yield _citation(number, citation, locate(corpus, citation))


def _claim(answer: Answer, claim: Claim) -> str:
    """A claim, and below it what is wrong with it."""
    remarks = [wording.moved()] if claim.moved else []
    remarks += (
        line(wording.mismatch(one.kind, one.written, claim.text)) for one in claim.mismatches
    )
    head = f"{line(claim.text)} {_marks(answer, claim.citations)}".rstrip()
    return "\n  - ".join([head, *remarks])


def _citation(number: int, citation: Citation, place: str) -> str:
    head = f"{number}. {line(place or citation.label or citation.passage_id)}"
    if not citation.verified:
        head += f" **{_('rejected')}**: {line(str(citation.problem or ''))}"
    remarks = [wording.state(line(citation.state))] if citation.state else []
    remarks += [wording.beside()] if citation.beside else []
    head = " · ".join([head, *remarks])
    indent = " " * len(f"{number}. ")
    return "\n\n".join(
        (head, quotation(citation.quote, indent), f"{indent}{code(citation.passage_id)}")
    )


def _derivation(answer: Answer, derivation: Derivation) -> Iterator[str]:
    yield "\n".join(
        f"{number}. {_step(answer, step)}" for number, step in enumerate(derivation.steps, 1)
    )
    if derivation.computed:
        yield items(map(line, derivation.computed))


def _step(answer: Answer, step: Step) -> str:
    if step.triple is None:
        return f"{line(step.query)} – {_('not found')}"
    source = f" ({wording.origin(step)})"
    marks = _marks(answer, (step.citation,) if step.citation else ())
    return f"{line(step.query)} – {line(step.triple.text)} {marks}".rstrip() + source


def _marks(answer: Answer, numbers: Sequence[int]) -> str:
    """The numbers of citations; a rejected one says so."""
    return "".join(wording.mark(answer, number) for number in numbers)


def _date(time: str) -> str:
    """A time of the store as the clock on the wall showed it."""
    return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
