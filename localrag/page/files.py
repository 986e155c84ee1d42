"""Writes files for the user in the format of their ending, without losing existing ones."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from localrag.corpus.durable import remove_left_over, replacing
from localrag.errors import FileExistsAlready, StorageError, UsageError, to_install
from localrag.language import N_
from localrag.page.blocks import Block
from localrag.page.markdown import markdown
from localrag.page.word import write_word

WORD = ".docx"
TEXTS = (".md", ".markdown", WORD)
"""Endings of files of blocks."""
CALENDAR = ".ics"
"""Ending of a calendar."""
GRAPH = ".graphml"
"""Ending of a graph."""
CSV, EXCEL = ".csv", ".xlsx"
"""Endings of tables."""

# The module and the package needed for each ending.
_PACKAGES = {WORD: ("docx", "python-docx"), EXCEL: ("openpyxl", "openpyxl")}


def require_ending(path: Path, endings: Sequence[str]) -> None:
    """Require one of these endings; raises `UsageError`."""
    if path.suffix.lower() not in endings:
        raise UsageError(
            N_("{path} has an ending of no known format."),
            N_("Give it one of these: {endings}"),
            path=path,
            endings=", ".join(endings),
        )


def require_package(path: Path) -> None:
    """Require the package for files of this name; raises `UsageError`."""
    module, package = _PACKAGES.get(path.suffix.lower(), ("", ""))
    if module and find_spec(module) is None:
        raise UsageError(
            N_("Writing {path} needs {package}."),
            to_install("office"),
            path=path,
            package=package,
        )


def write_blocks(path: Path, blocks: Iterable[Block], *, replace: bool = False) -> None:
    """Write blocks to a file: Word for ``.docx``, else Markdown.

    Raises:
        FileExistsAlready: the file exists and `replace` is off.
        UsageError: the path is a folder, or a package is missing.
        StorageError: writing failed; an existing file is unchanged.
    """
    require_package(path)
    with opened(path, replace=replace) as file:
        into(file, path, blocks)


def into(file: IO[bytes], path: Path, blocks: Iterable[Block]) -> None:
    """Write blocks to an open file in the format of `path`; raises `OSError`."""
    if path.suffix.lower() == WORD:
        write_word(blocks, file)
    else:
        file.write(markdown(blocks).encode())


@contextmanager
def opened(path: Path, *, replace: bool) -> Iterator[IO[bytes]]:
    """Open a file to be written as a whole or not at all; raises as `write_blocks`."""
    try:
        if path.is_dir():
            raise UsageError(
                N_("{path} is a folder."),
                N_("Name a file in it."),
                path=path,
            )
        remove_left_over(path.parent)
        with replacing(path, only_new=not replace, private=True) as file:
            yield file
    except FileExistsError:
        raise FileExistsAlready(path) from None
    except (OSError, ValueError) as error:
        raise StorageError(
            N_("{path} cannot be written ({problem})."),
            N_("Choose another folder or name, and see that the disk has space."),
            path=path,
            problem=getattr(error, "strerror", None) or error,
        ) from error
