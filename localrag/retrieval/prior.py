"""What speaks for a unit besides the words of its text: weights on what the words found."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice

from localrag.corpus.types import Locator
from localrag.question.everyday import EverydayWord
from localrag.retrieval.lexical import Found, in_law
from localrag.retrieval.model import Query
from localrag.retrieval.query import analyzer, full_text
from localrag.statutes.names import LawNames

SUPPLEMENT = "附則"

# Supplementary provisions repeat the words of what they amend or bring into force.
_SUPPLEMENTARY = 0.6
# What is captioned （存続期間） or titled with words of the question is about what is asked.
_TITLED = 1.4
_CAPTION = re.compile(r"（([^（）]+)）$")
# Units whose titles are read: those further down cannot come up to the first ten.
_TITLES_READ = 40


def weigh(
    found: Mapping[str, Found], query: Query, names: LawNames, wordings: Sequence[EverydayWord] = ()
) -> dict[str, float]:
    """The scores, more for what has a title out of the question, less for supplementary provisions.

    Where the question speaks of these, nothing is less.
    """
    asks_for_supplement = SUPPLEMENT in full_text(query)
    weighed = {}
    for unit, (score, _) in found.items():
        _, _, path = unit.rpartition("#")
        if not asks_for_supplement and Locator.parse(path).division.startswith("suppl"):
            score *= _SUPPLEMENTARY
        weighed[unit] = score
    asked = set(analyzer().terms(f"{query.text}\n{in_law(wordings)}"))
    for unit in islice(sorted(weighed, key=lambda unit: -weighed[unit]), _TITLES_READ):
        is_statute = unit.partition("#")[0] in names.rows
        title = _title_terms(found[unit].header, is_statute)
        if title and title <= asked:
            weighed[unit] *= _TITLED
    return weighed


@lru_cache(maxsize=8192)
def _title_terms(header: str, is_statute: bool) -> frozenset[str]:
    """The terms of an article's caption, or of the innermost heading of an ordinary document."""
    if is_statute:
        caption = _CAPTION.search(header)
        title = caption[1] if caption else ""
    else:
        title = header.rpartition(" > ")[2]
    return frozenset(analyzer().terms(title))
