"""Where questions are written."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from localrag.language import N_, _
from localrag_tui.ask.typing_area import OptionsArea, QuestionArea
from localrag_tui.ask.unsent import Unsent, UnsentFile

if TYPE_CHECKING:
    from localrag.retrieval.types import Query

# From so many characters on their number is shown.
_LONG = 2_000
# Seconds between two times that what was typed is kept.
_PACE = 0.7


class Composer(Vertical):
    """The question and, for a method that chooses between some, its options.

    What is typed is kept in a file until it is asked.

    Attributes:
        question: the field of the question.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Composer {
        height: auto; dock: bottom; padding: 0 1;
        background: $surface;
        border-top: solid $panel;
        border-title-color: $foreground-muted;
        border-title-align: right;
        &:focus-within { border-top: solid $primary; }
        Horizontal { height: auto; display: none; }
        &.-choosing Horizontal { display: block; }
        #labels { width: 3; height: auto; color: $accent; text-style: bold; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "screen.to_answer", N_("Answer (1-9)"), id="ask.answer"),
    ]

    class Asked(Message):
        """A question is to be asked."""

        def __init__(self, query: "Query") -> None:
            super().__init__()
            self.query = query

    def __init__(self, kept: UnsentFile) -> None:
        super().__init__()
        self.question = QuestionArea(placeholder=_("Ask a question"), id="question")
        self._options = OptionsArea(placeholder=_("An option on each line"), id="options")
        self._kept = kept
        self._typed = False

    def compose(self) -> ComposeResult:
        """The question; what else there is comes with `complete`."""
        yield self.question

    async def complete(self) -> None:
        """Make the field of the options, and show what was typed the last time."""
        await self.mount(Horizontal(Static(id="labels"), self._options))
        unsent = await self._kept.read()
        if not self.question.text and not self._options.text:
            self._show(unsent)
        self.set_interval(_PACE, self._keep)

    async def on_unmount(self) -> None:
        """Keep what was typed last."""
        await self._keep()
        self._kept.close()

    @property
    def choosing(self) -> bool:
        """Whether options are asked for."""
        return self.has_class("-choosing")

    @choosing.setter
    def choosing(self, choosing: bool) -> None:
        self.set_class(choosing, "-choosing")
        self.question.has_options = choosing
        if choosing:
            self._label()
        elif self._options.has_focus:
            self.question.focus()
        self.screen.refresh_bindings()

    def sent(self, query: "Query") -> None:
        """Forget a question that is asked and written down, unless another one is typed here."""
        self.question.before.add(query.text)
        if self._query == query:
            self._show(Unsent())
            if self._options.has_focus:
                self.question.focus()

    def put(self, query: "Query") -> None:
        """Show a question to be asked, perhaps after a change."""
        self._show(Unsent(query.text, "\n".join(query.options)))

    def on_question_area_asked(self, event: QuestionArea.Asked) -> None:
        """Ask what was typed."""
        event.stop()
        self.post_message(self.Asked(self._query))

    def on_question_area_left(self, event: QuestionArea.Left) -> None:
        """Go on with the options."""
        event.stop()
        self._options.focus()

    def on_options_area_left(self, event: OptionsArea.Left) -> None:
        """Go back to the question."""
        event.stop()
        self.question.focus()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Say how long a long text is, and label the options."""
        event.stop()
        self._typed = True
        characters = len(self.question.text) + len(self._options.text)
        counted = _("{n:,} characters").format(n=characters) if characters >= _LONG else ""
        self.border_title = counted
        if self.choosing:
            self.call_after_refresh(self._label)

    @property
    def _query(self) -> "Query":
        from localrag.retrieval.types import Query

        options = self._options.options if self.choosing else ()
        return Query(self.question.typed.strip(), options)

    def _show(self, unsent: Unsent) -> None:
        self.question.put(unsent.text)
        self._options.put(unsent.options)

    def _label(self) -> None:
        from localrag.methods.choices import LABELS

        rows = dict(zip(self._options.rows or [0], LABELS, strict=False))
        lines = [rows.get(row, "") for row in range(max(rows) + 1)]
        shown = lines[self._options.scroll_offset.y :][: self._options.size.height or 1]
        self.query_one("#labels", Static).update(Content("\n".join(shown)))

    async def _keep(self) -> None:
        if self._typed:
            self._typed = False
            await self._kept.write(Unsent(self.question.typed, self._options.typed))
