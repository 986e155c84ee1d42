"""What of the provisions at hand a question and its options are compared with."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ITEMS, PARAGRAPHS, PASSAGES, Locator, Passage
from localrag.law.citations import find_citations
from localrag.law.notation import IROHA, cite
from localrag.methods.agreement.wording import ngrams
from localrag.search.query import analyzer
from localrag.search.types import Hit
from localrag_indexes.analysis.normalize import NUMERAL_CHARACTERS, compact

_HEADING = re.compile(r"(?P<level>#{1,6})[ 　]*(?P<title>.*)")
_LAW_LEVEL = 2
# A heading that ends like the title of a law is one, whatever its level.
_LAW_TITLE = re.compile(r"[^第]{4,}(?:法|法律|政令|[府省]令|規則)$")
# A subitem of a list in a context: "- イ 有価証券の売買".
_BULLET = re.compile(r"[-‐－―・]?[ 　]*(?P<sign>[イロハニホヘトチリヌルヲ])[ 　．.]")
_LABELLED = re.compile(r"(?P<label>第[0-9０-９の]+項(?:第[0-9０-９の]+号)?|第[0-9０-９の]+号)[ 　]")


@dataclass(frozen=True, slots=True)
class LawText:
    """A paragraph, an item or a subitem, without what stands below it.

    Attributes:
        source: id of the passage it is quoted from; "" for a text that is no passage.
        law: title of the law or guideline.
        locator: where it stands; its numbers are empty where the text does not tell them.
        text: its own words, verbatim.
        start: where they begin, in the text of the document or of the context.
        above: the words of the provisions it stands under, the outermost first.
        weight: how strongly retrieval holds it to answer the question, 0 to 1.
    """

    source: str
    law: str
    locator: Locator
    text: str
    start: int = 0
    above: tuple[str, ...] = ()
    weight: float = 1.0


def provisions_found(store: Lookups, hits: Sequence[Hit]) -> list[LawText]:
    """The provisions of all hits, weighed by the score of the hit relative to the best."""
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return [
        provision
        for hit in hits
        for provision in provisions_of(store, hit.passage, hit.score / best)
    ]


def provisions_of(store: Lookups, unit: Passage, weight: float = 1.0) -> list[LawText]:
    """The provisions of a retrieved passage, in reading order."""
    law = store.document(unit.document_id).title
    if unit.layer == PASSAGES:
        return [replace(one, weight=weight) for one in _lines(unit, law)]
    inside = [
        passage
        for layer in (PARAGRAPHS, ITEMS)
        for passage in store.within(unit.document_id, unit.locator, layer)
    ]
    return list(_own_words(inside or [unit], law, weight))


def provisions_in(context: str) -> list[LawText]:
    """The provisions of a text with Markdown headings: ``## law``, ``### 第5条``, ``#### 第1項``.

    A heading that names no place (of a guideline) is passed over, the lines under it are not.
    """
    found: list[LawText] = []
    headings: dict[int, str] = {}
    stems: dict[int, str] = {}
    at = 0
    for line in context.splitlines(keepends=True):
        words = line.strip()
        heading = _HEADING.match(words)
        if heading:
            level = len(heading["level"])
            if _LAW_TITLE.fullmatch(heading["title"]):
                level = _LAW_LEVEL
            headings = {depth: title for depth, title in headings.items() if depth < level}
            stems = {depth: stem for depth, stem in stems.items() if depth < level}
            headings[level] = heading["title"]
        elif words:
            level = max(headings, default=0)
            place = "".join(title for depth, title in headings.items() if depth > _LAW_LEVEL)
            above = tuple(stem for depth, stem in stems.items() if depth < level)
            if level in stems:
                above += (stems[level],)
            stems.setdefault(level, words)
            start = at + line.index(words)
            locator = _locator(place)
            if bullet := _BULLET.match(words):
                locator = replace(locator, subitem=str(IROHA.index(bullet["sign"]) + 1))
            law = headings.get(_LAW_LEVEL, "")
            found.append(LawText("", law, locator, words, start, above))
        at += len(line)
    return found


def _locator(place: str) -> Locator:
    citations = find_citations(compact(place))
    return citations[-1].locator if citations else Locator()


def _lines(unit: Passage, law: str) -> Iterator[LawText]:
    """The lines of a passage that is no statute; one may open with its place (第1項第2号)."""
    outer = unit.locator if unit.locator.article else _locator(unit.header)
    named = find_citations(unit.header)
    law = named[0].law.text if named and named[0].law.text else law
    at = unit.start
    for line in unit.text.splitlines(keepends=True):
        label = _LABELLED.match(line)
        inner = _locator(label["label"]) if label else Locator()
        text = line[label.end() if label else 0 :].strip()
        if text:
            place = replace(outer, paragraph=inner.paragraph, item=inner.item)
            yield LawText(unit.id, law, place, text, at + line.index(text))
        at += len(line)


def _own_words(inside: Sequence[Passage], law: str, weight: float) -> Iterator[LawText]:
    ordered = sorted(inside, key=lambda passage: (passage.start, -passage.end))
    parents: list[tuple[Passage, str]] = []
    for passage, following in zip(ordered, [*ordered[1:], None], strict=True):
        while parents and parents[-1][0].end < passage.end:
            parents.pop()
        has_children = following is not None and following.start < passage.end
        end = following.start if following is not None and has_children else passage.end
        text = passage.text[: end - passage.start].rstrip()
        above = tuple(words for _, words in parents)
        yield LawText(passage.id, law, passage.locator, text, passage.start, above, weight)
        if has_children:
            parents.append((passage, text))


# Provisions kept for the question and for each option: on training questions 3 to 8 did as well.
_KEPT = 4
_FROM_ABOVE = 0.5
_MONTHS = re.compile(rf"(?<=[0-9０-９{NUMERAL_CHARACTERS}])[箇かヶカ]月")
_HIRAGANA = ("ぁ", "ん")


@dataclass(frozen=True, slots=True)
class ComparableProvision:
    """A provision with its words made comparable.

    Attributes:
        terms: content words of the provision, of those it stands under, and of its place.
    """

    provision: LawText
    terms: frozenset[str]


def evidence_for(
    question: str, options: Sequence[str], provisions: Sequence[LawText]
) -> list[ComparableProvision]:
    """The provisions nearest to the question, to each option and to both, in their order."""
    kept: set[int] = set()
    for text in (question, *options, *(question + option for option in options)):
        sought = _pairs(text)
        near = [_nearness(sought, provision) for provision in provisions]
        kept.update(sorted(range(len(provisions)), key=lambda i: (-near[i], i))[:_KEPT])
    return [
        ComparableProvision(
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


def _nearness(sought: frozenset[str], provision: LawText) -> float:
    own = _pairs(provision.text)
    above = frozenset[str]().union(*map(_pairs, provision.above)) - own
    found = len(sought & own) + _FROM_ABOVE * len(sought & above)
    return found * provision.weight


def _is_hiragana(term: str) -> bool:
    first, last = _HIRAGANA
    return all(first <= letter <= last for letter in term)
