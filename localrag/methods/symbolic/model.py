"""What the analysis makes of a question, and the look-ups it makes on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from localrag.corpus.knowledge import MOST_TRIPLES, Knowledge, KnownTriple, Mention
from localrag.retrieval.predicates import Term, terms
from localrag_indexes.analysis.normalize import normalize

# A name with more meanings than this says little; they come the likeliest first.
_MOST_MEANINGS = 8


@dataclass(frozen=True, slots=True)
class Found:
    """Triples that may answer a question, and what follows from them.

    Attributes:
        text: the answer: a noun phrase, a name as the question writes it, YES or NO.
        facts: the triples it follows from, in order.
        fit: how well their predicates and objects fit the wording, from 0 to 1.
        computed: what was computed from them; "" where nothing was.
        doubt: why it is likely, but no fact; "" where it is one.
        unsaid: the words of the question that no triple speaks of.
    """

    text: str
    facts: tuple[KnownTriple, ...]
    fit: float
    computed: str = ""
    doubt: str = ""
    unsaid: tuple[str, ...] = ()


def predicate_of(fact: KnownTriple) -> tuple[Term, ...]:
    """The words of the predicate of a triple."""
    return terms(normalize(fact.triple.predicate))


class Lookups:
    """The look-ups of one question, each made once.

    Attributes:
        events: what was left out.
        undecided: what is known of two things, as the question asks, but does not decide it.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.events: list[str] = []
        self.undecided: list[str] = []
        self._knowledge = knowledge
        self.about = cache(self._about)
        self.subjects = cache(self._subjects)

    def mentions(self, text: str) -> list[Mention]:
        """The spans of a text that name subjects; see `Knowledge.mentions`."""
        return [
            Mention(start, end, self._likeliest(text[start:end], subjects))
            for start, end, subjects in self._knowledge.mentions(text)
        ]

    def surely(self, name: str, subject: str) -> bool:
        """Whether a name means a subject and nothing else; see `Knowledge.surely`."""
        return self._knowledge.surely(name, subject)

    def _about(self, subject: str) -> tuple[KnownTriple, ...]:
        """The triples of a subject; see `Knowledge.about`."""
        known = self._knowledge.about(subject, MOST_TRIPLES + 1)
        if len(known) > MOST_TRIPLES:
            self.events.append(
                f"the first {MOST_TRIPLES:,} triples of 「{subject}」 were looked up"
            )
        return tuple(known[:MOST_TRIPLES])

    def _subjects(self, name: str) -> tuple[str, ...]:
        """The subjects that a name can mean; see `Knowledge.subjects`."""
        return self._likeliest(name, self._knowledge.subjects(name))

    def _likeliest(self, name: str, subjects: Sequence[str]) -> tuple[str, ...]:
        if len(subjects) > _MOST_MEANINGS:
            self.events.append(
                f"「{name}」 names {len(subjects)} subjects: "
                f"the likeliest {_MOST_MEANINGS} were looked up"
            )
        return tuple(subjects[:_MOST_MEANINGS])
