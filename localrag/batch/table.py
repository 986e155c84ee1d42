"""Tables of questions: JSON Lines or CSV, read row by row as often as needed."""

import codecs
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from localrag.batch.fields import FIELDS, question, readable_id
from localrag.batch.model import Row, Unreadable
from localrag.batch.records import Record, csv_records, json_records
from localrag.errors import InputError, LocalragError, NotFoundError

_FORMATS = {".jsonl": json_records, ".ndjson": json_records, ".csv": csv_records}
_HEAD = 65_536
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# So many names of fields that are not read are remembered, to be told.
_UNUSED = 20


@dataclass(slots=True)
class Table:
    """The questions of a stream that can be rewound.

    A row is a JSON object with ``question`` and, where wanted, ``id`` and ``options`` (a list, or
    an object such as ``{"a": …, "b": …}``); in CSV, a row under a header with ``question``,
    ``id`` and a column for each option (``option_a``, ``option_b`` …). The text is UTF-8.

    Attributes:
        name: of the file, for messages.
        unused: names of fields that were met and are not read, at most twenty.
    """

    name: str
    _stream: IO[bytes]
    unused: set[str] = field(default_factory=set)

    def rows(self) -> Iterator[Row]:
        """Yield every row from the beginning; what cannot be asked comes as `Unreadable`.

        Raises:
            InputError: this is no table of questions at all.
        """
        for number, (line, record) in enumerate(self._records(), 1):
            if isinstance(record, InputError):
                yield Unreadable(number, line, record)
                continue
            if len(self.unused) < _UNUSED:
                self.unused.update(name for name in record if name not in FIELDS)
            try:
                yield question(number, line, record)
            except LocalragError as problem:
                yield Unreadable(number, line, problem, readable_id(record))

    def _records(self) -> Iterator[Record]:
        self._stream.seek(0)
        head = self._stream.read(_HEAD)
        self._stream.seek(0)
        if head.startswith(_WIDE):
            raise InputError(f"{self.name} is UTF-16.", "Save it as UTF-8.")
        text = head.removeprefix(codecs.BOM_UTF8).lstrip()
        if not text:
            raise InputError(f"{self.name} holds no question.", "Check how it was saved.")
        by_content = json_records if text.startswith(b"{") else csv_records
        return _FORMATS.get(Path(self.name).suffix.lower(), by_content)(self._stream)


@contextmanager
def open_table(source: Path | IO[bytes]) -> Iterator[Table]:
    """Open a table of questions.

    Args:
        source: a file, or a stream of bytes. What cannot be rewound is first copied to a
            temporary file.

    Raises:
        NotFoundError: there is no such file, or it cannot be read.
    """
    name = str(source) if isinstance(source, Path) else "The standard input"
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(source.open("rb")) if isinstance(source, Path) else source
            if not stream.seekable():
                copy = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(stream, copy)
                stream = cast("IO[bytes]", copy)
        except OSError as error:
            raise NotFoundError(
                f"{name} cannot be read ({error.strerror}).", "Check the path and its permissions."
            ) from error
        yield Table(name, stream)
