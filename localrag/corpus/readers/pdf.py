"""PDF files, with pypdf (extra ``docs``)."""

import logging
from collections.abc import Iterator
from io import BytesIO

from localrag.corpus.readers.characters import drop_controls
from localrag.corpus.readers.naming import stem
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document
from localrag.errors import InputError

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
        raise InputError("Reading PDF needs pypdf.", "pip install 'localrag[docs]'") from error
    logging.getLogger("pypdf").addHandler(_QUIET)
    encrypted = InputError(
        "The PDF is encrypted.", "Save a copy without a password (print to PDF) and add that."
    )
    try:
        reader = PdfReader(BytesIO(data))
        # An empty password opens what is only locked against printing or copying.
        if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
            raise encrypted
        pages = [drop_controls(page.extract_text()).strip() for page in reader.pages]
    except DependencyError as error:
        raise encrypted from error
    except PyPdfError as error:
        raise InputError(f"The PDF is damaged: {error}.", "Download the file again.") from error
    if not any(pages):
        raise InputError(
            "The PDF holds no text, only images.", "Run it through OCR and add the result."
        )
    if sum(map(len, pages)) > limits.file_bytes:
        raise InputError("The PDF unpacks to too much text.", "Split it into several files.")
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
