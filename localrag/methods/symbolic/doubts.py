"""Why what follows from triples is likely, but no fact."""

from collections.abc import Iterable, Iterator, Sequence

from localrag.corpus.knowledge import KnownTriple
from localrag.methods.comparison.types import Comparison, Outcome, Side
from localrag.methods.comparison.values import contradictory, items
from localrag.methods.symbolic.model import Lookups

_SEVERAL_MEANINGS = "「{}」 can mean others than 「{}」"
_BY_HALF = "only some of several are the same"
_CONTRADICTORY = "「{}」 of 「{}」 has several values: {}"


def of_meanings(lookups: Lookups, meant: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The names that may mean others than the subjects they were taken for.

    Args:
        lookups: of the question.
        meant: names, each with the subject.
    """
    for name, subject in meant:
        if not lookups.surely(name, subject):
            yield _SEVERAL_MEANINGS.format(name, subject)


def of_values(facts: Sequence[KnownTriple]) -> Iterator[str]:
    """The triples that give one thing dates or quantities of which only one can be true."""
    for _, triple in facts:
        if contradictory(triple.objects, triple.predicate):
            values = "、".join(triple.objects)
            yield _CONTRADICTORY.format(triple.predicate, triple.subject, values)


def of_sharing(comparison: Comparison, sides: Sequence[Side], outcome: Outcome) -> Iterator[str]:
    """What two things share, where one of them has more: whether that is the same is a question."""
    if comparison in (Comparison.SAME, Comparison.DIFFERENT):
        shared = outcome.holds is (comparison is Comparison.SAME)
        listed = {sum(len(items(each)) for each in side.objects) for side in sides}
        if shared and len(listed) > 1:
            yield _BY_HALF
