"""What provisions have read otherwise (読替え), as the store keeps it.

Readings that hold for several provisions are kept once, as a list.
"""

from collections.abc import Iterable, Iterator, Mapping

from localrag.corpus.links import Reading, Reads, Reference, subtree
from localrag.corpus.types import Locator
from localrag.database import Database, Row

_COLUMNS = (
    'SELECT documents.id, reads.source, reads.start, reads."end", target_law.id, reads.law_name,'
    " reads.target, reads.target_end, part, excepted, reads.document, list FROM reads"
    " JOIN documents ON documents.key = reads.document"
    " LEFT JOIN documents AS target_law ON target_law.key = reads.law"
)


def entering(database: Database, references: Iterable[Reference]) -> Iterator[Reference]:
    """Put the readings among these in the place of all stored ones, and yield the others.

    To be read to its end, in a transaction.
    """
    database.write("DELETE FROM reads")
    database.write("DELETE FROM readings")
    keys = {id_: key for key, id_ in database.stream("SELECT key, id FROM documents")}
    for reference in references:
        if reference.reads is None:
            yield reference
        else:
            _write(database, reference, reference.reads, keys)


def _write(database: Database, reference: Reference, reads: Reads, keys: Mapping[str, int]) -> None:
    document, head = keys[reference.document_id], reads.readings[0].replaced_start
    last = None if reference.target_end is None else reference.target_end.path
    database.write(
        'INSERT INTO reads (document, source, start, "end", law, law_name, target, target_end,'
        " part, excepted, list) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document,
            reference.source.path,
            reference.start,
            reference.end,
            keys.get(reference.law_id),
            reference.law_name,
            reference.target.path,
            last,
            reads.part,
            " ".join(place.path for place in reads.excepted),
            head,
        ),
    )
    known = database.row("SELECT 1 FROM readings WHERE document = ? AND list = ?", (document, head))
    if known is None:
        database.write_many(
            "INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)",
            [(document, head, *pair) for pair in reads.readings],
        )


def reads_from(database: Database, document: int, path: str) -> list[Reference]:
    """List what a provision, and what stands inside it, has read otherwise, in reading order."""
    rows = database.rows(
        f"{_COLUMNS} WHERE reads.document = ? AND reads.source >= ? AND reads.source < ?"
        " ORDER BY reads.key",
        (document, *subtree(path)),
    )
    return _references(database, rows)


def reads_to(database: Database, law: int, path: str) -> list[Reference]:
    """List what has words of an article, or of some of it, read otherwise.

    All ranges of provisions of the law are among them, whether they take the article in or not.

    Args:
        database: of the store.
        law: key of its law.
        path: of the article.
    """
    rows = database.rows(
        f"{_COLUMNS} WHERE reads.key IN"  # noqa: S608 - a constant
        " (SELECT key FROM reads WHERE law = ? AND target >= ? AND target < ?"
        " UNION SELECT key FROM reads WHERE law = ? AND target_end IS NOT NULL)"
        " ORDER BY reads.key",
        (law, *subtree(path), law),
    )
    return _references(database, rows)


def _references(database: Database, rows: Iterable[Row]) -> list[Reference]:
    lists: dict[tuple[int, int], tuple[Reading, ...]] = {}
    found = []
    for *row, part, excepted, document, head in rows:
        if (document, head) not in lists:
            pairs = database.rows(
                "SELECT replaced_start, replaced_end, replacing_start, replacing_end FROM readings"
                " WHERE document = ? AND list = ? ORDER BY replaced_start",
                (document, head),
            )
            lists[document, head] = tuple(Reading(*pair) for pair in pairs)
        source_document, source, start, end, law, law_name, target, last = row
        found.append(
            Reference(
                source_document,
                Locator.parse(source),
                start,
                end,
                "reads",
                law or "",
                law_name,
                Locator.parse(target),
                None if last is None else Locator.parse(last),
                Reads(lists[document, head], part, tuple(map(Locator.parse, excepted.split()))),
            )
        )
    return found
