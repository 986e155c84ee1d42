"""Forgetting for good: a conversation, a run, documents, or a corpus with everything derived.

Text deleted by `localrag remove` or the workbench can stay in free pages of a database. Here these
pages are overwritten (SQLite's ``secure_delete``), the file is rewritten and its log emptied. Files
are overwritten before they are unlinked. An SSD, a snapshot or a backup may keep the old blocks.
"""

import glob
import json
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from localrag.corpus.durable import storing
from localrag.corpus.ingest.remove import remove_corpus
from localrag.corpus.store import CorpusStore
from localrag.corpus.workspace import CorpusPaths, Workspace, writing
from localrag.errors import NotFoundError, UsageError
from localrag.evaluation.record import recorded
from localrag.language import N_
from localrag.ops.batch import registry
from localrag.ops.batch.document import rows_beside
from localrag.ops.batch.folder import BatchFolder
from localrag.ops.conversations.store import Conversations
from localrag.prepare.index import layers_begun
from localrag.prepare.layers import METADATA, DerivedLayer
from localrag.prepare.preparing import tell_apart
from localrag.search.finding import laws_called

_CHUNK = 1 << 20


def forget_searches(workspace: Workspace) -> None:
    """Forget the searches written by models; they are written again when needed.

    Every other function here does so too, because these searches repeat questions in other words.

    Raises:
        StorageError: a file cannot be removed.
    """
    _forget_folder(workspace.searches)


def forget_conversation(workspace: Workspace, conversation: int) -> None:
    """Forget a conversation with all its turns; raises NotFoundError, StorageError."""
    if not workspace.conversations.exists():
        raise NotFoundError(N_("There is no conversation yet."))
    forget_searches(workspace)
    with Conversations.open(workspace) as conversations:
        try:
            conversations.forget(conversation)
        except OverflowError as error:  # No number of a database is as large.
            raise NotFoundError(
                N_("There is no conversation {number}."),
                N_("Choose another one."),
                number=conversation,
            ) from error


def forget_corpus(workspace: Workspace, corpus: str) -> list[Path]:
    """Forget a corpus with its index, its vectors, its layers and its settings.

    Returns the files of batch answers with quotations from it; they stay. Raises NotFoundError,
    BusyError, StorageError.
    """
    batches = [batch for batch in registry.known(workspace) if batch.corpus == corpus]
    quoted = [path for one in batches for path in (one.out, *BatchFolder(one.out).documents())]
    remove_corpus(workspace, corpus, before=_overwrite)
    forget_searches(workspace)
    return [path for path in quoted if path.exists()]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The effect of forgetting documents.

    Attributes:
        documents: their ids, with all states of a law.
        rows: deleted rows of derived layers.
        stays: quoting batch answers, runs, and numbers of conversations.
    """

    documents: tuple[str, ...]
    rows: int
    stays: tuple[Path | int, ...]


def forget_documents(
    workspace: Workspace, corpus: str, names: Sequence[str], *, dry_run: bool = False
) -> Forgotten:
    """Forget documents of a corpus, and traces of removed documents.

    The indexes of the corpus and its layers are deleted as a whole: they mix the words of all
    documents. The undo data of the last update is deleted too. `names` are ids of
    documents or names of laws; none to wipe removed ones only. `dry_run` only reports.

    Raises:
        NotFoundError: there is no such corpus or document; nothing is removed.
        BusyError: another process is writing to the corpus, or reads it for long.
        StorageError: a file cannot be written or removed.
    """
    place = workspace.corpus(corpus)
    place.require()
    with writing(place), CorpusStore.open(place.store) as store:
        documents = tuple(dict.fromkeys(_document_called(store, name) for name in names))
        layers = [DerivedLayer(place, name) for name in layers_begun(place)]
        if dry_run:
            rows = sum(row.document in documents for layer in layers for row in layer.rows())
            return Forgotten(documents, rows, tuple(_quoting(workspace, documents)))
        store.forget(documents)
        rows = sum(map(partial(_forget_rows, place, documents), layers))
        with storing(place.store):
            told_apart = DerivedLayer(place, METADATA)
            if documents and told_apart.is_there:
                tell_apart(store, told_apart)
            for path in place.store.parent.glob("update-*.undo"):
                _forget_file(path)
        for folder in (place.layer_words, place.layer_vectors, place.indexes, workspace.searches):
            _forget_folder(folder)
    return Forgotten(documents, rows, tuple(_quoting(workspace, documents)))


def _document_called(store: CorpusStore, name: str) -> str:
    """The id of a document, from its id or the title of a law; raises NotFoundError, UsageError."""
    try:
        return store.document(name).id
    except NotFoundError:
        laws = laws_called(store, name) if store.is_of_laws or store.laws() else ()
        if not laws:
            raise
    if len(laws) > 1:
        raise UsageError(
            N_("{name!r} can mean {n:,} laws."),
            N_("Give the id of one: {ids}"),
            name=name,
            n=len(laws),
            ids=", ".join(laws),
        )
    return laws[0]


def _forget_rows(place: CorpusPaths, documents: Collection[str], layer: DerivedLayer) -> int:
    """Delete and wipe the rows of a layer made from documents; returns their number."""
    path = place.layers / f"{layer.name}.jsonl"
    with layer.opened(), storing(path), path.open("r+b") as before:
        gone = layer.drop(documents)
        if gone:
            # The remaining rows are in a new file now.
            _fill(before)
    return gone


def _quoting(workspace: Workspace, documents: Collection[str]) -> Iterator[Path | int]:
    """Batch answers, files of runs and conversations with quotations of documents."""
    if not documents:
        return
    marks = [json.dumps(id_, ensure_ascii=False)[1:-1].encode() + b"#" for id_ in documents]
    # For workbooks and Word files the JSON rows are searched.
    batches = [batch.out for batch in registry.known(workspace) if batch.out.exists()]
    runs = [path for path in workspace.runs.rglob("*") if path.is_file()]
    for path in dict.fromkeys((*batches, *runs)):
        if _holds(path, marks):
            yield path
    if workspace.conversations.exists():
        with Conversations.open(workspace) as conversations:
            for conversation in conversations.list():
                quoted = {
                    passage.rpartition("#")[0]
                    for turn in conversations.turns(conversation.id)
                    for passage in turn.passages
                }
                if quoted.intersection(documents):
                    yield conversation.id


def _holds(path: Path, marks: Sequence[bytes]) -> bool:
    with storing(path), path.open("rb") as file:
        return any(mark in line for line in file for mark in marks)


def set_aside(workspace: Workspace, place: Path) -> list[Path]:
    """Former workspaces, set aside by a restore, with this file or folder in them."""
    home = workspace.home
    if not place.is_relative_to(home):
        return []
    folders = sorted(home.parent.glob(f"{glob.escape(home.name)}.before-*"))
    return [one for one in folders if (one / place.relative_to(home)).exists()]


def forget_run(workspace: Workspace, run: str) -> None:
    """Forget a run: a batch by its file of answers, others by their folder below ``runs``.

    `run` is the file of answers (the rows, or one made from them), ``eval/DATASET/NAME`` or
    ``optimize/NAME``. Answers of an evaluation are deleted unless another one uses them.

    Raises:
        NotFoundError: there is no such run.
        UsageError: it is running.
        StorageError: a file cannot be removed, or the runs may not be read.
    """
    batches = registry.known(workspace)
    runs = workspace.runs.resolve()
    folder = (runs / run).resolve()
    if folder.is_dir() and folder.parent != runs and folder.parent.is_relative_to(runs):
        # The record is deleted last: it lists the answers of the run.
        for path in sorted(_own_answers(workspace, folder)):
            _forget_folder(path)
        _forget_folder(folder)
        forget_searches(workspace)
        return
    named = Path(run).resolve()
    rows = (named, rows_beside(named))
    batch = next((one for one in batches if one.out in rows), None)
    if batch is None:
        raise NotFoundError(
            N_("There is no run {run!r}."),
            N_("Name the file of answers of a batch, eval/DATASET/NAME or optimize/NAME."),
            run=run,
        )
    beside = BatchFolder(batch.out)
    if beside.busy:
        raise UsageError(N_("{run} is running."), N_("Stop it first."), run=run)
    for path in (batch.out, *beside.documents()):
        _forget_file(path)
    _forget_folder(beside.path)
    registry.forget(workspace, batch)
    forget_searches(workspace)


def _own_answers(workspace: Workspace, run: Path) -> set[Path]:
    """The folders of answers used by this evaluation only."""
    own: set[Path] = set()
    others: set[Path] = set()
    for folder, found in recorded(workspace):
        named = own if folder.resolve() == run else others
        for entry in found.entries:
            named |= {(workspace.home / path).parent for path in entry.answers}
    return own - others


def _forget_folder(folder: Path) -> None:
    with storing(folder):
        _overwrite(folder)
        if folder.exists():
            shutil.rmtree(folder)


def _forget_file(path: Path) -> None:
    with storing(path):
        _overwrite(path)
        path.unlink(missing_ok=True)


def _overwrite(root: Path) -> None:
    """Write zeros over a file, or over files of a folder without other hard links."""
    for path in [root, *root.rglob("*")] if root.is_dir() else [root]:
        if path.is_symlink() or not path.is_file() or path.stat().st_nlink > 1:
            continue
        with path.open("r+b") as file:
            _fill(file)


def _fill(file: IO[bytes]) -> None:
    """Write zeros over an open file."""
    left = os.fstat(file.fileno()).st_size
    file.seek(0)
    while left > 0:
        left -= file.write(bytes(min(left, _CHUNK)))
    file.flush()
    with suppress(OSError):
        os.fsync(file.fileno())
