"""The provisions with which a question and its options are compared, and how laws word a rule."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from localrag.corpus.lookups import Lookups
from localrag.corpus.types import ITEMS, PARAGRAPHS, PASSAGES, Locator, Passage
from localrag.law.citations import find_citations
from localrag.law.notation import IROHA, cite
from localrag.search.query import analyzer
from localrag.search.types import Hit
from localrag_indexes.analysis.normalize import (
    NUMERAL_CHARACTERS,
    compact,
    normalize,
    parse_numeral,
)

# Bounded, so that a text of numerals alone takes no longer.
_DIGITS = rf"[0-9{NUMERAL_CHARACTERS}]{{1,16}}"
NUMERAL = rf"{_DIGITS}(?:[.・]{_DIGITS})?"
_COUNTER = (
    r"(?:営業日|箇月|か月|ヶ月|カ月|月|年|週|日|時間|人|名|円|倍|割|回|%|パーセント|箇所"
    r"|以上|以下|未満|以内|を超)"
)
_HUNDREDTHS = re.compile(rf"百分の({NUMERAL})")
_COUNTED = re.compile(rf"{NUMERAL}(?={_COUNTER})")
_PLACE = re.compile(rf"第?({NUMERAL})([条項号])((?:の{NUMERAL})*)")
_COUNTED_MONTHS = re.compile(r"(?<=[0-9])(?:箇|か|ヶ|カ)月")

# A rule without exception; laws rarely have one.
_ABSOLUTE = re.compile(
    r"一切|必ず|常に|いかなる|どのような|すべて|全て|のみ|だけ|に限られ|何ら|絶対"
)
# Room for exceptions.
_HEDGE = re.compile(r"場合があ|場合もあ|可能性があ|とは限らない|ことがある$|必ずしも|わけではない")
# A rule that holds although its condition fails.
_CONCESSION = re.compile(
    r"(?:(?<!いず)(?:でも|ても)|(?<!少)なくとも)(?=[、,]|[^よい足])|にかかわらず"
)
_EXEMPT = re.compile(
    r"[ぁ-ん]なくても?[よ良]い|免れ|免除|免責|必要[はがの]?な[いく]|要しない|適用(?:され|し)ない|除外"
)
_EXEMPTS = re.compile(r"限りでない|責め?に任じない|適用しない|要しない|除く|足りる|妨げない|免れ")

_EXCLUDED = re.compile(
    r"[(（]([^()（）]*(?:[(（][^()（）]*[)）][^()（）]*){0,5})を除[くき][^()（）]*[)）]"
    r"|([^。、()（）]{4,60})を除(?:き|くほか)"
)


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """The text with one spelling for each thing: 百分の五 is 5%, 三箇月 is 3月, あつた is あった.

    For comparison only: blanks are removed, and positions change.
    """
    plain = re.sub(r"\s", "", normalize(text)).replace("っ", "つ").replace("パーセント", "%")
    plain = _HUNDREDTHS.sub(lambda match: f"{_number(match[1])}%", plain)
    plain = _COUNTED.sub(lambda match: _number(match[0]), plain)
    plain = _COUNTED_MONTHS.sub("月", plain)
    return _PLACE.sub(_place, plain)


@lru_cache(maxsize=8192)
def ngrams(text: str, n: int) -> frozenset[str]:
    """The sequences of `n` letters and digits in the folded text."""
    letters = "".join(filter(str.isalnum, fold(text)))
    return frozenset(letters[i : i + n] for i in range(len(letters) - n + 1))


def absolutes(text: str) -> list[str]:
    """Words claiming a rule without exception, unless taken back."""
    folded = fold(text)
    return [] if _HEDGE.search(folded) else [match[0] for match in _ABSOLUTE.finditer(folded)]


def hedge(text: str) -> str:
    """Words leaving room for exceptions; "" without any."""
    found = _HEDGE.search(fold(text))
    return found[0] if found else ""


def concession(text: str) -> str:
    """Words for a rule that holds although its condition fails; "" without any."""
    found = None if hedge(text) else _CONCESSION.search(fold(text))
    return found[0] if found else ""


def asks_for_exemption(question: str) -> bool:
    """Whether the question is about not having to do something."""
    return _EXEMPT.search(fold(question)) is not None


def exempts(law: str) -> bool:
    """Whether the text of a law makes an exception or frees from a duty."""
    return _EXEMPTS.search(fold(law)) is not None


def exclusions(law: str) -> list[str]:
    """The exceptions in the text of a law: （…を除く。）, …を除き."""
    plain = re.sub(r"\s", "", normalize(law))
    return [match[1] or match[2] for match in _EXCLUDED.finditer(plain)]


def _number(written: str) -> str:
    whole, _, decimals = written.replace("・", ".").partition(".")
    try:
        value = str(parse_numeral(whole))
        digits = "".join(str(parse_numeral(digit)) for digit in decimals)
    except ValueError:
        return written
    return f"{value}.{digits}".rstrip("0").rstrip(".") if digits else value


def _place(match: re.Match[str]) -> str:
    branches = re.sub(NUMERAL, lambda branch: _number(branch[0]), match[3])
    return f"第{_number(match[1])}{match[2]}{branches}"


# Numbers of laws and of provisions are no quantities.
_NO_QUANTITY = re.compile(
    r"(?:明治|大正|昭和|平成|令和)[^()、。]{1,25}号|第[0-9]+[条項号編章節款](?:の[0-9]+)*"
)
_QUANTITY = re.compile(
    r"(?<![0-9.第の])[0-9]+(?:\.[0-9]+)?"
    r"(?:営業日|月|年|週|日|時間|人|名|円|倍|割|回|%|箇所|(?:の期間|間)?(?:以上|以下|未満|以内|を超え))"
)
_ASKED = re.compile(r"期間|期限|[価金総]?額|割合|数(?=を|の|$)|日数|年数|率|いくら")


def states_quantity(law: str) -> bool:
    """Whether the text of a law says how long, how much or how many."""
    return _QUANTITY.search(_NO_QUANTITY.sub("", fold(law))) is not None


def asks_for_quantity(question: str) -> bool:
    """Whether a question is about how long, how much or how many."""
    return _ASKED.search(question) is not None


_HEADING = re.compile(r"(?P<level>#{1,6})[ 　]*(?P<title>.*)")
_LAW_LEVEL = 2
# A heading that ends like the title of a law is one, at any level.
_LAW_TITLE = re.compile(r"[^第]{4,}(?:法|法律|政令|[府省]令|規則)$")
# A subitem of a list in a context: "- イ 有価証券の売買".
_BULLET = re.compile(r"[-‐－―・]?[ 　]*(?P<sign>[イロハニホヘトチリヌルヲ])[ 　．.]")
_LABELLED = re.compile(r"(?P<label>第[0-9０-９の]+項(?:第[0-9０-９の]+号)?|第[0-9０-９の]+号)[ 　]")


@dataclass(frozen=True, slots=True)
class LawText:
    """A paragraph, an item or a subitem, without the provisions below it."""

    source: str  # id of its passage; "" for a text that is no passage
    law: str  # title of the law or guideline
    locator: Locator  # its place; numbers that the text does not show are empty
    text: str  # its own words, verbatim
    start: int = 0  # where they begin in the document or the context
    above: tuple[str, ...] = ()  # the words of the provisions above it, the outermost first
    weight: float = 1.0  # of its hit, relative to the best, 0 to 1


def provisions_found(store: Lookups, hits: Sequence[Hit]) -> list[LawText]:
    """The provisions of all hits, weighed by the score of the hit relative to the best."""
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return [
        provision
        for hit in hits
        for provision in provisions_of(store, hit.passage, hit.score / best)
    ]


def provisions_of(store: Lookups, unit: Passage, weight: float = 1.0) -> list[LawText]:
    """The provisions of a passage, in reading order."""
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

    A heading that names no place, as in guidelines, is skipped; its lines are not.
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
    """The lines of a passage outside statutes; one may begin with its place (第1項第2号)."""
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


# Provisions kept for the question and for each option; 3 to 8 were equal on training questions.
_KEPT = 4
_FROM_ABOVE = 0.5
_MONTHS = re.compile(rf"(?<=[0-9０-９{NUMERAL_CHARACTERS}])[箇かヶカ]月")
_HIRAGANA = ("ぁ", "ん")


@dataclass(frozen=True, slots=True)
class ComparableProvision:
    """A provision with its content words, and with the words of its place and its headings."""

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
    """The terms of a text that are not in hiragana alone."""
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
