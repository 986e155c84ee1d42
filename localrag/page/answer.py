"""Turns an answer into blocks, for every door, for conversations and batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from localrag.answer import wording
from localrag.answer.types import Answer, Citation, Claim, Derivation, Nearest, Status, Step
from localrag.language import _, aside, colon
from localrag.page.blocks import (
    Block,
    BlockRole,
    Code,
    Heading,
    Inline,
    Item,
    Items,
    Mark,
    Notice,
    Paragraph,
    PassageLink,
    Quotation,
    QuoteSource,
    Remark,
    Strong,
    Tone,
    items,
    paragraph,
)
from localrag.search.types import Trace
from localrag.text.facts import FactKind
from localrag.text.harmless import one_line

Place = Callable[[Citation], str]
"""Cites a citation as lawyers do; "" if its place is unknown."""

_TONES = {
    Status.SUPPORTED: Tone.GOOD,
    Status.QUOTED: Tone.NEAR,
    Status.UNSUPPORTED: Tone.DOUBTFUL,
    Status.NOT_FOUND: Tone.DOUBTFUL,
}


def label(citation: Citation) -> str:
    """The stored place of a citation, for screens."""
    return citation.label


def answer_blocks(answer: Answer, place: Place, verdict: str = "") -> Iterator[Block]:
    """Yield the blocks of an answer: verdict, text, claims, citations.

    `place` cites a citation; `verdict` replaces `wording.verdict`.
    """
    if answer.absent:
        absent = Strong(_("not in this corpus"), Tone.WRONG)
        yield paragraph(absent, colon(), "、".join(answer.absent), role=BlockRole.STATE)
    status = Strong(_(wording.STATUSES[answer.status]), _TONES[answer.status])
    yield paragraph(status, colon(), verdict or wording.verdict(answer), role=BlockRole.STATE)
    if answer.quotations:
        yield Heading(3, wording.instead())
        quoted = (_citation(one, place(one)) for one in answer.quotations)
        yield Items(tuple(quoted), role=BlockRole.QUOTATIONS)
        yield Heading(3, wording.by_unsupported_model())
    if answer.label:
        chosen = Strong(answer.label, Tone.GOOD)
        yield paragraph(chosen, " ", Strong(answer.text), role=BlockRole.RESULT)
    elif answer.text and (answer.is_concluded or not _is_repeated(answer)):
        yield paragraph(answer.text, role=BlockRole.RESULT)
    if answer.claims:
        yield Items(tuple(_claim(answer, claim) for claim in answer.claims), role=BlockRole.CLAIMS)
    if answer.derivation:
        yield Heading(3, _("Derivation"), in_outline=True)
        yield from _derivation(answer, answer.derivation)
    if answer.citations:
        yield Heading(3, _("Citations"), in_outline=True)
        yield Items(tuple(_cited(answer, place)), numbered=True, role=BlockRole.CITATIONS)
    if answer.nearest:
        yield from nearest_blocks(answer.nearest, answer.status, ids=True)


def _is_repeated(answer: Answer) -> bool:
    """Whether the claims or the quotations below repeat the text, as for the extractive reader."""
    is_quoted = answer.status is Status.QUOTED and bool(answer.citations)
    return bool(answer.claims) or is_quoted


def read_as(question: str) -> Paragraph:
    """Make the paragraph of a completed follow-up question."""
    return paragraph(
        Remark(_("read as: {question}").format(question=question)), role=BlockRole.READING
    )


def question_blocks(
    question: str, options: Iterable[tuple[str, str]] = (), completed: str = ""
) -> Iterator[Block]:
    """Yield a question as asked, its completed form, and its options with their labels."""
    yield Quotation(question)
    if completed and completed != question:
        yield read_as(completed)
    if listed := [f"{name}: {option}" for name, option in options]:
        yield items(listed)


def nearest_blocks(
    nearest: Sequence[Nearest], status: str, *, ids: bool = False
) -> Iterator[Block]:
    """Yield the passages near a question; `status` is the status of its answer."""
    yield Heading(3, wording.nearest(status))
    entries = tuple(_nearest(one, with_id=ids) for one in nearest)
    yield Items(entries, role=BlockRole.NEAREST)


def note_blocks(trace: Trace, absent: Sequence[str] = ()) -> Iterator[Notice]:
    """Yield the words of statutes searched for, then the notes of the steps, each once.

    Args:
        trace: of a search or an answer.
        absent: missing laws already reported.
    """
    for told in (*wording.looked_up(trace.wordings), *wording.events(trace, absent)):
        yield Notice(told)


def filed_answer(answer: Answer, place: Place, verdict: str = "") -> Iterator[Block]:
    """Yield the blocks of an answer in a file, as `answer_blocks`, with the notes needed.

    Quotations explain most answers; without one, only the notes do. Ids of passages are left out.
    """
    verdict = verdict or wording.verdict(answer)
    yield from answer_blocks(replace(answer, nearest=()), place, verdict)
    if answer.nearest:
        yield from nearest_blocks(answer.nearest, answer.status)
    for told in wording.events(answer.trace, answer.absent):
        if answer.status is Status.NOT_FOUND or told.kind is FactKind.TEXT_OLD:
            yield Notice(told)


def _claim(answer: Answer, claim: Claim) -> Item:
    remarks = [Remark(wording.moved())] if claim.moved else []
    for one in claim.mismatches:
        words = wording.mismatch(one.kind, one.written, claim.text)
        remarks.append(Remark(words, Tone.DOUBTFUL))
    below = (items(remarks),) if remarks else ()
    return Item((claim.text, *_marks(answer, claim.citations)), below)


def _cited(answer: Answer, place: Place) -> Iterator[Item]:
    for number, citation in enumerate(answer.citations, 1):
        mark, supplement = _mark(answer, number), wording.supplement(answer, citation)
        yield _citation(citation, place(citation), mark, supplement)


def _citation(
    citation: Citation, place: str, mark: Mark | None = None, supplement: str = ""
) -> Item:
    head: list[Inline] = [_link(citation, place)]
    if not citation.verified:
        problem = aside(str(citation.problem)) if citation.problem else ""
        head = [Strong(_("rejected"), Tone.WRONG), colon(), *head, problem]
    remarks = tuple(wording.remarks(citation))
    source = QuoteSource(citation.passage_id, citation.start, citation.end, remarks)
    below: tuple[Block, ...] = (Quotation(citation.quote, source),)
    if supplement:
        below += (paragraph(Remark(supplement)),)
    return Item(tuple(head), below, mark)


def _link(citation: Citation, place: str) -> PassageLink:
    name = one_line(place or citation.label or citation.passage_id)
    return PassageLink(name, citation.passage_id, citation.start)


def _nearest(one: Nearest, *, with_id: bool) -> Item:
    near = PassageLink(one_line(one.label), one.passage_id)
    id_ = (Code(one.passage_id),) if with_id else ()
    return Item((near, Remark(one_line(one.beginning)), *id_))


def _derivation(answer: Answer, derivation: Derivation) -> Iterator[Block]:
    steps = (_step(answer, step) for step in derivation.steps)
    yield items(steps, numbered=True, role=BlockRole.DERIVATION)
    for computation in derivation.computed:
        yield paragraph(f"=> {computation}", role=BlockRole.COMPUTED)


def _step(answer: Answer, step: Step) -> tuple[Inline, ...]:
    wanted = step.triple or step
    asked = f"{wanted.subject}、{wanted.predicate}{colon()}"
    if step.triple is None:
        found = Strong(_("nothing found"), Tone.DOUBTFUL)
    else:
        found = Strong("、".join(step.triple.objects))
    marks = _marks(answer, (step.citation,) if step.citation else ())
    return asked, found, *marks, aside(wording.origin(step))


def _marks(answer: Answer, numbers: Sequence[int]) -> tuple[Mark, ...]:
    return tuple(_mark(answer, number) for number in numbers)


def _mark(answer: Answer, number: int) -> Mark:
    citation = answer.citations[number - 1]
    source = _link(citation, citation.label) if citation.verified else None
    return Mark(wording.mark(answer, number), number, source)
