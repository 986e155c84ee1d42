"""What a corpus knows of subjects: look-ups in the layer of triples."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from os.path import commonprefix
from typing import NamedTuple

from localrag.corpus.database import Database
from localrag.corpus.rows import FoldedText, Rank, bare, fold
from localrag.corpus.types import Passage, Triple

# Of a name in a text, in folded characters: bounds the cost of looking for one.
_LONGEST = 60

MOST_TRIPLES = 1_000
"""Triples of one subject that answering a question looks at."""


class KnownTriple(NamedTuple):
    """A triple of the store and the passage that says it."""

    passage_id: str
    triple: Triple


class SubjectMention(NamedTuple):
    """A span of a text that names subjects of the store.

    Attributes:
        start, end: in characters of the text.
        subjects: those it can mean, the likeliest first, as `Triple.subject` writes them.
    """

    start: int
    end: int
    subjects: tuple[str, ...]


class Knowledge:
    """Looks up subjects and their triples; part of a `CorpusStore`.

    Names are compared in their folded form (`localrag.corpus.rows`); a name without its
    disambiguator, a redirect and an alias lead to the subject too.
    """

    def __init__(
        self, database: Database, passages: Callable[[Iterable[int]], Mapping[int, Passage]]
    ) -> None:
        self._db = database
        self._passages = passages

    def subjects(self, name: str) -> list[str]:
        """The subjects that a name can mean, the likeliest first.

        Whole names come before those that have a disambiguator beside, aliases last; among them
        one that is written just so, then one of which more is known. A name whose own
        disambiguator is unknown is looked up without it.
        """
        folded = fold(name)
        if not folded:
            return []
        without = bare(folded)
        return self._meant(folded, name) or (
            self._meant(without, name, Rank.WHOLE, Rank.ALIAS) if without else []
        )

    def mentions(self, text: str) -> list[SubjectMention]:
        """Every span of a text that names a subject, in order, the longest first at each place.

        Spans may overlap: which reading is meant is for the caller to decide. None begins or ends
        inside a number or a word of Latin letters or katakana, and a single character is left out
        where a longer name stands over it. Names longer than 60 characters are not found.
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
        """The triples of a subject, written exactly so, in the order in which they were entered.

        Args:
            subject: as `Triple.subject` writes it.
            limit: how many at most, None for all; who asks for one more than it uses sees that
                there are more.
        """
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
        """Whether a name means a subject and nothing else: it is written so, or it is its only one.

        What stands for several subjects, as a bare name or as an alias, surely means none of them.
        """
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
        """The lengths of the names that a text begins with, the longest first."""
        while text:
            row = self._db.row(
                "SELECT name FROM names WHERE name <= ? ORDER BY name DESC LIMIT 1", (text,)
            )
            if row is None:
                return
            # Every other name that the text begins with is a part of what both have in common.
            common = len(commonprefix((row[0], text)))  # noqa: RUF071 - no paths
            if common and common == len(row[0]):
                yield common
                common -= 1
            text = text[:common]
