"""``localrag laws``: the laws of e-Gov, fetched, brought in from a stick, kept up to date."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from localrag.doors.cli.main import group, verb
from localrag.doors.cli.options import CorpusName, Json
from localrag.doors.cli.terminal import emit, say
from localrag.doors.session import Corpus, Session
from localrag.errors import UsageError
from localrag.language import N_, _

if TYPE_CHECKING:
    from localrag.corpus.ingest.add import AddReport
    from localrag.corpus.ingest.update import UpdateReport
    from localrag.ops.laws.egov import EGov
    from localrag.ops.laws.getting import Fetched, Item
    from localrag.ops.laws.shelf import Shelf
    from localrag.search.indexing.index import IndexReport

_CODES = (0, 2, 3, 4, 5, 6, 7, 130)
_FOLDER = "laws"

app = group(
    "laws",
    examples=(
        "localrag laws download",
        "localrag laws update",
        "localrag laws status",
        "localrag laws import /media/stick/laws",
    ),
    exit_codes=_CODES,
)

To = Annotated[
    Path | None,
    typer.Option(
        "--to",
        metavar="FOLDER",
        help="Only fetch, into this folder, such as a stick; localrag laws import takes it.",
        show_default=False,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="List the files to fetch with their size; fetch nothing.")
]
RemoveRepealed = Annotated[
    bool,
    typer.Option("--remove-repealed", help="Remove laws no longer in force."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before laws are removed.")]
Format = Annotated[
    Literal["xml", "json"],
    typer.Option("--format", help="Format of single laws; archives are XML.", metavar="FORMAT"),
]


@verb(
    app,
    "download",
    examples=(
        "localrag laws download",
        "localrag laws download --dry-run",
        "localrag laws download --category 国税 --category 刑事 --corpus tax",
        "localrag laws download 民法 415AC0000000057 --history",
        "localrag laws download --to /media/stick/laws",
    ),
    exit_codes=_CODES,
)
def download(
    context: typer.Context,
    laws: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LAW",
            help="Laws by id, number or title; without them all laws are fetched.",
            show_default=False,
        ),
    ] = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(
            "--category",
            metavar="CATEGORY",
            help="A category of e-Gov by its name or number; all: each of them as a file.",
            show_default=False,
        ),
    ] = None,
    history: Annotated[
        bool,
        typer.Option("--history", help="For named laws, fetch their earlier states, too."),
    ] = False,
    form: Format = "xml",
    to: To = None,
    dry_run: DryRun = False,
    remove_repealed: RemoveRepealed = False,
    yes: Yes = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Fetch laws from e-Gov, add them to a corpus, and index it.

    This connects to e-Gov: to laws.archive for all laws or a category, to laws.api for named laws.
    Every file is checked before it is used. Stopping loses nothing: run it again and it continues.
    A corpus with laws gets them as an update; localrag laws update --undo takes it back.

    The laws in force and to come are fetched. Their pictures are not.
    """
    from localrag.doors.cli.render_ingest import shown_events
    from localrag.ops.laws.egov import EGov
    from localrag.ops.laws.getting import Fetched, Item, states_of
    from localrag.ops.laws.types import ALL, CATEGORIES, Archive, category

    if laws and categories:
        raise UsageError(N_("Name laws or categories, not both."), N_("Run it once for each."))
    if history and not laws:
        raise UsageError(
            N_("--history is for named laws."),
            N_("Name them: localrag laws download 民法 --history"),
        )
    run = _Run(context.obj, corpus, to, remove_repealed, ask=not yes, as_json=as_json)
    numbers = list(CATEGORIES) if categories == [ALL] else [*map(category, categories or [])]
    fetched = Fetched()
    with EGov(run.corpus.config.laws) as egov:
        items: list[Item] = [Archive.of_category(number) for number in numbers]
        if laws:
            with shown_events() as told:
                shelf = run.shelf
                items = [
                    *states_of(egov, shelf, laws, form, fetched, history=history, on_event=told)
                ]
        elif not items:
            items = [Archive(ALL)]
        if dry_run:
            _print_plan(run, egov, items, fetched)
            return
        _fetch(run, egov, items, fetched)
    _finish(run, fetched)


@verb(
    app,
    "update",
    examples=(
        "localrag laws update",
        "localrag laws update --dry-run",
        "localrag laws update --to /media/stick/laws",
        "localrag laws update --undo",
    ),
    exit_codes=_CODES,
)
def update(
    context: typer.Context,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last update back.")] = False,
    form: Format = "xml",
    to: To = None,
    dry_run: DryRun = False,
    remove_repealed: RemoveRepealed = False,
    yes: Yes = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Fetch new, amended and repealed laws since the last time, and take them in.

    Of all laws, e-Gov's archives of the days since then are fetched. They go back three months;
    later all laws are fetched again. Categories are fetched again, and changed ones of named laws.
    With --to the folder is brought up to date, for localrag laws import.

    The update happens as a whole or not at all. --undo takes it back. Repealed laws are named, and
    removed only with --remove-repealed, after a question.
    """
    from localrag.doors.cli.render_ingest import shown_events
    from localrag.ops.laws.egov import EGov
    from localrag.ops.laws.getting import Fetched, record_of, since

    run = _Run(context.obj, corpus, to, remove_repealed, ask=not yes, as_json=as_json)
    if undo:
        _undo(run, dry_run=dry_run)
        return
    fetched = Fetched()
    known = run.shelf.files() if to else [*record_of(run.corpus.place)]
    with EGov(run.corpus.config.laws) as egov:
        with shown_events() as listener:
            items = since(known, egov, run.shelf, form, fetched, listener)
        if dry_run:
            _print_plan(run, egov, items, fetched)
            return
        _fetch(run, egov, items, fetched)
        repealed = frozenset[str]() if to else _repealed(run.corpus, egov.repealed())
    _finish(run, fetched, repealed)


@verb(
    app,
    "import",
    examples=(
        "localrag laws import /media/stick/laws",
        "localrag laws import all_xml.zip --corpus main",
    ),
    exit_codes=_CODES,
)
def import_(
    context: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A folder made by download --to or update --to, or any folder or zip of laws.",
            show_default=False,
        ),
    ],
    remove_repealed: RemoveRepealed = False,
    yes: Yes = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Take laws from a stick into a corpus, and index it; nothing is asked of a network.

    The files of download --to are compared with their SHA-256. A zip is unpacked once to check it.
    Files already in the corpus are left out.
    """
    from localrag.doors.cli.render_ingest import shown_events
    from localrag.ops.laws.getting import Fetched
    from localrag.ops.laws.shelf import carried
    from localrag.text.progress import Stopwatch

    run = _Run(context.obj, corpus, None, remove_repealed, ask=not yes, as_json=as_json)
    with shown_events() as listener:
        shelf, listed = carried(path, Stopwatch(listener))
    _take(run, shelf, Fetched(unchanged=listed), frozenset())


@verb(
    app,
    "list",
    examples=(
        "localrag laws list",
        "localrag laws list 信託",
        "localrag laws list --online 個人情報",
        "localrag laws list --categories",
    ),
    exit_codes=_CODES,
)
def list_(
    context: typer.Context,
    words: Annotated[
        str,
        typer.Argument(metavar="WORDS", help="Only titles with these words.", show_default=False),
    ] = "",
    online: Annotated[
        bool, typer.Option("--online", help="Ask e-Gov, not the corpus. This connects.")
    ] = False,
    categories: Annotated[
        bool, typer.Option("--categories", help="List e-Gov's categories.")
    ] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """List the laws of a corpus with the day of their text, or e-Gov's laws or categories."""
    session: Session = context.obj
    if online and not words:
        raise UsageError(
            N_("e-Gov is asked for titles."), N_("Name words: localrag laws list --online 信託")
        )
    if categories:
        from localrag.doors.cli.render_laws import print_categories

        print_categories(as_json=as_json)
    elif online:
        _print_found(session, words, as_json=as_json)
    else:
        _print_laws(session, corpus, words, as_json=as_json)


@verb(
    app,
    "status",
    examples=("localrag laws status", "localrag laws status --all", "localrag laws status --json"),
    exit_codes=_CODES,
)
def status(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Show all rows of the lists.")] = False,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Show the age of each law's text, the fetched files, and absent laws with their citations.

    Absent laws are found by localrag index, in the citations of the corpus.
    """
    from localrag.doors.cli.render_laws import SHOWN, print_status
    from localrag.ops.laws.getting import record_of
    from localrag.ops.laws.status import status as of

    session: Session = context.obj
    with session.corpus(corpus).require() as opened:
        told = of(opened.store, record_of(opened.place))
        if as_json:
            emit({"corpus": opened.name, **asdict(told)})
        else:
            print_status(opened.name, told, None if everything else SHOWN)


# Fetching and taking


@dataclass
class _Run:
    """One call of `download`, `update` or `import`.

    Attributes:
        session: the workspace.
        name: of the corpus; "" for the usual one.
        to: folder to fetch into; None for the workspace, and into the corpus.
        remove_repealed: remove laws no longer in force.
        ask: before removing.
        as_json: print JSON.
    """

    session: Session
    name: str
    to: Path | None
    remove_repealed: bool
    ask: bool
    as_json: bool

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus; without `to` the workspace must exist."""
        if self.to is None:
            self.session.workspace.require()
        return self.session.corpus(self.name)

    @cached_property
    def shelf(self) -> "Shelf":
        """The folder of the files."""
        from localrag.ops.laws.shelf import Shelf

        home = self.session.workspace.home
        return Shelf(self.to.expanduser().absolute() if self.to else home / _FOLDER)


def _fetch(run: _Run, egov: "EGov", items: "Sequence[Item]", fetched: "Fetched") -> None:
    from localrag.doors.cli.render_ingest import shown_events
    from localrag.ops.laws.getting import fetch

    with shown_events() as listener:
        fetch(egov, run.shelf, items, fetched, listener)


def _repealed(corpus: Corpus, ids: set[str]) -> frozenset[str]:
    """The repealed laws of a corpus."""
    if not corpus.place.store.exists():
        return frozenset()
    with corpus:
        return frozenset(law.law_id for law in corpus.store.laws() if law.law_id in ids)


def _finish(run: _Run, fetched: "Fetched", repealed: frozenset[str] = frozenset()) -> None:
    from localrag.doors.cli.render_laws import fetched_as_json, print_fetched, tell_failures

    if run.to is None:
        _take(run, run.shelf, fetched, repealed)
        return
    tell_failures(fetched)
    if run.as_json:
        emit({"folder": str(run.shelf.folder), **fetched_as_json(fetched)})
    else:
        print_fetched(fetched)
        words = _("localrag laws import {folder}").format(folder=run.shelf.folder)
        say(_("Next, on the other machine: "), (words, "bold"))
    if fetched.failed:
        raise typer.Exit(4)


def _take(run: _Run, shelf: "Shelf", fetched: "Fetched", repealed: frozenset[str]) -> None:
    """Take fetched files into a corpus, index it, and print both."""
    from localrag.doors.cli.render_laws import (
        fetched_as_json,
        print_taken,
        tell_failures,
        tell_repealed,
    )

    tell_failures(fetched)
    corpus = run.corpus
    report = _taken(run, shelf, fetched, repealed)
    indexed = _indexed(corpus) if corpus.place.store.exists() else None
    if run.as_json:
        emit(
            {
                "folder": str(shelf.folder),
                **fetched_as_json(fetched),
                "repealed": sorted(repealed),
                "taken": report and _report(corpus, report),
                "index": indexed and _report(corpus, indexed),
            }
        )
    else:
        print_taken(corpus.name, fetched, report, indexed)
        tell_repealed(corpus, frozenset() if run.remove_repealed else repealed)
    if fetched.failed or (report and report.failures) or (indexed and indexed.failed):
        raise typer.Exit(4)


def _taken(
    run: _Run, shelf: "Shelf", fetched: "Fetched", repealed: frozenset[str]
) -> "AddReport | UpdateReport | None":
    from localrag.doors.cli.updating import updated
    from localrag.ops.laws.getting import record_of, take, to_take

    remove = repealed if run.remove_repealed else None
    known = record_of(run.corpus.place)
    files = to_take(fetched.taken, known, whole_again=run.remove_repealed)
    if not (files or remove):
        return None
    work = partial(
        take,
        run.session.workspace,
        run.corpus.name,
        run.corpus.config,
        shelf,
        files,
        remove=remove,
    )
    return updated(work, ask=run.ask)


def _indexed(corpus: Corpus) -> "IndexReport":
    from localrag.doors.cli.render_ingest import shown_events

    with shown_events() as listener:
        return corpus.index(workers=0, on_event=listener)


def _report(corpus: Corpus, report: Any) -> dict[str, Any]:
    from localrag.doors.cli.render_ingest import report_as_json

    return report_as_json(corpus.name, report)


def _undo(run: _Run, *, dry_run: bool) -> None:
    from localrag.doors.cli.render_ingest import print_index_report
    from localrag.doors.cli.updating import print_update

    corpus = run.corpus
    report = corpus.undo_update(dry_run=dry_run)
    indexed = None if dry_run else _indexed(corpus)
    if run.as_json:
        emit({**_report(corpus, report), "index": indexed and _report(corpus, indexed)})
        return
    print_update(corpus.name, report)
    if indexed:
        print_index_report(corpus.name, indexed)


def _print_plan(run: _Run, egov: "EGov", items: "Sequence[Item]", fetched: "Fetched") -> None:
    from localrag.doors.cli.render_laws import fetched_as_json, print_planned, tell_failures
    from localrag.ops.laws.getting import plan

    planned = plan(egov, run.shelf, items)
    tell_failures(fetched)
    if run.as_json:
        emit(
            {
                "folder": str(run.shelf.folder),
                "planned": [asdict(one) for one in planned],
                "failed": fetched_as_json(fetched)["failed"],
            }
        )
    else:
        print_planned(planned)
    if fetched.failed:
        raise typer.Exit(4)


def _print_found(session: Session, words: str, *, as_json: bool) -> None:
    from localrag.doors.cli.render_laws import print_revisions
    from localrag.ops.laws.egov import EGov

    with EGov(session.config().laws) as egov:
        found = egov.search(words)
    if as_json:
        emit([asdict(one) for one in found])
    else:
        print_revisions(found)
    if not found:
        raise typer.Exit(3)


def _print_laws(session: Session, corpus: str, words: str, *, as_json: bool) -> None:
    from localrag.doors.cli.render_laws import print_texts
    from localrag.ops.laws.status import laws_of

    with session.corpus(corpus).require() as opened:
        laws = [law for law in laws_of(opened.store) if words in law.title]
    laws.sort(key=lambda law: law.law_id)
    if as_json:
        emit([asdict(law) for law in laws])
    else:
        print_texts(laws)
    if words and not laws:
        raise typer.Exit(3)
