"""Every error this package raises on purpose, drawn as one tree.

IndexingError          an index cannot be built or used
├── IndexNotWritten    the files cannot be written: a full disk, a folder without permission
├── IndexMissing       there is none in the folder
├── IndexDamaged       a file of it is missing, cut short or changed; names the file
├── IndexVersionError  it was written by another version, or with another analyzer or model
├── WorkerNotStarted   a process that shares the work cannot start; names the cure
├── IndexTooLarge      building it, or loading it, takes more memory than there is
└── PackageMissing     a package that this kind of index needs is not installed

The words of an error are a message in English with the names of its `fields` in braces, so that the
program above can show it in another language and say what to do about it.
"""

from pathlib import Path


def N_(message: str) -> str:  # noqa: N802 - the mark that gettext's tools look for
    """Mark a message that a program above may translate."""
    return message


class IndexingError(Exception):
    """An index cannot be built or used.

    Args:
        cause: what went wrong, a clause; a message marked with `N_`.
        fields: the values that it names.
    """

    def __init__(self, cause: str, /, **fields: object) -> None:
        super().__init__(cause)
        self.fields = fields

    def __str__(self) -> str:
        return str(self.args[0]).format_map(self.fields)


class IndexNotWritten(IndexingError):  # noqa: N818 - the name says the state
    """The files of an index cannot be written."""

    def __init__(self, folder: Path, why: object) -> None:
        cause = N_("the index in {folder} cannot be written ({why}): is the disk full?")
        super().__init__(cause, folder=folder, why=why)


class IndexMissing(IndexingError):  # noqa: N818 - the name says the state
    """There is no index in the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(N_("there is no index in {folder}"), folder=folder)


class IndexDamaged(IndexingError):  # noqa: N818 - the name says the state
    """A file of the index is missing, cut short or changed.

    Args:
        file: the file at fault.
        cause: a message that names {file}.
        fields: what else it names.

    Attributes:
        file: the file at fault.
    """

    def __init__(self, file: Path, cause: str, /, **fields: object) -> None:
        super().__init__(cause, file=file, **fields)
        self.file = file


UNREADABLE = N_("index file {file} is damaged: it cannot be read ({why})")
CHANGED = N_("the content of index file {file} has changed")


class IndexVersionError(IndexingError):
    """The index was written by another version, or with another analyzer or model.

    Attributes:
        what: which property differs ("format", "analyzer", "model" …).
        found: its value in the index.
        expected: the value this version works with.
    """

    def __init__(self, folder: Path, what: str, found: object, expected: object) -> None:
        super().__init__(
            N_("the index in {folder} has {what} {found!r}, this version works with {expected!r}"),
            folder=folder,
            what=what,
            found=found,
            expected=expected,
        )
        self.what = what
        self.found = found
        self.expected = expected


class IndexTooLarge(IndexingError):  # noqa: N818 - the name says the state
    """Building the index, or loading it, takes more memory than there is.

    Args:
        needed: bytes it takes.
        free: bytes there are.
    """

    def __init__(self, needed: int, free: int) -> None:
        super().__init__(
            N_(
                "the index takes {needed:,.0f} MB of memory, and {free:,.0f} MB are free: close "
                "other programs, or use a model with shorter vectors"
            ),
            needed=needed / 1e6,
            free=free / 1e6,
        )


class WorkerNotStarted(IndexingError):  # noqa: N818 - the name says what happened
    """A process that shares the work ended as it started.

    Args:
        cause: what went wrong, a sentence; a message marked with `N_`.
        cure: what to do about it, likewise.
        fields: the values that both name.

    Attributes:
        cure: as above.
    """

    def __init__(self, cause: str, cure: str, /, **fields: object) -> None:
        super().__init__(cause, **fields)
        self.cure = cure


class PackageMissing(IndexingError):  # noqa: N818 - the name says the state
    """A package that this kind of index needs is not installed.

    Attributes:
        package: its name.
    """

    def __init__(self, package: str) -> None:
        super().__init__(N_("{package} is not installed."), package=package)
        self.package = package
