"""Applies readings (読替え): a provision's text with the words replaced, by code.

Words are replaced only in the part named and outside exceptions. Words not found, and limits code
cannot follow, are reported.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from localrag.corpus.links import READS, Reading, Reference
from localrag.corpus.lookups import Lookups
from localrag.corpus.types import PARAGRAPHS, Locator, Passage
from localrag.law.provisions import numbers_of

_SENTENCE_END = re.compile(r"。(?![）」])")
_PROVISO = re.compile("。(?=(?:ただし|但し|但)、?)")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReadWords:
    """Words read in place of others.

    Attributes:
        replaced: as in the provision.
        replacing: the new words.
        times: number of occurrences; None if the provision is missing or unidentified, or the
            limits cannot be followed (係る部分に限る).
    """

    replaced: str
    replacing: str
    times: int | None


class Piece(NamedTuple):
    """A piece of a text; `replaced` has the law's own words, or ""."""

    text: str
    replaced: str = ""


@dataclass(frozen=True, slots=True)
class ReadText:
    """The text of a passage as another provision reads it; made by code, not a text of a law.

    Attributes:
        by: the provision with the readings.
        pieces: the text, in order.
        left_out: readings not applied: the words do not occur, or code cannot follow where they
            apply.
    """

    by: Passage
    pieces: tuple[Piece, ...]
    left_out: tuple[ReadWords, ...]

    @property
    def text(self) -> str:
        """The text as read."""
        return "".join(piece.text for piece in self.pieces)


def words_of(store: Lookups, reference: Reference) -> tuple[ReadWords, ...]:
    """The words of a ``reads`` reference, with their occurrences in the target."""
    spans = _spans(store, reference)
    return tuple(_words(store, reference, reading, spans) for reading in _readings(reference))


def reaches(reference: Reference, place: Locator) -> bool:
    """Whether a reference leads to a provision, one around it or one inside."""
    first, last = reference.target, reference.target_end
    if first.contains(place) or place.contains(first):
        return True
    if last is None or first.division != place.division:
        return False
    depth = len(numbers_of(first))
    return numbers_of(first) <= numbers_of(place)[:depth] <= numbers_of(last)


def is_told(reference: Reference) -> bool:
    """Whether code can identify the target of a ``reads`` reference."""
    return bool(reference.law_id or reference.law_name)


def as_read(store: Lookups, passage: Passage, by: Passage) -> ReadText | None:
    """Replace the words of a passage that another provision reads otherwise.

    Of overlapping readings, the longest is applied.

    Returns:
        None if the provision reads none of its words otherwise.
    """
    reads = [
        reference
        for reference in store.references_from(by.document_id, by.locator, READS)
        if not is_told(reference)
        or (reference.law_id == passage.document_id and reaches(reference, passage.locator))
    ]
    if not reads:
        return None
    edits: list[tuple[int, int, str]] = []
    left_out: list[ReadWords] = []
    for reference in reads:
        spans = _spans(store, reference)
        for reading in _readings(reference):
            words = _words(store, reference, reading, spans)
            if not words.times:
                left_out.append(words)
                continue
            inside = _common(spans or [], (passage.start, passage.end))
            length = len(words.replaced)
            edits += [
                (start - passage.start, start - passage.start + length, words.replacing)
                for start in _found(store, passage.document_id, inside, words.replaced)
            ]
    pieces = tuple(_pieces(passage, edits))
    return ReadText(by, pieces, tuple(dict.fromkeys(left_out)))


def _readings(reference: Reference) -> tuple[Reading, ...]:
    return reference.reads.readings if reference.reads else ()


def _words(
    store: Lookups, reference: Reference, reading: Reading, spans: list[Span] | None
) -> ReadWords:
    replaced = store.text(reference.document_id, reading.replaced_start, reading.replaced_end)
    replacing = store.text(reference.document_id, reading.replacing_start, reading.replacing_end)
    times = None
    if spans is not None:
        times = sum(1 for _ in _found(store, reference.law_id, spans, replaced))
    return ReadWords(replaced, replacing, times)


def _spans(store: Lookups, reference: Reference) -> list[Span] | None:
    """Spans of the law's text where the words can be; None if unknown."""
    if not reference.law_id or reference.reads is None:
        return None
    law, target = reference.law_id, reference.target
    first = store.at(law, target)
    last = store.at(law, reference.target_end) if reference.target_end else first
    if first is None or last is None:
        return None
    spans = [(first.start, last.end)]
    if reference.reads.part:
        paragraphs = store.within(law, target, PARAGRAPHS) if target.article else []
        if not target.paragraph and len(paragraphs) == 1:
            first = paragraphs[0]
        part = part_span(first.text, reference.reads.part)
        if part is None or len(paragraphs) > 1:
            return None
        spans = [(first.start + part[0], first.start + part[1])]
    for place in reference.reads.excepted:
        passage = store.at(law, place)
        if passage is not None:
            spans = [*_common(spans, (0, passage.start)), *_common(spans, (passage.end, last.end))]
    return spans


def part_span(text: str, part: str) -> Span | None:
    """The span of a part of a paragraph: ただし書, 後段; None for others."""
    line = len(text.partition("\n")[0])
    proviso = _PROVISO.search(text, 0, line)
    sentence = _SENTENCE_END.search(text, 0, line)
    if part.endswith("列記以外の部分") or part.startswith("柱書"):
        return 0, line
    if part in ("ただし書", "但書"):
        return (proviso.end(), line) if proviso else (line, line)
    if part == "本文":
        return 0, proviso.end() if proviso else len(text)
    if part == "前段":
        return 0, sentence.end() if sentence else line
    if part == "後段":
        return (sentence.end(), line) if sentence else (line, line)
    return None


def _common(spans: Iterable[Span], with_: Span) -> list[Span]:
    cut = ((max(start, with_[0]), min(end, with_[1])) for start, end in spans)
    return [(start, end) for start, end in cut if start < end]


def _found(store: Lookups, law_id: str, spans: Iterable[Span], words: str) -> Iterator[int]:
    """Occurrences of words in spans of a law."""
    for start, end in spans:
        text = store.text(law_id, start, end)
        at = text.find(words)
        while at >= 0:
            yield start + at
            at = text.find(words, at + len(words))


def _pieces(passage: Passage, edits: Iterable[tuple[int, int, str]]) -> Iterator[Piece]:
    text, taken = passage.text, bytearray(len(passage.text))
    made = []
    for start, end, words in sorted(edits, key=lambda edit: (edit[0] - edit[1], edit[0])):
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            made.append((start, end, words))
    at = 0
    for start, end, words in sorted(made):
        if at < start:
            yield Piece(text[at:start])
        yield Piece(words, text[start:end])
        at = end
    if at < len(text):
        yield Piece(text[at:])
