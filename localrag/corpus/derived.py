"""What is asked of what indexing derived: references, readings, definitions, triples.

Readings (読替え) that hold for several provisions are kept once, as a list.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os.path import commonprefix
from typing import NamedTuple

from localrag.corpus import links
from localrag.corpus.browsing import Browsing
from localrag.corpus.links import (
    Citing,
    Connection,
    Definition,
    Reading,
    Reads,
    Reference,
    ReferenceRow,
    subtree,
)
from localrag.corpus.rows import FoldedText, Rank, bare, fold
from localrag.corpus.types import Locator, Passage, Triple
from localrag.database import Database, Row


class Derived(Browsing):
    """Where provisions lead, what leads to them, and where terms are defined."""

    @property
    def links_generation(self) -> int:
        """The generation that references and definitions were derived from; -1 before."""
        return self._meta("links_generation")

    def references_from(
        self, document_id: str, locator: Locator, kind: str | None = None
    ) -> list[Reference]:
        """List the references of a provision and of what stands inside it, in reading order.

        Args:
            document_id: the document.
            locator: the provision.
            kind: only those of this kind.
        """
        return links.references_from(self._db, self._require(document_id), locator.path, kind)

    def references_to(self, document_id: str, locator: Locator) -> list[Reference]:
        """List the references to a provision or to something inside it, also as part of a range."""
        return links.references_to(self._db, self._require_work(document_id), locator.path)

    def citing(self, document_id: str, locator: Locator, kinds: Sequence[str]) -> list[Citing]:
        """List what `references_to` gives, of some kinds, as keys: a few of it are cheap then.

        References from states of laws that are not shown are among them.
        """
        return links.citing(self._db, self._require_work(document_id), locator.path, kinds)

    def references(self, keys: Iterable[int]) -> list[Reference]:
        """List the references of these keys, in the order asked for."""
        wanted = list(keys)
        rows = {row[0]: row for row in self._rows_by_key(links.REFERENCES, "refs.key", wanted)}
        return [links.reference_of(self._db, rows[key]) for key in wanted if key in rows]

    def changes_to(self, document_id: str, locator: Locator) -> list[Reference]:
        """List what has an article, or something of it, read otherwise for the time being."""
        return links.changes_to(self._db, self._require_work(document_id), locator.path)

    def reads_from(self, document_id: str, locator: Locator) -> list[Reference]:
        """List what a provision, and what stands inside it, has read otherwise (読替え)."""
        return reads_from(self._db, self._require(document_id), locator.path)

    def reads_to(self, document_id: str, locator: Locator) -> list[Reference]:
        """List what has words of an article, or of some of it, read otherwise.

        Ranges of provisions of the law are among them, whether they take the article in or not.
        """
        return reads_to(self._db, self._require_work(document_id), locator.path)

    def connections_from(self, document_id: str, locator: Locator, limit: int) -> list[Connection]:
        """List where the references of a provision lead, `limit` at most.

        Like `connections_to` it gives nothing for an unknown document.
        """
        key = self._key(document_id) or 0
        return links.connections_from(self._db, key, locator.path, limit)

    def connections_to(self, document_id: str, locator: Locator, limit: int) -> list[Connection]:
        """List what refers to a provision or to something inside it, `limit` at most."""
        return links.connections_to(self._db, self._work(document_id), locator.path, limit)

    def definitions_of(self, term: str) -> list[Definition]:
        """List where a term, written exactly so, is defined."""
        return links.definitions_of(self._db, term)

    def definitions_in(self, document_id: str) -> list[Definition]:
        """List the terms a document defines, in reading order."""
        return links.definitions_in(self._db, self._require(document_id))

    def documents_referring(self, law_id: str, kind: str) -> list[str]:
        """Ids of the documents that refer to a law in this way (``delegated-by``)."""
        rows = self._db.rows(
            "SELECT DISTINCT id FROM reached JOIN refs ON refs.key = reference"
            " JOIN shown ON shown.key = refs.document"
            " WHERE reached.law = ? AND refs.kind = ? ORDER BY shown.key",
            (self._work(law_id), kind),
        )
        return [row[0] for row in rows]

    def _require_work(self, document_id: str) -> int:
        # What is of no work is not there at all.
        return self._work(document_id) or self._require(document_id)


_COLUMNS = (
    'SELECT states.id, reads.source, reads.start, reads."end", works.id, reads.law_name,'
    " reads.target, reads.target_end, part, excepted, reads.document, list FROM reads"
    " JOIN states ON states.key = reads.document"
    " LEFT JOIN works ON works.key = reads.law"
)


def enter_readings(
    database: Database, document: int, references: Iterable[ReferenceRow]
) -> list[ReferenceRow]:
    """Put the readings among the references of a document in the place of those stored of it.

    Returns:
        The other references.
    """
    for table in ("reads", "readings"):
        database.write(f"DELETE FROM {table} WHERE document = ?", (document,))  # noqa: S608 - fixed
    others = []
    for reference in references:
        if reference.reads is None:
            others.append(reference)
        else:
            _write(database, document, reference, reference.reads)
    return others


def _write(database: Database, document: int, reference: ReferenceRow, reads: Reads) -> None:
    head = reads.readings[0].replaced_start
    law = database.row("SELECT key FROM works WHERE id = ?", (reference.law_id,))
    database.write(
        'INSERT INTO reads (document, source, start, "end", law, law_name, target, target_end,'
        " part, excepted, list) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document,
            reference.source,
            reference.start,
            reference.end,
            law and law[0],
            reference.law_name,
            reference.target,
            reference.target_end,
            reads.part,
            " ".join(place.path for place in reads.excepted),
            head,
        ),
    )
    known = database.row("SELECT 1 FROM readings WHERE document = ? AND list = ?", (document, head))
    if known is None:
        database.write_many(
            "INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)",
            [(document, head, *pair) for pair in reads.readings],
        )


def reads_from(database: Database, document: int, path: str) -> list[Reference]:
    """List what a provision, and what stands inside it, has read otherwise, in reading order."""
    rows = database.rows(
        f"{_COLUMNS} WHERE reads.document = ? AND reads.source >= ? AND reads.source < ?"
        " ORDER BY reads.key",
        (document, *subtree(path)),
    )
    return _references(database, rows)


def reads_to(database: Database, law: int, path: str) -> list[Reference]:
    """List what has words of an article, or of some of it, read otherwise.

    All ranges of provisions of the law are among them, whether they take the article in or not.

    Args:
        database: of the store.
        law: key of its law, as a work.
        path: of the article.
    """
    rows = database.rows(
        f"{_COLUMNS} WHERE reads.key IN"  # noqa: S608 - a constant
        " (SELECT key FROM reads WHERE law = ? AND target >= ? AND target < ?"
        " UNION SELECT key FROM reads WHERE law = ? AND target_end IS NOT NULL)"
        " AND EXISTS (SELECT 1 FROM shown WHERE shown.key = reads.document)"
        " ORDER BY reads.document, reads.key",
        (law, *subtree(path), law),
    )
    return _references(database, rows)


def _references(database: Database, rows: Iterable[Row]) -> list[Reference]:
    lists: dict[tuple[int, int], tuple[Reading, ...]] = {}
    found = []
    for *row, part, excepted, document, head in rows:
        if (document, head) not in lists:
            pairs = database.rows(
                "SELECT replaced_start, replaced_end, replacing_start, replacing_end FROM readings"
                " WHERE document = ? AND list = ? ORDER BY replaced_start",
                (document, head),
            )
            lists[document, head] = tuple(Reading(*pair) for pair in pairs)
        source_document, source, start, end, law, law_name, target, last = row
        found.append(
            Reference(
                source_document,
                Locator.parse(source),
                start,
                end,
                "reads",
                law or "",
                law_name,
                Locator.parse(target),
                None if last is None else Locator.parse(last),
                Reads(lists[document, head], part, tuple(map(Locator.parse, excepted.split()))),
            )
        )
    return found


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
