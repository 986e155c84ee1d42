"""Lists of documents, and edges between provisions."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unicodedata import is_normalized, normalize

from localrag.corpus.database import Database, Row
from localrag.corpus.facets import Facets, facets_of
from localrag.corpus.links import (
    DELEGATES,
    REFERENCES,
    Connection,
    Definition,
    Reference,
)
from localrag.corpus.rows import locator_of, passage_id
from localrag.corpus.states import INFO, OLD_AFTER, DocumentInfo, info
from localrag.corpus.types import Locator
from localrag.errors import NotFoundError
from localrag.language import N_
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import without_blanks

Asked = TypeVar("Asked", bound=Hashable)
Answer = TypeVar("Answer")

# Answers kept between questions, some hundred texts of provisions among them.
_MOST = 10_000


class LookupCache:
    """A cache of look-ups in one database, by name and question.

    It keeps answers only inside `holding`, so a reader outside always sees the latest write.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._answers: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        self._mark: tuple[int, int] | None = None
        self._holds = False

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Cache all look-ups made inside. The file is checked for changes once, at the start."""
        if self._holds:
            yield
            return
        mark = self._database.mark
        if mark != self._mark or sum(map(len, self._answers.values())) > _MOST:
            self._answers.clear()
            self._mark = mark
        self._holds = True
        try:
            yield
        finally:
            self._holds = False

    def once(self, name: str, asked: Asked, look_up: Callable[[Asked], Answer]) -> Answer:
        """Answer one question."""
        if not self._holds:
            return look_up(asked)
        known: dict[Asked, Answer] = self._answers[name]
        if asked not in known:
            known[asked] = look_up(asked)
        return known[asked]

    def of_each(
        self,
        name: str,
        asked: Iterable[Asked],
        look_up: Callable[[Collection[Asked]], Mapping[Asked, Answer]],
    ) -> dict[Asked, Answer]:
        """Answer several questions, in their order; `look_up` takes several at once."""
        wanted = list(asked)
        known: Mapping[Asked, Answer] = self._answers[name] if self._holds else {}
        unknown = {one for one in wanted if one not in known}
        found = look_up(unknown) if unknown else {}
        self.keep(name, found)
        return {
            one: known[one] if one in known else found[one]
            for one in wanted
            if one in known or one in found
        }

    def keep(self, name: str, answers: Mapping[Asked, Answer]) -> None:
        """Store answers found in another way."""
        if self._holds:
            self._answers[name].update(answers)


# Titles searched while the user types: a tenth of a second.
_TITLES = 50_000
# Documents per query: one page in memory, and slow readers block no writer.
_PAGE = 1_000


class Ages(NamedTuple):
    """Ages of the law texts in a corpus."""

    laws: int
    old: int  # number of old texts; see `DocumentInfo.old`
    newest: str  # newest, since: ISO dates of the newest and the oldest text; "" without one
    oldest: str  # title of the law with the oldest text; "" if no text is old
    since: str

    def told(self, day: date) -> Fact | None:
        """A fact about old texts on a day; None if no text is old."""
        if not self.old:
            return None
        return Fact(
            FactKind.TEXTS_OLD,
            old=self.old,
            laws=self.laws,
            months=OLD_AFTER,
            day=day.isoformat(),
            law=self.oldest,
            date=self.since,
        )


class Titled(NamedTuple):
    """Ids and titles found, and whether all titles were searched (`complete`)."""

    found: list[tuple[str, str]]
    complete: bool


class Stand(NamedTuple):
    """Place of a passage in its document, without its text."""

    passage_id: str
    header: str
    locator: Locator
    start: int
    end: int


class Extent(NamedTuple):
    """Size of a corpus."""

    documents: int
    passages: int
    characters: int


class Browsing:
    """Lists of documents and of their passages, without texts."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._memory = LookupCache(database)
        self._facets: Facets | None = None
        self._facets_made_of: tuple[int, int] | None = None

    @property
    def corpus(self) -> str:
        """The name of the corpus: its folder's name."""
        return self._db.path.parent.name

    def ages(self) -> "Ages":
        """Ages of the law texts on the shown day."""
        laws, old, newest = self._db.rows(
            "SELECT count(*), coalesce(sum(old), 0), coalesce(max(state), '') FROM shown"
            " WHERE kind = 'law'"
        )[0]
        oldest = self._db.row(
            "SELECT title, state FROM shown WHERE kind = 'law' AND old ORDER BY state LIMIT 1"
        )
        return Ages(laws, old, newest, *(oldest or ("", "")))

    def holding(self) -> AbstractContextManager[None]:
        """Cache documents and passages looked up inside; see `LookupCache.holding`."""
        return self._memory.holding()

    def kept(self, name: str, make: Callable[[], Answer]) -> Answer:
        """A value made from the whole corpus, made again after each change."""
        with self._memory.holding():
            return self._memory.once(name, "", lambda _: make())

    def _any(self, query: str) -> bool:
        return self.kept(query, lambda: self._db.row(query) is not None)

    def _column(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return [row[0] for row in self._db.rows(query, values)]

    def _number(self, query: str, values: Sequence[Any] = ()) -> int | None:
        row = self._db.row(query, values)
        return int(row[0]) if row else None

    @property
    def stamp(self) -> int:
        """A random number, renewed by every change of the store; an index fits only its stamp."""
        return self._meta("stamp")

    @property
    def facets(self) -> Facets:
        """Facets of the shown documents; a damaged file of a model's is a StoreError."""
        told = self.facets_file
        made_of = (self.stamp, told.stat().st_mtime_ns if told.exists() else 0)
        if self._facets is None or made_of != self._facets_made_of:
            self._facets = facets_of(self._db, told)
            self._facets_made_of = made_of
        return self._facets

    @property
    def facets_file(self) -> Path:
        """File of the metadata found by a model; it may be missing."""
        return self._db.path.with_name("layers") / "facets.json"

    @property
    def works_in_states(self) -> int:
        """Number of laws with several states."""
        return (
            self._number(
                "SELECT count(DISTINCT work) FROM documents INDEXED BY documents_later"
                " WHERE shown_from <> ''"
            )
            or 0
        )

    def kinds(self) -> dict[str, int]:
        """Count the documents of each kind."""
        return dict(
            self._db.rows("SELECT kind, count(*) FROM shown GROUP BY kind ORDER BY min(key)")
        )

    def documents(self, kind: str | None = None) -> Iterator[DocumentInfo]:
        """List all documents, or all of one kind, in insertion order."""
        last = 0
        while page := self._db.rows(
            f"{INFO} FROM shown WHERE key > ? AND (? IS NULL OR kind = ?) ORDER BY key LIMIT ?",
            (last, kind, kind, _PAGE),
        ):
            yield from map(partial(info, self._db), page)
            last = page[-1][0]

    def extent(self) -> Extent:
        """Count documents, passages and characters."""
        select = "SELECT count(*), ifnull(sum(passages), 0), ifnull(sum(characters), 0)"
        return Extent(*self._db.rows(f"{select} FROM shown")[0])

    def listed(self, kind: str, after: str = "", limit: int = 100) -> list[tuple[str, str]]:
        """List up to `limit` ids and titles of a kind in insertion order, after an id."""
        last = self._require(after) if after else 0
        return self._db.rows(
            "SELECT id, title FROM shown WHERE kind = ? AND key > ? ORDER BY key LIMIT ?",
            (kind, last, limit),
        )

    def titled(self, words: str, limit: int) -> Titled:
        """Find documents other than laws by part of their title, in any case and width.

        Beyond 50,000 titles, only ids are compared, by their start.
        """
        wanted = without_blanks(words)
        if not wanted:
            return Titled([], True)
        found: dict[str, str] = dict(
            self._db.rows(
                "SELECT id, title FROM shown WHERE id >= ? AND id < ? AND kind <> 'law'"
                " ORDER BY id LIMIT ?",
                (words, f"{words}\U0010ffff", limit),
            )
        )
        rows = self._db.rows(
            "SELECT id, title FROM shown WHERE kind <> 'law' ORDER BY key LIMIT ?", (_TITLES + 1,)
        )
        for id_, title in rows[:_TITLES]:
            if len(found) == limit:
                break
            if wanted in without_blanks(title):
                found[id_] = title
        return Titled(list(found.items()), len(rows) <= _TITLES)

    @property
    def is_of_laws(self) -> bool:
        """Whether all documents are laws."""
        return not self._any("SELECT 1 FROM shown WHERE kind <> 'law' LIMIT 1")

    def texts_entitled(self, words: str) -> list[str]:
        """Ids of documents other than laws with these words in their title."""
        if self.is_of_laws:
            return []
        return self._column(
            "SELECT id FROM shown WHERE kind <> 'law' AND instr(title, ?) ORDER BY key", (words,)
        )

    def titles(self) -> Iterator[tuple[int, str]]:
        """Yield keys and titles of all documents other than laws, in insertion order."""
        last = 0
        while page := self._db.rows(
            "SELECT key, title FROM shown WHERE kind <> 'law' AND key > ? ORDER BY key LIMIT ?",
            (last, _PAGE),
        ):
            yield from page
            last = page[-1][0]

    def standing(self, document_id: str, layer: str) -> list[Stand]:
        """List the places of the passages in a layer, in reading order."""
        rows = self._db.rows(
            'SELECT locator, place, section, page, header, start, "end" FROM passages'
            " WHERE document = ? AND layer = (SELECT key FROM layers WHERE name = ?) ORDER BY key",
            (self._require(document_id), layer),
        )
        return [
            Stand(
                passage_id(document_id, path, place),
                header,
                locator_of(path, section, page),
                start,
                end,
            )
            for path, place, section, page, header, start, end in rows
        ]

    def _meta(self, name: str) -> int:
        return self._number("SELECT value FROM meta WHERE name = ?", (name,)) or 0

    def _key(self, document_id: str) -> int | None:
        return self._memory.once("documents", document_id, self._find_key)

    def _find_key(self, document_id: str) -> int | None:
        key = self._exact_key(document_id)
        if key is None and (written := self._written_otherwise(document_id)):
            return self._exact_key(written)
        return key

    def _exact_key(self, document_id: str) -> int | None:
        return self._number("SELECT key FROM shown WHERE id = ?", (document_id,)) or self._number(
            "SELECT key FROM documents WHERE id = ?", (document_id,)
        )

    def id_of(self, name: str) -> str:
        """The document id for a name, equal to it in NFC; the name itself without such a document.

        macOS decomposes the characters of file names (か plus a mark for が). An exact id comes
        first.
        """
        if name.isascii() or self._exact_key(name) is not None:
            return name
        return self._written_otherwise(name) or name

    def _written_otherwise(self, name: str) -> str:
        if name.isascii():
            return ""
        composed = normalize("NFC", name)
        if composed != name and self._exact_key(composed) is not None:
            return composed
        return self.kept("composed", self._find_decomposed).get(composed, "")

    def _find_decomposed(self) -> dict[str, str]:
        ids = self._column("SELECT id FROM documents")
        return {normalize("NFC", id_): id_ for id_ in ids if not is_normalized("NFC", id_)}

    def named(self, name: str) -> list[str]:
        """Ids of documents with this file name, in any folder, zip or message."""
        return self.kept("names of files", self._find_names).get(normalize("NFC", name), [])

    def _find_names(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for id_ in self._column("SELECT id FROM shown WHERE id GLOB '*[!/]*'"):
            found.setdefault(normalize("NFC", re.split("[!/]", id_)[-1]), []).append(id_)
        return found

    def _work(self, document_id: str) -> int:
        return self._memory.once("works", document_id, self._find_work)

    def _find_work(self, document_id: str) -> int:
        work = self._number("SELECT key FROM works WHERE id = ?", (document_id,))
        of_state = "SELECT work FROM documents WHERE id = ?"
        return work or self._number(of_state, (document_id,)) or 0

    def _require(self, document_id: str) -> int:
        key = self._key(document_id)
        if key is None:
            raise NotFoundError(
                N_("The corpus has no document {document_id!r}."),
                N_("See its documents: localrag list {corpus}"),
                document_id=document_id,
                corpus=self.corpus,
            )
        return key

    def _rows_by_key(
        self,
        select: str,
        column: str,
        keys: Collection[int] | Collection[str],
        rest: str = "",
        *values: int,
    ) -> Iterator[Row]:
        # In parts: SQLite limits the values of one statement.
        ordered = sorted(keys)
        for first in range(0, len(ordered), 512):
            part = ordered[first : first + 512]
            # Few different lengths let SQLite reuse statements; parsing costs more than running.
            part += part[-1:] * ((1 << (len(part) - 1).bit_length()) - len(part))
            marks = ",".join("?" * len(part))
            yield from self._db.rows(
                f"{select} WHERE {column} IN ({marks}){rest}", (*part, *values)
            )


class Derived(Browsing):
    """Edges between provisions, and definitions of terms."""

    @property
    def links_generation(self) -> int:
        """The generation of the stored references and definitions; -1 before."""
        return self._meta("links_generation")

    def references_from(self, document_id: str, locator: Locator, *kinds: str) -> list[Reference]:
        """List the edges from a provision and its inside, by default those in `REFERENCES`."""
        return self._references_of(self._require(document_id), locator, kinds or REFERENCES)

    def _references_of(
        self, document: int, locator: Locator, kinds: Sequence[str]
    ) -> list[Reference]:
        return self._references(
            "WHERE edges.document = ? AND edges.source >= ? AND edges.source < ?"
            f" AND edges.kind IN ({_marks(kinds)})"
            ' ORDER BY edges.start, edges."end", edges.key',
            (document, *locator.bounds, *kinds),
        )

    def references_to(self, document_id: str, locator: Locator, *kinds: str) -> list[Reference]:
        """List the edges to a provision or its inside, ranges included."""
        # A document without a work does not exist.
        work = self._work(document_id) or self._require(document_id)
        wanted = kinds or REFERENCES
        return self._references(
            "WHERE edges.key IN (SELECT edge FROM reached"  # noqa: S608 - constants and marks
            f" WHERE law = ? AND place >= ? AND place < ?) AND {_IS_SHOWN}"
            f" AND edges.kind IN ({_marks(wanted)}) ORDER BY edges.document, edges.key",
            (work, *locator.bounds, *wanted),
        )

    def dependents(
        self, document_id: str, locator: Locator, *kinds: str
    ) -> list[tuple[str, str, str, str]]:
        """List the provisions with edges to a place or its inside: law id, title, path, kind."""
        return self._db.rows(
            "SELECT shown.id, shown.title, edges.source, edges.kind"  # noqa: S608 - marks
            " FROM reached JOIN edges ON edges.key = edge"
            " JOIN shown ON shown.key = edges.document"
            " WHERE reached.law = ? AND place >= ? AND place < ?"
            f" AND edges.kind IN ({_marks(kinds)})"
            " GROUP BY shown.key, edges.source, edges.kind ORDER BY shown.key, min(edges.key)",
            (self._work(document_id), *locator.bounds, *kinds),
        )

    def connections_from(self, document_id: str, locator: Locator, limit: int) -> list[Connection]:
        """List the targets of a provision's references, each once, at most `limit`."""
        return self._connections(
            f"works.id, {_article('edges.target')}, edges.kind, edges.source"
            " FROM edges JOIN works ON works.key = edges.law WHERE edges.target <> ''"
            " AND edges.document = ? AND edges.source >= ? AND edges.source < ?",
            (self._key(document_id) or 0, *locator.bounds),
            limit,
        )

    def connections_to(self, document_id: str, locator: Locator, limit: int) -> list[Connection]:
        """List the sources of references to a provision or its inside, each once."""
        return self._connections(
            f"shown.id, {_article('edges.source')}, edges.kind, place"
            " FROM reached JOIN edges ON edges.key = edge"
            " JOIN shown ON shown.key = edges.document"
            " WHERE reached.law = ? AND place >= ? AND place < ?",
            (self._work(document_id), *locator.bounds),
            limit,
        )

    def _connections(self, query: str, values: Sequence[Any], limit: int) -> list[Connection]:
        rows = self._db.rows(
            f"SELECT DISTINCT {query} AND edges.kind IN ({_marks(REFERENCES)}) LIMIT ?",
            (*values, *REFERENCES, limit),
        )
        return [Connection(*row) for row in rows]

    def definitions_of(self, term: str) -> list[Definition]:
        """List the definitions of an exact term."""
        of_term = f"edges.name = ? AND {_IS_SHOWN} ORDER BY edges.document, edges.key"
        return self._definitions(of_term, term)

    def definitions_in(self, document_id: str) -> list[Definition]:
        """List the definitions in a document, in reading order."""
        return self._definitions(
            "edges.document = ? ORDER BY edges.key", self._require(document_id)
        )

    def _definitions(self, condition: str, value: str | int) -> list[Definition]:
        found = self._references(f"WHERE edges.kind = 'defines' AND {condition}", (value,))
        return list(map(Definition.of_edge, found))

    def _references(self, condition: str, values: Sequence[Any]) -> list[Reference]:
        rows = self._db.rows(f"{_EDGES} {condition}", values)
        return [_reference(self._db, row) for row in rows]

    def documents_referring(self, law_id: str, kind: str) -> list[str]:
        """Ids of documents with this kind of edge to a law (``delegated-by``)."""
        return self._column(
            "SELECT DISTINCT id FROM reached JOIN edges ON edges.key = edge"
            " JOIN shown ON shown.key = edges.document"
            " WHERE reached.law = ? AND edges.kind = ? ORDER BY shown.key",
            (self._work(law_id), kind),
        )

    def absent_names(self) -> list[tuple[str, int, int]]:
        """Names of laws cited but not in the corpus, with their citations and citing laws.

        Among them are words for laws (旧法), and numbers of amending laws. The most cited come
        first.
        """
        kinds = [kind for kind in REFERENCES if kind != DELEGATES]
        return self._db.rows(
            "SELECT name, count(*), count(DISTINCT edges.document) FROM edges"  # noqa: S608
            f" WHERE law IS NULL AND name <> '' AND kind IN ({_marks(kinds)}) AND {_IS_SHOWN}"
            " GROUP BY name ORDER BY 3 DESC, 2 DESC, name",
            kinds,
        )


_IS_SHOWN = "EXISTS (SELECT 1 FROM shown WHERE shown.key = edges.document)"


def _article(column: str) -> str:
    # The path up to its first dot: the article with its division.
    return f"substr({column}, 1, instr({column} || '.', '.') - 1)"


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))


_EDGES = (
    'SELECT edges.key, states.id, edges.source, edges.start, edges."end", edges.kind, works.id,'
    " edges.name, edges.target, edges.target_end, edges.detail, edges.document, edges.law,"
    " edges.mark FROM edges JOIN states ON states.key = edges.document"
    " LEFT JOIN works ON works.key = edges.law"
)


def _reference(database: Database, row: Row) -> Reference:
    """Read a row of `_EDGES`; a changed row is a StoreError."""
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
