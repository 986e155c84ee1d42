"""Quotations that the law itself puts beside others: what fills in or punishes what was found."""

from collections.abc import Sequence

from localrag.corpus.store import CorpusStore
from localrag.reading.pieces import Piece, pieces_of
from localrag.reading.topic import states_sanction
from localrag.retrieval.model import Link, Retrieval
from localrag.retrieval.units import article_unit

# Linked provisions that are quoted before all others: a penalty often stands in two, the graver
# breach in the first.
_FIRST = 2


def with_linked(store: CorpusStore, chosen: Sequence[Piece], retrieval: Retrieval) -> list[Piece]:
    """The pieces chosen with those of the links of a retrieval, each where its link puts it.

    Args:
        store: where the pieces are.
        chosen: the pieces that support an answer, best first; where there are none, none is put
            beside them.
        retrieval: what they were chosen from.
    """
    if not chosen:
        return []
    first: list[Piece] = []
    rest = list(chosen)
    # What itself says the sanction, and was not only led to, has the place of one of them.
    room = _FIRST - (bool(retrieval.doing) and states_sanction(rest[0]))
    for link in retrieval.links:
        piece = _piece(store, link, retrieval)
        if piece is None:
            continue
        if link.comes_first and len(first) < room:
            first.append(piece)
        elif not link.comes_first:
            behind = [place for place, one in enumerate(rest, 1) if _unit(one) == link.other]
            if behind:
                rest.insert(max(behind[0], _named(rest, retrieval)), piece)
    return list({(one.start, one.passage.id): one for one in (*first, *rest)}.values())


def _piece(store: CorpusStore, link: Link, retrieval: Retrieval) -> Piece | None:
    """The piece that cites the other provision; none where the hits go without it."""
    for hit in retrieval.hits:
        if hit.passage.id == link.unit and not hit.beside:
            for piece in pieces_of(store, hit.passage):
                if piece.start <= link.position < piece.end:
                    return piece
    return None


def _named(pieces: Sequence[Piece], retrieval: Retrieval) -> int:
    """The place behind the last piece that the question names; 0 where it names none."""
    targets = [(target.law_id, target.locator) for target in retrieval.named]
    named = [
        place
        for place, one in enumerate(pieces, 1)
        if any(
            law_id == one.passage.document_id and locator.contains(one.passage.locator)
            for law_id, locator in targets
        )
    ]
    return max(named, default=0)


def _unit(piece: Piece) -> str:
    return article_unit(piece.passage.document_id, piece.passage.locator)
