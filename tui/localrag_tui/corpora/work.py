"""Adding and indexing in a process of its own, and the outcomes in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.config import Config
from localrag.corpus.types import part_name
from localrag.corpus.workspace import Workspace
from localrag.errors import LocalragError
from localrag.language import N_, _, ngettext
from localrag.text.progress import Progress
from localrag_tui.shown import cure_of
from localrag_tui.work.jobs import Job, JobOutcome, Steps

if TYPE_CHECKING:
    from localrag.corpus.ingest.add import AddReport
    from localrag.corpus.ingest.events import Event, FileFailed
    from localrag.search.indexing.index import IndexReport


STATES = {
    "fresh": N_("up to date"),
    "behind": N_("older than its documents"),
    "missing": N_("not indexed"),
    "outdated": N_("of another version"),
    "damaged": N_("damaged"),
}
"""The states of an index, by `localrag.search.units.IndexState`."""

SAMPLE = "sample"
"""Name of the corpus of the sample, beside one with documents."""


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A corpus in the list."""

    name: str
    documents: int = 0
    passages: int = 0
    index: str = ""  # a key of `STATES`; "" if the corpus cannot be opened
    problem: str = ""  # why it cannot be opened; "" if it can


def overview(workspace: Workspace) -> list[CorpusRow]:
    """Look at every corpus; a damaged one does not hide the others."""
    return [_look(workspace, name) for name in workspace.corpora()]


def _look(workspace: Workspace, name: str) -> CorpusRow:
    from localrag.corpus.store import CorpusStore
    from localrag.search.units import state

    place = workspace.corpus(name)
    try:
        with CorpusStore.open(place.store, read_only=True) as store:
            extent = store.extent()
            return CorpusRow(name, extent.documents, extent.passages, str(state(place, store)))
    except LocalragError as error:
        return CorpusRow(name, problem=f"{error.cause} {cure_of(error)}".strip())


def holds_documents(workspace: Workspace, corpus: str) -> bool:
    """Whether a corpus exists and has documents. Raises `LocalragError` if it cannot be opened."""
    from localrag.corpus.store import CorpusStore

    if corpus not in workspace.corpora():
        return False
    with CorpusStore.open(workspace.corpus(corpus).store, read_only=True) as store:
        return store.extent().documents > 0


Tell = Callable[[object], None]


def indexed(corpus: str, report: "IndexReport") -> JobOutcome:
    """The outcome of indexing a corpus."""
    told = _("The index of {corpus} is up to date.").format(corpus=corpus)
    if not report.skipped or report.vectors:
        told = _("{corpus} is indexed: {passages} passages, {references} references").format(
            corpus=corpus,
            passages=f"{report.passages:,}",
            references=f"{report.references:,}",
        )
    lines = [told]
    if report.vectors:
        lines.append(
            _("{vectors} vectors, {windows} windows newly embedded").format(
                vectors=f"{report.vectors:,}", windows=f"{report.embedded:,}"
            )
        )
    if report.failed:
        failed = _("{n} laws were indexed without their references:")
        lines.append(failed.format(n=f"{len(report.failed):,}"))
    return JobOutcome(told, (*lines, *_failures(report.failed)))


def added(corpus: str, report: "AddReport", index: JobOutcome) -> JobOutcome:
    """The outcome of adding documents and indexing them."""
    told = counts = _counts(corpus, report)
    if report.failures:
        failed = _("{n} could not be entered (Ctrl+B shows them)")
        told = f"{counts} · {failed.format(n=f'{report.failures:,}')}"
    lines = (counts, *_left_out(report), *_failures(report.failed), "", *index.details)
    return JobOutcome(told, lines)


def add_documents(
    tell: Tell,
    workspace: Workspace,
    corpus: str,
    paths: Sequence[Path],
    config: Config,
    follow_links: bool = False,
) -> JobOutcome:
    """Read files into a corpus and index it; arguments as for `add`."""
    from localrag.corpus.ingest.add import add
    from localrag.corpus.ingest.reading import limits_of

    report = add(
        workspace,
        corpus,
        paths,
        follow_links=follow_links,
        workers=config.ingest.processes,
        limits=limits_of(config),
        on_event=_following(tell),
    )
    return added(corpus, report, index_corpus(tell, workspace, corpus, config))


def add_sample(tell: Tell, workspace: Workspace, corpus: str, config: Config) -> JobOutcome:
    """Add the sample corpus, and index it."""
    from localrag.sample import FOLDER

    return add_documents(tell, workspace, corpus, [FOLDER], config)


def index_corpus(
    tell: Tell, workspace: Workspace, corpus: str, config: Config, rebuild: bool = False
) -> JobOutcome:
    """Index a corpus, as ``localrag index`` does."""
    from localrag.search.indexing.index import index_as_set

    report = index_as_set(workspace, corpus, config, rebuild=rebuild, on_event=_following(tell))
    return indexed(corpus, report)


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


def _counts(corpus: str, report: "AddReport") -> str:
    line = ngettext(
        "{corpus}: {added} document added, {replaced} replaced, {removed} removed",
        "{corpus}: {added} documents added, {replaced} replaced, {removed} removed",
        report.added,
    )
    return line.format(
        corpus=corpus,
        added=f"{report.added:,}",
        replaced=f"{report.replaced:,}",
        removed=f"{report.removed:,}",
    )


def _left_out(report: "AddReport") -> list[str]:
    lines = []
    if report.files_unchanged:
        lines.append(_("{n} files unchanged").format(n=f"{report.files_unchanged:,}"))
    if report.unsupported:
        kinds = ", ".join(
            f"{suffix or _('without suffix')} {count:,}"
            for suffix, count in sorted(report.unsupported.items())
        )
        lines.append(_("left out, no reader for this kind of file: {kinds}").format(kinds=kinds))
    if report.passed_over:
        lines += [f"  {one.source}: {one.cause} {one.cure}" for one in report.passed_over]
    for what, count in report.left_out.items():
        named = part_name(what, count)
        lines.append(_("left out: {count} {what}").format(count=f"{count:,}", what=named))
    for what, count in report.named.items():
        named = part_name(what, count)
        lines.append(_("read as text: {count} {what}").format(count=f"{count:,}", what=named))
    for scanned in report.scanned:
        lines += scanned.words
    if report.duplicated:
        same = _("left out, the corpus has the same: {count}")
        lines.append(same.format(count=f"{report.duplicated:,}"))
        lines += [f"  {copy.source} = {copy.original}" for copy in report.duplicates]
    for kept in report.kept:
        stays = _("{source}: {n} documents kept ({reason})")
        lines.append(stays.format(source=kept.source, n=kept.documents, reason=_(kept.reason)))
    if report.gone:
        gone = _("files that are gone; localrag add --prune drops their documents: {n}")
        lines.append(gone.format(n=f"{len(report.gone):,}"))
    if report.failures:
        lines.append(_("could not be entered: {n}").format(n=f"{report.failures:,}"))
    return lines


def _failures(failed: "Sequence[FileFailed]") -> list[str]:
    lines = []
    for failure in failed:
        lines.append(f"  {failure.source}: {failure.cause}")
        if failure.cure:
            lines.append(f"    {failure.cure}")
    return lines
