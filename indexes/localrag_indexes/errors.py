"""The errors of this package.

IndexingError an index cannot be built or used ├── IndexNotWritten the disk is full, or the folder
cannot be written ├── IndexMissing the folder has no index ├── IndexDamaged a file is missing, cut
short or changed; the error names it ├── IndexVersionError another version wrote it, or it has
another analyzer or model ├── WorkerNotStarted a worker process cannot start; the error names the
cure ├── IndexTooLarge the index needs more memory than is free └── PackageMissing a package for
this kind of index is not installed

A message is English and names its `fields` in braces, so that localrag can translate it.
"""

from pathlib import Path


def N_(message: str) -> str:  # noqa: N802 - the mark that gettext's tools look for
    """Mark a message for translation."""
    return message


class IndexingError(Exception):
    """An index cannot be built or used."""

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
    """The folder has no index."""

    def __init__(self, folder: Path) -> None:
        super().__init__(N_("there is no index in {folder}"), folder=folder)


class IndexDamaged(IndexingError):  # noqa: N818 - the name says the state
    """A file of the index is missing, cut short or changed."""

    def __init__(self, file: Path, cause: str, /, **fields: object) -> None:
        super().__init__(cause, file=file, **fields)
        self.file = file


UNREADABLE = N_("index file {file} is damaged: it cannot be read ({why})")
CHANGED = N_("the content of index file {file} has changed")


class IndexVersionError(IndexingError):
    """Another version, analyzer or model (`what`) wrote the index: `found`, not `expected`."""

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
    """The index needs more memory than is free. `needed`: bytes. `free`: bytes."""

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
    """A worker process ended as it started."""

    def __init__(self, cause: str, cure: str, /, **fields: object) -> None:
        super().__init__(cause, **fields)
        self.cure = cure


class PackageMissing(IndexingError):  # noqa: N818 - the name says the state
    """A package for this kind of index is not installed."""

    def __init__(self, package: str) -> None:
        super().__init__(N_("{package} is not installed."), package=package)
        self.package = package
