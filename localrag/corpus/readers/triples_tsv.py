"""Triples as tab-separated values: a value a line, extracts of Wikidata and Shinra for example."""

from collections.abc import Iterator, Sequence

from localrag.corpus.readers.jsonl import Lines, complete
from localrag.corpus.readers.triples import Placed, sets, triple, triple_documents
from localrag.corpus.readers.types import Limits, Mark, ReadFailure
from localrag.corpus.types import Document
from localrag.errors import InputError

_NEEDED = ("subject", "predicate", "object")
_COLUMNS = (*_NEEDED, "source", "date")
_OTHER_NAMES = {
    "subject": ("title", "主語", "主体", "項目", "項目名", "見出し", "記事名"),
    "predicate": ("attribute", "property", "述語", "属性", "属性名", "関係", "プロパティ"),
    "object": ("value", "目的語", "客体", "値", "属性値"),
    "source": ("出典", "典拠"),
    "date": ("日付",),
}
_MEANT = {other: name for name, others in _OTHER_NAMES.items() for other in others}


def read_triples_tsv(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | Mark]:
    """Read a triple from every line.

    The columns are subject, predicate, object and, if there are more, source and date; a first
    line that names them (also: title, attribute, value; 主語, 述語, 目的語; 項目, 属性, 値 …) may
    put them in another order and between others. A cell is taken as it stands, without quoting.
    Each line gives one object: lines that follow each other and differ in nothing else are one
    triple with several.

    Raises:
        InputError: none of the first lines can be read and has three columns.
    """
    header = _first(lines)
    columns = [_MEANT.get(cell.casefold(), cell.casefold()) for cell in header]
    if not set(_NEEDED) <= set(columns):
        header, columns = [], list(_COLUMNS)
    placed = _placed(name, lines, limits, columns, header)
    yield from triple_documents(name, sets(placed))


def _first(lines: Lines) -> list[str]:
    """The cells of the first line that has three; what stands before is told when it is read."""
    problem = None
    for line in lines.head():
        try:
            cells = _cells(line)
        except InputError as error:
            problem = problem or error
            continue
        if len(cells) >= len(_NEEDED):
            return cells
    raise problem or InputError(
        "The first lines have less than three columns.",
        "Separate subject, predicate and object by tabs.",
    )


def _placed(
    name: str, lines: Lines, limits: Limits, columns: Sequence[str], header: Sequence[str]
) -> Iterator[Placed | ReadFailure]:
    for number, line in lines:
        try:
            cells = _cells(complete(line, limits))
            if cells in ([""], header):
                continue
            if any(cells[len(columns) :]):
                raise InputError(
                    f"The line has {len(cells)} columns where {len(columns)} are known.",
                    "Name every column in the first line, or leave out those beyond.",
                )
            found = dict(zip(columns, cells, strict=False))
            subject, predicate, value, source, date = (found.get(of, "") for of in _COLUMNS)
            yield Placed(number, number, triple(subject, predicate, [value], source, date))
        except InputError as error:
            yield ReadFailure(f"{name}:{number}", error.cause, error.cure)


def _cells(line: bytes) -> list[str]:
    try:
        text = line.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(
            f"The line is not valid UTF-8 at byte {error.start}.", "Save the file as UTF-8."
        ) from error
    if "\r" in text:
        raise InputError(
            "The line holds a carriage return.", "Save the file with LF at the end of its lines."
        )
    return [cell.strip() for cell in text.split("\t")]
