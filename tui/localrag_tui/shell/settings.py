"""The settings while the application runs: read once, and again when their files change."""

from collections.abc import Callable, Mapping
from pathlib import Path

from localrag.corpus.config import Config, load
from localrag.corpus.workspace import Workspace
from localrag.errors import ConfigError

_Stamp = tuple[tuple[int, int] | None, ...]


class Settings:
    """What the files of a workspace and the command line say; a fault in them ends nothing.

    Args:
        workspace: whose settings.
        overrides: settings of the command line, by dotted key.
        tell: shows an error; the settings that were valid last go on holding.

    Raises:
        ConfigError: they are not valid from the beginning.
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
        """The settings that hold for a corpus, or for the workspace; a look at the files' times."""
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
