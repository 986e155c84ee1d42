"""The workspace: one folder that holds everything localrag keeps.

::

    localrag.toml               settings
    models/                     weights of models
    corpora/<name>/corpus.sqlite
    corpora/<name>/settings.toml  settings of this corpus alone, if any
    corpora/<name>/layers/      derived layers, hours of a model's work
    indexes/<name>/             derived from the corpus, disposable
    prompts/                    optimised prompts
    datasets/                   questions to evaluate with
    runs/                       evaluations, optimisations, notes of batches
    searches/                   searches that a model wrote, disposable
    servers.json                ways in which model servers bind replies, disposable
    conversations.sqlite        questions and answers of the workbench
    tokens.toml                 digests of the tokens of the server
    bundles                     hashes of files from bundles

The folder can be copied to another machine. A corpus notes the paths of its source files to
recognise them when they are added again; answers never open them.

Settings come from localrag.toml, the corpus (for retrieval only), the environment and flags; later
sources override earlier ones. Keys have dots (``retrieval.k``), in the environment capitals and two
underscores (``LOCALRAG_RETRIEVAL__K``).
"""

import json
import os
import re
import socket
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, cast

from localrag.corpus.durable import (
    locked,
    make_folder,
    open_file,
    readers,
    replace_text,
    settle,
    storing,
)
from localrag.errors import (
    BusyError,
    ConfigError,
    NotFoundError,
    StorageError,
    UsageError,
    WorkspaceError,
)
from localrag.language import N_, _, in_use

HOME_VARIABLE = "LOCALRAG_HOME"

# No dot or hyphen first: a name is never hidden, `..` or an option.
_NAME = re.compile(r"\w[\w.-]{0,63}")
_RESERVED_ON_WINDOWS = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|.*\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CorpusPaths:
    """The paths of a corpus: its store (a file) and its indexes (a folder)."""

    name: str
    store: Path
    indexes: Path

    @property
    def settings(self) -> Path:
        """Settings file of this corpus; may be missing."""
        return self.store.with_name("settings.toml")

    @property
    def layers(self) -> Path:
        """Folder of the derived layers; may be missing."""
        return self.store.with_name("layers")

    @property
    def layer_words(self) -> Path:
        """Folder of the word index of the layers."""
        return self.layers / "words"

    @property
    def layer_vectors(self) -> Path:
        """Folder of the vector index of the layers."""
        return self.layers / "vectors"

    @property
    def bm25(self) -> Path:
        """Folder of the BM25 index."""
        return self.indexes / "bm25"

    @property
    def questions(self) -> Path:
        """Folder of the BM25 index of predicted questions."""
        return self.indexes / "questions"

    @property
    def vectors(self) -> Path:
        """Folder of the vector index and of finished vectors."""
        return self.indexes / "vectors"

    def settle(self) -> None:
        """Set the modes of its files; see `localrag.corpus.durable.settle`."""
        Workspace(self.store.parents[2]).settle()

    @property
    def identity(self) -> tuple[int, int] | None:
        """Device and inode of the store; None if there is none.

        A removed or replaced corpus stays readable to processes with the old file open.
        """
        try:
            status = self.store.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def require(self) -> None:
        """Check that the corpus exists, without touching it. Raises `NotFoundError`."""
        if not self.store.exists():
            raise NotFoundError(
                N_("There is no corpus {name!r}."),
                N_("List the corpora: localrag list. Add documents: localrag add PATH"),
                name=self.name,
            )


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace folder; may be missing."""

    home: Path

    @classmethod
    def locate(cls, home: Path | None = None) -> Self:
        """Find the workspace, or where it will be.

        `home`, else ``LOCALRAG_HOME``, else the user's data folder. Raises `UsageError` if the path
        names a user who does not exist, or is not valid Unicode.
        """
        chosen = home or os.environ.get(HOME_VARIABLE)
        if not chosen:
            # Imported late: most calls name their home.
            from platformdirs import user_data_path

            chosen = user_data_path("localrag", appauthor=False)
        try:
            home = Path(chosen).expanduser().absolute()
            str(home).encode()
        except (RuntimeError, UnicodeEncodeError) as error:
            raise UsageError(
                N_("{chosen!r} cannot be the folder of a workspace ({problem})."),
                N_("Choose another folder with --home or {variable}."),
                chosen=str(chosen),
                problem=error,
                variable=HOME_VARIABLE,
            ) from error
        return cls(home)

    @property
    def settings(self) -> Path:
        """The settings file; may be missing."""
        return self.home / "localrag.toml"

    @property
    def models(self) -> Path:
        """Folder of the models."""
        return self.home / "models"

    @property
    def runs(self) -> Path:
        """Folder of the runs."""
        return self.home / "runs"

    @property
    def prompts(self) -> Path:
        """Folder of the optimised prompts."""
        return self.home / "prompts"

    @property
    def datasets(self) -> Path:
        """Folder of the datasets."""
        return self.home / "datasets"

    @property
    def searches(self) -> Path:
        """Folder of the searches written by a model; may be missing."""
        return self.home / "searches"

    @property
    def servers(self) -> Path:
        """File of the ways in which model servers bind replies; may be missing or deleted."""
        return self.home / "servers.json"

    @property
    def conversations(self) -> Path:
        """File of the conversations; may be missing."""
        return self.home / "conversations.sqlite"

    def settle(self) -> None:
        """Set the modes of all files; see `localrag.corpus.durable.settle`."""
        settle(self.home, readers(self.settings))

    @property
    def tokens(self) -> Path:
        """File of the tokens of `localrag serve`; may be missing."""
        return self.home / "tokens.toml"

    @property
    def restoring(self) -> Path:
        """Folder beside it while a backup is restored, or after that was interrupted."""
        return self.home.with_name(f".{self.home.name}.restoring")

    def init(self) -> bool:
        """Make the folder and a commented settings file, in the language in use.

        Existing files stay; their modes are corrected. Returns whether anything was made.
        """
        folders = [self.home, self.models, self.runs, self.home / "corpora", self.home / "indexes"]
        try:
            missing = [path for path in (*folders, self.settings) if not path.exists()]
            for folder in folders:
                make_folder(folder)
            if self.settings in missing:
                template = Path(__file__).with_name(f"localrag.{in_use()}.toml")
                replace_text(self.settings, template.read_text(encoding="utf-8"))
            self.settle()
        except OSError as error:
            raise StorageError(
                N_("The workspace {home} cannot be made ({problem})."),
                N_("Choose another folder with --home, or mend its permissions."),
                home=self.home,
                problem=error,
            ) from error
        return bool(missing)

    def require(self) -> Self:
        """Return the workspace if it exists. Raises `WorkspaceError`."""
        try:
            exists, is_folder = self.home.exists(), self.home.is_dir()
        except OSError as error:
            raise WorkspaceError(
                N_("The workspace {home} cannot be opened ({problem})."),
                N_("Choose another folder with --home, or mend its permissions."),
                home=self.home,
                problem=error,
            ) from error
        if not exists:
            raise WorkspaceError(
                N_("There is no workspace at {home}."),
                N_("Restoring a backup was stopped half-way: run localrag restore again.")
                if self.restoring.exists()
                else N_("Make it: localrag init"),
                home=self.home,
            )
        if not is_folder:
            raise WorkspaceError(
                N_("{home} is a file, not the folder of a workspace."),
                N_("Choose another folder with --home."),
                home=self.home,
            )
        return self

    def corpus(self, name: str) -> CorpusPaths:
        """The paths of the corpus of this name, which may be missing. Raises `UsageError`."""
        if not _possible(name):
            raise UsageError(
                N_("{name!r} cannot be the name of a corpus."),
                N_(
                    "Use up to 64 letters, digits, '_', '-' and '.', beginning with a letter "
                    "or digit."
                ),
                name=name,
            )
        return CorpusPaths(
            name,
            store=self.home / "corpora" / name / "corpus.sqlite",
            indexes=self.home / "indexes" / name,
        )

    def corpora(self) -> list[str]:
        """List the names of the corpora, sorted; folders with impossible names are ignored."""
        names = (path.parent.name for path in self.home.glob("corpora/*/corpus.sqlite"))
        return sorted(filter(_possible, names))


def _possible(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and not _RESERVED_ON_WINDOWS.fullmatch(name)


_PREFIX = "LOCALRAG_"
# Variables with the prefix that are not settings.
_OTHER_VARIABLES = {
    "LOCALRAG_HOME",
    "LOCALRAG_DEBUG",
    "LOCALRAG_SHARED_DATA",
    "LOCALRAG_TEST_VOCABULARY",
}

_TABLES = {"tui.keys"}
"""Settings with a table as value."""
_DEEPEST = 3
FLAG = "flag"
"""The source of a setting that is given with a call."""
_MOST_DOTS = 200


class HasSettings(Protocol):
    """A workspace or a corpus, as far as needed here."""

    @property
    def settings(self) -> Path:
        """The settings file, which need not exist."""


def collect(
    workspace: HasSettings, overrides: Mapping[str, object], corpus: HasSettings | None = None
) -> dict[str, tuple[object, str]]:
    """Collect values with the names of their sources, by dotted key; arguments as `config.load`.

    `config` validates keys and values. Raises `ConfigError` if a file is not TOML, or a corpus has
    settings other than retrieval.
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
    """Read the flags ``--set KEY=VALUE``: settings by dotted key. Raises `UsageError`."""
    overrides = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                N_("--set {assignment!r} is not an assignment."),
                N_("Write it as --set retrieval.k=20."),
                assignment=assignment,
            )
        overrides[key.strip()] = value.strip()
    return overrides


def change_setting(workspace: HasSettings, key: str, value: str | int | float | bool) -> None:
    """Write a value into the settings file of a workspace; comments stay.

    Keys have dots and are not validated. Raises `ConfigError` if the layout does not allow the
    change.
    """
    from localrag.corpus.durable import replace_text

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
        # Python needs quadratic time for the dots of a key.
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
        # No setting is deeper; hostile files may be nested without end.
        deeper = prefix.count(".") < _DEEPEST and f"{prefix}{name}" not in _TABLES
        if isinstance(value, dict) and deeper:
            yield from _flatten(cast("dict[str, object]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


WRITER_LOCK = "writer.lock"
"""Name of the lock file in the folder of a corpus."""


@contextmanager
def writing(paths: CorpusPaths) -> Iterator[None]:
    """Hold the lock for writing a corpus and its indexes; raises `BusyError`.

    The system frees it when the process ends. A file beside it notes the holder, because some
    systems cannot read a locked file.
    """
    folder = paths.store.parent
    holder = folder / "writer.json"
    busy = BusyError(
        N_("The corpus {name!r} is being written by {holder}."),
        N_("Wait until it has finished, then try again."),
        name=paths.name,
        holder=_name(holder),
    )
    with locked(folder / WRITER_LOCK, busy), ExitStack() as held:
        with storing(folder):
            held.callback(holder.unlink, missing_ok=True)
            with open_file(holder, "wb") as file:
                me = {"pid": os.getpid(), "host": socket.gethostname()}
                file.write(json.dumps(me).encode())
            held.callback(paths.settle)
            paths.settle()
        yield


def _name(holder: Path) -> str:
    try:
        who = json.loads(holder.read_text(encoding="utf-8"))
        return _("process {pid} on {host}").format(pid=int(who["pid"]), host=str(who["host"]))
    except (OSError, ValueError, LookupError, TypeError):
        return _("another process")
