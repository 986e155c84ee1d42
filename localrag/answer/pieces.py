"""Quotable pieces: sentences of a passage, provisions of a statute."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from localrag.corpus.store import CorpusStore
from localrag.corpus.types import ARTICLES, ITEMS, PARAGRAPHS, PASSAGES, Locator, Passage
from localrag_indexes.analysis.analyzer import split_sentences

# A provision up to this length, in characters, is quoted with its items.
_SHORT = 800
# The legal term for the part of a provision before its items.
_STEM = "各号列記以外の部分"
# Sentences longer than the first are shown in clauses of about the second, in characters.
_LONG_SENTENCE, _CLAUSE = 240, 120
_PROVISO = re.compile(r"(?:ただし|但し)、?")
# A clause ends at a comma outside all brackets.
_COMMA_OR_BRACKET = re.compile(r"[、，,]|[（(「『〔［]|[）)」』〕］]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A quotable piece of a document.

    Attributes:
        passage: its passage.
        text: verbatim text of the document.
        start, end: its span in the document text.
        before: texts read before it: earlier sentences; for an item, the provisions above it.
        above: pieces an item completes, outermost first; without them it cannot be understood.
        below: pieces to read on to: the end of a cut sentence, the proviso of a rule. Without them
            a
            quote says more than the text.
        is_stem: whether its items follow as pieces of their own.
    """

    passage: Passage
    text: str
    start: int
    end: int
    before: tuple[str, ...] = ()
    above: "tuple[Piece, ...]" = ()
    below: "tuple[Piece, ...]" = ()
    is_stem: bool = False

    @property
    def label(self) -> str:
        """Its label."""
        return f"{self.passage.header} {_STEM}" if self.is_stem else self.passage.header

    def needs(self, other: "Piece") -> bool:
        """Whether another piece belongs to its context."""
        parts = (*self.above, *self.below)
        return any(part.start <= other.start < part.end for part in parts)


def pieces_of(store: CorpusStore, unit: Passage) -> list[Piece]:
    """The quotable pieces of a passage, in reading order."""
    return _provisions(_inside(store, unit), short=_SHORT) or _sentences(unit)


def sentences_of(store: CorpusStore, unit: Passage) -> list[Piece]:
    """The sentences of a passage, in reading order.

    In a statute every item and proviso is one, with its context above. A long sentence is split
    into clauses.
    """
    whole = _article_of(store, unit) if unit.layer == ITEMS else unit
    provisions = _provisions(_inside(store, whole), short=0)
    if not provisions:
        return _sentences(unit)
    sentences = [sentence for piece in provisions for sentence in _cut(piece)]
    if whole is unit:
        return sentences
    own = [sentence for sentence in sentences if unit.start <= sentence.start < unit.end]
    needed = [sentence for sentence in sentences if any(one.needs(sentence) for one in own)]
    return sorted({one.start: one for one in (*needed, *own)}.values(), key=lambda one: one.start)


def with_context(pieces: Sequence[Piece]) -> list[Piece]:
    """Each piece with its context above and below; none twice."""
    complete: dict[tuple[str, int, int], Piece] = {}
    for piece in pieces:
        for part in (*piece.above, piece, *piece.below):
            complete.setdefault((part.passage.document_id, part.start, part.end), part)
    return list(complete.values())


def joined(holder: Passage, pieces: Sequence[Piece]) -> Piece:
    """Join consecutive pieces into one.

    Args:
        holder: a passage around all of them.
        pieces: at least one, in reading order.
    """
    first, last = pieces[0], pieces[-1]
    if first is last:
        return first
    inside = first.passage if last.end <= first.passage.end else holder
    below = dict.fromkeys(part for piece in pieces for part in piece.below)
    return replace(
        first,
        passage=inside,
        text=inside.text[first.start - inside.start : last.end - inside.start],
        end=last.end,
        below=tuple(part for part in below if part.start >= last.end),
        is_stem=False,
    )


def _article_of(store: CorpusStore, unit: Passage) -> Passage:
    place = Locator(unit.locator.division, unit.locator.article)
    return store.at(unit.document_id, place, ARTICLES) or unit


def _inside(store: CorpusStore, unit: Passage) -> list[Passage]:
    """Paragraphs and items of a provision; empty for an ordinary passage."""
    if unit.layer == PASSAGES:
        return []
    return [
        passage
        for layer in (PARAGRAPHS, ITEMS)
        for passage in store.within(unit.document_id, unit.locator, layer)
    ]


def _sentences(passage: Passage) -> list[Piece]:
    pieces: list[Piece] = []
    for start, end in split_sentences(passage.text):
        pieces.append(
            Piece(
                passage,
                passage.text[start:end],
                passage.start + start,
                passage.start + end,
                before=tuple(piece.text for piece in pieces),
            )
        )
    return pieces


def _provisions(passages: Sequence[Passage], *, short: int) -> list[Piece]:
    """A piece for each paragraph or item, with its items if short.

    A paragraph is never cut into sentences: a main sentence without its proviso would hide the
    exception.

    Args:
        passages: paragraphs and items of one provision.
        short: most characters of a provision kept whole.
    """
    ordered = sorted(passages, key=lambda passage: (passage.start, -passage.end))
    pieces: list[Piece] = []
    parents: list[Piece] = []
    whole_until = 0
    for passage, following in zip_longest(ordered, ordered[1:]):
        if passage.start < whole_until:
            continue
        while parents and parents[-1].passage.end < passage.end:
            parents.pop()
        has_children = following is not None and following.start < passage.end
        if len(passage.text) <= short:
            has_children, whole_until = False, passage.end
        end = following.start if following is not None and has_children else passage.end
        text = passage.text[: end - passage.start].rstrip()
        piece = Piece(
            passage,
            text,
            passage.start,
            passage.start + len(text),
            before=tuple(parent.text for parent in parents),
            above=tuple(parents),
            is_stem=has_children,
        )
        pieces.append(piece)
        if has_children:
            parents.append(piece)
    return pieces


def _cut(piece: Piece) -> Iterator[Piece]:
    """The sentences of a provision as clauses; a rule and its proviso are linked."""
    sentences = [_clauses(piece, *span) for span in split_sentences(piece.text)]
    read = list(piece.before)
    rule: Sequence[Piece] = ()
    for clauses, following in zip(sentences, [*sentences[1:], []], strict=True):
        is_proviso = bool(rule) and _is_proviso(clauses)
        rule = rule if is_proviso else clauses
        above = (*piece.above, *rule) if is_proviso else piece.above
        proviso = tuple(following) if not is_proviso and _is_proviso(following) else ()
        for clause in clauses:
            end = () if clause is clauses[-1] else (clauses[-1],)
            yield replace(clause, before=tuple(read), above=above, below=(*end, *proviso))
            read.append(clause.text)


def _is_proviso(clauses: Sequence[Piece]) -> bool:
    return bool(clauses) and _PROVISO.match(clauses[0].text) is not None


def _clauses(piece: Piece, start: int, end: int) -> list[Piece]:
    """The clauses of a long sentence, split at commas outside brackets."""
    cuts = [start]
    depth = 0
    for mark in _COMMA_OR_BRACKET.finditer(piece.text, start, end):
        if end - start <= _LONG_SENTENCE:
            break
        if mark[0] in "（(「『〔［":
            depth += 1
        elif mark[0] not in "、，,":
            depth = max(depth - 1, 0)
        elif not depth and mark.end() - cuts[-1] >= _CLAUSE:
            cuts.append(mark.end())
    return [
        replace(piece, text=piece.text[one:other], start=piece.start + one, end=piece.start + other)
        for one, other in pairwise((*cuts, end))
    ]
