"""The Python interface: `localrag.open` gives a `Session`, and that gives a `Corpus`.

docs/python.md shows both. The command line and the workbench use them too.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from localrag.corpus.workspace import CorpusPaths, Workspace
from localrag.errors import NotFoundError, UsageError
from localrag.language import N_
from localrag.text.progress import Progress, ignore

if TYPE_CHECKING:
    from localrag.answer.types import Answer, Watch
    from localrag.check import CheckedSource, CheckReport
    from localrag.check.types import Upcoming
    from localrag.corpus.config import Config
    from localrag.corpus.facets import Where
    from localrag.corpus.ingest.add import AddReport
    from localrag.corpus.ingest.events import Listener
    from localrag.corpus.ingest.update import UpdateReport
    from localrag.corpus.readers import Limits
    from localrag.corpus.store import CorpusStore, DocumentInfo
    from localrag.methods.answering import Answerer
    from localrag.ops import batch
    from localrag.ops.batch.types import Listener as BatchListener
    from localrag.ops.overview import Overview
    from localrag.search.affected import Affected
    from localrag.search.history import Amendment, Comparison, History
    from localrag.search.indexing.index import IndexReport
    from localrag.search.pipeline import Retriever
    from localrag.search.provision import LookedUp, Provision
    from localrag.search.reading import Retrieval
    from localrag.search.types import Query


def open(  # noqa: A001 - `localrag.open`, as `tarfile.open`
    home: str | PathLike[str] | None = None, settings: Mapping[str, object] | None = None
) -> "Session":
    """Open a workspace, and make it if it does not exist; raises WorkspaceError, StorageError.

    Args:
        home: its folder; None for ``LOCALRAG_HOME``, else the user's data folder.
        settings: by dotted key (``{"retrieval.k": 5}``); they win over files and environment.
    """
    session = Session(Workspace.locate(Path(home) if home is not None else None), settings or {})
    session.workspace.init()
    return session


@dataclass(frozen=True)
class Session:
    """A workspace with settings.

    Attributes:
        workspace: its folders; they need not exist.
        overrides: settings by dotted key; they win over all others.
    """

    workspace: Workspace
    overrides: Mapping[str, object] = field(default_factory=dict)

    def with_settings(self, given: Mapping[str, object]) -> Self:
        """The same workspace with other settings; None leaves one as it is."""
        known = {key: value for key, value in given.items() if value is not None}
        return replace(self, overrides={**self.overrides, **known})

    def config(self, corpus: str = "") -> "Config":
        """Read the settings, in general or for a corpus; raises ConfigError, UsageError."""
        # Validation takes a third of a start; calls without settings skip it.
        from localrag.corpus.config import load

        place = self.workspace.corpus(corpus) if corpus else None
        return load(self.workspace, self.overrides, place)

    def corpora(self) -> list[str]:
        """Names of the corpora."""
        return self.workspace.corpora()

    def corpus(self, name: str = "") -> "Corpus":
        """A corpus by name, else the usual one; its first `add` makes it. Raises UsageError."""
        return Corpus(self, name or self.config().corpus)


class Corpus:
    """One corpus: filled, indexed, searched and asked.

    Store, indexes and model stay open until `close`, the end of the ``with`` block, or a change of
    the corpus. Use it in one thread at a time.
    """

    def __init__(self, session: Session, name: str) -> None:
        self.name = name
        self.place: CorpusPaths = session.workspace.corpus(name)
        self._session = session
        self._workspace = session.workspace
        self._opened = ExitStack()
        self._store: CorpusStore | None = None
        self._retriever: Retriever | None = None
        self._answerer: Answerer | None = None
        self._opened_from: tuple[object, ...] = ()

    def __repr__(self) -> str:
        return f"Corpus({self.name!r} in {str(self._workspace.home)!r})"

    @cached_property
    def config(self) -> "Config":
        """The settings of this corpus; raises as `Session.config`."""
        return self._session.config(self.name)

    def require(self) -> Self:
        """Make sure of its existence; raises WorkspaceError, NotFoundError."""
        self._workspace.require()
        if not self.place.store.exists():
            known = ", ".join(self._workspace.corpora())
            raise NotFoundError(
                N_("There is no corpus {name!r}."),
                N_("There is: {known}.") if known else N_("Add documents: localrag add PATH"),
                name=self.name,
                known=known,
            )
        return self

    def add(
        self,
        *paths: str | PathLike[str],
        prune: bool = False,
        check_content: bool = False,
        follow_links: bool = False,
        convert: bool = False,
        workers: int = 1,
        on_event: "Listener | None" = None,
    ) -> "AddReport":
        """Add files and folders; errors as in `localrag.corpus.ingest.add.add`.

        `prune` removes documents below `paths` without their files. `check_content` compares the
        content even if size and time are the same. Links inside folders are left out and named
        without `follow_links`. `convert` lets LibreOffice convert old formats (.doc, .xls) first.
        `workers` are processes, 0 for the setting ``ingest.workers``. More than 1 need the usual
        ``if __name__ == "__main__"`` in the calling script.
        """
        from localrag.corpus.ingest.add import add
        from localrag.corpus.readers.converting import converter

        self.close()
        limits = replace(self._limits, converter=converter()) if convert else self._limits
        return add(
            self._workspace,
            self.name,
            [Path(path) for path in paths],
            prune=prune,
            check_content=check_content,
            follow_links=follow_links,
            workers=workers or self.config.ingest.processes,
            limits=limits,
            on_event=on_event or ignore,
        )

    def index(
        self,
        *,
        rebuild: bool = False,
        workers: int = 1,
        ray: str = "",
        on_event: "Listener | None" = None,
    ) -> "IndexReport":
        """Make it searchable; errors as in `localrag.search.indexing.index.index_as_set`.

        `rebuild` does so even if it is up to date. `workers` are processes, as for `add`; `ray` is
        the address of a Ray cluster, or "local".
        """
        from localrag.search.indexing.index import HERE, index_as_set

        self.require().close()
        with ExitStack() as stack:
            elsewhere = HERE
            if ray:
                from localrag.ops.cluster.running import indexing_on, joined

                cluster = stack.enter_context(joined(ray, self.config))
                elsewhere = indexing_on(cluster)
            return index_as_set(
                self._workspace,
                self.name,
                self.config,
                rebuild=rebuild,
                workers=workers or self.config.ingest.processes,
                elsewhere=elsewhere,
                on_event=on_event or ignore,
            )

    def update(
        self,
        *paths: str | PathLike[str],
        whole: bool = False,
        dry_run: bool = False,
        follow_links: bool = False,
        workers: int = 1,
        before: "Callable[[UpdateReport], object]" = ignore,
        on_event: "Listener | None" = None,
    ) -> "UpdateReport":
        """Take the laws of an archive in; errors as in `localrag.corpus.ingest.update.update`.

        `whole` removes laws missing in the archive. `dry_run` only reports. `before` gets the
        report before anything changes. The other arguments are as for `add`.
        """
        from localrag.corpus.ingest.update import update

        self.require().close()
        return update(
            self._workspace,
            self.name,
            [Path(path) for path in paths],
            whole=whole,
            dry_run=dry_run,
            follow_links=follow_links,
            workers=workers or self.config.ingest.processes,
            limits=self._limits,
            before=before,
            on_event=on_event or ignore,
        )

    def undo_update(self, *, dry_run: bool = False) -> "UpdateReport":
        """Undo the last update; errors as in `localrag.corpus.ingest.update`."""
        from localrag.corpus.ingest.update import undo_update

        self.require().close()
        return undo_update(self._workspace, self.name, dry_run=dry_run)

    def remove(self, *documents: str) -> None:
        """Remove documents by id; errors as in `localrag.corpus.ingest.remove`."""
        from localrag.corpus.ingest.remove import remove_documents

        self.require().close()
        remove_documents(self._workspace, self.name, documents)

    def delete(self) -> None:
        """Remove the corpus with everything in it."""
        from localrag.corpus.ingest.remove import remove_corpus

        self.require().close()
        remove_corpus(self._workspace, self.name)

    def documents(self, kind: str | None = None) -> "list[DocumentInfo]":
        """Its documents, all or of one kind (``law``, ``markdown`` …)."""
        return list(self.store.documents(kind))

    def search(
        self,
        query: "str | Query",
        k: int | None = None,
        *,
        where: "Where | str | None" = None,
        rewrite: bool = False,
        **filters: "date | str | Sequence[str]",
    ) -> "Retrieval":
        """Find the passages that answer a query best.

        A day in the query sets the state of the law, unless the settings do. Words in quotation
        marks ("正当の事由") must occur in every passage, letter by letter.

        Args:
            query: words or a question, or a `Query` with filters, options and history.
            k: number of passages; None for the setting ``retrieval.k``.
            where: labels of documents, ``{"kind": ["Act", "CabinetOrder"]}`` or ``"kind=Act;
                chapter=罰則"``, in any language (``{"種別": "政令"}``); see `overview`.
            rewrite: let the chat model write further searches in the words of statutes.
            filters: other filters of `localrag.doors.calls.Filtered`: ``law="民法"``,
                ``date_from="2024-04-01"``.

        Raises:
            NotFoundError: there is no such corpus, law, type or label.
            UsageError: the query is empty, `k` is below 1, a filter is wrong, or `rewrite` has no
                model.
            StoreError, IndexUnusable, ModelUnusable: something cannot be used; the error names the
                cure.
        """
        from localrag.search.query import with_phrases
        from localrag.search.question.as_of import state_asked
        from localrag.search.types import STATE_ASKED, StageRecord
        from localrag.search.units import later_texts, old_texts

        if k is not None and k < 1:
            raise UsageError(
                N_("A search for {k} hits finds nothing."), N_("Ask for 1 or more."), k=k
            )
        asked = with_phrases(self._asked(query, where, filters))
        retriever = self.retriever
        state = state_asked(asked.text, retriever.names, of_laws=retriever.store.is_of_laws)
        asked = replace(asked, text=state.text)
        with ExitStack() as then:
            if state.day is not None and not self.config.retrieval.day:
                retriever = then.enter_context(self.as_of(state.day)).retriever
            store = retriever.store
            if rewrite:
                from localrag.methods.answering import search_rewritten

                found = search_rewritten(
                    retriever, self._workspace, self.name, self.config, asked, k
                )
            else:
                found = retriever.search(asked, k)
            laws = [hit.passage.document_id for hit in found.hits]
            told = [
                *state.facts(store.as_of),
                *old_texts(store, laws),
                *later_texts(store, laws),
            ]
        if not told:
            return found
        stages = (StageRecord(STATE_ASKED, (), 0.0, tuple(told)), *found.trace.stages)
        return replace(found, trace=replace(found.trace, stages=stages))

    def show(self, target: str, *, as_read_by: str = "") -> "Provision":
        """A provision, a passage or a subject with its relations; see `localrag.search.provision`.

        `target` is a citation, an id or a name. The readings (読替え) of the provision cited as
        `as_read_by` are applied. Raises NotFoundError, or UsageError if the target is ambiguous.
        """
        from localrag.search import provision

        with self.store.holding():
            return provision.show(self.store, target, as_read_by=as_read_by)

    def look_up(self, target: str, most: int | None = 20) -> "LookedUp":
        """The targets of a citation: provisions, or the contents of a law; errors as in `show`.

        `target` may also be a list, a range, a law, or a part of one (民法709〜724条, 民法, 民法
        第三編第五章). `most` limits the provisions.
        """
        from localrag.search import provision

        with self.store.holding():
            return provision.look_up(self.store, target, most)

    def history(self, target: str) -> "History":
        """A provision in all states of its law; raises NotFoundError, UsageError."""
        from localrag.search import history

        return history.history(self.store, target)

    def affected(self, target: str, depth: int = 1) -> "Affected":
        """The dependents of a provision or a law; see `localrag.search.affected`.

        Raises:
            NotFoundError: there is no such corpus, provision or law.
            UsageError: the target is ambiguous, several provisions, or not in a law.
        """
        from localrag.search.affected import affected

        return affected(self.store, target, depth)

    def diff(self, law: str, before: date, after: date) -> "Comparison":
        """Compare a law on two days; raises NotFoundError, also for a day without a state."""
        from localrag.search import history

        return history.diff(self.store, law, before, after)

    def pending(self, until: date | None = None, law: str = "") -> "tuple[Amendment, ...]":
        """The states of laws coming into force later; see `localrag.search.history.pending`.

        Raises:
            NotFoundError: there is no such corpus or law.
            UsageError: the name is ambiguous.
        """
        from localrag.search import history

        return history.pending(self.store, until, law)

    def upcoming(self, text: str | Path, until: date | None = None) -> "tuple[Upcoming, ...]":
        """The changing citations and quotations of a text; see `check.pending`.

        Args:
            text: as for `check`.
            until: the last day; None for all.

        Raises:
            NotFoundError: there is no such corpus.
            UsageError: there is no text.
            InputError: a file cannot be read.
        """
        from localrag.check.pending import upcoming

        return upcoming(self.store, self._source(text, ignore), until)

    def _source(self, text: str | Path, on_event: "Callable[[Progress], None]") -> "CheckedSource":
        from localrag import check

        if isinstance(text, str):
            return check.given(text)
        from localrag.corpus.ingest.reading import watched

        return check.opened(text, watched(self._limits, on_event))

    def check(
        self,
        text: str | Path,
        on_event: "Callable[[Progress], None] | None" = None,
        *,
        claims: bool = False,
    ) -> "CheckReport":
        """Check what a text cites, quotes and says of laws; see `localrag.check`.

        `text` is the text itself, or the path of a file (text, Markdown, HTML, DOCX, PDF, a scanned
        image). `claims` checks sentences without a citation too, with the method and the model of
        the settings (``fact-check-localrag``).

        Raises:
            NotFoundError: there is no such corpus.
            UsageError: there is no text, or the method checks no claims.
            InputError, ModelUnusable: a file or the model cannot be used.
        """
        from localrag import check

        judge = None
        if claims:
            from localrag.methods.catalogue import method

            # Without claims in the text the method would never be checked.
            name = self._session.config(self.name).method.name
            if not (name and method(name).checks):
                raise UsageError(
                    N_("The method checks no claims."),
                    N_("Name one that does: --method fact-check-localrag"),
                )
            judge = self.ask
        on_event = on_event or ignore
        source = self._source(text, on_event)
        report = check.check(self.store, source, on_event, judge)
        if not self.store.works_to_come():
            return report
        from localrag.check.pending import upcoming

        changed = upcoming(self.store, source, findings=report.findings)
        return replace(report, upcoming=changed)

    def as_of(self, day: date | str | None) -> "Corpus":
        """The same corpus with the law of a day; None for today. Raises UsageError."""
        if isinstance(day, str):
            from localrag.text.dates import read_day

            read = read_day(day)
            if read is None:
                raise UsageError(
                    N_("{day!r} is not a date."), N_("Write it as 2024-04-01."), day=day
                )
            day = read
        settings = {"retrieval.as_of": day.isoformat() if day else ""}
        return Corpus(self._session.with_settings(settings), self.name)

    def overview(self) -> "Overview":
        """Its contents; errors as in `localrag.ops.overview`."""
        from localrag.ops.overview import overview

        return overview(self._workspace, self.name, self.config, self.store)

    def starting_questions(self, n: int = 5) -> tuple[str, ...]:
        """Some questions for it; errors as in `localrag.ops.overview`."""
        from localrag.ops.overview import starting_questions

        if n < 0:
            raise UsageError(N_("There are no {n} questions."), N_("Ask for 0 or more."), n=n)
        return starting_questions(self.place, self.store, n)

    def ask(
        self,
        question: "str | Query",
        watch: "Watch | None" = None,
        *,
        where: "Where | str | None" = None,
        **filters: "date | str | Sequence[str]",
    ) -> "Answer":
        """Answer a question with the method and the model of the settings.

        `watch` follows the answer, and can cancel it. The other arguments and the errors are as for
        `search`; Unanswered means: a model failed, and the trace ends there.
        """
        from localrag.answer.types import UNWATCHED

        asked = self._asked(question, where, filters)
        answer = self.answerer().answer(asked, watch or UNWATCHED)
        if answer.trace.calls:
            from localrag.corpus.inference.speeds import note_speeds

            note_speeds(self._workspace, answer.trace.calls)
        return answer

    def batch(
        self,
        questions: str | PathLike[str] | IO[bytes],
        out: str | PathLike[str],
        *,
        concurrency: int = 0,
        retry_failed: bool = False,
        restart: bool = False,
        ray: str = "",
        on_event: "BatchListener | None" = None,
    ) -> "batch.BatchReport":
        """Answer every question of a file; errors as in `localrag.ops.batch.run`.

        Args:
            questions: JSON Lines, CSV or an Excel workbook.
            out: file of answers, JSON Lines or, by its ending, ``.xlsx``, ``.csv``, ``.docx`` or
                ``.md``; a stopped batch continues.
            concurrency: questions at the same time; 0 for the setting.
            retry_failed: ask failed rows again.
            restart: drop existing answers.
            ray: address of a Ray cluster with answering workers, or "local"; `concurrency` is then
                their number, 0 for one per processor.
            on_event: gets every event.
        """
        from localrag.methods.answering import open_answers
        from localrag.ops import batch

        source = Path(questions) if isinstance(questions, str | PathLike) else questions
        self.require()
        with ExitStack() as stack:
            opener: batch.Opener = open_answers
            if ray:
                from localrag.ops.cluster.running import answers_on, joined

                opener = answers_on(stack.enter_context(joined(ray, self.config, concurrency)))
            return batch.run(
                self._workspace,
                self.name,
                self.config,
                source,
                Path(out),
                concurrency=0 if ray else concurrency,
                retry_failed=retry_failed,
                restart=restart,
                on_event=on_event or ignore,
                opener=opener,
            )

    @property
    def store(self) -> "CorpusStore":
        """Its documents, open for reading."""
        from localrag.corpus.store import CorpusStore

        self._let_go_of_the_old()
        retriever = self._retriever if self._answerer is None else self._answerer.retriever
        if retriever is not None:
            # Its store has cached what it read.
            return retriever.store
        if self._store is None:
            opened = CorpusStore.open(
                self.require().place.store, read_only=True, as_of=self.config.retrieval.day
            )
            self._store = self._opened.enter_context(opened)
        return self._store

    @property
    def retriever(self) -> "Retriever":
        """The retriever, open."""
        from localrag.search.pipeline import Retriever

        self._let_go_of_the_old()
        if self._answerer is not None:
            return self._answerer.retriever
        if self._retriever is None:
            opened = Retriever.open(self._workspace, self.require().name, self.config)
            self._retriever = self._opened.enter_context(opened)
        return self._retriever

    def answerer(self, on_load: Callable[[str, int, int], None] | None = None) -> "Answerer":
        """The method with its model, open; `on_load` gets name, loaded and all bytes of a model."""
        from localrag.methods.answering import open_answers

        self._let_go_of_the_old()
        if self._answerer is None:
            opened = open_answers(
                self._workspace, self.require().name, self.config, on_load or ignore
            )
            self._answerer = self._opened.enter_context(opened)
        return self._answerer

    def close(self) -> None:
        """Close everything; the next call opens it again."""
        self._store = self._retriever = self._answerer = None
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asked(
        self,
        asked: "str | Query",
        where: "Where | str | None",
        filters: "Mapping[str, date | str | Sequence[str]]",
    ) -> "Query":
        """The query with its filters as the corpus knows them."""
        from localrag.search.types import Query

        query = Query(asked) if isinstance(asked, str) else asked
        if filters:
            from localrag.doors.calls import filtered

            found = filtered(filters).filters(self.store)
            given = {name: value for name in found.__slots__ if (value := getattr(found, name))}
            query = replace(query, filters=replace(query.filters, **given))
        if not where and not query.filters.where:
            return query
        from localrag.corpus.facets import labels, read_labels

        told = read_labels(where) if isinstance(where, str) else labels(where or {})
        wanted = (*query.filters.where, *told)
        if not wanted:
            return query
        wanted = self.retriever.store.facets.canonical(wanted)
        return replace(query, filters=replace(query.filters, where=wanted))

    @property
    def _limits(self) -> "Limits":
        from localrag.corpus.ingest.reading import limits_of

        return limits_of(self.config)

    def _let_go_of_the_old(self) -> None:
        """Close everything if the corpus was indexed, removed or replaced."""
        from localrag.search.units import opened_from

        found = opened_from(self.place)
        if found != self._opened_from:
            self.close()
            self._opened_from = found
