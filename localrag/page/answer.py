"""Turns an answer into blocks, for conversations, batches and servers."""

from collections.abc import Callable, Iterator, Sequence

from localrag.answer import wording
from localrag.answer.types import Answer, Citation, Claim, Derivation, Nearest, Status, Step
from localrag.language import _, colon
from localrag.page.blocks import (
    Block,
    Code,
    Heading,
    Inline,
    Item,
    Items,
    Mark,
    Quotation,
    Strong,
    items,
    paragraph,
)
from localrag.text.facts import FactKind
from localrag.text.harmless import one_line

Place = Callable[[Citation], str]
"""Cites a citation as lawyers do; "" if its place is unknown."""


def answer_blocks(answer: Answer, place: Place, shown: int | None = None) -> Iterator[Block]:
    """Yield the blocks of an answer: verdict, text, claims, citations.

    `place` cites a citation; `shown` is as in `wording.verdict`.
    """
    if answer.absent:
        absent = "、".join(answer.absent)
        yield paragraph(Strong(_("Not in this corpus:")), f" {absent}")
    status = _(wording.STATUSES[answer.status])
    yield paragraph(Strong(status), f"{colon()}{wording.verdict(answer, shown)}")
    # Quotations explain the other answers; for this one, only the notes do.
    told = list(map(str, wording.events(answer.trace, answer.absent)))
    if told and answer.status is Status.NOT_FOUND:
        yield items(told)
    else:
        yield from (
            paragraph(str(event))
            for event in answer.trace.events
            if event.kind is FactKind.TEXT_OLD
        )
    if answer.quotations:
        yield Heading(3, wording.instead())
        yield Items(tuple(_citation(one, place(one)) for one in answer.quotations))
        yield Heading(3, wording.by_unsupported_model())
    if answer.label:
        yield paragraph(Strong(answer.label), f" {answer.text}")
    # The text of the extractive reader repeats the quotations below.
    elif answer.text and (answer.is_concluded or not (answer.claims or answer.citations)):
        yield paragraph(answer.text)
    if answer.claims:
        yield Items(tuple(_claim(answer, claim) for claim in answer.claims))
    if answer.derivation:
        yield Heading(3, _("Derivation"))
        yield from _derivation(answer, answer.derivation)
    if answer.citations:
        yield Heading(3, _("Citations"))
        cited = (_citation(citation, place(citation)) for citation in answer.citations)
        yield Items(tuple(cited), numbered=True)
    if answer.nearest:
        yield from nearest_blocks(answer.nearest, answer.status)


def nearest_blocks(nearest: Sequence[Nearest], status: str) -> Iterator[Block]:
    """Yield the passages near a question; `status` is the status of its answer."""
    yield Heading(3, wording.nearest(status))
    yield Items(tuple(map(_nearest, nearest)))


def _claim(answer: Answer, claim: Claim) -> Item:
    remarks = [wording.moved()] if claim.moved else []
    remarks += (wording.mismatch(one.kind, one.written, claim.text) for one in claim.mismatches)
    said = (claim.text, *_marks(answer, claim.citations))
    return Item(said, (items(remarks),) if remarks else ())


def _citation(citation: Citation, place: str) -> Item:
    head: list[Inline] = [one_line(place or citation.label or citation.passage_id)]
    if not citation.verified:
        head += [" ", Strong(_("rejected")), f"{colon()}{citation.problem or ''}"]
    head += (f" · {remark}" for remark in wording.remarks(citation))
    return Item(tuple(head), (Quotation(citation.quote), paragraph(Code(citation.passage_id))))


def _nearest(one: Nearest) -> Item:
    return Item((f"{one_line(one.label)} – {one_line(one.beginning)} ", Code(one.passage_id)))


def _derivation(answer: Answer, derivation: Derivation) -> Iterator[Block]:
    yield items((_step(answer, step) for step in derivation.steps), numbered=True)
    if derivation.computed:
        yield items(derivation.computed)


def _step(answer: Answer, step: Step) -> tuple[Inline, ...]:
    if step.triple is None:
        return (f"{step.query} – {_('not found')}",)
    marks = _marks(answer, (step.citation,) if step.citation else ())
    return (f"{step.query} – {step.triple.text}", *marks, f" ({wording.origin(step)})")


def _marks(answer: Answer, numbers: Sequence[int]) -> tuple[Inline, ...]:
    marks = "".join(wording.mark(answer, number) for number in numbers)
    return (" ", Mark(marks)) if marks else ()
