"""Download the questions of a dataset, only from the addresses in the declaration."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.corpus.durable import make_folder, open_file
from localrag.corpus.workspace import Workspace
from localrag.errors import InputError, UsageError
from localrag.evaluation.datasets.acquiring import Brought, missing_of, take
from localrag.evaluation.datasets.keeping import DOWNLOAD, LARGEST, Shelf, content_of, digest
from localrag.evaluation.datasets.loading import find
from localrag.evaluation.types import Dataset, Split
from localrag.language import N_

if TYPE_CHECKING:
    import httpx

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
    shelf = Shelf.of(workspace, dataset.name)
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


def _is_here(shelf: Shelf, split: Split) -> bool:
    path, arrival = shelf.folder / split.file, shelf.received().get(split.file)
    expected = split.sha256 or (arrival.sha256 if arrival else "")
    return bool(expected) and path.is_file() and digest(content_of(path)) == expected


@contextmanager
def _growing(shelf: Shelf, split: Split) -> Iterator[Path]:
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
    part: Path, shelf: Shelf, dataset: Dataset, split: Split, on_progress: OnProgress
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
