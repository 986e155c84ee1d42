"""How adding and indexing are shown while they run, and what they report at the end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from localrag.cli.meter import Meter
from localrag.cli.terminal import say, tell
from localrag.cli.wording import counted
from localrag.harmless import one_line
from localrag.ingest.add import AddReport
from localrag.ingest.events import (
    DocumentsKept,
    Duplicate,
    EmbeddingPlanned,
    Event,
    FileFailed,
    FileResumed,
    FilesFound,
    Listener,
    MoreDuplicates,
)
from localrag.ingest.index import IndexReport
from localrag.progress import Progress


@contextmanager
def shown_events() -> Iterator[Listener]:
    """Show events on standard error as they come: progress, failures, duplicates."""
    with Meter() as meter:

        def listener(event: Event) -> None:
            match event:
                case Progress():
                    meter.update(event)
                case EmbeddingPlanned():
                    _tell_plan(event)
                case FilesFound(files=0):
                    tell(
                        ("note: ", "yellow"),
                        "no file of a kind that is read was found; localrag add --help names them",
                    )
                case FileResumed():
                    tell(("note: ", "yellow"), f"{event.path} goes on after line {event.line:,}")
                case FileFailed():
                    tell(("failed: ", "bold red"), f"{event.source}: {event.cause}")
                    if event.cure:
                        tell("  ", (event.cure, "bold"))
                case Duplicate():
                    tell(
                        ("duplicate: ", "yellow"),
                        f"{event.source} holds the same as {event.original}",
                    )
                case MoreDuplicates():
                    more = counted(event.count, "further document")
                    tell(("duplicate: ", "yellow"), f"{more} of {event.source}")
                case DocumentsKept():
                    tell(("note: ", "yellow"), _kept(event))
                case _:
                    pass

        yield listener


def _tell_plan(planned: EmbeddingPlanned) -> None:
    if planned.discarded:
        tell(("note: ", "yellow"), f"everything is embedded anew: {planned.discarded}")
    if planned.windows:
        megabytes = max(planned.memory_bytes / 1e6, 1)
        tell(
            f"embedding {planned.windows:,} windows of {planned.passages:,} passages with "
            f"{planned.model}; their index takes about {megabytes:,.0f} MB of memory to build"
        )


def _kept(kept: DocumentsKept) -> str:
    documents = counted(kept.documents, "document")
    one = kept.documents == 1
    return (
        f"{documents} that {'is' if one else 'are'} no longer in {kept.source} "
        f"{'stays' if one else 'stay'} in the corpus: {kept.reason}"
    )


def print_add_report(corpus: str, report: AddReport, indexing: str) -> None:
    """Print what changed, what was left out, and the command that indexes the corpus."""
    say(
        f"corpus {corpus}: {report.added:,} documents added, {report.replaced:,} replaced, "
        f"{report.removed:,} removed; {report.files_unchanged:,} files unchanged "
        f"({report.seconds:.1f} s)"
    )
    if report.unsupported:
        kinds = ", ".join(
            f"{count:,} {one_line(suffix) or 'without suffix'}"
            for suffix, count in sorted(report.unsupported.items())
        )
        say(f"left out, no reader for this kind of file: {kinds}")
    for what, count in report.left_out.items():
        say(f"left out: {count:,} {what}")
    if report.duplicated:
        say(f"left out, the corpus has the same: {report.duplicated:,}")
    if report.kept:
        kept = sum(event.documents for event in report.kept)
        say(f"{counted(kept, 'document')} kept, though no longer in their files; see above")
    if report.gone:
        say(f"gone, with documents that --prune drops: {counted(len(report.gone), 'file')}")
    if report.failures:
        say(
            (f"{counted(report.failures, 'source')} could not be entered", "bold red"),
            "; see above",
        )
    if report.added or report.replaced or report.removed:
        say("Next, make it searchable: ", (indexing, "bold"))


def add_report_as_json(corpus: str, report: AddReport) -> dict[str, Any]:
    """Give the JSON of ``localrag add``."""
    return {
        "corpus": corpus,
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "files_unchanged": report.files_unchanged,
        "unsupported": report.unsupported,
        "left_out": report.left_out,
        "duplicated": report.duplicated,
        "duplicates": [asdict(duplicate) for duplicate in report.duplicates],
        "kept": [asdict(kept) for kept in report.kept],
        "failures": report.failures,
        "failed": [asdict(failed) for failed in report.failed],
        "gone": report.gone,
        "seconds": report.seconds,
    }


def print_index_report(corpus: str, report: IndexReport) -> None:
    """Print what was indexed, or that nothing had to be."""
    lines = []
    if report.skipped:
        lines.append("the index is up to date")
    if report.passages or not (report.skipped or report.vectors):
        lines.append(
            f"{report.passages:,} passages indexed, {report.references:,} references and "
            f"{report.definitions:,} definitions found"
        )
    if report.vectors:
        lines.append(f"{report.vectors:,} vectors, {report.embedded:,} windows newly embedded")
    if not report.skipped:
        lines[-1] += f" ({report.seconds:.1f} s)"
    for line in lines:
        say(f"corpus {corpus}: {line}")
    if report.failed:
        say(
            (f"{len(report.failed):,} laws were indexed without their references", "bold red"),
            "; see above",
        )


def index_report_as_json(corpus: str, report: IndexReport) -> dict[str, Any]:
    """Give the JSON of ``localrag index``."""
    return {
        "corpus": corpus,
        "skipped": report.skipped,
        "passages": report.passages,
        "references": report.references,
        "definitions": report.definitions,
        "embedded": report.embedded,
        "vectors": report.vectors,
        "failed": [asdict(failed) for failed in report.failed],
        "generation": report.generation,
        "seconds": report.seconds,
    }
