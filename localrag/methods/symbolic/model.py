"""What the analysis makes of a question, and the look-ups it makes on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from localrag.corpus.knowledge import Knowledge, KnownTriple, Mention

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


class Lookups:
    """The look-ups of one question, each made once.

    Attributes:
        events: what was left out.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.events: list[str] = []
        self._knowledge = knowledge
        self.about = cache(self._about)
        self.subjects = cache(self._subjects)

    def mentions(self, text: str) -> list[Mention]:
        """The spans of a text that name subjects; see `Knowledge.mentions`."""
        return [
            Mention(start, end, self._likeliest(text[start:end], subjects))
            for start, end, subjects in self._knowledge.mentions(text)
        ]

    def _about(self, subject: str) -> tuple[KnownTriple, ...]:
        """The triples of a subject; see `Knowledge.about`."""
        return tuple(self._knowledge.about(subject))

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
