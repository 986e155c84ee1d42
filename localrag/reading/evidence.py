"""The evidence a model is shown: the best hits, as far as its context holds them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from localrag.corpus.types import Passage
from localrag.facts import Fact, FactKind
from localrag.reading.pieces import Piece, pieces_of
from localrag.reading.support import SupportScorer
from localrag.retrieval.pipeline import Retriever
from localrag.retrieval.query import full_text
from localrag.retrieval.types import Hit, Query

LONGEST = 3000
"""Of a passage with more characters only the pieces nearest to the question are shown."""

_GAP = "…"


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A passage as a model sees it.

    Attributes:
        number: what the model cites it by, from 1.
        passage: the passage itself.
        text: its text, or of a long one the pieces nearest to the question.
    """

    number: int
    passage: Passage
    text: str

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return self.passage.header

    @property
    def shown(self) -> str:
        """Everything of it that a prompt holds."""
        return f"{self.place}\n{self.text}"


def sources_of(
    retriever: Retriever, query: Query, hits: Sequence[Hit], longest: int = LONGEST
) -> list[NumberedPassage]:
    """The hits as sources, best first.

    Args:
        retriever: what found them.
        query: what they are read for.
        hits: best first.
        longest: characters that are shown of each at most.
    """
    scorer = SupportScorer(full_text(query), retriever.inverse_document_frequency)
    sources = []
    for number, hit in enumerate(hits, 1):
        passage = hit.passage
        text = passage.text
        if len(text) > longest:
            text = _nearest(scorer, pieces_of(retriever.store, passage), passage.header, longest)
        sources.append(NumberedPassage(number, passage, text))
    return sources


def fitting(
    sources: Sequence[NumberedPassage], fits: Callable[[Sequence[NumberedPassage]], bool]
) -> tuple[Sequence[NumberedPassage], list[Fact]]:
    """As many of the sources as fit, dropped from the last rank.

    Args:
        sources: best first.
        fits: whether a prompt with these sources leaves room for the reply.

    Returns:
        The sources that stay, and an event for whatever the model is not shown.
    """
    kept = sources
    while kept and not fits(kept):
        kept = kept[:-1]
    events = [
        Fact(
            FactKind.SHORTENED,
            place=source.place,
            characters=len(source.passage.text),
            shown=len(source.text),
        )
        for source in kept
        if source.text != source.passage.text
    ]
    dropped = sources[len(kept) :]
    if dropped:
        places = tuple(source.place for source in dropped)
        events.append(
            Fact(FactKind.PASSAGES_LEFT_OUT, n=len(dropped), total=len(sources), places=places)
        )
    return kept, events


def element(name: str, texts: Iterable[str]) -> str:
    """A name for the element of a prompt that encloses texts: none of them can close or open one.

    Args:
        name: the name it has where no text holds the like of it.
        texts: all that the prompt says besides its own words.
    """
    tails = (tail for text in texts for tail in re.findall(f"</?{name}(_*)", text))
    return name + "_" * max((len(tail) + 1 for tail in tails), default=0)


def _nearest(scorer: SupportScorer, pieces: Sequence[Piece], header: str, longest: int) -> str:
    """The pieces that support an answer best, in their order, a gap marked where some are left out.

    A best piece that is too long by itself is cut; quotes are verified against the whole text.
    """
    supports = scorer.score(pieces, header, 0.0)
    ranked = sorted(range(len(pieces)), key=lambda index: -supports[index].score)
    chosen: set[int] = set()
    room = longest
    for index in ranked:
        length = len(pieces[index].text)
        if length <= room:
            chosen.add(index)
            room -= length
    if not chosen:
        return pieces[ranked[0]].text[:longest] + _GAP
    parts: list[str] = []
    for index, piece in enumerate(pieces):
        if index in chosen:
            parts.append(piece.text)
        elif not parts or parts[-1] != _GAP:
            parts.append(_GAP)
    return "\n".join(parts)
