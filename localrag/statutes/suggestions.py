"""Type-ahead over the names of laws: the laws that somebody can mean by what is typed so far."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from heapq import nsmallest
from typing import NamedTuple

from localrag.corpus.naming import fold
from localrag.statutes.names import LawNames

# In folded characters; no law is called so.
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A law that can be meant.

    Attributes:
        title: as printed.
        matched: the name that fits: the title, an abbreviation, or the law number.
    """

    law_id: str
    title: str
    matched: str


def suggest(names: LawNames, typed: str, limit: int) -> list[Suggestion]:
    """Find the laws with a name that fits what is typed, the likeliest first, each once.

    Names that begin with it go before names that hold it, and those before names that hold its
    characters in order; among them the shorter ones first. Names are compared in their folded
    form (`localrag.corpus.naming`). The first call for some names folds them all.
    """
    wanted = fold(typed[: 2 * _LONGEST])
    if not wanted or len(wanted) > _LONGEST:
        return []
    best: dict[str, _Rank] = {}
    for rank in _ranked(wanted, _entries(names)):
        for law_id in rank.entry.law_ids:
            if law_id not in best or rank < best[law_id]:
                best[law_id] = rank
    chosen = nsmallest(limit, best.items(), key=lambda item: item[1])
    return [Suggestion(law_id, names.title(law_id), rank.entry.name) for law_id, rank in chosen]


class _Fit(IntEnum):
    WHOLE = 0
    PREFIX = 1
    SUBSTRING = 2
    SCATTERED = 3


class _Entry(NamedTuple):
    """A name; its number is its place among all of them.

    The characters of a law number stand in most others too: it is not found by some of them.
    """

    folded: str
    number: int
    name: str
    law_ids: tuple[str, ...]
    scatters: bool = True


class _Rank(NamedTuple):
    fit: _Fit
    length: int
    number: int
    entry: _Entry


def _ranked(wanted: str, entries: tuple[_Entry, ...]) -> Iterator[_Rank]:
    for entry in entries:
        folded = entry.folded
        if wanted in folded:
            if folded == wanted:
                fit = _Fit.WHOLE
            else:
                fit = _Fit.PREFIX if folded.startswith(wanted) else _Fit.SUBSTRING
        elif entry.scatters and _in_order(wanted, folded):
            fit = _Fit.SCATTERED
        else:
            continue
        yield _Rank(fit, len(folded), entry.number, entry)


def _in_order(wanted: str, folded: str) -> bool:
    # A pattern would go back and try again, for hours where a character is there many times.
    rest = iter(folded)
    return all(character in rest for character in wanted)


@lru_cache(maxsize=4)
def _entries(names: LawNames) -> tuple[_Entry, ...]:
    called = [(name, law_ids, True) for name, law_ids in names.names.items()]
    called += [(of.law_num, (of.law_id,), False) for of in names.rows.values() if of.law_num]
    return tuple(
        _Entry(fold(name), number, name, law_ids, scatters)
        for number, (name, law_ids, scatters) in enumerate(called)
    )
