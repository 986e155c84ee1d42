"""Where settings come from: localrag.toml, the corpus, the environment, flags.

Later ones win over earlier ones; a corpus can have settings of its own for retrieval alone. Keys
are written with dots (``retrieval.k``), in the environment in capitals with two underscores in the
place of the dot (``LOCALRAG_RETRIEVAL__K``).
"""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from localrag.errors import ConfigError, UsageError
from localrag.language import N_, _

_PREFIX = "LOCALRAG_"
# Variables that begin with the prefix and are no settings.
_OTHER_VARIABLES = {
    "LOCALRAG_HOME",
    "LOCALRAG_DEBUG",
    "LOCALRAG_SHARED_DATA",
    "LOCALRAG_TEST_VOCABULARY",
}

_TABLES = {"tui.keys"}
"""Settings whose value is a table."""
_DEEPEST = 3
FLAG = "flag"
"""The source of a setting that is given with a call."""
_MOST_DOTS = 200


class HasSettings(Protocol):
    """What of a workspace, or of a corpus, is needed here."""

    @property
    def settings(self) -> Path:
        """The settings file, which need not exist."""


def collect(
    workspace: HasSettings, overrides: Mapping[str, object], corpus: HasSettings | None = None
) -> dict[str, tuple[object, str]]:
    """Collect values with the names of their sources, by dotted key; arguments as `config.load`.

    Nothing is validated but what a file is: whether there is such a key, and which values it takes,
    `config` knows.

    Raises:
        ConfigError: a file is no TOML, or a corpus has settings that it cannot have.
    """
    found: dict[str, tuple[object, str]] = {}
    for key, value in _flatten(_read(workspace.settings)):
        found[key] = (value, workspace.settings.name)
    if corpus is not None:
        found |= _of_corpus(corpus)
    for variable, text in os.environ.items():
        if variable.startswith(_PREFIX) and variable not in _OTHER_VARIABLES:
            key = variable.removeprefix(_PREFIX).lower().replace("__", ".")
            found[key] = (text, variable)
    for key, given in overrides.items():
        if given is not None:
            found[key] = (given, FLAG)
    return found


def parse_assignments(assignments: Iterable[str]) -> dict[str, str]:
    """Read the flags ``--set KEY=VALUE``: settings by dotted key.

    Raises:
        UsageError: one is no assignment.
    """
    overrides = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                N_("--set {assignment!r} is no assignment."),
                N_("Write it as --set retrieval.k=20."),
                assignment=assignment,
            )
        overrides[key.strip()] = value.strip()
    return overrides


def change_setting(workspace: HasSettings, key: str, value: str | int | float | bool) -> None:
    """Write a value into the settings file of a workspace; its comments stay.

    Args:
        workspace: whose file.
        key: with dots, ``retrieval.k``; whether there is such a setting, `config` knows.
        value: a line of text, a number, true or false.

    Raises:
        ConfigError: the file cannot be read or written, or is laid out in a way that a line put
            into it does not change the value.
    """
    from localrag.durable import replace_text

    path = workspace.settings
    _read(path)
    *sections, name = key.split(".")
    header = f"[{'.'.join(sections)}]" if sections else ""
    lines = path.read_text(encoding="utf-8-sig").splitlines() if path.exists() else []
    written = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    starts = [at for at, line in enumerate(lines) if line.lstrip().startswith("[")]
    headers = [at for at in starts if lines[at].partition("#")[0].strip() == header]
    if header and not headers:
        lines += ["", header, written]
    else:
        begin = headers[0] + 1 if header else 0
        end = next((at for at in starts if at >= begin), len(lines))
        own = [at for at in range(begin, end) if re.match(rf"{re.escape(name)}\s*=", lines[at])]
        default = [at for at in range(begin, end) if re.match(rf"#{re.escape(name)} =", lines[at])]
        if own:
            lines[own[0]] = written
        elif default:
            lines[default[0]] = written
        else:
            lines.insert(begin, written)
    text = "\n".join(lines) + "\n"
    try:
        if dict(_flatten(tomllib.loads(text))).get(key) != value:
            raise ValueError(key)
        replace_text(path, text)
    except (OSError, ValueError) as error:
        raise ConfigError(
            N_("{key} could not be changed in {path}."),
            N_("Write it there yourself: {line}"),
            key=key,
            path=path,
            line=written,
        ) from error


def _of_corpus(corpus: HasSettings) -> dict[str, tuple[object, str]]:
    path = corpus.settings
    name = f"{path.parent.name}/{path.name}"
    found = {}
    for key, value in _flatten(_read(path)):
        if not key.startswith("retrieval."):
            raise ConfigError(
                N_(
                    "{name}: a corpus can have settings of its own for retrieval only, not {key!r}."
                ),
                N_("Move it to localrag.toml, or delete {path}."),
                name=name,
                key=key,
                path=path,
            )
        found[key] = (value, name)
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        # Reading a key takes Python as long as the square of its parts.
        if max((line.count(".") for line in text.splitlines()), default=0) > _MOST_DOTS:
            raise ValueError(_("a line has more than {n} dots").format(n=_MOST_DOTS))
        return tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            N_("{path} cannot be read ({problem})."),
            N_("Mend the line, or delete the file: localrag init writes a new one."),
            path=path,
            problem=error,
        ) from error


def _flatten(tree: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        # No setting lies deeper, and a file may be nested as deeply as it is long.
        deeper = prefix.count(".") < _DEEPEST and f"{prefix}{name}" not in _TABLES
        if isinstance(value, dict) and deeper:
            yield from _flatten(cast("dict[str, object]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
