"""How the workbench looks at first: what is known before anything is validated.

Validating the settings and the choices takes a fifth of the time that the first paint has. What is
wrong with them is told as soon as they are needed, just after it: nothing here imports pydantic.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from localrag.config_sources import HasSettings, collect


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
