"""How fetched laws, and the laws of a corpus, are printed."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from localrag.corpus.ingest.add import AddReport
from localrag.corpus.ingest.update import UpdateReport
from localrag.doors.cli.render_ingest import documents_added, print_index_report, print_left_out
from localrag.doors.cli.terminal import emit, say, table, tell_failed, tell_note
from localrag.doors.cli.updating import print_update
from localrag.doors.session import Corpus
from localrag.language import _, aside, colon, ngettext
from localrag.ops.laws.getting import Fetched, Planned
from localrag.ops.laws.status import LawsStatus, LawText
from localrag.ops.laws.types import CATEGORIES, Revision
from localrag.search.indexing.index import IndexReport

SHOWN = 20
"""Rows of a list; --json has all."""


def fetched_as_json(fetched: Fetched) -> dict[str, Any]:
    """Give the files of a download as JSON."""
    return {
        "fetched": [asdict(one) for one in fetched.new],
        "unchanged": [asdict(one) for one in fetched.unchanged],
        "no_change": fetched.no_change,
        "failed": [
            {"source": name, "cause": error.cause, "cure": error.cure}
            for name, error in fetched.failed
        ],
    }


def tell_failures(fetched: Fetched) -> None:
    """Name what could not be fetched, and why."""
    for name, error in fetched.failed:
        tell_failed(f"{name}{colon()}{error.cause}", error.cure)


def print_fetched(fetched: Fetched) -> None:
    """Print the fetched files, and the days without an archive."""
    words = ngettext(
        "{n:,} file fetched ({size}), {unchanged:,} at hand",
        "{n:,} files fetched ({size}), {unchanged:,} at hand",
        len(fetched.new),
    )
    size = _size(sum(one.size for one in fetched.new))
    say(words.format(n=len(fetched.new), size=size, unchanged=len(fetched.unchanged)))
    if fetched.no_change:
        words = _("no archive, asked for once more next time: {days}")
        say(words.format(days=", ".join(fetched.no_change)))


def print_taken(
    corpus: str,
    fetched: Fetched,
    report: AddReport | UpdateReport | None,
    indexed: IndexReport | None,
) -> None:
    """Print the fetched files, the changes and the index."""
    print_fetched(fetched)
    if isinstance(report, UpdateReport):
        print_update(corpus, report, undo=f"localrag laws update --undo --corpus {corpus}")
    elif report:
        words = _("corpus {corpus}: {words}")
        say(words.format(corpus=corpus, words=documents_added(report.added)))
        print_left_out(report)
    else:
        say(_("corpus {corpus}: nothing is new").format(corpus=corpus))
    if indexed:
        print_index_report(corpus, indexed)


def tell_repealed(opened: Corpus, repealed: frozenset[str]) -> None:
    """Name the repealed laws of a corpus."""
    if not repealed:
        return
    with opened:
        titles = {law.law_id: law.title for law in opened.store.laws()}
    words = ngettext(
        "{n:,} law of the corpus is no longer in force; --remove-repealed removes it: {names}",
        "{n:,} laws of the corpus are no longer in force; --remove-repealed removes them: {names}",
        len(repealed),
    )
    named = sorted(repealed)[:SHOWN]
    names = _(", ").join(f"{titles.get(one, '')}{aside(one)}" for one in named)
    tell_note(words.format(n=len(repealed), names=names))


def _size(size: int) -> str:
    if size < 1_000_000:
        return _("{n:,.0f} kB").format(n=size / 1_000)
    return _("{n:,.1f} MB").format(n=size / 1_000_000)


def print_planned(planned: Sequence[Planned]) -> None:
    """Print the files to fetch, with their size."""
    rows = [
        (
            one.file,
            _("unknown") if one.size is None else _size(one.size),
            _("at hand") if one.is_here else _("to fetch"),
        )
        for one in planned[:SHOWN]
    ]
    if rows:
        table((_("file"), _("size"), _("state")), rows)
    _say_more(len(planned), SHOWN)
    missing = [one for one in planned if not one.is_here]
    told = sum(one.size or 0 for one in missing)
    silent = sum(one.size is None for one in missing)
    words = ngettext(
        "{n:,} file to fetch: {size}, {silent:,} of unknown size",
        "{n:,} files to fetch: {size}, {silent:,} of unknown size",
        len(missing),
    )
    say(words.format(n=len(missing), size=_size(told), silent=silent))


def _say_more(n: int, shown: int) -> None:
    if n > shown:
        say(_("… and {n:,} more; --json has all").format(n=n - shown))


def print_categories(*, as_json: bool) -> None:
    """Print the categories of e-Gov."""
    if as_json:
        emit([{"category": number, "name": name} for number, name in CATEGORIES.items()])
    else:
        rows = [(str(number), name) for number, name in CATEGORIES.items()]
        table((_("category"), _("name")), rows)


def print_texts(laws: Sequence[LawText]) -> None:
    """Print laws with the day of their text."""
    table(
        (_("id"), _("text of"), _("followed on"), _("title"), _("number")),
        [(law.law_id, law.day or "–", law.until or "–", law.title, law.law_num) for law in laws],
    )


def print_status(corpus: str, told: LawsStatus, most: int | None) -> None:
    """Print the state of the laws; of each list `most` rows, or all."""
    words = ngettext(
        "corpus {corpus}: {n:,} law, texts from {first} to {last}",
        "corpus {corpus}: {n:,} laws, texts from {first} to {last}",
        len(told.laws),
    )
    days = [law.day for law in told.laws if law.day] or ["–"]
    say(words.format(corpus=corpus, n=len(told.laws), first=days[0], last=days[-1]))
    _print_coverage(told)
    old = [law for law in told.laws if law.is_old]
    if old:
        words = _("texts older than two years; later amendments may be missing: {n:,}")
        say(words.format(n=len(old)))
        print_texts(old[:most])
        _say_more(len(old), most or len(old))
    if told.absent:
        words = _("laws cited, but not in the corpus: {n:,}")
        say(words.format(n=len(told.absent)))
        table(
            (_("name"), _("citing laws"), _("citations")),
            [(one.name, f"{one.laws:,}", f"{one.citations:,}") for one in told.absent[:most]],
        )
        _say_more(len(told.absent), most or len(told.absent))
        say(_("Fetch one: "), (_("localrag laws download NAME"), "bold"))


def _print_coverage(told: LawsStatus) -> None:
    if told.through:
        words = _("fetched from e-Gov: all laws, with changes through {day}")
        say(words.format(day=told.through))
    elif told.scopes:
        named = _(", ").join(told.scopes[:SHOWN])
        say(_("fetched from e-Gov: {scopes}").format(scopes=named))
        _say_more(len(told.scopes), SHOWN)
    else:
        say(_("nothing was fetched with localrag laws; later changes at e-Gov are unknown"))
    # Yesterday's changes come with the next update.
    behind = told.days_behind or 0
    if behind > 1:
        words = ngettext(
            "{n:,} day since then was not asked for. Run: {verb}",
            "{n:,} days since then were not asked for. Run: {verb}",
            behind,
        )
        say(words.format(n=behind, verb="localrag laws update"))
    if told.asked_once:
        days = ", ".join(told.asked_once)
        say(_("no archive, asked for once more next time: {days}").format(days=days))


def print_revisions(found: Sequence[Revision]) -> None:
    """Print laws of e-Gov."""
    rows = [(one.law_id, one.day, one.title, one.law_num) for one in found]
    table((_("id"), _("text of"), _("title"), _("number")), rows)
