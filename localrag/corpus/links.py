"""Edges between provisions, and definitions of terms, as the store keeps them.

Indexing finds them once; asking follows the kinds that are wanted.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

from localrag.corpus.types import LawRow, Locator
from localrag.database import Database, Row, row_mark

REFERS = "refers"
APPLIES = "applies-mutatis-mutandis"
"""準用."""
DELEGATES = "delegates"
"""A provision leaves something to an order (政令で定める)."""
DELEGATED_BY = "delegated-by"
"""A provision of an order fills in what the target left to it."""
CARRIES_OUT = "carries-out"
"""A paragraph of an order opens with the target, which may leave a point to it."""
READS = "reads"
"""A provision has words of the target read otherwise (読替え), see `Reads`."""
CHANGES = "changes"
"""A provision has the target read or applied otherwise for the time being (当分の間)."""
PUNISHES = "punishes"
"""A penal provision names the target, whose breach it punishes; itself where it says what is."""
PUNISHES_A_BODY = "punishes-a-body"
"""It punishes the legal person for which the doer of such a breach acted."""
BY_ORDER = "by-order"
"""The detail of an edge of these two to what only an order under it makes punishable."""
DEFINES = "defines"
"""A provision defines a term, see `Definition`."""

REFERENCES = (REFERS, APPLIES, DELEGATES, DELEGATED_BY)
"""The kinds that a text itself tells by citing; the others tell more of some of them."""
KINDS = (*REFERENCES, CARRIES_OUT, READS, CHANGES, PUNISHES, PUNISHES_A_BODY, DEFINES)
"""All of them."""


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

    def as_detail(self) -> str:
        """As an edge keeps it."""
        places = [place.path for place in self.excepted]
        return json.dumps([self.readings, self.part, places], ensure_ascii=False)

    @classmethod
    def of_detail(cls, detail: str) -> Self:
        """Read what `as_detail` made."""
        readings, part, places = json.loads(detail)
        pairs = tuple(Reading(*pair) for pair in readings)
        return cls(pairs, part, tuple(map(Locator.parse, places)))


@dataclass(frozen=True, slots=True)
class Reference:
    """An edge from one provision to another, or to a law as a whole.

    Attributes:
        document_id: the document that says so.
        source: the most exact provision that it stands in.
        start, end: the span that says so, in the text of that document.
        kind: one of the kinds above.
        law_id: the law referred to; empty where the corpus lacks it or several are possible.
        law_name: its title, or its name as cited; of delegations the kind of order.
        target: the provision; the empty locator for the law as a whole, and of delegations. The
            division of another law's appendix is its label as cited (別表第一), since only that law
            tells which it is.
        target_end: the last provision of a range.
        detail: what else was found with it, as JSON: of ``reads`` the words, of what is left to
            orders and fills it in the words that tell the point (`localrag.statutes.delegations`).
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
    detail: str = ""

    @property
    def reads(self) -> Reads | None:
        """The words, of the kind ``reads`` alone."""
        return Reads.of_detail(self.detail) if self.kind == READS else None


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
    detail: str

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
            reference.detail,
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


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a term is defined.

    Attributes:
        document_id, locator: the most exact provision that defines it.
        term: as written, in plain characters (`localrag_indexes.analysis.normalize`).
        start, end: span of the term in the text of the document.
        scope: how far the definition reaches, as written ("この条及び次条"); empty for the whole
            document from there on.
        aside: how far it is from saying the meaning alone and for the whole law, 0 at best.
    """

    document_id: str
    locator: Locator
    term: str
    start: int
    end: int
    scope: str = ""
    aside: int = 0

    @classmethod
    def of_edge(cls, edge: Reference) -> Self:
        """Read the definition that an edge keeps."""
        scope, aside = json.loads(edge.detail)
        return cls(edge.document_id, edge.source, edge.law_name, edge.start, edge.end, scope, aside)


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
            for table in ("edges", "reached"):
                database.write(f"DELETE FROM {table}")  # noqa: S608 - fixed names
        for document, given, terms in found:
            database.write("DELETE FROM edges WHERE document = ?", (document,))
            _write(database, document, [*given, *map(_of_term, terms)], keys, ranges)
            references += sum(one.kind in (*REFERENCES, CHANGES) for one in given)
            definitions += len(terms)
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


EDGES = (
    'SELECT edges.key, states.id, edges.source, edges.start, edges."end", edges.kind, works.id,'
    " edges.name, edges.target, edges.target_end, edges.detail, edges.document, edges.law,"
    " edges.mark FROM edges JOIN states ON states.key = edges.document"
    " LEFT JOIN works ON works.key = edges.law"
)


def _of_term(one: Definition) -> ReferenceRow:
    detail = json.dumps([one.scope, one.aside], ensure_ascii=False)
    place = one.locator.path
    return ReferenceRow(place, one.start, one.end, DEFINES, "", one.term, "", None, detail)


def reference_of(database: Database, row: Row) -> Reference:
    """Read a row of `EDGES`.

    Raises:
        StoreError: it is not what was stored.
    """
    _, document, *said, of, to, mark = row
    source, start, end, kind, law, name, target, target_end, detail = said
    stored = (of, source, start, end, kind, to, name, target, target_end, detail)
    database.require_marked(stored, mark, document)
    return Reference(
        document,
        Locator.parse(source),
        start,
        end,
        kind,
        law or "",
        name,
        Locator.parse(target),
        None if target_end is None else Locator.parse(target_end),
        detail,
    )


def _write(
    database: Database,
    document: int,
    edges: Sequence[ReferenceRow],
    works: Mapping[str, int],
    ranges: "_Ranges",
) -> None:
    # Keys are never used again: rows of `reached` may outlive the edge they are of.
    last = database.row("SELECT seq FROM sqlite_sequence WHERE name = 'edges'")
    rows, reached = [], []
    for number, found in enumerate(edges, start=(last[0] if last else 0) + 1):
        source, start, end, kind, law_id, name, target, target_end, detail = found
        law = works.get(law_id)
        row = (document, source, start, end, kind, law, name, target, target_end, detail)
        rows.append((number, *row, row_mark(*row)))
        if law is not None:
            places = [target] if target_end is None else ranges.expand(law, target, target_end)
            reached += [(law, place, number) for place in places]
    database.write_many("INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    database.write_many("INSERT OR IGNORE INTO reached VALUES (?, ?, ?)", reached)


def _reach_again(database: Database, changed: Collection[int], ranges: "_Ranges") -> None:
    """Expand the ranges anew that lead into works whose provisions changed."""
    works = {
        work
        for document in changed
        for (work,) in database.rows("SELECT work FROM documents WHERE key = ?", (document,))
    }
    for work in works:
        reaching = database.rows(
            "SELECT key, target, target_end FROM edges WHERE law = ? AND target_end IS NOT NULL",
            (work,),
        )
        for key, first, last in reaching:
            database.write("DELETE FROM reached WHERE law = ? AND edge = ?", (work, key))
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
