"""One row of a run: the question, and its answer with the citations, or why it has none."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from localrag.errors import LocalragError
from localrag.facts import told
from localrag.language import N_, _
from localrag.reading import wording
from localrag.reading.types import Citation, Claim, Status
from localrag.reading.wording import FAILURES, STATUSES
from localrag_tui.screen import Dialogue
from localrag_tui.search.facets import facet_title, value_title
from localrag_tui.shown import content, flat, harmless, one_line
from localrag_tui.widgets.paragraph import BrokenText, Paragraph
from localrag_tui.wording import called, provenance

if TYPE_CHECKING:
    from localrag.batch.rows import WrittenRow

_STATUS_STYLES = {"supported": "$text-success", "quoted": "$text-accent"}


class AnswerDialogue(Dialogue):
    """A row as the file of answers holds it; gives back the place of a citation that was chosen.

    Args:
        row: of the file of answers.
        corpus: what answered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "to_citations", N_("Citations"), id="answer.citations"),
        Binding("c", "copy", N_("Copy"), id="answer.copy"),
    ]

    def __init__(self, row: "WrittenRow", corpus: str) -> None:
        super().__init__()
        self._row = row
        self._corpus = corpus
        self._citations: tuple[Citation, ...] = getattr(row, "citations", ())

    def body(self) -> ComposeResult:
        with VerticalScroll():
            for part in _parts(self._row):
                yield Paragraph(part)
            if self._citations:
                options = (_option(n, one) for n, one in enumerate(self._citations, 1))
                yield OptionList(*options)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        self.call_after_refresh(self._go_to_citations)

    def _go_to_citations(self) -> None:
        """Begin there, unless there is more to read than is in view: that is scrolled first."""
        if self._citations and not self.query_one(VerticalScroll).max_scroll_y:
            self.query_one(OptionList).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tab leads to the citations, where there are any and they have not the focus."""
        if action == "to_citations":
            return bool(self._citations) and not isinstance(self.focused, OptionList)
        return super().check_action(action, parameters)

    def action_to_citations(self) -> None:
        self.query_one(OptionList).focus()

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the source of a citation."""
        from localrag_tui.source.links import cited

        citation = self._citations[event.option_index]
        try:
            spot = await self.bench.library_of(self._corpus).read(
                lambda store: cited(store, citation)
            )
        except LocalragError as error:
            self.bench.tell(error)
            return
        if spot is None:
            self.bench.tell(
                LocalragError(
                    _("The corpus no longer holds {passage}.").format(passage=citation.passage_id),
                    _("It has changed since the question was answered."),
                )
            )
            return
        self.dismiss(spot)

    def action_copy(self) -> None:
        parts = [part.plain for part in _parts(self._row)]
        parts += [
            f"[{n}] {one.label}{_provenance(one)}: {one.quote}"
            for n, one in enumerate(self._citations, 1)
        ]
        self.bench.copy(harmless("\n\n".join(parts)))


def _parts(row: "WrittenRow") -> Iterator[Content]:
    from localrag.batch.options import as_called
    from localrag.batch.rows import FailedRow

    parts = [_("row {n}").format(n=row.row), _("id {id}").format(id=row.id) if row.id else ""]
    name = " · ".join(filter(None, parts))
    if isinstance(row, FailedRow):
        state = (f"{_('failed')}: {called(row.error.type, FAILURES)}", "$text-error")
    else:
        state = (called(row.status, STATUSES), _STATUS_STYLES.get(row.status, ""))
    yield Content.assemble((one_line(name), "$foreground-muted"), "  ", state)
    if not isinstance(row, FailedRow) and row.absent:
        yield Content.assemble(
            (_("not in this corpus"), "$text-error"), content(f"  {'、'.join(row.absent)}")
        )
    question = _("This row could not be read.") if row.question is None else row.question
    options = (f"\n  {label}  {text}" for label, text in as_called(row.options, row.labels))
    yield content(question + "".join(options), "bold")
    if isinstance(row, FailedRow):
        cure = (harmless(f"\n{row.error.cure}".rstrip()), "$foreground-muted")
        yield Content.assemble(harmless(row.error.cause), cure)
        return
    if row.where:
        wanted = (f"{facet_title(one.key)} {value_title(one)}" for one in row.where)
        only = _("only: {values}").format(values=_(", ").join(wanted))
        yield Content.styled(only, "$foreground-muted")
    if row.quotations:
        quoted = (
            f"\n  {one_line(one.label)}{_provenance(one)}\n    {flat(one.quote)}"
            for one in row.quotations
        )
        yield content("".join((wording.instead(), *quoted)))
        yield content(wording.by_unsupported_model(), "$text-warning")
    if row.label:
        label = row.choice or row.label
        yield content(_("Choice: {label}").format(label=label), "bold $text-primary")
    if row.claims:
        yield Content("\n").join(line for claim in row.claims for line in _claim(claim))
    elif row.answer and row.status is not Status.QUOTED:
        # Where nothing but quotations answers, they stand below, each under its place.
        yield content(row.answer)
    if row.doubt:
        yield content(told(row.doubt), "$text-warning")
    if row.nearest and row.status in (Status.NOT_FOUND, Status.UNSUPPORTED):
        lines = (f"\n  {one_line(one.label)}  {one_line(one.beginning)}" for one in row.nearest)
        yield content("".join((wording.nearest(row.status), *lines)), "$foreground-muted")


def _claim(claim: Claim) -> Iterator[Content]:
    """A claim, and below it what is wrong with it."""
    numbers = "".join(f"[{number}]" for number in claim.citations)
    yield content(f"{claim.text} {numbers}".rstrip())
    if claim.moved:
        yield content(f"  {wording.moved()}", "$foreground-muted")
    for one in claim.mismatches:
        words = wording.mismatch(one.kind, one.written, claim.text)
        yield content(f"  {words}", "$text-warning")


def _option(number: int, citation: Citation) -> Option:
    head = (f"[{number}] {one_line(citation.label)}", "bold")
    told = _provenance(citation)
    if not citation.verified:
        told = f"  {_('rejected')}: {one_line(str(citation.problem or ''))}"
    style = "" if citation.verified else "$text-error"
    return Option(BrokenText(Content.assemble(head, (told, style), "\n", flat(citation.quote))))


def _provenance(citation: Citation) -> str:
    words = provenance(citation)
    return f"  {words}" if words else ""
