"""Bring a dataset from a folder, or its questions by download, into the workspace.

The folder has the declared layout. Work already done is skipped: files are compared by hash, and
the corpus continues as in `localrag.corpus.ingest`.

Gold passages missing from the corpus become documents. Each line of such a file of excerpts is a
JSON object with ``law_id`` (null outside statutes), ``law_title``, ``article`` and ``text``.

A download connects only to the addresses in the declaration.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.config import Config
from localrag.corpus.durable import make_folder, open_file
from localrag.corpus.ingest.add import AddReport
from localrag.corpus.ingest.add import add as add_files
from localrag.corpus.ingest.events import Listener
from localrag.corpus.ingest.reading import limits_of
from localrag.corpus.types import Locator
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, LocalragError, NotFoundError, UsageError
from localrag.evaluation.datasets.keeping import (
    DECLARATION,
    DOWNLOAD,
    EXCERPTS,
    LARGEST,
    UNDECLARED,
    DatasetFolder,
    content_of,
    digest,
    require_hash,
)
from localrag.evaluation.datasets.loading import corpus_name, find, require_own_name
from localrag.evaluation.datasets.readers import Sources, read
from localrag.evaluation.datasets.readers.entries import Fields, entries, required, text
from localrag.evaluation.recall import JOINT
from localrag.evaluation.types import Dataset, Split
from localrag.language import N_, _
from localrag.law.notation import cite
from localrag.search.indexing.index import IndexReport, index_as_set
from localrag.text.progress import ignore

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Missing:
    """A missing file or folder of a declaration."""

    path: str
    hint: str = ""  # how to get it; may be ""


@dataclass(frozen=True, slots=True)
class Brought:
    """Result of bringing in a dataset."""

    dataset: Dataset
    new: tuple[str, ...] = ()  # splits with a new or changed file
    unchanged: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()  # neither in the folder nor in the workspace
    added: AddReport | None = None  # added, indexed: results for the corpus; None if it was missing
    indexed: IndexReport | None = None

    @property
    def failed(self) -> bool:
        """Whether a file of the corpus was not entered."""
        reports = (self.added, self.indexed)
        return any(report is not None and report.failed for report in reports)


def add(
    workspace: Workspace,
    name_or_path: str,
    folder: Path,  # in the declared layout; parts may be missing
    config: Config,
    *,
    on_event: Listener = ignore,
) -> Brought:
    """Bring in a folder's part of a dataset. Repeating it continues, or changes nothing."""
    dataset, declaration = _declared(workspace, name_or_path)
    files = [split.file for split in dataset.splits]
    parts = (*files, *dataset.synonyms, *dataset.corpus, *dataset.excerpts)
    there = {path: inside(folder, path) for path in parts}
    if not any(there.values()):
        raise NotFoundError(
            N_("{folder} has nothing of the dataset {dataset}."),
            N_("It declares: {names}."),
            folder=folder,
            dataset=dataset.name,
            names=", ".join(there),
        )
    shelf = DatasetFolder.of(workspace, dataset.name)
    outcome: dict[bool, list[str]] = {True: [], False: []}
    with shelf.held():
        if declaration:
            shelf.land(DECLARATION, content_of(declaration), str(declaration))
        for split in dataset.splits:
            if path := there[split.file]:
                changed = take(shelf, dataset, split, content_of(path), str(path))
                outcome[changed].append(split.name)
        for file in dataset.synonyms:
            if path := there[file]:
                shelf.land(file, content_of(path), str(path))
        corpus = [path for part in dataset.corpus if (path := there[part])]
        corpus += [
            _excerpts(shelf, part, path) for part in dataset.excerpts if (path := there[part])
        ]
        reports = _corpus(workspace, dataset, corpus, config, on_event) if corpus else (None, None)
    absent = [path for path, found in there.items() if not found]
    missing = missing_of(dataset, [path for path in absent if not (shelf.folder / path).is_file()])
    return Brought(dataset, tuple(outcome[True]), tuple(outcome[False]), missing, *reports)


def take(shelf: DatasetFolder, dataset: Dataset, split: Split, content: bytes, source: str) -> bool:
    """Store the file of a split, if it is as declared; returns whether anything changed."""
    require_hash(
        source,
        content,
        split.sha256,
        dataset.name,
        UNDECLARED,
        N_("Get the file again from the publisher of the dataset."),
    )
    # Names of laws are not needed to check the questions.
    read(dataset.reader, split.file, content, Sources())
    return shelf.land(split.file, content, source)


def missing_of(dataset: Dataset, paths: Sequence[str]) -> tuple[Missing, ...]:
    """Missing parts, with a hint or the command to fetch them."""
    fetched = _("Fetch it: localrag data download {dataset}").format(dataset=dataset.name)
    hints = {split.file: fetched for split in dataset.splits if split.url} | dict(dataset.hints)
    return tuple(Missing(path, hints.get(path, "")) for path in paths)


def inside(folder: Path, relative: str) -> Path | None:
    """A file or folder below `folder`; None if it is missing. An `InputError` for a link."""
    try:
        if not folder.is_dir():
            raise NotFoundError(
                N_("There is no folder {folder}."), N_("Check the spelling."), folder=folder
            )
        path = folder
        for part in Path(relative).parts:
            path = path / part
            _refuse_link(path)
        for below, folders, files in os.walk(path):
            for name in (*folders, *files):
                _refuse_link(Path(below, name))
        return path if path.exists() else None
    except OSError as error:
        raise InputError(
            N_("{folder} cannot be looked through ({problem})."),
            N_("Check the path and its permissions."),
            folder=folder,
            problem=error,
        ) from error


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise InputError(
            N_("{path} is a link, which can lead out of the folder."),
            N_("Put the file itself in its place."),
            path=path,
        )


def _corpus(
    workspace: Workspace,
    dataset: Dataset,
    paths: Sequence[Path],
    config: Config,
    on_event: Listener,
) -> tuple[AddReport, IndexReport]:
    name = corpus_name(dataset)
    limits = limits_of(config)
    workers = config.ingest.processes
    added = add_files(workspace, name, paths, workers=workers, limits=limits, on_event=on_event)
    return added, index_as_set(workspace, name, config, on_event=on_event)


def _declared(workspace: Workspace, name_or_path: str) -> tuple[Dataset, Path | None]:
    """The dataset, and its declaration if the workspace has none."""
    found = find(workspace, name_or_path)
    path = Path(name_or_path).expanduser()
    if path.suffix.lower() == ".toml":
        require_own_name(found.dataset)
        return found.dataset, path
    if path.suffix:
        _refuse_undeclared(path)
    return found.dataset, None


def _refuse_undeclared(path: Path) -> None:
    if path.is_file():
        raise UsageError(
            N_("{path} declares no dataset."),
            N_(
                "A file of questions is evaluated as it is: localrag eval FILE. Or "
                "declare it in a .toml file."
            ),
            path=path,
        )


def _excerpts(shelf: DatasetFolder, part: str, path: Path) -> Path:
    try:
        documents = as_documents(str(path), content_of(path)).encode()
    except LocalragError as error:
        raise InputError(error.cause, error.cure or N_("Mend this line.")) from error
    file = f"{EXCERPTS}/{Path(part).stem}.jsonl"
    shelf.land(file, documents, str(path))
    return shelf.folder / file


def as_documents(name: str, content: bytes) -> str:
    """The excerpts of a file as documents ``{id, title, text}``, one JSON object a line."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in _documents(name, content))


def _documents(name: str, content: bytes) -> Iterator[dict[str, str]]:
    for number, (where, entry) in enumerate(entries(name, content)):
        try:
            if isinstance(entry, InputError):
                raise entry
            yield _document(number, entry)
        except InputError as defect:
            raise InputError(f"{name}, {where}: {defect.cause}", defect.cure) from defect


def _document(number: int, entry: Fields) -> dict[str, str]:
    law_id, title = text(entry, "law_id"), required(entry, "law_title")
    article, content = text(entry, "article"), required(entry, "text")
    place = cite(title, Locator(article=article)) if law_id else f"{title} {article}".strip()
    return {
        "id": JOINT.join((law_id or title, article, str(number))),
        "title": place,
        "text": content,
    }


OnProgress = Callable[[str, int, int], None]
"""Called with a file, the bytes received, and its size (0 if unknown)."""

_TIMEOUT = 30.0
"""Seconds without a sign of life of the server."""
_ELSEWHERE = N_(
    "Without a network, fetch it on another machine and bring it in from a folder: localrag data "
    "add {dataset} FOLDER"
)
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def download(
    workspace: Workspace,
    name_or_path: str,
    *,
    on_progress: OnProgress = lambda *_: None,  # called with the bytes received
) -> Brought:
    """Download missing files of a dataset, and check their hashes.

    An interrupted download continues if its hash is declared; otherwise it starts again. An
    `InputError` if a server fails, or redirects to an address without https.
    """
    dataset, folder = find(workspace, name_or_path)
    if folder.parent != workspace.datasets:
        raise UsageError(
            N_("{dataset} is not in the workspace."),
            N_("Bring it in with its files: localrag data add {dataset} FOLDER"),
            dataset=name_or_path,
        )
    if not any(split.url for split in dataset.splits):
        raise UsageError(
            N_("No file of {dataset} has an address."),
            N_("Bring them in from a folder: localrag data add {dataset} FOLDER"),
            dataset=dataset.name,
        )
    shelf = DatasetFolder.of(workspace, dataset.name)
    new, unchanged = [], []
    with shelf.held():
        for split in dataset.splits:
            if not split.url:
                continue
            if _is_here(shelf, split):
                unchanged.append(split.name)
                continue
            with _growing(shelf, split) as part:
                _fetch(part, shelf, dataset, split, on_progress)
            try:
                take(shelf, dataset, split, content_of(part), split.url)
            finally:
                # A complete file is in its place; any other differs from the declaration.
                part.unlink(missing_ok=True)
            new.append(split.name)
    without = [split.file for split in dataset.splits if not split.url]
    missing = [path for path in without if not (shelf.folder / path).is_file()]
    if not workspace.corpus(dataset.name).store.exists():
        missing += [*dataset.corpus, *dataset.excerpts]
    return Brought(dataset, tuple(new), tuple(unchanged), missing_of(dataset, missing))


def _is_here(shelf: DatasetFolder, split: Split) -> bool:
    path, arrival = shelf.folder / split.file, shelf.received().get(split.file)
    expected = split.sha256 or (arrival.sha256 if arrival else "")
    return bool(expected) and path.is_file() and digest(content_of(path)) == expected


@contextmanager
def _growing(shelf: DatasetFolder, split: Split) -> Iterator[Path]:
    """The partial file of a download; a stopped one stays only if it can be continued."""
    part = shelf.folder / f"{split.file}{DOWNLOAD}"
    try:
        yield part
    except BaseException:
        with suppress(OSError):
            if not split.sha256 or not part.stat().st_size:
                part.unlink()
        raise


def _fetch(
    part: Path, shelf: DatasetFolder, dataset: Dataset, split: Split, on_progress: OnProgress
) -> None:
    import httpx

    headers = {"Accept-Encoding": "identity"}
    with shelf.writing():
        make_folder(part.parent)
        have = part.stat().st_size if part.exists() and split.sha256 else 0
        open_file(part, "ab").close()
    if have:
        headers["Range"] = f"bytes={have}-"
    hooks: dict[str, list[Callable[..., None]]] = {
        "request": [partial(_require_https, dataset, split)]
    }
    with (
        _told(dataset, split),
        httpx.Client(timeout=_TIMEOUT, follow_redirects=True, event_hooks=hooks) as client,
        client.stream("GET", split.url, headers=headers) as response,
    ):
        if response.status_code == 416:  # All of it is here already.
            return
        if response.status_code not in (200, 206):
            raise InputError(
                N_("{url} answers with status {status}."),
                _ELSEWHERE,
                url=split.url,
                status=response.status_code,
                dataset=dataset.name,
            )
        if "content-encoding" in response.headers:
            raise InputError(
                N_("{url} sends a packed file."), _ELSEWHERE, url=split.url, dataset=dataset.name
            )
        with shelf.writing(), open_file(part, "ab") as writer:
            if response.status_code == 200 or not have:
                writer.truncate(0)
                have = 0
            total = have + int(response.headers.get("content-length") or 0)
            for chunk in response.iter_raw():
                have += len(chunk)
                if max(have, total) > LARGEST:
                    writer.truncate(0)
                    raise InputError(
                        N_("{url} sends more than {most:,} bytes."),
                        _ELSEWHERE,
                        url=split.url,
                        most=LARGEST,
                        dataset=dataset.name,
                    )
                writer.write(chunk)
                on_progress(split.file, have, max(have, total))


def _require_https(dataset: Dataset, split: Split, request: "httpx.Request") -> None:
    """Refuse a request, or a redirect, to an address without https."""
    import httpx

    url, declared = request.url, httpx.URL(split.url)
    # An https address must not lead to this machine.
    if url.scheme == "https" or (declared.scheme == "http" and url.host in _THIS_MACHINE):
        return
    if url == declared:
        raise UsageError(
            N_("{url} is no address of https."),
            N_("Correct the declaration of the dataset."),
            url=url,
        )
    raise InputError(
        N_("{declared} sends us on to {url}, which is no address of https."),
        _ELSEWHERE,
        declared=declared,
        url=url,
        dataset=dataset.name,
    )


@contextmanager
def _told(dataset: Dataset, split: Split) -> Iterator[None]:
    import httpx

    try:
        yield
    # A proxy of the environment may need a missing package.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:
        raise InputError(
            N_("{url} cannot be fetched ({problem})."),
            N_(
                "Check the network and try again. Without a network, fetch it on another machine "
                "and bring it in from a folder: localrag data add {dataset} FOLDER"
            ),
            url=split.url,
            problem=str(error) or type(error).__name__,
            dataset=dataset.name,
        ) from error
