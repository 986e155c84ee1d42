"""Adding, indexing and removing: what is done, and what came of it in words."""

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
from localrag_tui.jobs.step import Steps
from localrag_tui.wording import cure_of
from localrag_tui.work.jobs import Job

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
"""How an index can be, by `localrag.search.indexing.state.IndexState`."""

SAMPLE = "sample"
"""Name of the corpus that the sample gets beside one with documents."""


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A corpus in the list.

    Attributes:
        index: a key of `STATES`; "" where the corpus cannot be opened.
        problem: why not; "" where it can.
    """

    name: str
    documents: int = 0
    passages: int = 0
    index: str = ""
    problem: str = ""


def overview(workspace: Workspace) -> list[CorpusRow]:
    """Look at every corpus; one that is damaged does not keep the others from being shown."""
    return [_look(workspace, name) for name in workspace.corpora()]


def _look(workspace: Workspace, name: str) -> CorpusRow:
    from localrag.corpus.store import CorpusStore
    from localrag.search.indexing.state import state

    place = workspace.corpus(name)
    try:
        with CorpusStore.open(place.store, read_only=True) as store:
            extent = store.extent()
            return CorpusRow(name, extent.documents, extent.passages, str(state(place, store)))
    except LocalragError as error:
        return CorpusRow(name, problem=f"{error.cause} {cure_of(error)}".strip())


def holds_documents(workspace: Workspace, corpus: str) -> bool:
    """Whether a corpus is there and not empty.

    Raises:
        LocalragError: it cannot be opened.
    """
    from localrag.corpus.store import CorpusStore

    if corpus not in workspace.corpora():
        return False
    with CorpusStore.open(workspace.corpus(corpus).store, read_only=True) as store:
        return store.extent().documents > 0


Tell = Callable[[object], None]


@dataclass(frozen=True, slots=True)
class Indexed:
    """A corpus was made searchable; an `Outcome`."""

    corpus: str
    report: "IndexReport"

    def told(self) -> str:
        """What was indexed."""
        if self.report.skipped and not self.report.vectors:
            return _("The index of {corpus} is up to date.").format(corpus=self.corpus)
        return _("{corpus} is indexed: {passages} passages, {references} references").format(
            corpus=self.corpus,
            passages=f"{self.report.passages:,}",
            references=f"{self.report.references:,}",
        )

    def details(self) -> list[str]:
        """The counts, and what failed."""
        report = self.report
        lines = [self.told()]
        if report.vectors:
            lines.append(
                _("{vectors} vectors, {windows} windows newly embedded").format(
                    vectors=f"{report.vectors:,}", windows=f"{report.embedded:,}"
                )
            )
        if report.failed:
            lines.append(
                _("{n} laws were indexed without their references:").format(
                    n=f"{len(report.failed):,}"
                )
            )
        return [*lines, *_failures(report.failed)]


@dataclass(frozen=True, slots=True)
class Added:
    """Documents were added and made searchable; an `Outcome`."""

    report: "AddReport"
    indexed: Indexed

    def told(self) -> str:
        """What was added, and whether anything failed."""
        report, words = self.report, _counts(self.indexed.corpus, self.report)
        if not report.failures:
            return words
        failed = _("{n} could not be entered (Ctrl+B shows them)")
        return f"{words} · {failed.format(n=f'{report.failures:,}')}"

    def details(self) -> list[str]:
        """What was added, left out, kept, what failed; then what was indexed."""
        return [
            _counts(self.indexed.corpus, self.report),
            *_left_out(self.report),
            *_failures(self.report.failed),
            "",
            *self.indexed.details(),
        ]


def add_documents(
    tell: Tell,
    workspace: Workspace,
    corpus: str,
    paths: Sequence[Path],
    config: Config,
    follow_links: bool = False,
) -> Added:
    """Read files into a corpus and make it searchable; the arguments are those of `add`."""
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
    return Added(report, index_corpus(tell, workspace, corpus, config))


def add_sample(tell: Tell, workspace: Workspace, corpus: str, config: Config) -> Added:
    """Add the sample corpus, and make it searchable."""
    from localrag.sample import FOLDER

    return add_documents(tell, workspace, corpus, [FOLDER], config)


def index_corpus(
    tell: Tell, workspace: Workspace, corpus: str, config: Config, rebuild: bool = False
) -> Indexed:
    """Make a corpus searchable, as ``localrag index`` does."""
    from localrag.search.indexing.index import index_as_set

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
