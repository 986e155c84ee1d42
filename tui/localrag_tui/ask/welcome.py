"""What stands where a conversation has no question yet: what can be asked, or what is missing."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag_tui.corpora.work import CorpusRow, overview
from localrag_tui.shell.keys import bench_key, key_of
from localrag_tui.shown import content
from localrag_tui.widgets.paragraph import Paragraph
from localrag_tui.wording import palette

if TYPE_CHECKING:
    from localrag_tui.app import Workbench
    from localrag_tui.library import Library


async def question_for(library: "Library") -> str:
    """A question that a corpus answers; "" where none is known: only the sample has one.

    Raises:
        LocalragError: the corpus cannot be read.
    """
    from localrag.sample import ANSWERED_BY, QUESTION

    passage = await library.read(lambda store: store.by_id(ANSWERED_BY))
    return QUESTION if passage is not None else ""


class Example(Static, can_focus=True):
    """The question; Enter or a click asks it."""

    DEFAULT_CSS: ClassVar[str] = """
    Example {
        width: auto; max-width: 100%; margin-top: 1; padding: 0 1;
        background: $panel; color: $foreground; display: none;
        &:focus { background: $block-cursor-blurred-background; text-style: bold; }
        &:hover { background: $block-cursor-blurred-background; }
        &.-known { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "ask", N_("Ask this"), id="ask.example"),
    ]

    class Asked(Message):
        """The question is to be asked."""

        def __init__(self, question: str) -> None:
            super().__init__()
            self.question = question

    def __init__(self) -> None:
        super().__init__()
        self._question = ""

    def offer(self, question: str) -> None:
        """Offer a question; "" offers none."""
        self._question = question
        self.set_class(bool(question), "-known")
        hint = _("for example (Tab, Enter):")
        self.update(Content.assemble((f"{hint} ", "$foreground-muted"), content(question)))

    def action_ask(self) -> None:
        self.post_message(self.Asked(self._question))

    def on_click(self) -> None:
        self.action_ask()


class EmptyConversation(Vertical):
    """Says how to begin."""

    DEFAULT_CSS: ClassVar[str] = """
    EmptyConversation {
        width: 100%; padding: 2 4;
        Static { width: 100%; height: auto; }
    }
    """

    def compose(self) -> ComposeResult:
        yield Paragraph(id="begin")
        yield Example()

    async def look(self, bench: "Workbench") -> None:
        """Look at the corpus that is chosen, and say what can be done."""
        from localrag_tui.corpora.work import changes

        name, example = bench.corpus, self.query_one(Example)
        job = next((job for job in bench.jobs.running if changes(job, name)), None)
        if job is not None:
            example.offer("")
            shows = _("{key} shows how far it is.").format(key=bench_key(bench, "app.jobs"))
            self._say(_lines(f"{job.title} …", shows))
            return
        rows = await asyncio.to_thread(overview, bench.workspace)
        row = next((row for row in rows if row.name == name), None)
        self._say(_words(bench, name, row))
        ready = row is not None and row.index == "fresh"
        try:
            example.offer(await question_for(bench.library_of(name)) if ready else "")
        except LocalragError as error:
            bench.tell(error)

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
