"""How a document is laid out in the tables: text in blocks, passages as spans of it.

Triples are cut out of the text of their passages, and found by the names of their subjects, which
are compared without regard to how they are written (`fold`).
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
"""passage (its place in the document, from 0), predicate, objects, source, date."""
NameRow = tuple[int, int, int, str]
"""first and last passage (as above), rank, name: columns of `names`."""


class Rank(IntEnum):
    """How closely a name belongs to a subject."""

    WHOLE = 0
    BARE = 1
    ALIAS = 2


def triple_rows(source: str, passages: Sequence[Passage]) -> tuple[TripleRow, ...]:
    """Lay out the triples of a document.

    Raises:
        InputError: a passage of the layer `TRIPLES` says something else than its triple.
    """
    return tuple(
        _row(source, number, passage)
        for number, passage in enumerate(passages)
        if passage.layer == TRIPLES or passage.triple
    )


def name_rows(passages: Sequence[Passage]) -> tuple[NameRow, ...]:
    """List the names of the subjects of a document, run by run."""
    return tuple(_names(passages))


def triple_of(subject: str, text: str, predicate: int, objects: str | None, *said: str) -> Triple:
    """Cut a triple out of the text of its passage.

    Args:
        subject: the header of the passage.
        text: of the passage, as `Triple.text` writes it.
        predicate: length of the predicate, as in `triples`.
        objects: lengths of the objects, as there.
        said: source and date.
    """
    start = len(subject) + 1
    end = start + predicate
    position = end + 1
    lengths = [len(text) - position - 1] if objects is None else map(int, objects.split(","))
    found = []
    for length in lengths:
        found.append(text[position : position + length])
        position += length + 1
    return Triple(subject, text[start:end], tuple(found), *said)


def _row(source: str, number: int, passage: Passage) -> TripleRow:
    triple = passage.triple
    if (
        triple is None
        or passage.layer != TRIPLES
        or passage.header != triple.subject
        or passage.text != triple.text
        or not triple.objects
    ):
        raise InputError(
            N_("{source}: passage {id!r} does not say its triple."),
            source=source,
            id=passage.id,
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
"""Characters of a block: a passage of usual length is read with one or two of them."""

_BLOCKS_PER_DOCUMENT = 1 << 20

PassageRow = tuple[str, str, str | None, str, int, str, int, int, str | None, str]
"""layer, locator, place, section, page, header, start, end, text, source: columns of `passages`."""
StoredRow = tuple[Any, ...]
"""A `PassageRow` and the columns predicate, objects, source, date of `triples`; None without."""


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """A document ready to be written: small enough to be sent from one process to another.

    Attributes:
        id: of the work, with the date of its state where it has one (`state_id`).
        work: the id of the document outside the store.
        state: date of the state of a law, in ISO form; empty where there is none.
    """

    id: str
    work: str
    state: str
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
    """Lay a document out for the tables.

    Raises:
        InputError: the document has no id, its passages break the rules of the model, or its
            text holds half characters (lone surrogates), which no file can hold.
    """
    if not document.id:
        raise InputError(
            N_("{source}: the document has no id."),
            source=document.source,
        )
    _check_ids(document)
    passages = tuple(_passage_row(document, passage) for passage in document.passages)
    triples = triple_rows(document.source, document.passages)
    names = name_rows(document.passages) if triples else ()
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
    """Return a span of what the blocks of a document hold; all from `start` on without `end`."""
    blocks = block_range(key, start, end)
    rows = database.rows(
        "SELECT key, text, mark FROM blocks WHERE key >= ? AND key < ? ORDER BY key",
        (blocks.start, blocks.stop),
    )
    skipped = start // BLOCK * BLOCK
    text = "".join(text for _, text in sound_blocks(database, rows))
    return text[start - skipped : None if end is None else max(end, start) - skipped]


def sound_blocks(database: Database, rows: Iterable[Row]) -> Iterator[tuple[int, str]]:
    """The keys and texts of rows of `blocks` (key, text, mark), each held against its mark.

    Raises:
        StoreError: a text is another one than was stored: nothing of it may be quoted.
    """
    for key, text, mark in rows:
        if not isinstance(text, str) or checksum(text) != mark:
            document = database.row(
                "SELECT id FROM documents WHERE key = ?", (key // _BLOCKS_PER_DOCUMENT,)
            )
            told = _("the text of {document} is not the one that was stored")
            raise database.damage(told.format(document=document[0] if document else key))
        yield key, text


def sound_passages(database: Database, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows of passages without their marks, each held against its own.

    Args:
        database: of the store.
        rows: the key of the passage, those of its document, a `StoredRow`, and the mark.

    Raises:
        StoreError: one is not what was stored.
    """
    for *row, mark in rows:
        database.require_marked((row[1], *row[3:13]), mark, row[2])
        yield tuple(row)


def write_blocks(database: Database, document_key: int, text: str) -> None:
    """Store a text in the rows of `blocks`, each with its mark."""
    first = document_key * _BLOCKS_PER_DOCUMENT
    blocks = (text[start : start + BLOCK] for start in range(0, len(text), BLOCK))
    database.write_many(
        "INSERT INTO blocks VALUES (?, ?, ?)",
        ((first + number, block, checksum(block)) for number, block in enumerate(blocks)),
    )


def block_range(document_key: int, start: int, end: int | None) -> range:
    """Keys of the blocks that hold a span; all from `start` on when `end` is None."""
    first = document_key * _BLOCKS_PER_DOCUMENT
    stop = _BLOCKS_PER_DOCUMENT if end is None else -(-end // BLOCK)
    return range(first + start // BLOCK, first + stop)


def passage_id(document_id: str, path: str, place: str | None) -> str:
    """The id of a passage; `place` is stored only where it differs from the locator's path."""
    return f"{document_id}#{path if place is None else place}"


# Stands in the column `locator` before how sure OCR is of a page.
_READ_BY_OCR = "ocr:"


def locator_of(path: str, section: str, page: int) -> Locator:
    """Where a passage stands, from its columns `locator`, `section` and `page`."""
    if path.startswith(_READ_BY_OCR):
        confidence = float(path.removeprefix(_READ_BY_OCR))
        return Locator(section=section, page=page, confidence=confidence)
    return Locator(section=section, page=page) if section or page else Locator.parse(path)


def _stored_path(locator: Locator) -> str:
    if locator.confidence is None:
        return locator.path
    return f"{_READ_BY_OCR}{locator.confidence:.2f}"


def passage_of(document_id: str, row: StoredRow, span: str) -> Passage:
    """Make the passage of a row; `span` is its piece of the document's text."""
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
    # Covers the passages too, so that a better reader counts as a change. Stores are checked with
    # it (`CorpusStore.altered`): whatever makes another one of the same rows has to lift them.
    digest = blake2b(digest_size=16)
    for part in (document.title, document.kind, metadata, document.text):
        digest.update(f"{len(part)}\n{part}".encode())
    digest.update("\n".join(map(str, passages)).encode())
    digest.update("\n".join(map(str, document.sections)).encode())
    digest.update("\n".join(map(str, derived)).encode())
    return digest.hexdigest()


# Forms met in names that the old forms of 常用漢字 leave out.
_VARIANTS = str.maketrans("邉濵嶋嶌冨峯舘桒彥淸靑敎鴎槙ヶヵ♯", "辺浜島島富峰館桑彦清青教鷗槇ケカ#")
_POSITIONAL = str.maketrans("〇零一二三四五六七八九壱弐参", "00123456789123")
_LONG_VOWEL = re.compile("(?<=[ぁ-ゖァ-ヺー])-")
_DROPPED = re.compile(r"[\s\-~「」『』\"'“”‘’„‟«»‹›〈〉《》【】〝〟`´・=゠]")
_NUMERAL = re.compile(f"(?<![0-9])[0-9]*+[{NUMERAL_CHARACTERS}][0-9{NUMERAL_CHARACTERS}]*")
_DISAMBIGUATED = re.compile(r"(.+)\([^()]+\)", re.DOTALL)
# Of Latin letters with their signs (C++, AT&T, F-15); that of an English genitive is none.
_LATIN = r"[#+]{0,3}[a-z]+(?:(?:['’](?!s(?![a-z0-9]))|[&.\-])[a-z0-9]+)*[#+]*"
_WORD = re.compile(rf"{_LATIN}|[0-9]+|[ァ-ヺー]+")


def fold(name: str) -> str:
    """The form of a name that is compared; empty where no character of it can be seen.

    Two names are the same when their folded forms are. Folding

    - normalises (`localrag_indexes.analysis.normalize`): case, width, what is invisible;
    - writes old and variant forms of kanji as today's (澤 as 沢, 齋 as 斎, 髙 as 高, ヶ as ケ);
    - writes numbers in digits (第十三回 and 第１３回 as 第13回). A name that holds a numeral by
      chance (三菱) changes alike on both sides;
    - writes a dash after kana as the long vowel it stands for (ス－パ－), and drops other dashes;
    - drops spaces, quotation marks, middle dots and double hyphens; the signs of C++ and R&B stay,
      ♯ as #.

    Round brackets stay: they hold the disambiguator of a name, 「杏 (女優)」. A name that is
    nothing but marks keeps them.
    """
    normal = normalize(name)
    written = _NUMERAL.sub(lambda numeral: _number(numeral[0]), _modern(normal))
    return _DROPPED.sub("", written) or normal


def bare(folded: str) -> str:
    """A folded name without the disambiguator that ends it; empty where none does."""
    found = _DISAMBIGUATED.fullmatch(folded)
    return found[1] if found else ""


class FoldedText:
    """A text in its folded form, and the way back.

    Attributes:
        folded: as `fold` writes it; empty where the text is nothing but marks.
    """

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
        """Where a non-empty span of the folded text stands in the original, in characters."""
        first, last = self._pieces[start], self._pieces[end - 1]
        return original_span(self._offsets, first.start, last.end)

    def begins(self, position: int) -> bool:
        """Whether a name can begin here: not inside a number or a word of letters or katakana.

        Signs are part of a word of Latin letters: C is no name in C++, C# and Objective-C.
        """
        piece = self._pieces[position]
        broken = position > 0 and self._pieces[position - 1] is piece
        return not broken and piece.start not in self._inside

    def ends(self, position: int) -> bool:
        """Whether a name can end before this position."""
        piece = self._pieces[position - 1]
        broken = position < len(self._pieces) and self._pieces[position] is piece
        return not broken and piece.end not in self._inside


class _Piece(NamedTuple):
    """What a span of normalised text is written as: a number in digits, else one character."""

    written: str
    start: int
    end: int


def _pieces(modern: str) -> Iterator[_Piece]:
    position = 0
    for numeral in _NUMERAL.finditer(modern):
        yield from _characters(modern, position, numeral.start())
        yield _Piece(_number(numeral[0]), *numeral.span())
        position = numeral.end()
    yield from _characters(modern, position, len(modern))


def _characters(modern: str, start: int, end: int) -> Iterator[_Piece]:
    for position in range(start, end):
        if not _DROPPED.match(modern[position]):
            yield _Piece(modern[position], position, position + 1)


def _modern(normal: str) -> str:
    """Write every character as it is written today; their number stays."""
    return _LONG_VOWEL.sub("ー", convert(normal, variants=True).translate(_VARIANTS))


def _number(numeral: str) -> str:
    positional = numeral.translate(_POSITIONAL)
    if positional.isdigit():
        return positional  # Keeps the zeros of 〇〇七.
    return in_digits(numeral)


_OPENING, _CLOSING = "『「“\"'", "』」”\"'"
# What makes another name of a name that it stands before, or behind.
_BEFORE = re.compile(r"[a-z0-9新旧東西南北大小元前本第真超続副準]")
_BEHIND = re.compile(r"[^\W_ぁ-ゖー氏様君達型界系人家等的]")


class WordBounds(NamedTuple):
    """The words of a text, by where they begin and by where they end."""

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
    """Whether the name in a span is no piece of another: quoted, or cut from the words around it.

    Args:
        text: normalised.
        start: of the name, in characters of the text.
        end: of the name.
        words: of the text.
    """
    before, after = text[:start][-1:], text[end:][:1]
    if before and after and before in _OPENING and after in _CLOSING:
        return True
    if start not in words.starting or end not in words.ending:
        return False
    ahead, behind = words.ending.get(start, ""), words.starting.get(end, "")
    return not (_BEFORE.fullmatch(ahead) or _BEHIND.fullmatch(behind))
