"""What can be done with corpora, from the command palette and from the first run."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag_tui.corpora.dialogue import CorporaDialogue
from localrag_tui.corpora.work import add_documents, add_sample, index_corpus
from localrag_tui.widgets.form import Field, Form
from localrag_tui.widgets.text_field import as_path, existing
from localrag_tui.work.job import Job, State

if TYPE_CHECKING:
    from localrag_tui.app import Workbench


class CorpusCommand(NamedTuple):
    """A command of the palette; title and help are messages marked with `N_`."""

    title: str
    help: str
    run: "Callable[[Workbench], None]"


def try_sample(bench: "Workbench") -> None:
    """Add the sample corpus to the corpus in use, and go to Ask."""
    title = _("Add the sample corpus to {corpus}").format(corpus=bench.corpus)
    bench.jobs.start(Job(title, add_sample, (bench.workspace, bench.corpus, bench.config())))
    bench.go("ask")


def add(bench: "Workbench") -> None:
    """Ask for a file or folder, and add it."""

    def check(values: dict[str, str]) -> None:
        existing(values["path"])
        bench.workspace.corpus(values["corpus"])

    def start(values: object) -> None:
        if isinstance(values, dict):
            tell_errors(bench, lambda bench: _add(bench, values["path"], values["corpus"]))

    hint = _("for example {value}").format(value="~/egov/xml")
    bench.push_screen(
        Form(
            _("Add documents"),
            _(
                "Laws (e-Gov XML), text, Markdown, HTML, PDF, DOCX, JSON lines, zips of them; a"
                " folder is searched to the bottom. The files stay as they are."
            ),
            go=_("Add"),
            fields=(
                Field(
                    "path",
                    _("file or folder"),
                    is_path=True,
                    hint=hint,
                ),
                Field("corpus", _("corpus, made if it is not there"), value=bench.corpus),
            ),
            check=check,
        ),
        start,
    )


def index(bench: "Workbench", corpus: str = "", *, rebuild: bool = False) -> None:
    """Make a corpus searchable, the one in use where none is named."""
    corpus = corpus or bench.corpus
    title = _("Index {corpus}").format(corpus=corpus)
    arguments = (bench.workspace, corpus, bench.config(), rebuild)
    bench.jobs.start(Job(title, index_corpus, arguments))
    bench.action_jobs()


def choose(bench: "Workbench") -> None:
    """Ask which corpus to use, and remember it."""

    def chosen(name: object) -> None:
        if isinstance(name, str):
            bench.memory.remember(corpus=name)

    bench.push_screen(CorporaDialogue(), chosen)


COMMANDS = (
    CorpusCommand(
        N_("Try the sample corpus"), N_("Invented laws and pages, ready to ask"), try_sample
    ),
    CorpusCommand(N_("Add documents"), N_("Read a file or folder into a corpus"), add),
    CorpusCommand(N_("Index the corpus"), N_("Make what was added searchable"), index),
    CorpusCommand(
        N_("Choose the corpus"), N_("What is asked, read and searched; Del removes one"), choose
    ),
    CorpusCommand(
        N_("Jobs"), N_("What runs: progress, stop, result"), lambda bench: bench.action_jobs()
    ),
)
"""All of them, in the order in which a newcomer needs them."""


def _add(bench: "Workbench", path: str, corpus: str) -> None:
    title = _("Add {path} to {corpus}").format(path=path, corpus=corpus)
    arguments = (bench.workspace, corpus, [as_path(path)], bench.config())
    job = Job(title, add_documents, arguments)
    _when_done(bench, job, lambda: bench.memory.remember(corpus=corpus))
    bench.jobs.start(job)
    bench.action_jobs()


def _when_done(bench: "Workbench", job: Job, act: Callable[[], object]) -> None:
    def listen(told: Job, event: object) -> None:
        if told is job and event is None and job.state is not State.RUNNING:
            leave()
            if job.state is State.DONE:
                act()

    leave = bench.jobs.listen(listen)


def tell_errors(bench: "Workbench", run: "Callable[[Workbench], None]") -> None:
    """Run a command; an error (settings that are not valid, say) is told."""
    try:
        run(bench)
    except LocalragError as error:
        bench.tell(error)
