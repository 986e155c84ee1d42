"""The Ask screen: conversation, field of the question, evidence."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Static

from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _
from localrag.text.harmless import one_line
from localrag_tui.ask.composer import Composer, StatusLine, UnsentFile
from localrag_tui.screen import WorkbenchScreen
from localrag_tui.shell.keys import key_of
from localrag_tui.shell.look import sheets
from localrag_tui.shown import content, palette
from localrag_tui.spot import OpenSpot

if TYPE_CHECKING:
    # Imported after the first paint.
    from localrag.corpus.config import Config
    from localrag.ops.conversations.types import Turn
    from localrag.search.types import Filters, Query
    from localrag_tui.ask.asking import OpenQuestion, Record
    from localrag_tui.ask.chooser import Way
    from localrag_tui.ask.evidence import SourceSide
    from localrag_tui.ask.transcript import EmptyConversation, Examples, Transcript
    from localrag_tui.search.filters import CorpusValues
    from localrag_tui.work.jobs import Job

# Seconds between two paints of an answer in progress.
_PACE = 0.05
# Seconds between two stored drafts of it.
_DRAFT_PACE = 1.0
# Earlier questions that a follow-up may refer to.
_EARLIER = 3


class AskScreen(WorkbenchScreen):
    """Asks questions and shows their answers."""

    CSS_PATH = sheets("ask")
    MODE: ClassVar[str] = "ask"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", N_("Cancel"), id="ask.cancel"),
        Binding("escape", "leave", N_("Back"), id="ask.leave"),
        Binding("ctrl+o", "choose", N_("Answer with"), id="ask.choose"),
        Binding("ctrl+r", "conversations", N_("Conversations"), id="ask.conversations"),
        Binding("ctrl+l", "limit", N_("Limit to laws or metadata"), id="ask.limit", show=False),
        Binding("ctrl+n", "new", N_("New conversation"), id="ask.new", show=False),
        Binding("pageup", "page(-1)", N_("Scroll up"), id="ask.page_up", show=False),
        Binding("pagedown", "page(1)", N_("Scroll down"), id="ask.page_down", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(classes="-empty")
        self._record: Record
        self._welcome: EmptyConversation
        self._transcript: Transcript
        self._side: SourceSide
        self._asking: OpenQuestion | None = None
        self._begun = asyncio.Event()
        self._begun.set()
        self._ways: dict[str, Way] = {}

    def body(self) -> ComposeResult:
        with Horizontal(id="parts"), Vertical(id="conversation"):
            # Before the transcript: Tab goes from the question to the answer.
            yield Composer(UnsentFile(self.bench.workspace.home / "tui-unsent"))
            yield Static(id="title")
        yield StatusLine()

    def on_mount(self) -> None:
        self.query_one(Composer).question.focus()

    async def get_ready(self) -> None:
        from localrag_tui.ask.asking import Record
        from localrag_tui.ask.evidence import SourceSide
        from localrag_tui.ask.transcript import EmptyConversation, Transcript

        self.bench.add_styles("parts", "answer", "source")
        self._record = Record(self.bench)
        self._welcome = EmptyConversation()
        self._transcript, self._side = Transcript(), SourceSide()
        await self.query_one("#conversation").mount(self._welcome, self._transcript)
        await self.query_one("#parts").mount(self._side)
        await self.query_one(Composer).complete()
        self._unlisten = self.bench.jobs.listen(self._after_job)
        self.set_interval(_PACE, self._follow)
        self.set_interval(_DRAFT_PACE, self._keep_draft)
        self._chosen()
        self._show_conversation()
        self._look_up()

    def on_unmount(self) -> None:
        if self.ready.is_set():
            self._unlisten()

    def on_screen_resume(self) -> None:
        if self.ready.is_set():
            self._chosen()
            self._side.keep_up()

    @property
    def focus_chain(self) -> list[Widget]:
        """The question, its answer, then the evidence, unlike their order on the screen."""
        if not self.ready.is_set():
            return super().focus_chain
        composer, transcript = self.query_one(Composer), self._transcript
        return sorted(
            super().focus_chain,
            key=lambda widget: (composer not in widget.ancestors, widget is not transcript),
        )

    # Asking

    def on_composer_asked(self, event: Composer.Asked) -> None:
        """Ask a question, with the earlier ones to the same corpus."""
        here = [turn for turn in self._transcript.turns if turn.corpus == self.bench.corpus]
        before = here[-_EARLIER:]
        history = tuple(turn.read_as for turn in before)
        filters = self.bench.memory.choices.asked_of
        self._ask(replace(event.query, history=history, filters=filters))

    def on_examples_asked(self, event: "Examples.Asked") -> None:
        from localrag.search.types import Query

        self._ask(Query(event.question, filters=self.bench.memory.choices.asked_of))

    def _ask(self, query: "Query") -> None:
        # Enter may come again before the first question is stored.
        if self._begun.is_set():
            self._begun.clear()
            self._have_answered(query)

    @work(group="asking")
    async def _have_answered(self, query: "Query") -> None:
        try:
            before, asking = self._asking, await self._begin(query)
            if asking is None:
                return
            self._asking = asking
            await self._show_asked(asking)
        finally:
            self._begun.set()
        await asking.run(before)

    async def settle(self) -> None:
        """Wait until a sent question is stored; its key may still be on its way."""
        for part in (self.query_one(Composer).question, self.query_one(Composer), self):
            passed = asyncio.Event()
            part.call_later(passed.set)
            await passed.wait()
        await self._begun.wait()

    async def _begin(self, query: "Query") -> "OpenQuestion | None":
        """Store a question, if it can be asked now."""
        from localrag_tui.ask.asking import OpenQuestion

        bench = self.bench
        if self._asking is not None and not self._asking.over:
            key = key_of(bench, "ask.cancel")
            words = _("An answer is being made: {key} cancels it.")
            bench.notify(words.format(key=key), severity="warning")
            return None
        try:
            config = bench.config()
            await asyncio.to_thread(self._check, query, config)
            await bench.library.require_documents()
        except LocalragError as error:
            bench.tell(error)
            return None
        return await OpenQuestion.begin(bench, self._record, query, config, self._end)

    async def _show_asked(self, asking: "OpenQuestion") -> None:
        from localrag.search.types import Filters

        self.query_one(Composer).sent(replace(asking.turn.query, history=(), filters=Filters()))
        self.remove_class("-empty", "-over")
        await self._name_limits([asking.turn])
        await self._transcript.begin(asking.turn, asking.progress)
        self._entitle(await self._record.title())
        self.refresh_bindings()

    def _check(self, query: "Query", config: "Config") -> None:
        """Refuse an invalid question while it can still be changed."""
        from localrag.search import MAX_CHARACTERS
        from localrag.search.query import characters, check
        from localrag_tui.ask.chooser import fault_of_options

        try:
            check(query)
        except UsageError as error:
            if characters(query) <= MAX_CHARACTERS:
                raise
            cure = _("Ask a shorter question, or add the text as a document.")
            cure = f"{cure} {palette(_('Add documents'))}"
            raise UsageError(error.cause, cure) from error
        way = self._ways.get(config.method.name)
        if way is not None and (fault := fault_of_options(way, len(query.options))):
            raise UsageError(
                _("{method} chooses between {least} to {most} options; there are {n}.").format(
                    method=way.name, least=fault[0], most=fault[1], n=len(query.options)
                ),
                _("Type each in a line of its own below the question (Tab)."),
            )

    @work(group="end")
    async def _end(self, asking: "OpenQuestion") -> None:
        """Show the outcome of a question, if its conversation is in view."""
        self.refresh_bindings()
        transcript = self._transcript
        view = transcript.view_of(asking.progress)
        if view is not None:
            await transcript.end(view, asking.turn)
            self._side.show(asking.turn)
            self._show_cost(asking.turn)

    def _follow(self) -> None:
        """Show the progress of the answer."""
        asking = self._asking
        if asking is None or asking.over:
            return
        transcript = self._transcript
        view = transcript.view_of(asking.progress)
        if view is not None:
            transcript.follow(view)
            view.show_progress()
            self.query_one(StatusLine).show(str(asking.progress))

    @work(group="draft")
    async def _keep_draft(self) -> None:
        if self._asking is not None:
            await self._asking.keep_draft()

    @work(group="cancel")
    async def action_cancel(self) -> None:
        if self._asking is not None:
            await self._asking.cancel()

    def action_leave(self) -> None:
        """Close the source over the answer, else go back to the question."""
        if self._covered:
            self.remove_class("-over")
            self._transcript.focus()
        else:
            self.query_one(Composer).question.focus()

    def action_to_answer(self) -> None:
        self._transcript.focus()

    def action_page(self, by: int) -> None:
        transcript = self._transcript
        transcript.scroll_relative(y=by * transcript.size.height, animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        del parameters
        if action == "cancel":
            return self._asking is not None and not self._asking.over and not self._covered
        if action == "to_answer":
            return not self.has_class("-empty") and self.query_one(Composer).has_focus_within
        if action == "leave":
            return not self.query_one(Composer).question.has_focus
        return True

    @property
    def _covered(self) -> bool:
        return self.has_class("-narrow") and self.has_class("-over")

    # What answers

    def action_choose(self) -> None:
        from localrag_tui.ask.chooser import Chooser

        self.app.push_screen(Chooser(), lambda _chosen: self._chosen())

    def _chosen(self) -> None:
        self._say_what_answers()
        self._say_limit()
        self._look_at_corpus()

    @work(group="limiting", exclusive=True)
    async def action_limit(self) -> None:
        """Limit the next questions to laws or metadata."""
        from localrag.search.types import Filters
        from localrag_tui.search.filters import FilterDialogue, facets

        library = self.bench.library
        known = await library.read_names(facets)
        dialogue = FilterDialogue(library, known, self.bench.memory.choices.asked_of)
        chosen = await self.app.push_screen_wait(dialogue)
        if isinstance(chosen, Filters):
            self.bench.memory.remember(asked_of=chosen)
            self._say_limit()

    @work(group="limit", exclusive=True)
    async def _say_limit(self) -> None:
        """Show the limit of the next question, without laws missing from the corpus."""
        from localrag.search.types import Filters
        from localrag_tui.search.filters import facets, kept

        memory = self.bench.memory
        words, limited = "", memory.choices.asked_of
        # Most questions have no limit: nothing is read for them.
        if limited != Filters():
            with suppress(LocalragError):
                known = await self.bench.library.read_names(
                    lambda store, names: facets(store, names, limited)
                )
                memory.remember(asked_of=kept(limited, known))
                words = _limited(memory.choices.asked_of, known)
        self.query_one(StatusLine).limit(words)

    async def _name_limits(self, turns: "Sequence[Turn]") -> None:
        """Find the words for the limits of questions."""
        from localrag.search.types import Filters
        from localrag_tui.search.filters import facets

        names = self._transcript.limits
        for turn in turns:
            limited = turn.query.filters
            if limited != Filters() and limited not in names:
                with suppress(LocalragError):
                    library = self.bench.library_of(turn.corpus)
                    names[limited] = _limited(limited, await library.read_names(facets))

    @work(group="ways")
    async def _look_up(self) -> None:
        from localrag_tui.ask.chooser import ways
        from localrag_tui.ask.composer import QuestionHistory

        self._ways = {way.name: way for way in await asyncio.to_thread(ways)}
        self._say_what_answers()
        questions = await self._record.questions()
        self.query_one(Composer).question.before = QuestionHistory(questions)

    def _say_what_answers(self) -> None:
        try:
            config = self.bench.config()
        except LocalragError as error:
            self.bench.tell(error)
            return
        status = self.query_one(StatusLine)
        status.answer_with(self.bench.corpus, config.method.name, config.chat.model)
        way = self._ways.get(config.method.name)
        self.query_one(Composer).choosing = way is not None and way.chooses

    def _after_job(self, _job: "Job", event: object) -> None:
        # A job began or ended: the corpus may have changed.
        if event is None:
            self._chosen()

    @work(group="corpus", exclusive=True)
    async def _look_at_corpus(self) -> None:
        if self.has_class("-empty"):
            await self._welcome.look(self.bench)

    # The conversation

    def action_new(self) -> None:
        self._go_on_with(0)

    def action_conversations(self) -> None:
        from localrag_tui.conversations import ConversationsDialogue

        def chosen(conversation: object) -> None:
            if isinstance(conversation, int):
                self._go_on_with(conversation)
            else:
                # The conversation in view may have been renamed or deleted.
                self._show_conversation()

        self.app.push_screen(ConversationsDialogue(), chosen)

    def _go_on_with(self, conversation: int) -> None:
        self._record.choose(conversation)
        self.query_one(Composer).question.focus()
        self._show_conversation()

    @work(group="conversation", exclusive=True)
    async def _show_conversation(self) -> None:
        title, turns = await self._record.turns()
        self.set_class(not turns, "-empty")
        self.remove_class("-over")
        if not turns and self.focused is not None and self._side in self.focused.ancestors:
            # The focus was in a deleted conversation.
            self.query_one(Composer).question.focus()
        self._look_at_corpus()
        self._entitle(title if turns else "")
        asking = self._asking
        going_on = asking if asking is not None and asking.going_on else None
        known = [turn for turn in turns if going_on is None or turn.id != going_on.turn.id]
        transcript = self._transcript
        await self._name_limits(turns)
        await transcript.show(known)
        self._side.show(turns[-1] if turns else None)
        if turns:
            self._show_cost(turns[-1])
        self.refresh_bindings()
        if going_on is not None and len(known) < len(turns):
            await transcript.begin(going_on.turn, going_on.progress)
            if not going_on.going_on:
                self._end(going_on)

    def _entitle(self, title: str) -> None:
        named = self.query_one("#title", Static)
        named.update(content(one_line(title)))
        named.display = bool(title)

    # Evidence

    def on_transcript_at(self, event: "Transcript.At") -> None:
        self._side.show(event.turn)
        if event.citations:
            self._side.evidence.point(event.citations[0])
        self._show_cost(event.turn)

    def on_transcript_open(self, event: "Transcript.Open") -> None:
        if self._side.open_citation(event.turn, event.number):
            self.add_class("-over")
        else:
            self.notify(_("There is no citation {n}.").format(n=event.number), severity="warning")

    def on_transcript_open_near(self, event: "Transcript.OpenNear") -> None:
        self._side.open_near(event.turn, event.passage_id, event.start)
        self.add_class("-over")

    def on_transcript_copy(self, event: "Transcript.Copy") -> None:
        from localrag_tui.ask.evidence import EvidencePlace

        citations = event.turn.answer.citations if event.turn.answer is not None else ()
        if event.number <= len(citations):
            citation = citations[event.number - 1]
            place = EvidencePlace(event.turn.corpus, citation.passage_id, citation)
            self._side.copy(place)
        else:
            self.notify(_("There is no quotation to copy."), severity="warning")

    def on_transcript_again(self, event: "Transcript.Again") -> None:
        self._ask(event.turn.query)

    def on_transcript_evidence(self) -> None:
        self.add_class("-over")
        self.call_after_refresh(self._side.evidence.enter)

    def on_open_spot(self, event: OpenSpot) -> None:
        event.stop()
        self.remove_class("-empty")
        self.add_class("-over")
        self._side.open_spot(event.spot)

    def _show_cost(self, turn: "Turn") -> None:
        from localrag.ops.conversations.types import TurnState
        from localrag_tui.ask.asking import cost

        if turn.state is TurnState.ANSWERED and turn.answer is not None:
            self.query_one(StatusLine).show(cost(turn.answer.trace, turn.seconds))
        else:
            self.query_one(StatusLine).show("")


def _limited(filters: "Filters", known: "CorpusValues") -> str:
    from localrag_tui.search.filters import in_words

    values = _(", ").join(filter(None, in_words(filters, known).values()))
    return _("only: {values}").format(values=values) if values else ""
