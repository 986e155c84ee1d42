"""Workers on a cluster of Ray, their work, and their copy of the workspace.

A worker is a process. It opens its resources once and takes one piece of work at a time, or a few.
If a worker is lost, another one gets its piece. Workers read the workspace in a shared folder.
Elsewhere it is sent once, file by file, each known by the digest of its content.
"""

import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from typing import Any, Self, TypeVar, cast

from localrag import language
from localrag.answer.types import Cancelled
from localrag.corpus.config import Config
from localrag.corpus.durable import make_folder, replacing, storing
from localrag.corpus.inference.opening import models_in_use
from localrag.corpus.workspace import Workspace
from localrag.errors import ModelUnusable, NotFoundError, UsageError, to_install
from localrag.language import N_
from localrag_indexes.manifest import COMPARED
from localrag_indexes.parallel import Outcome, map_threads, outcome

CHUNK = 32 << 20
"""Bytes sent at a time."""

# These belong to the writing process or to this disk.
_OF_HERE = ("lock", ".lock", "-shm", ".new", "writer.json", COMPARED)


@dataclass(frozen=True, slots=True)
class CarriedFile:
    """A file of a workspace."""

    path: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Parcel:
    """The files of a workspace for some work."""

    files: tuple[CarriedFile, ...]

    @classmethod
    def of(cls, workspace: Workspace, corpus: str, config: Config) -> "Parcel":
        """List the files for questions about a corpus, or for models alone if `corpus` is ""."""
        wanted = [workspace.prompts]
        if corpus:
            place = workspace.corpus(corpus)
            wanted += [place.store.parent, place.indexes]
        wanted += [workspace.models / name for name in models_in_use(workspace, config)]
        with storing(workspace.home):
            files = tuple(
                CarriedFile(
                    path.relative_to(workspace.home).as_posix(), path.stat().st_size, _digest(path)
                )
                for folder in wanted
                for path in sorted(folder.rglob("*"))
                if path.is_file() and not _is_of_here(path)
            )
        return cls(files)

    @property
    def digest(self) -> str:
        found = _hash()
        for file in self.files:
            found.update(f"{file.path}\0{file.digest}\n".encode(errors="surrogateescape"))
        return found.hexdigest()


def _is_of_here(path: Path) -> bool:
    is_log = path.name.endswith("-wal")
    return path.name.endswith(_OF_HERE) or (is_log and not path.stat().st_size)


class ReceivedContents:
    """The content received by a machine, by digest, and the workspaces made of it.

    Args:
        folder: may be removed whenever no worker runs.
    """

    def __init__(self, folder: Path) -> None:
        self._contents = folder / "contents"
        self._folder = folder

    def lacks(self, parcel: Parcel) -> list[CarriedFile]:
        """The files without their content here, each content once."""
        lacking = {
            one.digest: one for one in parcel.files if not self._content(one.digest).exists()
        }
        return list(lacking.values())

    def take(self, digest: str, chunks: Iterable[bytes]) -> None:
        """Keep the content of a file; raises StorageError, ValueError."""
        with storing(self._folder):
            make_folder(self._contents)
            found = _hash()
            with replacing(self._content(digest)) as file:
                for chunk in chunks:
                    found.update(chunk)
                    file.write(chunk)
                if found.hexdigest() != digest:
                    raise ValueError(digest)

    def unpacked(self, parcel: Parcel) -> Path:
        """The workspace of a complete parcel; raises StorageError."""
        home = self._folder / "workspaces" / parcel.digest
        if home.exists():
            return home
        unfinished = home.with_name(f".{secrets.token_hex(8)}.new")
        with storing(self._folder):
            for one in parcel.files:
                path = unfinished / PurePosixPath(one.path)
                make_folder(path.parent)
                os.link(self._content(one.digest), path)
            # Another worker of this machine may have been faster.
            with suppress(OSError):
                unfinished.rename(home)
        return home

    def _content(self, digest: str) -> Path:
        return self._contents / digest


@contextmanager
def marked(workspace: Workspace) -> Iterator[str]:
    """Put a file with a random name into a workspace for a while; yield its path within."""
    path = workspace.runs / "cluster" / secrets.token_hex(16)
    with storing(path):
        make_folder(path.parent)
        path.touch(mode=0o600)
    try:
        yield path.relative_to(workspace.home).as_posix()
    finally:
        path.unlink(missing_ok=True)


def _chunks_of(path: Path) -> Iterator[bytes]:
    with storing(path), path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, _hash).hexdigest()


def _hash() -> blake2b:
    return blake2b(digest_size=16)


Item = TypeVar("Item")
Result = TypeVar("Result")

Opener = Callable[[Path], AbstractContextManager[Callable[[Any], Any]]]
"""Opens what does the work, in the folder of a workspace; it is sent to the workers."""

LOCAL = "local"
"""Address of a cluster on this machine that ends with the process."""

# Workers lost over one piece of work before it is given up.
_TRIES = 4
# Seconds until a warning that no worker has started.
_LONG = 30.0
# Seconds between two checks whether the caller still wants the answer.
_GLANCE = 0.25

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Errand:
    """The work of some workers.

    Attributes:
        workspace: its folder is given to the opener; None if it needs none.
        corpus: is sent if the workers cannot reach the workspace; "" for the models alone.
        config: the settings; they name the models to send.
    """

    opener: Opener
    workspace: Workspace | None = None
    corpus: str = ""
    config: Config | None = None


class Cluster:
    """A cluster to start workers on; `parallel` counts pieces of work at the same time."""

    def __init__(self, ray: Any, held: ExitStack, size: int, threads: int, at_once: int) -> None:
        self.parallel = size * at_once
        self._size = size
        self._ray = ray
        self._held = held
        self._threads = threads
        self._at_once = at_once

    @classmethod
    @contextmanager
    def open(
        cls, address: str, *, workers: int = 0, threads: int = 1, at_once: int = 1
    ) -> Iterator[Self]:
        """Join a cluster, or start one on this machine; raises UsageError without Ray.

        Args:
            address: of its head node (``host:6379``, ``auto``), or `LOCAL`.
            workers: how many to start; 0 for as many as the processors of the cluster allow.
            threads: processors of a worker.
            at_once: pieces of work of a worker at the same time.

        Raises:
            NotFoundError: there is no such cluster.
            ModelUnusable: it does not start.
        """
        # Ray reads this when it is imported: report to nobody, and listen on loopback only.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        if address == LOCAL:
            os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        try:
            ray: Any = import_module("ray")
        except ImportError as error:
            raise UsageError(
                N_("Work on several machines needs Ray."), to_install("ray")
            ) from error
        where: dict[str, Any] = {"address": address}
        if address == LOCAL:
            where |= {"num_cpus": workers * threads or None, "include_dashboard": False}
        try:
            ray.init(**where, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise NotFoundError(
                N_("There is no cluster of Ray at {address} ({problem})."),
                N_(
                    "Start one (ray start --head) and name it, or use: --ray local. One that asks "
                    "for a token wants RAY_AUTH_MODE=token."
                ),
                address=address,
                problem=error,
            ) from error
        except Exception as error:
            # Ray 2.60 (_private/node.py) raises a bare Exception if a node does not start in time,
            # because its processes die or the machine is busy.
            if type(error) is not Exception and not isinstance(error, OSError):
                raise
            raise ModelUnusable(
                N_("Ray does not start ({problem})."),
                N_("Read the logs in {logs}; if the machine is busy, try again later."),
                kind="ClusterLost",
                transient=True,
                problem=error,
                logs="/tmp/ray/session_latest/logs",  # noqa: S108 - where Ray writes it
            ) from error
        with ExitStack() as held:
            held.callback(ray.shutdown)
            own = ray.util.get_node_ip_address()
            if address == LOCAL and not ip_address(own).is_loopback:
                raise UsageError(
                    N_("Ray was imported before, and would listen on the network."),
                    N_("Import it after localrag has used it, or name a cluster of your own."),
                )
            processors = int(ray.cluster_resources().get("CPU", 1))
            size = workers or max(1, processors // threads)
            yield cls(ray, held, size, threads, at_once)

    def pool(self, errand: Errand) -> "Pool":
        """Start workers and wait for the first; they end with the cluster at the latest."""
        mark = ""
        if errand.workspace is not None:
            mark = self._held.enter_context(marked(errand.workspace))
        pool = Pool(self._ray, errand, mark, self._size, self._threads, self._at_once)
        self._held.callback(pool.close)
        pool.start()
        return pool

    def map_stream(
        self, work: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[tuple[Item, Result]]:
        with closing(self.pool(Errand(_Same(work)))) as pool:
            yield from map_threads(pool.call, items, pool.parallel)


@dataclass(frozen=True, slots=True)
class _Same:
    """Opens nothing: the work is complete as sent."""

    work: Callable[[Any], Any]

    @contextmanager
    def __call__(self, _home: Path) -> Iterator[Callable[[Any], Any]]:
        yield self.work


class Pool:
    """The workers of one errand; may be used from several threads.

    `parallel` counts calls at the same time.
    """

    def __init__(
        self, ray: Any, errand: Errand, mark: str, workers: int, threads: int, at_once: int
    ) -> None:
        self.parallel = workers * at_once
        self._ray = ray
        self._errand = errand
        self._mark = mark
        self._workers = workers
        self._at_once = at_once
        self._made = ray.remote(_Worker).options(num_cpus=threads, max_concurrency=at_once)
        self._idle: SimpleQueue[Any] = SimpleQueue()
        self._alive: set[Any] = set()
        self._changing = threading.Lock()
        self._carrying = threading.Lock()
        self._parcel: Parcel | None = None
        self._closed = False

    def start(self) -> None:
        """Start the workers and wait for the first; raises LocalragError."""
        for _ in range(self._workers):
            self._add()
        waiting = N_("No worker has started yet: the processors may all be busy.")
        late = threading.Timer(_LONG, _log.warning, [waiting])
        late.daemon = True
        late.start()
        try:
            self._idle.put(self._next())
        finally:
            late.cancel()

    def gather(self) -> None:
        """Wait until all workers are ready; raises LocalragError."""
        ready = [self._next() for _ in range(self.parallel)]
        for worker in ready:
            self._idle.put(worker)

    def call(self, item: Any, cancelled: Callable[[], bool] = lambda: False) -> Any:
        """Give a free worker a piece of work; raises Cancelled, ModelUnusable, Exception."""
        for _ in range(_TRIES):
            worker = self._next(cancelled)
            try:
                done = self._outcome(worker.do.remote(item), cancelled)
            except self._ray.exceptions.RayError as error:
                _log.warning(N_("A worker was lost; its work goes to another (%s)."), _brief(error))
                self._lost(worker)
                continue
            self._idle.put(worker)
            return done.result()
        raise _unusable("WorkerLost", N_("{n} workers were lost over this."), n=_TRIES)

    def close(self) -> None:
        with self._changing:
            self._closed = True
            workers, self._alive = self._alive, set()
        for worker in workers:
            self._ray.kill(worker)

    def _next(self, cancelled: Callable[[], bool] = lambda: False) -> Any:
        while True:
            try:
                found = self._idle.get(timeout=_GLANCE)
            except Empty:
                if cancelled():
                    raise Cancelled from None
                continue
            if isinstance(found, Exception):
                self._idle.put(found)  # For the others that wait.
                raise found
            if found in self._alive:
                return found

    def _outcome(self, reference: Any, cancelled: Callable[[], bool]) -> Outcome[Any]:
        while True:
            try:
                return cast("Outcome[Any]", self._ray.get(reference, timeout=_GLANCE))
            except self._ray.exceptions.GetTimeoutError:
                if cancelled():
                    raise Cancelled from None

    def _add(self) -> None:
        # The thread waits until there is room for the worker.
        threading.Thread(target=self._open, daemon=True).start()

    def _lost(self, worker: Any) -> None:
        with self._changing:
            is_known = worker in self._alive
            self._alive.discard(worker)
            if not is_known or self._closed:
                return
        self._add()

    def _open(self) -> None:
        """Start a worker; try again a few times if it is lost while it opens."""
        problem: Exception = RuntimeError()
        for _ in range(_TRIES):
            try:
                self._open_one()
            except self._ray.exceptions.RayError as error:
                if self._closed:
                    return
                problem = _unusable(
                    "ClusterLost",
                    N_("No worker can be started ({problem})."),
                    problem=_brief(error),
                )
            except Exception as error:  # noqa: BLE001 - the caller gets any error
                problem = error
                break
            else:
                return
        self._idle.put(problem)

    def _open_one(self) -> None:
        worker = self._made.remote(self._errand.opener, language.in_use())
        with self._changing:
            if self._closed:
                self._ray.kill(worker)
                return
            self._alive.add(worker)
        self._ray.get(worker.open.remote(self._home(worker))).result()
        for _ in range(self._at_once):
            self._idle.put(worker)

    def _home(self, worker: Any) -> str:
        workspace = self._errand.workspace
        if workspace is None:
            return ""
        if self._ray.get(worker.reaches.remote(str(workspace.home), self._mark)):
            return str(workspace.home)
        # One machine may have several workers: the others find what the first received.
        with self._carrying:
            if self._parcel is None:
                assert self._errand.config is not None
                self._parcel = Parcel.of(workspace, self._errand.corpus, self._errand.config)
            for file in self._ray.get(worker.lacks.remote(self._parcel)):
                sent = [self._ray.put(one) for one in _chunks_of(workspace.home / file.path)]
                self._ray.get(worker.take.remote(file.digest, *sent))
            return str(self._ray.get(worker.unpacked.remote(self._parcel)))


class _Worker:
    """Runs in a process of the cluster."""

    def __init__(self, opener: Opener, code: str) -> None:
        language.use(code)
        self._opener = opener
        self._opened = ExitStack()

    def reaches(self, home: str, mark: str) -> bool:
        return (Path(home) / mark).exists()

    def lacks(self, parcel: Parcel) -> list[Any]:
        return list(_shelf().lacks(parcel))

    def take(self, digest: str, *chunks: bytes) -> None:
        _shelf().take(digest, chunks)

    def unpacked(self, parcel: Parcel) -> str:
        return str(_shelf().unpacked(parcel))

    def open(self, home: str) -> Outcome[None]:
        return outcome(self._open, Path(home))

    def _open(self, home: Path) -> None:
        self._work = self._opened.enter_context(self._opener(home))

    def do(self, item: Any) -> Outcome[Any]:
        return outcome(self._work, item)


def _shelf() -> ReceivedContents:
    from platformdirs import user_cache_path

    return ReceivedContents(user_cache_path("localrag", appauthor=False) / "cluster")


def _brief(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


def _unusable(kind: str, cause: str, **fields: object) -> ModelUnusable:
    return ModelUnusable(
        cause,
        N_("See how the cluster is (ray status), then run the same command again."),
        kind=kind,
        transient=True,
        **fields,
    )
