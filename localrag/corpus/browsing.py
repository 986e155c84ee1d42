"""Lists of what a corpus has, and what indexing derived of it: edges between provisions, terms."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unicodedata import is_normalized, normalize

from localrag.corpus.facets import Facets, facets_of
from localrag.corpus.links import (
    EDGES,
    REFERENCES,
    Connection,
    Definition,
    Reference,
    reference_of,
    subtree,
)
from localrag.corpus.rows import locator_of, passage_id
from localrag.corpus.states import INFO, OLD_AFTER, DocumentInfo, info
from localrag.corpus.types import Locator
from localrag.database import Database, Row
from localrag.errors import NotFoundError
from localrag.facts import Fact, FactKind
from localrag.language import N_
from localrag_indexes.analysis.normalize import without_blanks

Asked = TypeVar("Asked", bound=Hashable)
Answer = TypeVar("Answer")

# Answers kept from one question to the next: some hundred texts of provisions among them.
_MOST = 10_000


class Memory:
    """Answers of look-ups of one database.

    Outside of `holding` nothing is kept, and everything is looked up: who writes and then reads
    finds what was written. Look-ups are told apart by a name, for each of which questions and
    answers are of one kind.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._answers: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        self._mark: tuple[int, int] | None = None
        self._holds = False

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Keep what is looked up, and give it again.

        Whether the file was written since it was kept is looked at once, when this begins.
        """
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
        """The answer to one question."""
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
        """The answers to many questions, in their order; those without an answer are left out.

        Args:
            name: of the look-up.
            asked: the questions.
            look_up: answers several at once.
        """
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
        """Keep answers that were found by other means."""
        if self._holds:
            self._answers[name].update(answers)


# Titles that are looked at while somebody types: a tenth of a second.
_TITLES = 50_000
# Documents listed at once: a page in memory, and no writer waits for who reads slowly.
_PAGE = 1_000


class Ages(NamedTuple):
    """How old the texts of the laws of a corpus are.

    Attributes:
        laws: how many there are.
        old: how many have an old text; see `DocumentInfo.old`.
        newest: the day from which the newest text is in force (ISO); "" where no day is known.
        oldest: the title of the law with the oldest text; "" where none is old.
        since: the day from which that is in force.
    """

    laws: int
    old: int
    newest: str
    oldest: str
    since: str

    def told(self, day: date) -> Fact | None:
        """What is told of them on a day; None where none is old."""
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
    """Documents with some words in their titles.

    Attributes:
        found: their ids and titles.
        complete: whether the titles of all documents were looked at.
    """

    found: list[tuple[str, str]]
    complete: bool


class Stand(NamedTuple):
    """Where a passage stands in its document, without its text."""

    passage_id: str
    header: str
    locator: Locator
    start: int
    end: int


class Extent(NamedTuple):
    """How many documents a corpus holds, and of how many passages and characters."""

    documents: int
    passages: int
    characters: int


class Browsing:
    """Lists of documents, and of the passages of one, without their texts; how they are sorted."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._memory = Memory(database)
        self._facets: Facets | None = None
        self._facets_made_of: tuple[int, int] | None = None

    @property
    def corpus(self) -> str:
        """The name of the corpus: its folder has it."""
        return self._db.path.parent.name

    def ages(self) -> "Ages":
        """How old the texts of its laws are on the day that it shows."""
        laws, old, newest = self._db.rows(
            "SELECT count(*), coalesce(sum(old), 0), coalesce(max(state), '') FROM shown"
            " WHERE kind = 'law'"
        )[0]
        oldest = self._db.row(
            "SELECT title, state FROM shown WHERE kind = 'law' AND old ORDER BY state LIMIT 1"
        )
        return Ages(laws, old, newest, *(oldest or ("", "")))

    def holding(self) -> AbstractContextManager[None]:
        """Keep documents and passages that are looked up, for who asks for them again and again.

        What is written meanwhile may be found only by whoever begins to hold after that.
        """
        return self._memory.holding()

    def kept(self, name: str, make: Callable[[], Answer]) -> Answer:
        """What is made of the whole corpus; made anew where somebody has written it since.

        Args:
            name: of what is made.
            make: makes it.
        """
        with self._memory.holding():
            return self._memory.once(name, "", lambda _: make())

    def _any(self, query: str) -> bool:
        return self.kept(query, lambda: self._db.row(query) is not None)

    def _column(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return [row[0] for row in self._db.rows(query, values)]

    def _number(self, query: str, values: Sequence[Any] = ()) -> int | None:
        """The number that a query finds; None without one."""
        row = self._db.row(query, values)
        return int(row[0]) if row else None

    @property
    def stamp(self) -> int:
        """A random number that every change of the content renews.

        Unlike the generation it tells a store from another one that was put in its place, be it
        made anew or restored from a copy: an index fits only the stamp it was built from.
        """
        return self._meta("stamp")

    @property
    def facets(self) -> Facets:
        """What the documents shown are told apart by.

        Raises:
            StoreError: what a model's metadata are kept in is damaged.
        """
        told = self.facets_file
        made_of = (self.stamp, told.stat().st_mtime_ns if told.exists() else 0)
        if self._facets is None or made_of != self._facets_made_of:
            self._facets = facets_of(self._db, told)
            self._facets_made_of = made_of
        return self._facets

    @property
    def facets_file(self) -> Path:
        """Where a model's metadata of the documents are kept; the file need not be there."""
        return self._db.path.with_name("layers") / "facets.json"

    @property
    def works_in_states(self) -> int:
        """How many laws it has in several states."""
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
        """List all documents, or those of one kind, in the order they were entered."""
        last = 0
        while page := self._db.rows(
            f"{INFO} FROM shown WHERE key > ? AND (? IS NULL OR kind = ?) ORDER BY key LIMIT ?",
            (last, kind, kind, _PAGE),
        ):
            yield from map(partial(info, self._db), page)
            last = page[-1][0]

    def extent(self) -> Extent:
        """Count what the corpus holds."""
        select = "SELECT count(*), ifnull(sum(passages), 0), ifnull(sum(characters), 0)"
        return Extent(*self._db.rows(f"{select} FROM shown")[0])

    def listed(self, kind: str, after: str = "", limit: int = 100) -> list[tuple[str, str]]:
        """List ids and titles of documents of one kind, in the order they were entered.

        Args:
            kind: see `Document`.
            after: id of the document that the list goes on from; "" for the first.
            limit: how many at most.
        """
        last = self._require(after) if after else 0
        return self._db.rows(
            "SELECT id, title FROM shown WHERE kind = ? AND key > ? ORDER BY key LIMIT ?",
            (kind, last, limit),
        )

    def titled(self, words: str, limit: int) -> Titled:
        """Find documents besides laws by a part of their titles, in any case and width.

        A large corpus is not read at every key that is pressed: beyond 50,000 documents only
        ids that begin with the words, exactly so, are found.
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
        """Whether it has no documents besides laws."""
        return not self._any("SELECT 1 FROM shown WHERE kind <> 'law' LIMIT 1")

    def texts_entitled(self, words: str) -> list[str]:
        """Ids of the documents besides the laws whose titles hold these words."""
        if self.is_of_laws:
            return []
        return self._column(
            "SELECT id FROM shown WHERE kind <> 'law' AND instr(title, ?) ORDER BY key", (words,)
        )

    def titles(self) -> Iterator[tuple[int, str]]:
        """Yield keys and titles of all documents besides laws, in the order they were entered."""
        last = 0
        while page := self._db.rows(
            "SELECT key, title FROM shown WHERE kind <> 'law' AND key > ? ORDER BY key LIMIT ?",
            (last, _PAGE),
        ):
            yield from page
            last = page[-1][0]

    def standing(self, document_id: str, layer: str) -> list[Stand]:
        """List where the passages of a layer stand, in reading order."""
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
        """The id of the document that a name means; the name itself where there is none.

        macOS writes the names of files in decomposed characters (か and a mark for が), keyboards
        write whole ones. Names that are the same in NFC mean the same document. An id that is
        written exactly so goes first.
        """
        if name.isascii() or self._exact_key(name) is not None:
            return name
        return self._written_otherwise(name) or name

    def _written_otherwise(self, name: str) -> str:
        """The id that is the same as a name in NFC, and not as it is written; "" without one."""
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
        """Ids of the documents whose file has this name, in any folder, zip or message."""
        return self.kept("names of files", self._find_names).get(normalize("NFC", name), [])

    def _find_names(self) -> dict[str, list[str]]:
        """By its name in NFC every id that has a folder, a zip or a message before that name."""
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
        # In parts: SQLite takes only so many values in one statement.
        ordered = sorted(keys)
        for first in range(0, len(ordered), 512):
            part = ordered[first : first + 512]
            # Of few lengths, a statement is read once: to read it takes longer than to run it.
            part += part[-1:] * ((1 << (len(part) - 1).bit_length()) - len(part))
            marks = ",".join("?" * len(part))
            yield from self._db.rows(
                f"{select} WHERE {column} IN ({marks}){rest}", (*part, *values)
            )


class Derived(Browsing):
    """Where provisions lead, what leads to them, and where terms are defined."""

    @property
    def links_generation(self) -> int:
        """The generation that references and definitions were derived from; -1 before."""
        return self._meta("links_generation")

    def references_from(self, document_id: str, locator: Locator, *kinds: str) -> list[Reference]:
        """List the edges of a provision and of what stands inside it, in reading order.

        Args:
            document_id: the document.
            locator: the provision.
            kinds: of the edges; what the text cites and leaves to orders where none is named.
        """
        return self._references_of(self._require(document_id), locator, kinds or REFERENCES)

    def _references_of(
        self, document: int, locator: Locator, kinds: Sequence[str]
    ) -> list[Reference]:
        return self._references(
            "WHERE edges.document = ? AND edges.source >= ? AND edges.source < ?"
            f" AND edges.kind IN ({_marks(kinds)})"
            ' ORDER BY edges.start, edges."end", edges.key',
            (document, *subtree(locator.path), *kinds),
        )

    def references_to(self, document_id: str, locator: Locator, *kinds: str) -> list[Reference]:
        """List the edges to a provision or to something inside it, also as part of a range."""
        # What is of no work is not there at all.
        work = self._work(document_id) or self._require(document_id)
        wanted = kinds or REFERENCES
        return self._references(
            "WHERE edges.key IN (SELECT edge FROM reached"  # noqa: S608 - constants and marks
            f" WHERE law = ? AND place >= ? AND place < ?) AND {_IS_SHOWN}"
            f" AND edges.kind IN ({_marks(wanted)}) ORDER BY edges.document, edges.key",
            (work, *subtree(locator.path), *wanted),
        )

    def connections_from(self, document_id: str, locator: Locator, limit: int) -> list[Connection]:
        """List where the references of a provision lead, each once, `limit` at most.

        Like `connections_to` it gives nothing for an unknown document.
        """
        return self._connections(
            f"works.id, {_article('edges.target')}, edges.kind, edges.source"
            " FROM edges JOIN works ON works.key = edges.law WHERE edges.target <> ''"
            " AND edges.document = ? AND edges.source >= ? AND edges.source < ?",
            (self._key(document_id) or 0, *subtree(locator.path)),
            limit,
        )

    def connections_to(self, document_id: str, locator: Locator, limit: int) -> list[Connection]:
        """List what refers to a provision or to something inside it, each once."""
        return self._connections(
            f"shown.id, {_article('edges.source')}, edges.kind, place"
            " FROM reached JOIN edges ON edges.key = edge"
            " JOIN shown ON shown.key = edges.document"
            " WHERE reached.law = ? AND place >= ? AND place < ?",
            (self._work(document_id), *subtree(locator.path)),
            limit,
        )

    def _connections(self, query: str, values: Sequence[Any], limit: int) -> list[Connection]:
        rows = self._db.rows(
            f"SELECT DISTINCT {query} AND edges.kind IN ({_marks(REFERENCES)}) LIMIT ?",
            (*values, *REFERENCES, limit),
        )
        return [Connection(*row) for row in rows]

    def definitions_of(self, term: str) -> list[Definition]:
        """List where a term, written exactly so, is defined."""
        of_term = f"edges.name = ? AND {_IS_SHOWN} ORDER BY edges.document, edges.key"
        return self._definitions(of_term, term)

    def definitions_in(self, document_id: str) -> list[Definition]:
        """List the terms a document defines, in reading order."""
        return self._definitions(
            "edges.document = ? ORDER BY edges.key", self._require(document_id)
        )

    def _definitions(self, condition: str, value: str | int) -> list[Definition]:
        found = self._references(f"WHERE edges.kind = 'defines' AND {condition}", (value,))
        return list(map(Definition.of_edge, found))

    def _references(self, condition: str, values: Sequence[Any]) -> list[Reference]:
        rows = self._db.rows(f"{EDGES} {condition}", values)
        return [reference_of(self._db, row) for row in rows]

    def documents_referring(self, law_id: str, kind: str) -> list[str]:
        """Ids of the documents that refer to a law in this way (``delegated-by``)."""
        return self._column(
            "SELECT DISTINCT id FROM reached JOIN edges ON edges.key = edge"
            " JOIN shown ON shown.key = edges.document"
            " WHERE reached.law = ? AND edges.kind = ? ORDER BY shown.key",
            (self._work(law_id), kind),
        )


_IS_SHOWN = "EXISTS (SELECT 1 FROM shown WHERE shown.key = edges.document)"


def _article(column: str) -> str:
    # The part of a path before its first dot: the article, with its division.
    return f"substr({column}, 1, instr({column} || '.', '.') - 1)"


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))
