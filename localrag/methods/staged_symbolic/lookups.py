"""The look-ups of one question, what they found, and why that may be no fact."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from localrag.corpus.knowledge import MOST_TRIPLES, Knowledge, KnownTriple, SubjectMention
from localrag.methods.comparison.types import ComparisonKind, Decision, Side
from localrag.methods.comparison.values import contradictory, items
from localrag.search.predicates import Term, terms
from localrag.text.facts import Fact, FactKind
from localrag_indexes.analysis.normalize import normalize

# A name with more meanings than this says little; they come the likeliest first.
_MOST_MEANINGS = 8


@dataclass(frozen=True, slots=True)
class TripleAnswer:
    """Triples that may answer a question, and what follows from them.

    Attributes:
        text: the answer: a noun phrase, a name as the question writes it, YES or NO.
        facts: the triples it follows from, in order.
        fit: how well their predicates and objects fit the wording, from 0 to 1.
        computed: what was computed from them; "" where nothing was.
        doubts: why it is likely, but no fact; none where it is one.
        unsaid: the words of the question that no triple speaks of.
    """

    text: str
    facts: tuple[KnownTriple, ...]
    fit: float
    computed: str = ""
    doubts: tuple[Fact, ...] = ()
    unsaid: tuple[str, ...] = ()


def predicate_of(fact: KnownTriple) -> tuple[Term, ...]:
    """The words of the predicate of a triple."""
    return terms(normalize(fact.triple.predicate))


class TripleLookups:
    """The look-ups of one question, each made once.

    Attributes:
        events: what was left out.
        undecided: what is known of two things, as the question asks, but does not decide it.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.events: list[Fact] = []
        self.undecided: list[Fact] = []
        self._knowledge = knowledge
        self.about = cache(self._about)
        self.subjects = cache(self._subjects)

    def mentions(self, text: str) -> list[SubjectMention]:
        """The spans of a text that name subjects; see `Knowledge.mentions`."""
        return [
            SubjectMention(start, end, self._likeliest(text[start:end], subjects))
            for start, end, subjects in self._knowledge.mentions(text)
        ]

    def surely(self, name: str, subject: str) -> bool:
        """Whether a name means a subject and nothing else; see `Knowledge.surely`."""
        return self._knowledge.surely(name, subject)

    def _about(self, subject: str) -> tuple[KnownTriple, ...]:
        """The triples of a subject; see `Knowledge.about`."""
        known = self._knowledge.about(subject, MOST_TRIPLES + 1)
        if len(known) > MOST_TRIPLES:
            self.events.append(Fact(FactKind.FIRST_TRIPLES, name=subject, n=MOST_TRIPLES))
        return tuple(known[:MOST_TRIPLES])

    def _subjects(self, name: str) -> tuple[str, ...]:
        """The subjects that a name can mean; see `Knowledge.subjects`."""
        return self._likeliest(name, self._knowledge.subjects(name))

    def _likeliest(self, name: str, subjects: Sequence[str]) -> tuple[str, ...]:
        if len(subjects) > _MOST_MEANINGS:
            count, most = len(subjects), _MOST_MEANINGS
            self.events.append(Fact(FactKind.LIKELIEST_MEANINGS, name=name, n=count, most=most))
        return tuple(subjects[:_MOST_MEANINGS])


def of_meanings(lookups: TripleLookups, meant: Iterable[tuple[str, str]]) -> Iterator[Fact]:
    """The names that may mean others than the subjects they were taken for.

    Args:
        lookups: of the question.
        meant: names, each with the subject.
    """
    for name, subject in meant:
        if not lookups.surely(name, subject):
            yield Fact(FactKind.OTHER_MEANING, name=name, subject=subject)


def of_values(facts: Sequence[KnownTriple]) -> Iterator[Fact]:
    """The triples that give one thing dates or quantities of which only one can be true."""
    for _, triple in facts:
        if contradictory(triple.objects, triple.predicate):
            yield Fact(
                FactKind.CONTRADICTORY,
                predicate=triple.predicate,
                subject=triple.subject,
                values=triple.objects,
            )


def of_sharing(
    comparison: ComparisonKind, sides: Sequence[Side], outcome: Decision
) -> Iterator[Fact]:
    """What two things share, where one of them has more: whether that is the same is a question."""
    if comparison in (ComparisonKind.SAME, ComparisonKind.DIFFERENT):
        shared = outcome.holds is (comparison is ComparisonKind.SAME)
        listed = {sum(len(items(each)) for each in side.objects) for side in sides}
        if shared and len(listed) > 1:
            yield Fact(FactKind.PARTLY_SHARED)
