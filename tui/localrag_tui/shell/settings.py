"""The settings at the first paint, and while the application runs and their files change."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from localrag.config import Config, load
from localrag.config_sources import HasSettings, collect
from localrag.errors import ConfigError
from localrag.workspace import Workspace


class Look(NamedTuple):
    """What the first paint needs to know.

    Attributes:
        language, theme: as the settings say, else as chosen; "" where neither does.
        mode: the screen that was in view; "" where none was.
        keys: other keys, by the name of the action.
    """

    language: str
    theme: str
    mode: str
    keys: Mapping[str, str]


def look(workspace: HasSettings, overrides: Mapping[str, object], choices: Path) -> Look:
    """Read what the first paint needs; what it cannot read or understand it leaves out.

    Args:
        workspace: whose settings.
        overrides: settings of the command line, by dotted key.
        choices: the file of `Memory`.

    Raises:
        ConfigError: the settings are no TOML.
    """
    given = {key: value for key, (value, _) in collect(workspace, overrides).items()}
    chosen = _read(choices)
    keys = given.get("tui.keys")

    def of(name: str) -> str:
        setting = name if name == "language" else f"tui.{name}"
        said, remembered = given.get(setting), chosen.get(name)
        known = said if said not in (None, "auto") else remembered
        return known if isinstance(known, str) else ""

    return Look(
        of("language"), of("theme"), of("mode"), _texts(keys) if isinstance(keys, dict) else {}
    )


def _texts(table: Mapping[object, object]) -> dict[str, str]:
    return {
        name: value
        for name, value in table.items()
        if isinstance(name, str) and isinstance(value, str)
    }


def _read(path: Path) -> Mapping[str, object]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


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
