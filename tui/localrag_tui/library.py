"""What is read and written off the event loop: corpora and conversations, each in its threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from localrag.corpus.workspace import Workspace
from localrag.doors.session import Session
from localrag.errors import NotFoundError, StoreError
from localrag.language import _
from localrag_tui.wording import palette

if TYPE_CHECKING:
    # The threads import what they need: nothing of it is there before the first paint.
    from localrag.corpus.config import Config
    from localrag.corpus.store import CorpusStore
    from localrag.doors.session import Corpus
    from localrag.law.names import LawNames
    from localrag.ops.conversations.store import Conversations
    from localrag.search.reading import Retrieval
    from localrag.search.types import Query

T = TypeVar("T")


class Library:
    """One corpus, open for reading; every call is awaited, and none of them blocks the loop.

    Reading and searching do not wait for each other. Whatever cannot be opened is told by the
    first call that needs it, as the errors of `localrag.doors.session.Corpus`; of a corpus that is
    not there, with what to do about it in the workbench.

    Args:
        workspace: where the corpus is.
        corpus: its name.
        config: gives the settings that hold now; every call goes by them.
    """

    def __init__(self, workspace: Workspace, corpus: str, config: Callable[[], "Config"]) -> None:
        self.corpus = corpus
        self._workspace = workspace
        self._config = config
        # One for each thread, under the settings that are known to be valid.
        self._read, self._searched = (Session(workspace).corpus(corpus) for _ in range(2))
        self._read.config = self._searched.config = config()
        self._reading = ThreadPoolExecutor(1, "reading")
        self._searching = ThreadPoolExecutor(1, "searching")
        self._names: tuple[CorpusStore, int, LawNames] | None = None
        self._closed = False

    async def read(self, look: "Callable[[CorpusStore], T]") -> T:
        """Read the store with a function, in the thread for it; raises what that raises."""
        return await self._run(self._reading, self._ready(self._read, lambda: look(self._store())))

    async def read_names(self, look: "Callable[[CorpusStore, LawNames], T]") -> T:
        """Do what `read` does, with the names of the laws of the corpus besides."""

        def work() -> T:
            store = self._store()
            return look(store, self._known_names(store))

        return await self._run(self._reading, self._ready(self._read, work))

    async def require_documents(self) -> None:
        """Make sure that there is something to ask about.

        Raises:
            NotFoundError: the corpus is empty, or not there.
        """
        if not await self.read(lambda store: store.extent().documents):
            words = _("The corpus {corpus} has no documents yet.").format(corpus=self.corpus)
            raise NotFoundError(words, palette(_("Add documents")))

    async def search(self, query: "Query", k: int | None = None) -> "Retrieval":
        """Search with every stage, as `Retriever.search` does; raises what that raises."""
        corpus = self._searched
        work = self._ready(corpus, lambda: corpus.search(query, k))
        return await self._run(self._searching, work)

    async def close(self) -> None:
        """Let go of everything, once what is under way has ended."""
        await self._run(self._reading, self._read.close)
        await self._run(self._searching, self._searched.close)
        self._closed = True
        self._reading.shutdown(wait=False)
        self._searching.shutdown(wait=False)

    async def _run(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            # The application is left: nobody waits for what is still asked for.
            raise asyncio.CancelledError
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def _ready(self, corpus: "Corpus", work: Callable[[], T]) -> Callable[[], T]:
        """The work on a corpus, which is opened anew where the settings of now are others."""
        config = self._config()

        def under_settings() -> T:
            if corpus.config != config:
                corpus.close()
                corpus.config = config
            return work()

        return under_settings

    def _store(self) -> "CorpusStore":
        try:
            return self._read.store
        except NotFoundError as error:
            commands = [_("Add documents")]
            if known := self._workspace.corpora():
                commands.append(_("Choose the corpus"))
            cures = [_("There is: {known}.").format(known=", ".join(known))] if known else []
            cure = " ".join([*cures, palette(*commands)])
            raise NotFoundError(error.cause, cure) from error

    def _known_names(self, store: "CorpusStore") -> "LawNames":
        from localrag.law.names import LawNames

        generation = store.generation
        if self._names is None or self._names[:2] != (store, generation):
            self._names = store, generation, LawNames.from_rows(store.laws())
        return self._names[2]


class Keeper:
    """The conversations of a workspace, opened by the first call that needs them.

    What cannot be opened is told by every call, as the errors of `Conversations.open`; after
    `close` every call is a `StoreError`.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._thread = ThreadPoolExecutor(1, "conversations")
        self._open: Conversations | None = None
        self._closed = False

    async def do(self, work: Callable[["Conversations"], T]) -> T:
        """Do something with the conversations; calls are done in the order they come.

        What was begun is done to its end, even where nobody waits for it any longer.
        """
        if self._closed:
            raise StoreError(_("The conversations are closed."))
        loop = asyncio.get_running_loop()
        # Cancelling a call that still waits for the thread would drop what it was to write.
        return await asyncio.shield(
            loop.run_in_executor(self._thread, lambda: work(self._opened()))
        )

    async def close(self) -> None:
        """Close the file, once everything asked for is done."""
        if self._closed:
            return
        self._closed = True

        def close() -> None:
            if self._open is not None:
                self._open.close()

        await asyncio.get_running_loop().run_in_executor(self._thread, close)
        self._thread.shutdown(wait=False)

    def _opened(self) -> "Conversations":
        if self._open is not None and self._open.read_only:
            self._open.close()
            self._open = None  # There may be room by now.
        if self._open is None:
            from localrag.ops.conversations.store import Conversations

            self._open = Conversations.open(self._workspace)
        return self._open
