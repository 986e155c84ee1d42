"""Table rows of a document: text in blocks, passages as spans of it.

Triples are cut out of the text of their passages. They are found by the folded names of their
subjects (`fold`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple

from joyokanji import convert

from localrag.corpus.database import Database, Row, checksum
from localrag.corpus.types import (
    ALIAS,
    OMISSIONS,
    TRIPLES,
    Document,
    Locator,
    Passage,
    Section,
    Triple,
    stored_omissions,
)
from localrag.errors import InputError
from localrag.language import N_, _
from localrag_indexes.analysis.analyzer import segment
from localrag_indexes.analysis.normalize import (
    NUMERAL_CHARACTERS,
    in_digits,
    normalize,
    normalize_with_offsets,
    original_span,
)

TripleRow = tuple[int, int, str | None, str, str]
"""Number of the passage in the document (from 0), predicate, objects, source, date."""
NameRow = tuple[int, int, int, str]
"""First and last passage (as above), rank, name: columns of `names`."""


class Rank(IntEnum):
    """How closely a name belongs to a subject."""

    WHOLE = 0
    BARE = 1
    ALIAS = 2


def triple_of(subject: str, text: str, predicate: int, objects: str | None, *said: str) -> Triple:
    """Cut a triple out of the text of its passage, by the lengths in `triples`."""
    start = len(subject) + 1
    end = start + predicate
    position = end + 1
    lengths = [len(text) - position - 1] if objects is None else map(int, objects.split(","))
    found = []
    for length in lengths:
        found.append(text[position : position + length])
        position += length + 1
    return Triple(subject, text[start:end], tuple(found), *said)


def _triple_row(source: str, number: int, passage: Passage) -> TripleRow:
    """The row of a triple; a passage unlike its triple is an InputError."""
    triple = passage.triple
    if (
        triple is None
        or passage.layer != TRIPLES
        or passage.header != triple.subject
        or passage.text != triple.text
        or not triple.objects
    ):
        raise InputError(
            N_("{source}: passage {id!r} does not say its triple."), source=source, id=passage.id
        )
    lengths = None if len(triple.objects) == 1 else ",".join(str(len(o)) for o in triple.objects)
    return number, len(triple.predicate), lengths, triple.source, triple.date


def _names(passages: Sequence[Passage]) -> Iterator[NameRow]:
    numbered = enumerate(passages)
    for subject, run in groupby(numbered, key=lambda at: at[1].triple and at[1].triple.subject):
        if subject is None:
            continue
        members = list(run)
        whole = fold(subject)
        names = {(Rank.WHOLE, whole), (Rank.BARE, bare(whole))}
        for _number, passage in members:
            if passage.triple and passage.triple.predicate == ALIAS:
                names |= {(Rank.ALIAS, fold(alias)) for alias in passage.triple.objects}
        for rank, name in sorted(names):
            if rank is Rank.WHOLE or name not in ("", whole):
                yield members[0][0], members[-1][0], rank, name


BLOCK = 1024
"""Characters of a block; a typical passage needs one or two."""

_BLOCKS_PER_DOCUMENT = 1 << 20

PassageRow = tuple[str, str, str | None, str, int, str, int, int, str | None, str]
"""Layer, locator, place, section, page, header, start, end, text, source: columns of `passages`."""
StoredRow = tuple[Any, ...]
"""A `PassageRow`, then predicate, objects, source, date of `triples` or None."""


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """A document as table rows, cheap to send between processes."""

    id: str  # id of the work, with the date of the state if it has one (`state_id`)
    work: str  # id of the document outside the store
    state: str  # ISO date of the state; "" without one
    title: str
    kind: str
    source: str
    text: str
    metadata: str
    fingerprint: str
    passages: tuple[PassageRow, ...]
    sections: tuple[Section, ...]
    triples: tuple[TripleRow, ...]
    names: tuple[NameRow, ...]


def prepare(document: Document) -> DocumentRows:
    """Make the rows of a document; a document against the model's rules is an InputError."""
    if not document.id:
        raise InputError(N_("{source}: the document has no id."), source=document.source)
    _check_ids(document)
    passages = tuple(_passage_row(document, passage) for passage in document.passages)
    triples = tuple(
        _triple_row(document.source, number, passage)
        for number, passage in enumerate(document.passages)
        if passage.layer == TRIPLES or passage.triple
    )
    names = tuple(_names(document.passages)) if triples else ()
    kept = dict(document.metadata)
    if document.omissions:
        kept[OMISSIONS] = stored_omissions(document.omissions)
    metadata = json.dumps(dict(sorted(kept.items())), ensure_ascii=False)
    try:
        mark = _fingerprint(document, metadata, passages, (*triples, *names))
    except UnicodeEncodeError as error:
        raise InputError(
            N_("{source}: the text holds half characters ({reason})."),
            N_("Save the file again as UTF-8."),
            source=document.source,
            reason=error.reason,
        ) from error
    state = document.metadata.get("date", "") if document.kind == "law" else ""
    return DocumentRows(
        id=state_id(document.id, state),
        work=document.id,
        state=state,
        title=document.title,
        kind=document.kind,
        source=document.source,
        text=document.text,
        metadata=metadata,
        fingerprint=mark,
        passages=passages,
        sections=document.sections,
        triples=triples,
        names=names,
    )


def state_id(work: str, state: str) -> str:
    """The id of a state of a law: ``129AC0000000089@2020-04-01``."""
    return f"{work}@{state}" if state else work


def block_text(database: Database, key: int, start: int, end: int | None) -> str:
    """Read a span from the blocks of a document; without `end`, up to the last block."""
    blocks = block_range(key, start, end)
    rows = database.rows(
        "SELECT key, text, mark FROM blocks WHERE key >= ? AND key < ? ORDER BY key",
        (blocks.start, blocks.stop),
    )
    skipped = start // BLOCK * BLOCK
    text = "".join(text for _, text in sound_blocks(database, rows))
    return text[start - skipped : None if end is None else max(end, start) - skipped]


def sound_blocks(database: Database, rows: Iterable[Row]) -> Iterator[tuple[int, str]]:
    """Keys and texts of rows of `blocks`; a text unlike its mark is a StoreError."""
    for key, text, mark in rows:
        if not isinstance(text, str) or checksum(text) != mark:
            document = database.row(
                "SELECT id FROM documents WHERE key = ?", (key // _BLOCKS_PER_DOCUMENT,)
            )
            told = _("the text of {document} has changed since it was stored")
            raise database.damage(told.format(document=document[0] if document else key))
        yield key, text


def sound_passages(database: Database, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows of passages without marks; a row unlike its mark is a StoreError."""
    for *row, mark in rows:
        database.require_marked((row[1], *row[3:13]), mark, row[2])
        yield tuple(row)


def write_blocks(database: Database, document_key: int, text: str) -> None:
    """Store a text in `blocks`, each block with its mark."""
    first = document_key * _BLOCKS_PER_DOCUMENT
    blocks = (text[start : start + BLOCK] for start in range(0, len(text), BLOCK))
    database.write_many(
        "INSERT INTO blocks VALUES (?, ?, ?)",
        ((first + number, block, checksum(block)) for number, block in enumerate(blocks)),
    )


def block_range(document_key: int, start: int, end: int | None) -> range:
    """Keys of the blocks of a span; without `end`, of all blocks from `start`."""
    first = document_key * _BLOCKS_PER_DOCUMENT
    stop = _BLOCKS_PER_DOCUMENT if end is None else -(-end // BLOCK)
    return range(first + start // BLOCK, first + stop)


def passage_id(document_id: str, path: str, place: str | None) -> str:
    """The id of a passage; `place` is stored only if it differs from the locator's path."""
    return f"{document_id}#{path if place is None else place}"


# Prefix of a confidence of OCR in the column `locator`.
_READ_BY_OCR = "ocr:"


def locator_of(path: str, section: str, page: int) -> Locator:
    """The locator from the columns `locator`, `section` and `page`."""
    if path.startswith(_READ_BY_OCR):
        confidence = float(path.removeprefix(_READ_BY_OCR))
        return Locator(section=section, page=page, confidence=confidence)
    return Locator(section=section, page=page) if section or page else Locator.parse(path)


def _stored_path(locator: Locator) -> str:
    if locator.confidence is None:
        return locator.path
    return f"{_READ_BY_OCR}{locator.confidence:.2f}"


def passage_of(document_id: str, row: StoredRow, span: str) -> Passage:
    """Make the passage of a row; `span` is its piece of the document text."""
    layer, path, place, section, page, header, start, end, text, source, *said = row
    locator = locator_of(path, section, page)
    text = span if text is None else text
    return Passage(
        id=passage_id(document_id, path, place),
        document_id=document_id,
        layer=layer,
        text=text,
        header=header,
        locator=locator,
        start=start,
        end=end,
        source_id=source,
        triple=None if said[0] is None else triple_of(header, text, *said),
    )


def _check_ids(document: Document) -> None:
    seen: set[str] = set()
    for passage in document.passages:
        if passage.document_id != document.id or not passage.id.startswith(f"{document.id}#"):
            raise InputError(
                N_("{source}: passage {id!r} is not of {document!r}."),
                source=document.source,
                id=passage.id,
                document=document.id,
            )
        if not 0 <= passage.start <= passage.end <= len(document.text):
            raise InputError(
                N_("{source}: passage {id!r} lies outside the text."),
                source=document.source,
                id=passage.id,
            )
        if passage.id in seen:
            raise InputError(
                N_("{source}: two passages have the id {id!r}."),
                source=document.source,
                id=passage.id,
            )
        seen.add(passage.id)


def _passage_row(document: Document, passage: Passage) -> PassageRow:
    locator = passage.locator
    path = _stored_path(locator)
    place = passage.id[len(document.id) + 1 :]
    same = document.text[passage.start : passage.end] == passage.text
    return (
        passage.layer,
        path,
        None if place == path else place,
        locator.section,
        locator.page,
        passage.header,
        passage.start,
        passage.end,
        None if same else passage.text,
        passage.source_id,
    )


def _fingerprint(
    document: Document,
    metadata: str,
    passages: tuple[PassageRow, ...],
    derived: tuple[TripleRow | NameRow, ...],
) -> str:
    # Covers the passages, so an improved reader counts as a change. `CorpusStore.altered` compares
    # it: any change of these rows needs an upgrade of stores.
    digest = blake2b(digest_size=16)
    for part in (document.title, document.kind, metadata, document.text):
        digest.update(f"{len(part)}\n{part}".encode())
    digest.update("\n".join(map(str, passages)).encode())
    digest.update("\n".join(map(str, document.sections)).encode())
    digest.update("\n".join(map(str, derived)).encode())
    return digest.hexdigest()


# Forms in names beyond the old forms of 常用漢字.
_VARIANTS = str.maketrans("邉濵嶋嶌冨峯舘桒彥淸靑敎鴎槙ヶヵ♯", "辺浜島島富峰館桑彦清青教鷗槇ケカ#")
_POSITIONAL = str.maketrans("〇零一二三四五六七八九壱弐参", "00123456789123")
_LONG_VOWEL = re.compile("(?<=[ぁ-ゖァ-ヺー])-")
_DROPPED = re.compile(r"[\s\-~「」『』\"'“”‘’„‟«»‹›〈〉《》【】〝〟`´・=゠]")
_NUMERAL = re.compile(f"(?<![0-9])[0-9]*+[{NUMERAL_CHARACTERS}][0-9{NUMERAL_CHARACTERS}]*")
_DISAMBIGUATED = re.compile(r"(.+)\([^()]+\)", re.DOTALL)
# A word of Latin letters with its signs (C++, AT&T, F-15), without an English genitive.
_LATIN = r"[#+]{0,3}[a-z]+(?:(?:['’](?!s(?![a-z0-9]))|[&.\-])[a-z0-9]+)*[#+]*"
_WORD = re.compile(rf"{_LATIN}|[0-9]+|[ァ-ヺー]+")


def fold(name: str) -> str:
    """The comparable form of a name; "" if it has no visible character.

    Two names are equal if their folded forms are. Folding

    - normalises case, width and invisible characters (`normalize`);
    - modernises old and variant kanji (澤 to 沢, 齋 to 斎, 髙 to 高, ヶ to ケ);
    - writes numbers in digits (第十三回 and 第１３回 to 第13回), also inside names like 三菱;
    - writes a dash after kana as a long vowel (ス－パ－), and drops other dashes;
    - drops spaces, quotation marks, middle dots and double hyphens, but keeps the signs of C++ and
      R&B, with ♯ as #.

    Round brackets stay for the disambiguator: 「杏 (女優)」. A name made of marks alone keeps them.
    """
    normal = normalize(name)
    written = _NUMERAL.sub(lambda numeral: _number(numeral[0]), _modern(normal))
    return _DROPPED.sub("", written) or normal


def bare(folded: str) -> str:
    """A folded name without its final disambiguator; "" if it has none."""
    found = _DISAMBIGUATED.fullmatch(folded)
    return found[1] if found else ""


class FoldedText:
    """A text as `fold` writes it, with positions in the original; "" for marks alone."""

    def __init__(self, text: str) -> None:
        normal, self._offsets = normalize_with_offsets(text)
        modern = _modern(normal)
        pieces = list(_pieces(modern))
        self.folded = "".join(piece.written for piece in pieces)
        self._pieces = [piece for piece in pieces for _ in piece.written]
        self._inside = {
            position
            for word in _WORD.finditer(modern)
            for position in range(word.start() + 1, word.end())
        }

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Positions in the original, in characters, for a non-empty folded span."""
        first, last = self._pieces[start], self._pieces[end - 1]
        return original_span(self._offsets, first.start, last.end)

    def begins(self, position: int) -> bool:
        """Whether a name can begin here: not inside a number or a word of letters or katakana."""
        piece = self._pieces[position]
        broken = position > 0 and self._pieces[position - 1] is piece
        return not broken and piece.start not in self._inside

    def ends(self, position: int) -> bool:
        """Whether a name can end before this position."""
        piece = self._pieces[position - 1]
        broken = position < len(self._pieces) and self._pieces[position] is piece
        return not broken and piece.end not in self._inside


class _FoldedPiece(NamedTuple):
    """A span of normalised text as written: a number in digits, or one character."""

    written: str
    start: int
    end: int


def _pieces(modern: str) -> Iterator[_FoldedPiece]:
    position = 0
    for numeral in _NUMERAL.finditer(modern):
        yield from _characters(modern, position, numeral.start())
        yield _FoldedPiece(_number(numeral[0]), *numeral.span())
        position = numeral.end()
    yield from _characters(modern, position, len(modern))


def _characters(modern: str, start: int, end: int) -> Iterator[_FoldedPiece]:
    for position in range(start, end):
        if not _DROPPED.match(modern[position]):
            yield _FoldedPiece(modern[position], position, position + 1)


def _modern(normal: str) -> str:
    return _LONG_VOWEL.sub("ー", convert(normal, variants=True).translate(_VARIANTS))


def _number(numeral: str) -> str:
    positional = numeral.translate(_POSITIONAL)
    if positional.isdigit():
        return positional  # Keeps the zeros of 〇〇七.
    return in_digits(numeral)


_OPENING, _CLOSING = "『「“\"'", "』」”\"'"
# Neighbours that make a name part of a longer one.
_BEFORE = re.compile(r"[a-z0-9新旧東西南北大小元前本第真超続副準]")
_BEHIND = re.compile(r"[^\W_ぁ-ゖー氏様君達型界系人家等的]")


class WordBounds(NamedTuple):
    """The words of a text, by start and by end."""

    starting: dict[int, str]
    ending: dict[int, str]


def words_of(text: str) -> WordBounds:
    """The words of a normalised text."""
    words, position = WordBounds({}, {}), 0
    for surface in segment(text):
        start = text.index(surface, position)
        position = start + len(surface)
        words.starting[start] = words.ending[position] = surface
    return words


def stands_alone(text: str, start: int, end: int, words: WordBounds) -> bool:
    """Whether the name in a span of normalised text is whole: quoted, or bounded by words."""
    before, after = text[:start][-1:], text[end:][:1]
    if before and after and before in _OPENING and after in _CLOSING:
        return True
    if start not in words.starting or end not in words.ending:
        return False
    ahead, behind = words.ending.get(start, ""), words.starting.get(end, "")
    return not (_BEFORE.fullmatch(ahead) or _BEHIND.fullmatch(behind))
