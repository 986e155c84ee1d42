"""How triples are laid out in the tables: cut out of the text of their passages, found by name."""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import groupby

from localrag.corpus.naming import bare, fold
from localrag.corpus.types import ALIAS, TRIPLES, Passage, Triple
from localrag.errors import InputError

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
        raise InputError(f"{source}: passage {passage.id!r} does not say its triple.")
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
        for _, passage in members:
            if passage.triple and passage.triple.predicate == ALIAS:
                names |= {(Rank.ALIAS, fold(alias)) for alias in passage.triple.objects}
        for rank, name in sorted(names):
            if rank is Rank.WHOLE or name not in ("", whole):
                yield members[0][0], members[-1][0], rank, name
