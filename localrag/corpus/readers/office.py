"""Word files with python-docx (extra ``docs``)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from localrag.corpus.readers.bounds import repacked
from localrag.corpus.readers.prose import Heading, prose
from localrag.corpus.readers.text import drop_controls, stem
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document
from localrag.errors import InputError
from localrag.language import N_

if TYPE_CHECKING:
    from docx.document import Document as WordDocument


_DEEPEST = 9
"""Depth of the innermost heading; a deeper one counts as such."""


def read_docx(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read the body of a Word file as one document: paragraphs, headings, and tables by row.

    Raises:
        InputError: python-docx is missing, the file is damaged, unpacks to too much, or is empty.
    """
    try:
        import docx
    except ImportError as error:
        raise InputError(
            N_("Reading DOCX needs python-docx."),
            N_("pip install 'localrag[docs]'"),
        ) from error
    damaged = InputError(
        N_("The DOCX is damaged."),
        N_("Open it in Word and save it again."),
    )
    try:
        body = docx.Document(repacked(data, limits))
    except (BadZipFile, KeyError, ValueError) as error:
        raise damaged from error
    headings: list[Heading] = []
    parts: list[str] = []
    position = 0
    for line, depth in _printed(body):
        parts.append(line + "\n")
        if depth:
            headings.append(Heading(depth, line, position, position + len(line) + 1))
        position += len(line) + 1
    text = "".join(parts)
    if not text:
        raise InputError(
            N_("The DOCX holds no text."),
            N_("Check the file in Word."),
        )
    yield prose(
        id_=name,
        title=stem(name),
        kind="docx",
        text=text,
        source=name,
        headings=headings,
    )


def _printed(body: "WordDocument") -> Iterator[tuple[str, int]]:
    """Yield the printed lines of the body, each with its heading depth or 0."""
    from docx.table import Table

    for block in body.iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                cells = (drop_controls(cell.text).replace("\n", "　") for cell in row.cells)
                yield "\t".join(cells), 0
            continue
        line = drop_controls(block.text).strip()
        if line:
            style = block.style.name if block.style is not None else ""
            level = style.removeprefix("Heading ") if style else ""
            yield line, min(int(level), _DEEPEST) if level.isdecimal() else 0
