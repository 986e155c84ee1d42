"""One row of a run: the question, and its answer with the citations, or why it has none."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from localrag.corpus.store import CorpusStore
from localrag.errors import LocalragError
from localrag.facts import facts_of, told
from localrag.language import N_, _
from localrag.methods.choices import LABELS
from localrag.reading import wording
from localrag.reading.wording import STATUSES
from localrag_tui.screen import Dialogue
from localrag_tui.shown import content, flat, harmless, one_line
from localrag_tui.spot import Spot
from localrag_tui.widgets.paragraph import Paragraph
from localrag_tui.wording import called, provenance

_STATUS_STYLES = {"supported": "$text-success", "quoted": "$text-accent"}


class AnswerDialogue(Dialogue):
    """A row as the file of answers holds it; gives back the place of a citation that was chosen.

    Args:
        row: as `localrag.batch.rows` writes it.
        corpus: what answered.
    """

    CSS: ClassVar[str] = """
    AnswerDialogue > .box {
        width: 110; max-width: 96%; height: auto; max-height: 90%;
        background: $surface; padding: 1 1;
        VerticalScroll { height: auto; max-height: 100%; padding: 0 1; }
        Paragraph { height: auto; margin: 0 0 1 0; }
        OptionList { height: auto; max-height: 12; border: none; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy"), id="answer.copy"),
    ]

    def __init__(self, row: Mapping[str, Any], corpus: str) -> None:
        super().__init__()
        self._row = row
        self._corpus = corpus
        self._citations: list[Mapping[str, Any]] = list(row.get("citations") or ())

    def body(self) -> ComposeResult:
        with VerticalScroll():
            for part in _parts(self._row):
                yield Paragraph(part)
        if self._citations:
            options = (_option(n, one) for n, one in enumerate(self._citations, 1))
            yield OptionList(*options)

    def on_mount(self) -> None:
        self.query_one(OptionList if self._citations else VerticalScroll).focus()

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the source of a citation."""
        citation = self._citations[event.option_index]
        passage_id = str(citation["passage_id"])
        try:
            passage = await self.bench.library_of(self._corpus).read(
                lambda store: _passage(store, passage_id)
            )
        except LocalragError as error:
            self.bench.tell(error)
            return
        if passage is None:
            self.bench.tell(
                LocalragError(
                    _("The corpus no longer holds {passage}.").format(passage=passage_id),
                    _("It has changed since the question was answered."),
                )
            )
            return
        spot = Spot.of(passage)
        if citation.get("verified"):
            spot = Spot(passage.document_id, citation["start"], citation["end"], passage.id)
        self.dismiss(spot)

    def action_copy(self) -> None:
        parts = [part.plain for part in _parts(self._row)]
        parts += [
            f"[{n}] {one['label']}{_provenance(one)}: {one['quote']}" for n, one in self._numbered()
        ]
        self.bench.copy(harmless("\n\n".join(parts)))

    def _numbered(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        return enumerate(self._citations, 1)


def _parts(row: Mapping[str, Any]) -> Iterator[Content]:
    name = " · ".join(filter(None, (f"#{row.get('row', '')}", row.get("id") or "")))
    status, error = str(row.get("status", "")), row.get("error") or {}
    if error:
        state = (f"{_('failed')}: {one_line(str(error.get('type', '')))}", "$text-error")
    else:
        state = (called(status, STATUSES), _STATUS_STYLES.get(status, ""))
    yield Content.assemble((one_line(name), "$foreground-muted"), "  ", state)
    if absent := row.get("absent"):
        yield Content.assemble(
            (_("not in this corpus"), "$text-error"), content(f"  {'、'.join(map(str, absent))}")
        )
    question = row.get("question")
    options = "".join(
        f"\n  {label}  {text}"
        for label, text in zip(LABELS, row.get("options") or (), strict=False)
    )
    yield content(
        f"{_('This row could not be read.') if question is None else question}{options}", "bold"
    )
    if error:
        yield Content.assemble(
            harmless(str(error.get("cause", ""))),
            (harmless(f"\n{error.get('cure', '')}".rstrip()), "$foreground-muted"),
        )
        return
    claims = row.get("claims") or ()
    if row.get("label"):
        yield content(_("Choice: {label}").format(label=row["label"]), "bold $text-primary")
    if claims:
        yield Content("\n").join(line for claim in claims for line in _claim(claim))
    elif row.get("answer"):
        yield content(str(row["answer"]))
    if doubts := _told(row.get("doubt")):
        yield Content.styled(doubts, "$text-warning")


def _claim(claim: Mapping[str, Any]) -> Iterator[Content]:
    """A claim, and below it what is wrong with it."""
    numbers = "".join(f"[{number}]" for number in claim.get("citations") or ())
    yield content(f"{claim.get('text', '')} {numbers}".rstrip())
    if claim.get("moved"):
        yield content(f"  {wording.moved()}", "$foreground-muted")
    for one in claim.get("mismatches") or ():
        told = wording.mismatch(str(one["kind"]), str(one["written"]), str(claim.get("text", "")))
        yield content(f"  {told}", "$text-warning")


def _option(number: int, citation: Mapping[str, Any]) -> Option:
    head = (f"[{number}] {one_line(str(citation.get('label', '')))}", "bold")
    quote = flat(str(citation.get("quote", "")))
    if citation.get("verified"):
        return Option(Content.assemble(head, f"{_provenance(citation)}  {quote}"))
    problem = _told(citation.get("problem"))
    return Option(
        Content.assemble(head, (f"  {_('rejected')}: {problem}", "$text-error"), f"  {quote}")
    )


def _told(stored: object) -> str:
    """The words of facts in a row, which may have been written by hand."""
    with suppress(ValueError):
        return one_line(told(facts_of(stored)))
    return one_line(str(stored))


def _provenance(citation: Mapping[str, Any]) -> str:
    told = provenance(str(citation.get("state") or ""), beside=bool(citation.get("beside")))
    return f"  {told}" if told else ""


def _passage(store: CorpusStore, passage_id: str) -> Any:
    return store.by_id(passage_id)
