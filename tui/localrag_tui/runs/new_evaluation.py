"""The dialogue that begins an evaluation."""

from asyncio import to_thread
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.content import Content
from textual.widgets import Input, Select, SelectionList
from textual.widgets.selection_list import Selection

from localrag.errors import LocalragError, UsageError
from localrag.language import N_, _
from localrag_tui.runs import work as functions
from localrag_tui.runs.choices import Choices, choices
from localrag_tui.runs.form import RunForm
from localrag_tui.runs.new_batch import options
from localrag_tui.runs.orders import EvaluationOrder
from localrag_tui.shown import one_line
from localrag_tui.widgets.form import Field
from localrag_tui.widgets.listing import CheckList
from localrag_tui.widgets.text_field import TextField, as_path
from localrag_tui.wording import duration
from localrag_tui.work.job import Job

if TYPE_CHECKING:
    from localrag.evaluation.runner import Forecast

_NONE = {
    "dataset": N_("(a file of your own, or what localrag data brings in)"),
    "split": N_("(the first that is at hand)"),
    "judge": N_("(no judge)"),
    "corpus": N_("(that of the dataset, else the usual one)"),
}
"""What a choice of nothing means, by field."""


class EvaluationDialogue(RunForm):
    """Asks for the questions and what is measured; gives back an `EvaluationOrder`."""

    HEADING: ClassVar[str] = N_("New evaluation")

    def fields(self) -> Iterator[Field]:
        """The questions, then what answers them, then how."""
        yield _select("dataset", _("Dataset"), [""])
        hint = _("questions of your own, .jsonl or .json")
        yield Field("file", _("or a file"), is_path=True, hint=hint)
        yield _select("split", _("Split"), [""])
        yield Field("methods", _("Methods"), widget=CheckList(id="methods"))
        yield Field("models", _("Models"), widget=CheckList(id="models"))
        yield _select("judge", _("Judge"), [""])
        yield _select("corpus", _("Corpus"), [""])
        yield _select("orders", _("Orders"), ["1", "2", "3", "4"])
        number = TextField(id="limit", type="integer", placeholder=_("all"))
        yield Field("limit", _("Questions"), widget=number)
        yield Field("run", _("Name"), hint=_("the time of its beginning"))

    def on_mount(self) -> None:
        """Look up what can be chosen."""
        super().on_mount()
        self._there = Choices((), {}, (), {})
        self._offer()

    def on_select_changed(self, event: Select.Changed) -> None:
        """The splits are those of the dataset."""
        if event.select.id == "dataset":
            self._fill("split", ["", *self._there.datasets.get(str(event.value), ())])

    def on_selection_list_selection_highlighted(
        self, event: SelectionList.SelectionHighlighted[str]
    ) -> None:
        """Say what the method under the cursor does."""
        if event.selection_list.id == "methods":
            about = self._there.methods.get(event.selection.value, "")
            self.field("methods").explain(_(about))

    @work(exclusive=True, group="estimate")
    async def action_estimate(self) -> None:
        """Say what it would take."""
        if (order := self._order()) is not None:
            self.expect(Job(_("Forecast"), functions.forecast, (order,)))

    def action_start(self) -> None:
        """Begin."""
        if (order := self._order()) is not None:
            self.dismiss(order)

    def expected(self, value: object) -> str:
        """What each entry would take, a line each."""
        return "\n".join(map(_expected, cast("Sequence[Forecast]", value)))

    @work(exclusive=True, group="offer")
    async def _offer(self) -> None:
        try:
            there = await to_thread(choices, self.bench.workspace, self.bench.config())
        except LocalragError as error:
            self.bench.tell(error)
            return
        self._there = there
        # Those that are not at hand are brought in with `localrag data`.
        self._fill("dataset", ["", *(name for name, splits in there.datasets.items() if splits)])
        self._fill("corpus", ["", *there.corpora])
        self._fill("judge", ["", *there.models])
        for name, values in (("methods", there.methods), ("models", there.models)):
            found = self.query_one(f"#{name}", CheckList)
            found.clear_options()
            found.add_options(Selection(Content(one_line(one)), one) for one in values)
            found.highlighted = 0 if values else None
            self.field(name).display = bool(values)

    def _fill(self, name: str, values: Sequence[str]) -> None:
        select: Select[str] = self.query_one(f"#{name}", Select)
        select.set_options(options(values, _(_NONE[name])))

    def _chosen(self, name: str) -> str:
        return str(self.query_one(f"#{name}", Select).value)

    def _order(self) -> EvaluationOrder | None:
        self.clear()
        file = self.query_one("#file", Input).value.strip()
        methods = tuple(self.query_one("#methods", CheckList).selected)
        if not (file or self._chosen("dataset")):
            self.told("file", UsageError(_("No questions are named."), _("Type their path.")))
            return None
        if not methods:
            self.told(
                "methods", UsageError(_("No method is chosen."), _("The space bar chooses one."))
            )
            return None
        return EvaluationOrder(
            home=self.bench.workspace.home,
            overrides=dict(self.bench.overrides),
            dataset=str(as_path(file).absolute()) if file else self._chosen("dataset"),
            split="" if file else self._chosen("split"),
            corpus=self._chosen("corpus"),
            methods=methods,
            models=tuple(self.query_one("#models", CheckList).selected),
            judge=self._chosen("judge"),
            orders=int(self._chosen("orders")),
            limit=int(self.query_one("#limit", Input).value or 0),
            run=self.query_one("#run", Input).value.strip(),
        )


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


def _select(name: str, label: str, values: Sequence[str]) -> Field:
    offered = options(values, _(_NONE.get(name, "")))
    select: Select[str] = Select(offered, allow_blank=False, id=name, compact=True)
    return Field(name, label, widget=select)
