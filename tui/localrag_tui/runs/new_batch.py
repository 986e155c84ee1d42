"""The dialogue that begins a batch."""

from asyncio import to_thread
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.content import Content
from textual.widgets import Input, Select

from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _, ngettext
from localrag_tui.runs import work as functions
from localrag_tui.runs.choices import choices
from localrag_tui.runs.form import RunForm
from localrag_tui.runs.orders import BatchOrder
from localrag_tui.shown import one_line
from localrag_tui.widgets.form import Field
from localrag_tui.widgets.text_field import PathInput, TextField, as_path
from localrag_tui.wording import duration
from localrag_tui.work.job import Job

if TYPE_CHECKING:
    from localrag.batch import BatchEstimate

_NONE = {"method": N_("(the default reader)"), "model": N_("(no model)")}
"""What a choice of nothing means, by field."""


class BatchDialogue(RunForm):
    """Asks for the two files and what answers; gives back a `BatchOrder`."""

    HEADING: ClassVar[str] = N_("New batch")

    def __init__(self) -> None:
        super().__init__()
        self._proposed = ""

    def fields(self) -> Iterator[Field]:
        """The files, then what answers."""
        config = self.bench.config()
        hint = _("file of questions, .jsonl or .csv")
        yield Field("questions", _("Questions"), is_path=True, hint=hint)
        hint = _("file for the answers, .jsonl")
        yield Field("answers", _("Answers"), is_path=True, hint=hint)
        yield _select("corpus", _("Corpus"), self.bench.corpus)
        yield _select("method", _("Method"), config.method.name)
        yield _select("model", _("Model"), config.chat.model)
        number = TextField(id="concurrency", type="integer", placeholder=_("as the settings say"))
        yield Field("concurrency", _("At the same time"), widget=number)

    def on_mount(self) -> None:
        """Look up what can be chosen."""
        super().on_mount()
        self._offer()

    def on_input_changed(self, event: Input.Changed) -> None:
        """The answers lie beside the questions, unless somebody says something else."""
        answers = self.query_one("#answers", Input)
        if event.input.id == "questions":
            before, self._proposed = self._proposed, _beside(event.value)
            if answers.value == before:
                answers.value = self._proposed

    @work(exclusive=True, group="estimate")
    async def action_estimate(self) -> None:
        """Check the fields, and say what it would take."""
        if (order := await self._checked()) is not None:
            self.expect(Job(_("Estimate"), functions.estimate, (order,)))

    @work(exclusive=True, group="start")
    async def action_start(self) -> None:
        """Check the fields, and begin."""
        if (order := await self._checked()) is not None:
            self.dismiss(order)

    def expected(self, value: object) -> str:
        """Rows, time and tokens."""
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
                _("{n} of {sampled} that were tried failed").format(
                    n=found.failed, sampled=found.sampled
                )
            )
        return " · ".join(words)

    @work(exclusive=True, group="offer")
    async def _offer(self) -> None:
        try:
            there = await to_thread(choices, self.bench.workspace, self.bench.config())
        except LocalragError as error:
            self.bench.tell(error)
            return
        for name, values in (
            ("corpus", there.corpora),
            ("method", ("", *there.methods)),
            ("model", ("", *there.models)),
        ):
            select: Select[str] = self.query_one(f"#{name}", Select)
            now = select.value
            select.set_options(options([*values, str(now)], _(_NONE.get(name, ""))))
            select.value = now

    async def _checked(self) -> BatchOrder | None:
        """The order, or None where the fields say what is wrong."""
        self.clear()
        for path in self.query(PathInput):
            if not path.value.strip():
                self.told(path.id or "", UsageError(_("No file is named."), _("Type its path.")))
                return None
        order = BatchOrder(
            self.bench.workspace.home,
            str(self.query_one("#corpus", Select).value),
            {
                **self.bench.overrides,
                "method.name": str(self.query_one("#method", Select).value),
                "chat.model": str(self.query_one("#model", Select).value),
            },
            self.query_one("#questions", PathInput).path,
            self.query_one("#answers", PathInput).path,
            int(self.query_one("#concurrency", Input).value or 0),
        )
        self.say(_("Checking …"))
        checked = await to_thread(check, order)
        self.say("")
        if isinstance(checked, BatchOrder):
            return checked
        self.told(*checked)
        return None


def check(order: BatchOrder) -> BatchOrder | tuple[str, LocalragError]:
    """Make sure that a batch can begin, in a thread.

    Returns:
        The order with its paths in full; or the field that is wrong, and why.
    """
    from dataclasses import replace

    from localrag.batch.folder import BatchFolder
    from localrag.batch.origin import origin_of
    from localrag.batch.table import open_table
    from localrag.config import load
    from localrag.workspace import Workspace

    field = "questions"
    try:
        questions = order.questions.resolve()
        with open_table(questions) as table:
            table.check()
        field = "answers"
        folder = BatchFolder.of(order.out, questions)
        field = "method"
        workspace = Workspace.locate(order.home)
        config = load(workspace, order.overrides, workspace.corpus(order.corpus))
        origin = origin_of(workspace, order.corpus, config)
        field = "answers"
        if folder.begun:
            folder.require_same(origin)
    except LocalragError as error:
        return field, error
    except (OSError, ValueError) as error:  # A name that is too long, a NUL.
        return field, UsageError(_("It is no path."), str(error))
    return replace(order, questions=questions, out=folder.out)


def options(values: Iterable[str], nothing: str) -> list[tuple[Content, str]]:
    """What a `Select` offers, each once; "" is called `nothing`."""
    return [(Content(one_line(value) or nothing), value) for value in dict.fromkeys(values)]


def _select(name: str, label: str, value: str) -> Field:
    offered = options([value], _(_NONE.get(name, "")))
    select = Select(offered, value=value, allow_blank=False, id=name, compact=True)
    return Field(name, label, widget=select)


def _beside(questions: str) -> str:
    path = as_path(questions)
    return str(path.with_name(f"{path.stem}.answers.jsonl")) if path.suffix else ""
