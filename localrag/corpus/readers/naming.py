"""Names: those of sources and their members (``archive!member``), and how long any may be.

Titles and ids stand in every passage of their document, so one of megabytes would fill the memory.
"""

from pathlib import PurePosixPath

from localrag.errors import InputError

# Characters. Titles of laws and of pages of a wiki stay below 300, paths of files below 1,000.
_LONGEST_NAME = 1_000
_LONGEST_HEADING = 300


def stem(name: str) -> str:
    """Return the last part of a source's name, without folders, archive and suffix."""
    return PurePosixPath(name.rpartition("!")[2]).stem


def bounded(what: str, name: str) -> str:
    """Return a name that is short enough to stand in every passage.

    Raises:
        InputError: it is not.
    """
    if len(name) > _LONGEST_NAME:
        raise InputError(
            f"The {what} has {len(name):,} characters, more than {_LONGEST_NAME:,}.",
            "Shorten it, or check how the file was made.",
        )
    return name


def brief(heading: str) -> str:
    """Return a heading as it stands in headers: one that is a whole text by itself is cut."""
    return heading if len(heading) <= _LONGEST_HEADING else f"{heading[:_LONGEST_HEADING]}…"
