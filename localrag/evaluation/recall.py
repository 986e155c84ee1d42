"""Ranks of gold places in a list of passages.

A place is an article: its paragraphs and items count as hits. An excerpt counts for the article
it was taken from.
"""

import re
from collections.abc import Iterable, Sequence

from localrag.corpus.types import Locator
from localrag.evaluation.types import Gold
from localrag.law.notation import cite
from localrag_indexes.analysis.normalize import without_blanks

LAW_ID = re.compile(r"\d{3}[A-Z][A-Z0-9]\d{10}", re.ASCII)
JOINT = "|"
"""Separates the parts of an excerpt's id: law id or title, article, number."""
SUPPLEMENT = "suppl"
"""Precedes articles of supplementary provisions (附則): ``suppl/2``."""
APPENDIX = "appendix"
"""Precedes appendices (別表, 様式), numbered in file order: ``appendix/``."""

_REVISION = re.compile(rf"({LAW_ID.pattern})_.*", re.ASCII)
_DIVISION = re.compile(rf"({SUPPLEMENT}|{APPENDIX})\d*/", re.ASCII)


def place_of(passage_id: str) -> Gold:
    """The gold place of a passage.

    ``323AC0000000025#27_36.1`` and the excerpt ``323AC0000000025|27_36|5#1`` are both article 27_36
    of law 323AC0000000025, in any revision.
    """
    document, _, path = passage_id.rpartition("#")
    article = _DIVISION.sub(r"\1/", path).partition(".")[0]
    if document.count(JOINT) >= 2:
        document, article, _ = document.rsplit(JOINT, 2)
    return Gold(_name(document), article)


def document_of(document_id: str) -> str:
    """The document of a gold place; of an excerpt, its law."""
    return place_of(f"{document_id}#").document


def excerpted_law(document_id: str, title: str) -> tuple[str, str] | None:
    """Id and title of the law of an excerpt; None for other documents."""
    law_id, *rest = document_id.rsplit(JOINT, 2)
    if len(rest) != 2 or not rest[1].isdecimal() or not LAW_ID.fullmatch(law_id):
        return None
    return law_id, title.removesuffix(cite("", Locator(article=rest[0])))


def ranks(gold: Sequence[Gold], passage_ids: Sequence[str]) -> tuple[int, ...]:
    """For each gold place, the rank of its first passage, from 1; 0 if there is none.

    A gold place without an article is a whole document.
    """
    found: dict[Gold, int] = {}
    for rank, passage_id in enumerate(passage_ids, 1):
        place = place_of(passage_id)
        found.setdefault(place, rank)
        found.setdefault(Gold(place.document), rank)
    return tuple(found.get(Gold(_name(place.document), place.article), 0) for place in gold)


def any_at(ranks_by_question: Iterable[Sequence[int]], k: int) -> int:
    """Number of questions with a gold place among the first `k`."""
    return sum(any(0 < rank <= k for rank in ranks) for ranks in ranks_by_question)


def all_at(ranks_by_question: Iterable[Sequence[int]], k: int) -> int:
    """Number of questions with all gold places among the first `k`, and at least one."""
    return sum(bool(ranks) and all(0 < rank <= k for rank in ranks) for ranks in ranks_by_question)


def _name(document: str) -> str:
    """A law id without its revision, or a title in one spelling."""
    if LAW_ID.fullmatch(document):
        return document
    law = _REVISION.fullmatch(document)
    return law[1] if law else without_blanks(document)
