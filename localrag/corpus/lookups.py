"""Queries on a corpus store."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property
from typing import Any

from localrag.corpus.browsing import Derived
from localrag.corpus.database import Database
from localrag.corpus.knowledge import Knowledge
from localrag.corpus.links import CHANGES
from localrag.corpus.rows import (
    BLOCK,
    block_range,
    passage_id,
    passage_of,
    sound_blocks,
    sound_passages,
)
from localrag.corpus.states import INFO, DocumentInfo, info, read_text, show
from localrag.corpus.types import ARTICLES, Document, LawRow, Locator, Passage, Section
from localrag.language import _


class Lookups(Derived):
    """The reading half of `CorpusStore`; it never waits for a writer.

    A law id finds the state in force on one day (`as_of`). An id with a date
    (``129AC0000000089@2020-04-01``) finds that state on any day. Unless noted, unknown document ids
    are NotFoundErrors.
    """

    def __init__(self, database: Database, as_of: date | None = None) -> None:
        super().__init__(database)
        self.as_of = as_of or date.today()
        show(database, self.as_of)

    @cached_property
    def knowledge(self) -> Knowledge:
        """Triples of the corpus, by subject."""
        return Knowledge(self._db, self.by_keys)

    @property
    def generation(self) -> int:
        """A number increased by every change of the content."""
        return self._meta("generation")

    # Documents

    def states(self, work: str) -> list[DocumentInfo]:
        """List the states of a law, the earliest first."""
        rows = self._db.rows(
            f"{INFO} FROM states WHERE work = ? ORDER BY shown_from", (self._work(work),)
        )
        return [info(self._db, row) for row in rows]

    def works_to_come(self, until: str = "") -> list[str]:
        """Ids of laws with a state coming into force after the shown day, up to `until`."""
        return self._column(
            "SELECT DISTINCT id FROM states WHERE kind = 'law' AND state > ?"
            " AND (? = '' OR state <= ?) ORDER BY id",
            (self.as_of.isoformat(), until, until),
        )

    @property
    def has_states(self) -> bool:
        """Whether any law has several states."""
        # Without the index name, SQLite chooses an index of all documents.
        return self._any(
            "SELECT 1 FROM documents INDEXED BY documents_later WHERE shown_from <> '' LIMIT 1"
        )

    def shown(self, keys: Iterable[int]) -> dict[int, int]:
        """Find the shown passages for keys of an index; others are left out."""
        wanted = list(keys)
        found: dict[int, int] = {}
        for column, condition in (("indexed_as", ""), ("passages.key", " AND indexed_as IS NULL")):
            found.update(
                self._rows_by_key(
                    f"SELECT {column}, passages.key FROM passages"  # noqa: S608 - fixed names
                    " JOIN shown ON shown.key = document",
                    column,
                    wanted,
                    condition,
                )
            )
        return found

    @property
    def shares_entries(self) -> bool:
        """Whether indexes know any passage by another key than its own; see `shown`."""
        return self._any("SELECT 1 FROM passages WHERE indexed_as IS NOT NULL LIMIT 1")

    def document(self, document_id: str) -> DocumentInfo:
        """Return one document's listing."""
        return self._info_of(self._require(document_id))

    def text(self, document_id: str, start: int = 0, end: int | None = None) -> str:
        """Return the text of a document, or a span of it, in characters."""
        return self._span(self._require(document_id), start, end)

    def texts(
        self, document_id: str, spans: Iterable[tuple[int, int]]
    ) -> dict[tuple[int, int], str]:
        """Return several spans of one text, much faster than one by one."""
        return self.texts_of({document_id: spans})[document_id]

    def texts_of(
        self, spans: Mapping[str, Iterable[tuple[int, int]]]
    ) -> dict[str, dict[tuple[int, int], str]]:
        """Return several spans of several texts, by document and span."""
        wanted = {id_: (self._require(id_), set(its)) for id_, its in spans.items()}
        pieced = self._pieced(key for key, _ in wanted.values())
        blocks = self._blocks(
            block
            for key, its in wanted.values()
            for span in its
            if key not in pieced
            for block in block_range(key, *span)
        )
        return {
            id_: {
                span: self._span(key, *span) if key in pieced else _cut(key, *span, blocks)
                for span in its
            }
            for id_, (key, its) in wanted.items()
        }

    def sections(self, document_id: str) -> list[Section]:
        """Return the outline of a document, in reading order."""
        return self._sections(self._require(document_id))

    def read(self, document: str | int) -> Document:
        """Return a whole document by id or key, as its reader made it."""
        key = document if isinstance(document, int) else self._require(document)
        about = self._info_of(key)
        return Document(
            id=about.id,
            title=about.title,
            kind=about.kind,
            text=self._span(key, 0, None),
            source=about.source,
            passages=tuple(passage for _, passage in self._passages_of(key, about.id)),
            sections=tuple(self._sections(key)),
            metadata=about.metadata,
        )

    def read_words(self, key: int) -> tuple[str, str]:
        """The id of a document, and its title with its text, by key."""
        id_, title = self._db.rows("SELECT id, title FROM states WHERE key = ?", (key,))[0]
        return id_, f"{title}\n{self._span(key, 0, None)}"

    # Passages

    def passages(
        self, *, layer: str | None = None, document_id: str | None = None
    ) -> Iterator[tuple[int, Passage]]:
        """Yield keys and passages in reading order, one document in memory at a time."""
        if document_id is None:
            documents = self._db.rows("SELECT key, id FROM shown ORDER BY key")
        else:
            documents = self._db.rows(
                "SELECT key, id FROM states WHERE key = ?", (self._require(document_id),)
            )
        for key, id_ in documents:
            yield from self._passages_of(key, id_, (layer,) if layer else ())

    def count(self, layers: Iterable[str]) -> int:
        """Count the passages of some layers; passages shared by states count once."""
        return sum(1 for _ in self.distinct(layers))

    def distinct(self, layers: Iterable[str]) -> Iterator[int]:
        """Yield index keys of the passages of some layers in all states, each once, in order."""
        wanted = list(layers)
        rows = self._db.stream(
            "SELECT DISTINCT coalesce(indexed_as, passages.key) AS known FROM passages"  # noqa: S608
            " JOIN layers ON layers.key = layer"
            f" WHERE layers.name IN ({', '.join('?' * len(wanted))}) ORDER BY known",
            wanted,
        )
        return (key for (key,) in rows)

    def keys_inside(self, spans: Mapping[str, Iterable[tuple[int, int]]]) -> Iterator[int]:
        """Yield index keys of the passages beginning in these spans of documents."""
        for document_id, parts in spans.items():
            for start, end in parts:
                yield from self._column(
                    "SELECT coalesce(indexed_as, key) FROM passages"
                    " WHERE document = ? AND start >= ? AND start < ?",
                    (self._require(document_id), start, end),
                )

    def article_keys(self) -> Iterator[tuple[str, str, int]]:
        """Yield law id, path and index key of each article, in every state."""
        yield from self._db.stream(
            "SELECT DISTINCT id, locator, coalesce(indexed_as, passages.key)"
            " FROM states JOIN passages ON document = states.key"
            " WHERE kind = 'law' AND layer = (SELECT key FROM layers WHERE name = ?)"
            " ORDER BY id, passages.key",
            [ARTICLES],
        )

    def distinct_passages(
        self, layers: Collection[str], only: Collection[int] | None = None
    ) -> Iterator[tuple[DocumentInfo, int, Passage]]:
        """Yield `distinct` passages (or `only` some) with documents, one document at a time."""
        documents = self._column("SELECT key FROM documents ORDER BY key")
        if only is not None:
            documents = sorted(
                {
                    document
                    for column in ("key", "indexed_as")
                    for (document,) in self._rows_by_key(
                        "SELECT DISTINCT document FROM passages", column, only
                    )
                }
            )
        yielded: set[int] = set()
        for document in documents:
            about = self._info_of(document)
            others: dict[int, int] = dict(
                self._db.rows(
                    "SELECT key, indexed_as FROM passages"
                    " WHERE document = ? AND indexed_as IS NOT NULL",
                    (document,),
                )
            )
            for own, passage in self._passages_of(document, about.id, layers):
                key = others.get(own, own)
                if key not in yielded and (only is None or key in only):
                    yielded.add(key)
                    yield about, key, passage

    def by_keys(self, keys: Iterable[int]) -> dict[int, Passage]:
        """Find passages by key, in the given order; deleted ones are left out."""
        return self._memory.of_each("passages", keys, self._find_passages)

    def _find_passages(self, wanted: Collection[int]) -> dict[int, Passage]:
        found = self._rows_by_key(_PASSAGE, "passages.key", wanted)
        rows = {row[0]: row for row in sound_passages(self._db, found)}
        pieced = self._pieced(row[1] for row in rows.values())
        whole = [row for row in rows.values() if row[1] not in pieced]
        blocks = self._blocks(
            block for row in whole for block in block_range(row[1], row[_START], row[_END])
        )
        spans = {row[0]: _cut(row[1], row[_START], row[_END], blocks) for row in whole}
        return {
            key: passage_of(
                rows[key][2],
                rows[key][3:],
                spans[key] if key in spans else self._span(rows[key][1], *rows[key][_START:_TEXT]),
            )
            for key in wanted
            if key in rows
        }

    def headings(self, keys: Collection[int]) -> dict[int, tuple[str, str]]:
        """Find ids and headers of shown passages by key, without texts, for ranking."""
        rows = list(
            self._rows_by_key(
                "SELECT key, document, locator, place, header FROM passages", "key", keys
            )
        )
        # Few documents have most passages: a join for each takes twice as long.
        ids = self._memory.of_each("ids", {row[1] for row in rows}, self._find_ids)
        found = {
            key: (passage_id(ids[document], path, place), header)
            for key, document, path, place, header in rows
            if document in ids
        }
        self._memory.keep("keys", {unit: key for key, (unit, _) in found.items()})
        return found

    def _find_ids(self, documents: Collection[int]) -> dict[int, str]:
        return dict(self._rows_by_key("SELECT key, id FROM shown", "key", documents))

    def by_id(self, passage_id: str) -> Passage | None:
        """Find a passage by id."""
        return self.by_ids([passage_id]).get(passage_id)

    def by_ids(self, passage_ids: Iterable[str]) -> dict[str, Passage]:
        """Find passages by id; unknown ids are left out."""
        keys = {id_: key for id_ in passage_ids if (key := self.key_of(id_)) is not None}
        found = self.by_keys(set(keys.values()))
        return {id_: found[key] for id_, key in keys.items() if key in found}

    def key_of(self, passage_id: str) -> int | None:
        """Find the key of a passage by its id."""
        return self._memory.once("keys", passage_id, self._find_key_of)

    def _find_key_of(self, passage_id: str) -> int | None:
        # Document ids from file names may contain '#'.
        signs = [at for at, character in enumerate(passage_id) if character == "#"]
        for position in signs[-_MOST_SIGNS:]:
            document_id, place = passage_id[:position], passage_id[position + 1 :]
            key = self._key(document_id)
            found = key and self._db.row(_KEY, (key, place, key, place))
            if found:
                return int(found[0])
        return None

    def at(self, document_id: str, locator: Locator, layer: str | None = None) -> Passage | None:
        """Find the passage at exactly this statute place; the first if printed twice."""
        key = self._key_at(document_id, locator, layer)
        return None if key is None else self.by_keys([key]).get(key)

    def _key_at(self, document_id: str, locator: Locator, layer: str | None) -> int | None:
        place = document_id, locator.path, layer
        return self._memory.once("places", place, self._find_place) if locator.path else None

    def _find_place(self, place: tuple[str, str, str | None]) -> int | None:
        document_id, path, layer = place
        return self._number(
            "SELECT key FROM passages WHERE document = ?"
            " AND layer IN (SELECT key FROM layers WHERE ? IS NULL OR name = ?) AND locator = ?"
            " ORDER BY key LIMIT 1",
            (self._key(document_id), layer, layer, path),
        )

    def all_at(self, document_id: str, places: Iterable[Locator]) -> dict[Locator, Passage]:
        """Find the passages at these statute places; missing ones are left out."""
        keys = self._all_at("key", document_id, places)
        found = self.by_keys(set(keys.values()))
        return {place: found[key] for place, key in keys.items()}

    def headers(self, document_id: str, places: Iterable[Locator]) -> dict[Locator, str]:
        """Find the headers of the passages at these statute places."""
        return self._all_at("header", document_id, places)

    def _all_at(
        self, column: str, document_id: str, places: Iterable[Locator]
    ) -> dict[Locator, Any]:
        paths = {place.path: place for place in places if place.path}
        rows = self._rows_by_key(
            f"SELECT locator, {column} FROM passages",  # noqa: S608 - a fixed name
            "locator",
            paths,
            # The layers let SQLite use an index. Of two passages the first comes last and stays.
            " AND document = ? AND layer IN (SELECT key FROM layers) ORDER BY key DESC",
            self._key(document_id) or 0,
        )
        return {paths[path]: value for path, value in rows}

    def within(self, document_id: str, locator: Locator, layer: str) -> list[Passage]:
        """List the passages of a layer at this place and inside it, in reading order."""
        return list(self.by_keys(self._inside("key", document_id, locator, layer)).values())

    def _inside(self, column: str, document_id: str, locator: Locator, layer: str) -> list[Any]:
        return self._column(
            f"SELECT {column} FROM passages WHERE document = ?"  # noqa: S608 - a fixed name
            " AND layer = (SELECT key FROM layers WHERE name = ?)"
            " AND locator >= ? AND locator < ? ORDER BY key",
            (self._key(document_id), layer, *locator.bounds),
        )

    # Statutes

    def changed_by(
        self, passage: Passage, span: tuple[int, int] | None = None
    ) -> tuple[Passage, ...]:
        """The provisions that temporarily change a provision (当分の間).

        Args:
            passage: the provision, or one around it.
            span: of the quotation, in characters of the law; None for all.

        Returns:
            Each provision once: its paragraph, or the smallest whole provision.
        """
        law_id, place = passage.document_id, passage.locator
        if not place.article:
            return ()
        start, end = span or (passage.start, passage.end)
        found: dict[str, Passage] = {}
        for reference in self.references_to(
            law_id, Locator(place.division, place.article), CHANGES
        ):
            source = reference.source
            own = reference.document_id == law_id and source.article == place.article
            if own and source.division == place.division:
                continue
            target = None if reference.target_end else self.at(law_id, reference.target)
            if target is not None and (target.end <= start or end <= target.start):
                continue
            by = self.at(
                reference.document_id, Locator(source.division, source.article, source.paragraph)
            )
            if by is not None:
                found.setdefault(by.id, by)
        return tuple(found.values())

    def laws(self) -> list[LawRow]:
        """List the names of all laws, in insertion order."""
        rows = self._db.rows(
            "SELECT id, title, metadata FROM shown WHERE kind = 'law' ORDER BY key"
        )
        # One call of the parser for all laws takes half the time.
        metadata = json.loads(f"[{','.join(row[2] for row in rows)}]")
        return [
            LawRow(
                law_id,
                title,
                of.get("law_num", ""),
                of.get("law_type", ""),
                of.get("abbreviations", ""),
            )
            for (law_id, title, _), of in zip(rows, metadata, strict=True)
        ]

    def former_titles(self) -> dict[str, list[str]]:
        """Titles of laws in other states than the shown one, with the law ids."""
        titles: dict[str, list[str]] = {}
        for title, law_id in self._db.rows(
            "SELECT DISTINCT states.title, states.id FROM states JOIN shown USING (work)"
            " WHERE states.kind = 'law' AND states.title <> shown.title ORDER BY states.key"
        ):
            titles.setdefault(title, []).append(law_id)
        return titles

    def openings(self, documents: Collection[int]) -> list[str]:
        """Ids of the first passages of documents, by key."""
        return [
            passage_id(document_id, path, place)
            for document_id, path, place, _ in self._rows_by_key(
                "SELECT id, locator, place, min(passages.key) FROM passages"
                " JOIN states ON states.key = document"
                " JOIN layers ON layers.key = layer AND layers.name = 'passages'",
                "document",
                documents,
                " GROUP BY document",
            )
        ]

    def provision_exists(self, law_id: str, locator: Locator) -> bool:
        """Whether the law has exactly this provision; the empty locator is the law itself."""
        if not locator.path:
            return self._key(law_id) is not None
        return self._key_at(law_id, locator, None) is not None

    def articles(self, law_id: str, division: str = "") -> list[str]:
        """List the article numbers of a division of a law, in reading order."""
        return list(self._memory.once("articles", (law_id, division), self._find_articles))

    def _find_articles(self, place: tuple[str, str]) -> tuple[str, ...]:
        law_id, division = place
        paths = self._inside("locator", law_id, Locator(), ARTICLES)
        inside = f"{division}/" if division else ""
        places = (path.removeprefix(inside) for path in paths if path.startswith(inside))
        # The layer has whole articles: the rest after the division is the number.
        return tuple(dict.fromkeys(place for place in places if place and "/" not in place))

    def locators(self, law_id: str, inside: Locator, layer: str) -> list[Locator]:
        """List the places of a layer inside a provision, in reading order."""
        return list(map(Locator.parse, self._inside("locator", law_id, inside, layer)))

    def divisions(self, law_id: str) -> dict[str, str]:
        """Return the header of the first provision of every division but the main one."""
        return dict(self._memory.once("divisions", law_id, self._find_divisions))

    def _find_divisions(self, law_id: str) -> dict[str, str]:
        headers: dict[str, str] = {}
        for path, header in self._db.rows(
            "SELECT locator, header FROM passages WHERE document = ?"
            " AND layer = (SELECT key FROM layers WHERE name = ?)"
            " AND instr(locator, '/') ORDER BY key",
            (self._key(law_id), ARTICLES),
        ):
            headers.setdefault(Locator.parse(path).division, header)
        return headers

    def _info_of(self, key: int) -> DocumentInfo:
        return info(self._db, self._db.rows(f"{INFO} FROM states WHERE key = ?", (key,))[0])

    def _passages_of(
        self, key: int, id_: str, layers: Collection[str] = ()
    ) -> Iterator[tuple[int, Passage]]:
        text = self._span(key, 0, None)
        of_layers = f" AND layers.name IN ({','.join('?' * len(layers))})" if layers else ""
        rows = self._db.rows(
            f"{_PASSAGE} WHERE document = ?{of_layers} ORDER BY passages.key", (key, *layers)
        )
        for row in sound_passages(self._db, rows):
            yield row[0], passage_of(id_, row[3:], text[row[_START] : row[_END]])

    def _sections(self, key: int) -> list[Section]:
        rows = self._db.rows(
            'SELECT depth, title, start, "end" FROM sections WHERE document = ? ORDER BY number',
            (key,),
        )
        return [Section(*row) for row in rows]

    def _pieced(self, documents: Iterable[int]) -> set[int]:
        found = self._rows_by_key("SELECT document FROM pieces", "document", set(documents))
        return {document for (document,) in found}

    def _blocks(self, keys: Iterable[int]) -> dict[int, str]:
        wanted = set(keys)
        rows = self._rows_by_key("SELECT key, text, mark FROM blocks", "key", wanted)
        found = dict(sound_blocks(self._db, rows))
        if wanted - found.keys():
            raise self._db.damage(_("a part of a text is missing"))
        return found

    def _span(self, key: int, start: int, end: int | None) -> str:
        return read_text(self._db, key, start, end)


# Real names have fewer '#'; a crafted id must not cost more.
_MOST_SIGNS = 20
_KEY = (
    "SELECT key FROM passages WHERE document = ? AND place = ?"
    " UNION ALL SELECT key FROM passages WHERE document = ?"
    " AND layer IN (SELECT key FROM layers) AND locator = ? AND place IS NULL"
)

# Key, document key, document id, the columns of a `StoredRow`, its mark.
_PASSAGE = (
    "SELECT passages.key, document, id, layers.name, locator, place, section, page,"
    ' header, start, "end", text, passages.source, predicate, objects, triples.source, date,'
    " passages.mark"
    " FROM passages JOIN states ON states.key = document JOIN layers ON layers.key = layer"
    " LEFT JOIN triples ON triples.passage = passages.key"
)
_START, _END, _TEXT = 9, 10, 11


def _cut(document: int, start: int, end: int, blocks: Mapping[int, str]) -> str:
    skipped = start // BLOCK * BLOCK
    text = "".join(blocks[key] for key in block_range(document, start, end))
    return text[start - skipped : end - skipped]
