"""Reads tables of questions: checks once, then reads row by row."""

import codecs
import json
import re
import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import IO, Any, cast

from localrag.corpus.facets import labels, read_labels
from localrag.corpus.readers.bounds import json_object, numbered_lines
from localrag.corpus.types import Label
from localrag.errors import InputError, LocalragError, NotFoundError
from localrag.language import N_, _
from localrag.ops.batch import workbook
from localrag.ops.batch.columns import (
    CP932,
    EUC_JP,
    FIELDS,
    LIMITS,
    CsvLayout,
    Record,
    csv_layout,
    csv_records,
    too_long,
)
from localrag.ops.batch.options import read_options
from localrag.ops.batch.types import QuestionRow, Row, UnreadableRow
from localrag.search.query import check as check_query
from localrag.search.types import Filters, Query
from localrag.text.facts import Fact, FactKind

_HEAD = 65_536
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# The escape to Japanese characters there; no other text has it.
_JIS = re.compile(rb"\x1b\$[@B]")
_TOLD = {
    CP932: FactKind.TABLE_ENCODING,
    EUC_JP: FactKind.TABLE_EUC_JP,
    "\t": FactKind.TABLE_TABS,
    ";": FactKind.TABLE_SEMICOLONS,
}
"""Notes on the encoding and the separator of CSV."""
# Unknown fields kept for the note.
_UNUSED = 20
# Repeated ids named in the error.
_NAMED = 5


@dataclass(slots=True)
class QuestionTable:
    """The questions of a stream, readable more than once.

    A row is a JSON object with ``question`` and optional fields: ``id``, ``options`` (a list, or
    ``{"a": …, "b": …}``), ``documents`` (ids to search in), and ``where`` (``{"kind": "Act"}`` or
    ``"kind=Act; chapter=罰則"``). In CSV and Excel it is a row below a header (see
    `localrag.ops.batch.columns.TableHeader`). The text is UTF-8. CSV may also be CP932 or EUC-JP,
    separated by commas, tabs or semicolons.

    Attributes:
        unused: unknown fields, at most twenty.
        told: notes on the reading: `TABLE_ENCODING`, `SHEET_READ` …
    """

    name: str
    _stream: IO[bytes]
    unused: set[str] = field(default_factory=set)
    told: set[Fact] = field(default_factory=set)
    _aside: Path | None = None
    _sheet: workbook.BookSheet | None = None
    _layout: CsvLayout | None = None
    _widest: int = 0

    def rows(self) -> Iterator[Row]:
        """Yield every row from the beginning, unreadable ones too; raises `InputError`."""
        for number, (line, record, wrong, cells) in enumerate(self._records(), 1):
            self._widest = max(self._widest, len(cells))
            try:
                if wrong:
                    raise wrong
                if len(self.unused) < _UNUSED:
                    self.unused.update(name for name in record if name not in FIELDS)
                yield _question(number, line, record, self._heading, cells)
            except LocalragError as problem:
                id_, question = _readable(_id, record), _readable(_text, record)
                yield UnreadableRow(number, line, problem, id_, question, cells)

    def _records(self) -> Iterator[Record]:
        self._stream.seek(0)
        head = self._stream.read(_HEAD)
        self._stream.seek(0)
        if head.startswith(_WIDE):
            raise InputError(N_("{table} is UTF-16."), N_("Save it as UTF-8."), table=self.name)
        # The content decides, not the file name.
        if workbook.is_office(head):
            return self._of_sheet()
        if _JIS.search(head):
            raise InputError(
                N_("{table} is ISO-2022-JP (JIS)."), N_("Save it as UTF-8."), table=self.name
            )
        text = head.removeprefix(codecs.BOM_UTF8).lstrip()
        if not text:
            raise self._empty()
        suffix = Path(self.name).suffix.lower()
        of_json = suffix in (".jsonl", ".ndjson") or (suffix != ".csv" and text.startswith(b"{"))
        return _json_records(self._stream) if of_json else self._of_csv(head)

    def _of_csv(self, head: bytes) -> Iterator[Record]:
        if head.count(b"\r") and not head.count(b"\n"):
            raise InputError(
                N_("The lines of {table} end with CR alone, as old programs write them."),
                N_("Save it as CSV UTF-8 (in Excel: CSV UTF-8, comma delimited)."),
                table=self.name,
            )
        if self._layout is None:
            self._layout = csv_layout(self._stream, self.name)
            how = (self._layout.encoding, self._layout.separator)
            self.told.update(Fact(_TOLD[one]) for one in how if one in _TOLD)
            self.told.update(self._layout.header.told)
            if self._layout.line > 1:
                self.told.add(Fact(FactKind.TABLE_HEADER, line=self._layout.line))
        self._stream.seek(0)
        return csv_records(self._stream, self._layout)

    def _of_sheet(self) -> Iterator[Record]:
        if self._sheet is None:
            self._sheet = workbook.unpack(self._stream, self.name, self._aside)
            self.told.update(self._sheet.told)
        return self._sheet.records()

    @property
    def _heading(self) -> str:
        """The heading of the question column; "" in JSON Lines."""
        read = self._sheet or self._layout
        return read.header.heading if read else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns once the rows were read; () in JSON Lines."""
        read = self._sheet or self._layout
        if read is None:
            return ()
        names = [name.strip() for name in read.header.names]
        while names and not names[-1]:
            names.pop()
        return (*names, *[""] * (self._widest - len(names)))

    def close(self) -> None:
        """Free temporary files; the stream belongs to the caller."""
        if self._sheet is not None:
            self._sheet.close()

    def _empty(self) -> InputError:
        return InputError(
            N_("{table} holds no question."), N_("Check how it was saved."), table=self.name
        )

    def check(self, refused: Callable[[Row], Row] = lambda row: row) -> "CheckedTable":
        """Read the table once, keeping 16 bytes a row; `refused` may return a row as unreadable.

        Raises:
            InputError: it is no table, no row can be asked, or an id occurs twice.
        """
        digests, ids = array("Q"), array("Q")
        unreadable = refusals = 0
        first: UnreadableRow | None = None
        for row in self.rows():
            digests.append(_digest_of(row))
            if row.id:
                ids.append(_short(row.id))
            if isinstance(row, UnreadableRow):
                unreadable += 1
                first = first or row
            else:
                refusals += isinstance(refused(row), UnreadableRow)
        if duplicates := self._duplicates(
            {one for one, other in pairwise(sorted(ids)) if one == other}
        ):
            raise InputError(
                N_("Ids occur twice in {table}: {duplicates}."),
                N_("Give every row an id of its own."),
                table=self.name,
                duplicates=duplicates,
            )
        if first is not None and unreadable == len(digests):
            raise InputError(
                N_("{table} holds no question. Line {line}: {problem}"),
                N_("{cure}"),
                table=self.name,
                line=first.line,
                problem=first.problem.cause,
                cure=first.problem.cure,
            )
        if not digests:
            raise self._empty()
        return CheckedTable(self, digests, unreadable + refusals)

    def _duplicates(self, suspects: Set[int]) -> str:
        """Return the first repeated ids, each with its lines."""
        lines: dict[str, list[int]] = {}
        for row in self.rows() if suspects else ():
            if row.id and _short(row.id) in suspects:
                lines.setdefault(row.id, []).append(row.line)
        twice = ((id_, found) for id_, found in lines.items() if len(found) > 1)
        return "; ".join(
            _("{id!r} in lines {lines}").format(id=id_, lines=", ".join(map(str, found)))
            for id_, found in islice(twice, _NAMED)
        )


@contextmanager
def open_table(source: Path | IO[bytes], aside: Path | None = None) -> Iterator[QuestionTable]:
    """Open a table of questions; raises NotFoundError.

    A stream is copied to an unnamed file in `aside` if necessary.
    """
    name = str(source) if isinstance(source, Path) else _("The standard input")
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(source.open("rb")) if isinstance(source, Path) else source
            if not stream.seekable():
                copy = stack.enter_context(tempfile.TemporaryFile(dir=aside))
                shutil.copyfileobj(stream, copy)
                stream = cast("IO[bytes]", copy)
        except OSError as error:
            raise NotFoundError(
                N_("{table} cannot be read ({problem})."),
                N_("Check the path and its permissions."),
                table=name,
                problem=error,
            ) from error
        yield stack.enter_context(closing(QuestionTable(name, stream, _aside=aside)))


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """A checked table; it must stay the same when read again.

    A digest is a number for the content of a row; 0 if unreadable.
    """

    table: QuestionTable
    digests: Sequence[int]
    unreadable: int

    def __len__(self) -> int:
        """How many rows the table has."""
        return len(self.digests)

    def holds(self, row: int, digest: int) -> bool:
        """Whether a row has the content of `digest`; 0 fits any."""
        return row <= len(self) and (not digest or self.digests[row - 1] == digest)

    def rows(self) -> Iterator[Row]:
        """Yield the rows again; raises `InputError` if they have changed."""
        number = 0
        for row in self.table.rows():
            number = row.row
            if number > len(self) or self.digests[number - 1] != _digest_of(row):
                raise self._changed()
            yield row
        if number < len(self):
            raise self._changed()

    def _changed(self) -> InputError:
        return InputError(
            N_("{table} changed while its questions were answered."),
            N_("Run the same command again, and leave the file alone meanwhile."),
            table=self.table.name,
        )


def digest(id_: str, query: Query) -> int:
    """Return a number of 8 bytes, never 0, for the content of a row."""
    content = [id_, query.text, query.options, query.filters.documents]
    # Rows answered before this field existed keep their digests.
    return _short(json.dumps([*content, *filter(None, [query.filters.where])])) or 1


def _short(text: str) -> int:
    return int.from_bytes(
        blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "big"
    )


def _digest_of(row: Row) -> int:
    if isinstance(row, UnreadableRow):
        return 0
    return digest(row.id, row.query)


def _question(
    row: int,
    line: int,
    record: Mapping[str, Any],
    heading: str,
    cells: tuple[str | int | float, ...],
) -> QuestionRow:
    """Make the question of a row; raises InputError, UsageError."""
    filters = Filters(documents=_documents(record), where=_where(record))
    options = read_options(record.get("options"))
    query = Query(text=_text(record, heading), options=options.texts, filters=filters)
    id_ = _id(record)
    labels_said = (*chain.from_iterable(filters.where), *options.labels)
    _check_unicode(query.text, id_, *query.options, *filters.documents, *labels_said)
    check_query(query)
    return QuestionRow(row, line, id_, query, options.labels, cells)


def _readable(read: Callable[[Mapping[str, Any]], str], record: Mapping[str, Any]) -> str:
    """Return the id or question of an unreadable row, as far as possible."""
    try:
        text = read(record)
        _check_unicode(text)
    except InputError:
        return ""
    return text


def _text(record: Mapping[str, Any], heading: str = "") -> str:
    text = record.get("question", "")
    if not isinstance(text, str):
        raise InputError(
            N_("The question is not a text."), N_('Write the field "question" as a string.')
        )
    if not text.strip():
        raise InputError(
            N_("The row has no question."),
            N_('Write one in the column "{heading}", or leave the whole row empty.')
            if heading
            else N_('Give it a field "question".'),
            heading=heading,
        )
    return text


def _id(record: Mapping[str, Any]) -> str:
    id_ = record.get("id")
    if id_ is None:
        return ""
    if isinstance(id_, str) or (isinstance(id_, int) and not isinstance(id_, bool)):
        return str(id_)
    raise InputError(N_("The id is neither a string nor a whole number."))


def _documents(record: Mapping[str, Any]) -> tuple[str, ...]:
    documents = record.get("documents")
    if documents is None:
        return ()
    # An empty list would mean all documents in a search, but none to its writer.
    if isinstance(documents, list) and documents and all(isinstance(d, str) for d in documents):
        return tuple(documents)
    raise InputError(
        N_("The documents to search are no list of ids."),
        N_('Write "documents": ["…", "…"] in JSON Lines, or leave the field out.'),
    )


def _where(record: Mapping[str, Any]) -> tuple[Label, ...]:
    where = record.get("where")
    if where is None:
        return ()
    if isinstance(where, str):
        return read_labels(where)
    if isinstance(where, Mapping):
        values = [one if isinstance(one, list) else [one] for one in where.values()]
        if all(some and all(isinstance(one, str) for one in some) for some in values):
            return labels(where)
    raise InputError(
        N_('The field "where" cannot be read.'),
        N_('Write "where": {"kind": "Act"} or "kind=Act; chapter=罰則", or leave the field out.'),
    )


def _check_unicode(*texts: str) -> None:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            N_("The row is not valid UTF-8, or holds half a character (\\ud800 to \\udfff)."),
            N_("Save the file as UTF-8, and leave half characters out."),
        ) from error


def _json_records(stream: IO[bytes]) -> Iterator[Record]:
    """Yield the object of every line, without blank lines."""
    for number, line in numbered_lines(stream, LIMITS):
        if line is None:
            yield Record(number, {}, too_long(number))
        elif line.strip():
            try:
                yield Record(number, json_object(line))
            except InputError as problem:
                yield Record(number, {}, problem)
