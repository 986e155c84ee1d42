"""Reading and searching a corpus off the event loop, each in a thread of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from localrag.config import Config
from localrag.workspace import Workspace

if TYPE_CHECKING:
    # The threads import what they need: nothing of it is there before the first paint.
    from localrag.corpus.store import CorpusStore
    from localrag.retrieval.pipeline import Retriever
    from localrag.retrieval.types import Query, Retrieval
    from localrag.statutes.names import LawNames

T = TypeVar("T")


class Library:
    """One corpus, open for reading; every call is awaited, and none of them blocks the loop.

    Reading and searching do not wait for each other. Whatever cannot be opened is told by the
    first call that needs it, as the errors of `CorpusStore.open` and `Retriever.open`.
    """

    def __init__(self, workspace: Workspace, corpus: str, config: Config) -> None:
        self.corpus = corpus
        self._place = workspace.corpus(corpus)
        self._workspace = workspace
        self._config = config
        self._reading = ThreadPoolExecutor(1, "reading")
        self._searching = ThreadPoolExecutor(1, "searching")
        self._store: CorpusStore | None = None
        self._file: tuple[int, int] | None = None
        self._names: tuple[int, LawNames] | None = None
        self._retriever: Retriever | None = None
        self._searches: object = None
        self._closed = False

    async def read(self, look: "Callable[[CorpusStore], T]") -> T:
        """Read the store with a function, in the thread for it; raises what that raises."""
        return await self._run(self._reading, lambda: look(self._opened_store()))

    async def read_names(self, look: "Callable[[CorpusStore, LawNames], T]") -> T:
        """Do what `read` does, with the names of the laws of the corpus besides."""

        def work() -> T:
            store = self._opened_store()
            return look(store, self._known_names(store))

        return await self._run(self._reading, work)

    async def search(self, query: "Query", k: int | None = None) -> "Retrieval":
        """Search with every stage, as `Retriever.search` does; raises what that raises."""
        return await self._run(self._searching, lambda: self._opened_retriever().search(query, k))

    async def close(self) -> None:
        """Let go of everything, once what is under way has ended."""

        def close_store() -> None:
            if self._store is not None:
                self._store.close()

        def close_retriever() -> None:
            if self._retriever is not None:
                self._retriever.close()

        await self._run(self._reading, close_store)
        await self._run(self._searching, close_retriever)
        self._closed = True
        self._reading.shutdown(wait=False)
        self._searching.shutdown(wait=False)

    async def _run(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            # The application is left: nobody waits for what is still asked for.
            raise asyncio.CancelledError
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def _opened_store(self) -> "CorpusStore":
        from localrag.corpus.store import CorpusStore

        found = self._place.identity
        if self._store is not None and self._file != found:
            self._store.close()
            self._store = self._names = None
        if self._store is None:
            self._store = CorpusStore.open(self._place.store, read_only=True)
            self._file = found
        return self._store

    def _known_names(self, store: "CorpusStore") -> "LawNames":
        from localrag.statutes.names import LawNames

        generation = store.generation
        if self._names is None or self._names[0] != generation:
            self._names = generation, LawNames.from_rows(store.laws())
        return self._names[1]

    def _opened_retriever(self) -> "Retriever":
        from localrag.ingest.state import opened_from
        from localrag.retrieval.pipeline import Retriever

        found = opened_from(self._place)
        if self._retriever is None or self._searches != found:
            if self._retriever is not None:
                self._retriever.close()
                self._retriever = None
            self._retriever = Retriever.open(self._workspace, self.corpus, self._config)
            self._searches = found
        return self._retriever
