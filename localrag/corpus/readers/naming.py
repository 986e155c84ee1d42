"""Names of sources: files, and members of archives written as ``archive!member``."""

from pathlib import PurePosixPath


def stem(name: str) -> str:
    """Return the last part of a source's name, without folders, archive and suffix."""
    return PurePosixPath(name.rpartition("!")[2]).stem
