"""Waits for changes below folders (extra ``watch``).

The system reports changes. A folder without such reports (network drives) is looked through from
time to time. After any silence the caller looks through everything, so nothing stays unseen.
"""

import shlex
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Condition
from time import monotonic
from typing import TYPE_CHECKING, Self

from localrag.errors import NotFoundError, UsageError, to_install
from localrag.language import N_

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

_UNIT = """\
[Unit]
Description=localrag keeps a corpus like the files of folders

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=30
Nice=10

[Install]
WantedBy=default.target
"""
SETTLED = 2.0
"""Seconds without a change after which a burst of changes is over."""
LONGEST_BURST = 30.0
"""Seconds after which a burst is taken in, even if it goes on."""
# Opening and closing a file changes nothing.
_CHANGES = ("created", "modified", "moved", "deleted")


def absent(folders: Sequence[Path]) -> list[Path]:
    """The folders without any file: an unmounted drive is gone, or leaves an empty folder."""
    return [one for one in folders if not (one.is_dir() and any(one.iterdir()))]


class FolderWatch:
    """Watches folders; enter it to begin.

    Args:
        folders: watched to the bottom.
        every: seconds after which `wait` ends without a change.
        polling: seconds between two looks at the folders; 0 for the reports of the system.

    Raises:
        UsageError: the extra is missing.
        NotFoundError: there is no such folder.
    """

    def __init__(self, folders: Sequence[Path], every: float, polling: float = 0) -> None:
        if find_spec("watchdog") is None:
            raise UsageError(N_("Watching a folder needs watchdog."), to_install("watch"))
        for folder in folders:
            if not folder.is_dir():
                raise NotFoundError(N_("There is no folder {path}."), path=folder)
        self.polls = polling > 0
        self._folders = folders
        self._every = every
        self._polling = polling
        self._observer: BaseObserver | None = None
        self._changed = Condition()
        self._first = self._last = 0.0
        self._stopped = False

    def __enter__(self) -> Self:
        from watchdog.observers import Observer

        try:
            self._observe(self._polled() if self.polls else Observer())
        except OSError:
            # The system watches no more files (fs.inotify.max_user_watches).
            self.polls = True
            self._observe(self._polled())
        return self

    def __exit__(self, *_: object) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()

    def _polled(self) -> "BaseObserver":
        from watchdog.observers.polling import PollingObserver

        return PollingObserver(timeout=self._polling or self._every)

    def _observe(self, observer: "BaseObserver") -> None:
        from watchdog.events import FileSystemEventHandler

        handler = FileSystemEventHandler()
        handler.on_any_event = self._heard  # type: ignore[method-assign]
        for folder in self._folders:
            observer.schedule(handler, str(folder), recursive=True)
        observer.start()
        self._observer = observer

    def _heard(self, event: "FileSystemEvent") -> None:
        if event.event_type in _CHANGES:
            with self._changed:
                self._last = monotonic()
                self._first = self._first or self._last
                self._changed.notify_all()

    def stop(self) -> None:
        """End `wait`, now and later."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def wait(self, most: float | None = None) -> bool:
        """Wait until a burst of changes is over, or for the longest time.

        Args:
            most: seconds, in place of `every`.

        Returns:
            False after `stop`.
        """
        with self._changed:
            self._changed.wait_for(self._is_called, most or self._every)
            while not self._stopped and (left := self._unsettled()) > 0:
                self._changed.wait(left)
            self._first = 0.0
            return not self._stopped

    def _is_called(self) -> bool:
        return self._stopped or self._first > 0

    def _unsettled(self) -> float:
        """Seconds until a burst counts as over."""
        if not self._first:
            return 0
        now = monotonic()
        return min(self._last + SETTLED, self._first + LONGEST_BURST) - now


def unit(words: Sequence[str]) -> str:
    """A unit for systemd: the words of a command line without ``--service``."""
    program = str(Path(words[0]).resolve())
    paths = [str(Path(word).resolve()) if Path(word).is_dir() else word for word in words[1:]]
    command = [program, *(word for word in paths if word != "--service")]
    # systemd reads % as a specifier.
    return _UNIT.format(command=shlex.join(command).replace("%", "%%"))
