"""Reads tables with named columns: headers, CSV of any program, rows as records."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from localrag.corpus.readers.bounds import numbered_lines
from localrag.corpus.readers.types import Limits
from localrag.errors import InputError
from localrag.language import N_, _
from localrag.ops.batch.options import SERIES, follow_each_other, plain_label
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import without_blanks

if TYPE_CHECKING:
    import _csv


class Record(NamedTuple):
    """A row: its first line, its readable fields by name, its error, and all its cells."""

    line: int
    fields: Mapping[str, Any]
    problem: InputError | None = None
    cells: tuple[str | int | float, ...] = ()


LIMITS = Limits(line_bytes=1_000_000, unpacked_bytes=1 << 62)
"""Of one row; a table may be as long as it likes."""
UTF8, CP932, EUC_JP = "utf-8", "cp932", "euc_jp"
"""Encodings of CSV; Japanese Excel writes the second."""
SEPARATORS = (",", "\t", ";")
"""Separators of columns."""
ABOVE = 20
"""The header is among this many first rows, below titles and notes."""

_FIELDS = {
    "question": (
        "question",
        "質問",
        "質問文",
        "質問内容",
        "質問事項",
        "設問",
        "設問文",
        "問い",
        "問題",
        "問題文",
        "問い合わせ",
        "問い合わせ内容",
    ),
    "id": ("id", "番号", "質問番号", "設問番号", "項番", "通番", "連番", "no", "no."),
    "options": ("options", "選択肢"),
    "documents": ("documents", "文書"),
    "where": ("where", "絞り込み", "絞込み", "絞込"),
}
"""The fields of a row, and the possible column names of each."""
FIELDS = tuple(_FIELDS)
"""The names of the fields."""
_BY_NAME = {name: field for field, names in _FIELDS.items() for name in names}
_OPTION = "option"
_READ = {*_FIELDS, _OPTION}
_IS_OPTION = re.compile("(?:option_|選択肢)(.+)", re.IGNORECASE)
# Longest label below 選択肢; an option is longer.
_LONGEST_LABEL = 6
_KANA = re.compile("[ぁ-んァ-ヶ]")
# Surrogates are bytes of another encoding; UTF-16 has NUL.
_UNTOLD = re.compile("[\ud800-\udfff\0]")


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The columns of a table.

    Attributes:
        fields: the content of each: ``question``, ``id``, ``options`` (one a line), ``documents``
            (one a line), ``where``, or ``option`` (one option); else its name, or "".
        labels: the label of each option; "" without one.
        heading: of the question column, as written.
        bare: whether the option columns have only labels as headings.
        names: of all columns, as written; "" without one.
    """

    fields: tuple[str, ...]
    labels: tuple[str, ...]
    heading: str
    bare: bool = False
    names: tuple[str, ...] = ()

    @classmethod
    def read(cls, names: Sequence[str]) -> "TableHeader | None":
        """Read column names; None without a question column. Raises InputError.

        Unnamed columns after ``選択肢`` hold one option each, below a merged cell.
        """
        fields = [_field(name) for name in names]
        if "question" not in fields:
            return None
        twice = sorted(
            {field for field in fields if field not in ("", _OPTION) and fields.count(field) > 1}
        )
        if "options" in fields and _OPTION in fields:
            twice.append("options")
        if twice:
            raise InputError(
                N_("The header names {names} twice."),
                N_("Rename one of them."),
                names=", ".join(twice),
            )
        if "options" in fields:
            for place in range(fields.index("options") + 1, len(fields)):
                if fields[place]:
                    break
                fields[place] = _OPTION
        question = fields.index("question")
        heading = " ".join(names[question].split())
        if "options" in fields or _OPTION in fields:
            return cls(tuple(fields), tuple(map(_label, names)), heading, names=tuple(names))
        bare = _headed_by_labels(names, question)
        return cls(
            tuple(_OPTION if n in bare else field for n, field in enumerate(fields)),
            tuple(field if n in bare else "" for n, field in enumerate(fields)),
            heading,
            bool(bare),
            tuple(names),
        )

    def labelled(self, names: Sequence[str]) -> "TableHeader | None":
        """Add labels from a second header row, ア, イ … below a merged 選択肢, or return None."""
        labels = [name.strip() for name in names]
        given = [label for label in labels if label]
        of_options = all(
            field in ("options", _OPTION)
            for field, label in zip(self.fields, labels, strict=False)
            if label
        )
        if any(self.labels) or not of_options or not 2 <= len(given) == len(set(given)):
            return None
        if max(map(len, given)) > _LONGEST_LABEL or len(labels) < self.width:
            return None
        both = (label or name for label, name in zip_longest(labels, self.names, fillvalue=""))
        return replace(self, labels=tuple(labels), names=tuple(both))

    def judged_by(self, rows: Sequence[Sequence[str]]) -> "TableHeader":
        """Drop bare option columns if the rows below hold no options.

        Questionnaires also have 1 to 5 beside questions, above counts or marks. Options are
        different words in at least half of the rows.
        """
        places = [n for n, field in enumerate(self.fields) if field == _OPTION]
        cells = ([row[n] for n in places if n < len(row) and row[n].strip()] for row in rows)
        filled = list(filter(None, cells))
        if not self.bare or 2 * sum(map(_are_options, filled)) >= len(filled):
            return self
        fields = tuple(
            label or field for field, label in zip(self.fields, self.labels, strict=True)
        )
        return replace(self, fields=fields, labels=("",) * len(fields), bare=False)

    @property
    def told(self) -> tuple[Fact, ...]:
        """`TABLE_OPTIONS` for bare option columns."""
        labels = tuple(filter(None, self.labels))
        return (Fact(FactKind.TABLE_OPTIONS, names=labels),) if self.bare else ()

    @property
    def known(self) -> int:
        """The number of columns read."""
        return sum(field in _READ for field in self.fields)

    @property
    def width(self) -> int:
        """The number of columns up to the last one read."""
        return max(n for n, field in enumerate(self.fields, 1) if field in _READ)

    def record(self, cells: Sequence[str]) -> dict[str, Any]:
        """Return the non-empty fields of a row by name; a list in one cell has one entry a line."""
        record: dict[str, Any] = {}
        options = []
        labels = []
        for place, (field, cell) in enumerate(zip(self.fields, cells, strict=False), 1):
            if not cell:
                continue
            if field in ("options", _OPTION):
                options.append(cell)
                labels.append(self.labels[place - 1])
            elif field == "documents":
                record[field] = _lines(cell)
            else:
                record[field or _("column {n}").format(n=place)] = cell
        if options:
            is_list = "options" in self.fields and len(options) == 1
            record["options"] = _lines(options[0]) if is_list else options
            if is_list and len(record["options"]) == 1:
                record["options"] = options[0]
            elif not is_list and all(labels) and len(set(labels)) == len(labels):
                record["options"] = dict(zip(labels, options, strict=True))
        return record


def _lines(cell: str) -> list[str]:
    return [line.strip() for line in cell.splitlines() if line.strip()]


def _field(name: str) -> str:
    # 質　問: narrow columns spread names.
    if "\0" in name:
        # UTF-16 read as UTF-8: ignoring NUL would hide it.
        return name
    plain = without_blanks(name)
    # ご質問, 御質問, お問い合わせ
    for spelling in (plain, plain[1:] if plain.startswith(("ご", "御", "お")) else ""):
        if spelling in _BY_NAME:
            return _BY_NAME[spelling]
    return _OPTION if _IS_OPTION.fullmatch(plain) else name.strip()


def _label(name: str) -> str:
    # As written: ① would become 1.
    found = _IS_OPTION.fullmatch("".join(name.split()))
    return found[1] if found else ""


def _headed_by_labels(names: Sequence[str], question: int) -> list[int]:
    """Return the columns headed by ア, イ … only; [] if unsure: 1 to 12 are months."""
    plain = ["".join(plain_label(name).split()) for name in names]
    places = [n for n, name in enumerate(plain) if name.isdecimal() or _is_label(name)]
    labels = [plain[n] for n in places]
    if len(places) < 2 or places[0] < question or not all(map(_is_label, labels)):
        return []
    # Only unnamed columns between: a merged cell covers them.
    together = list(filter(None, plain[places[0] : places[-1]])) == labels[:-1]
    return places if together and follow_each_other(labels) else []


def _is_label(name: str) -> bool:
    return len(name) == 1 and any(name in series for series in SERIES)


def _are_options(cells: Sequence[str]) -> bool:
    of_words = {cell.strip() for cell in cells if any(map(str.isalpha, cell))}
    return len(of_words) > 1


def csv_encoding(stream: IO[bytes]) -> str:
    """Detect `UTF8`, `EUC_JP` or `CP932`; return `UTF8` if none fits.

    Damaged UTF-8 may look like CP932. So another encoding is chosen only if no line beyond ASCII is
    UTF-8. EUC-JP is also valid CP932, but nonsense; CP932 with kana is never EUC-JP.
    """
    fitting, kana = [EUC_JP, CP932], False
    wide = False
    for _number, line in numbered_lines(stream, LIMITS):
        if line is None or line.isascii():
            continue
        if _decoded(line, UTF8) is not None:
            return UTF8
        wide = True
        texts = {encoding: _decoded(line, encoding) for encoding in fitting}
        fitting = [encoding for encoding in fitting if texts[encoding] is not None]
        kana = kana or _KANA.search(texts.get(EUC_JP) or "") is not None
        if not fitting:
            return UTF8
    if not wide:
        return UTF8
    return CP932 if CP932 in fitting and not (EUC_JP in fitting and kana) else EUC_JP


def _decoded(line: bytes, encoding: str) -> str | None:
    try:
        return line.decode(encoding)
    except UnicodeDecodeError:
        return None


def find_header(rows: Iterable[tuple[int, Sequence[str]]]) -> tuple[int, TableHeader] | None:
    """Return the header among the first rows, with its row number; raises InputError."""
    found: tuple[int, TableHeader] | None = None
    below: list[Sequence[str]] = []
    after = 0
    for number, names in islice(rows, ABOVE):
        try:
            header = TableHeader.read(names)
        except InputError:
            # Rows below the header are no header.
            if found is None:
                raise
            below.append(names)
            continue
        second = found[1].labelled(names) if found is not None and after == found[0] else None
        if found is not None and second is not None:
            found, below = (number, second), []
        elif header is not None and (found is None or header.known > found[1].known):
            found, below = (number, header), []
        else:
            below.append(names)
        after = number
    return found and (found[0], found[1].judged_by(below))


class CsvLayout(NamedTuple):
    """The layout of a CSV file; `line` is the last line of its header, from 1."""

    encoding: str
    separator: str
    line: int
    header: TableHeader


def csv_layout(stream: IO[bytes], name: str) -> CsvLayout:
    """Detect the layout of CSV; raises `InputError` without a header."""
    encoding = csv_encoding(stream)
    found: CsvLayout | None = None
    for separator in SEPARATORS:
        stream.seek(0)
        reader = csv.reader(_text_lines(stream, encoding), strict=True, delimiter=separator)
        if header := find_header(_readable(reader)):
            layout = CsvLayout(encoding, separator, *header)
            found = layout if found is None or layout.header.known > found.header.known else found
    if found is not None:
        return found
    stream.seek(0)
    for line, text in enumerate(islice(_text_lines(stream, encoding), ABOVE), 1):
        if _UNTOLD.search(text):
            raise InputError(
                N_(
                    "The text of {table} is in none of the encodings that are read (UTF-8, "
                    "Shift_JIS, EUC-JP), or in several: line {line}."
                ),
                N_("Save it as CSV UTF-8 (in Excel: CSV UTF-8, comma delimited)."),
                table=name,
                line=line,
            )
    raise InputError(
        N_(
            "None of the first {rows} lines is a JSON object, or the header of a CSV table with a "
            "column 'question' or '質問'."
        ),
        N_('Write a JSON object a line, {{"question": "…"}}, or begin with: id,question'),
        rows=ABOVE,
    )


def _readable(reader: "_csv.Reader") -> Iterator[tuple[int, list[str]]]:
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue
        yield reader.line_num, row


def csv_records(stream: IO[bytes], layout: CsvLayout) -> Iterator[Record]:
    """Yield the rows below the header; raises `InputError` for an unclosed quotation mark."""
    header = layout.header
    lines = islice(_text_lines(stream, layout.encoding), layout.line, None)
    reader = csv.reader(lines, strict=True, delimiter=layout.separator)
    begin = layout.line + 1
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # The reader continues on the next line, unless it searched too far for a closing
            # quotation mark.
            if "unexpected end" in str(error) or "field limit" in str(error):
                raise InputError(
                    N_(
                        "In line {line} or soon after it a quotation mark is never closed, or a "
                        "text is longer than {most:,} characters."
                    ),
                    N_("Close the mark, double it if it belongs to the text, or shorten the text."),
                    line=begin,
                    most=csv.field_size_limit(),
                ) from error
            yield Record(
                begin,
                {},
                InputError(
                    N_("The row ending in line {line} is not CSV ({problem})."),
                    N_(
                        "Put a text with commas (or other separators) or quotation marks between "
                        "quotation marks."
                    ),
                    line=layout.line + reader.line_num,
                    problem=error,
                ),
            )
        else:
            # Excel also writes commas of empty rows.
            if any(fields):
                wrong = _too_many(header, fields)
                yield Record(begin, header.record(fields), wrong, tuple(fields))
        begin = layout.line + reader.line_num + 1


def _too_many(header: TableHeader, fields: list[str]) -> InputError | None:
    if len(fields) <= len(header.fields):
        return None
    return InputError(
        N_("The row has {fields} fields, the header {header}."),
        N_("Put a text with commas (or other separators) between quotation marks."),
        fields=len(fields),
        header=len(header.fields),
    )


def _text_lines(stream: IO[bytes], encoding: str) -> Iterator[str]:
    for number, line in numbered_lines(stream, LIMITS):
        if line is None:
            raise too_long(number)
        # Invalid bytes become surrogates; the row is then refused.
        yield line.decode(encoding, errors="surrogateescape")


def too_long(line: int) -> InputError:
    """Make the error for a line beyond the limits."""
    return InputError(
        N_("Line {line} is longer than {most:,} bytes."),
        N_("Write one question a line."),
        line=line,
        most=LIMITS.line_bytes,
    )
