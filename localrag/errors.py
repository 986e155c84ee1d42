"""Every error localrag raises on purpose, drawn as one tree.

LocalragError                 something the user can act on; carries a cure and an exit code
├── UsageError           2    the request itself is malformed (a bad option, an empty question)
├── NotFoundError        3    what was asked for does not exist (corpus, document, provision)
├── InputError           4    a file cannot be read or entered; the rest is not affected
├── WorkspaceError       5    the workspace, a store or an index cannot be used as it is
│   ├── ConfigError      5    localrag.toml or an environment variable is not valid
│   ├── StoreError       5    a corpus store is damaged or of another version
│   └── IndexUnusable    5    an index is missing, damaged or of another version
├── BusyError            6    another process is writing; trying again later can succeed
├── StorageError         7    the disk is full or the folder cannot be written
└── ModelUnusable        8    a model or its server cannot be used, or gave no valid reply

Exit code 0 is success, 1 an unexpected error (a bug). `ask` and `search` that found nothing exit
with 3 too; an interrupt (Ctrl-C) exits with 130.
"""

from collections.abc import Mapping, Set
from pathlib import Path
from typing import ClassVar

from localrag.language import N_, _
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import one_line
from localrag_indexes.errors import IndexingError, WorkerNotStarted


class LocalragError(Exception):
    """An error with a cause and, if there is one, a cure.

    Args:
        cause: one sentence that names the file or value; a message marked with `N_`, with the
            names of `fields` in braces.
        cure: ideally a command to copy; a message too, or a fact if command line and workbench
            word it differently; empty if there is no advice.
        fields: the values in both messages.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, cause: str, cure: str | Fact = "", /, **fields: object) -> None:
        super().__init__(cause, cure)
        self.fields = fields

    @property
    def cause(self) -> str:
        """The cause in the language in use."""
        return self._in_words(self.args[0])

    @property
    def cure(self) -> str:
        """The cure in the language in use."""
        return str(self.remedy)

    @property
    def remedy(self) -> str | Fact:
        """The cure as a fact, for callers that word it themselves; otherwise its words."""
        cure = self.args[1]
        return cure if isinstance(cure, Fact) else self._in_words(cure)

    def _in_words(self, message: str) -> str:
        return _in_words(message, self.fields)

    def __str__(self) -> str:
        return f"{self.cause} {self.cure}".strip()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the error; keyword arguments are not in `args`."""
        return type(self).__new__, (type(self), *self.args), self.__dict__

    # Unreadable items carry their error as a value.
    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and str(other) == str(self)

    def __hash__(self) -> int:
        return hash((type(self), self.args))


# Messages of the system, as in `OSError.strerror`.
N_("Disk quota exceeded")
N_("File exists")
N_("File name too long")
N_("Input/output error")
N_("Is a directory")
N_("No space left on device")
N_("No such file or directory")
N_("Not a directory")
N_("Operation not permitted")
N_("Permission denied")
N_("Read-only file system")


def _in_words(message: str, fields: Mapping[str, object]) -> str:
    """A message with its fields; fields that are errors are translated too."""
    named = {str(value) for value in fields.values()}
    told = {name: _told(value, named) for name, value in fields.items()}
    # Text without fields can hold braces of its own.
    return _(message).format_map(told) if told else _(message)


def _told(value: object, named: Set[str]) -> object:
    match value:
        case Path():
            return one_line(str(value))
        case IndexingError():
            return _in_words(value.args[0], value.fields)
        case OSError(strerror=str(reason), filename=file):
            # Most messages name the file themselves.
            return _(reason) if file is None or str(file) in named else f"{_(reason)}: {file}"
        case _:
            return value


def to_install(extra: str) -> Fact:
    """The cure if an extra is not installed, with and without a network."""
    return Fact(FactKind.TO_INSTALL, extra=extra)


class UsageError(LocalragError):
    """The request itself is malformed."""

    exit_code = 2


class NoWorkers(UsageError):  # noqa: N818 - the name says what is missing
    """Worker processes cannot start because of how the program is written.

    Args:
        error: why.
    """

    def __init__(self, error: WorkerNotStarted) -> None:
        super().__init__(error.args[0], error.cure, **error.fields)


class FileExistsAlready(UsageError):  # noqa: N818 - the name says what is there
    """A new file would replace an existing one.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            N_("There is a file {path} already."),
            N_("Choose another name, or replace it."),
            path=path,
        )


class NotFoundError(LocalragError):
    """The requested corpus, document or provision does not exist."""

    exit_code = 3


class InputError(LocalragError):
    """A file cannot be read or entered; the rest of the work is not affected."""

    exit_code = 4


class WorkspaceError(LocalragError):
    """The workspace, a store or an index cannot be used as it is."""

    exit_code = 5


class ConfigError(WorkspaceError):
    """The configuration file or an environment variable is not valid."""


class StoreError(WorkspaceError):
    """A corpus store is damaged or was written by another version."""


class IndexUnusable(WorkspaceError):  # noqa: N818 - the name says the state, as the help texts do
    """An index is missing, damaged or was written by another version."""


class BusyError(LocalragError):
    """Another process is writing to the same corpus; trying again later can succeed."""

    exit_code = 6


class StorageError(LocalragError):
    """The disk is full or the folder cannot be written."""

    exit_code = 7


class ModelUnusable(LocalragError):  # noqa: N818 - the name says the state, as the help texts do
    """A model or its server cannot be used, or gave no valid reply.

    Attributes:
        kind: the name of the error in `localrag_models.errors`.
        transient: whether the same call can succeed a little later.
    """

    exit_code = 8

    def __init__(
        self, cause: str, cure: str | Fact = "", /, *, kind: str, transient: bool, **fields: object
    ) -> None:
        super().__init__(cause, cure, **fields)
        self.kind = kind
        self.transient = transient

    @property
    def of_one_request(self) -> bool:
        """Whether a working model can fail like this on a single request."""
        return self.kind in ("ContextExceeded", "ReplyInvalid")
