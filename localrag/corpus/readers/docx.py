"""Word files, with python-docx (extra ``docs``)."""

from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from localrag.corpus.readers.characters import drop_controls
from localrag.corpus.readers.naming import stem
from localrag.corpus.readers.prose import Heading, prose
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document
from localrag.errors import InputError

if TYPE_CHECKING:
    from docx.document import Document as WordDocument


def read_docx(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read the body of a Word file as one document: paragraphs, headings, and tables by row.

    Raises:
        InputError: python-docx is missing, the file is damaged, unpacks to too much, or is empty.
    """
    try:
        import docx
    except ImportError as error:
        raise InputError(
            "Reading DOCX needs python-docx.", "pip install 'localrag[docs]'"
        ) from error
    damaged = InputError("The DOCX is damaged.", "Open it in Word and save it again.")
    try:
        with ZipFile(BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > min(limits.file_bytes, max(len(data) * limits.ratio, 1_000_000)):
            raise InputError("The DOCX unpacks to too much data.", "Check where it came from.")
        body = docx.Document(BytesIO(data))
    except (BadZipFile, KeyError, ValueError) as error:
        raise damaged from error
    headings: list[Heading] = []
    parts: list[str] = []
    position = 0
    for line, depth in _lines(body):
        parts.append(line + "\n")
        if depth:
            headings.append(Heading(depth, line, position, position + len(line) + 1))
        position += len(line) + 1
    text = "".join(parts)
    if not text:
        raise InputError("The DOCX holds no text.", "Check the file in Word.")
    yield prose(
        id_=name,
        title=stem(name),
        kind="docx",
        text=text,
        source=name,
        headings=headings,
    )


def _lines(body: "WordDocument") -> Iterator[tuple[str, int]]:
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
            yield line, int(level) if level.isdecimal() else 0
