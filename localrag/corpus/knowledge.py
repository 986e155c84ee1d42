"""Look-ups of subjects in the layer of triples."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from os.path import commonprefix
from typing import NamedTuple

from localrag.corpus.database import Database
from localrag.corpus.rows import FoldedText, Rank, bare, fold
from localrag.corpus.types import Passage, Triple

# Folded characters of a name in a text; limits the cost of the search.
_LONGEST = 60

MOST_TRIPLES = 1_000
"""Triples of one subject considered for an answer."""


class KnownTriple(NamedTuple):
    """A stored triple and the id of its passage."""

    passage_id: str
    triple: Triple


class SubjectMention(NamedTuple):
    """A span of a text naming subjects."""

    start: int  # start, end: in characters of the text
    end: int
    subjects: tuple[str, ...]  # possible subjects, the likeliest first, as in `Triple.subject`


class Knowledge:
    """Finds subjects and their triples; part of a `CorpusStore`.

    Names are compared in folded form (`localrag.corpus.rows`). A name without its disambiguator, a
    redirect and an alias also lead to the subject.
    """

    def __init__(
        self, database: Database, passages: Callable[[Iterable[int]], Mapping[int, Passage]]
    ) -> None:
        self._db = database
        self._passages = passages

    def subjects(self, name: str) -> list[str]:
        """Possible subjects of a name, the likeliest first.

        Order: whole names, names without their disambiguator, aliases. Within these: exact
        spelling, then number of triples. A name with an unknown disambiguator is looked up without
        it.
        """
        folded = fold(name)
        if not folded:
            return []
        without = bare(folded)
        return self._meant(folded, name) or (
            self._meant(without, name, Rank.WHOLE, Rank.ALIAS) if without else []
        )

    def mentions(self, text: str) -> list[SubjectMention]:
        """All spans of a text naming a subject, in order, longest first at each place.

        Spans may overlap; the caller chooses. No span starts or ends inside a number or a word of
        Latin letters or katakana. A single character inside a longer name is left out. Names over
        60 characters are not found.
        """
        folded = FoldedText(text)
        found = list(self._names_in(folded))
        covered = {
            position for start, end in found if end - start > 1 for position in range(start, end)
        }
        mentions = []
        for start, end in found:
            if end - start > 1 or start not in covered:
                first, last = folded.span(start, end)
                subjects = self._meant(folded.folded[start:end], text[first:last])
                mentions.append(SubjectMention(first, last, tuple(subjects)))
        return mentions

    def about(self, subject: str, limit: int | None = None) -> list[KnownTriple]:
        """Up to `limit` triples of a subject, spelled exactly so, in insertion order."""
        runs = self._db.rows(
            "SELECT first, last, header FROM names JOIN passages ON key = first"
            " WHERE name = ? AND rank = ? ORDER BY first",
            (fold(subject), Rank.WHOLE),
        )
        keys = (
            key
            for first, last, header in runs
            if header == subject
            for key in range(first, last + 1)
        )
        passages = self._passages(islice(keys, limit)).values()
        return [KnownTriple(of.id, of.triple) for of in passages if of.triple]

    def surely(self, name: str, subject: str) -> bool:
        """Whether a name means exactly this subject: spelled so, or its only subject."""
        subjects = self.subjects(name)
        same = [one for one in subjects if fold(one) == fold(name)] or subjects
        return same == [subject]

    def _meant(self, folded: str, written: str, *ranks: Rank) -> list[str]:
        best: dict[str, tuple[int, bool, int]] = {}
        for subject, rank, known in self._db.rows(
            "SELECT header, rank, sum(last - first + 1) FROM names JOIN passages ON key = first"
            " WHERE name = ? GROUP BY header, rank ORDER BY min(first)",
            (folded,),
        ):
            if not ranks or rank in ranks:
                order = (rank, subject != written, -known)
                best[subject] = min(order, best.get(subject, order))
        return sorted(best, key=best.__getitem__)

    def _names_in(self, text: FoldedText) -> Iterator[tuple[int, int]]:
        for start in range(len(text.folded)):
            if text.begins(start):
                for length in self._prefixes(text.folded[start : start + _LONGEST]):
                    if text.ends(start + length):
                        yield start, start + length

    def _prefixes(self, text: str) -> Iterator[int]:
        """Lengths of the names at the start of a text, the longest first."""
        while text:
            row = self._db.row(
                "SELECT name FROM names WHERE name <= ? ORDER BY name DESC LIMIT 1", (text,)
            )
            if row is None:
                return
            # Any other name at the start is a prefix of their common part.
            common = len(commonprefix((row[0], text)))  # noqa: RUF071 - no paths
            if common and common == len(row[0]):
                yield common
                common -= 1
            text = text[:common]
