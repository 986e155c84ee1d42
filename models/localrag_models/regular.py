"""Tells regular files from what else can stand at a path, which may never end or never begin."""

import stat
from pathlib import Path

from localrag_models.errors import WrongKind

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link that leads nowhere",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def kind_of(path: Path) -> str:
    """Say in words what stands at a path, through links where they lead somewhere.

    Raises:
        OSError: nothing does, or it cannot be looked at.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        mode = path.lstat().st_mode
    return _KINDS.get(stat.S_IFMT(mode), "a file")


def require_regular(path: Path, cure: str) -> None:
    """Make sure that opening a path and reading to its end comes to an end.

    Raises:
        OSError: there is nothing, or it cannot be looked at.
        WrongKind: it is no regular file.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise WrongKind(f"{path} is {kind_of(path)}, not a file.", cure)
