"""One writer per corpus."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from localrag.durable import storing
from localrag.errors import BusyError
from localrag.language import N_, _
from localrag.locking import locked
from localrag.workspace import CorpusPaths


@contextmanager
def writing(paths: CorpusPaths) -> Iterator[None]:
    """Hold the right to write a corpus and its indexes.

    The system frees the lock when the process ends, however it ends. Who holds it is noted in a
    file beside, since a locked file cannot be read everywhere.

    Raises:
        BusyError: another process holds it; names the process.
        StorageError: the folder of the corpus cannot be written.
    """
    folder = paths.store.parent
    holder = folder / "writer.json"
    busy = BusyError(
        N_("The corpus {name!r} is being written by {holder}."),
        N_("Wait until it has finished, then try again."),
        name=paths.name,
        holder=_name(holder),
    )
    with ExitStack() as held:
        with storing(folder):
            held.enter_context(locked(folder / "writer.lock", busy))
            held.callback(holder.unlink, missing_ok=True)
            holder.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        yield


def _name(holder: Path) -> str:
    try:
        who = json.loads(holder.read_text(encoding="utf-8"))
        return _("process {pid} on {host}").format(pid=int(who["pid"]), host=str(who["host"]))
    except (OSError, ValueError, LookupError, TypeError):
        return _("another process")
