"""What undoing the last update of a corpus takes: its steps, each with the text that it took away.

They lie in one file beside the store, compressed. The number in its name is also in the store,
written by the transaction that applied the update: a file whose number the store does not have is
what an update left that was stopped before its end, or that another one followed, and is removed.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, cast

from pydantic import TypeAdapter, ValidationError

from localrag.corpus.durable import replacing
from localrag.corpus.rows import DocumentRows
from localrag.corpus.workspace import CorpusPaths
from localrag.errors import StoreError
from localrag.language import N_

_UNFINISHED = "update.new"
_BEFORE = N_("Add the archive before it once more, or put back a backup: localrag restore FILE")


class LawChangeKind(StrEnum):
    """What an update did with one state of a law."""

    ADDED = "added"
    AMENDED = "amended"
    CORRECTED = "corrected"
    REPEALED = "repealed"
    WITHDRAWN = "withdrawn"


REMOVING = (LawChangeKind.REPEALED, LawChangeKind.WITHDRAWN)
"""The kinds by which a text leaves the corpus."""


@dataclass(frozen=True, slots=True)
class LawChange:
    """What an update did with one state of a law.

    Attributes:
        kind: a law that the corpus did not have is added; amended is one that got a further state;
            corrected, a state that got another text; repealed, a law that a whole archive lacks;
            withdrawn, a state not in force yet that a whole archive lacks.
        law_id, title: of the law.
        state: the day from which this text is in force (ISO); "" where its file does not tell.
        earlier: of an amended law the state before; "" where that has no date, or is none.
    """

    kind: LawChangeKind
    law_id: str
    title: str
    state: str
    earlier: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A change, and what undoing it takes.

    Attributes:
        change: what it is.
        document: id of the state in the store.
        after: fingerprint of the text that the update put there; "" where it removed it.
        before: what was there before; None where nothing was.
        file: path of the file that it had been read from; "" where it was of none.
    """

    change: LawChange
    document: str
    after: str
    before: DocumentRows | None
    file: str


_adapter = TypeAdapter(Step)


def undo_file(place: CorpusPaths, number: int) -> Path:
    """Where the steps of an update lie."""
    return place.store.with_name(f"update-{number}.undo")


@contextmanager
def keeping_steps(place: CorpusPaths, number: int) -> Iterator[Callable[[Step], None]]:
    """Write the steps of an update, on the disk when the block ends; none where it fails.

    Raises:
        OSError: the file cannot be written.
    """
    aside = place.store.with_name(_UNFINISHED)
    # The day that gzip writes into its head is none of the content.
    with (
        replacing(undo_file(place, number), aside) as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
    ):
        yield lambda step: _write(cast(IO[bytes], packed), step)


def _write(packed: IO[bytes], step: Step) -> None:
    packed.write(_adapter.dump_json(step) + b"\n")


def steps(place: CorpusPaths, number: int) -> Iterator[Step]:
    """Read the steps of an update, in the order in which they were done.

    Raises:
        StoreError: the file is missing or damaged.
    """
    path = undo_file(place, number)
    try:
        with gzip.open(path) as lines:
            for line in lines:
                yield _adapter.validate_json(line)
    except (gzip.BadGzipFile, EOFError, zlib.error, ValidationError) as error:
        raise StoreError(
            N_("What undoing the update needs is damaged: {path}."), _BEFORE, path=path
        ) from error
    except OSError as error:
        raise StoreError(
            N_("What undoing the update needs cannot be read ({path}: {problem})."),
            _BEFORE,
            path=path,
            problem=error,
        ) from error


def sweep(place: CorpusPaths, number: int) -> None:
    """Remove what updates have left beside the store, but for the one of a number.

    Raises:
        OSError: a file cannot be removed.
    """
    kept = undo_file(place, number)
    for path in [*place.store.parent.glob("update-*.undo"), kept.with_name(_UNFINISHED)]:
        if path != kept:
            path.unlink(missing_ok=True)
