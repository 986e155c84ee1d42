"""Data of the running workbench: settings, choices (``tui.json``), corpora, conversations.

Corpora and conversations are read and written in threads, off the event loop.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from localrag.corpus.config import Config, load
from localrag.corpus.durable import replace_text
from localrag.corpus.workspace import Workspace
from localrag.doors.session import Session
from localrag.errors import ConfigError, NotFoundError, StorageError, StoreError
from localrag.language import _
from localrag.search.types import Filters
from localrag.text.harmless import harmless
from localrag_tui.shown import palette

if TYPE_CHECKING:
    from localrag.corpus.store import CorpusStore
    from localrag.doors.session import Corpus
    from localrag.law.names import LawNames
    from localrag.ops.conversations.store import Conversations
    from localrag.search.reading import Retrieval
    from localrag.search.types import Query

_Stamp = tuple[tuple[int, int] | None, ...]


class Settings:
    """The settings of a workspace and of the command line, read again when a file changes.

    `tell` shows an error; the last valid settings stay in force.
    """

    def __init__(
        self,
        workspace: Workspace,
        overrides: Mapping[str, object],
        tell: Callable[[ConfigError], None],
    ) -> None:
        self._workspace = workspace
        self._overrides = overrides
        self._tell = tell
        self._stamps: dict[str, _Stamp] = {"": self._stamp("")}
        self._valid: dict[str, Config] = {"": load(workspace, overrides)}
        self._told = ""

    def of(self, corpus: str = "") -> Config:
        stamp = self._stamp(corpus)
        if self._stamps.get(corpus) != stamp:
            self._stamps[corpus] = stamp
            try:
                owner = self._workspace.corpus(corpus) if corpus else None
                self._valid[corpus] = load(self._workspace, self._overrides, owner)
                self._told = ""
            except ConfigError as error:
                if error.cause != self._told:
                    self._told = error.cause
                    self._tell(error)
        return self._valid.get(corpus) or self._valid[""]

    def _stamp(self, corpus: str) -> _Stamp:
        own = (self._workspace.corpus(corpus).settings,) if corpus else ()
        return tuple(map(_written, (self._workspace.settings, *own)))


def _written(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


# Anyone may write this file: values no user can choose count as damage. A path is the longest text;
# the store has numbers of 64 bits.
_LONGEST, _LARGEST = 5_000, 2**63 - 1
_MOST_BYTES = 1_000_000
_Text = Annotated[str, Field(max_length=_LONGEST)]
_Whole = Annotated[int, Field(ge=0, le=_LARGEST)]


class Choices(BaseModel):
    """The choices for the next start."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    language: _Text = ""  # language, theme: of the interface; "" for none chosen
    theme: _Text = ""
    mode: _Text = ""
    # corpus, method, model: as in the settings; None leaves them to the settings
    corpus: _Text | None = None
    method: _Text | None = None
    model: _Text | None = None
    conversation: _Whole = 0  # the open one; 0 for a new one
    asked_of: Filters = Filters()
    search: _Text = ""
    filters: Filters = Filters()
    # open panes of the Read screen by corpus: document and place in its text
    reading: dict[_Text, tuple[tuple[_Text, _Whole], ...]] = {}

    @field_validator("filters", "asked_of")
    @classmethod
    def _dated(cls, filters: Filters) -> Filters:
        for date in (filters.date_from, filters.date_to):
            if date != harmless(date)[:_LONGEST]:
                raise ValueError(date)
        return filters


class Memory:
    """Keeps the choices in a file, written by a thread: a slow disk delays no key.

    Without a usable file it works, after one notice. Choices of another workbench stay in the file,
    unless they change here.
    """

    def __init__(self, path: Path, tell: Callable[[StorageError], object]) -> None:
        self._path = path
        self._tell = tell
        self._told = False
        self._writer = ThreadPoolExecutor(1, "memory")
        self.choices = self._kept = self._read()

    def remember(self, **chosen: object) -> None:
        choices = Choices.model_validate({**self.choices.model_dump(), **chosen})
        if choices != self.choices:
            self.choices = choices
            self._writer.submit(self._write, choices)

    def close(self) -> None:
        self._writer.shutdown()

    def _write(self, choices: Choices) -> None:
        if choices != self.choices:
            return  # A later one is on its way.
        try:
            there = self._load()
        except (OSError, ValidationError):
            there = self._kept
        try:
            merged = _merged(there, self._kept, choices)
            replace_text(self._path, merged.model_dump_json(indent=1))
            self._told, self._kept = False, choices
        except OSError as error:
            what = _("Your choices cannot be saved in {path} ({reason}).")
            self._complain(what, error, _("Make it writable, or free some space."))

    def _read(self) -> Choices:
        try:
            return self._load()
        except FileNotFoundError:
            return Choices()
        except (OSError, ValidationError) as error:
            what = _("The choices in {path} could not be read ({reason}).")
            self._complain(what, error, _("Choose again: the file is written again."))
        return Choices()

    def _load(self) -> Choices:
        with self._path.open("rb") as file:
            # A longer file is cut, and no JSON.
            return Choices.model_validate_json(file.read(_MOST_BYTES))

    def _complain(self, what: str, error: OSError | ValidationError, cure: str) -> None:
        if not self._told:
            self._told = True
            if isinstance(error, OSError):
                reason = error.strerror or str(error)
            else:
                reason = _("it is damaged, {n} faults").format(n=error.error_count())
            self._tell(StorageError(what.format(path=self._path, reason=reason), cure))


def _merged(there: Choices, before: Choices, now: Choices) -> Choices:
    """The choices in the file, with the changes of this workbench."""
    changed = {name: chosen for name, chosen in now if chosen != getattr(before, name)}
    read = {
        corpus: panes
        for corpus, panes in now.reading.items()
        if panes != before.reading.get(corpus)
    }
    return there.model_copy(update={**changed, "reading": {**there.reading, **read}})


T = TypeVar("T")


class Library:
    """One corpus, open for reading; no call blocks the event loop, and calls do not wait in turn.

    The first call that needs a file raises the error of opening it.
    """

    def __init__(self, workspace: Workspace, corpus: str, config: Callable[[], "Config"]) -> None:
        self.corpus = corpus
        self._workspace = workspace
        self._config = config
        # One for each thread, under valid settings.
        self._read, self._searched = (Session(workspace).corpus(corpus) for _ in range(2))
        self._read.config = self._searched.config = config()
        self._reading = ThreadPoolExecutor(1, "reading")
        self._searching = ThreadPoolExecutor(1, "searching")
        self._names: tuple[CorpusStore, int, LawNames] | None = None
        self._closed = False

    async def read(self, look: "Callable[[CorpusStore], T]") -> T:
        """Call a function with the store, in the reading thread; its errors are raised."""
        return await self._run(self._reading, self._ready(self._read, lambda: look(self._store())))

    async def read_names(self, look: "Callable[[CorpusStore, LawNames], T]") -> T:
        """As `read`, with the names of the laws of the corpus."""

        def work() -> T:
            store = self._store()
            return look(store, self._known_names(store))

        return await self._run(self._reading, self._ready(self._read, work))

    async def require_documents(self) -> None:
        """Make sure the corpus has documents. Raises `NotFoundError` if it is empty or missing."""
        if not await self.read(lambda store: store.extent().documents):
            words = _("The corpus {corpus} has no documents yet.").format(corpus=self.corpus)
            raise NotFoundError(words, palette(_("Add documents")))

    async def search(self, query: "Query", k: int | None = None) -> "Retrieval":
        """Search with every stage; errors as in `Retriever.search`."""
        corpus = self._searched
        work = self._ready(corpus, lambda: corpus.search(query, k))
        return await self._run(self._searching, work)

    async def close(self) -> None:
        await self._run(self._reading, self._read.close)
        await self._run(self._searching, self._searched.close)
        self._closed = True
        self._reading.shutdown(wait=False)
        self._searching.shutdown(wait=False)

    async def _run(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            # The application has ended: nobody waits for the result.
            raise asyncio.CancelledError
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def _ready(self, corpus: "Corpus", work: Callable[[], T]) -> Callable[[], T]:
        """The work, after opening the corpus again if the settings have changed."""
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
    """The conversations of a workspace, opened by the first call; no call works after `close`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._thread = ThreadPoolExecutor(1, "conversations")
        self._open: Conversations | None = None
        self._closed = False

    async def do(self, work: Callable[["Conversations"], T]) -> T:
        """Call a function with the conversations; calls run in order, each to its end."""
        if self._closed:
            raise StoreError(_("The conversations are closed."))
        loop = asyncio.get_running_loop()
        # Cancelling a waiting call would lose its data.
        return await asyncio.shield(
            loop.run_in_executor(self._thread, lambda: work(self._opened()))
        )

    async def close(self) -> None:
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
