"""``localrag setup``: from an empty machine to a first answer."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import Json, tell_expected
from localrag.doors.cli.terminal import Meter, confirm, duration, emit, say, table, tell_note
from localrag.doors.session import Corpus, Session
from localrag.errors import UsageError
from localrag.language import N_, _, colon
from localrag.ops.setup import (
    FETCHED,
    LAWS_SIZE,
    LawsChoice,
    Machine,
    ModelChoice,
    Origin,
    Plan,
    Step,
    bring_laws,
    bring_model,
    look,
    plan,
    write_settings,
)
from localrag.text.progress import BYTES, Phase, Stopwatch
from localrag_models.files import gigabytes

_ORIGINS = {
    Origin.SET: N_("named in the settings"),
    Origin.INSTALLED: N_("installed here"),
    Origin.SERVED: N_("a server of this machine has it"),
    Origin.FOLDER: N_("lies in the folder"),
    Origin.CATALOGUE: N_("to fetch; fits this machine"),
    Origin.PRESENT: N_("in the corpus"),
    Origin.DOWNLOAD: N_("all laws, to fetch from e-Gov"),
    Origin.SAMPLE: N_("the sample of invented laws"),
}
_STEPS = {
    Step.WORKSPACE: N_("workspace"),
    Step.CHAT: N_("chat model"),
    Step.EMBEDDER: N_("embedder"),
    Step.RERANKER: N_("reranker"),
    Step.SETTINGS: N_("settings"),
    Step.LAWS: N_("laws"),
    Step.INDEX: N_("index"),
    Step.QUESTION: N_("question"),
}
_STATES = {
    "planned": N_("planned"),
    "done": N_("done"),
    "before": N_("done before"),
    "skipped": N_("skipped"),
    "none": N_("none is usable"),
}


@verb(
    app,
    "setup",
    examples=(
        "localrag setup",
        "localrag setup --dry-run",
        "localrag setup --yes --sample --skip chat",
        "localrag setup --yes --from /media/stick",
    ),
    exit_codes=(0, 2, 3, 4, 5, 6, 7, 8, 130),
)
def setup(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FOLDER",
            help="Use the models and laws in this folder; fetch nothing.",
            show_default=False,
        ),
    ] = None,
    with_sample: Annotated[
        bool, typer.Option("--sample", help="Use the sample of invented laws.")
    ] = False,
    skip: Annotated[
        list[Step] | None,
        typer.Option(
            "--skip",
            metavar="STEP",
            help="Skip a step: workspace, chat, embedder, reranker, settings, laws, index or "
            "question.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the proposal; change and fetch nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Fetch without a question.")] = False,
    as_json: Json = False,
) -> None:
    """Looks at memory, cores, GPU and the usual model servers of this machine. It proposes models
    and laws, fetches them after a question, writes the settings, indexes, and asks a question.

    Settings of yours stay. Done steps are passed over. Stopping loses nothing: run it again and it
    continues. Only models and laws to fetch open connections beyond this machine.
    """
    if folder is not None and not folder.is_dir():
        raise UsageError(N_("There is no folder {path}."), N_("Check the spelling."), path=folder)
    session: Session = context.obj
    machine = look()
    planned = plan(
        session.workspace,
        session.config(),
        session.overrides,
        machine,
        folder=folder,
        with_sample=with_sample,
        skipped=frozenset(skip or ()),
    )
    if not as_json:
        _print_machine(machine)
        _print_plan(planned)
    run = _Run(session, planned, as_json=as_json)
    if not dry_run:
        if planned.fetched:
            size = gigabytes(planned.fetched)
            question = _("Fetch {size} over the network?").format(size=size)
            confirm(question, yes=yes, refused=N_("Nothing was fetched."))
        for step in Step:
            run.take(step)
    if as_json:
        emit(
            {
                "machine": {**asdict(machine), "room": machine.room},
                "models": {kind: asdict(model) for kind, model in planned.models.items()},
                "laws": {
                    "origin": planned.laws.origin,
                    "paths": list(map(str, planned.laws.paths)),
                },
                "settings": planned.settings,
                "fetched": planned.fetched,
                "steps": run.states or {step: run.expected(step) for step in Step},
                "answer": run.answer,
            }
        )
    if run.incomplete:
        raise typer.Exit(4)


@dataclass
class _Run:
    """The steps of one call.

    Attributes:
        states: of the steps taken.
        answer: of the question, as JSON.
        incomplete: a part of the laws could not be read or indexed.
    """

    session: Session
    plan: Plan
    as_json: bool
    states: dict[Step, str] = field(default_factory=dict)
    answer: Any = None
    incomplete: bool = False

    def expected(self, step: Step) -> str:
        """The state of a step before it is taken."""
        model = self.plan.models.get(step.value)  # type: ignore[call-overload]
        if step in self.plan.skipped:
            return "skipped"
        match step:
            case Step.WORKSPACE if self.session.workspace.settings.exists():
                return "before"
            case Step.CHAT | Step.EMBEDDER | Step.RERANKER:
                if model is None:
                    return "none"
                new = model.origin in (Origin.CATALOGUE, Origin.FOLDER)
                return "planned" if new else "before"
            case Step.SETTINGS if not self.plan.settings:
                return "before"
            case Step.LAWS if self.plan.laws.origin is Origin.PRESENT:
                return "before"
        return "planned"

    def take(self, step: Step) -> None:
        """Take a step, unless it is skipped or done, and say so."""
        state = self.expected(step)
        if state == "planned":
            state = self._taken(step)
        self.states[step] = state
        if not self.as_json and step is not Step.QUESTION:
            say((_(_STEPS[step]), "bold"), colon(), _(_STATES[state]))

    def _taken(self, step: Step) -> str:
        workspace = self.session.workspace
        if step is Step.WORKSPACE:
            workspace.init()
            return "done"
        workspace.require()
        match step:
            case Step.CHAT | Step.EMBEDDER | Step.RERANKER:
                with Meter() as meter:
                    watch = Stopwatch(meter.update)
                    bring_model(
                        workspace,
                        self.plan.models[step.value],  # type: ignore[index]
                        lambda name, about, done, total: watch(
                            Phase(name, BYTES, about), done, total
                        ),
                    )
            case Step.SETTINGS:
                write_settings(workspace, self.plan.settings)
            case Step.LAWS:
                return self._bring_laws()
            case Step.INDEX:
                return self._index()
            case Step.QUESTION:
                self._ask()
        return "done"

    def _bring_laws(self) -> str:
        from localrag.doors.cli.render_ingest import shown_events

        with shown_events() as listener:
            report = bring_laws(
                self.session.workspace, self.session.config(), self.plan.laws, listener
            )
        self.incomplete |= bool(report and report.failures)
        return "done" if report else "before"

    def _index(self) -> str:
        from localrag.doors.cli.render_ingest import shown_events

        with shown_events() as listener, self.session.corpus() as corpus:
            report = corpus.index(workers=0, on_event=listener)
        self.incomplete |= bool(report.failed)
        return "before" if report.skipped else "done"

    def _ask(self) -> None:
        from localrag.doors.as_json.found import answer_as_json
        from localrag.doors.cli import render
        from localrag.doors.cli.terminal import shown_draft
        from localrag.page.answer import answer_blocks, label
        from localrag.search.types import Query

        with self.session.corpus() as corpus:
            question = _question(corpus)
            with shown_draft() as loading:
                answerer = corpus.answerer(loading.loading)
            tell_expected(self.session, answerer.model)
            with shown_draft(answerer.model) as draft:
                reply = corpus.ask(question, draft)
        if self.as_json:
            self.answer = answer_as_json(Query(question), reply)
            return
        from localrag.answer import wording

        say((_(_STEPS[Step.QUESTION]), "bold"), colon(), question)
        render.print_blocks(answer_blocks(reply, label, wording.verdict(reply)), render.QUOTED)
        say(_("Next, ask a question of yours: "), (_("localrag ask QUESTION"), "bold"))


def _question(corpus: Corpus) -> str:
    """The question of the sample if it is in the corpus, else one of the corpus's own."""
    from localrag.sample import ANSWERED_BY, QUESTION

    if corpus.require().store.by_id(ANSWERED_BY) is not None:
        return QUESTION
    return next(iter(corpus.starting_questions(1)), QUESTION)


def _print_machine(machine: Machine) -> None:
    from localrag.corpus.inference.placement import gpu_facts

    words = _("{memory} of memory, {n} cores").format(
        memory=gigabytes(machine.memory), n=machine.cores
    )
    say((_("this machine"), "bold"), colon(), words)
    for fact in gpu_facts():
        say(str(fact), indent=2)
    for server in machine.servers:
        models = _(", ").join(server.models) or _("no models")
        say(f"{server.name} ({server.address}){colon()}{models}", indent=2)


def _print_plan(planned: Plan) -> None:
    rows = [
        (_(_STEPS[Step(kind)]), model.name, _size(model.size), _time(model), _why(model))
        for kind, model in planned.models.items()
    ]
    if Step.LAWS not in planned.skipped:
        rows.append((_(_STEPS[Step.LAWS]), *_of_laws(planned.laws)))
    for step in (Step.CHAT, Step.EMBEDDER, Step.RERANKER):
        if step not in planned.skipped and step.value not in planned.models:
            words = _("no {kind} is usable here; docs/models.md says how to install one")
            tell_note(words.format(kind=_(_STEPS[step])))
    table((_("for"), _("proposal"), _("size"), _("time of a reply"), _("why")), rows)
    for key, value in planned.settings.items():
        say(f"{key} = {value}", indent=2)


def _size(size: int) -> str:
    return gigabytes(size) if size else ""


def _time(model: ModelChoice) -> str:
    if model.seconds is None:
        return ""
    words = _("{time}, measured") if model.measured else _("{time}, estimated")
    return words.format(time=duration(model.seconds))


def _why(model: ModelChoice) -> str:
    parts = (_(_ORIGINS[model.origin]), model.where, _(model.good_for) if model.good_for else "")
    return _("; ").join(filter(None, parts))


def _of_laws(laws: LawsChoice) -> tuple[str, str, str, str]:
    size = _size(LAWS_SIZE if laws.origin in FETCHED else 0)
    names = _(", ").join(path.name for path in laws.paths)
    return names, size, "", _(_ORIGINS[laws.origin])
