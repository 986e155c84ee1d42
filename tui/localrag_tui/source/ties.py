"""What is tied to the provision in view: what fills it in, refers to it, defines its terms."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from localrag.errors import NotFoundError
from localrag.harmless import NARROWEST, Layout, shorten
from localrag.language import N_, _
from localrag.reading import wording
from localrag_tui.shown import one_line
from localrag_tui.source.links import gone, spot_at
from localrag_tui.spot import Spot
from localrag_tui.widgets.listing import Valued

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.provision import Provision, ProvisionLink, ProvisionReadings

TITLES = {
    "changed": N_("for the time being changed by"),
    "filled": N_("filled in by"),
    "read_by": N_("read otherwise by"),
    "reads": N_("reads otherwise"),
    "refers": N_("refers to"),
    "referred": N_("referred to by"),
    "terms": N_("terms"),
    "known": N_("also known"),
}
"""Every kind of tie, what a reader looks for first standing first."""

_MOST = 8
_LONGEST_NOTE = 60
_MARK = "· "
_MUTUAL = "applies-mutatis-mutandis"


@dataclass(frozen=True, slots=True)
class Tie:
    """Something tied to a provision.

    Attributes:
        label: what it is called.
        note: how it is tied, in words of the text; may be empty.
        goal: where it is: a place, the end of a reference, or the id of a passage; None where code
            cannot tell.
        reads: whether it has words of the provision read otherwise: the text so read opens first.
    """

    label: str
    note: str
    goal: "Spot | ProvisionLink | str | None"
    reads: bool = False

    def place(self, store: "CorpusStore") -> Spot:
        """Where it opens; raises what `spot_at` does."""
        if self.goal is None:
            raise NotFoundError(
                _("Code cannot tell which provisions these are."),
                _("The words of the law tell it: 「{words}」.").format(words=self.label),
            )
        if isinstance(self.goal, Spot):
            return self.goal
        if not isinstance(self.goal, str):
            return spot_at(store, self.goal.document_id, self.goal.label, self.goal.locator)
        passage = store.by_id(self.goal)
        if passage is None:
            raise gone(self.goal)
        return Spot.of(passage)


def ties_of(provision: "Provision") -> dict[str, list[Tie]]:
    """The ties of a provision by kind, in the order of `TITLES`; kinds without any are left out."""
    title = provision.document.title

    def linked(link: "ProvisionLink") -> Tie:
        label = _short(link.label, title)
        note = "" if link.words == label.replace(" ", "") else link.words
        if link.kind == _MUTUAL:
            note = _("mutatis mutandis {words}").format(words=note)
        if not link.exists:
            note = _("{words} (not in this corpus)").format(words=note)
        return Tie(label, note.strip(), link)

    def reading(readings: "ProvisionReadings") -> Tie:
        link, told = readings.link, readings.told
        label = f"{_short(link.label, title)} {readings.part}".strip()
        words = _(", ").join("".join(wording.replacement(words)) for words in readings.words)
        if not told:
            words += wording.untold()
        elif not link.exists:
            words = _("{words} (not in this corpus)").format(words=words)
        return Tie(label or "…", words, link if told else None)

    ties = {
        "changed": [
            Tie(_short(by.header, title), _("for the time being"), Spot.of(by))
            for by in provision.changed_by
        ],
        "filled": _once(map(linked, provision.filled_in_by)),
        "read_by": [replace(tie, reads=True) for tie in _once(map(linked, provision.read_by))],
        "reads": _once(map(reading, provision.reads)),
        "refers": _once(map(linked, provision.refers_to)),
        "referred": _once(map(linked, provision.referred_by)),
        "terms": [
            Tie(of.term, _short(of.passage.header, title), Spot.of(of.passage))
            for of in provision.terms
        ],
        "known": [
            Tie(f"{of.triple.predicate}: {'、'.join(of.triple.objects)}", "", of.passage_id)
            for of in provision.known
        ],
    }
    return {kind: those for kind, those in ties.items() if those}


def _once(ties: Iterable[Tie]) -> list[Tie]:
    """A provision that is tied in several ways, once, with the words of all of them."""
    merged: dict[str, Tie] = {}
    for tie in ties:
        before = merged.get(tie.label)
        notes = dict.fromkeys(filter(None, (before.note if before else "", tie.note)))
        merged[tie.label] = replace(before or tie, note=_(", ").join(notes))
    return list(merged.values())


def counts(ties: dict[str, list[Tie]]) -> Content:
    """The kinds with their numbers, on one line; what fills a provision in stands out."""
    words = [
        Content.styled(f"{_(TITLES[kind])} {len(those):,}", "bold $accent" * (kind == "filled"))
        for kind, those in ties.items()
    ]
    return Content(" · ").join(words)


class Ties(OptionList):
    """Lists the ties of a provision; one that is chosen opens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Open"), id="ties.open"),
    ]

    class Chosen(Message):
        """A tie is to be opened."""

        def __init__(self, tie: Tie) -> None:
            super().__init__()
            self.tie = tie

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._ties: dict[str, list[Tie]] = {}
        self._whole: set[str] = set()
        self._width = 0

    def show(self, ties: dict[str, list[Tie]]) -> None:
        """List these, the first of long kinds only."""
        self._ties, self._whole = ties, set()
        self._fill()
        self.scroll_home(animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open a tie, or list the rest of a kind."""
        event.stop()
        assert isinstance(event.option, Valued)
        match event.option.value:
            case Tie() as tie:
                self.post_message(self.Chosen(tie))
            case kind:
                self._list_whole(kind)

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        if width != self._width:
            self._width = width
            chosen = self.highlighted
            self._fill()
            self.highlighted = chosen

    def _list_whole(self, kind: str) -> None:
        self._whole.add(kind)
        chosen = self.highlighted
        self._fill()
        self.highlighted = chosen

    def _fill(self) -> None:
        options: list[Option] = []
        for kind, ties in self._ties.items():
            options.append(Option(Content(f"{_(TITLES[kind])} {len(ties):,}"), disabled=True))
            shown = ties if kind in self._whole else ties[:_MOST]
            options += [Valued(_entry(tie, self._width), tie) for tie in shown]
            if more := len(ties) - len(shown):
                text = _("and {n} more").format(n=f"{more:,}")
                options.append(Valued(Content.styled(text, "$primary underline"), kind))
        if not options:
            options = [Option(Content(_("nothing is tied to it")), disabled=True)]
        self.set_options(options)


def _entry(tie: Tie, width: int) -> Content:
    """A tie on as many rows as it needs, those after the first indented."""
    label, note = one_line(tie.label), shorten(one_line(tie.note), _LONGEST_NOTE)
    text, said = f"{label}  {note}".rstrip(), len(label)
    rows = Layout(text, max(NARROWEST, width - len(_MARK)))
    parts: list[str | tuple[str, str]] = []
    for start, end, _indent in rows:
        parts += [
            f"\n{' ' * len(_MARK)}" if start else _MARK,
            text[start : min(end, said)],
            (text[max(start, said) : end], "$foreground-muted"),
        ]
    return Content.assemble(*parts)


def _short(label: str, title: str) -> str:
    # Of what stands in the same document, also at both ends of a range.
    return label.replace(f"{title} ", "")
