"""The Python interface: a workspace, its corpora, and what can be done with them.

`localrag.open` gives a `Session`, and that a `Corpus`; docs/python.md shows both. The command line
and the workbench open corpora here too.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from localrag.errors import NotFoundError, UsageError
from localrag.language import N_
from localrag.progress import Progress, ignore
from localrag.workspace import CorpusPaths, Workspace

if TYPE_CHECKING:
    from localrag import batch
    from localrag.batch.types import Listener as BatchListener
    from localrag.check import CheckReport
    from localrag.config import Config
    from localrag.corpus.facets import Where
    from localrag.corpus.readers import Limits
    from localrag.corpus.store import CorpusStore, DocumentInfo
    from localrag.history import Comparison, History
    from localrag.ingest.add import AddReport
    from localrag.ingest.events import Listener
    from localrag.ingest.index import IndexReport
    from localrag.ingest.update import UpdateReport
    from localrag.methods.answering import Answerer
    from localrag.overview import Overview
    from localrag.provision import LookedUp, Provision
    from localrag.reading.types import Answer, Watch
    from localrag.retrieval.pipeline import Retriever
    from localrag.retrieval.reading import Retrieval
    from localrag.retrieval.types import Query


def open(  # noqa: A001 - `localrag.open`, as `tarfile.open`
    home: str | PathLike[str] | None = None, settings: Mapping[str, object] | None = None
) -> "Session":
    """Open a workspace, which is made where there is none.

    Args:
        home: its folder; None for ``LOCALRAG_HOME``, else the user's data folder.
        settings: by dotted key (``{"retrieval.k": 5}``), in the place of those of ``localrag.toml``
            and of the environment.

    Raises:
        WorkspaceError: the folder holds a workspace of another version, or something else.
        StorageError: it cannot be written.
    """
    session = Session(Workspace.locate(Path(home) if home is not None else None), settings or {})
    session.workspace.init()
    return session


@dataclass(frozen=True)
class Session:
    """A workspace, and settings for the time being.

    Attributes:
        workspace: its folders, which need not exist.
        overrides: settings by dotted key, which win over all others; None leaves one as it is.
    """

    workspace: Workspace
    overrides: Mapping[str, object] = field(default_factory=dict)

    def with_settings(self, given: Mapping[str, object]) -> Self:
        """The same workspace with other settings; None leaves one as it is."""
        known = {key: value for key, value in given.items() if value is not None}
        return replace(self, overrides={**self.overrides, **known})

    def config(self, corpus: str = "") -> "Config":
        """Read the settings: of everything, or as they hold for one corpus.

        Raises:
            ConfigError: a file or a variable has an unknown key, or a value that is not valid.
            UsageError: the settings of this session do.
        """
        # Validating takes a third of a start: only calls that read a setting wait for it.
        from localrag.config import load

        place = self.workspace.corpus(corpus) if corpus else None
        return load(self.workspace, self.overrides, place)

    def corpora(self) -> list[str]:
        """The names of the corpora there are."""
        return self.workspace.corpora()

    def corpus(self, name: str = "") -> "Corpus":
        """A corpus by its name, else the one of the settings; its first `add` makes it.

        Raises:
            UsageError: no corpus can have such a name.
        """
        return Corpus(self, name or self.config().corpus)


class Corpus:
    """One corpus: filled, indexed, searched and asked.

    What a call opens (store, indexes, model) stays open for the next one, until `close`, the end of
    its ``with`` block, or a change of the corpus. To be used by one thread at a time.

    Attributes:
        name: its name.
        place: its folders.
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
        """The settings that hold for it.

        Raises:
            ConfigError: a file or a variable has an unknown key, or a value that is not valid.
            UsageError: the settings of this session do.
        """
        return self._session.config(self.name)

    def require(self) -> Self:
        """Make sure that it exists.

        Raises:
            WorkspaceError: there is no workspace.
            NotFoundError: there is no such corpus; tells which there are.
        """
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
        """Enter files and folders; see `localrag.ingest.add.add`, also for its errors.

        Args:
            paths: folders are searched to the bottom.
            prune: remove documents below `paths` whose files are gone.
            check_content: compare content even where size and time are the same.
            follow_links: follow links inside the folders; else they are named and left out.
            convert: have LibreOffice write files of old formats (.doc, .xls, .rtf) as new ones,
                and read these.
            workers: processes; 0 for the setting ``ingest.workers``. With more than 1 the calling
                script needs the usual ``if __name__ == "__main__"`` guard.
            on_event: told every event.
        """
        from localrag.corpus.readers.converting import converter
        from localrag.ingest.add import add

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
        """Make it searchable; see `localrag.ingest.index.index_as_set`, also for its errors.

        Args:
            rebuild: also what is up to date.
            workers: processes, as for `add`.
            ray: address of a cluster of Ray that analyses and embeds, or "local".
            on_event: told every event.
        """
        from localrag.ingest.index import HERE, index_as_set

        self.require().close()
        with ExitStack() as stack:
            elsewhere = HERE
            if ray:
                from localrag.cluster.running import indexing_on, joined

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
        """Take the laws of an archive in; see `localrag.ingest.update.update`, also for its errors.

        Args:
            paths: the archive, as for `add`.
            whole: remove the laws that it lacks.
            dry_run: only tell what would change.
            follow_links: as for `add`.
            workers: processes, as for `add`.
            before: told what changes, before it does.
            on_event: told every event.
        """
        from localrag.ingest.update import update

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
        """Take the last update back; see `localrag.ingest.update`, also for the errors."""
        from localrag.ingest.update import undo_update

        self.require().close()
        return undo_update(self._workspace, self.name, dry_run=dry_run)

    def remove(self, *documents: str) -> None:
        """Remove documents by their ids; see `localrag.ingest.remove`, also for the errors."""
        from localrag.ingest.remove import remove_documents

        self.require().close()
        remove_documents(self._workspace, self.name, documents)

    def delete(self) -> None:
        """Remove the corpus with everything in it."""
        from localrag.ingest.remove import remove_corpus

        self.require().close()
        remove_corpus(self._workspace, self.name)

    def documents(self, kind: str | None = None) -> "list[DocumentInfo]":
        """What it holds, or what of one kind (``law``, ``markdown`` …)."""
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

        A day of the law that the query says holds, unless the settings give one. What the query
        has in quotation marks ("正当の事由") every passage found has, letter by letter.

        Args:
            query: words or a question, or a `Query` with filters, options and history.
            k: how many; None for the setting ``retrieval.k``.
            where: which documents, beside the filters: ``{"kind": ["Act", "CabinetOrder"]}`` or
                ``"kind=Act; chapter=罰則"``, in any language (``{"種別": "政令"}``); what there is
                tells `overview`.
            rewrite: have the chat model write searches in the words of statutes, which find as
                well; where it fails, the trace says so.
            filters: the other filters of `localrag.calls.Filtered`, by name: ``law="民法"``,
                ``date_from="2024-04-01"``.

        Raises:
            NotFoundError: there is no such corpus, or none of its documents is so.
            UsageError: the query is empty, `k` is less than 1, or `rewrite` lacks a chat model.
            StoreError, IndexUnusable, ModelUnusable: something cannot be used; the cure is named.
        """
        from localrag.question.as_of import state_asked
        from localrag.retrieval.query import with_phrases
        from localrag.retrieval.types import STATE_ASKED, StageRecord
        from localrag.retrieval.units import later_texts, old_texts

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
        """A provision, a passage or a subject, with what is tied to it; see `localrag.provision`.

        Args:
            target: its citation, id or name.
            as_read_by: citation of the provision by whose readings (読替え) its text is read.

        Raises:
            NotFoundError: there is no such corpus, nothing of this name, or no such reading.
            UsageError: it can mean several provisions.
        """
        from localrag import provision

        with self.store.holding():
            return provision.show(self.store, target, as_read_by=as_read_by)

    def look_up(self, target: str, most: int | None = 20) -> "LookedUp":
        """All that a citation names: provisions, or what a law or a part of it holds.

        Args:
            target: as for `show`, or a list, a range, a law, a part of one (民法709〜724条, 民法,
                民法 第三編第五章).
            most: provisions that are looked up; None for all.

        Raises:
            NotFoundError: there is no such corpus, or nothing of this name.
            UsageError: it can mean several provisions or parts.
        """
        from localrag import provision

        with self.store.holding():
            return provision.look_up(self.store, target, most)

    def history(self, target: str) -> "History":
        """A provision through the states of its law; see `localrag.history`.

        Raises:
            NotFoundError: there is no such corpus, or nothing of this name.
            UsageError: it can mean several provisions, or is no provision of a law.
        """
        from localrag import history

        return history.history(self.store, target)

    def diff(self, law: str, before: date, after: date) -> "Comparison":
        """The states of a law on two days, compared; see `localrag.history`.

        Raises:
            NotFoundError: there is no such corpus or law, or no state of it on one of the days.
            UsageError: the name can mean several laws.
        """
        from localrag import history

        return history.diff(self.store, law, before, after)

    def check(
        self,
        text: str | Path,
        on_event: "Callable[[Progress], None] | None" = None,
        *,
        claims: bool = False,
    ) -> "CheckReport":
        """Check what a text cites, quotes and says of laws; see `localrag.check`.

        Args:
            text: the text itself, or the path of a file (text, Markdown, HTML, DOCX, PDF, a
                scanned image).
            on_event: told how far the check is.
            claims: check the sentences that cite no law, too, each as a claim, with the method and
                the model of the settings (``fact-check-localrag``).

        Raises:
            NotFoundError: there is no such corpus.
            UsageError: there is no text, or the method checks no claims.
            InputError: a file cannot be read.
            ModelUnusable: the model cannot be used.
        """
        from localrag import check

        if isinstance(text, Path):
            from localrag.ingest.reading import watched

            source = check.opened(text, watched(self._limits, on_event or ignore))
        else:
            source = check.given(text)
        judge = None
        if claims:
            from localrag.methods.catalogue import method

            # A text that holds no claim would never come to ask it.
            name = self._session.config(self.name).method.name
            if not (name and method(name).checks):
                raise UsageError(
                    N_("The method checks no claims."),
                    N_("Name one that does: --method fact-check-localrag"),
                )
            judge = self.ask
        return check.check(self.store, source, on_event or ignore, judge)

    def as_of(self, day: date | str | None) -> "Corpus":
        """The same corpus with the law of a day; None for today.

        Raises:
            UsageError: a text is no day.
        """
        if isinstance(day, str):
            from localrag.reading.dates import read_day

            read = read_day(day)
            if read is None:
                raise UsageError(
                    N_("{day!r} is not a date."), N_("Write it as 2024-04-01."), day=day
                )
            day = read
        settings = {"retrieval.as_of": day.isoformat() if day else ""}
        return Corpus(self._session.with_settings(settings), self.name)

    def overview(self) -> "Overview":
        """What it holds; see `localrag.overview`.

        Raises:
            NotFoundError: there is no such corpus.
            StoreError, IndexUnusable, ModelUnusable: something cannot be used; the cure is named.
        """
        from localrag.overview import overview

        return overview(self._workspace, self.name, self.config, self.store)

    def starting_questions(self, n: int = 5) -> tuple[str, ...]:
        """Some questions that it answers; see `localrag.overview.starting_questions`.

        Raises:
            NotFoundError: there is no such corpus.
            UsageError: `n` is less than 0.
            StoreError: those that were prepared are damaged.
        """
        from localrag.overview import starting_questions

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

        Args:
            question: a question, or a `Query` with filters, options and history.
            watch: follows how the answer is made, and can cancel it.
            where: which documents, as for `search`.
            filters: as for `search`.

        Raises:
            as `search`, and Unanswered: a model failed, with the trace up to there.
        """
        from localrag.reading.types import UNWATCHED

        return self.answerer().answer(self._asked(question, where, filters), watch or UNWATCHED)

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
        """Answer every question of a file; see `localrag.batch.run`, also for its errors.

        Args:
            questions: JSON Lines, CSV or a workbook of Excel.
            out: the file of answers, JSON Lines or, by its ending, ``.xlsx``, ``.csv``, ``.docx``
                or ``.md``; a batch that was stopped goes on.
            concurrency: questions at the same time; 0 for the setting.
            retry_failed: ask the rows again that failed.
            restart: drop the answers that are there.
            ray: address of a cluster of Ray whose workers answer, or "local"; `concurrency` is then
                how many they are, 0 for one for each processor.
            on_event: told every event.
        """
        from localrag import batch
        from localrag.methods.answering import open_answers

        source = Path(questions) if isinstance(questions, str | PathLike) else questions
        self.require()
        with ExitStack() as stack:
            opener: batch.Opener = open_answers
            if ray:
                from localrag.cluster.running import answers_on, joined

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
            # What it has read is kept there already.
            return retriever.store
        if self._store is None:
            opened = CorpusStore.open(
                self.require().place.store, read_only=True, as_of=self.config.retrieval.day
            )
            self._store = self._opened.enter_context(opened)
        return self._store

    @property
    def retriever(self) -> "Retriever":
        """What finds passages in it."""
        from localrag.retrieval.pipeline import Retriever

        self._let_go_of_the_old()
        if self._answerer is not None:
            return self._answerer.retriever
        if self._retriever is None:
            opened = Retriever.open(self._workspace, self.require().name, self.config)
            self._retriever = self._opened.enter_context(opened)
        return self._retriever

    def answerer(self, on_load: Callable[[str, int, int], None] | None = None) -> "Answerer":
        """What answers questions about it.

        Args:
            on_load: told how much of a model is loaded: its name, bytes of bytes.
        """
        from localrag.methods.answering import open_answers

        self._let_go_of_the_old()
        if self._answerer is None:
            opened = open_answers(
                self._workspace, self.require().name, self.config, on_load or ignore
            )
            self._answerer = self._opened.enter_context(opened)
        return self._answerer

    def close(self) -> None:
        """Let go of what is open; the next call opens it again."""
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
        from localrag.retrieval.types import Query

        query = Query(asked) if isinstance(asked, str) else asked
        if filters:
            from localrag.calls import filtered

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
        from localrag.ingest.reading import limits_of

        return limits_of(self.config)

    def _let_go_of_the_old(self) -> None:
        """Close what was opened before the corpus was indexed, removed or replaced."""
        from localrag.ingest.state import opened_from

        found = opened_from(self.place)
        if found != self._opened_from:
            self.close()
            self._opened_from = found
