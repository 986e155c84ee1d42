"""What traces say was left out, switched off or stood in, gathered over the answers of an entry.

Some of it names the single provision, citation or option that it is about, so that the same would
be counted under many names. Here it is said without that; the exact words stay in the results.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from localrag.evaluation.model import Result

SHARE = 0.05
"""Of the answers of an entry: what holds for fewer says little about its score."""

_KINDS = tuple(
    (re.compile(single, re.DOTALL), kind)
    for single, kind in (
        (
            r".+: of [\d,]+ characters the model was shown the [\d,]+ nearest to the question",
            "of a long provision the model was shown only what is nearest to the question",
        ),
        (
            r"[\d,]+ of [\d,]+ passages did not fit .+ left out, the last ranks first: .+",
            "passages did not fit the context in use (chat.context) and were left out, the last "
            "ranks first",
        ),
        (
            r"the context in use .+ holds [\d,]+ sentences only: .+ left out",
            "the context in use (chat.context) does not hold all sentences that may answer",
        ),
        (
            r".+: (no law is named|the law has no such provision|no law of the corpus is called .+"
            r"|.+ in it belongs to no provision)",
            "a provision that is cited was not found in the corpus",
        ),
        (r"the corpus has no law called .+", "a law that is named is not in the corpus"),
        (
            r"the query cites .+, of a law that the corpus lacks",
            "a query cites a law that the corpus lacks",
        ),
        (r".+ can mean [\d,]+ provisions", "a citation can mean several provisions"),
    )
)


def counts(results: Sequence[Result]) -> dict[str, int]:
    """How many answers each note holds for, the commonest first."""
    found = Counter(note for result in results for note in set(map(_kind, result.notes)))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def common(entries: Iterable[tuple[Mapping[str, int], int]]) -> list[str]:
    """The notes that hold for a `SHARE` of the answers of an entry or more, in their order.

    A note on one answer of several is never common.

    Args:
        entries: for each what `counts` gives, and how many answers it has.
    """
    return list(
        dict.fromkeys(
            note
            for found, answers in entries
            for note, n in found.items()
            if n >= SHARE * answers and (n > 1 or answers == 1)
        )
    )


def _kind(note: str) -> str:
    return next((kind for single, kind in _KINDS if single.fullmatch(note)), note)
