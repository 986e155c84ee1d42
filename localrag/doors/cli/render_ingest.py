"""Shows adding and indexing in progress, and their reports."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from localrag.corpus.ingest.add import AddReport
from localrag.corpus.ingest.events import (
    DocumentsKept,
    Duplicate,
    EmbeddingPlanned,
    Event,
    FileFailed,
    FileResumed,
    FilesFound,
    LeftOut,
    Listener,
    MoreDuplicates,
    PagesScanned,
)
from localrag.corpus.ingest.update import UpdateReport
from localrag.corpus.readers import PassedOver
from localrag.corpus.types import part_name
from localrag.doors.cli.terminal import Meter, say, tell, tell_failed, tell_note
from localrag.language import _, colon, ngettext
from localrag.search.indexing.index import IndexReport
from localrag.text.harmless import one_line
from localrag.text.progress import Progress


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
                    tell_note(_("no file of a readable kind was found; see localrag add --help"))
                case FileResumed(path, line):
                    tell_note(_("{path} goes on after line {line:,}").format(path=path, line=line))
                case FileFailed():
                    tell_failed(f"{event.source}{colon()}{event.cause}", event.cure)
                case Duplicate(source, original):
                    same = _("{source} holds the same as {original}")
                    _duplicate(same.format(source=source, original=original))
                case MoreDuplicates(source, count):
                    more = ngettext(
                        "{n:,} further document of {source}",
                        "{n:,} further documents of {source}",
                        count,
                    )
                    _duplicate(more.format(n=count, source=source))
                case PagesScanned():
                    for words in event.words:
                        tell_note(words)
                case DocumentsKept(source, count, reason):
                    stay = ngettext(
                        "{n:,} document no longer in {source} stays in the corpus: {reason}",
                        "{n:,} documents no longer in {source} stay in the corpus: {reason}",
                        count,
                    )
                    tell_note(stay.format(n=count, source=source, reason=_(reason)))
                case _:
                    pass

        yield listener


def _duplicate(words: str) -> None:
    tell((_("duplicate: "), "yellow"), words)


def _tell_plan(planned: EmbeddingPlanned) -> None:
    if planned.discarded:
        anew = _("everything is embedded again: {reason}")
        tell_note(anew.format(reason=planned.discarded))
    if planned.windows:
        words = _(
            "embedding {windows:,} windows of {passages:,} passages with {model}; their index "
            "takes about {megabytes:,.0f} MB of memory to build"
        )
        tell(
            words.format(
                windows=planned.windows,
                passages=planned.passages,
                model=planned.model,
                megabytes=max(planned.memory_bytes / 1e6, 1),
            )
        )


def documents_added(n: int) -> str:
    """How many documents were added, in words."""
    return ngettext("{n:,} document added", "{n:,} documents added", n).format(n=n)


def files_unchanged(n: int) -> str:
    """How many files were as before, in words."""
    return ngettext("{n:,} file unchanged", "{n:,} files unchanged", n).format(n=n)


def print_add_report(corpus: str, report: AddReport, indexing: str) -> None:
    """Print changes and omissions, and the command for indexing."""
    done = _(
        "corpus {corpus}: {added}, {replaced:,} replaced, {removed:,} removed; "
        "{unchanged} ({seconds:.1f} s)"
    )
    say(
        done.format(
            corpus=corpus,
            added=documents_added(report.added),
            replaced=report.replaced,
            removed=report.removed,
            unchanged=files_unchanged(report.files_unchanged),
            seconds=report.seconds,
        )
    )
    print_left_out(report)
    if report.duplicated:
        same = _("left out, the corpus has the same: {count}")
        say(same.format(count=f"{report.duplicated:,}"))
    if report.kept:
        kept = sum(event.documents for event in report.kept)
        words = ngettext(
            "{n:,} document kept, though no longer in its file; see above",
            "{n:,} documents kept, though no longer in their files; see above",
            kept,
        )
        say(words.format(n=kept))
    if report.gone:
        gone = _("gone, with documents that --prune drops: {n:,} files")
        say(gone.format(n=len(report.gone)))
    print_failures(report.failures)
    if report.added or report.replaced or report.removed:
        say(_("Next, make it searchable: "), (indexing, "bold"))


# Unread files on the screen; --json names all.
_NAMED = 20


def print_left_out(report: LeftOut) -> None:
    """Print omissions: files by name, parts of files by count."""
    _print_passed_over(report)
    for what, count in report.left_out.items():
        named = part_name(what, count)
        say(_("left out: {count} {what}").format(count=f"{count:,}", what=named))
    for what, count in report.named.items():
        named = part_name(what, count)
        say(_("read as text: {count} {what}").format(count=f"{count:,}", what=named))


def _print_passed_over(report: LeftOut) -> None:
    """Name unread files, grouped by reason."""
    if not report.passed_over:
        return
    n = len(report.passed_over)
    words = ngettext("left out, {n:,} file:", "left out, {n:,} files:", n)
    kinds = _(", ").join(
        f"{count:,} {one_line(suffix)}" for suffix, count in sorted(report.unsupported.items())
    )
    say(f"{words.format(n=n)} {kinds}")
    cures = dict.fromkeys(one.cure for one in report.passed_over)
    for one in report.passed_over[:_NAMED]:
        say(f"  {one_line(one.source)}{colon()}{one.cause}")
    if n > _NAMED:
        say("  ", _("… and {n:,} more; --json names all of them").format(n=n - _NAMED))
    for cure in filter(None, cures):
        say("  ", (cure, "bold"))


def print_failures(count: int) -> None:
    """Print how much could not be entered; nothing where all was."""
    if count:
        failed = ngettext(
            "{n:,} source could not be entered", "{n:,} sources could not be entered", count
        )
        say((failed.format(n=count), "bold red"), _("; see above"))


def print_index_report(corpus: str, report: IndexReport) -> None:
    """Print the result of indexing."""
    lines = []
    if report.skipped:
        lines.append(_("the index is up to date"))
    if report.passages or not (report.skipped or report.vectors):
        words = _(
            "{passages:,} passages indexed, {references:,} references and {definitions:,} "
            "definitions found"
        )
        lines.append(
            words.format(
                passages=report.passages,
                references=report.references,
                definitions=report.definitions,
            )
        )
    if report.vectors:
        words = _("{vectors:,} vectors, {embedded:,} windows newly embedded")
        lines.append(words.format(vectors=report.vectors, embedded=report.embedded))
    if not report.skipped:
        lines[-1] += _(" ({seconds:.1f} s)").format(seconds=report.seconds)
    for line in lines:
        say(_("corpus {corpus}: {words}").format(corpus=corpus, words=line))
    if report.failed:
        words = _("{n:,} laws were indexed without their references")
        say((words.format(n=len(report.failed)), "bold red"), _("; see above"))


def report_as_json(corpus: str, report: AddReport | UpdateReport | IndexReport) -> dict[str, Any]:
    """Give the JSON of ``localrag add``, ``update`` or ``index``."""
    told = {"corpus": corpus, **asdict(report), "failed": _problems(report.failed)}
    if isinstance(report, LeftOut):
        told["passed_over"] = _problems(report.passed_over)
    return told


def _problems(found: Iterable[FileFailed | PassedOver]) -> list[dict[str, str]]:
    return [{"source": one.source, "cause": one.cause, "cure": one.cure} for one in found]
