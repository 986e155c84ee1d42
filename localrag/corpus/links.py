"""Edges between provisions and definitions of terms, as stored.

Indexing finds them once; a search follows the kinds it needs.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self

from localrag.corpus.database import Database, row_mark
from localrag.corpus.types import LawRow, Locator

REFERS = "refers"
APPLIES = "applies-mutatis-mutandis"
"""準用."""
DELEGATES = "delegates"
"""A provision leaves a point to an order (政令で定める)."""
DELEGATED_BY = "delegated-by"
"""A provision of an order settles a point left to it by the target."""
CARRIES_OUT = "carries-out"
"""A paragraph of an order opens with the target."""
READS = "reads"
"""A provision replaces words of the target (読替え); see `Reads`."""
CHANGES = "changes"
"""A provision changes the target for the time being (当分の間)."""
PUNISHES = "punishes"
"""A penal provision punishes a breach of the target, or defines the offence itself."""
PUNISHES_A_BODY = "punishes-a-body"
"""A penal provision punishes the legal person behind such a breach."""
BY_ORDER = "by-order"
"""Detail of a penal edge: only an order under the target defines the offence."""
REQUIRES = "requires"
"""A provision requires a licence or a notification under the target, or for it."""
DEFINES = "defines"
"""A provision defines a term; see `Definition`."""

REFERENCES = (REFERS, APPLIES, DELEGATES, DELEGATED_BY)
"""Kinds found in the citations of a text; other kinds add detail."""
KINDS = (
    *REFERENCES,
    CARRIES_OUT,
    READS,
    CHANGES,
    PUNISHES,
    PUNISHES_A_BODY,
    REQUIRES,
    DEFINES,
)
"""All kinds."""


class Reading(NamedTuple):
    """Replaced and replacing words, as spans of the text of the provision."""

    replaced_start: int
    replaced_end: int
    replacing_start: int
    replacing_end: int


class Reads(NamedTuple):
    """A replacement of words in a provision applied elsewhere (読替え).

    Attributes:
        readings: at least one pair of words.
        part: part of the provision as cited (ただし書), or "".
        excepted: places without the replacement.
    """

    readings: tuple[Reading, ...]
    part: str = ""
    excepted: tuple[Locator, ...] = ()

    def as_detail(self) -> str:
        """Write as the detail of an edge."""
        places = [place.path for place in self.excepted]
        return json.dumps([self.readings, self.part, places], ensure_ascii=False)

    @classmethod
    def of_detail(cls, detail: str) -> Self:
        """Read the detail of an edge."""
        readings, part, places = json.loads(detail)
        pairs = tuple(Reading(*pair) for pair in readings)
        return cls(pairs, part, tuple(map(Locator.parse, places)))


@dataclass(frozen=True, slots=True)
class Reference:
    """An edge from a provision to another one, or to a whole law.

    Attributes:
        document_id: the citing document.
        source: the innermost citing provision.
        start, end: span of the citation in that document.
        kind: one of the kinds above.
        law_id: the cited law; "" if it is not in the corpus or ambiguous.
        law_name: its title, or its name as cited; for delegations the kind of order.
        target: the provision; the empty locator for a whole law or a delegation. An appendix of
            another law has its label as division (別表第一).
        target_end: the last provision of a range.
        detail: JSON: the words of ``reads``, or the point of a delegation
            (`localrag.law.delegations`).
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
        """The replaced words; None for other kinds."""
        return Reads.of_detail(self.detail) if self.kind == READS else None


class ReferenceRow(NamedTuple):
    """A `Reference` with its places as paths.

    Sending it between processes takes a twentieth of the time.
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
    """One end of a reference, as needed for ranking.

    Attributes:
        document_id, article: document and article path of the other end.
        kind: as in `Reference`.
        place: path of the exact place on this end.
    """

    document_id: str
    article: str
    kind: str
    place: str


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition of a term.

    Attributes:
        document_id, locator: the innermost defining provision.
        term: as written, in plain characters (`localrag_indexes.analysis.normalize`).
        start, end: span of the term in the document.
        scope: scope as written ("この条及び次条"); "" for the rest of the document.
        aside: 0 for a plain definition for the whole law; higher for less direct ones.
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
        """Read the definition in an edge."""
        scope, aside = json.loads(edge.detail)
        return cls(edge.document_id, edge.source, edge.law_name, edge.start, edge.end, scope, aside)


class Found(NamedTuple):
    """References and definitions of one document, by its key in the store."""

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
    """Replace the stored edges of some documents, in one transaction.

    Args:
        database: of the store.
        found: the documents.
        names: names of all laws, used for all stored edges from now on.
        changed: documents with changed provisions; ranges into their works are expanded again.
        everything: delete the edges of all other documents.

    Returns:
        Numbers of references and definitions.
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


def _of_term(one: Definition) -> ReferenceRow:
    detail = json.dumps([one.scope, one.aside], ensure_ascii=False)
    place = one.locator.path
    return ReferenceRow(place, one.start, one.end, DEFINES, "", one.term, "", None, detail)


def _write(
    database: Database,
    document: int,
    edges: Sequence[ReferenceRow],
    works: Mapping[str, int],
    ranges: "_Ranges",
) -> None:
    # Keys are never reused: rows of `reached` may outlive their edge.
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
    """Expand the ranges into works with changed provisions again."""
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


# Laws with cached provisions: ranges lead to the same few laws.
_LAWS = 64


class _Ranges:
    """Expands 第三条から第七条まで to the existing provisions of a law."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._children = lru_cache(maxsize=_LAWS)(self._read_children)

    def expand(self, law: int, first: str, last: str) -> list[str]:
        """Places from `first` to `last`; only these two if the law has not both."""
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
