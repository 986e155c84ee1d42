"""The evidence shown to a model: passages or numbered sentences, as far as they fit.

A model cites a sentence by its number and copies no text: code inserts the words quoted. So both
prompt and reply stay short.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import NamedTuple

from localrag.answer.pieces import Piece, pieces_of, sentences_of
from localrag.answer.support import SupportScorer
from localrag.corpus.types import Passage
from localrag.search.pipeline import Retriever
from localrag.search.query import full_text
from localrag.search.types import Hit, Query
from localrag.text.facts import Fact, FactKind

LONGEST = 3000
"""Of a longer passage, in characters, only the pieces nearest to the question are shown."""

_GAP = "…"


@dataclass(frozen=True, slots=True)
class NumberedPassage:
    """A passage as shown to a model.

    Attributes:
        number: for citations, from 1.
        passage: the passage itself.
        text: its text, or the pieces of a long one nearest to the question.
    """

    number: int
    passage: Passage
    text: str

    @property
    def place(self) -> str:
        """Its label."""
        return self.passage.header

    @property
    def shown(self) -> str:
        """All its text in the prompt."""
        return f"{self.place}\n{self.text}"


def sources_of(
    retriever: Retriever, query: Query, hits: Sequence[Hit], longest: int = LONGEST
) -> list[NumberedPassage]:
    """The hits as sources, best first.

    Args:
        retriever: that found them.
        query: the question.
        hits: best first.
        longest: most characters shown of each.
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
    """As many sources as fit, dropped from the last.

    Args:
        sources: best first.
        fits: whether a prompt with given sources leaves room for the reply.

    Returns:
        The remaining sources, and a note on everything left out.
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
    """A name for a prompt element that no text can open or close.

    Args:
        name: the preferred name.
        texts: all foreign text of the prompt.
    """
    tails = (tail for text in texts for tail in re.findall(f"</?{name}(_*)", text))
    return name + "_" * max((len(tail) + 1 for tail in tails), default=0)


def _nearest(scorer: SupportScorer, pieces: Sequence[Piece], header: str, longest: int) -> str:
    """The best pieces in text order, with gaps marked.

    A best piece that is too long is cut; quotes are verified against the whole text.
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


MOST, ROOM = 7, 1_600
"""Most sentences shown, and most characters of them. An item counts with the sentence it completes.
A longer best sentence is shown anyway.
"""

# A passage found, and its sentences.
_Found = tuple[Passage, Sequence[Piece]]
# Index of a passage found, and of one of its sentences.
_Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the evidence.

    Attributes:
        number: for citations, from 1.
        piece: its text and place.
        passage: the passage found around it.
        rewritten: a version that can be read alone, or "".
    """

    number: int
    piece: Piece
    passage: Passage
    rewritten: str = ""

    @property
    def text(self) -> str:
        """The text shown to a model; the piece is quoted."""
        return self.rewritten or self.piece.text


@dataclass(frozen=True, slots=True)
class ShownSentences:
    """Sentences of one passage, as shown in a prompt.

    Attributes:
        place: label of the passage.
        sentences: in reading order.
    """

    place: str
    sentences: tuple[Sentence, ...]


class ChosenSentences(NamedTuple):
    """Sentences chosen as evidence.

    Attributes:
        sentences: by hit, then in reading order.
        events: notes on evidence left out of the prompt.
        least: the minimum an answer needs.
    """

    sentences: list[Sentence]
    events: list[Fact]
    least: list[Sentence]


def passages_of(sentences: Sequence[Sentence]) -> list[ShownSentences]:
    """Group sentences by passage, in order."""
    return [
        ShownSentences(place, tuple(inside))
        for place, inside in groupby(sentences, lambda sentence: sentence.passage.header)
    ]


def sentences_that_may_answer(
    retriever: Retriever,
    query: Query,
    hits: Sequence[Hit],
    fits: Callable[[Sequence[Sentence]], bool],
    *,
    whole: bool = False,
) -> ChosenSentences:
    """Choose the best supporting sentences, each with its stem and neighbours.

    Args:
        retriever: that found the hits; one thread at a time.
        query: the question.
        hits: best first.
        fits: whether a prompt with given sentences leaves room for the reply.
        whole: whether to show the first hit whole. If it is longer than `LONGEST` or does not fit,
            its own sentences are chosen first.

    Returns:
        At most `MOST` sentences, each once, with the context of the best one. Empty if even the
        best one does not fit.
    """
    found = [(hit.passage, sentences_of(retriever.store, hit.passage)) for hit in hits]
    groups = _by_support(retriever, query, hits, found, leading=whole)
    first = [(0, at) for at in range(len(found[0][1]))] if whole else []
    if first and _length(found, first) <= LONGEST and fits(_numbered(found, first)):
        groups = chain([first], groups)
    chosen: list[_Place] = []
    least: list[Sentence] = []
    events = []
    for group in groups:
        new = [place for place in group if place not in chosen]
        wider = [*chosen, *new]
        if not new or (chosen and (_count(found, wider) > MOST or _length(found, wider) > ROOM)):
            continue
        numbered = _numbered(found, wider)
        least = least or numbered
        if not fits(numbered):
            events.append(Fact(FactKind.SENTENCES_LEFT_OUT, n=len(chosen)))
            break
        chosen = wider
    shown = [place for place in first if place in chosen]
    if shown != first:
        events.append(
            Fact(
                FactKind.SHORTENED,
                place=found[0][0].header,
                characters=_length(found, first),
                shown=_length(found, shown),
            )
        )
    return ChosenSentences(_numbered(found, chosen), events, least)


def sentences_in_full(
    retriever: Retriever,
    hits: Sequence[Hit],
    fits: Callable[[Sequence[Sentence]], bool],
) -> ChosenSentences:
    """Number every sentence of the hits that fit, the best hit first.

    Args:
        retriever: that found the hits; one thread at a time.
        hits: best first, at least one.
        fits: whether a prompt with given sentences leaves room for the reply.
    """
    found = [(hit.passage, sentences_of(retriever.store, hit.passage)) for hit in hits]
    places = list(dict.fromkeys(_first_places(found).values()))
    kept = bisect_left(
        range(1, len(places) + 1), True, key=lambda n: not fits(_numbered(found, places[:n]))
    )
    events = [Fact(FactKind.SENTENCES_LEFT_OUT, n=kept)] if kept < len(places) else []
    return ChosenSentences(_numbered(found, places[:kept]), events, _numbered(found, places[:1]))


def _by_support(
    retriever: Retriever,
    query: Query,
    hits: Sequence[Hit],
    found: Sequence[_Found],
    *,
    leading: bool,
) -> Iterator[list[_Place]]:
    """Sentences with their context, best first; with `leading`, the first hit's come first."""
    scorer = SupportScorer(full_text(query), retriever.inverse_document_frequency)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    scores = {
        (of, at): support.score
        for of, (passage, pieces) in enumerate(found)
        for at, support in enumerate(scorer.score(pieces, passage.header, hits[of].score / best))
    }
    places = _first_places(found)
    # A provision can have thousands of items: find context by position.
    starts = [[piece.start for piece in pieces] for _, pieces in found]
    for of, at in sorted(scores, key=lambda place: (leading and place[0] > 0, -scores[place])):
        pieces = found[of][1]
        needed = {at}
        for part in (*pieces[at].above, *pieces[at].below):
            first, last = (bisect_left(starts[of], place) for place in (part.start, part.end))
            needed.update(range(first, last))
        group = sorted(needed)
        # The sentence before names the subject, the one after often the consequence.
        beside = [other for other in (at - 1, at + 1) if 0 <= other < len(pieces)]
        for together in (group, beside):
            yield list(dict.fromkeys(places[of, other] for other in together))


def _first_places(found: Sequence[_Found]) -> dict[_Place, _Place]:
    """The first place of each sentence: an item and its article may both be found."""
    first: dict[tuple[str, int, int], _Place] = {}
    return {
        (of, at): first.setdefault((passage.document_id, piece.start, piece.end), (of, at))
        for of, (passage, pieces) in enumerate(found)
        for at, piece in enumerate(pieces)
    }


def _numbered(found: Sequence[_Found], chosen: Sequence[_Place]) -> list[Sentence]:
    return [
        Sentence(number, found[of][1][at], found[of][0])
        for number, (of, at) in enumerate(sorted(chosen), 1)
    ]


def _count(found: Sequence[_Found], places: Sequence[_Place]) -> int:
    return sum(not found[of][1][at].above for of, at in places)


def _length(found: Sequence[_Found], places: Sequence[_Place]) -> int:
    return sum(len(found[of][1][at].text) for of, at in places)
