"""States of a law in the store: one is shown, and shared text is stored once.

A *work* has one id outside the store. Each state of a law is a document, with the date of its text
in the id (``129AC0000000089@2020-04-01``). The views `shown` and `states` show each work on one
day.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from localrag.corpus.database import Database, Row
from localrag.corpus.rows import DocumentRows, PassageRow, block_range, block_text, write_blocks
from localrag.corpus.types import ARTICLES, PASSAGES, Omission, omissions_of
from localrag_indexes.analysis.normalize import YEAR_BEFORE, common_year

_STATES = (
    "CREATE TEMP VIEW states AS SELECT documents.key, works.id AS id, documents.id AS state_id,"
    " state, state > '{day}' AS not_yet, state > '' AND state < '{long_before}' AS old, shown_from,"
    " shown_until, work, title, kind, source, characters, passages, metadata, mark FROM documents"
    " JOIN works ON works.key = work"
)
_SHOWN = (
    "CREATE TEMP VIEW shown AS SELECT * FROM states"
    " WHERE shown_from <= '{day}' AND '{day}' < shown_until"
)


OLD_AFTER = 24
"""Age in months of an old text."""

Indexed = dict[tuple[str, str, str], list[int]]
"""Layer, header and text of passages, with their index keys."""

_LAYERS = (ARTICLES, PASSAGES)
_SHARED = (
    "FROM passages JOIN layers ON layers.key = layer"
    " WHERE document = ? AND layers.name IN (?, ?) AND text IS NULL ORDER BY passages.key"
)


def show(database: Database, day: date) -> None:
    """Show this connection every work as of a day."""
    for view in (_STATES, _SHOWN):
        database.write(view.format(day=day.isoformat(), long_before=_long_before(day).isoformat()))


def is_old(state: str, day: date) -> bool:
    """Whether a text in force from `state` (ISO; "" for unknown) is old on a day."""
    return "" < state < _long_before(day).isoformat()


def _long_before(day: date) -> date:
    years, months = divmod(OLD_AFTER, 12)
    ordinal = day.year * 12 + day.month - 1 - years * 12 - months
    if ordinal < 12:
        return date.min
    # Not every month has the last days of another.
    return date(ordinal // 12, ordinal % 12 + 1, min(day.day, 28))


def work_of(database: Database, id_: str) -> int:
    """The key of a work, created if missing."""
    database.write("INSERT OR IGNORE INTO works (id) VALUES (?)", (id_,))
    return int(database.rows("SELECT key FROM works WHERE id = ?", (id_,))[0][0])


def arrange(database: Database, work: int) -> None:
    """Store the days of each state of a work; delete a work without states."""
    states = database.rows(
        "SELECT key, state FROM documents WHERE work = ? ORDER BY state", (work,)
    )
    if not states:
        database.write("DELETE FROM works WHERE key = ?", (work,))
        return
    begins = ["", *(state for _, state in states[1:]), "~"]
    database.write_many(
        "UPDATE documents SET shown_from = ?, shown_until = ? WHERE key = ?",
        ((*days, key) for (key, _), days in zip(states, pairwise(begins), strict=True)),
    )


# Listings


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """The listing of a document; `characters` and `passages` are counts."""

    key: int
    id: str
    title: str
    kind: str
    source: str
    characters: int
    passages: int
    metadata: Mapping[str, str]
    state_id: str  # its id with the date of its state, if it has one
    followed: str  # first day of its next text; "" without one
    not_yet: bool  # whether its text is in force only after the shown day
    # whether the corpus has no text for the shown day, although the law existed; excludes `not_yet`
    before_first: bool
    old: bool  # whether its text is so old that the law may have been amended (`OLD_AFTER`)

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """Omissions of its file."""
        return omissions_of(self.metadata)


INFO = (
    "SELECT key, id, title, kind, source, characters, passages, metadata, state_id, shown_until,"
    " not_yet, state, old, mark"
)
"""Columns for `info`, from the views `shown` and `states`."""

# Law ids begin with era and year: 405AC0000000088 is of 平成五年.
_ENACTED = re.compile("([1-5])([0-9]{2})[A-Z]")


class Enacted(NamedTuple):
    """Era (平成) and common year of a law."""

    era: str
    year: int


def enacted(law_id: str) -> Enacted | None:
    """When a law was made, by its id; None if the id does not show it."""
    found = _ENACTED.match(law_id)
    if found is None:
        return None
    era = tuple(YEAR_BEFORE)[int(found[1]) - 1]
    return Enacted(era, common_year(era, int(found[2])))


def info(database: Database, row: Row) -> DocumentInfo:
    """Read a row of `INFO`; a changed row is a StoreError."""
    key, id_, title, kind, source, characters, passages, *rest = row
    stored, state_id, until, later, day, old, mark = rest
    database.require_marked((id_, state_id, title, kind, stored), mark, state_id)
    metadata = json.loads(stored)
    amended = bool(metadata.get("amending_law")) or _is_older(id_, day)
    return DocumentInfo(
        key,
        id_,
        title,
        kind,
        source,
        characters,
        passages,
        metadata,
        state_id,
        "" if until == "~" else until,
        not_yet=bool(later) and not amended,
        before_first=bool(later) and amended,
        old=bool(old),
    )


def _is_older(law_id: str, day: str) -> bool:
    when = enacted(law_id)
    return when is not None and bool(day) and when.year < int(day[:4])


# The text of a state


class _SharedPiece(NamedTuple):
    """Characters `start` to `end` of a text, stored from `at` in the blocks of `origin`."""

    start: int
    end: int
    origin: int
    at: int

    def cut(self, start: int, end: int) -> "_SharedPiece":
        first, last = max(start, self.start), min(end, self.end)
        return _SharedPiece(first, last, self.origin, self.at + first - self.start)


def read_text(database: Database, key: int, start: int, end: int | None) -> str:
    """A span of the text of a document; without `end`, up to its end."""
    pieces = _pieces(database, key, start, end)
    if not pieces:
        return block_text(database, key, start, end)
    return "".join(
        block_text(database, piece.origin, piece.at, piece.at + piece.end - piece.start)
        for piece in pieces
    )


def write_text(database: Database, key: int, rows: DocumentRows, work: int) -> None:
    """Store the text of a document without the parts of another state of its work."""
    other = database.row(
        "SELECT key FROM documents WHERE work = ? AND key <> ? AND characters > 0"
        " ORDER BY state > ?, CASE WHEN state > ? THEN state END, state DESC LIMIT 1",
        (work, key, rows.state, rows.state),
    )
    copies = list(_copies(database, rows, other[0])) if other else []
    if not copies:
        write_blocks(database, key, rows.text)
        return
    own: list[str] = []
    pieces: list[_SharedPiece] = []
    stored = position = 0
    for copy in (*copies, _SharedPiece(len(rows.text), len(rows.text), key, 0)):
        if position < copy.start:
            own.append(rows.text[position : copy.start])
            pieces.append(_SharedPiece(position, copy.start, key, stored))
            stored += copy.start - position
        pieces += [copy] if copy.start < copy.end else []
        position = copy.end
    write_blocks(database, key, "".join(own))
    database.write_many(
        "INSERT INTO pieces VALUES (?, ?, ?, ?, ?)", ((key, *piece) for piece in pieces)
    )


def indexed(database: Database, key: int) -> Indexed:
    """Index keys of the passages of a document."""
    text = read_text(database, key, 0, None)
    known: Indexed = defaultdict(list)
    for layer, header, start, end, own in database.rows(
        f'SELECT layers.name, header, start, "end", coalesce(indexed_as, passages.key) {_SHARED}',
        (key, *_LAYERS),
    ):
        known[layer, header, text[start:end]].append(own)
    return known


def keep_indexed(database: Database, key: int, known: Indexed) -> None:
    """Give the passages of a document the index keys of equal passages."""
    text = read_text(database, key, 0, None)
    kept = []
    for passage, layer, header, start, end in database.rows(
        f'SELECT passages.key, layers.name, header, start, "end" {_SHARED}', (key, *_LAYERS)
    ):
        if keys := known.get((layer, header, text[start:end])):
            kept.append((keys.pop(0), passage))
    database.write_many("UPDATE passages SET indexed_as = ? WHERE key = ?", kept)


def share_indexed(database: Database, key: int, work: int) -> None:
    """Give passages shared by the states of a work one index key."""
    known: Indexed = defaultdict(list)
    for (other,) in database.rows(
        "SELECT key FROM documents WHERE work = ? AND key <> ? ORDER BY key", (work, key)
    ):
        for words, keys in indexed(database, other).items():
            known[words] += [one for one in keys if one not in known[words]]
    if known:
        keep_indexed(database, key, known)


def stand_alone(database: Database, key: int) -> None:
    """Copy shared text into other states before a document is deleted."""
    sharing = database.rows(
        "SELECT DISTINCT document FROM pieces WHERE origin = ? AND document <> ?", (key, key)
    )
    for (other,) in sharing:
        _make_whole(database, other)


def _make_whole(database: Database, key: int) -> None:
    """Store the whole text of a document in its own blocks."""
    text = read_text(database, key, 0, None)
    own = [piece for piece in _pieces(database, key, 0, None) if piece.origin == key]
    borrowed = database.rows(
        "SELECT document, start, at FROM pieces WHERE origin = ? AND document <> ?", (key, key)
    )
    # Other states now find their parts at the position in the whole text.
    database.write_many(
        "UPDATE pieces SET at = ? WHERE document = ? AND start = ?",
        (
            (at - piece.at + piece.start, document, start)
            for document, start, at in borrowed
            for piece in own
            if piece.at <= at < piece.at + piece.end - piece.start
        ),
    )
    blocks = block_range(key, 0, None)
    database.write("DELETE FROM pieces WHERE document = ?", (key,))
    database.write("DELETE FROM blocks WHERE key >= ? AND key < ?", (blocks.start, blocks.stop))
    write_blocks(database, key, text)


def _copies(database: Database, rows: DocumentRows, other: int) -> Iterator[_SharedPiece]:
    """Pieces of a text that equal another state: articles, and text between them."""
    old, new = read_text(database, other, 0, None), rows.text
    places = {
        old[start:end]: start
        for start, end in database.rows(
            'SELECT start, "end" FROM passages WHERE document = ?'
            " AND layer = (SELECT key FROM layers WHERE name = ?) ORDER BY key",
            (other, ARTICLES),
        )
    }
    joined: list[_SharedPiece] = []
    for start, end in _spans(rows.passages):
        at = places.get(new[start:end])
        if at is None or start == end:
            continue
        if joined:
            last = joined[-1]
            between = at - (last.at + last.end - last.start)
            if between == start - last.end and old[at - between : at] == new[last.end : start]:
                joined[-1] = last._replace(end=end)
                continue
        joined.append(_SharedPiece(start, end, other, at))
    for copy in joined:
        stored = _pieces(database, other, copy.at, copy.at + copy.end - copy.start)
        if not stored:
            yield copy
        shift = copy.start - copy.at
        for piece in stored:
            yield piece._replace(start=piece.start + shift, end=piece.end + shift)


def _spans(passages: Sequence[PassageRow]) -> Iterator[tuple[int, int]]:
    """Spans of the articles in order, without overlaps."""
    position = 0
    spans = sorted((row[6], row[7]) for row in passages if row[0] == ARTICLES)
    for start, end in spans:
        if start >= position:
            yield start, end
            position = end


def _pieces(database: Database, key: int, start: int, end: int | None) -> list[_SharedPiece]:
    rows = database.rows(
        'SELECT start, "end", origin, at FROM pieces'
        ' WHERE document = ? AND "end" > ? AND (? IS NULL OR start < ?) ORDER BY start',
        (key, start, end, end),
    )
    return [_SharedPiece(*row).cut(start, row[1] if end is None else end) for row in rows]
