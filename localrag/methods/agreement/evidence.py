"""What of the provisions at hand a question and its options are compared with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from localrag.methods.agreement.provisions import Provision
from localrag.methods.agreement.wording import ngrams
from localrag.retrieval.query import analyzer
from localrag.statutes.format import cite
from localrag_indexes.analysis.numerals import NUMERAL_CHARACTERS

# Provisions kept for the question and for each option: on training questions 3 to 8 did as well.
_KEPT = 4
_FROM_ABOVE = 0.5
_MONTHS = re.compile(rf"(?<=[0-9０-９{NUMERAL_CHARACTERS}])[箇かヶカ]月")
_HIRAGANA = ("ぁ", "ん")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A provision with its words made comparable.

    Attributes:
        terms: content words of the provision, of those it stands under, and of its place.
    """

    provision: Provision
    terms: frozenset[str]


def evidence_for(
    question: str, options: Sequence[str], provisions: Sequence[Provision]
) -> list[Evidence]:
    """The provisions nearest to the question, to each option and to both, in their order."""
    kept: set[int] = set()
    for text in (question, *options, *(question + option for option in options)):
        sought = _pairs(text)
        near = [_nearness(sought, provision) for provision in provisions]
        kept.update(sorted(range(len(provisions)), key=lambda i: (-near[i], i))[:_KEPT])
    return [
        Evidence(
            provisions[i],
            content_terms(provisions[i].text).union(
                content_terms(cite(provisions[i].law, provisions[i].locator)),
                *map(content_terms, provisions[i].above),
            ),
        )
        for i in sorted(kept)
    ]


@lru_cache(maxsize=8192)
def content_terms(text: str) -> frozenset[str]:
    """The terms of a text that are not in hiragana alone, which say how and not what."""
    terms = analyzer().terms(_MONTHS.sub("月", text))
    return frozenset(term for term in terms if not _is_hiragana(term))


@lru_cache(maxsize=8192)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(pair for pair in ngrams(text, 2) if not _is_hiragana(pair))


def _nearness(sought: frozenset[str], provision: Provision) -> float:
    own = _pairs(provision.text)
    above = frozenset[str]().union(*map(_pairs, provision.above)) - own
    found = len(sought & own) + _FROM_ABOVE * len(sought & above)
    return found * provision.weight


def _is_hiragana(term: str) -> bool:
    first, last = _HIRAGANA
    return all(first <= letter <= last for letter in term)
