"""A file of the user's in the format that its name ends with; none that is there is lost."""

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
CSV, EXCEL = ".csv", ".xlsx"
"""Endings of tables."""

# By ending, the module that writes such a file, and the package that brings it.
_PACKAGES = {WORD: ("docx", "python-docx"), EXCEL: ("openpyxl", "openpyxl")}


def require_ending(path: Path, endings: Sequence[str]) -> None:
    """Make sure that a name ends with one of these.

    Raises:
        UsageError: it does not.
    """
    if path.suffix.lower() not in endings:
        raise UsageError(
            N_("{path} has an ending that says no format known here."),
            N_("Give it one of these: {endings}"),
            path=path,
            endings=", ".join(endings),
        )


def require_package(path: Path) -> None:
    """Make sure that what writes a file of this name is installed.

    Raises:
        UsageError: it is not.
    """
    module, package = _PACKAGES.get(path.suffix.lower(), ("", ""))
    if module and find_spec(module) is None:
        raise UsageError(
            N_("Writing {path} needs {package}."),
            to_install("office"),
            path=path,
            package=package,
        )


def write_blocks(path: Path, blocks: Iterable[Block], *, replace: bool = False) -> None:
    """Write blocks as the ending of the name says: a document of Word, else Markdown.

    Args:
        path: of the file.
        blocks: what it is to hold.
        replace: write over a file that is there.

    Raises:
        FileExistsAlready: there is such a file, and it may not be replaced.
        UsageError: a folder is in its place, or the package that writes it is missing.
        StorageError: the file cannot be written; one that was there is as before.
    """
    require_package(path)
    with opened(path, replace=replace) as file:
        into(file, path, blocks)


def into(file: IO[bytes], path: Path, blocks: Iterable[Block]) -> None:
    """Write blocks to an open file, as the ending of its name says.

    Raises:
        OSError: it cannot be written.
    """
    if path.suffix.lower() == WORD:
        write_word(blocks, file)
    else:
        file.write(markdown(blocks).encode())


@contextmanager
def opened(path: Path, *, replace: bool) -> Iterator[IO[bytes]]:
    """Open a file that is there as a whole once the block ends; errors as of `write_blocks`."""
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
