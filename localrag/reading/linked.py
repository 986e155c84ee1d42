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
            place = _behind(link, rest, retrieval)
            rest[place:place] = [piece] if place else []
    return list({(one.start, one.passage.id): one for one in (*first, *rest)}.values())


def _piece(store: CorpusStore, link: Link, retrieval: Retrieval) -> Piece | None:
    """The piece that cites the other provision, or has it in its caption; none without its hit."""
    for hit in retrieval.hits:
        if hit.passage.id == link.unit and not hit.beside:
            pieces = pieces_of(store, hit.passage)
            return next((piece for piece in pieces if piece.end > link.position), None)
    return None


def _behind(link: Link, pieces: Sequence[Piece], retrieval: Retrieval) -> int:
    """The place behind the other provision, and all that the question names; 0 where it is none."""
    units = [_unit(piece) for piece in pieces]
    if link.other not in units:
        return 0
    named = {article_unit(target.law_id, target.locator) for target in retrieval.named}
    return 1 + max(units.index(unit) for unit in {link.other, *named} if unit in units)


def _unit(piece: Piece) -> str:
    return article_unit(piece.passage.document_id, piece.passage.locator)
