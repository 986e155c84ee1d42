"""Triples as tab-separated values: a value a line, extracts of Wikidata and Shinra for example."""

from collections.abc import Iterator, Sequence

from localrag.corpus.model import Document
from localrag.corpus.readers.jsonl import Lines, complete
from localrag.corpus.readers.model import Limits, Mark, ReadFailure
from localrag.corpus.readers.triples import Placed, sets, triple, triple_documents
from localrag.errors import InputError

_COLUMNS = ("subject", "predicate", "object", "source", "date")
_OTHER_NAMES = {"title": "subject", "attribute": "predicate", "value": "object"}


def read_triples_tsv(
    name: str, lines: Lines, limits: Limits
) -> Iterator[Document | ReadFailure | Mark]:
    """Read a triple from every line.

    The columns are subject, predicate, object and, if there are more, source and date; a first
    line that names them (also: title, attribute, value) may put them in another order and between
    others. A cell is taken as it stands, without quoting. Each line gives one object: lines that
    follow each other and differ in nothing else are one triple with several.

    Raises:
        InputError: the first line has less than three columns.
    """
    first = _cells(lines.first)
    columns = [_OTHER_NAMES.get(cell.casefold(), cell.casefold()) for cell in first]
    named = set(_COLUMNS[:3]) <= set(columns)
    if not named:
        columns = list(_COLUMNS)
        if len(first) < 3:
            raise InputError(
                "The first line has less than three columns.",
                "Separate subject, predicate and object by tabs.",
            )
    placed = _placed(name, lines, limits, columns, header=named)
    yield from triple_documents(name, sets(placed))


def _placed(
    name: str, lines: Lines, limits: Limits, columns: Sequence[str], *, header: bool
) -> Iterator[Placed | ReadFailure]:
    for number, line in lines:
        try:
            cells = _cells(complete(line, limits))
            if cells == [""] or (header and number == 1):
                continue
            found = dict(zip(columns, cells, strict=False))
            subject, predicate, value, source, date = (found.get(of, "") for of in _COLUMNS)
            yield Placed(number, number, triple(subject, predicate, [value], source, date))
        except InputError as error:
            yield ReadFailure(f"{name}:{number}", error.cause, error.cure)


def _cells(line: bytes) -> list[str]:
    try:
        return [cell.strip() for cell in line.decode("utf-8-sig").split("\t")]
    except UnicodeDecodeError as error:
        raise InputError(
            f"The line is not valid UTF-8 at byte {error.start}.", "Save the file as UTF-8."
        ) from error
