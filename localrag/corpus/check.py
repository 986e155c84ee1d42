"""Is a corpus store sound? For `localrag doctor`."""

from localrag.database import Database
from localrag.errors import StoreError

_ORPHANS = {
    "blocks of no document": (
        "SELECT count(*) FROM blocks"
        " WHERE NOT EXISTS (SELECT 1 FROM documents WHERE key = blocks.key >> 20)"
    ),
    "documents whose text is not complete": (
        "SELECT count(*) FROM documents WHERE characters !="
        " (SELECT coalesce(sum(length(text)), 0) FROM blocks"
        "  WHERE blocks.key >= documents.key << 20 AND blocks.key < (documents.key + 1) << 20)"
    ),
    "passages outside the text of their document": (
        "SELECT count(*) FROM passages JOIN documents ON documents.key = document"
        ' WHERE start < 0 OR start > "end" OR "end" > characters'
    ),
    "passages of triples without a triple": (
        "SELECT count(*) FROM passages JOIN layers ON layers.key = layer"
        " WHERE name = 'triples'"
        " AND NOT EXISTS (SELECT 1 FROM triples WHERE passage = passages.key)"
    ),
    "triples without a name for their subject": (
        "SELECT (SELECT count(*) FROM triples) -"
        " (SELECT coalesce(sum(last - first + 1), 0) FROM names WHERE rank = 0)"
    ),
    "names of no triple": (
        "SELECT count(*) FROM names"
        " WHERE NOT EXISTS (SELECT 1 FROM triples WHERE passage = first)"
        " OR NOT EXISTS (SELECT 1 FROM triples WHERE passage = last)"
    ),
}


def check(database: Database) -> list[str]:
    """Read the whole file and say what is wrong, a sentence each; nothing when it is sound."""
    try:
        problems = [
            f"SQLite reports: {line}"
            for (line,) in database.rows("PRAGMA integrity_check(10)")
            if line != "ok"
        ]
        dangling = {row[0] for row in database.rows("PRAGMA foreign_key_check")}
        problems += [f"Table {table} has rows of no document." for table in sorted(dangling)]
        for what, query in _ORPHANS.items():
            count = database.rows(query)[0][0]
            if count:
                problems.append(f"The store has {count} {what}.")
    except StoreError as error:
        return [error.cause]
    return problems
