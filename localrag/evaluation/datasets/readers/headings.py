"""The places of a gold context, told from its headings.

A context is Markdown: ``## 法令名``, ``### 第27条の36``, ``#### 第1項``, ``##### 第2号``. Numbers
come in Arabic and kanji digits, half and full width.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from localrag.evaluation.model import Gold
from localrag.evaluation.recall import APPENDIX, SUPPLEMENT
from localrag.statutes.citations import find_citations

_HEADING = re.compile(r"^[ \t]*(#{1,9})[ \t\u3000]*(\S.*?)[ \t\u3000#]*$", re.MULTILINE)
# What ends like a law below the level of titles is one that stands a level too deep.
_TITLE = re.compile(r"(?:法律|政令|施行令|[府省]令|施行規則)$")
_TITLE_LEVEL = 2
# What may follow the number of an article: its caption.
_CAPTION = re.compile(r"[ \u3000]*(?:[（(【].*[）)】])?")


@dataclass(slots=True)
class Cited:
    """What a context cites of one source.

    Attributes:
        title: of the law or document, as written.
        articles: as in `Gold.article`, each once, in order.
    """

    title: str
    articles: dict[str, None] = field(default_factory=dict)


def cited(context: str, is_law: Callable[[str], bool]) -> list[Cited]:
    """What the headings of a context name, in order; never fails.

    Args:
        context: the Markdown.
        is_law: whether a heading below the second level is the name of a law, which some are.
    """
    found: dict[str, Cited] = {}
    current: Cited | None = None
    for marks, heading in _HEADING.findall(context):
        if len(marks) <= _TITLE_LEVEL or _TITLE.search(heading) or is_law(heading):
            current = found.setdefault(heading, Cited(heading))
        elif current is not None:
            current.articles |= dict.fromkeys(_articles(heading))
    return list(found.values())


def gold(sources: list[Cited], ids: Mapping[str, str]) -> tuple[Gold, ...]:
    """The places as an evaluation compares them.

    Args:
        sources: what `cited` found.
        ids: law ids by title; a source without one goes by its title.
    """
    return tuple(
        Gold(ids.get(source.title) or source.title, article)
        for source in sources
        for article in source.articles or ("",)
    )


def _articles(heading: str) -> list[str]:
    """The articles that a heading consists of; none of 第4条（届出）関係 of a guideline."""
    citations = find_citations(heading)
    if not citations or citations[0].start or citations[0].law.text:
        return []
    if not _CAPTION.fullmatch(heading, citations[-1].end):
        return []
    places = [place for one in citations for place in (one.locator, one.last) if place]
    return [
        _place(place.division, place.article) for place in places if place.article or place.division
    ]


def _place(division: str, article: str) -> str:
    if not division:
        return article
    kind = SUPPLEMENT if division.startswith(SUPPLEMENT) else APPENDIX
    return f"{kind}/{article}"
