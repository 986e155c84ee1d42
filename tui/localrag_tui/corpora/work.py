"""Adding and indexing, in a process of their own."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.config import Config
from localrag.progress import Progress
from localrag.workspace import Workspace
from localrag_tui.corpora.report import Added, Indexed
from localrag_tui.jobs.step import Steps
from localrag_tui.work.job import Job

if TYPE_CHECKING:
    from localrag.ingest.events import Event

Tell = Callable[[object], None]


def add_documents(
    tell: Tell, workspace: Workspace, corpus: str, paths: Sequence[Path], config: Config
) -> Added:
    """Read files into a corpus and make it searchable; the arguments are those of `add`."""
    from localrag.corpus.readers import Limits
    from localrag.ingest.add import add

    report = add(
        workspace,
        corpus,
        paths,
        workers=config.ingest.processes,
        limits=Limits(file_bytes=config.ingest.max_file_mb * 1_000_000),
        on_event=_following(tell),
    )
    return Added(report, index_corpus(tell, workspace, corpus, config))


def add_sample(tell: Tell, workspace: Workspace, corpus: str, config: Config) -> Added:
    """Add the sample corpus, and make it searchable."""
    from localrag.sample import FOLDER

    return add_documents(tell, workspace, corpus, [FOLDER], config)


def index_corpus(
    tell: Tell, workspace: Workspace, corpus: str, config: Config, rebuild: bool = False
) -> Indexed:
    """Make a corpus searchable, as ``localrag index`` does."""
    from localrag.ingest.index import index_as_set

    report = index_as_set(workspace, corpus, config, rebuild=rebuild, on_event=_following(tell))
    return Indexed(corpus, report)


def changes(job: Job, corpus: str) -> bool:
    """Whether a job adds to a corpus or indexes it."""
    of_corpora = (add_documents, add_sample, index_corpus)
    return job.function in of_corpora and corpus in job.arguments


def _following(tell: Tell) -> "Callable[[Event], None]":
    steps = Steps(tell)

    def follow(event: "Event") -> None:
        if isinstance(event, Progress):
            steps(event)

    return follow
