"""Which provisions of a statute punish the breach of which others.

A statute forbids in one place and punishes in another: 第十七条の規定に違反した者は、…に処する. The
penal provision need not have a word of the prohibition; that it cites it is the link. A breach of
what is ordered under a provision is one of it in the second place. Beside the doer nearly every
act punishes the legal person for which he acted: 行為者を罰するほか、その法人に対して….
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from localrag.corpus.links import PUNISHES, PUNISHES_A_BODY, Reference
from localrag.corpus.types import ARTICLES, Document, Passage
from localrag.statutes.notation import SUPPLEMENT

_PENALTY = "(?:死刑|懲役|拘禁刑|禁錮|罰金|拘留|科料|過料)"
# Not who may not be licensed for having been punished: 罰金の刑に処せられ.
_PUNISHES = re.compile(
    rf"{_PENALTY}[^。\n]{{0,40}}(?:[にニ]処(?:し、|する|ス|せられる)|を科する|断ずる|処断)"
)
_PUNISHES_A_BODY = re.compile(
    r"(?:行為者|違反者)[をヲ]罰(?:する|スル)(?:の?ほか|の?外|ノ外)"
    r"|法人(?:又は|若しくは)?[^。\n]{0,120}罰金刑を科する"
)
_ORDERS = re.compile("命(?:ずる|じる)ことができる|命ずるものとする")
BY_ORDER = "by-order"
"""The detail of an edge to what only an order under it makes punishable."""


def find_penal(document: Document, cited: Sequence[Reference]) -> Iterator[Reference]:
    """Find what the main provisions of a statute punish.

    Args:
        document: the statute.
        cited: its references to provisions, in reading order.

    Yields:
        Of each article that punishes an edge to itself, with the words for the penalty, and one to
        each provision that it cites, whose breach it may punish.
    """
    cited = [one for one in cited if one.law_id and one.target.path]
    starts = [one.start for one in cited]
    articles = [
        article
        for article in document.passages
        if article.layer == ARTICLES and not article.locator.division.startswith(SUPPLEMENT)
    ]

    def citations(article: Passage) -> Sequence[Reference]:
        return cited[bisect_left(starts, article.start) : bisect_left(starts, article.end)]

    ordering = {
        article.locator: article
        for article in articles
        if _ORDERS.search(document.text, article.start, article.end)
    }
    for article in articles:
        penalty = _PUNISHES.search(document.text, article.start, article.end)
        body = _PUNISHES_A_BODY.search(document.text, article.start, article.end)
        for words, kind in ((penalty, PUNISHES), (body, PUNISHES_A_BODY)):
            if words is None or (body and kind == PUNISHES):
                continue
            place = article.locator
            yield Reference(
                document.id, place, *words.span(), kind, document.id, document.title, place
            )
            for one in citations(article):
                yield replace(one, kind=kind)
                order = ordering.get(one.target) if one.law_id == document.id else None
                for under in citations(order) if order else ():
                    place, last = under.target, under.target_end
                    yield replace(
                        one,
                        kind=kind,
                        law_id=under.law_id,
                        law_name=under.law_name,
                        target=place,
                        target_end=last,
                        detail=BY_ORDER,
                    )
