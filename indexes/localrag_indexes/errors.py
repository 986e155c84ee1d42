"""Every error this package raises on purpose, drawn as one tree.

IndexingError          an index cannot be built or used
├── IndexNotWritten    the files cannot be written: a full disk, a folder without permission
├── IndexMissing       there is none in the folder
├── IndexDamaged       a file of it is missing, cut short or changed; names the file
├── IndexVersionError  it was written by another version, or with another analyzer or model
├── IndexTooLarge      building it, or loading it, takes more memory than there is
└── PackageMissing     a package that this kind of index needs is not installed
"""

from pathlib import Path


class IndexingError(Exception):
    """An index cannot be built or used."""


class IndexNotWritten(IndexingError):  # noqa: N818 - the name says the state
    """The files of an index cannot be written.

    Attributes:
        folder: where they were to go.
    """

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(f"the index in {folder} cannot be written ({problem}): is the disk full?")
        self.folder = folder


class IndexMissing(IndexingError):  # noqa: N818 - the name says the state
    """There is no index in the folder.

    Attributes:
        folder: where it was looked for.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(f"there is no index in {folder}: build it first")
        self.folder = folder


class IndexDamaged(IndexingError):  # noqa: N818 - the name says the state
    """A file of the index is missing, cut short or changed.

    Attributes:
        file: the file at fault.
        problem: what is wrong with it.
    """

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__(f"index file {file} is damaged ({problem}): build the index again")
        self.file = file
        self.problem = problem


class IndexVersionError(IndexingError):
    """The index was written by another version, or with another analyzer or model.

    Attributes:
        what: which property differs ("format", "analyzer", "model" …).
        found: its value in the index.
        expected: the value this version works with.
    """

    def __init__(self, folder: Path, what: str, found: object, expected: object) -> None:
        super().__init__(
            f"the index in {folder} has {what} {found!r}, this version works with {expected!r}: "
            "build the index again"
        )
        self.what = what
        self.found = found
        self.expected = expected


class IndexTooLarge(IndexingError):  # noqa: N818 - the name says the state
    """Building the index, or loading it, takes more memory than there is.

    Attributes:
        needed: bytes it takes.
        free: bytes there are.
    """

    def __init__(self, needed: int, free: int) -> None:
        super().__init__(
            f"the index takes {needed / 1e6:,.0f} MB of memory, and {free / 1e6:,.0f} MB are free: "
            "close other programs, or use a model with shorter vectors"
        )
        self.needed = needed
        self.free = free


class PackageMissing(IndexingError):  # noqa: N818 - the name says the state
    """A package that this kind of index needs is not installed.

    Attributes:
        package: its name.
        cure: the command that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.cure = f"pip install 'localrag[{extra}]'"
        super().__init__(f"{package} is not installed: {self.cure}")
