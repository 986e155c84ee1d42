"""Plain text files."""

from collections.abc import Iterator

from localrag.corpus.readers.decoding import decode
from localrag.corpus.readers.naming import stem
from localrag.corpus.readers.prose import prose
from localrag.corpus.readers.types import Limits
from localrag.corpus.types import Document


def read_plain_text(name: str, data: bytes, limits: Limits) -> Iterator[Document]:  # noqa: ARG001
    """Read a text file as one document, titled by its file name.

    Raises:
        InputError: the file is empty, binary or of an unknown encoding.
    """
    title = stem(name)
    yield prose(id_=name, title=title, kind="text", text=decode(data), source=name)
