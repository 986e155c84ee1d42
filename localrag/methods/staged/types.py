"""The values of the staged method: what is asked step by step, and what a stage made of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from localrag.answer.types import Citation, Stage
from localrag.corpus.types import Triple

LONGEST_OBJECT = 100
"""Characters of an object, and of an answer, that a model writes, at most."""

_REFERENCE = re.compile(r"(?<![a-z0-9_])answer[ _]?([0-9]{1,9})(?![a-z0-9_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A query with a single answer.

    Attributes:
        number: its place, from 1.
        text: in words.
        subject, predicate: of the triple that would answer it; "" where none was named.
    """

    number: int
    text: str
    subject: str
    predicate: str

    @property
    def label(self) -> str:
        """What the trace calls it: "query 1"."""
        return label_of(self.number)

    @property
    def references(self) -> tuple[int, ...]:
        """The numbers of the queries whose answers it is asked with (``Answer1``), in order."""
        written = " ".join((self.text, self.subject, self.predicate))
        return tuple(dict.fromkeys(int(number) for number in _REFERENCE.findall(written)))

    def filled(self, answers: Mapping[int, str]) -> "SubQuery":
        """The query with the answers that it refers to written into it.

        Args:
            answers: by number; there is one for each of the references.
        """
        parts = (self.text, self.subject, self.predicate)
        return SubQuery(self.number, *(filled(part, answers) for part in parts))


def label_of(number: int) -> str:
    """What the trace calls the query of this number, from 1."""
    return f"query {number}"


def filled(text: str, answers: Mapping[int, str]) -> str:
    """A text with the answers that it refers to written into it, as far as there are some."""
    return _REFERENCE.sub(lambda found: answers.get(int(found[1]), found[0]), text)


@dataclass(frozen=True, slots=True)
class FoundTriple:
    """What a stage found for a query.

    Attributes:
        triple: that answers it.
        answer: what later queries are asked with: of several objects the one that is meant.
        citation: what shows the triple, checked by code; None where the model remembers it.
        other: what the citation speaks of, where that is not the subject asked for.
    """

    triple: Triple
    answer: str
    citation: Citation | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query as it was asked, and what came of it.

    Attributes:
        query: with the answers of earlier queries written into it, unless it was not asked.
        tried: the stages it was asked of, in order.
        reading: what the last of them found; None where none found anything.
    """

    query: SubQuery
    tried: tuple[Stage, ...] = ()
    reading: FoundTriple | None = None

    @property
    def stage(self) -> Stage | None:
        """What the reading was taken from."""
        return self.tried[-1] if self.reading else None
