"""What provisions have read otherwise (読替え), as the store keeps it.

Readings that hold for several provisions are kept once, as a list.
"""

from collections.abc import Iterable

from localrag.corpus.links import Reading, Reads, Reference, ReferenceRow, subtree
from localrag.corpus.types import Locator
from localrag.database import Database, Row

_COLUMNS = (
    'SELECT states.id, reads.source, reads.start, reads."end", works.id, reads.law_name,'
    " reads.target, reads.target_end, part, excepted, reads.document, list FROM reads"
    " JOIN states ON states.key = reads.document"
    " LEFT JOIN works ON works.key = reads.law"
)


def enter(
    database: Database, document: int, references: Iterable[ReferenceRow]
) -> list[ReferenceRow]:
    """Put the readings among the references of a document in the place of those stored of it.

    Returns:
        The other references.
    """
    for table in ("reads", "readings"):
        database.write(f"DELETE FROM {table} WHERE document = ?", (document,))  # noqa: S608 - fixed
    others = []
    for reference in references:
        if reference.reads is None:
            others.append(reference)
        else:
            _write(database, document, reference, reference.reads)
    return others


def _write(database: Database, document: int, reference: ReferenceRow, reads: Reads) -> None:
    head = reads.readings[0].replaced_start
    law = database.row("SELECT key FROM works WHERE id = ?", (reference.law_id,))
    database.write(
        'INSERT INTO reads (document, source, start, "end", law, law_name, target, target_end,'
        " part, excepted, list) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document,
            reference.source,
            reference.start,
            reference.end,
            law and law[0],
            reference.law_name,
            reference.target,
            reference.target_end,
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
        law: key of its law, as a work.
        path: of the article.
    """
    rows = database.rows(
        f"{_COLUMNS} WHERE reads.key IN"  # noqa: S608 - a constant
        " (SELECT key FROM reads WHERE law = ? AND target >= ? AND target < ?"
        " UNION SELECT key FROM reads WHERE law = ? AND target_end IS NOT NULL)"
        " AND EXISTS (SELECT 1 FROM shown WHERE shown.key = reads.document)"
        " ORDER BY reads.document, reads.key",
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
