"""References between provisions and definitions of terms, as the store keeps them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

from localrag.corpus.types import LawRow, Locator
from localrag.database import Database, Row, row_mark


class Reading(NamedTuple):
    """Words that are read in the place of others, as spans of the text that says so."""

    replaced_start: int
    replaced_end: int
    replacing_start: int
    replacing_end: int


class Reads(NamedTuple):
    """How a provision is read where another one applies it (読替え).

    Attributes:
        readings: the words, at least one pair.
        part: the part of the provision that has them as cited (ただし書), else "".
        excepted: what of the provision is not read so.
    """

    readings: tuple[Reading, ...]
    part: str = ""
    excepted: tuple[Locator, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference from one provision to another, or to a law as a whole.

    Attributes:
        document_id: the document that refers.
        source: the most exact provision that it stands in.
        start, end: its span in the text of that document.
        kind: ``refers``; ``applies-mutatis-mutandis`` (準用); ``delegates``, where a provision
            leaves something to an order (政令で定める); ``delegated-by``, where a provision of an
            order fills in what the target left to it; ``reads``, where it has words of the target
            read otherwise, see `localrag.corpus.derived`; ``changes``, where it has the target
            read or applied otherwise for the time being, see `changes_to`.
        law_id: the law referred to; empty where the corpus lacks it or several are possible.
        law_name: its title, or its name as cited; of delegations the kind of order.
        target: the provision; the empty locator for the law as a whole, and of delegations. The
            division of another law's appendix is its label as cited (別表第一), since only that law
            tells which it is.
        target_end: the last provision of a range.
        reads: the words, of the kind ``reads`` alone.
    """

    document_id: str
    source: Locator
    start: int
    end: int
    kind: str
    law_id: str
    law_name: str
    target: Locator
    target_end: Locator | None = None
    reads: Reads | None = None


class ReferenceRow(NamedTuple):
    """A `Reference` of one document ready to be written, its places as paths.

    To send one from one process to another takes a twentieth of the time.
    """

    source: str
    start: int
    end: int
    kind: str
    law_id: str
    law_name: str
    target: str
    target_end: str | None
    reads: Reads | None

    @classmethod
    def of(cls, reference: Reference) -> Self:
        """Make the row of a reference."""
        return cls(
            reference.source.path,
            reference.start,
            reference.end,
            reference.kind,
            reference.law_id,
            reference.law_name,
            reference.target.path,
            None if reference.target_end is None else reference.target_end.path,
            reference.reads,
        )


class Connection(NamedTuple):
    """A reference seen from one of its two provisions, as far as ranking needs it.

    Attributes:
        document_id, article: the other provision's document, and path of its article.
        kind: as in `Reference`.
        place: path of the exact place on this side of the reference.
    """

    document_id: str
    article: str
    kind: str
    place: str


class Citing(NamedTuple):
    """A reference to a provision, as far as it is needed to choose among thousands.

    Attributes:
        key: of the reference in the store.
        document: key of the document that refers.
        kind, source: as in `Reference`.
    """

    key: int
    document: int
    kind: str
    source: Locator


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a term is defined.

    Attributes:
        document_id, locator: the most exact provision that defines it.
        term: as written, in plain characters (`localrag_indexes.analysis.normalize`).
        start, end: span of the term in the text of the document.
        scope: how far the definition reaches, as written ("この条及び次条"); empty for the whole
            document from there on.
    """

    document_id: str
    locator: Locator
    term: str
    start: int
    end: int
    scope: str = ""


def subtree(path: str) -> tuple[str, str]:
    """Return the bounds (from, up to but without) of a place and all that stands inside it.

    Paths are joined by ``.`` and divisions end with ``/``. The character after ``.`` is ``/`` and
    the one after ``/`` is ``0``, so a place with its inside is one range of an index.
    """
    if not path:
        return "", "\U0010ffff"
    if path.endswith("/"):
        return path, f"{path[:-1]}0"
    return path, f"{path}/"


class Found(NamedTuple):
    """What was found in one document, by its key in the store."""

    document: int
    references: Sequence[ReferenceRow]
    definitions: Sequence[Definition]


def replace(
    database: Database,
    found: Iterable[Found],
    names: Sequence[LawRow],
    changed: Collection[int],
    *,
    everything: bool,
) -> tuple[int, int]:
    """Put what was found in some documents in the place of what is stored of them, all or nothing.

    Args:
        database: of the store.
        found: the documents.
        names: those of all laws, with which everything stored is found from now on.
        changed: documents whose provisions changed: ranges that reach into their works are
            expanded anew.
        everything: no other document keeps its links.

    Returns:
        How many references and definitions were found.
    """
    with database.transaction():
        keys = {id_: key for key, id_ in database.stream("SELECT key, id FROM works")}
        ranges = _Ranges(database)
        references = definitions = 0
        if everything:
            for table in ("refs", "reached", "definitions"):
                database.write(f"DELETE FROM {table}")  # noqa: S608 - fixed names
        for document, given, terms in found:
            for table in ("refs", "definitions"):
                database.write(f"DELETE FROM {table} WHERE document = ?", (document,))  # noqa: S608
            references += _write_references(database, document, given, keys, ranges)
            definitions += _write_definitions(database, document, terms)
            database.write("UPDATE documents SET linked = 1 WHERE key = ?", (document,))
        if not everything:
            _reach_again(database, changed, ranges)
        database.write("DELETE FROM linked_names")
        database.write_many("INSERT INTO linked_names VALUES (?, ?, ?, ?, ?)", names)
        database.write(
            "UPDATE meta SET value = (SELECT value FROM meta WHERE name = 'generation')"
            " WHERE name = 'links_generation'"
        )
    return references, definitions


def references_from(
    database: Database, document: int, path: str, kind: str | None
) -> list[Reference]:
    """List the references, of one kind or of all, of a provision and of what stands inside it.

    They are in reading order.
    """
    rows = database.rows(
        f"{REFERENCES} WHERE refs.document = ? AND refs.source >= ? AND refs.source < ?"
        " AND (? IS NULL AND refs.kind <> 'changes' OR refs.kind = ?)"
        ' ORDER BY refs.start, refs."end", refs.key',
        (document, *subtree(path), kind, kind),
    )
    return [reference_of(database, row) for row in rows]


def references_to(database: Database, law: int, path: str) -> list[Reference]:
    """List the references to a provision or to something inside it, by document and place."""
    return _reaching(database, law, path, "<>")


def changes_to(database: Database, law: int, path: str) -> list[Reference]:
    """List what has an article, or a part of it, read otherwise for the time being (当分の間)."""
    return _reaching(database, law, path, "=")


def _reaching(database: Database, law: int, path: str, changes: str) -> list[Reference]:
    rows = database.rows(
        f"{REFERENCES} WHERE refs.key IN"  # noqa: S608 - constants
        " (SELECT reference FROM reached WHERE law = ? AND place >= ? AND place < ?)"
        " AND EXISTS (SELECT 1 FROM shown WHERE shown.key = refs.document)"
        f" AND refs.kind {changes} 'changes' ORDER BY refs.document, refs.key",
        (law, *subtree(path)),
    )
    return [reference_of(database, row) for row in rows]


def citing(database: Database, law: int, path: str, kinds: Sequence[str]) -> list[Citing]:
    """List the references of some kinds to a provision or to something inside it, as above."""
    rows = database.rows(
        "SELECT key, document, kind, source FROM refs WHERE key IN"  # noqa: S608 - marks
        " (SELECT reference FROM reached WHERE law = ? AND place >= ? AND place < ?)"
        f" AND kind IN ({','.join('?' * len(kinds))}) ORDER BY document, key",
        (law, *subtree(path), *kinds),
    )
    return [Citing(key, document, kind, Locator.parse(path)) for key, document, kind, path in rows]


def connections_from(database: Database, document: int, path: str, limit: int) -> list[Connection]:
    """List where the references of a provision lead, each once, `limit` at most."""
    rows = database.rows(
        f"SELECT DISTINCT works.id, {_article('refs.target')}, refs.kind, refs.source"  # noqa: S608
        " FROM refs JOIN works ON works.key = refs.law"
        " WHERE refs.document = ? AND refs.source >= ? AND refs.source < ? AND refs.target <> ''"
        " AND refs.kind <> 'changes'"
        " LIMIT ?",
        (document, *subtree(path), limit),
    )
    return [Connection(*row) for row in rows]


def connections_to(database: Database, law: int, path: str, limit: int) -> list[Connection]:
    """List what refers to a provision or to something inside it, each once, `limit` at most."""
    rows = database.rows(
        f"SELECT DISTINCT shown.id, {_article('refs.source')}, refs.kind, place"  # noqa: S608
        " FROM reached JOIN refs ON refs.key = reference"
        " JOIN shown ON shown.key = refs.document"
        " WHERE reached.law = ? AND place >= ? AND place < ? AND refs.kind <> 'changes' LIMIT ?",
        (law, *subtree(path), limit),
    )
    return [Connection(*row) for row in rows]


def _article(column: str) -> str:
    # The part of a path before its first dot: the article, with its division.
    return f"substr({column}, 1, instr({column} || '.', '.') - 1)"


def definitions_of(database: Database, term: str) -> list[Definition]:
    """List where a term is defined."""
    rows = database.rows(
        f"{_DEFINITIONS} WHERE term = ?"  # noqa: S608 - a constant
        " AND EXISTS (SELECT 1 FROM shown WHERE shown.key = document)"
        " ORDER BY document, definitions.key",
        (term,),
    )
    return [_definition(row) for row in rows]


def definitions_in(database: Database, document: int) -> list[Definition]:
    """List what a document defines, in reading order."""
    rows = database.rows(f"{_DEFINITIONS} WHERE document = ? ORDER BY definitions.key", (document,))
    return [_definition(row) for row in rows]


REFERENCES = (
    'SELECT refs.key, states.id, refs.source, refs.start, refs."end", refs.kind, works.id,'
    " refs.law_name, refs.target, refs.target_end, refs.document, refs.law, refs.mark FROM refs"
    " JOIN states ON states.key = refs.document"
    " LEFT JOIN works ON works.key = refs.law"
)

_DEFINITIONS = (
    'SELECT states.id, locator, term, start, "end", scope FROM definitions'
    " JOIN states ON states.key = definitions.document"
)


def _definition(row: Row) -> Definition:
    document, path, *rest = row
    return Definition(document, Locator.parse(path), *rest)


def reference_of(database: Database, row: Row) -> Reference:
    """Read a row of `REFERENCES`.

    Raises:
        StoreError: it is not what was stored.
    """
    _, document, *said, of, to, mark = row
    source, start, end, kind, law, law_name, target, target_end = said
    stored = (of, source, start, end, kind, to, law_name, target, target_end)
    database.require_marked(stored, mark, document)
    return Reference(
        document,
        Locator.parse(source),
        start,
        end,
        kind,
        law or "",
        law_name,
        Locator.parse(target),
        None if target_end is None else Locator.parse(target_end),
    )


def _write_references(
    database: Database,
    document: int,
    references: Sequence[ReferenceRow],
    works: Mapping[str, int],
    ranges: "_Ranges",
) -> int:
    # Keys are never used again: rows of `reached` may outlive the reference they are of.
    last = database.row("SELECT seq FROM sqlite_sequence WHERE name = 'refs'")
    rows, reached = [], []
    for number, found in enumerate(references, start=(last[0] if last else 0) + 1):
        source, start, end, kind, law_id, law_name, target, target_end, _ = found
        law = works.get(law_id)
        row = (document, source, start, end, kind, law, law_name, target, target_end)
        rows.append((number, *row, row_mark(*row)))
        if law is not None:
            places = [target] if target_end is None else ranges.expand(law, target, target_end)
            reached += [(law, place, number) for place in places]
    database.write_many("INSERT INTO refs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    database.write_many("INSERT OR IGNORE INTO reached VALUES (?, ?, ?)", reached)
    return len(rows)


def _write_definitions(database: Database, document: int, definitions: Sequence[Definition]) -> int:
    database.write_many(
        'INSERT INTO definitions (document, term, locator, start, "end", scope)'
        " VALUES (?, ?, ?, ?, ?, ?)",
        ((document, d.term, d.locator.path, d.start, d.end, d.scope) for d in definitions),
    )
    return len(definitions)


def _reach_again(database: Database, changed: Collection[int], ranges: "_Ranges") -> None:
    """Expand the ranges anew that lead into works whose provisions changed."""
    works = {
        work
        for document in changed
        for (work,) in database.rows("SELECT work FROM documents WHERE key = ?", (document,))
    }
    for work in works:
        reaching = database.rows(
            "SELECT key, target, target_end FROM refs WHERE law = ? AND target_end IS NOT NULL",
            (work,),
        )
        for key, first, last in reaching:
            database.write("DELETE FROM reached WHERE law = ? AND reference = ?", (work, key))
            database.write_many(
                "INSERT OR IGNORE INTO reached VALUES (?, ?, ?)",
                ((work, place, key) for place in ranges.expand(work, first, last)),
            )


# Laws whose provisions are kept at hand: ranges in one law lead to a few others, again and again.
_LAWS = 64


class _Ranges:
    """Expands 第三条から第七条まで against the provisions a law really has."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._children = lru_cache(maxsize=_LAWS)(self._read_children)

    def expand(self, law: int, first: str, last: str) -> list[str]:
        """Places from `first` to `last`; only the two ends where the law lacks one of them."""
        siblings = self._children(law).get(_parent(first), [])
        try:
            return siblings[siblings.index(first) : siblings.index(last) + 1] or [first, last]
        except ValueError:
            return [first, last]

    def _read_children(self, law: int) -> dict[str, list[str]]:
        children = defaultdict(list)
        for (path,) in self._database.rows(
            "SELECT locator FROM passages WHERE document ="
            " (SELECT key FROM documents WHERE work = ? ORDER BY shown_from DESC LIMIT 1)"
            " AND place IS NULL ORDER BY key",
            (law,),
        ):
            children[_parent(path)].append(path)
        return children


def _parent(path: str) -> str:
    # Without a dot the parent is the division: "suppl1/3" -> "suppl1/", "5" -> "".
    head, dot, _ = path.rpartition(".")
    return head if dot else path[: path.rfind("/") + 1]
