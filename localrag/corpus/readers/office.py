"""Word files with python-docx, PDF with pypdf (extra ``docs``)."""

import logging
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from localrag.corpus.readers.bounds import repacked
from localrag.corpus.readers.prose import Heading, prose
from localrag.corpus.readers.text import drop_controls, stem
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document
from localrag.errors import InputError, to_install
from localrag.language import N_

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from pypdf import PdfReader


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
            to_install("docs"),
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


# What a character of text takes until it is stored, and what a page counts for besides its text.
_BYTES_A_CHARACTER, _PAGE = 20, 1_000
# Without a handler Python prints what pypdf warns of; what stops the reading is raised as well.
_QUIET = logging.NullHandler()


def read_pdf(name: str, data: bytes, limits: Limits) -> Iterator[Document]:
    """Read a PDF as one document; passages carry their page.

    Pages without text are named in the metadata ``pages_without_text``.

    Raises:
        InputError: pypdf is missing, the file is damaged or encrypted, or has no text at all.
    """
    try:
        from pypdf import PasswordType, PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError as error:
        raise InputError(
            N_("Reading PDF needs pypdf."),
            to_install("docs"),
        ) from error
    logging.getLogger("pypdf").addHandler(_QUIET)
    encrypted = InputError(
        N_("The PDF is encrypted."),
        N_("Save a copy without a password (print to PDF) and add that."),
    )
    try:
        reader = PdfReader(BytesIO(data))
        # An empty password opens what is only locked against printing or copying.
        if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
            raise encrypted
        pages = list(_texts(reader, limits))
    except DependencyError as error:
        raise encrypted from error
    except PyPdfError as error:
        raise InputError(
            N_("The PDF is damaged: {problem}."),
            N_("Download the file again."),
            problem=error,
        ) from error
    if not any(pages):
        raise InputError(
            N_("The PDF holds no text, only images."),
            N_("Run it through OCR and add the result."),
        )
    starts, position = [], 0
    for page in pages:
        starts.append(position)
        position += len(page) + 1
    empty = ",".join(str(n) for n, page in enumerate(pages, start=1) if not page)
    yield prose(
        id_=name,
        title=stem(name),
        kind="pdf",
        text="\n".join(pages),
        source=name,
        pages=starts,
        metadata={"pages_without_text": empty} if empty else {},
    )


def _texts(reader: "PdfReader", limits: Limits) -> Iterator[str]:
    """The text of each page; a file can show the same page, or the same content, many times.

    Raises:
        InputError: they hold too much together.
    """
    most = min(limits.file_bytes, limits.memory_bytes // _BYTES_A_CHARACTER)
    length = 0
    for page in reader.pages:
        text = drop_controls(page.extract_text()).strip()
        # An empty page counts too: there may be millions of them.
        length += len(text) + _PAGE
        if length > most:
            raise InputError(
                N_("The PDF unpacks to too much text."),
                N_("Split it into several files."),
            )
        yield text
