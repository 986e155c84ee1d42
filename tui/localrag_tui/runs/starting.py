"""The dialogues to start a batch or an evaluation, and to estimate it."""

from abc import abstractmethod
from asyncio import to_thread
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from rich.cells import cell_len, set_cell_size
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Select, SelectionList, Static
from textual.widgets.selection_list import Selection

from localrag.corpus.config import Config
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _, ngettext
from localrag.text.harmless import harmless, one_line
from localrag_tui.runs import work as functions
from localrag_tui.runs.work import BatchOrder, EvaluationOrder
from localrag_tui.screen import Dialogue
from localrag_tui.shell.form import Field, PathInput, TextField, as_day, as_path
from localrag_tui.shell.listing import CheckList
from localrag_tui.shell.paragraph import Paragraph
from localrag_tui.shown import content, duration
from localrag_tui.work.jobs import Job, State

if TYPE_CHECKING:
    from localrag.evaluation.runner import Forecast
    from localrag.methods.catalogue import Method
    from localrag.ops.batch import BatchEstimate

_NONE = {
    "method": N_("(the default reader)"),
    "model": N_("(no model)"),
    "dataset": N_("(none: a file of your own, below)"),
    "split": N_("(the first that is at hand)"),
    "judge": N_("(no judge)"),
    "corpus": N_("(the dataset's, else {corpus})"),
}
"""The meaning of an empty choice, by field."""

Order = BatchOrder | EvaluationOrder
Wrong = tuple[str, LocalragError]
"""A field, and its error."""


@dataclass(frozen=True, slots=True)
class RunChoices:
    """The choices for a run."""

    corpora: tuple[str, ...] = ()
    # by name: description, then requirements, a sentence each
    methods: dict[str, tuple[str, ...]] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    datasets: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _look_up(workspace: Workspace, config: Config) -> RunChoices:
    from localrag.evaluation.datasets.loading import find, known, splits_at_hand
    from localrag.methods.catalogue import NAMES, method
    from localrag_models.store import ModelStore

    installed = ModelStore(workspace.models).installed()
    models = [model.name for model in installed if model.kind == "chat"]
    datasets = {}
    for dataset in known(workspace):
        found = find(workspace, dataset.name)
        splits = splits_at_hand(found.dataset, found.folder)
        datasets[dataset.name] = tuple(split.name for split in splits)
    return RunChoices(
        tuple(workspace.corpora()),
        {name: _about(method(name)) for name in NAMES},
        tuple(dict.fromkeys([*models, *filter(None, [config.chat.model])])),
        datasets,
    )


def _about(method: "Method") -> tuple[str, ...]:
    """The description of a method, then its requirements, a sentence each."""
    needs = [_(method.about)]
    if method.reads_context:
        needs.append(_("Needs questions with their source texts."))
    if method.chooses:
        needs.append(_("Needs questions with options to choose from."))
    elif method.checks:
        needs.append(_("Needs claims to be checked."))
    else:
        needs.append(_("Needs questions without options."))
    if method.needs_model:
        needs.append(_("Needs a model."))
    if method.layers:
        words = _("Needs layers of the corpus: localrag prepare --layers {layers}")
        needs.append(words.format(layers=",".join(method.layers)))
    return tuple(needs)


class RunForm(Dialogue):
    """Returns a checked order; until then typed text stays. Only it announces its estimate."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "estimate", N_("Estimate"), id="form.estimate"),
        Binding("ctrl+s", "start", N_("Start"), id="form.start"),
        Binding("tab", "app.focus_next", N_("Next field"), id="form.next"),
    ]
    HEADING: ClassVar[str] = ""
    NEEDED: ClassVar[str] = ""
    """The required fields; a message marked with `N_`, as the heading."""

    def __init__(self) -> None:
        super().__init__()
        self.job: Job | None = None

    def body(self) -> ComposeResult:
        yield Static(Content(_(self.HEADING)), classes="heading")
        with VerticalScroll(can_focus=False):
            yield from self.fields()
        yield Paragraph(Content(_(self.NEEDED)), id="expected")
        with Horizontal(classes="buttons"):
            yield Button(_("Estimate"), id="estimate", compact=True)
            yield Button(_("Start"), id="start", variant="primary", compact=True)
            yield Button(_("Leave"), id="leave", compact=True)

    @abstractmethod
    def fields(self) -> Iterable[Field]:
        """The fields of the form."""

    @abstractmethod
    def offer(self, there: RunChoices) -> None:
        """Fill the fields with choices."""

    @abstractmethod
    def order(self) -> Order | Wrong:
        """The order as filled in."""

    @abstractmethod
    def check(self, order: Order, *, starts: bool) -> Order | Wrong:
        """Check an order, in a thread; returns it with full paths, or a wrong field."""

    @abstractmethod
    def estimate(self, order: Order) -> Job:
        """The job to estimate an order."""

    @abstractmethod
    def expected(self, value: object) -> str:
        """The estimate in words."""

    def on_mount(self) -> None:
        self.query(Field).first().widget.focus()
        self._unlisten = self.bench.jobs.listen(self._hear)
        self._offer()

    def on_unmount(self) -> None:
        self._unlisten()

    async def on_button_pressed(self, event: Button.Pressed) -> None:
        await self.run_action(event.button.id or "leave")

    @work(exclusive=True, group="estimate")
    async def action_estimate(self) -> None:
        if (order := await self._checked(starts=False)) is not None:
            self._say(_("Estimating: some questions are tried, nothing is written."))
            self.job = self.bench.jobs.start(self.estimate(order))

    @work(exclusive=True, group="start")
    async def action_start(self) -> None:
        if (order := await self._checked(starts=True)) is not None:
            self.dismiss(order)

    async def action_leave(self) -> None:  # type: ignore[override]
        if self.job is not None and self.job.state is State.RUNNING:
            await self.job.kill()
        self.dismiss(None)

    def field(self, name: str) -> Field:
        return next(one for one in self.query(Field) if one.name == name)

    def chosen(self, name: str) -> str:
        return str(self.query_one(f"#{name}", Select).value)

    def typed(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()

    def fill(self, name: str, values: Iterable[str]) -> None:
        select: Select[str] = self.query_one(f"#{name}", Select)
        now = str(select.value)
        offered = list(dict.fromkeys(values))
        select.set_options(self._options(name, offered))
        if now in offered:
            select.value = now

    def _select(self, name: str, label: str, *values: str) -> Field:
        offered = self._options(name, values or [""])
        return _row(name, label, widget=Select(offered, allow_blank=False, id=name, compact=True))

    def _options(self, name: str, values: Iterable[str]) -> list[tuple[Content, str]]:
        def called(value: str) -> str:
            return one_line(value or _(_NONE[name]).format(corpus=self.bench.corpus))

        return [(Content(called(value)), value) for value in values]

    @work(exclusive=True, group="offer")
    async def _offer(self) -> None:
        self.offer(await to_thread(_look_up, self.bench.workspace, self.bench.config()))

    async def _checked(self, *, starts: bool) -> Order | None:
        for one in self.query(Field):
            one.tell(None)
        order = self.order()
        if not isinstance(order, tuple):
            self._say(_("Checking …"))
            order = await to_thread(self.check, order, starts=starts)
        self._say("")
        if not isinstance(order, tuple):
            return order
        wrong = self.field(order[0])
        wrong.tell(order[1])
        wrong.widget.focus()
        return None

    def _say(self, text: str, style: str = "") -> None:
        self.query_one("#expected", Paragraph).show(content(text, style))

    def _hear(self, job: Job, event: object) -> None:
        if job is not self.job or event is not None or job.state is State.RUNNING:
            return
        if job.state is State.DONE:
            self._say(self.expected(job.value))
        elif job.error is not None:
            self._say(harmless(str(job.error)), "$text-error")


class BatchDialogue(RunForm):
    """Asks for two files and the method; returns a `BatchOrder`."""

    HEADING: ClassVar[str] = N_("New batch")
    NEEDED: ClassVar[str] = N_("Needed: a file of questions, and where the answers go.")

    def __init__(self) -> None:
        super().__init__()
        self._proposed = ""

    def fields(self) -> Iterator[Field]:
        config = self.bench.config()
        hint = _("file of questions, .jsonl or .csv")
        about = _(
            'JSON Lines, each line {"id": "1", "question": "…"}, or CSV or Excel with the'
            " header id,question; id may be left out"
        )
        yield _row("questions", _("Questions"), is_path=True, hint=hint, about=about)
        hint = _("file for the answers, .jsonl")
        yield _row("answers", _("Answers"), is_path=True, hint=hint)
        yield self._select("corpus", _("Corpus"), self.bench.corpus)
        yield self._select("method", _("Method"), config.method.name)
        yield self._select("model", _("Model"), config.chat.model)
        yield _row("as_of", _("Day of the law"), config.retrieval.as_of, hint=_("today"))
        number = TextField(id="concurrency", type="integer", placeholder=_("as the settings say"))
        yield _row("concurrency", _("At the same time"), widget=number)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Propose a file of answers beside the questions, unless another is typed."""
        answers = self.query_one("#answers", Input)
        if event.input.id == "questions":
            before, self._proposed = self._proposed, _beside(event.value)
            if answers.value == before:
                answers.value = self._proposed

    def offer(self, there: RunChoices) -> None:
        for name, values in (
            ("corpus", there.corpora),
            ("method", ("", *there.methods)),
            ("model", ("", *there.models)),
        ):
            self.fill(name, [*values, self.chosen(name)])

    def order(self) -> BatchOrder | Wrong:
        for path in self.query(PathInput):
            if not path.value.strip():
                return path.id or "", UsageError(_("No file is named."), _("Type its path."))
        try:
            day = as_day(self.typed("as_of"))
        except UsageError as error:
            return "as_of", error
        return BatchOrder(
            self.bench.workspace.home,
            self.chosen("corpus"),
            {
                **self.bench.overrides,
                "method.name": self.chosen("method"),
                "chat.model": self.chosen("model"),
                "retrieval.as_of": day,
            },
            self.query_one("#questions", PathInput).path,
            self.query_one("#answers", PathInput).path,
            int(self.typed("concurrency") or 0),
        )

    def check(self, order: Order, *, starts: bool) -> Order | Wrong:
        from localrag.corpus.config import load
        from localrag.ops.batch.folder import BatchFolder
        from localrag.ops.batch.origin import origin_of
        from localrag.ops.batch.table import open_table

        del starts
        assert isinstance(order, BatchOrder)
        wrong = "questions"
        try:
            questions = order.questions.resolve()
            with open_table(questions, order.home) as table:
                table.check()
            wrong = "answers"
            folder = BatchFolder.of(order.out, questions)
            wrong = "method"
            workspace = Workspace.locate(order.home)
            config = load(workspace, order.overrides, workspace.corpus(order.corpus))
            origin = origin_of(workspace, order.corpus, config)
            wrong = "answers"
            if folder.begun:
                folder.require_same(origin)
        except LocalragError as error:
            return wrong, error
        except (OSError, ValueError) as error:  # A name that is too long, a NUL.
            return wrong, UsageError(_("It is no path."), str(error))
        return replace(order, questions=questions, out=folder.named)

    def estimate(self, order: Order) -> Job:
        return Job(_("Estimate"), functions.estimate, (order,))

    def expected(self, value: object) -> str:
        found = cast("BatchEstimate", value)
        words = [ngettext("{n} row", "{n} rows", found.rows).format(n=f"{found.rows:,}")]
        words.append(_("{n} to ask").format(n=f"{found.left:,}"))
        if found.unreadable:
            words.append(_("{n} cannot be asked").format(n=f"{found.unreadable:,}"))
        if found.unanswerable:
            words.append(
                _("{n} have no options for this method").format(n=f"{found.unanswerable:,}")
            )
        if found.sampled:
            words.append(_("about {time}").format(time=duration(found.seconds)))
        if found.prompt or found.completion:
            words.append(
                _("about {read} tokens read, {written} written").format(
                    read=f"{found.prompt:,}", written=f"{found.completion:,}"
                )
            )
        if found.failed:
            words.append(
                _("{n} of {sampled} tried questions failed").format(
                    n=found.failed, sampled=found.sampled
                )
            )
        return " · ".join(words)


class EvaluationDialogue(RunForm):
    """Asks for questions and methods; returns an `EvaluationOrder`."""

    HEADING: ClassVar[str] = N_("New evaluation")
    NEEDED: ClassVar[str] = N_(
        "Needed: questions (a dataset or a file) and a method (Space chooses it)."
    )

    def __init__(self) -> None:
        super().__init__()
        self._there = RunChoices()

    def fields(self) -> Iterator[Field]:
        yield self._select("dataset", _("Dataset"))
        hint = _("questions of your own, .jsonl or .json")
        about = _(
            "each with id, question, options (2 to 8) and answer: the label of the right one; it"
            " suits methods that choose between options"
        )
        yield _row("file", _("or a file"), is_path=True, hint=hint, about=about)
        yield self._select("split", _("Split"))
        yield _row("methods", _("Methods"), widget=CheckList(id="methods"))
        yield _row("models", _("Models"), widget=CheckList(id="models"))
        yield self._select("judge", _("Judge"))
        yield self._select("corpus", _("Corpus"))
        yield self._select("orders", _("Orders"), "1", "2", "3", "4")
        number = TextField(id="limit", type="integer", placeholder=_("all"))
        yield _row("limit", _("Questions"), widget=number)
        yield _row("run", _("Name"), hint=_("the time of its beginning"))

    def on_select_changed(self, event: Select.Changed) -> None:
        if event.select.id == "dataset":
            self.fill("split", ["", *self._there.datasets.get(str(event.value), ())])

    def on_selection_list_selection_highlighted(
        self, event: SelectionList.SelectionHighlighted[str]
    ) -> None:
        if event.selection_list.id == "methods":
            about = self._there.methods.get(event.selection.value, ())
            self.field("methods").explain("\n".join(about))

    def offer(self, there: RunChoices) -> None:
        self._there = there
        self.fill("dataset", ["", *(name for name, splits in there.datasets.items() if splits)])
        self.fill("corpus", ["", *there.corpora])
        self.fill("judge", ["", *there.models])
        for name, values in (("methods", there.methods), ("models", there.models)):
            found = self.query_one(f"#{name}", CheckList)
            found.clear_options()
            widest = max(map(cell_len, values), default=0)
            about = values if isinstance(values, dict) else {}
            found.add_options(
                Selection(_entry(one, widest, *about.get(one, ())[:1]), one) for one in values
            )
            found.highlighted = 0 if values else None
            self.field(name).display = bool(values)

    def order(self) -> EvaluationOrder | Wrong:
        file, dataset = self.typed("file"), self.chosen("dataset")
        methods = tuple(self.query_one("#methods", CheckList).selected)
        if not (file or dataset):
            return "file", UsageError(_("No questions are named."), _("Type their path."))
        if not methods:
            return "methods", UsageError(_("No method is chosen."), _("The space bar chooses one."))
        return EvaluationOrder(
            home=self.bench.workspace.home,
            # The corpus for datasets without their own.
            overrides={**self.bench.overrides, "corpus": self.bench.corpus},
            dataset=str(as_path(file).absolute()) if file else dataset,
            split="" if file else self.chosen("split"),
            corpus=self.chosen("corpus"),
            methods=methods,
            models=tuple(self.query_one("#models", CheckList).selected),
            judge=self.chosen("judge"),
            orders=int(self.chosen("orders")),
            limit=int(self.typed("limit") or 0),
            run=self.typed("run"),
        )

    def check(self, order: Order, *, starts: bool) -> Order | Wrong:
        """Check that questions are readable, methods suit them, and the name is free."""
        from localrag.evaluation import record

        assert isinstance(order, EvaluationOrder)
        wrong = "file" if self.typed("file") else "dataset"
        try:
            questions = functions.load_questions(order)
            wrong = "methods"
            plan = functions.plan(order, questions)
            wrong = "run"
            if starts and order.run:
                record.begin(plan.workspace, record.planned(plan), order.run, asks=True)
        except LocalragError as error:
            return wrong, error
        return order

    def estimate(self, order: Order) -> Job:
        return Job(_("Estimate"), functions.forecast, (order,))

    def expected(self, value: object) -> str:
        return "\n".join(map(_expected, cast("Sequence[Forecast]", value)))


_row = partial(Field, beside=True)


def _entry(name: str, widest: int, about: str = "") -> Content:
    if not about:
        return Content(one_line(name))
    beside = (f"  {about}", "$foreground-muted")
    return Content.assemble(set_cell_size(one_line(name), widest), beside)


def _expected(one: "Forecast") -> str:
    words = [_("{n} to ask").format(n=f"{one.left:,}"), _("{n} answered").format(n=f"{one.done:,}")]
    if one.most_calls:
        words.append(
            _("{least} to {most} calls of a model").format(
                least=f"{one.calls:,}", most=f"{one.most_calls:,}"
            )
        )
    if one.seconds:
        words.append(_("about {time}").format(time=duration(one.seconds)))
    if one.verdicts:
        words.append(_("{n} verdicts").format(n=f"{one.verdicts:,}"))
    return f"{one.name}: " + " · ".join(words)


def _beside(questions: str) -> str:
    path = as_path(questions)
    return str(path.with_name(f"{path.stem}.answers.jsonl")) if path.suffix else ""
