"""What stands where a conversation has no question yet: what can be asked, or what is missing."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static

from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag_tui.corpora.work import CorpusRow, overview
from localrag_tui.shell.keys import bench_key, key_of
from localrag_tui.shown import content, one_line
from localrag_tui.widgets.listing import Listing, Valued
from localrag_tui.widgets.paragraph import BrokenText, Paragraph
from localrag_tui.wording import palette

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag_tui.app import Workbench


# Questions that are offered: more would cover what stands above them.
_OFFERED = 5


async def questions_for(bench: "Workbench", corpus: str) -> tuple[str, ...]:
    """Questions that a corpus answers: the sample's own, and those to begin with.

    Raises:
        LocalragError: the corpus cannot be read.
    """
    from localrag.overview import starting_questions
    from localrag.sample import ANSWERED_BY, QUESTION

    library, place = bench.library_of(corpus), bench.workspace.corpus(corpus)

    def found(store: "CorpusStore") -> tuple[str, ...]:
        own = () if store.by_id(ANSWERED_BY) is None else (QUESTION,)
        return (*own, *starting_questions(place, store, _OFFERED))[:_OFFERED]

    return await library.read(found)


class Examples(Listing):
    """Questions to begin with; Enter or a click asks one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Ask this"), id="ask.example"),
    ]

    class Asked(Message):
        """A question is to be asked."""

        def __init__(self, question: str) -> None:
            super().__init__()
            self.question = question

    def offer(self, questions: Sequence[str]) -> None:
        """Offer questions, or none."""
        self.clear_options()
        self.add_options(Valued(BrokenText(content(one_line(one))), one) for one in questions)
        self.highlighted = 0 if questions else None
        self.set_class(bool(questions), "-known")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        assert isinstance(event.option, Valued)
        self.post_message(self.Asked(event.option.value))


class EmptyConversation(Vertical):
    """Says how to begin."""

    def compose(self) -> ComposeResult:
        yield Paragraph(id="begin")
        yield Static(_("for example (Tab, Enter):"), id="hint")
        yield Examples()

    async def look(self, bench: "Workbench") -> None:
        """Look at the corpus that is chosen, and say what can be done."""
        from localrag_tui.corpora.work import changes

        name = bench.corpus
        job = next((job for job in bench.jobs.running if changes(job, name)), None)
        if job is not None:
            self._offer(())
            shows = _("{key} shows how far it is.").format(key=bench_key(bench, "app.jobs"))
            self._say(_lines(f"{job.title} …", shows))
            return
        rows = await asyncio.to_thread(overview, bench.workspace)
        row = next((row for row in rows if row.name == name), None)
        self._say(_words(bench, name, row))
        ready = row is not None and row.index == "fresh"
        try:
            self._offer(await questions_for(bench, name) if ready else ())
        except LocalragError as error:
            bench.tell(error)

    def _offer(self, questions: Sequence[str]) -> None:
        self.query_one("#hint").set_class(bool(questions), "-known")
        self.query_one(Examples).offer(questions)

    def _say(self, words: Content) -> None:
        self.query_one("#begin", Paragraph).show(words)


def _words(bench: "Workbench", name: str, row: CorpusRow | None) -> Content:
    from localrag_tui.ask.screen import AskScreen

    if row is None:
        choose = key_of(bench, AskScreen, "ask.choose")
        return _lines(
            _("There is no corpus “{name}” yet.").format(name=name),
            palette(_("Try the sample corpus")),
            palette(_("Add documents")),
            _("{key} chooses another corpus.").format(key=choose),
        )
    if row.problem:
        return _lines(_("The corpus cannot be opened."), row.problem)
    if row.index == "missing":
        return _lines(
            _("The corpus “{name}” is not indexed yet: nothing can be found in it.").format(
                name=name
            ),
            palette(_("Index the corpus")),
        )
    documents = ngettext(
        "Ask about the {n:,} document of “{name}”.",
        "Ask about the {n:,} documents of “{name}”.",
        row.documents,
    ).format(n=row.documents, name=name)
    hints = [
        _("Quotations stand word for word; what a model claims is checked against what it cites."),
        _("Up walks through the questions asked before; {key} brings a conversation back.").format(
            key=key_of(bench, AskScreen, "ask.conversations")
        ),
    ]
    if row.index != "fresh":
        hints.insert(
            0,
            _("Its index cannot be used as it is, or lacks some documents.")
            + " "
            + palette(_("Index the corpus")),
        )
    return _lines(documents, *hints)


def _lines(first: str, *more: str) -> Content:
    lines = [content(first, "bold"), *(content(line, "$foreground-muted") for line in more)]
    return Content("\n\n").join(lines)
