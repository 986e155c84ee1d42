"""A turn of a conversation as paragraphs, from the question down."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual.content import Content
from textual.style import Style

from localrag.answer import wording as in_words
from localrag.answer.types import Answer, Citation, Claim, Derivation, Nearest, Status, Step
from localrag.language import _
from localrag.methods.catalogue import LABELS
from localrag.ops.conversations.types import Turn, TurnState
from localrag.search.types import Filters, Query, StageRecord
from localrag.text.facts import FactKind
from localrag.text.harmless import one_line
from localrag_tui.ask.asking import AnswerProgress
from localrag_tui.ask.evidence import hits_of_matter
from localrag_tui.shown import (
    content,
    duration,
    looked_up,
    note,
    provenance,
    size,
    stage,
)
from localrag_tui.work.engine import Opening, Read

# Longest quotation and question on the screen, in characters; a copy has all.
_LONGEST = 600
_FOLDED = 120
"""Characters of a thought; the JSON of an answer has all of it."""
_STATUS_STYLES = {
    Status.SUPPORTED: "bold $success",
    Status.QUOTED: "bold $accent",
    Status.UNSUPPORTED: "bold $warning",
    Status.NOT_FOUND: "bold $warning",
}
_QUIET = "$foreground-muted"


class TurnPiece(NamedTuple):
    """A paragraph.

    Attributes:
        citations: its citations in the answer, from 1.
        near: number of the passage it names, from 1, first the nearest ones, then the quotations
            without a claim; 0 for none.
    """

    content: Content
    kind: str
    citations: tuple[int, ...] = ()
    step: bool = False
    near: int = 0


def pieces(turn: Turn, limit: str = "", lifting: str = "") -> list[TurnPiece]:
    """All paragraphs of a turn."""
    read_as = turn.read_as if turn.read_as != turn.query.text else ""
    return [*question(turn.query, limit, read_as), *_outcome(turn, lifting)]


def live(progress: AnswerProgress) -> Content:
    """An answer in progress: finished stages, and unchecked claims."""
    lines = []
    if progress.read_as:
        lines.append(_read_as(progress.read_as))
    if progress.stages:
        stages = " · ".join(map(_count, progress.stages))
        lines.append(content(stages, _QUIET))
    if progress.opening is not None:
        lines.append(content(_loading(progress.opening), "$accent"))
    elif progress.read is not None:
        lines.append(content(_reading(progress.read), "$accent"))
    if not lines:
        lines.append(content(_("searching …"), _QUIET))
    if progress.nearest:
        lines.append(content(in_words.nearest(Status.NOT_FOUND), _QUIET))
        lines += [_near(0, one).content for one in progress.nearest]
    if progress.claims:
        lines += [content(_("unchecked:"), "$warning"), *_drafted(progress.claims)]
    return Content("\n").join(lines)


def cut(text: str, most: int = _LONGEST) -> str:
    """The beginning of a text, with its length if it is longer."""
    if len(text) <= most:
        return text
    return _("{text} … ({n:,} characters in all)").format(text=text[:most], n=len(text))


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


def question(query: Query, limit: str = "", read_as: str = "") -> Iterator[TurnPiece]:
    """The paragraphs of a question."""
    yield TurnPiece(content(cut(query.text), "bold"), "question")
    if limit:
        yield TurnPiece(content(cut(limit), "$accent"), "reading")
    if read_as:
        yield TurnPiece(_read_as(read_as), "reading")
    for label, option in zip(LABELS, query.options, strict=False):
        text = Content.assemble((f"{label}  ", f"bold {_QUIET}"), content(cut(option)))
        yield TurnPiece(text, "option")


def _read_as(read_as: str) -> Content:
    return content(_("read as: {question}").format(question=cut(read_as)), f"italic {_QUIET}")


def _outcome(turn: Turn, lifting: str) -> Iterator[TurnPiece]:
    match turn.state:
        case TurnState.ANSWERED if turn.answer is not None:
            yield from _answer(turn.answer, turn.query.filters, lifting)
            yield TurnPiece(content(_made_with(turn), _QUIET), "meta")
            return
        case TurnState.ANSWERING:
            yield _state(_("being answered in another window"), "", _QUIET)
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
    yield from _nearest(turn.nearest, Status.NOT_FOUND)


def _drafted(claims: tuple[str, ...]) -> list[Content]:
    return [content(f"- {claim}", f"italic {_QUIET}") for claim in claims]


def _state(word: str, reason: str, style: str) -> TurnPiece:
    return TurnPiece(
        Content.assemble((word, style), content(f"  {reason}" if reason else "")), "state"
    )


def _answer(answer: Answer, limited: Filters, lifting: str) -> Iterator[TurnPiece]:
    if answer.absent:
        yield _state(_("not in this corpus"), cut("、".join(answer.absent)), "bold $error")
    yield _state(
        _(in_words.STATUSES[answer.status]),
        one_line(_verdict(answer, limited)),
        _STATUS_STYLES[answer.status],
    )
    if answer.status is Status.NOT_FOUND and limited != Filters() and lifting:
        rest = _("The rest of the corpus was not searched: {keys} lifts the limit.")
        yield TurnPiece(content(rest.format(keys=lifting), _QUIET), "note")
    # Answers of earlier versions have no list.
    if answer.status is Status.NOT_FOUND and hits_of_matter(answer) and not answer.nearest:
        nearest = _("The nearest places found are in the evidence.")
        yield TurnPiece(content(nearest, _QUIET), "note")
    if answer.quotations:
        yield TurnPiece(content(in_words.instead(), "bold $accent"), "first-note")
        for number, one in enumerate(answer.quotations, len(answer.nearest) + 1):
            yield _quoted(number, one)
        yield TurnPiece(content(in_words.by_unsupported_model(), "bold $warning"), "first-note")
    if answer.label:
        chosen = Content.assemble(
            (f"{answer.label}  ", "bold $success"), content(answer.text, "bold")
        )
        yield TurnPiece(chosen, "result")
    elif answer.is_concluded and answer.text:
        yield TurnPiece(content(cut(answer.text), "bold"), "result")
    if answer.derivation:
        yield from _derivation(answer, answer.derivation)
    for claim in answer.claims:
        yield _claim(answer, claim)
    for number, citation in enumerate(answer.citations, 1):
        # Without claims, the quotations are the answer.
        if not citation.verified or not (answer.claims or answer.derivation):
            yield _quotation(number, citation)
    # Other answers list them in the evidence only.
    if answer.status in (Status.NOT_FOUND, Status.UNSUPPORTED):
        yield from _nearest(answer.nearest, answer.status)
    for number, said in enumerate(looked_up(answer.trace.wordings)):
        yield TurnPiece(content(said, _QUIET), "note" if number else "first-note")
    for event in dict.fromkeys(answer.trace.events):
        if event.kind is FactKind.NO_SUCH_LAW and event.fields["name"] in answer.absent:
            continue  # It is shown above all else.
        yield TurnPiece(content(_("note: {event}").format(event=note(event)), _QUIET), "note")
    for call in answer.trace.calls:
        if call.thinking:
            thought = _("thought ({n:,} tokens): ").format(n=call.thought)
            beginning = cut(" ".join(call.thinking.split()), _FOLDED)
            yield TurnPiece(content(f"{thought}{beginning}", _QUIET), "note")


def _verdict(answer: Answer, limited: Filters) -> str:
    """The reason for the status of an answer.

    A limited search must not say that the corpus holds nothing.
    """
    searched_all = limited == Filters()
    if answer.status is not Status.NOT_FOUND or searched_all or answer.doubts or answer.trace.calls:
        return in_words.verdict(answer)
    if limited == Filters(documents=limited.documents):
        return _("nothing in the chosen laws supports an answer")
    return _("nothing within the limit of the question supports an answer")


def _claim(answer: Answer, claim: Claim) -> TurnPiece:
    text = content(cut(claim.text))
    for number in claim.citations:
        text = text + " " + link(number, answer.citations[number - 1])
    if claim.moved:
        text += content(f"\n  {in_words.moved()}", _QUIET)
    for one in claim.mismatches:
        text += content(f"\n  {in_words.mismatch(one.kind, one.written, claim.text)}", "$warning")
    return TurnPiece(text, "claim", claim.citations, step=True)


def link(number: int, citation: Citation) -> Content:
    """A citation number to click; struck out if the citation was rejected."""
    text = Content(f"[{number}]").stylize("bold $primary" if citation.verified else "strike $error")
    return text.stylize(Style.from_meta({"@click": f"cite({number})"}))


def _quotation(number: int, citation: Citation) -> TurnPiece:
    head = link(number, citation) + " "
    if not citation.verified:
        head += Content.styled(_("rejected: "), "bold $error")
    head += content(one_line(citation.label or citation.passage_id), "$accent")
    if reason := _rejection(citation):
        head += content(f" ({reason})")
    if told := provenance(citation):
        head += content(f"  {told}", _QUIET)
    quote = content(cut(citation.quote), "" if citation.verified else _QUIET)
    return TurnPiece(head + "\n" + quote, "quotation", (number,), step=True)


def _nearest(nearest: Sequence[Nearest], status: Status) -> Iterator[TurnPiece]:
    if nearest:
        yield TurnPiece(content(in_words.nearest(status), _QUIET), "first-note")
        for number, one in enumerate(nearest, 1):
            yield _near(number, one)


def _near(number: int, one: Nearest) -> TurnPiece:
    place = content(one_line(one.label), "$accent")
    if number:
        place = place.stylize(Style.from_meta({"@click": f"near({number})"}))
    text = place + content(f"  {one_line(one.beginning)}", _QUIET)
    return TurnPiece(text, "note", step=True, near=number)


def _quoted(number: int, citation: Citation) -> TurnPiece:
    """A quotation without a claim."""
    head = content(one_line(citation.label or citation.passage_id), "$accent")
    head = head.stylize(Style.from_meta({"@click": f"near({number})"}))
    if told := provenance(citation):
        head += content(f"  {told}", _QUIET)
    return TurnPiece(
        head + "\n" + content(cut(citation.quote)), "quotation", step=True, near=number
    )


def _derivation(answer: Answer, derivation: Derivation) -> Iterator[TurnPiece]:
    for number, step in enumerate(derivation.steps, 1):
        citations = (step.citation,) if step.citation else ()
        yield TurnPiece(_found(number, answer, step), "claim", citations, step=True)
    for computation in derivation.computed:
        yield TurnPiece(content(f"=> {cut(computation)}"), "computed")


def _found(number: int, answer: Answer, step: Step) -> Content:
    looked_for = step.triple or step
    text = Content.assemble(
        (f"{number}. ", "bold"),
        content(f"{cut(looked_for.subject)}、{cut(looked_for.predicate)}: ", "$accent"),
    )
    if step.triple is None:
        text += Content.styled(_("not found"), "bold $warning")
    else:
        text += content(cut("、".join(step.triple.objects)), "bold")
    if step.citation:
        text = text + " " + link(step.citation, answer.citations[step.citation - 1])
    return text + content(f" ({in_words.origin(step)})", _QUIET)


def _made_with(turn: Turn) -> str:
    method = turn.method or _("default reader")
    parts = [turn.corpus, method, turn.model, duration(turn.seconds)]
    return " · ".join(filter(None, parts))


def _count(record: StageRecord) -> str:
    return f"{stage(record.stage)} {len(record.hits)}"


def _rejection(citation: Citation) -> str:
    return "" if citation.verified or not citation.problem else one_line(str(citation.problem))
