"""Step `knock-out`: options meet in pairs, winners meet winners, until one is left."""

from collections.abc import Callable, Sequence

from localrag.methods.choices import LONGEST_REASON, choice_among
from localrag.methods.judging import Judged
from localrag.methods.toolkit import Toolkit
from localrag.reading.evidence import element
from localrag.retrieval.model import Query


def knock_out(entrants: Sequence[Judged], decide: Callable[[Judged, Judged], Judged]) -> Judged:
    """The one that is left: a–b, c–d, then the winners; the last of an odd number gets a bye.

    Args:
        entrants: at least one.
        decide: the winner of two; called once less than there are entrants.
    """
    left = list(entrants)
    while len(left) > 1:
        bye = left[-1:] if len(left) % 2 else []
        pairs = zip(left[::2], left[1::2], strict=False)
        left = [decide(one, other) for one, other in pairs] + bye
    return left[0]


def by_verdicts(toolkit: Toolkit, asked: Query, one: Judged, other: Judged) -> Judged:
    """Have the model decide between two options by the verdicts on them and their reasons.

    Raises:
        ModelUnusable: the context of the model does not hold the prompt, the model failed, or its
            reply is malformed for the second time.
    """
    pair = {one.label: one, other.label: other}
    texts = [asked.text, *(text for side in pair.values() for text in (side.option, side.reason))]
    messages = toolkit.prompt(
        "statute_knockout",
        asked,
        pair=(one, other),
        longest=LONGEST_REASON,
        tag=element("text", texts),
    )
    labels = "".join(pair)
    choice = toolkit.ask(messages, choice_among(labels), f"knock-out {'-'.join(labels)}")
    return pair[choice.label]
