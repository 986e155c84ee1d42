"""Tables of named columns: what a header says, CSV as any program writes it, rows as records."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from localrag.batch.options import SERIES, follow_each_other, plain_label
from localrag.corpus.readers.bounds import numbered_lines
from localrag.corpus.readers.types import Limits
from localrag.errors import InputError
from localrag.facts import Fact, FactKind
from localrag.language import N_, _
from localrag_indexes.analysis.normalize import without_blanks

if TYPE_CHECKING:
    import _csv

Record = tuple[int, Mapping[str, Any], InputError | None]
"""The line a row begins at, its fields by name as far as they can be told, and what is wrong."""

LIMITS = Limits(line_bytes=1_000_000, unpacked_bytes=1 << 62)
"""Of one row; a table may be as long as it likes."""
UTF8, CP932, EUC_JP = "utf-8", "cp932", "euc_jp"
"""What the text of a CSV file may be; the second is what Excel in Japan writes."""
SEPARATORS = (",", "\t", ";")
"""What may stand between the columns."""
ABOVE = 20
"""A header is one of so many rows: titles and notes may stand above it."""

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
"""The fields of a row, by the names that a column may have."""
FIELDS = tuple(_FIELDS)
"""The fields that are read, by their own names."""
_BY_NAME = {name: field for field, names in _FIELDS.items() for name in names}
_OPTION = "option"
_READ = {*_FIELDS, _OPTION}
_IS_OPTION = re.compile("(?:option_|選択肢)(.+)", re.IGNORECASE)
# Of what stands below 選択肢: a label, and no option.
_LONGEST_LABEL = 6
_KANA = re.compile("[ぁ-んァ-ヶ]")
# Half characters stand for bytes of another encoding; UTF-16 has NUL.
_UNTOLD = re.compile("[\ud800-\udfff\0]")


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a table.

    Attributes:
        fields: what each holds: ``question``, ``id``, ``options`` (one a line), ``documents``
            (likewise), ``where`` or ``option`` (one of them); of any other column its name as
            written, "" for none.
        labels: what each option is called; "" where it has no name of its own.
        heading: of the column with the question, as written.
        bare: whether the columns of the options are headed by these labels alone.
    """

    fields: tuple[str, ...]
    labels: tuple[str, ...]
    heading: str
    bare: bool = False

    @classmethod
    def read(cls, names: Sequence[str]) -> "Header | None":
        """Read the names of columns; None where none of them is that of the question.

        Columns without a name beside ``選択肢`` hold an option each: its cell is merged over them.

        Raises:
            InputError: a field has two columns.
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
            return cls(tuple(fields), tuple(map(_label, names)), heading)
        bare = _headed_by_labels(names, question)
        return cls(
            tuple(_OPTION if n in bare else field for n, field in enumerate(fields)),
            tuple(field if n in bare else "" for n, field in enumerate(fields)),
            heading,
            bool(bare),
        )

    def labelled(self, names: Sequence[str]) -> "Header | None":
        """The header with what its second row calls the options; None where that is none.

        A cell 選択肢 that is merged over several columns may have ア, イ … below it, each in one of
        them, and nothing else beside these.
        """
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
        return replace(self, labels=tuple(labels))

    def judged_by(self, rows: Sequence[Sequence[str]]) -> "Header":
        """The header, its bare options no options where what stands below them is none.

        A questionnaire has 1 to 5 beside its questions too, and below them counts, or a mark in
        one of them. Options are words, and different ones, in half of the rows at least.

        Args:
            rows: some below it; where they leave these columns empty, the header alone decides.
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
        """What is told of how it is read: `TABLE_OPTIONS`, where its options are bare."""
        labels = tuple(filter(None, self.labels))
        return (Fact(FactKind.TABLE_OPTIONS, names=labels),) if self.bare else ()

    @property
    def known(self) -> int:
        """How many columns are read."""
        return sum(field in _READ for field in self.fields)

    @property
    def width(self) -> int:
        """How many columns there are, up to the last one that is read."""
        return max(n for n, field in enumerate(self.fields, 1) if field in _READ)

    def record(self, cells: Sequence[str]) -> dict[str, Any]:
        """The fields of a row by name; of cells without a text none.

        A list that is one cell holds an entry a line; one line is given as it is, for `options` are
        no list then.
        """
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
    # 質　問: in a narrow column names are spread.
    if "\0" in name:
        # UTF-16 without its mark, read as UTF-8: a NUL that does not count would hide it.
        return name
    plain = without_blanks(name)
    # ご質問, 御質問, お問い合わせ
    for spelling in (plain, plain[1:] if plain.startswith(("ご", "御", "お")) else ""):
        if spelling in _BY_NAME:
            return _BY_NAME[spelling]
    return _OPTION if _IS_OPTION.fullmatch(plain) else name.strip()


def _label(name: str) -> str:
    # As it was written: ① would become 1.
    found = _IS_OPTION.fullmatch("".join(name.split()))
    return found[1] if found else ""


def _headed_by_labels(names: Sequence[str], question: int) -> list[int]:
    """The places of columns behind the question that are headed by ア, イ … alone; none if unsure.

    All that are headed like that must be options: 1 to 12 are months, an A alone is anything.
    """
    plain = ["".join(plain_label(name).split()) for name in names]
    places = [n for n, name in enumerate(plain) if name.isdecimal() or _is_label(name)]
    labels = [plain[n] for n in places]
    if len(places) < 2 or places[0] < question or not all(map(_is_label, labels)):
        return []
    # Between them only columns without a name: a cell of the header is merged over these.
    together = list(filter(None, plain[places[0] : places[-1]])) == labels[:-1]
    return places if together and follow_each_other(labels) else []


def _is_label(name: str) -> bool:
    return len(name) == 1 and any(name in series for series in SERIES)


def _are_options(cells: Sequence[str]) -> bool:
    """Whether what a row holds in several columns are different texts, with words in them."""
    of_words = {cell.strip() for cell in cells if any(map(str.isalpha, cell))}
    return len(of_words) > 1


def csv_encoding(stream: IO[bytes]) -> str:
    """Tell by trying whether CSV is `UTF8`, `EUC_JP` or `CP932`; where it is none, `UTF8`.

    Some of the bytes of a damaged UTF-8 file may be CP932 as well. So it is taken for another only
    if no line with other characters than ASCII is UTF-8, which lines of these are hardly ever. The
    bytes of EUC-JP are CP932 too, of nonsense; those of CP932 with kana are never EUC-JP.
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


def find_header(rows: Iterable[tuple[int, Sequence[str]]]) -> tuple[int, Header] | None:
    """The header among the first rows, with its number; a title above it may be 質問, too.

    Raises:
        InputError: a field has two columns.
    """
    found: tuple[int, Header] | None = None
    below: list[Sequence[str]] = []
    after = 0
    for number, names in islice(rows, ABOVE):
        try:
            header = Header.read(names)
        except InputError:
            # Below the header whatever a row holds is no name.
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
    """How the text of a CSV file is to be read.

    Attributes:
        encoding: as `csv_encoding` tells it.
        separator: one of `SEPARATORS`.
        line: the last one of the header, from 1.
    """

    encoding: str
    separator: str
    line: int
    header: Header


def csv_layout(stream: IO[bytes], name: str) -> CsvLayout:
    """Tell by trying how CSV is to be read: the header names a question, and most columns.

    Args:
        stream: the file, which can be rewound.
        name: for messages.

    Raises:
        InputError: there is no such header, or its text cannot be told.
    """
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
    """The rows that are CSV, each with the line in which it ends."""
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue
        yield reader.line_num, row


def csv_records(stream: IO[bytes], layout: CsvLayout) -> Iterator[Record]:
    """Yield the rows below the header.

    Raises:
        InputError: a quotation mark that is never closed makes one row of all that follows.
    """
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
            # The reader goes on at the next line, unless it has looked for the end of a quotation
            # to the end of the file, or further than a field can be long.
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
            yield (
                begin,
                {},
                InputError(
                    N_("The row that ends in line {line} is not CSV ({problem})."),
                    N_(
                        "Put a text with commas (or what separates the columns) or quotation marks "
                        "between quotation marks."
                    ),
                    line=layout.line + reader.line_num,
                    problem=error,
                ),
            )
        else:
            # Excel writes the commas of empty rows, too.
            if any(fields):
                yield begin, header.record(fields), _too_many(header, fields)
        begin = layout.line + reader.line_num + 1


def _too_many(header: Header, fields: list[str]) -> InputError | None:
    if len(fields) <= len(header.fields):
        return None
    return InputError(
        N_("The row has {fields} fields, the header {header}."),
        N_("Put a text with commas (or what separates the columns) between quotation marks."),
        fields=len(fields),
        header=len(header.fields),
    )


def _text_lines(stream: IO[bytes], encoding: str) -> Iterator[str]:
    for number, line in numbered_lines(stream, LIMITS):
        if line is None:
            raise too_long(number)
        # What is not UTF-8 becomes half characters, by which its row is known and refused.
        yield line.decode(encoding, errors="surrogateescape")


def too_long(line: int) -> InputError:
    """The error of a line beyond the limits."""
    return InputError(
        N_("Line {line} is longer than {most:,} bytes."),
        N_("Write one question a line."),
        line=line,
        most=LIMITS.line_bytes,
    )
