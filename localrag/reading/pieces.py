"""What can be quoted: the sentences of a passage, the provisions of a statute."""

from collections.abc import Sequence
from dataclasses import dataclass

from localrag.corpus.model import ITEMS, PARAGRAPHS, PASSAGES, Passage
from localrag.corpus.store import CorpusStore
from localrag_indexes.analysis.sentences import split_sentences

# A provision of at most so many characters is quoted with its items, as one reads it.
_SHORT = 800
# What lawyers call the part of a provision before its items.
_STEM = "各号列記以外の部分"


@dataclass(frozen=True, slots=True)
class Piece:
    """A quotable piece of a document.

    Attributes:
        passage: the passage it is quoted from and located by.
        text: verbatim text of the document.
        start, end: its span in the document text.
        before: texts that a reader has read when they come to it: earlier sentences of the same
            passage; for an item of a statute, the provisions it stands under.
        above: the pieces an item completes, the outermost first; a quote of the item alone would
            not be understood.
        is_stem: whether items follow it in the provision that are no part of it.
    """

    passage: Passage
    text: str
    start: int
    end: int
    before: tuple[str, ...] = ()
    above: "tuple[Piece, ...]" = ()
    is_stem: bool = False

    @property
    def label(self) -> str:
        """Where it stands, in words."""
        return f"{self.passage.header} {_STEM}" if self.is_stem else self.passage.header


def pieces_of(store: CorpusStore, unit: Passage) -> list[Piece]:
    """The quotable pieces of a retrieved passage, in reading order."""
    if unit.layer == PASSAGES:
        return _sentences(unit)
    inside = [
        passage
        for layer in (PARAGRAPHS, ITEMS)
        for passage in store.within(unit.document_id, unit.locator, layer)
    ]
    return _provisions(inside) if inside else _sentences(unit)


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


def _provisions(passages: Sequence[Passage]) -> list[Piece]:
    """One piece a paragraph or item, without what stands below it unless the whole is short.

    A paragraph is never cut into its sentences: the main sentence without its proviso would
    quote the rule and hide the exception.
    """
    ordered = sorted(passages, key=lambda passage: (passage.start, -passage.end))
    pieces: list[Piece] = []
    parents: list[Piece] = []
    whole_until = 0
    for passage, following in zip(ordered, [*ordered[1:], None], strict=True):
        if passage.start < whole_until:
            continue
        while parents and parents[-1].passage.end < passage.end:
            parents.pop()
        has_children = following is not None and following.start < passage.end
        if len(passage.text) <= _SHORT:
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
