"""Where one law named in a question speaks of another one: there stands how the two go together.

Whether a registration under one act makes a licence under another one superfluous, whether a rule
bars a claim under the civil code: the provision that says so cites the other law.
"""

from collections.abc import Collection

from localrag.corpus.lookups import Lookups
from localrag.corpus.model import Passage
from localrag.retrieval.units import Scores

# What a provision gains that speaks of another law named, and how many of a law are looked at.
_SPEAKS_OF_IT = 1.4
_LOOKED_AT = 60


def citations_of(store: Lookups, passage: Passage, law_ids: Collection[str]) -> list[int]:
    """Where a passage cites one of some laws, in the text of its document, in characters."""
    references = store.references_from(passage.document_id, passage.locator)
    return [one.start for one in references if one.law_id in law_ids]


def relating(store: Lookups, scores: Scores, others: Collection[str]) -> dict[str, float]:
    """The scores of what was found in a law, more for the best that cite one of some other laws."""
    weighed = dict(scores)
    best = sorted(scores, key=lambda unit: -scores[unit])[:_LOOKED_AT]
    for unit, passage in store.by_ids(best).items():
        if passage.document_id not in others and citations_of(store, passage, others):
            weighed[unit] *= _SPEAKS_OF_IT
    return weighed
