"""Ties of the open provision, its states, and its text as another provision reads it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from localrag.answer import wording
from localrag.errors import LocalragError, NotFoundError
from localrag.language import N_, _
from localrag.page.blocks import Sides
from localrag.page.history import change_blocks
from localrag.search.affected import KINDS, affected
from localrag.search.history import History, headline
from localrag.text.harmless import NARROWEST, Layout, harmless, one_line, shorten
from localrag_tui.screen import Dialogue
from localrag_tui.shell.listing import Valued
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import content
from localrag_tui.source.sheet import AsRead, gone, spot_at
from localrag_tui.spot import Spot

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.search.provision import Provision, ProvisionLink, ProvisionReadings

TITLES = {
    "changed": N_("for the time being changed by"),
    "filled": N_("implemented by"),
    "read_by": N_("read otherwise by"),
    "reads": N_("reads otherwise"),
    "refers": N_("refers to"),
    "referred": N_("referred to by"),
    "terms": N_("terms"),
    "known": N_("also known"),
    "laws": N_("depending on it, by law"),
}
"""Every kind of tie, most wanted first."""

_MOST = 8
_LONGEST_NOTE = 60
_MARK = "· "
_MUTUAL = "applies-mutatis-mutandis"


@dataclass(frozen=True, slots=True)
class Tie:
    """Something tied to a provision.

    Attributes:
        note: words of the text, or "".
        goal: a place, a link, or the id of a passage; None if unknown to code.
        reads: whether it reads the provision otherwise: that text opens first.
    """

    label: str
    note: str
    goal: "Spot | ProvisionLink | str | None"
    reads: bool = False

    def place(self, store: "CorpusStore") -> Spot:
        """Its target; errors as in `spot_at`."""
        if self.goal is None:
            raise NotFoundError(
                _("Code cannot identify these provisions."),
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
    """The ties of a provision by kind, in the order of `TITLES`, without empty kinds."""
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


def laws_of(store: "CorpusStore", passage_id: str) -> list[Tie]:
    """The provisions depending on a passage, counted by law; none if one law has them all."""
    try:
        found = affected(store, passage_id)
    except LocalragError:
        return []  # It is no provision of a law.
    first = {one.place.document_id: one.place.id for one in reversed(found.dependents)}
    return [
        Tie(
            f"{law.title} {law.provisions:,}",
            _(", ").join(f"{_(KINDS[kind])} {n:,}" for kind, n in law.kinds.items()),
            first[law.document_id],
        )
        for law in found.laws
        if len(found.laws) > 1
    ]


def _once(ties: Iterable[Tie]) -> list[Tie]:
    """Ties to the same provision as one, with all their words."""
    merged: dict[str, Tie] = {}
    for tie in ties:
        before = merged.get(tie.label)
        notes = dict.fromkeys(filter(None, (before.note if before else "", tie.note)))
        merged[tie.label] = replace(before or tie, note=_(", ").join(notes))
    return list(merged.values())


def counts(ties: dict[str, list[Tie]]) -> Content:
    """The number of ties by kind, in one line; implementing provisions are highlighted."""
    words = [
        Content.styled(f"{_(TITLES[kind])} {len(those):,}", "bold $accent" * (kind == "filled"))
        for kind, those in ties.items()
        # They are counted already.
        if kind != "laws"
    ]
    return Content(" · ").join(words)


class Ties(OptionList):
    """Lists the ties of a provision."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Open"), id="ties.open"),
    ]

    @dataclass
    class Chosen(Message):
        """Open a tie."""

        tie: Tie

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._ties: dict[str, list[Tie]] = {}
        self._whole: set[str] = set()
        self._width = 0

    def show(self, ties: dict[str, list[Tie]]) -> None:
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
    """A tie in as many rows as needed; later rows are indented."""
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
    # Without the title of the same document, at both ends of a range.
    return label.replace(f"{title} ", "")


class StatesDialogue(Dialogue):
    """A provision in all states of its law, latest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy"), id="states.copy"),
        Binding("enter", "leave", N_("Close"), id="states.close"),
    ]

    def __init__(self, history: History) -> None:
        super().__init__()
        self._history = history

    def body(self) -> ComposeResult:
        yield Static(Content(one_line(self._history.title)), classes="heading")
        with VerticalScroll():
            if len(self._history.versions) == 1:
                yield Paragraph(content(_("The corpus has one state of this law.")))
            for version in reversed(self._history.versions):
                yield Paragraph(content(one_line(headline(version))), classes="period")
                for sides in change_blocks(version):
                    yield from _side_by_side(sides)
            for fact in self._history.notes:
                yield Paragraph(content(one_line(str(fact))), classes="period")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_copy(self) -> None:
        """Copy all of it, deletions after a minus, insertions after a plus."""
        lines = [self._history.title]
        for version in reversed(self._history.versions):
            lines += ["", headline(version)]
            for sides in change_blocks(version):
                lines += [f"- {sides.before}"] if sides.before else []
                lines += [f"+ {sides.after}"] if sides.after else []
        lines += ["", *map(str, self._history.notes)]
        self.bench.copy(harmless("\n".join(lines)))


def _side_by_side(sides: Sides) -> ComposeResult:
    if sides.place:
        yield Static(content(one_line(sides.place)), classes="place")
    with Horizontal():
        yield Paragraph(content(sides.before), classes="before")
        yield Paragraph(content(sides.after), classes="after")


_OF_LAW = "$foreground-muted"
# Rows above the first replaced words.
_ABOVE = 3


class AsReadDialogue(Dialogue):
    """A provision as another one reads it; returns True to open that one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", N_("Copy"), id="as_read.copy"),
        Binding("enter", "open", N_("To replacing provision"), id="as_read.open"),
    ]

    def __init__(self, found: AsRead) -> None:
        super().__init__()
        self._found = found

    def body(self) -> ComposeResult:
        text = self._found.text
        yield Paragraph(content(self._found.title), classes="heading")
        yield Paragraph(content(wording.made_by_code(text)), classes="mark")
        with VerticalScroll():
            yield Paragraph(self._read, classes="read")
            if text.left_out:
                yield Paragraph(content(self._left_out), classes="left")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        self.call_after_refresh(self._go_to_first)

    def _go_to_first(self) -> None:
        """Scroll to the first replaced words."""
        rows = Layout(self._read.plain, self.query_one(".read").content_size.width)
        first = self._read.plain.find("【")
        if first >= 0:
            self.query_one(VerticalScroll).scroll_to(y=rows.row_of(first) - _ABOVE, animate=False)

    def action_open(self) -> None:
        self.dismiss(True)

    def action_copy(self) -> None:
        """Copy all of it, with a mark for text made by code."""
        text = self._found.text
        read = "".join(map("".join, wording.as_read(text)))
        parts = [wording.made_by_code(text), f"「{read.strip()}」（{self._found.title}）"]
        self.bench.copy(harmless("\n\n".join(filter(None, [*parts, self._left_out]))))

    @property
    def _read(self) -> Content:
        """The text, with replaced words highlighted."""
        parts = [
            (content(read, "bold $text-accent" * bool(of_law)), content(of_law, _OF_LAW))
            for read, of_law in wording.as_read(self._found.text)
        ]
        return Content.assemble(*(part for pair in parts for part in pair))

    @property
    def _left_out(self) -> str:
        lines = ["".join(wording.replacement(words)) for words in self._found.text.left_out]
        return "\n".join([wording.not_made(), *lines]) if lines else ""
